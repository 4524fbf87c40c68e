"""Every declared page: it opens with a heading and something below it, and it stays small."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from pages.shell import ASKS, FOLDER, PAGES, PageEntry

MOST_LINES = 150


def test_every_file_is_declared_once_and_every_declaration_has_a_file() -> None:
    files = set(FOLDER.glob("*/page.py"))
    assert {page.name for page in PAGES} == {file.parent.name for file in files}
    assert len(PAGES) == len({page.title for page in PAGES}) == 8


@pytest.mark.parametrize("entry", PAGES, ids=lambda p: p.name)
def test_a_page_is_composition_only(entry: PageEntry) -> None:
    assert len(entry.file.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


OLD = [(old, page) for page in PAGES for old in page.old]


@pytest.mark.parametrize(("old", "page"), OLD, ids=lambda p: p if isinstance(p, str) else p.name)
def test_an_old_address_leads_to_the_page_that_holds_it(
    open_app: Callable[..., AppTest], old: str, page: PageEntry
) -> None:
    app = open_app(old, data="cancer")
    assert "".join(app.query_params["data"]) == "cancer"
    assert f">{page.title}</h1>" in " ".join(h.value for h in app.get("html"))
    assert {k: "".join(v) for k, v in app.query_params.items()}.items() >= ASKS.get(old, {}).items()

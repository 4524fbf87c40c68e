"""Every declared page: it opens with a heading and something below it, and it stays small."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from pages.shell.navigation import FOLDER, MORE, PAGES, PageEntry
from tests.ui.history import back

BODY = ("plotly_chart", "iframe", "dataframe", "metric", "file_uploader", "bidi_component")
MOST_LINES = 150


@pytest.mark.parametrize("entry", PAGES, ids=lambda p: p.name)
def test_it_opens_with_a_heading_and_a_body(
    open_app: Callable[..., AppTest], entry: PageEntry
) -> None:
    app = open_app(data="cancer", n="2000")
    app.query_params.clear()  # as the browser does, on the way to another page
    app.switch_page(f"pages/{entry.name}/page.py").run()
    assert not app.exception
    assert not app.error
    assert f">{entry.title}</h1>" in " ".join(h.value for h in app.get("html"))
    drawn = any("<img " in h.value for h in app.get("html"))
    assert drawn or any(app.main.get(kind) for kind in BODY)


def test_every_file_is_declared_once_and_every_declaration_has_a_file() -> None:
    files = set(FOLDER.glob("*/page.py"))
    assert {page.file for page in (*PAGES, *MORE)} == files
    assert len(PAGES) == len({page.title for page in PAGES}) == 8


@pytest.mark.parametrize("entry", PAGES, ids=lambda p: p.name)
def test_a_page_is_composition_only(entry: PageEntry) -> None:
    assert len(entry.file.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


@pytest.mark.parametrize("name", ["sieve"])
def test_back_brings_the_dataset_and_leaves_the_algorithm(
    open_app: Callable[..., AppTest], name: str
) -> None:
    app = open_app(name, data="cancer", n="2000", algorithm="em_pc")
    before = dict(app.query_params)
    app.selectbox(key=f"{name}-network").set_value("survey").run()
    assert app.selectbox(key=f"{name}-network").value == "survey"
    back(app, before)
    assert app.selectbox(key=f"{name}-network").value == "cancer"
    assert app.number_input(key=f"{name}-n").value == 2000
    assert app.session_state["state_chosen"]["algorithm"] == "em_pc"

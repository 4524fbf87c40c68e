"""Navigation, and addresses that lead straight to one page."""

from __future__ import annotations

import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(("page", "title"), [("pairs", "Pairs"), ("run", "Run")])
def test_a_page_opened_first_is_drawn_inside_the_app(
    open_app: Callable[..., AppTest], page: str, title: str
) -> None:
    app = open_app(page)
    assert f">{title}</h1>" in " ".join(h.value for h in app.get("html"))
    assert len([h for h in app.get("html") if ".stMainBlockContainer" in h.value]) == 1


MOST_MODULES = 90
_VISIT = """
import sys
from pages import worker
from pages.shell import task
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

worker.begin()  # what works in a process of its own is loaded there
app = AppTest.from_file("app.py", default_timeout=60)
app._page_hash = calc_hash("run")
app.run()
for one in list(task._shared()[1].values()):
    assert one.wait(60)
app.run()  # with what they found
assert not app.exception
assert any("headline" in h.value for h in app.get("html"))
print(*(name for name in sys.modules if name.split(".")[0] in ("engine", "pages")))
"""


def test_opening_run_loads_what_a_run_needs() -> None:
    told = subprocess.run(
        [sys.executable, "-c", _VISIT], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = told.stdout.split()
    assert "pages.run.view" in loaded
    assert len(loaded) <= MOST_MODULES
    assert not [
        m for m in loaded if m.startswith(("engine.story", "engine.release", "engine.audit"))
    ]


def test_what_a_fresh_server_prepares_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    # In the server a failure would only be a line of its log, and a slow first page.
    monkeypatch.setattr("pages.worker._in_use", False)  # put back: other tests patch what runs here
    serve = runpy.run_path(str(ROOT / "scripts" / "serve.py"))
    serve["prepare"]()
    assert set(serve["LIBRARIES"]) <= set(sys.modules)

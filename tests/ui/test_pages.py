"""Every declared page: its file, its addresses, what it loads and what a server prepares."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from engine.errors import InputError
from pages import mode
from pages.shell import FOLDER, PAGES
from tests.ui.steps import told

ROOT = Path(__file__).resolve().parents[2]


def test_every_file_is_declared_once_and_every_declaration_has_a_file():
    """A page's file is composition only."""
    files = set(FOLDER.glob("*/page.py"))
    assert {page.name for page in PAGES} == {file.parent.name for file in files}
    assert len(PAGES) == len({page.title for page in PAGES}) == 8
    assert max(len(file.read_text(encoding="utf-8").splitlines()) for file in files) <= 150


@pytest.mark.parametrize("page", PAGES, ids=[page.address for page in PAGES])
def test_an_address_leads_to_the_page_that_holds_it(open_app, page):
    app = open_app(page.address, data="cancer")
    assert f">{page.title}</h1>" in told(app, "html")
    assert sum(".stMainBlockContainer" in h.value for h in app.get("html")) == 1


@pytest.mark.parametrize("page", [page.address for page in PAGES])
def test_a_public_page_has_no_upload_and_no_budget(open_app, monkeypatch, tmp_path, page):
    monkeypatch.setenv(mode.PUBLIC, "1")
    monkeypatch.chdir(tmp_path)
    for data in ("own", "cancer") if page == "my-data" else ("own",):
        app = open_app(page, data=data, n="500")
        assert not app.get("file_uploader"), (page, data)
        assert not [box.key for box in app.button if box.key in ("new-budget", "release-go")]
        assert not list(tmp_path.iterdir())


def test_a_public_page_says_how_to_have_ones_own(open_app, monkeypatch):
    monkeypatch.setenv(mode.PUBLIC, "1")
    app = open_app("my-data")
    app.selectbox(key="data-network").set_value("own").run()
    assert any("`make app`" in said.value for said in app.info)
    with pytest.raises(InputError, match="public demo"):
        mode.budgets()
    assert mode.studies() is None


_VISIT = """
import multiprocessing, sys
from joblib.externals.loky import backend
from pages import worker
from pages.shell import task
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

worker.EPSILONS, worker.CURVE_RUNS = (1.0,), 1
backend.get_context = lambda _: multiprocessing.get_context("fork")  # before any thread
worker.begin()  # what works in a process of its own is loaded there
app = AppTest.from_file("app.py", default_timeout=60)
app._page_hash = calc_hash("run")
app.query_params.update({"data": "cancer", "n": "500"})
app.run()
for one in list(task._shared.values()):
    assert one.wait(60)
app.run()  # with what they found
assert not app.exception
assert any("headline" in h.value for h in app.get("html"))
print(*(name for name in sys.modules if name.split(".")[0] in ("engine", "pages")))
"""


def test_opening_run_loads_what_a_run_needs():
    loaded = subprocess.check_output([sys.executable, "-c", _VISIT], cwd=ROOT, text=True).split()
    assert "pages.run.view" in loaded
    assert len(loaded) <= 90
    others = ("engine.story", "engine.release", "engine.audit")
    assert not [m for m in loaded if m.startswith(others)]


def test_what_a_fresh_server_prepares_can_be_imported(monkeypatch):
    # In the server a failure would only be a line of its log, and a slow first page.
    monkeypatch.setattr("pages.worker._in_use", False)  # put back: other tests patch what runs here
    serve = runpy.run_path(str(ROOT / "scripts" / "serve.py"))
    serve["prepare"]()
    assert set(serve["LIBRARIES"]) <= set(sys.modules)

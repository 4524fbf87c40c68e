"""The running app, and one real browser for all of these tests that can reach nothing else."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from engine.release.budget import VARIABLE
from tests.browser.steps import LINE, SIZE, settle
from tests.serving import ROOT, served

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

# The headless shell is the same browser without a window, and needs two thirds of the time.
CHROMIUM_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM_ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--no-first-run",
    "--disable-component-update",
    "--disable-sync",
    "--js-flags=--single-threaded",  # what V8 does on threads of its own costs a twentieth more
    # No name but this machine's is found. (Playwright's routing would switch the cache off, and
    # every page would compile all its scripts again.)
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
# Pages share the window's storage, in which Streamlit keeps whether a page's sidebar is folded:
# the first address of each begins without.
_FORGET = """if (location.protocol === "http:" && !sessionStorage.getItem("begun")) {
  localStorage.clear();
  sessionStorage.setItem("begun", "yes");
}"""


# What stands beside every run, every ε and every report is counted in other processes: as little of
# it as makes a sentence or a curve. So are the draws of two steps of Learn, here.
_FEW = """from engine.studies import repeat
from pages import worker
from pages.report import work
repeat.DRAWS, worker.EPSILONS, worker.CURVE_RUNS = 2, (0.1, 1.0, 10.0), 1
work.REPETITIONS, work.PER_POINT = 20, 2"""
_BEFORE = f"""from engine.story import content
from pages import worker
from pages.learn import now
begin, purses, now.DRAWS, worker.SPARE = worker.Process.__init__, content.purses, 2, 4
def few(process):
    begin(process)
    process.pipe.send((worker.plain, (exec, {_FEW!r})))
    process.pipe.recv()
worker.Process.__init__ = few
content.purses = lambda data, key, at, draw: [
    one for one in purses(data, key, at[::4], draw) for _ in range(4)]"""


@pytest.fixture(scope="package")
def chromium_path() -> str:
    """Debian's Chromium or the like; Playwright's own browser download is never used."""
    for name in CHROMIUM_NAMES:
        if path := shutil.which(name):
            return path
    pytest.skip("no Chromium on PATH; get it with: apt-get install chromium")


@pytest.fixture(scope="package")
def app_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The running app; yields its address without a closing slash."""
    folder = tmp_path_factory.mktemp("app")
    budgets = {VARIABLE: str(folder / "budgets.db")}
    with served(folder, _BEFORE, **budgets) as url:
        yield url


@pytest.fixture(scope="package")
def browser(chromium_path: str) -> Iterator[Browser]:
    """One Chromium for all of them.

    Not one a session: while Playwright's synchronous interface is active its event loop counts as
    running, and ``asyncio.run`` would fail in whatever the same worker tests next.
    """
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=chromium_path, args=CHROMIUM_ARGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="package")
def window(browser: Browser, app_server: str) -> Iterator[BrowserContext]:
    """What the pages share: the cache of the app's scripts."""
    context = browser.new_context(
        base_url=app_server, service_workers="block", viewport=SIZE, reduced_motion="reduce"
    )
    # The other worker may hold the machine for a while: patience is no part of what is tested.
    context.set_default_timeout(90_000)
    yield context
    context.close()


@pytest.fixture(scope="package")
def page(window: BrowserContext, app_server: str) -> Iterator[Page]:
    """One page for all journeys that can begin from anywhere, by ``steps.walk`` or ``steps.go``.

    To load the app anew is two seconds of a processor; to walk on costs a quarter of that.
    """
    with opened(window, app_server) as shared:
        shared.goto("/")
        settle(shared)
        yield shared


@pytest.fixture
def new_page(window: BrowserContext, app_server: str) -> Iterator[Page]:
    """A page of its own, without a memory of those before: what is folded, and who it is."""
    with opened(window, app_server) as fresh:
        yield fresh


@contextmanager
def opened(window: BrowserContext, app_server: str) -> Iterator[Page]:
    """Requests to anywhere else fail, and their addresses are kept in ``page.blocked``."""
    own = urlsplit(app_server).netloc
    blocked: list[str] = []

    def look(address: str) -> None:
        parts = urlsplit(address)
        if parts.scheme in {"http", "https", "ws", "wss"} and parts.netloc != own:
            blocked.append(address)

    page = window.new_page()
    page.add_init_script(_FORGET)
    page.add_init_script(LINE)
    page.on("request", lambda request: look(request.url))
    page.on("websocket", lambda web_socket: look(web_socket.url))
    page.blocked = blocked  # type: ignore[attr-defined]
    yield page
    page.close()
    window.clear_cookies()


@pytest.fixture(scope="session")
def screenshots() -> Path:
    """Where pictures for the eye go; git ignores it."""
    folder = ROOT / "artifacts" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    return folder

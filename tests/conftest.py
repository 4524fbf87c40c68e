"""Fixtures shared by all tests: the running app, and a real browser that can reach nothing else."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route, WebSocketRoute

ROOT = Path(__file__).resolve().parent.parent
BROWSER_TESTS = ROOT / "tests" / "browser"

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM_ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--no-first-run",
    "--disable-component-update",
    "--disable-sync",
]
START_SECONDS = 60.0

# Matrices here are small: BLAS threads only contend with the other workers (10 times slower).
for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

# A first call may compile, so time limits would only make tests flaky. CI repeats its examples.
settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(BROWSER_TESTS):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """Debian's Chromium or the like; Playwright's own browser download is never used."""
    for name in CHROMIUM_NAMES:
        if path := shutil.which(name):
            return path
    pytest.skip("no Chromium on PATH; get it with: apt-get install chromium")


@pytest.fixture(scope="session")
def app_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app on a free port of this machine; yields its address without a closing slash."""
    port = _free_port()
    url = f"http://127.0.0.1:{port}"
    log = tmp_path_factory.mktemp("app") / "streamlit.log"
    command = [
        *(sys.executable, "-m", "streamlit", "run", "app.py"),
        *("--server.address", "127.0.0.1"),
        *("--server.port", str(port)),
        *("--server.headless", "true"),
        *("--server.fileWatcherType", "none"),
        *("--browser.gatherUsageStats", "false"),
    ]
    with log.open("wb") as out:
        # A session of its own, so that the server and all it started end together.
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        _wait_until_healthy(process, url, log)
        yield url
    finally:
        _end_group(process)


@pytest.fixture(scope="module")
def browser(chromium_path: str) -> Iterator[Browser]:
    """One Chromium a file.

    Not one a session: while Playwright's synchronous interface is active its event loop counts as
    running, and ``asyncio.run`` would fail in whatever the same worker tests next.
    """
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=chromium_path, args=CHROMIUM_ARGS)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Browser, app_server: str) -> Iterator[Page]:
    """A fresh page whose ``goto("/run")`` is the app's.

    Every request to anywhere else is aborted, and its address kept in ``page.blocked``.
    """
    allowed = urlsplit(app_server).netloc
    blocked: list[str] = []

    def elsewhere(url: str) -> bool:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https", "ws", "wss"} and parts.netloc != allowed

    def abort(route: Route) -> None:
        blocked.append(route.request.url)
        route.abort()

    def close(socket_route: WebSocketRoute) -> None:
        blocked.append(socket_route.url)
        socket_route.close()

    context = browser.new_context(
        base_url=app_server,
        service_workers="block",
        viewport={"width": 1440, "height": 1000},
    )
    context.route(elsewhere, abort)
    context.route_web_socket(elsewhere, close)
    # The other worker may hold the machine for a while: patience is no part of what is tested.
    context.set_default_timeout(90_000)
    new_page = context.new_page()
    new_page.blocked = blocked  # type: ignore[attr-defined]
    yield new_page
    context.close()


@pytest.fixture(scope="session")
def screenshots() -> Path:
    """Where pictures for the eye go; git ignores it."""
    folder = ROOT / "artifacts" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_healthy(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    # No proxy: an http_proxy in the environment must not be asked for this machine.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    give_up = time.monotonic() + START_SECONDS
    while time.monotonic() < give_up and process.poll() is None:
        try:
            with opener.open(f"{url}/_stcore/health", timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    tail = "\n".join(log.read_text(errors="replace").splitlines()[-20:])
    state = "ended" if process.poll() is not None else f"was not ready in {START_SECONDS:.0f} s"
    pytest.fail(f"the app {state}; the end of its log:\n{tail}", pytrace=False)


def _end_group(process: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            break
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            continue
    process.wait()

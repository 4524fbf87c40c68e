"""The app under Streamlit's own test harness."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from streamlit import config
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest, app_test, element_tree, local_script_runner
from streamlit.testing.v1.local_script_runner import LocalScriptRunner
from streamlit.util import calc_hash

from engine.studies import repeat
from pages import worker
from pages.learn import now
from pages.report import repeats
from pages.report import work as report_work
from pages.shell import task
from pages.table import share

APP = Path(__file__).resolve().parents[2] / "app.py"


@pytest.fixture(autouse=True, scope="module")
def patience() -> Iterator[None]:
    """Pages wait for every run: no browser is here to look again."""
    with pytest.MonkeyPatch.context() as patch:
        # A script takes this name; what starts a process later would run the script in it.
        patch.setitem(sys.modules, "__main__", sys.modules["__main__"])
        patch.setattr(task, "SHORT", 120.0)
        patch.setattr(task, "AT_ONCE", 120.0)
        patch.setattr(repeats, "PATIENCE", 120.0)
        # Beside every ε, next to every run, of every report and before every release: as few as
        # make a sentence or a curve. What they amount to is tested where they are computed.
        patch.setattr(repeat, "DRAWS", 1)
        patch.setattr(worker, "EPSILONS", (1.0,))
        patch.setattr(worker, "CURVE_RUNS", 1)
        patch.setattr(report_work, "REPETITIONS", 2)
        patch.setattr(report_work, "PER_POINT", 1)
        patch.setattr(report_work, "POINTS", 3)
        patch.setattr(share, "NETWORKS", 2)
        patch.setattr(now, "DRAWS", 3)
        yield


def ended(runner: LocalScriptRunner, timeout: float) -> None:
    """Wait for the end of a script, and stop one that takes too long."""
    assert runner._script_thread is not None
    runner._script_thread.join(timeout)
    assert runner.script_stopped() or runner.request_stop()


@pytest.fixture(autouse=True, scope="session")
def components() -> Iterator[None]:
    """What Streamlit's harness asks again and again is asked once, or cheaply."""
    with pytest.MonkeyPatch.context() as patch:
        # As .streamlit/config.toml has it, in whatever folder a test stands.
        config.set_option("server.address", "localhost")
        scanned = cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", scanned)
        patch.setattr(app_test, "MagicMock", cache(app_test.MagicMock))  # of the runtime
        compiled = app_test.ScriptCache().get_bytecode
        patch.setattr(app_test.ScriptCache, "get_bytecode", lambda _, path: compiled(path))

        # A field that the server has changed has a space more at the end of its key.
        found = element_tree.user_key_from_element_id
        patch.setattr(
            element_tree, "user_key_from_element_id", lambda name: (found(name) or "").rstrip()
        )
        # The end of a script is waited for without a look every millisecond.
        patch.setattr(local_script_runner, "require_widgets_deltas", ended)
        yield


@pytest.fixture(scope="module")
def open_app() -> Callable[..., AppTest]:
    """Open the app in a new session: a page's address with the given query parameters."""

    def open_(page: str = "run", **query: str) -> AppTest:
        app = AppTest.from_file(str(APP), default_timeout=60)
        app._page_hash = calc_hash(page)  # as an address does, before the first run
        for name, value in query.items():
            app.query_params[name] = value
        app.session_state["run-more"] = True  # what is folded away is looked at too
        app.run()
        assert not app.exception
        return app

    return open_


@pytest.fixture
def app(open_app: Callable[..., AppTest]) -> AppTest:
    """The app as it opens."""
    return open_app()

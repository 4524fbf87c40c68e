"""The settings of every test, and the distribution of files to workers."""

from __future__ import annotations

import atexit
import gc
import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import pytest
from hypothesis import settings
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

from tests.chance import FRESH, NAMED, install

TESTS = Path(__file__).resolve().parent
BROWSER_TESTS = TESTS / "browser"
# These take as long as the other files in this folder.
_SECOND = ("data_page", "journeys", "known_page", "run_page", "scene_page")
SECOND_BROWSER = tuple(f"browser/test_{name}.py" for name in _SECOND)
# These come first among the others: none of them begins when the other workers have ended.
_LONG = """test_wheel test_serve test_soak boundary/test_fuzz cli/test_holding data/test_intake
privacy/test_replay release/test_door release/test_question studies/test_study ui/test_kept
ui/test_report ui/test_run ui/test_study"""
LONG = {TESTS / f"{name}.py" for name in _LONG.split()}
# The files that ``-m quick`` runs, but for the tests in them that are marked slow: the texts and
# results that are kept, and whatever else sees much in little time. No other file is imported then.
_QUICK = {
    ".": "errors knowledge params runner",
    "algorithms": "auto curate_notears curate_pc em_pc marginal_triples pc plans priv_pc",
    "cli": "printed run studies",
    "contract": "statistics words",
    "data": "networks pairs schema simulated spreadsheets",
    "docs": "pages",
    "effects": "adjustment effect plausible",
    "graphs": "cpdag dags edges formats metrics",
    "known_answer": "papers privacy_numbers results",
    "pairs": "scores",
    "privacy": "accounting events ledger_readings mechanisms sources",
    "release": "budget file release",
    "search": "noisy_score released skeleton",
    "statistics": "blocks evidence likelihood multiplicity rank",
    "studies": "known margins planning repeat summary",
    "tables": "tables",
    "teaching": "lessons money shuffled",
    "ui": "class_mode colours components kept known numbers state",
}
QUICK = {TESTS / folder / f"test_{name}.py" for folder, of in _QUICK.items() for name in of.split()}

# What pages answer is kept where a test asks for it alone.
os.environ["DP_CAUSAL_EXPLORER_ANSWERS"] = ""

# Matrices here are small: BLAS threads only contend with the other workers (10 times slower).
for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

# A first call may compile, so time limits would only make tests flaky.
settings.register_profile("fresh", deadline=None, print_blob=True)
settings.register_profile("named", deadline=None, derandomize=True)
settings.load_profile("fresh" if FRESH else "named")


def pytest_configure() -> None:
    """Chance follows from the names of tests and fixtures, unless it is asked for."""
    if not FRESH:
        install()


@pytest.fixture(autouse=True, scope="session")
def one_database() -> Iterator[None]:
    """Tables are read by connections to one database in memory: each to open takes longer."""

    def connect(place: str, *more: Any, usual: Any = duckdb.connect) -> Any:
        return shared.cursor() if place == ":memory:" else usual(place, *more)

    with duckdb.connect() as shared, mock.patch.object(duckdb, "connect", connect):
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """A test draws what its name says; one that is marked so, what nobody knows."""
    with NAMED.turn(item.nodeid, fresh=item.get_closest_marker("fresh") is not None):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    """A fixture draws the same whichever test comes to it first."""
    name = f"{fixturedef.baseid}::{fixturedef.argname}[{request.param_index}]"
    marked = fixturedef.scope == "function" and request.node.get_closest_marker("fresh")
    with NAMED.turn(name, fresh=bool(marked)):
        return (yield)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With ``-m quick`` only the files that hold quick tests are imported."""
    other = collection_path.name.startswith("test_") and collection_path not in QUICK
    return True if config.option.markexpr == "quick" and other else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None]:
    """What is collected stays to the end of the process: no look for garbage goes through it.

    The looks that remain are rare: tests have memory enough.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(50_000, 20, 50)
        atexit.register(gc.unfreeze)
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The browser's tests are marked, and come first; then the long files.

    Of the browser's the walk through all pages comes first: it begins as a new visitor does.
    """
    for item in items:
        if item.path.is_relative_to(BROWSER_TESTS):
            item.add_marker(pytest.mark.browser)
        elif item.path in QUICK and item.get_closest_marker("slow") is None:
            item.add_marker(pytest.mark.quick)
    items.sort(
        key=lambda item: (
            item.get_closest_marker("browser") is None,
            item.path != BROWSER_TESTS / "test_pages.py",
            item.path not in LONG,
        )
    )


class TwoBrowsers(LoadFileScheduling):
    """A file is one worker's; the files that need a browser are divided between two workers.

    Each of the two has a server and a browser. Their tests wait more than they compute.
    """

    def _split_scope(self, nodeid: str) -> str:
        scope = super()._split_scope(nodeid)
        if not scope.startswith("tests/browser/"):
            return scope
        return f"tests/browser {scope.endswith(SECOND_BROWSER)}"


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> TwoBrowsers:
    """Used where pytest runs with ``-n``; the browser's tests keep their place at the front."""
    config.option.loadscopereorder = False
    return TwoBrowsers(config, log)

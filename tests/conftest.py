"""What every test runs under, and how the files are dealt to two workers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

BROWSER_TESTS = Path(__file__).resolve().parent / "browser"

# Matrices here are small: BLAS threads only contend with the other workers (10 times slower).
for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

# A first call may compile, so time limits would only make tests flaky. CI repeats its examples.
settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The browser's tests are marked, and come first: they are the longest.

    Of these the walk through all pages comes first: it looks at them as a new visitor finds them.
    """
    for item in items:
        if item.path.is_relative_to(BROWSER_TESTS):
            item.add_marker(pytest.mark.browser)
    items.sort(
        key=lambda item: (
            item.get_closest_marker("browser") is None,
            item.path != BROWSER_TESTS / "test_pages.py",
        )
    )


class OneBrowser(LoadFileScheduling):
    """A file is one worker's; all files that need the browser are one worker's too."""

    def _split_scope(self, nodeid: str) -> str:
        scope = super()._split_scope(nodeid)
        return "tests/browser" if scope.startswith("tests/browser/") else scope


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> OneBrowser:
    """Used where pytest runs with ``-n``; the browser's tests keep their place at the front."""
    config.option.loadscopereorder = False
    return OneBrowser(config, log)

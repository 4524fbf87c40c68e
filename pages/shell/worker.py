"""A run in a thread of its own, which uses nothing of Streamlit's."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from engine import Dataset, InputError, RunResult, run
from engine.score.learned import ScoreDiagnostics
from engine.session import Step
from pages.shell.lifetime import RUNS, Present
from pages.shell.task import Task

YIELD_EVERY = 20
PATIENCE = 0.7  # seconds a page waits for a run before it shows progress instead


class RunJob(Task):
    """One run: what it computes, how far it is, and what came of it.

    ``settings`` is whatever the page wants to find again. ``keep`` gets the result in the thread.
    ``refused`` hears that the input did not fit. ``present`` says whether somebody still looks.
    """

    queue = RUNS
    reports = True  # what a run on own data has spent is known from its result alone

    def __init__(
        self,
        settings: Any,
        key: str,
        data: Dataset,
        seed: int | None,
        params: Mapping[str, Any],
        keep: Callable[[RunResult], None] = lambda _: None,
        refused: Callable[[], None] = lambda: None,
        present: Present = lambda: True,
    ) -> None:
        super().__init__(present)
        self.settings, self.key, self.data = settings, key, data
        self._seed, self._params, self._keep, self._refused = seed, params, keep, refused
        self.result: RunResult | None = None
        self.order: int | None = None
        self.steps = 0
        self._started = time.monotonic()

    @property
    def stopping(self) -> bool:
        """Whether a stop was asked for that has not come yet."""
        return self.running and self.stopped()

    @property
    def seconds(self) -> float:
        """Time since the start, or since its turn came."""
        return time.monotonic() - self._started

    def work(self) -> None:
        """Run, and give the result on."""
        self._started = time.monotonic()
        try:
            result = run(
                self.key,
                self.data,
                seed=self._seed,
                on_step=self._noted,
                cancelled=self.stopped,
                **self._params,
            )
        except InputError:
            self._refused()
            raise
        self._keep(result)
        self.result = result

    def broken(self, error: Exception) -> str:
        """The thread has no one else to tell."""
        return (
            f"The run failed inside the program ({type(error).__name__}); change the settings "
            "or report it."
        )

    def _noted(self, step: Step) -> None:
        self.order, self.steps = step.order, self.steps + 1
        if self.steps % YIELD_EVERY == 0:
            time.sleep(0)  # lets the pages draw


def decided(result: RunResult) -> bool:
    """Whether a stopped run got far enough for its graph to say anything."""
    found = result.diagnostics
    moved = isinstance(found, ScoreDiagnostics) and bool((found.weights != 0).any())
    return result.ci_tests > 0 or moved

"""A run in a thread of its own, which uses nothing of Streamlit's."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from engine import Dataset, InputError, RunResult, run
from engine.score.learned import ScoreDiagnostics
from engine.session import Step
from pages.components.state.lifetime import RUNS, Present, end_when_left

YIELD_EVERY = 20
PATIENCE = 0.7  # seconds a page waits for a run before it shows progress instead


@dataclass(eq=False)
class RunJob:
    """One run: what it computes, how far it is, and what came of it.

    ``settings`` is whatever the page wants to find again. ``keep`` gets the result in the thread.
    ``refused`` hears that the input did not fit. ``present`` says whether somebody still looks.
    """

    settings: Any
    key: str
    data: Dataset
    seed: int | None
    params: Mapping[str, Any]
    keep: Callable[[RunResult], None] = lambda _: None
    refused: Callable[[], None] = lambda: None
    present: Present = lambda: True
    result: RunResult | None = None
    error: str = ""
    order: int | None = None
    steps: int = 0
    started: float = field(default_factory=time.monotonic)
    _stop: threading.Event = field(default_factory=threading.Event)
    _done: threading.Event = field(default_factory=threading.Event)

    def start(self) -> None:
        """Begin, or wait in line; raises nothing, see ``error``."""
        RUNS.join(self)
        threading.Thread(target=self._work, daemon=True, name="run").start()
        end_when_left(lambda: self.present(), self.wait, self.cancel)

    @property
    def place(self) -> int:
        """Its place in line, 0 once it runs."""
        return RUNS.place(self)

    def cancel(self) -> None:
        """Ask the run to stop with what it has."""
        self._stop.set()

    def wait(self, seconds: float) -> bool:
        """Wait for the end, at most so long; returns whether it has come."""
        return self._done.wait(seconds)

    @property
    def running(self) -> bool:
        """Whether the end has not come yet."""
        return not self._done.is_set()

    @property
    def stopping(self) -> bool:
        """Whether a stop was asked for that has not come yet."""
        return self.running and self._stop.is_set()

    @property
    def seconds(self) -> float:
        """Time since the start."""
        return time.monotonic() - self.started

    def _noted(self, step: Step) -> None:
        self.order, self.steps = step.order, self.steps + 1
        if self.steps % YIELD_EVERY == 0:
            time.sleep(0)  # lets the pages draw

    def _work(self) -> None:
        try:
            # A job that was given up in line runs too, and stops at once with what it has: nothing.
            RUNS.turn(self, self._stop.is_set)
            self.started = time.monotonic()
            self.result = run(
                self.key,
                self.data,
                seed=self.seed,
                on_step=self._noted,
                cancelled=self._stop.is_set,
                **self.params,
            )
            self.keep(self.result)
        except InputError as error:
            self.error = str(error)
            self.refused()
        except Exception as error:  # the thread has no one else to tell
            self.result = None
            self.error = (
                f"The run failed inside the program ({type(error).__name__}); change the settings "
                "or report it."
            )
        finally:
            RUNS.leave(self)
            self._done.set()


def decided(result: RunResult) -> bool:
    """Whether a stopped run got far enough for its graph to say anything."""
    found = result.diagnostics
    moved = isinstance(found, ScoreDiagnostics) and bool((found.weights != 0).any())
    return result.ci_tests > 0 or moved

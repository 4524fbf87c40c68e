"""The long work of this page, for a process without Streamlit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from engine import Dataset, Knowledge
from engine.data.schema import Schema
from engine.release.checking import combined, moments_of, with_knowledge
from engine.release.file import Release
from engine.release.make import CHARGED as CHARGED
from engine.release.make import Budget
from engine.release.pooling import drift
from engine.studies.plan import Forecast, PlanRequest, plan
from pages.worker import Reporter


def release(
    monitor: Reporter,
    data: Dataset,
    schema: Schema,
    values: Mapping[str, Any],
    name: str,
    sign: bool,
) -> Release:
    """Charge the budget, then release. The parts are CHARGED after the charge, then the id of the
    saved release."""

    def told(share: float | None, phrase: str) -> None:
        if phrase == CHARGED:
            monitor.part(CHARGED)
        else:
            monitor.tell(share, phrase)

    stated = replace(data, schema=schema)  # with the current background knowledge
    paid = Budget(name).release(stated, stop=monitor.stop, on_progress=told, sign=sign, **values)
    if paid.kept is not None:
        monitor.part(paid.kept)
    return paid.release


def derive(
    monitor: Reporter, releases: Sequence[Release], known: Knowledge | None, different_people: bool
) -> tuple[Release, list[float]]:
    """Return the combined release, or one with other knowledge, and how far releases differ by
    column."""
    if len(releases) == 1 and known is not None:
        return with_knowledge(releases[0], known), []
    made = combined(releases, known, different_people)
    return made, drift([moments_of(part)[0] for part in made.parts])[1].tolist()


def forecast(
    monitor: Reporter, question: PlanRequest, epsilon: float, delta: float, key: str, draws: int
) -> Forecast:
    """Forecast the result of a release at (epsilon, delta) in random networks of a schema."""
    asked: Any = {"epsilon": epsilon, "delta": delta, "algorithms": key}
    (found,) = plan(question, **asked, draws=draws, empty=0, stop=monitor.stop).forecasts
    return found

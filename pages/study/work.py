"""What the page asks of the engine, done in a separate process; nothing of Streamlit in here."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from engine.data.dataset import Dataset
from engine.registry import TITLES, algorithm
from engine.request import Request
from engine.studies.margins import margins
from engine.studies.plan import Plan, PlanRequest, plan
from engine.studies.study import sweep
from engine.studies.trial import TrialResult
from engine.studies.tune import EPSILONS, FRESH, SEEDS, Answer, Tuned, halves, tune, which_epsilon
from pages.worker import NETWORKS, Reporter

if TYPE_CHECKING:
    from engine.release.file import Release

    Where = Dataset | PlanRequest | Release  # what a search draws its data from

EVERY = 0.2  # seconds between two batches of results


@dataclass(frozen=True)
class Aim:
    """A request at any ε and seed, and the score that it is to reach.

    ``others`` are algorithms that are drawn with it.
    """

    request: Request
    target: float
    objective: str
    seeds: int = SEEDS
    others: tuple[str, ...] = ()

    @property
    def of(self) -> str:
        """The algorithm and the dataset in words."""
        return f"{TITLES[self.request.algorithm]} on {self.request.source.name}"

    @property
    def paid(self) -> dict[str, Any]:
        """What is paid but for ε: the guarantee and δ."""
        return {k: v for k, v in self.request.params.items() if k in ("guarantee", "delta")}

    def params_of(self, key: str) -> dict[str, Any]:
        """An algorithm's parameters but for ε: another's are its defaults with what is paid."""
        if key == self.request.algorithm:
            return {k: v for k, v in self.request.params.items() if k != "epsilon"}
        named = {s.name for s in algorithm(key).params.specs()}
        return {k: v for k, v in self.paid.items() if k in named}

    @property
    def runs(self) -> tuple[Any, ...]:
        """What its runs are of: the target may be another."""
        return "answer", self.request.key, self.seeds, self.others, EPSILONS

    @property
    def search(self) -> Aim:
        """What a search for the best setting is of: whatever it changes, and who else is drawn."""
        request = replace(self.request, params=self.paid)
        return Aim(request, self.target, self.objective)


def _sent(monitor: Reporter, results: Iterable[TrialResult]) -> list[TrialResult]:
    """All results; they are sent in batches as they come."""
    found: list[TrialResult] = []
    batch: list[TrialResult] = []
    last = time.monotonic()
    for result in results:
        batch.append(result)
        if time.monotonic() > last + EVERY:
            monitor.part(tuple(batch))
            found, batch, last = found + batch, [], time.monotonic()
    monitor.part(tuple(batch))
    return found + batch


def answered(monitor: Reporter, data: Dataset, aim: Aim) -> int:
    """The runs of an answer, as parts; how many there are. The asked algorithm's come first."""
    count = 0
    for key in dict.fromkeys((aim.request.algorithm, *aim.others)):
        grid = aim.params_of(key)
        if any(s.name == "epsilon" for s in algorithm(key).params.specs()):
            grid["epsilon"] = list(EPSILONS)
        results = sweep(data, key, grid, aim.seeds, **monitor.options)
        count += len(_sent(monitor, results))
    return count


def searched(
    monitor: Reporter, where: Where, aim: Aim, epsilon: float, over: Sequence[str]
) -> tuple[Tuned, Answer | None]:
    """The best setting at an ε, and which ε that setting needs, where it is better.

    On rows with a truth; for a schema on random networks and for a release on synthetic tables of
    ``aim``'s rows, and reported on others.
    """
    if isinstance(where, Dataset):
        data, held_out = [where], list[Dataset]()
    elif isinstance(where, PlanRequest):
        data, held_out = halves(where.dataset)
    else:
        from engine.release.synthetic import synthetic  # here: no answer needs it

        data, held_out = halves(partial(synthetic, where, aim.request.source.n))
    key, fixed = aim.request.algorithm, aim.paid
    found = tune(
        key, data, {**fixed, "epsilon": epsilon}, over, objective=aim.objective,
        held_out=held_out, **monitor.options,
    )  # fmt: skip
    if not found.better or monitor.stopped():
        return found, None
    best = which_epsilon(
        (held_out or data)[0], key, {**fixed, **found.params},
        target=aim.target, objective=aim.objective, seeds=range(FRESH, FRESH + SEEDS),
        **monitor.options,
    )  # fmt: skip
    return found, best


def mapped(
    monitor: Reporter, data: Dataset, key: str, grid: Mapping[str, Any], seeds: int
) -> list[TrialResult]:
    """Every run of a map."""
    return _sent(monitor, sweep(data, key, grid, seeds, **monitor.options))


def by_hand(
    monitor: Reporter, data: Dataset, epsilon: float, guarantee: str, objective: str
) -> dict[str, Any] | None:
    """CURATE's plans and scores at every margin."""
    return margins(data, epsilon, guarantee=guarantee, objective=objective, **monitor.options)


def forecast(
    monitor: Reporter,
    request: PlanRequest,
    epsilons: Sequence[float],
    algorithms: Sequence[str],
    delta: float,
    target: float,
) -> Plan:
    """A plan, from public facts alone."""
    return plan(
        request, epsilon=epsilons, algorithms=algorithms, delta=delta, draws=NETWORKS, empty=5,
        target=target, **monitor.options,
    )  # fmt: skip

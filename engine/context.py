"""The state of one run: its random numbers, its ledger, its trace, its stop button."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from engine.graphs.known import Known
from engine.monitor import QUIET, Monitor
from engine.privacy.ledger import Charge, Ledger
from engine.randomness import Randomness
from engine.renamed import Renamed
from engine.words.steps import reason

if TYPE_CHECKING:
    from engine.question import Question

MOST_STEPS = 100_000  # of a trace, about 1.5 kB each; later ones are shown but not kept

_EVERY = 20  # steps between two reports of progress


@dataclass(frozen=True)
class Step:
    """One decision of a run, and why it was taken.

    ``value`` is the released number (None for a sparse-vector answer: its noisy value is never
    released), ``threshold`` the public threshold it was compared with. ``decision`` is
    "independent", "dependent" or specific to the algorithm; ``code`` and ``numbers`` say why, and
    ``reason`` does in words, as a clause after "because". ``charges`` are the lines of the ledger
    added since the step before; over a run they add up to the whole ledger, and ``budget_used`` is
    their total so far, as an epsilon. ``internal`` holds raw and unreleased values, for benchmark
    data with a public truth only; None otherwise.
    """

    index: int
    kind: str
    order: int | None
    x: str | None
    y: str | None
    conditioning_set: tuple[str, ...]
    value: float | None
    threshold: float | None
    decision: str
    code: str
    numbers: Mapping[str, float | str]
    charges: tuple[Charge, ...]
    budget_used: float
    internal: Mapping[str, Any] | None = None

    given = Renamed("conditioning_set")
    spent = Renamed("budget_used")

    @property
    def reason(self) -> str:
        """The clause after "because", in words."""
        return reason(self)


@dataclass
class RunContext:
    """The ledger, the random streams, the trace and the stop button of one run.

    ``names`` are the columns' names; ``reveal`` lets raw values into the trace; ``trace=False``
    keeps no steps (studies). ``known`` is background knowledge and ``questions`` those of the
    run, public facts. ``on_step`` sees each step as it happens. A trace keeps ``MOST_STEPS`` at
    most; the charges of later ones are on the step that closes it, so that it still adds up.
    """

    randomness: Randomness
    ledger: Ledger
    names: tuple[str, ...] = ()
    reveal: bool = False
    trace: bool = True
    known: Known | None = None
    questions: tuple[Question, ...] = ()
    on_step: Callable[[Step], None] | None = None
    monitor: Monitor = QUIET
    steps: list[Step] = field(default_factory=list)
    _seen: int = 0  # charges that some step carries
    _emitted: int = 0
    _kept: int = 0  # charges that a kept step carries

    @property
    def links_known(self) -> Known | None:
        """Return the background knowledge if it decides on edges; None if only on directions."""
        return self.known and self.known.on_links

    def check(self) -> None:
        """Raise Cancelled if the user has asked for a stop."""
        self.monitor.check()

    def emit(
        self,
        kind: str,
        decision: str,
        *,
        code: str = "",
        numbers: Mapping[str, float | str] | None = None,
        query: tuple[int, int, tuple[int, ...]] | None = None,
        order: int | None = None,
        value: float | None = None,
        threshold: float | None = None,
        internal: Mapping[str, Any] | None = None,
    ) -> None:
        """Append a step to the trace; charges since the last step ride on it.

        A step about a pair needs a ``code`` of :mod:`engine.words.steps`, or a clause, and the
        ``numbers`` of its sentence, all of them released.
        """
        if not self.trace:
            return
        x, y, given = query if query is not None else (None, None, ())
        charges = tuple(self.ledger[self._seen :])
        self._seen = len(self.ledger)
        step = Step(
            index=self._emitted,
            kind=kind,
            order=len(given) if query is not None and order is None else order,
            x=None if x is None else self.names[x],
            y=None if y is None else self.names[y],
            conditioning_set=tuple(self.names[g] for g in given),
            value=value,
            threshold=threshold,
            decision=decision,
            code=code,
            numbers=numbers or {},
            charges=charges,
            budget_used=self.ledger.used_epsilon,
            internal=dict(internal) if self.reveal and internal is not None else None,
        )
        self._emitted += 1
        # A full trace keeps its last place for the step that closes it: see `close`.
        if len(self.steps) < MOST_STEPS - 1 or kind == "close":
            self.steps.append(step)
            self._kept = self._seen
        if self.on_step is not None:
            self.on_step(step)
        if self._emitted % _EVERY == 0:
            at = "" if step.order is None else f"order {step.order} · "
            self.monitor.tell(None, f"{at}{self._emitted:,} steps")

    def close(self) -> None:
        """Put charges that no step carries yet on a last one, so that the trace adds up."""
        if self.trace and self._kept < len(self.ledger):
            decision = "unanswered" if self._kept == self._seen else "not kept"
            self._seen = self._kept
            self.emit("close", decision)

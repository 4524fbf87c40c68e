"""The state of one run: random numbers, ledger, trace and stop button."""

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

MOST_STEPS = 100_000  # steps in a trace, about 1.5 kB each; later ones are shown but not stored

_EVERY = 20  # steps between two progress reports


@dataclass(frozen=True)
class Step:
    """One decision of a run and its reason.

    ``value`` is the released number; it is None for a sparse-vector answer, because its noisy value
    is never released. ``threshold`` is the public threshold that it was compared with. ``decision``
    is "independent", "dependent" or specific to the algorithm. ``code`` and ``numbers`` give the
    reason, and ``reason`` gives it in words, as a clause after "because". ``charges`` are the
    ledger lines added since the step before. Over a run they add up to the whole ledger, and
    ``budget_used`` is their total so far, as an epsilon. ``internal`` holds raw, unreleased values,
    only for benchmark data with a public ground truth; otherwise it is None.
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
    """The ledger, random streams, trace and stop button of one run.

    ``names`` are the names of the columns. ``reveal`` allows raw values in the trace. With
    ``trace=False`` no steps are stored (used by studies). ``known`` is the run's background
    knowledge and ``questions`` are its questions; both are public facts. ``on_step`` is called with
    each step as it happens. A trace keeps at most ``MOST_STEPS`` steps. Its closing step carries
    the charges of all later ones, so the trace still adds up to the ledger.
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
    _seen: int = 0  # charges carried by any step
    _emitted: int = 0
    _kept: int = 0  # charges carried by a stored step

    @property
    def links_known(self) -> Known | None:
        """Return the background knowledge if it decides on edges, or None if only on directions."""
        return self.known and self.known.on_links

    def check(self) -> None:
        """Raise Cancelled if the user has asked to stop."""
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
        """Append a step to the trace, with the charges since the last step.

        A step about a pair needs the ``numbers`` of its sentence, all of them released, and either
        a ``code`` of :mod:`engine.words.steps` or a clause.
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
        # The last place in a full trace is reserved for the closing step: see `close`.
        if len(self.steps) < MOST_STEPS - 1 or kind == "close":
            self.steps.append(step)
            self._kept = self._seen
        if self.on_step is not None:
            self.on_step(step)
        if self._emitted % _EVERY == 0:
            at = "" if step.order is None else f"order {step.order} · "
            self.monitor.tell(None, f"{at}{self._emitted:,} steps")

    def close(self) -> None:
        """Add a last step for charges that no step carries yet, so that the trace adds up."""
        if self.trace and self._kept < len(self.ledger):
            decision = "unanswered" if self._kept == self._seen else "not kept"
            self._seen = self._kept
            self.emit("close", decision)

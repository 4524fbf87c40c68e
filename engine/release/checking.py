"""Derive a release again from its released numbers, and further results from releases.

The derivation shows that the file is *consistent*: its guarantee follows from its noise levels and
    its graph from its numbers, and its numbers are not improbably good for their noise. It cannot
    show that the numbers come from records, that noise was drawn as the file says, or that level
    names are unchanged, because a file in which everything was changed together is consistent too.
    A signature identifies the signer (:mod:`engine.release.signature`).

Effects, later background knowledge and combined releases are derived in the same way, without a
charge. The file contains every release that it is based on, so all of it can be checked.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from engine.algorithm import Outcome
from engine.algorithms import marginal_pc
from engine.algorithms.marginal_pc import MarginalPCParameters
from engine.audit.release import PROPOSALS, attack
from engine.audit.replay import Finding
from engine.context import RunContext
from engine.data.dataset import Dataset
from engine.data.schema import Schema, parse_schema
from engine.effects.effect import Effect, effect_of
from engine.effects.estimate import Estimate
from engine.effects.plausible import plausible
from engine.errors import InputError, show
from engine.graphs.known import KnownBy, known_of
from engine.knowledge import Knowledge, check_names
from engine.marginals.citest import NoisyTests
from engine.marginals.diagnostics import MarginalDiagnostics
from engine.marginals.levels import merged
from engine.marginals.moments import Moments
from engine.monitor import QUIET, Monitor, OnProgress, Stop, renamed
from engine.privacy.accounting import Guarantee
from engine.privacy.sources import DISTANCE, Replay
from engine.question import Question
from engine.randomness import Randomness
from engine.release.drawing import consistent_dag, drawn
from engine.release.earlier import earlier_known
from engine.release.file import DISJOINT, MOST_PARTS, VOUCHED, Release, findings
from engine.release.likeness import ALIKE, ROWS, Sampled, likeness, same_noise
from engine.release.noise import ALARM, goodness_of_fit_p
from engine.release.pooling import pooled
from engine.runner import one_thread

_STATED = ("name", "params", "rows", "schema", "total", "labels", "versions")
T = TypeVar("T")
SECONDS = 120.0  # timeout of a check; a correct file of 76 columns takes a few seconds


def allowance(total: Guarantee) -> float:
    """Return the part of delta that pays for the distance of discrete noise from a Gaussian.

    Two runs that are each within DISTANCE of (epsilon, delta')-DP ones are (epsilon, delta' + (1 +
    e^epsilon) DISTANCE)-DP. Raises InputError if this is more than half of delta.
    """
    cost = (1 + math.exp(min(total.epsilon, 700.0))) * DISTANCE
    if cost > total.delta / 2:
        raise InputError(
            f"With ε = {total.epsilon:g} the hardened noise needs a δ of at least {2 * cost:.1g}; "
            "choose a smaller epsilon or a larger delta."
        )
    return cost


@dataclass(frozen=True)
class Request:
    """The request for a release, with only public facts: parameters, rows and schema."""

    asked: MarginalPCParameters
    rows: int
    schema: Schema

    @classmethod
    def parse(cls, content: Mapping[str, Any]) -> Request:
        """Return a request from its JSON value."""
        asked = MarginalPCParameters.build(content["values"])
        return cls(asked, content["rows"], parse_schema(content["schema"]))

    def to_json(self) -> dict[str, Any]:
        """Return the request as a JSON value."""
        return {"values": self.asked.as_dict(), "rows": self.rows, "schema": self.schema.to_json()}

    @property
    def total(self) -> Guarantee:
        """Charge for the release, (epsilon, delta)."""
        return Guarantee(float(self.asked.epsilon), float(self.asked.delta))

    @property
    def params(self) -> MarginalPCParameters:
        """Parameters of the run; delta is smaller by :func:`allowance`."""
        return replace(self.asked, delta=self.total.delta - allowance(self.total))

    @property
    def empty(self) -> Dataset:
        """Placeholder rows without data: all have the first levels, as one weighted row."""
        names, levels = self.schema.names, self.schema.levels
        codes, weights = np.zeros((1, len(names)), dtype=np.uint8), np.array([self.rows])
        return Dataset(codes=codes, names=names, levels=levels, weights=weights, schema=self.schema)

    def context(
        self, source: Randomness, monitor: Monitor, known_by: KnownBy = known_of
    ) -> RunContext:
        """Return the context of a run with the schema's background knowledge and questions."""
        names, ledger = self.schema.names, marginal_pc.ledger(self.empty, self.params)
        known, asked = known_by(self.schema.knowledge, names), self.schema.questions
        return RunContext(source, ledger, names, trace=False, known=known, questions=asked,
                          monitor=monitor)  # fmt: skip

    def run(
        self, data: Dataset, source: Randomness, monitor: Monitor
    ) -> tuple[RunContext, Outcome]:
        """Run on these rows, or on other rows of the schema."""
        context = self.context(source, monitor)
        with one_thread():  # so that sums have the same order on every machine
            return context, marginal_pc.run(data, self.params, context)


class Tables(NamedTuple):
    """The released tables: tests on them, and the columns' levels, merged if there are many.

    ``whole`` is True if tensors of all orders were released; ``known_by`` is the version of the
    rules for background knowledge that chose the tables.
    """

    tests: NoisyTests
    levels: tuple[tuple[str, ...], ...]
    whole: bool
    answers: tuple[Estimate, ...]
    known_by: KnownBy = known_of


class Checked(NamedTuple):
    """Findings of a check: a bound on the probability of the numbers, tables and outcome."""

    doubt: float
    tables: Tables
    outcome: Outcome


_CHECKED: WeakKeyDictionary[Release, Checked] = WeakKeyDictionary()  # releases are immutable


def check(release: Release, seconds: float = SECONDS) -> float:
    """Derive everything again; the file is consistent if the results are equal.

    Args:
        release: A release that was made or opened.
        seconds: The timeout. A file that takes longer is refused, without a verdict.

    Returns:
        A bound on the probability of numbers this good if their noise had been drawn (at most 1);
        for combined releases, the smallest bound.

    Raises:
        InputError: With one sentence if the file contradicts its numbers, or the bound is below
            :data:`~engine.release.noise.ALARM`.

    Examples:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from engine import Budget, Schema, load_dataset
        >>> frame = load_dataset("cancer", n=1_000).to_frame()
        >>> schema = Schema.draft(frame).declare(*frame.columns)
        >>> place = Path(tempfile.mkdtemp()) / "budgets.db"
        >>> ward = Budget("ward", epsilon=3, delta=1e-5, path=place)
        >>> 0 < check(ward.release(frame, schema).release) <= 1
        True
    """
    return checked(release, _deadline(seconds)).doubt


def checked(release: Release, late: Monitor | None = None) -> Checked:
    """Return the verdict of :func:`check`, the tables and the outcome; cached."""
    if release not in _CHECKED:
        _CHECKED[release] = _checked(release, late or _deadline(SECONDS))
    return _CHECKED[release]


def _checked(release: Release, late: Monitor) -> Checked:
    if release.parts:
        made = assembled(release.parts, release.applied)
        if any(getattr(made, field) != getattr(release, field) for field in _STATED):
            raise InputError("The combined file contradicts its releases.")
        parts = [checked(part, late) for part in release.parts]
        if release.rests_on != VOUCHED and (said := _same_people(release.parts, parts)):
            raise InputError(said)
        doubt = min(part.doubt for part in parts)
        tables = _pool(release, [part.tables for part in parts])
    else:
        tables = tables_of(release, late)
        doubt = goodness_of_fit_p(release.releases[0], tables.tests.moments)
    outcome = _by_either(partial(_consistent, release, tables, late))
    if doubt < ALARM:
        raise InputError(
            "The released numbers are too good to be noisy: had noise of the stated size been "
            f"drawn, they would agree this well with a probability of at most {doubt:.1g}."
        )
    return Checked(doubt, tables, outcome)


def _deadline(seconds: float) -> Monitor:
    end = time.monotonic() + seconds

    def late() -> bool:
        if time.monotonic() > end:
            raise InputError(
                f"The check takes longer than {seconds:g} seconds, so there is no verdict."
            )
        return False

    return Monitor(stop=late)


def tables_of(release: Release, monitor: Monitor = QUIET) -> Tables:
    """Return the released tables from the file's numbers; combined releases are pooled.

    Raises InputError if the numbers do not fit the release's algorithm at its (epsilon, delta).
    """
    if release.parts:
        return _pool(release, [tables_of(part, monitor) for part in release.parts])
    return _by_either(partial(_released, release, monitor))


def _by_either(derive: Callable[[KnownBy], T]) -> T:
    """Derive by the current rules or, if that fails, by the rules of earlier files."""
    try:
        return derive(known_of)
    except InputError as refused:
        try:
            return derive(earlier_known)
        except InputError:
            raise refused from None


def _released(release: Release, monitor: Monitor, known_by: KnownBy) -> Tables:
    request = requested(release)
    params = request.params
    if json.dumps(params.as_dict()) != json.dumps(dict(release.params)):
        raise InputError("The release's parameters are not those of its (ε, δ).")
    data = merged(request.empty)  # plans depend only on these
    context = request.context(Replay(release.releases), monitor, known_by)
    with _ending():
        found = marginal_pc.release(data, params, context)
    if tuple(charge.label for charge in context.ledger) != release.labels:
        raise InputError("The releases of the file are not those of its algorithm.")
    return Tables(found.tests, data.levels, found.whole, found.answers, known_by)


def requested(release: Release) -> Request:
    """Return the request of a release that is not a combined one."""
    asked = MarginalPCParameters.build({**release.params, **vars(release.total)})
    return Request(asked, release.rows, release.schema)


def _pool(release: Release, tables: Sequence[Tables]) -> Tables:
    """Pool several sets of tables; compares graphs by whole tables if all released them."""
    moments = pooled([each.tests.moments for each in tables])
    ordinal = requested(release).params.ordinal
    tests = NoisyTests(moments, ordinal=ordinal, leaks=False, whole=bool(moments.higher))
    return Tables(tests, tables[0].levels, all(each.whole for each in tables), ())


def derived(
    release: Release,
    found: Tables,
    monitor: Monitor = QUIET,
    known_by: KnownBy = known_of,
) -> Outcome:
    """Derive the graph from the released tables and the background knowledge."""
    schema = replace(release.schema, knowledge=release.knowledge)
    request = replace(requested(release), rows=found.tests.moments.n, schema=schema)
    context, data = request.context(Replay(()), monitor, known_by), merged(request.empty)
    with _ending():
        return marginal_pc.conclude(
            data, found.tests, request.params, context, found.whole, found.answers
        )


def rederived(release: Release, tables: Tables) -> Release:
    """Return the release with the graph that follows from its tables, unsigned."""
    outcome = derived(release, tables)
    return replace(release, **findings(outcome, release.names), signature=None)


@contextmanager
def _ending() -> Iterator[None]:
    """Raise InputError if a test fails numerically; real rows and noise never cause this."""
    try:
        with one_thread():
            yield
    except (np.linalg.LinAlgError, ArithmeticError):
        raise InputError("The algorithm does not finish with the release's numbers.") from None


_alike = partial(math.isclose, rel_tol=1e-6, abs_tol=1e-9)  # tolerates rounding of printed digits


def _consistent(release: Release, tables: Tables, late: Monitor, known_by: KnownBy) -> Outcome:
    """Return the outcome that follows from the tables; raises InputError if the file differs."""
    outcome = derived(release, tables, late, known_by)
    for field, value in findings(outcome, release.names).items():
        (names, said), (others, numbers) = map(_split, (getattr(release, field), value))
        if names != others or not all(map(_alike, said, numbers)):
            raise InputError(f"The file's {field!r} does not follow from its released numbers.")
    return outcome


def _split(rows: Sequence[tuple[Any, ...]]) -> tuple[list[list[str]], list[float]]:
    """Return the names in each row, and all numbers in order."""
    numbers = [cell for row in rows for cell in row if isinstance(cell, float)]
    return [[cell for cell in row if isinstance(cell, str)] for row in rows], numbers


def moments_of(release: Release) -> tuple[Moments, tuple[tuple[str, ...], ...]]:
    """Return the released tensors with their noise and their levels, from the file only.

    Columns with many levels are merged before the release, by a rule on the schema.
    """
    tables = tables_of(release)
    return tables.tests.moments, tables.levels


def with_knowledge(release: Release, knowledge: Knowledge) -> Release:
    """Return the release with other background knowledge, unsigned.

    The graph and all confidences are derived again from the released tables, and effects and
    synthetic rows follow them. Raises InputError for an inconsistent file, and for background
    knowledge about unknown columns.
    """
    check_names(knowledge, release.names)
    return rederived(replace(release, applied=knowledge), checked(release).tables)


def combined(
    releases: Sequence[Release],
    knowledge: Knowledge | None = None,
    different_people: bool = False,
) -> Release:
    """Combine releases of different people under one schema into one.

    Args:
        releases: Two or more, about different people; a combined one counts as its parts.
        knowledge: Background knowledge about the causes. The default is the knowledge that all
            releases declare.
        different_people: You declare that each person is in only one of them, although two are as
            similar as releases about the same people. The file then records this.

    Returns:
        A release with all their tables combined. If each person is in only one release, they have
        the (ε, δ) of that release. The combined release states the largest of these.

    Raises:
        InputError: For different schemas or parameters, with the first difference; for two releases
            from one budget, for two about the same people by their numbers, for one given twice,
            and for inconsistent files.
    """
    parts = [part for each in releases for part in each.parts or (each,)]
    known = [part.knowledge for part in parts]
    made = assembled(parts, next(iter(known), None) if knowledge is None else knowledge)
    if knowledge is None and any(each != known[0] for each in known):
        raise InputError(
            "The releases have different background knowledge; give the knowledge that is valid "
            "for all."
        )
    found = [checked(part) for part in parts]
    if said := _same_people(parts, found):
        if not different_people:
            raise InputError(said)
        made = replace(made, rests_on=VOUCHED)
    return rederived(made, _pool(made, [part.tables for part in found]))


def _same_people(parts: Sequence[Release], found: Sequence[Checked]) -> str:
    """Name two releases that are as similar as releases about the same people, else "".

    For independent samples of different people, the probability of a match in any pair is at most
    ALIKE.
    """
    some = [
        Sampled.of(moments, drawn(moments, consistent_dag(outcome.matrix), ROWS, Randomness(0)))
        for moments, outcome in ((each.tables.tests.moments, each.outcome) for each in found)
    ]
    pairs = list(combinations(range(len(parts)), 2))
    for i, j in pairs:
        if (p := likeness(some[i], some[j])) * len(pairs) < ALIKE:
            return (
                f"{show(parts[i].name)} and {show(parts[j].name)} look like the same people: "
                "releases of different people are this alike with a probability of at most "
                f"{p:.1g}. If you know that each person is in one of them only, declare it: "
                "use combine --different-people, in Python different_people=True, or the box on "
                "the page."
            )
    return ""


def assembled(parts: Sequence[Release], applied: Knowledge | None) -> Release:
    """Return a release with the facts of combined releases; its graph is still that of one part.

    Raises InputError for two releases with one budget or the same noise, for different schemas or
    parameters (with the first difference), and for background knowledge about unknown columns.
    """
    if not 2 <= len(parts) <= MOST_PARTS:
        raise InputError(f"Combine 2 to {MOST_PARTS} releases, not {len(parts)}.")
    for one, other in combinations(parts, 2):
        pair = f"{show(one.name)} and {show(other.name)}"
        if (one.name, one.rows) == (other.name, other.rows):  # a budget belongs to its people
            raise InputError(f"{pair} are of one budget, so people would be counted twice.")
        theirs = _facts(other)
        for what, value in _facts(one).items():
            if theirs.get(what) != value:
                raise InputError(
                    f"{pair} differ in {what}: {show(value)} against {show(theirs.get(what))}. "
                    "Combine releases of one schema and one search."
                )
        if same_noise(one, other):
            raise InputError(
                f"{pair} are the same release or a copy of it, so people would be counted twice."
            )
    if applied is not None:
        check_names(applied, parts[0].names)
    best = max(parts, key=lambda part: part.total.epsilon)
    names = " + ".join(part.name for part in parts)
    return replace(
        best,
        name=names if len(names) <= 120 else f"{len(parts)} releases",
        rows=sum(part.rows for part in parts),
        schema=replace(best.schema, rows=None, knowledge=None, questions=()),
        total=Guarantee(best.total.epsilon, max(part.total.delta for part in parts)),
        releases=(),
        labels=(),
        applied=applied,
        parts=tuple(parts),
        rests_on=DISJOINT,
        signature=None,
    )


def _facts(release: Release) -> dict[str, Any]:
    """Return, by name, the facts in which combined releases must agree."""
    found = {"their columns": release.names, "the column of persons": release.schema.person}
    for column in release.schema.columns:
        found |= {f"{field!r} of {show(column.name)}": v for field, v in vars(column).items()}
    asked = {k: v for k, v in release.params.items() if k not in ("epsilon", "delta")}
    return found | {f"the parameter {name!r}": value for name, value in asked.items()}


def question(release: Release) -> Callable[..., Effect]:
    """Return the effects of a release, which is checked first, for several calls."""
    _, tables, outcome = checked(release)
    assert isinstance(outcome.diagnostics, MarginalDiagnostics)
    known = known_of(release.knowledge, release.names)
    dags = plausible(outcome.diagnostics, outcome.matrix, known)
    about = tables.tests.moments, release.names, tables.levels, dags
    return partial(effect_of, *about, corrected=tables.answers)


def answer(release: Release, asked: Question) -> Effect:
    """Answer a question from a release, which is checked first."""
    return question(release)(asked.cause, asked.outcome, **asked.options)


def answers(release: Release) -> tuple[Effect, ...]:
    """Answer the questions stored in a release."""
    return tuple(answer(release, asked) for asked in release.schema.questions)


# An attack on a shared release that uses only its file: transcript replay of its answers on
# neighbouring datasets with its settings. Every recipient of the file can run it; it needs no data
# and costs no ε.

HALF = 0.5  # share of the charge: a larger move would reveal a charge half as large


@renamed(cancelled="stop", watch="on_progress")
def attack_release(
    release: Release,
    *,
    proposals: int = PROPOSALS,
    seconds: float = SECONDS,
    stop: Stop | None = None,
    on_progress: OnProgress | None = None,
) -> Finding:
    """Check the file, then search for the records that change each answer most.

    The ratios in the result are per answer: the largest change over the charge in the file. If the
    attack is stopped or takes longer than ``seconds``, it reports its attempts so far.
    ``on_progress`` receives the completed share and a phrase. Raises InputError if the file is
    inconsistent, or is a combined release, which has no separate answers.
    """
    if release.parts:
        raise InputError("A combined release has no measurements. Attack each of its parts.")
    known_by = checked(release, _deadline(seconds)).tables.known_by
    request = requested(release)
    return attack(
        marginal_pc.ALGORITHM,
        request.params,
        release.releases,
        request.empty,
        known_by,
        proposals=proposals,
        monitor=Monitor(on_progress, stop).within(seconds),
    )


def verdict(found: Finding) -> str:
    """Return the result of the attack in one sentence."""
    if found.pairs == 0:
        return "Stopped before the first pair of neighbours, so there is no verdict on the file."
    said = "Not refuted" if found.passed else "REFUTED"
    return f"{said} by {found.pairs} pairs of neighbours with the answers of the file."

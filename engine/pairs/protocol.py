"""Releases that decide a pair: a vote's margin, one difference, or the paper's noisy scores."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.context import RunContext
from engine.data.dataset import Dataset
from engine.pairs.columns import Halves, Pair
from engine.pairs.decision import (
    BOTH,
    IQR_SIGNS,
    TEST,
    Decision,
    Reach,
    Residuals,
    Setting,
    reaches,
    training_distance,
)
from engine.pairs.dependence import RANK_SCORES
from engine.pairs.votes import MARGIN_SENSITIVITY, best_settings, votes
from engine.privacy.mechanisms import exponential, laplace, propose_test_release, stable_release
from engine.tables.store import store_of
from engine.theory import (
    direction_probability,
    iqr_direction_probability,
    one_release_probability,
)

VOTE, DIFFERENCE, TWO_SCORES = "vote", "difference", "scores"
TUNING_SHARE = 0.1  # share of epsilon for choosing lambda and the width from the data
IQR_PARTS = 3  # two noisy distances and the release: Dwork and Lei's (3 epsilon, delta)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Terms:
    """The releases about a pair, and their budget.

    ``epsilon`` and ``delta`` are the total if ``strict``, otherwise the paper's parameters with
    these names. ``rows`` is the size of a block. With ``tune``, blocks of the training half choose
    lambda and a width.
    """

    data: Dataset
    pair: Pair
    context: RunContext
    setting: Setting
    score: str
    release: str
    epsilon: float
    delta: float
    strict: bool
    rows: int
    tune: bool

    def arrow(self, gap: float) -> str:
        """Return the direction for a gap: above 0 the first column is the cause."""
        return "{}->{}".format(*self.data.names if gap > 0 else self.data.names[::-1])

    def note(self, kind: str, noisy: float | None, exact: float) -> None:
        """Emit a step for one of several numbers that decide the pair together."""
        decision = "not released" if noisy is None else "released"
        self.context.emit(kind, decision, value=noisy, internal={"exact": exact})

    def by_one(
        self, what: str, gap: float | None, scale: float, internal: Mapping[str, Any]
    ) -> Decision:
        """Decide by one number, and emit a step for it."""
        decision = "undecided" if gap is None else self.arrow(gap)
        self.context.emit(
            "decision",
            decision,
            code="too_close" if gap is None else what,
            numbers={"of": what},
            query=(0, 1, ()),
            value=gap,
            threshold=0.0,
            internal=internal,
        )
        return self.decide(gap, () if gap is None else (gap,), scale, one_release_probability)

    def decide(
        self,
        gap: float | None,
        scores: tuple[float, ...],
        scale: float,
        chance: Callable[[float, float], float],
    ) -> Decision:
        """Decide by a released gap; its sign is right with probability ``chance(gap, scale)``."""
        sure = 0.5 if gap is None else chance(abs(gap), scale) if scale > 0 else 1.0
        return Decision(
            direction=None if gap is None else self.arrow(gap),
            scores=scores,
            probability=sure,
            scale=scale,
            score=self.score,
            release=self.release,
            protects=BOTH if self.release == VOTE else self.setting.protect,
        )


def by_vote(terms: Terms) -> Decision:
    """Decide by one noisy margin of the blocks' votes; each record is in one block."""
    context = terms.context
    order = context.randomness.permutation(terms.data.n)
    cast = store_of(terms.data).keep(
        ("anm votes", _mark(order), terms.rows, terms.score),
        lambda: votes(terms.pair, order, terms.rows, terms.score, context.check),
    )
    scale = MARGIN_SENSITIVITY / terms.epsilon
    exact = float(cast.sum())
    margin = laplace(
        context, exact, sensitivity=MARGIN_SENSITIVITY, scale=scale, label="margin of the vote"
    )
    internal = {"exact": exact, "blocks": len(cast)}
    return terms.by_one("votes_margin", margin, scale, internal)


def by_scores(terms: Terms) -> Decision:
    """Run the paper's Algorithm 1 with two noisy scores, or with one noisy difference."""
    context, data = terms.context, terms.data
    halves = Halves.split(data.n, context.randomness)
    setting, epsilon = _setting(terms, halves)
    key = (_mark(halves.test), setting.ridge, setting.width)
    rest = store_of(data).keep(
        ("anm fit", *key), lambda: Residuals.fit(terms.pair, halves, setting)
    )
    context.check()
    if terms.score == "iqr":
        return _by_iqr(terms, rest, setting, epsilon)
    exact = store_of(data).keep(
        ("anm scores", *key, terms.score, setting.score_width),
        lambda: rest.scores(terms.score, setting.score_width),
    )
    context.check()
    if terms.release == DIFFERENCE:
        return _one_difference(terms, rest, setting, exact, epsilon)
    return _two_scores(terms, rest, setting, exact, epsilon)


def _setting(terms: Terms, halves: Halves) -> tuple[Setting, float]:
    """Return setting and epsilon; with ``tune`` the blocks' choice and the remaining epsilon."""
    setting, epsilon = terms.setting, terms.epsilon
    if not terms.tune:
        return setting, epsilon
    context, training = terms.context, terms.pair.rows(halves.training)
    options, counts = best_settings(training, terms.rows)
    chosen = options[
        exponential(context, counts, epsilon=TUNING_SHARE * epsilon, label="λ and width")
    ]
    context.emit("tune", f"λ {chosen[0]:g}, width {chosen[1]:g}")
    setting = replace(setting, ridge=chosen[0], width=chosen[1])
    return setting, (1 - TUNING_SHARE) * epsilon


def _one_difference(
    terms: Terms, rest: Residuals, setting: Setting, exact: tuple[float, float], epsilon: float
) -> Decision:
    forward, backward = exact
    sensitivity = 2 * setting.sensitivity(terms.score, rest.n, rest.m)
    scale = sensitivity / epsilon
    gap = laplace(
        terms.context, backward - forward, sensitivity=sensitivity, scale=scale, label="difference"
    )
    internal = {"forward": forward, "backward": backward}
    return terms.by_one("scores_difference", gap, scale, internal)


def _two_scores(
    terms: Terms, rest: Residuals, setting: Setting, exact: tuple[float, float], epsilon: float
) -> Decision:
    """Apply sections 4.1, 4.2, 5.1 and 5.2; if strict, each score gets half of the total."""
    context, name = terms.context, terms.score
    each = epsilon / 2 if terms.strict else epsilon
    scale = setting.sensitivity(name, rest.n, rest.m) / each
    proven = scale * each if terms.strict else _defended(setting, name, rest)
    released: list[float] = []
    arrows = terms.arrow(1), terms.arrow(-1)
    for value, residuals, arrow in zip(exact, (rest.of_y, rest.of_x), arrows, strict=True):
        noisy: float | None = value
        if name in RANK_SCORES and setting.training and not terms.strict:
            noisy = _if_stable(terms, value, residuals, setting.shift(rest.n), arrow)
        if noisy is not None and scale > 0:
            noisy = laplace(context, noisy, sensitivity=proven, scale=scale, label=arrow)
        terms.note("score", noisy, value)
        if noisy is not None:
            released.append(noisy)
    gap = released[1] - released[0] if len(released) == 2 else None
    return terms.decide(gap, tuple(released), scale, direction_probability)


def _defended(setting: Setting, name: str, rest: Residuals) -> float:
    """Return the sensitivity of a score; a rank score must have passed the training half's test."""
    protect = TEST if name in RANK_SCORES else setting.protect
    strict = replace(setting, variant="strict", protect=protect)
    return strict.sensitivity(name, rest.n, rest.m)


def _if_stable(
    terms: Terms, value: float, residuals: np.ndarray, shift: float, label: str
) -> float | None:
    """Apply section 5.1: release only if no rank is close to a change.

    The smallest gap belongs to the test half, and a test record can change it by any amount, so
    there is no guarantee if test records are protected too.
    """
    return stable_release(
        terms.context,
        value,
        training_distance(residuals, shift),
        epsilon=terms.epsilon,
        delta=terms.delta,
        defended=not terms.setting.test,
        label=f"{label}, stable ranks",
    )


def _by_iqr(terms: Terms, rest: Residuals, setting: Setting, epsilon: float) -> Decision:
    """Apply sections 4.3 and 5.3, or release the difference by one propose-test-release (ours)."""
    if terms.release == DIFFERENCE:
        whole = Reach(rest.ordered, IQR_SIGNS, rest.moves(setting), setting.test)
        return _iqr_difference(terms, whole, epsilon)
    step = epsilon / (4 * IQR_PARTS) if terms.strict else epsilon
    slack = terms.delta / 4 if terms.strict else terms.delta
    x, y = terms.data.names
    names = (f"IQR of {x}", f"IQR of what {x} leaves", f"IQR of {y}", f"IQR of what {y} leaves")
    parts: list[float | None] = []
    for name, reach in zip(names, reaches(rest, setting), strict=True):
        if setting.test or any(reach.shifts):
            noisy = propose_test_release(
                terms.context,
                reach.value,
                reach.distances(),
                length=1.0,
                epsilon=step,
                slack=slack,
                label=name,
            )
        else:
            noisy = reach.value  # the test half is public, and training records do not affect it
        terms.note("iqr", noisy, reach.value)
        parts.append(noisy)
    kept = [part for part in parts if part is not None]
    scores = (kept[0] + kept[1], kept[2] + kept[3]) if len(kept) == 4 else ()
    gap = scores[1] - scores[0] if scores else None
    return terms.decide(gap, scores, 1 / step, iqr_direction_probability)


def _iqr_difference(terms: Terms, reach: Reach, epsilon: float) -> Decision:
    """Make one test and one release: the larger distance also changes by at most 1."""
    step = epsilon / 2
    noisy = propose_test_release(
        terms.context,
        -reach.value,
        (max(reach.distances()),),
        length=1.0,
        epsilon=step,
        # one test instead of two: an unstable value passes with probability delta
        slack=2 * terms.delta,
        label="difference of log IQRs",
    )
    return terms.by_one("scores_difference", noisy, 1 / step, {"exact": -reach.value})


def _mark(order: np.ndarray) -> str:
    """Return a short name of a row order, under which the store keeps results."""
    return hashlib.blake2b(np.ascontiguousarray(order).data, digest_size=16).hexdigest()


def decide(terms: Terms) -> Decision:
    """Release numbers and decide by them."""
    return by_vote(terms) if terms.release == VOTE else by_scores(terms)

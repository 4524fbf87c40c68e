"""The releases that decide a pair: a vote's margin, one difference, or the paper's noisy scores."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
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
TUNING_SHARE = 0.1  # of epsilon, where lambda and the width are chosen from the data
IQR_PARTS = 3  # two noisy distances and the release: Dwork and Lei's (3 epsilon, delta)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Terms:
    """What is released of which pair, and what it may cost.

    ``epsilon`` and ``delta`` are the total if ``strict``, else what the paper calls by these names.
    ``rows`` of a block; ``tune`` lets blocks of the training half choose lambda and a width.
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

    def tell(self, what: str, value: float | None, internal: Mapping[str, Any]) -> None:
        """A step for the number that decides; above 0 the first column is the cause."""
        x, y = self.data.names
        decision, reason = "undecided", f"the {what} is too close to a change to be released"
        if value is not None:
            decision = f"{x}->{y}" if value > 0 else f"{y}->{x}"
            reason = f"the noisy {what} {value:.4g} is {'above' if value > 0 else 'not above'} 0"
        self.context.emit(
            "decision",
            decision,
            reason=reason,
            query=(0, 1, ()),
            value=value,
            threshold=0.0,
            internal=internal,
        )

    def decide(
        self, gap: float | None, scores: tuple[float, ...], scale: float, probability: float
    ) -> Decision:
        """The decision of a released gap: above 0 the first column is the cause."""
        x, y = self.data.names
        direction = None if gap is None else (f"{x}->{y}" if gap > 0 else f"{y}->{x}")
        protects = BOTH if self.release == VOTE else self.setting.protect
        return Decision(
            direction=direction,
            scores=scores,
            probability=probability,
            scale=scale,
            score=self.score,
            release=self.release,
            protects=protects,
        )


def by_vote(terms: Terms) -> Decision:
    """One noisy margin of the blocks' votes: every record is in one block."""
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
    terms.tell("margin of the votes", margin, {"exact": exact, "blocks": len(cast)})
    return terms.decide(margin, (margin,), scale, one_release_probability(abs(margin), scale))


def by_scores(terms: Terms) -> Decision:
    """The paper's protocol (Algorithm 1) with two noisy scores, or with their one difference."""
    context, data = terms.context, terms.data
    halves = Halves.deal(data.n, context.randomness)
    setting, epsilon = _setting(terms, halves)
    key = (_mark(halves.test), setting.ridge, setting.width)
    rest = store_of(data).keep(("anm fit", *key), lambda: Residuals.of(terms.pair, halves, setting))
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
    """The public setting and epsilon; or the blocks' choice, and what is left after paying."""
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
    terms.tell("difference of the scores", gap, {"forward": forward, "backward": backward})
    return terms.decide(gap, (gap,), scale, one_release_probability(abs(gap), scale))


def _two_scores(
    terms: Terms, rest: Residuals, setting: Setting, exact: tuple[float, float], epsilon: float
) -> Decision:
    """Sections 4.1, 4.2, 5.1 and 5.2; strict gives each score half of the total."""
    context, name = terms.context, terms.score
    each = epsilon / 2 if terms.strict else epsilon
    scale = setting.sensitivity(name, rest.n, rest.m) / each
    proven = scale * each if terms.strict else _defended(setting, name, rest)
    released: list[float] = []
    for value, residuals, arrow in zip(exact, (rest.of_y, rest.of_x), _arrows(terms), strict=True):
        noisy: float | None = value
        if name in RANK_SCORES and setting.training and not terms.strict:
            noisy = _if_stable(terms, value, residuals, setting.shift(rest.n), arrow)
        if noisy is not None and scale > 0:
            noisy = laplace(context, noisy, sensitivity=proven, scale=scale, label=arrow)
        context.emit(
            "score",
            "released" if noisy is not None else "not released",
            value=noisy,
            internal={"exact": value},
        )
        if noisy is not None:
            released.append(noisy)
    if len(released) < 2:
        return terms.decide(None, tuple(released), scale, 0.5)
    gap = released[1] - released[0]
    sure = direction_probability(abs(gap), scale) if scale > 0 else 1.0
    return terms.decide(gap, tuple(released), scale, sure)


def _defended(setting: Setting, name: str, rest: Residuals) -> float:
    """What the paper's noise has to hide; a rank score passed its test of the training half."""
    protect = TEST if name in RANK_SCORES else setting.protect
    strict = replace(setting, variant="strict", protect=protect)
    return strict.sensitivity(name, rest.n, rest.m)


def _if_stable(
    terms: Terms, value: float, residuals: np.ndarray, shift: float, label: str
) -> float | None:
    """Section 5.1: release if no rank is about to change.

    The smallest gap is one of the test half, and its records can move it freely: where they
    are to be protected too, nothing can be proven.
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
    """Sections 4.3 and 5.3; or the difference of the scores by one propose-test-release (ours)."""
    shift = setting.shift(rest.n)
    shifts = (0.0, shift, 0.0, shift)
    if terms.release == DIFFERENCE:
        return _iqr_difference(terms, Reach(rest.ordered, IQR_SIGNS, shifts, setting.test), epsilon)
    step = epsilon / (4 * IQR_PARTS) if terms.strict else epsilon
    slack = terms.delta / 4 if terms.strict else terms.delta
    x, y = terms.data.names
    names = (f"IQR of {x}", f"IQR of what {x} leaves", f"IQR of {y}", f"IQR of what {y} leaves")
    parts: list[float | None] = []
    for name, column, move in zip(names, rest.ordered, shifts, strict=True):
        reach = Reach((column,), (1,), (move,), setting.test)
        if setting.test or move > 0:
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
            noisy = reach.value  # the test half is public, and no training record enters
        terms.context.emit(
            "iqr",
            "released" if noisy is not None else "not released",
            value=noisy,
            internal={"exact": reach.value},
        )
        parts.append(noisy)
    kept = [part for part in parts if part is not None]
    if len(kept) < 4:
        return terms.decide(None, (), 1 / step, 0.5)
    scores = kept[0] + kept[1], kept[2] + kept[3]
    gap = scores[1] - scores[0]
    sure = iqr_direction_probability(abs(gap), 1 / step)
    return terms.decide(gap, scores, 1 / step, sure)


def _iqr_difference(terms: Terms, reach: Reach, epsilon: float) -> Decision:
    """One test and one release: the larger distance moves by at most 1 as well."""
    step = epsilon / 2
    noisy = propose_test_release(
        terms.context,
        -reach.value,
        (max(reach.distances()),),
        length=1.0,
        epsilon=step,
        slack=2 * terms.delta,  # one test of two: an unstable value passes it with delta
        label="difference of log IQRs",
    )
    terms.tell("difference of the scores", noisy, {"exact": -reach.value})
    if noisy is None:
        return terms.decide(None, (), 1 / step, 0.5)
    return terms.decide(noisy, (noisy,), 1 / step, one_release_probability(abs(noisy), 1 / step))


def _mark(order: np.ndarray) -> str:
    """A short name for an order of the rows, for the store to find what was computed under it."""
    return hashlib.blake2b(np.ascontiguousarray(order).data, digest_size=16).hexdigest()


def _arrows(terms: Terms) -> tuple[str, str]:
    x, y = terms.data.names
    return f"{x}->{y}", f"{y}->{x}"


def decide(terms: Terms) -> Decision:
    """Release, and decide by what was released."""
    return by_vote(terms) if terms.release == VOTE else by_scores(terms)

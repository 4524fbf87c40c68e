"""Cause or effect of two columns by the additive-noise model, privately (Kusner et al. 2016)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.algorithm import Algorithm, Diagnostics, Outcome
from engine.data.dataset import Dataset
from engine.errors import InputError
from engine.pairs.columns import MIN_ROWS, Halves, Pair, pair_of
from engine.pairs.decision import (
    BOTH,
    IQR_SIGNS,
    TEST,
    TRAINING,
    Decision,
    Reach,
    Residuals,
    Setting,
    training_distance,
)
from engine.pairs.dependence import RANK_SCORES, SCORES
from engine.pairs.votes import MARGIN_SENSITIVITY, best_settings, votes
from engine.params import ParameterError, param
from engine.privacy.accounting import Guarantee
from engine.privacy.budget import PRESETS, PrivateBudget
from engine.privacy.ledger import BudgetExhausted, Ledger
from engine.privacy.mechanisms import exponential, laplace, propose_test_release, stable_release
from engine.session import Cancelled, Session
from engine.tables.store import store_of
from engine.theory import (
    direction_probability,
    iqr_direction_probability,
    one_release_probability,
)

VOTE, DIFFERENCE, TWO_SCORES = "vote", "difference", "scores"
DEFAULT_SCORE = {VOTE: "variance", DIFFERENCE: "root_hsic", TWO_SCORES: "hsic"}
# 40 / epsilon blocks that all agree are turned by noise with probability e^-20 / 2; what rows are
# left over make better votes. Chosen on simulated pairs (docs/pairs.md).
BLOCKS_WANTED, BLOCK_LOW, BLOCK_HIGH = 40, 25, 100
TUNING_SHARE = 0.1  # of epsilon, where lambda and the width are chosen from the data
IQR_PARTS = 3  # two noisy distances and the release: Dwork and Lei's (3 epsilon, delta)


@dataclass(frozen=True, kw_only=True)
class AnmParameters(PrivateBudget):
    """Parameters of the additive-noise model for pairs."""

    score: str = param(
        "auto",
        kind="choice",
        choices=("auto", *SCORES),
        title="Dependence score",
        help="How dependence between a cause and what its fit leaves is measured. 'auto' is the "
        "variance in a vote, the root of HSIC in a difference, HSIC as two scores.",
    )
    release: str = param(
        "auto",
        kind="choice",
        choices=("auto", VOTE, DIFFERENCE, TWO_SCORES),
        title="What is released",
        help="Two noisy scores as in the paper, one noisy difference of them, or one noisy margin "
        "of a vote over blocks of rows. 'auto' is the vote if strict, two scores if published.",
    )
    protect: str = param(
        BOTH,
        kind="choice",
        choices=(BOTH, TEST, TRAINING),
        title="Protected half",
        help="Whose record the noise hides: those of the test half, of the training half, or all. "
        "A half that is not protected is taken as public, so your own data need both.",
    )
    block: int | str = param(
        "auto",
        kind="int",
        words=("auto",),
        low=10,
        high=100_000,
        title="Rows in a block",
        help="How many rows each vote is based on: many small blocks outvote the noise, larger "
        "ones vote better. 'auto' is εn/40 between 25 and 100.",
        when={"release": ("auto", VOTE)},
    )
    ridge: float = param(
        0.001,
        kind="float",
        low=1e-6,
        high=1.0,
        log=True,
        title="Ridge λ",
        help="Penalty of the kernel ridge regression; a larger one follows the data less and lets "
        "one training record move less.",
        when={"release": ("auto", DIFFERENCE, TWO_SCORES)},
    )
    width: float = param(
        0.3,
        kind="float",
        low=0.1,
        high=5.0,
        title="Width of the fit's kernel",
        help="In units in which the stated bounds of a column are -1 and 1.",
        when={"release": ("auto", DIFFERENCE, TWO_SCORES)},
    )
    score_width: float = param(
        0.2,
        kind="float",
        low=0.01,
        high=5.0,
        title="Width of HSIC's kernels",
        help="In the same units. The median heuristic would read it from the data.",
        when={"release": ("auto", DIFFERENCE, TWO_SCORES)},
    )
    tune: bool = param(
        False,
        kind="bool",
        title="Choose λ and width from the data",
        help="Blocks of the training half vote on λ and the fit's width; a tenth of ε pays for it.",
        when={"release": (DIFFERENCE, TWO_SCORES)},
    )

    @property
    def releases(self) -> str:
        """What is released, 'auto' resolved."""
        if self.release != "auto":
            return self.release
        return VOTE if self.strict else TWO_SCORES

    @property
    def measures(self) -> str:
        """The score, 'auto' resolved."""
        return DEFAULT_SCORE[self.releases] if self.score == "auto" else self.score

    def block_rows(self, n: int) -> int:
        """Rows of a block, 'auto' resolved from n and epsilon, both public."""
        if isinstance(self.block, str):
            return round(min(BLOCK_HIGH, max(BLOCK_LOW, self.epsilon * n / BLOCKS_WANTED)))
        return self.block

    def check_together(self) -> None:
        """Refuse what the paper does not describe as published, and what has no bound."""
        if not self.strict and (
            self.releases != TWO_SCORES or self.measures == "root_hsic" or self.tune
        ):
            raise ParameterError(
                "The paper releases two scores with public settings: for a vote, a difference, "
                'root_hsic or tune take guarantee = "strict".'
            )
        if self.measures == "variance" and self.releases != VOTE:
            raise ParameterError(
                'One record can move the variance by any amount: take release = "vote" for it.'
            )

    def setting(self) -> Setting:
        """The public choices, as the protocol wants them."""
        return Setting(
            ridge=self.ridge,
            width=self.width,
            score_width=self.score_width,
            protect=self.protect,
            variant=self.guarantee,
        )


@dataclass(frozen=True, eq=False)
class Run:
    """What every form of release works with."""

    data: Dataset
    pair: Pair
    params: AnmParameters
    session: Session

    def tell(self, what: str, value: float | None, internal: Mapping[str, Any]) -> None:
        """A step for the number that decides; above 0 the first column is the cause."""
        x, y = self.data.names
        decision, reason = "undecided", f"the {what} is too close to a change to be released"
        if value is not None:
            decision = f"{x}->{y}" if value > 0 else f"{y}->{x}"
            reason = f"the noisy {what} {value:.4g} is {'above' if value > 0 else 'not above'} 0"
        self.session.emit(
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
        protects = BOTH if self.params.releases == VOTE else self.params.protect
        return Decision(
            direction=direction,
            scores=scores,
            probability=probability,
            scale=scale,
            score=self.params.measures,
            release=self.params.releases,
            protects=protects,
        )


def decide_by_vote(run: Run) -> Decision:
    """One noisy margin of the blocks' votes: every record is in one block."""
    params, session = run.params, run.session
    order, rows = session.randomness.permutation(run.data.n), params.block_rows(run.data.n)
    cast = store_of(run.data).keep(
        ("anm votes", _mark(order), rows, params.measures),
        lambda: votes(run.pair, order, rows, params.measures, session.check),
    )
    scale = MARGIN_SENSITIVITY / params.epsilon
    exact = float(cast.sum())
    margin = laplace(
        session, exact, sensitivity=MARGIN_SENSITIVITY, scale=scale, label="margin of the vote"
    )
    run.tell("margin of the votes", margin, {"exact": exact, "blocks": len(cast)})
    return run.decide(margin, (margin,), scale, one_release_probability(abs(margin), scale))


def decide_by_scores(run: Run) -> Decision:
    """The paper's protocol (Algorithm 1) with two noisy scores, or with their one difference."""
    params, session, data = run.params, run.session, run.data
    halves = Halves.deal(data.n, session.randomness)
    setting, epsilon = _setting(run, halves)
    key = (_mark(halves.test), setting.ridge, setting.width)
    rest = store_of(data).keep(("anm fit", *key), lambda: Residuals.of(run.pair, halves, setting))
    session.check()
    if params.measures == "iqr":
        return _by_iqr(run, rest, setting, epsilon)
    exact = store_of(data).keep(
        ("anm scores", *key, params.measures, setting.score_width),
        lambda: rest.scores(params.measures, setting.score_width),
    )
    session.check()
    if params.releases == DIFFERENCE:
        return _one_difference(run, rest, setting, exact, epsilon)
    return _two_scores(run, rest, setting, exact, epsilon)


def _setting(run: Run, halves: Halves) -> tuple[Setting, float]:
    """The public setting and epsilon; or the blocks' choice, and what is left after paying."""
    setting, epsilon = run.params.setting(), run.params.epsilon
    if not run.params.tune:
        return setting, epsilon
    session, training = run.session, run.pair.rows(halves.training)
    options, counts = best_settings(training, run.params.block_rows(run.data.n))
    chosen = options[
        exponential(session, counts, epsilon=TUNING_SHARE * epsilon, label="λ and width")
    ]
    session.emit("tune", f"λ {chosen[0]:g}, width {chosen[1]:g}")
    setting = replace(setting, ridge=chosen[0], width=chosen[1])
    return setting, (1 - TUNING_SHARE) * epsilon


def _one_difference(
    run: Run, rest: Residuals, setting: Setting, exact: tuple[float, float], epsilon: float
) -> Decision:
    forward, backward = exact
    sensitivity = 2 * setting.sensitivity(run.params.measures, rest.n, rest.m)
    scale = sensitivity / epsilon
    gap = laplace(
        run.session, backward - forward, sensitivity=sensitivity, scale=scale, label="difference"
    )
    run.tell("difference of the scores", gap, {"forward": forward, "backward": backward})
    return run.decide(gap, (gap,), scale, one_release_probability(abs(gap), scale))


def _two_scores(
    run: Run, rest: Residuals, setting: Setting, exact: tuple[float, float], epsilon: float
) -> Decision:
    """Sections 4.1, 4.2, 5.1 and 5.2; strict gives each score half of the total."""
    params, session, name = run.params, run.session, run.params.measures
    each = epsilon / 2 if params.strict else epsilon
    scale = setting.sensitivity(name, rest.n, rest.m) / each
    defended = scale * each if params.strict else _defended(setting, name, rest)
    released: list[float] = []
    for value, residuals, arrow in zip(exact, (rest.of_y, rest.of_x), _arrows(run), strict=True):
        noisy: float | None = value
        if name in RANK_SCORES and setting.training and not params.strict:
            noisy = _if_stable(session, value, residuals, rest, setting, params, arrow)
        if noisy is not None and scale > 0:
            noisy = laplace(session, noisy, sensitivity=defended, scale=scale, label=arrow)
        session.emit(
            "score",
            "released" if noisy is not None else "not released",
            value=noisy,
            internal={"exact": value},
        )
        if noisy is not None:
            released.append(noisy)
    if len(released) < 2:
        return run.decide(None, tuple(released), scale, 0.5)
    gap = released[1] - released[0]
    sure = direction_probability(abs(gap), scale) if scale > 0 else 1.0
    return run.decide(gap, tuple(released), scale, sure)


def _defended(setting: Setting, name: str, rest: Residuals) -> float:
    """What the paper's noise has to hide; a rank score passed its test of the training half."""
    protect = TEST if name in RANK_SCORES else setting.protect
    strict = replace(setting, variant="strict", protect=protect)
    return strict.sensitivity(name, rest.n, rest.m)


def _if_stable(
    session: Session,
    value: float,
    residuals: np.ndarray,
    rest: Residuals,
    setting: Setting,
    params: AnmParameters,
    label: str,
) -> float | None:
    """Section 5.1: release if no rank is about to change.

    The smallest gap is one of the test half, whose records can move it freely: where they are to be
    protected too, nothing can be defended.
    """
    return stable_release(
        session,
        value,
        training_distance(residuals, setting.shift(rest.n)),
        epsilon=params.epsilon,
        delta=params.delta,
        defended=not setting.test,
        label=f"{label}, stable ranks",
    )


def _by_iqr(run: Run, rest: Residuals, setting: Setting, epsilon: float) -> Decision:
    """Sections 4.3 and 5.3; or the difference of the scores by one propose-test-release (ours)."""
    shift = setting.shift(rest.n)
    shifts = (0.0, shift, 0.0, shift)
    if run.params.releases == DIFFERENCE:
        return _iqr_difference(run, Reach(rest.ordered, IQR_SIGNS, shifts, setting.test), epsilon)
    params = run.params
    step = epsilon / (4 * IQR_PARTS) if params.strict else epsilon
    slack = params.delta / 4 if params.strict else params.delta
    x, y = run.data.names
    names = (f"IQR of {x}", f"IQR of what {x} leaves", f"IQR of {y}", f"IQR of what {y} leaves")
    parts: list[float | None] = []
    for name, column, move in zip(names, rest.ordered, shifts, strict=True):
        reach = Reach((column,), (1,), (move,), setting.test)
        if setting.test or move > 0:
            noisy = propose_test_release(
                run.session,
                reach.value,
                reach.distances(),
                length=1.0,
                epsilon=step,
                slack=slack,
                label=name,
            )
        else:
            noisy = reach.value  # the test half is public, and no training record enters
        run.session.emit(
            "iqr",
            "released" if noisy is not None else "not released",
            value=noisy,
            internal={"exact": reach.value},
        )
        parts.append(noisy)
    kept = [part for part in parts if part is not None]
    if len(kept) < 4:
        return run.decide(None, (), 1 / step, 0.5)
    gap = kept[2] + kept[3] - kept[0] - kept[1]
    sure = iqr_direction_probability(abs(gap), 1 / step)
    return run.decide(gap, (kept[0] + kept[1], kept[2] + kept[3]), 1 / step, sure)


def _iqr_difference(run: Run, reach: Reach, epsilon: float) -> Decision:
    """One test and one release: the larger distance moves by at most 1 as well."""
    step = epsilon / 2
    noisy = propose_test_release(
        run.session,
        -reach.value,
        (max(reach.distances()),),
        length=1.0,
        epsilon=step,
        slack=2 * run.params.delta,  # one test of two: an unstable value passes it with delta
        label="difference of log IQRs",
    )
    run.tell("difference of the scores", noisy, {"exact": -reach.value})
    if noisy is None:
        return run.decide(None, (), 1 / step, 0.5)
    return run.decide(noisy, (noisy,), 1 / step, one_release_probability(abs(noisy), 1 / step))


def _mark(order: np.ndarray) -> str:
    """A short name for an order of the rows, for the store to find what was computed under it."""
    return hashlib.blake2b(np.ascontiguousarray(order).data, digest_size=16).hexdigest()


def _arrows(run: Run) -> tuple[str, str]:
    x, y = run.data.names
    return f"{x}->{y}", f"{y}->{x}"


def claimed_total(params: AnmParameters) -> Guarantee:
    """The paper's total: two scores, or three IQRs a column (nine parts), by simple composition."""
    epsilon, delta = params.epsilon, params.delta
    if params.measures == "iqr":  # sections 4.3 and 5.3
        return (
            Guarantee(6 * epsilon, 2 * delta)
            if params.protect == TRAINING
            else Guarantee(9 * epsilon, 3 * delta)
        )
    stable = params.measures in RANK_SCORES and params.protect != TEST
    return Guarantee(2 * epsilon, 2 * delta if stable else 0.0)


def ledger(data: Dataset, params: AnmParameters) -> Ledger:
    """Strict: the cap, under basic composition. Published: no cap."""
    return Ledger(params.total) if params.strict else Ledger(delta=params.delta)


RELEASES: dict[str, Callable[[Run], Decision]] = {
    VOTE: decide_by_vote,
    DIFFERENCE: decide_by_scores,
    TWO_SCORES: decide_by_scores,
}


def run(data: Dataset, params: AnmParameters, session: Session) -> Outcome:
    """Decide the direction of the pair; an undirected edge where nothing was released."""
    pair = pair_of(data)
    if params.releases != VOTE and params.protect != BOTH and not data.public:
        raise InputError(
            f"protect = {params.protect!r} takes the other half as public, and these are your own "
            'data: take protect = "both".'
        )
    decision, status = None, "complete"
    try:
        session.check()
        decision = RELEASES[params.releases](Run(data, pair, params, session))
    except Cancelled:
        status = "cancelled"
    except BudgetExhausted:
        status = "budget_exhausted"
    session.close()
    x, y = data.names
    cpdag = np.array([[False, True], [True, False]])
    if decision is not None and decision.direction is not None:
        cpdag[(1, 0) if decision.direction == f"{x}->{y}" else (0, 1)] = False
    return Outcome(
        cpdag=cpdag,
        status=status,
        claimed=None if params.strict else claimed_total(params),
        diagnostics=Diagnostics() if decision is None else decision,
    )


ALGORITHM = Algorithm(
    key="anm",
    title="Additive-noise pairs",
    family="pairs",
    params=AnmParameters,
    run=run,
    private=True,
    reference="Kusner, Sun, Sridharan, Weinberger, AISTATS 2016",
    summary="Tells which of two columns causes the other: fits each on the other and asks which "
    "fit leaves residuals that look independent.",
    ledger=ledger,
    epsilon_pays="each score (each part of an IQR)",
    no_parent="the model without privacy is its own two scores, not an algorithm of this list",
    presets=PRESETS,
    columns=2,
    min_rows=MIN_ROWS,
    directs_all=True,
)

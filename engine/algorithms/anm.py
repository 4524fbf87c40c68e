"""Private additive-noise model: which of two columns is the cause (Kusner et al. 2016)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.algorithm import Algorithm, Outcome
from engine.context import RunContext
from engine.data.dataset import Dataset
from engine.diagnostics import Diagnostics
from engine.errors import InputError
from engine.monitor import Cancelled
from engine.pairs.columns import MIN_ROWS, Pair, pair_of
from engine.pairs.decision import BOTH, TEST, TRAINING, Setting
from engine.pairs.dependence import RANK_SCORES, SCORES
from engine.pairs.protocol import DIFFERENCE, TWO_SCORES, VOTE, Terms, decide
from engine.params import ParameterError, param
from engine.privacy.accounting import Guarantee
from engine.privacy.budget import PUBLISHED, STRICT, PrivateBudget
from engine.privacy.ledger import BudgetExhausted, Ledger

# "auto" means two released scores in published mode and a vote in strict mode.
SCORED = {"release": (DIFFERENCE, TWO_SCORES)}, {"release": ("auto",), "guarantee": (PUBLISHED,)}
VOTED = {"release": (VOTE,)}, {"release": ("auto",), "guarantee": (STRICT,)}
OF_HSIC = tuple({**way, "score": ("auto", "hsic", "root_hsic")} for way in SCORED)
DEFAULT_SCORE = {DIFFERENCE: "root_hsic", TWO_SCORES: "hsic"}
# If 10 / epsilon blocks all agree, the noise reverses their vote with probability e^-5 / 2. Further
# rows make the blocks larger and the votes better. Small blocks vote better by the variance, larger
# ones by HSIC. The values were chosen on simulated pairs (research/theory/pairs.md).
BLOCKS_WANTED, BLOCK_LOW, BLOCK_HIGH, BLOCK_FOR_HSIC = 10, 25, 100, 50


@dataclass(frozen=True, kw_only=True)
class AnmParameters(PrivateBudget):
    """Parameters of the additive-noise model for pairs."""

    score: str = param(
        "auto",
        choices=("auto", *SCORES),
        title="Dependence score",
        help="The measure of dependence between a cause and the residuals of its fit. 'auto' is "
        "√HSIC for a difference and HSIC for two scores. For a vote it is HSIC with blocks "
        "of 50 rows or more, else the variance.",
    )
    release: str = param(
        "auto",
        choices=("auto", VOTE, DIFFERENCE, TWO_SCORES),
        title="Released value",
        help="Two noisy scores as in the paper, one noisy difference of them, or one noisy margin "
        "of a vote over blocks of rows. 'auto' is the vote if strict, two scores if published.",
    )
    protect: str = param(
        BOTH,
        kind="choice",
        choices=(BOTH, TEST, TRAINING),
        title="Protected half",
        help="Records that the noise hides: those of the test half, of the training half, or all. "
        "A half that is not protected is treated as public, so your own data need both.",
        when=SCORED,
    )
    block: int | str = param(
        "auto",
        kind="int",
        words=("auto",),
        low=10,
        high=100_000,
        title="Rows in a block",
        help="The number of rows per vote. With many small blocks the noise matters less, and "
        "larger blocks vote more reliably. 'auto' is εn/10, limited to 25 to 100.",
        when=VOTED,
    )
    ridge: float = param(
        0.001,
        low=1e-6,
        high=1.0,
        log=True,
        title="Ridge λ",
        help="Penalty of the kernel ridge regression; a larger one follows the data less and lets "
        "one training record move less.",
        when=SCORED,
    )
    width: float = param(
        0.3,
        low=0.1,
        high=5.0,
        title="Width of the fit's kernel",
        help="In units in which the declared bounds of a column are -1 and 1.",
        when=SCORED,
    )
    score_width: float = param(
        0.2,
        low=0.01,
        high=5.0,
        title="Width of HSIC's kernels",
        help="In units in which the declared bounds of a column are -1 and 1. The median heuristic "
        "would read it from the data.",
        when=OF_HSIC,
    )
    tune: bool = param(
        False,
        title="Choose λ and width from the data",
        help="Blocks of the training half vote on λ and the fit's width. This costs a tenth of ε.",
        when={"release": (DIFFERENCE, TWO_SCORES), "guarantee": (STRICT,)},
    )

    @property
    def releases(self) -> str:
        """Return the kind of release, 'auto' resolved."""
        if self.release != "auto":
            return self.release
        return VOTE if self.strict else TWO_SCORES

    def measures(self, n: int) -> str:
        """Return the score for n rows, 'auto' resolved."""
        if self.score != "auto":
            return self.score
        if self.releases != VOTE:
            return DEFAULT_SCORE[self.releases]
        return "hsic" if self.block_rows(n) >= BLOCK_FOR_HSIC else "variance"

    def block_rows(self, n: int) -> int:
        """Return the rows per block; 'auto' is resolved from n and epsilon, which are public."""
        if isinstance(self.block, str):
            return round(min(BLOCK_HIGH, max(BLOCK_LOW, self.epsilon * n / BLOCKS_WANTED)))
        return self.block

    def check_together(self) -> None:
        """Refuse settings that the paper lacks (published mode) and settings without a bound."""
        if not self.strict and (
            self.releases != TWO_SCORES or self.score == "root_hsic" or self.tune
        ):
            raise ParameterError(
                "The paper releases two scores with public settings: for a vote, a difference, "
                'root_hsic or tune take guarantee = "strict".'
            )
        if self.score == "variance" and self.releases != VOTE:
            raise ParameterError(
                'One record can move the variance by any amount: choose release = "vote" for it.'
            )

    def setting(self) -> Setting:
        """Return the public settings in the form that the protocol takes."""
        same = {name: getattr(self, name) for name in ("ridge", "width", "score_width", "protect")}
        return Setting(**same, variant=self.guarantee)

    def terms(self, data: Dataset, pair: Pair, context: RunContext) -> Terms:
        """Return everything that a release of the pair needs."""
        return Terms(
            data=data,
            pair=pair,
            context=context,
            setting=self.setting(),
            score=self.measures(data.n),
            release=self.releases,
            rows=self.block_rows(data.n),
            **{name: getattr(self, name) for name in ("epsilon", "delta", "strict", "tune")},
        )


def claimed_total(score: str, params: AnmParameters) -> Guarantee:
    """Add up the Claimed ε: two scores, or three IQRs per column (nine parts)."""
    epsilon, delta = params.epsilon, params.delta
    if score == "iqr":  # sections 4.3 and 5.3
        return (
            Guarantee(6 * epsilon, 2 * delta)
            if params.protect == TRAINING
            else Guarantee(9 * epsilon, 3 * delta)
        )
    stable = score in RANK_SCORES and params.protect != TEST
    return Guarantee(2 * epsilon, 2 * delta if stable else 0.0)


def ledger(data: Dataset, params: AnmParameters) -> Ledger:
    """Return a ledger: capped under basic composition if strict, without a cap if published."""
    return Ledger(params.total) if params.strict else Ledger(delta=params.delta)


def run(data: Dataset, params: AnmParameters, context: RunContext) -> Outcome:
    """Decide the direction of the pair; leave the edge undirected if nothing was released."""
    pair = pair_of(data)
    if params.releases != VOTE and params.protect != BOTH and not data.public:
        raise InputError(
            f"protect = {params.protect!r} treats the other half as public, but these are your own "
            'data: choose protect = "both".'
        )
    decision, status = None, "complete"
    try:
        context.check()
        decision = decide(params.terms(data, pair, context))
    except Cancelled:
        status = "cancelled"
    except BudgetExhausted:
        status = "budget_exhausted"
    context.close()
    cpdag = np.array([[False, True], [True, False]])
    if decision is not None and decision.direction is not None:
        cpdag[(1, 0) if decision.forward else (0, 1)] = False
    return Outcome(
        matrix=cpdag,
        status=status,
        claimed=None if params.strict else claimed_total(params.measures(data.n), params),
        diagnostics=Diagnostics() if decision is None else decision,
    )


ALGORITHM = Algorithm(
    key="anm",
    title="Additive-noise pairs",
    family="pairs",
    params=AnmParameters,
    run=run,
    reference="Kusner, Sun, Sridharan, Weinberger, AISTATS 2016",
    summary="Tells which of two columns causes the other: fits each on the other and asks which "
    "fit leaves residuals that look independent.",
    ledger=ledger,
    epsilon_pays="each score (each part of an IQR)",
    epsilon_unit="score",
    parent=None,  # the form without privacy is two exact scores, not an algorithm of this list
    columns=2,
    min_rows=MIN_ROWS,
    directs_all=True,
)

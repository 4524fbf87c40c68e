"""The budget that a user declares, and its division in advance."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from engine.params import Parameters, param
from engine.privacy.accounting import Guarantee, rho_budget

PUBLISHED, STRICT = "published", "strict"


@dataclass(frozen=True, kw_only=True)
class PrivateBudget(Parameters):
    """The budget and its guarantee."""

    epsilon: float = param(
        1.0,
        kind="float",
        low=1e-6,
        high=1e7,
        log=True,
        title="Privacy budget ε",
        help="Strict: the total for the whole run, a hard cap. Published: the paper's ε.",
    )
    delta: float = param(
        1e-6,
        kind="float",
        low=1e-15,
        high=0.1,
        log=True,
        title="Failure probability δ",
        help="δ of the total guarantee. It should be far below 1/n.",
    )
    guarantee: str = param(
        STRICT,
        kind="choice",
        choices=(STRICT, PUBLISHED),
        title="Guarantee",
        help="Strict: proven sensitivities and a total (ε, δ) that is never exceeded, for "
        "replace-one neighbours. Published: the paper's pseudo-code and constants, with the "
        "Claimed ε next to the Proven ε.",
    )

    @property
    def total(self) -> Guarantee:
        """The strict cap."""
        return Guarantee(self.epsilon, self.delta)

    @property
    def strict(self) -> bool:
        """True if the run's guarantee is strict."""
        return self.guarantee == STRICT


TEXT, PROGRAM = "text", "program"


@dataclass(frozen=True, kw_only=True)
class PublishedForm(PrivateBudget):
    """Adds the choice of published form: the paper's text or its authors' program.

    An algorithm declares ``form`` again to describe the differences of its program.
    """

    form: str = param(
        TEXT,
        choices=(TEXT, PROGRAM),
        title="Published form",
        when={"guarantee": (PUBLISHED,)},
        later=True,
    )

    @property
    def programmed(self) -> bool:
        """True if a published run follows the authors' program."""
        return not self.strict and self.form == PROGRAM


# Presets of every private algorithm, with a paper's setting only if there is a published form.
PRESETS: dict[str, dict[str, Any]] = {
    "Strong privacy": {"guarantee": STRICT, "epsilon": 0.1},
    "Paper setting": {"guarantee": PUBLISHED, "epsilon": 1.0, "delta": 1e-3},
    "Loose": {"guarantee": STRICT, "epsilon": 10.0},
}


HAIR = 1e-12


def shares(total: Guarantee, count: int) -> tuple[str, float]:
    """Split a total into ``count`` equal shares of pure steps fixed in advance, the better way.

    Returns the ledger's method and the epsilon per step: total/count under basic composition, or
    sqrt(2 rho*/count) under zCDP. The result depends only on public facts.
    """
    # Slightly less, as in the ledger, so that rounding cannot prevent the last share.
    basic = total.epsilon / count * (1 - HAIR)
    if total.delta <= 0:
        return "basic", basic
    rho = rho_budget(total.epsilon, total.delta) / count * (1 - HAIR)
    zcdp = math.sqrt(2 * rho)  # inverse of rho = epsilon^2 / 2
    return ("zcdp", zcdp) if zcdp > basic else ("basic", basic)

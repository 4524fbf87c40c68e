"""What a sieve is made of: its test, threshold, tweak, ε and sample."""

from __future__ import annotations

from dataclasses import dataclass

from engine import Dataset
from engine.params import Parameters
from engine.statistics.registry import BOUNDED
from engine.teaching.sieving import Sieve
from engine.theory import best_subsample
from pages.shell import state
from pages.shell.drafts import Draft
from pages.shell.fields import among, choice, number, slider, switch
from pages.shell.form import parameters
from pages.shell.settings import MOST_SEED

MOST_TWEAK = 0.06


@dataclass(frozen=True, kw_only=True)
class Fields(Parameters):
    """The Sieve page's settings, kept over changes of page and in its address."""

    statistic: str = choice("kendall", "Independence test", BOUNDED)
    guarantee: str = choice("published", "Sensitivity", ("published", "strict"))
    scale: str = choice("p", "Score", ("p", "z"))
    threshold: float = slider(0.1, "Threshold T (a p-value)", 0.01, 0.3, 0.01)
    tweak: float = slider(0.02, "Tweak t", 0.0, MOST_TWEAK, 0.005)
    epsilon: float = among(
        1.0,
        "ε of one round",
        (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0),
        help="A round is one sieve with half of ε and one examine with the other half.",
    )
    best: bool = switch(True, "Best m (section 3.2)")
    share: float = slider(0.2, "m as a share of n", 0.05, 1.0, 0.05, when={"best": (False,)})
    seed: int = number(0, "Noise seed", 0, MOST_SEED)
    gap_p: float = slider(
        0.05, "Distance α from T, for the errors", 0.01, 0.3, 0.01, when={"scale": ("p",)}
    )
    gap_z: float = slider(
        0.5, "Distance α in |z|, for the errors", 0.1, 3.0, 0.1, when={"scale": ("z",)}
    )


def fields() -> Draft:
    """Show the fields; returns their values."""
    d = state.of(Fields, "sieve.")
    parameters(Fields.specs(), d, key="sieve")
    return d


def sieve_of(d: Draft, data: Dataset) -> Sieve:
    """The sieve that the fields describe."""
    m = best_subsample(d["epsilon"], data.n) if d["best"] else max(2, round(d["share"] * data.n))
    names = ("statistic", "guarantee", "scale", "threshold", "tweak", "epsilon")
    return Sieve(**{name: d[name] for name in names}, m=m)


def gap_of(d: Draft) -> float:
    """α in units of the chosen score."""
    return float(d["gap_p"] if d["scale"] == "p" else d["gap_z"])

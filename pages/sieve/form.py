"""What a sieve is made of: its test, threshold, tweak, ε and sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from engine import Dataset
from engine.teaching.sieving import Sieve
from engine.theory import best_subsample
from pages.shell.address import arrived, draft_query, fill, source_query, write
from pages.shell.drafts import Draft, kept
from pages.shell.fields import bound, radio, slide

MOST_TWEAK = 0.06
_EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)


FRESH: Mapping[str, Any] = {
    **{"statistic": "kendall", "guarantee": "published", "scale": "p"},
    **{"threshold": 0.1, "tweak": 0.02, "epsilon": 1.0, "best": True, "share": 0.2},
    **{"gap_p": 0.05, "gap_z": 0.5},
}
ALLOWED: Mapping[str, Sequence[Any]] = {
    "statistic": ("kendall", "spearman", ""),
    "guarantee": ("published", "strict", ""),
    "scale": ("p", "z", ""),
    "threshold": (0.01, 0.3),
    "tweak": (0.0, MOST_TWEAK),
    "epsilon": _EPSILONS,
    "share": (0.05, 1.0),
    "gap_p": (0.01, 0.3),
    "gap_z": (0.1, 3.0),
}


def draft() -> Draft:
    """The Sieve page's settings, kept over changes of page and in its address."""
    form = kept("sieve_draft", dict(FRESH))
    if (query := arrived("sieve")) is not None:
        fill("sieve", query, form, FRESH, ALLOWED)
    return form


def fields() -> Draft:
    """Show the fields; returns the draft."""
    d = draft()
    radio(d, "statistic", "Independence test", ["kendall", "spearman"], key="sieve-statistic")
    radio(d, "guarantee", "Sensitivity", ["published", "strict"], key="sieve-guarantee")
    radio(d, "scale", "Score", ["p", "z"], key="sieve-scale")
    slide(d, "threshold", "Threshold T (a p-value)", (0.01, 0.3, 0.01), key="sieve-threshold")
    slide(d, "tweak", "Tweak t", (0.0, MOST_TWEAK, 0.005), key="sieve-tweak")
    bound(
        st.select_slider,
        "ε of one round",
        d,
        "epsilon",
        key="sieve-epsilon",
        options=_EPSILONS,
        format_func=lambda v: f"{v:g}",
        help="A round is one sieve with half of ε and one examine with the other half.",
    )
    bound(st.toggle, "Best m (section 3.2)", d, "best", key="sieve-best")
    if not d["best"]:
        slide(d, "share", "m as a share of n", (0.05, 1.0, 0.05), key="sieve-share")
    if d["scale"] == "p":
        slide(d, "gap_p", "Distance α from T, for the errors", (0.01, 0.3, 0.01), key="sieve-gap_p")
    else:
        slide(d, "gap_z", "Distance α in |z|, for the errors", (0.1, 3.0, 0.1), key="sieve-gap_z")
    write("sieve", source_query() | draft_query("sieve", d, FRESH))
    return d


def sieve_of(d: Draft, data: Dataset) -> Sieve:
    """The sieve that the fields describe."""
    m = best_subsample(d["epsilon"], data.n) if d["best"] else max(2, round(d["share"] * data.n))
    names = ("statistic", "guarantee", "scale", "threshold", "tweak", "epsilon")
    return Sieve(**{name: d[name] for name in names}, m=m)


def gap_of(d: Draft) -> float:
    """α in units of the chosen score."""
    return float(d["gap_p"] if d["scale"] == "p" else d["gap_z"])

"""Numbers, sentences and colours as the pages show them."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from engine import Dataset
from engine.algorithm import WHOLE_RUN, Algorithm
from engine.context import Step
from engine.data.simulated import parse_name
from engine.graphs import metrics
from engine.percent import number as number
from engine.registry import NON_PRIVATE, TITLES
from engine.result import RunResult
from engine.statistics.registry import STATISTICS
from engine.summary import Promise, guesses

# Of choices with a name on a page that is not just their own with a capital letter.
# What a ledger counts in, by its method.
UNITS = {"basic": "ε", "zcdp": "ρ", "gdp": "μ²/2", "rdp": "Rényi ε"}
LABELS = {
    **{key: statistic.label for key, statistic in STATISTICS.items()},
    "skeleton_f1": "Skeleton F1",
    "directed_f1": "Directed F1",
    "p": "p-value",
    "z": "|z|",
    "er": "Erdős–Rényi",
    "sf": "Scale-free",
    "hsic": "HSIC",
    "root_hsic": "√HSIC",
    "iqr": "IQR",
    "vote": "Vote over blocks (ours)",
    "difference": "One difference (ours)",
    "scores": "Two scores (the paper)",
}

# What the pages call the scores against a truth, and the fields of Scores they are.
SCORES = {title[0].upper() + title[1:]: field for field, title in metrics.SCORES.items()}
NOTHING = "nothing"  # what can be proven where no finite ε holds

RESEARCH_TOOL = (
    "Neighbours differ in one replaced row; n, columns and levels count as public. A research "
    "tool: its noise is not hardened against floating-point attacks."
)


def count(value: int, noun: str) -> str:
    """A count with its noun in the right number, e.g. "1 edge", "2 edges"."""
    return f"{value:,} {noun}{'' if value == 1 else 's'}"


_TURNED = re.compile(r"the noisy −\|z\| (\S+) is (not above|above) the threshold (\S+)")


def as_shown(step: Step) -> Step:
    """The step on the one scale that every page has: |z|, and a link goes below T.

    The engine compares −|z|, so that a high value looks independent on every scale; a threshold
    below 0 tells which scale a step is on, for no p-value lies there.
    """
    if step.threshold is None or not step.threshold < 0:
        return step
    return replace(
        step,
        value=None if step.value is None else -step.value,
        threshold=-step.threshold,
        reason=_TURNED.sub(_turned, step.reason),
        internal=None
        if step.internal is None
        else {k: -v if isinstance(v, float) else v for k, v in step.internal.items()},
    )


def _turned(found: re.Match[str]) -> str:
    value, how, threshold = found.groups()
    side = {"above": "below", "not above": "not below"}[how]
    return f"the noisy |z| {-float(value):.4g} is {side} the threshold {-float(threshold):.4g}"


def label(value: Any) -> str:
    """The field's name for a declared choice."""
    word = str(value)
    return LABELS.get(word, word[:1].upper() + word[1:] if word.islower() else word)


def dataset_title(data: Dataset) -> str:
    """The dataset's name as a heading shows it."""
    if not data.public:
        return data.name
    if data.name.startswith("pair:"):
        return ", ".join(["Pair", *map(label, data.name.split(":")[1:])])
    if data.name.startswith("tuebingen:"):
        return data.name.replace("tuebingen:", "Tübingen, ")
    if data.name.startswith("sem:"):
        graph, _, _, noise = parse_name(data.name)
        return f"SEM, {label(graph)}, {label(noise)}"
    return data.name.capitalize()


def file_stem(data: Dataset) -> str:
    """The dataset's name as part of a file name."""
    return data.name.replace(":", "_")


def safe(text: str) -> str:
    """A person's text as HTML that means the text itself."""
    return html.escape(text, quote=True)


def plain(text: str) -> str:
    """A person's text inside Markdown, without its marks having an effect."""
    escaped = "".join(f"\\{c}" if c in "\\`*_[]<>$~:" else c for c in text.replace("\n", " "))
    return f"\\{escaped}" if escaped[:1] in ("#", "-", "+") else escaped


def epsilon_meaning(algorithm: Algorithm, values: Mapping[str, Any], n: int | None) -> str:
    """One sentence on what the chosen ε means, and one more where δ is too large."""
    epsilon, delta = values.get("epsilon"), values.get("delta", 0.0)
    if not algorithm.private:
        return "No privacy: the data are read without noise, so nothing is promised to anyone."
    if not isinstance(epsilon, int | float) or not epsilon > 0:
        return "ε must be a number above 0."
    if values.get("guarantee") == "published":
        pays = algorithm.epsilon_pays
        what = "is the paper's total" if pays == WHOLE_RUN else f"pays for {pays}, not for all"
        text = f"Published: ε = {number(epsilon)} {what}; the result shows what can be proven."
    else:
        text = "Strict total: who has to guess which of two rows one person had is right at most "
        text += f"{guesses(epsilon)} times in 100, outside probability δ = {number(delta)}."
    if n and isinstance(delta, int | float) and delta * n >= 1:
        text += f" δ is not below 1/n = {number(1 / n)}: it allows exposing whole rows."
    return text


def guarantee_label(result: RunResult) -> tuple[str, str]:
    """(ε as a short text, what guarantee it carries) for a finished run."""
    epsilon = getattr(result.params, "epsilon", None)
    if epsilon is None:
        return "none", "no privacy: noise-free run"
    if result.ledger.undefended:
        return number(epsilon), "nothing can be proven"
    if result.ledger.cap is not None:
        return number(result.ledger.cap.epsilon), f"strict total, δ = {number(result.spent.delta)}"
    able = number(result.spent.epsilon) if math.isfinite(result.spent.epsilon) else NOTHING
    return number(epsilon), f"published; proven: {able}"


def theme() -> str:
    """ "light" or "dark", as the browser shows the app."""
    return "dark" if st.context.theme.type == "dark" else "light"


# Every colour that the theme's settings do not reach, and what is drawn with them alone -----------

PLAIN = 100  # styles from here on are grey: no privacy, or a mere reference
_SIGNS = {"fine": "✔", "doubtful": "▲", "nothing": "✖"}


@dataclass(frozen=True)
class Palette:
    """Colours in one theme.

    ``lines`` are those of styles, in the order of .streamlit/config.toml's chartCategoricalColors,
    the last of them grey; ``bars`` stand side by side (planned, planned again, spent); ``heat`` are
    the shares 0 and 1. ``prices`` say how well a price holds. ``muted`` is small print.
    """

    lines: tuple[str, ...]
    bars: tuple[str, ...]
    heat: tuple[str, str]
    prices: Mapping[str, str]
    background: str
    node: str
    border: str
    faded: str
    font: str
    muted: str


# Found by search: every eye tells them apart, in grey too (tests/ui/test_colours.py measures it).
PALETTES = {
    "light": Palette(
        ("#0072b2", "#d55416", "#02304c", "#da5aff", "#5c3500", "#366843", "#574b50"),
        ("#8c8f94", "#0072b2", "#7a2f00"),
        ("#ffffff", "#0072b2"),
        {"fine": "#00674d", "doubtful": "#8a5a00", "nothing": "#a8321f"},
        "#ffffff", "#eef2f8", "#8592a8", "#c3cad6", "#1a2230", "#4d5666",
    ),
    "dark": Palette(
        ("#56b4e9", "#ffaf64", "#ff0c30", "#a922e8", "#fdff3d", "#77a077", "#d4dbd6"),
        ("#d4dbd6", "#56b4e9", "#d9661f"),
        ("#1a2230", "#2f8fc6"),
        {"fine": "#35c99a", "doubtful": "#e6b422", "nothing": "#ff9580"},
        "#10151e", "#232d3d", "#6b7a92", "#465268", "#e9edf4", "#b3bdcc",
    ),
}  # fmt: skip


def palette() -> Palette:
    """The colours of the theme that is shown."""
    return PALETTES[theme()]


def style_of(key: str) -> int:
    """An algorithm's place in the palette, the same on every page."""
    private = [k for k in TITLES if k not in NON_PRIVATE]
    if key in private:
        return private.index(key)
    return PLAIN + list(TITLES).index(key) if key in TITLES else PLAIN


def ink(style: int) -> str:
    """The style's colour in the theme that is shown."""
    *lines, grey = palette().lines
    return grey if style >= PLAIN else lines[style % len(lines)]


def see_through(colour: str, share: float) -> str:
    """A hex colour with an opacity, as Plotly takes it."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{share})"


def promise_html(promise: Promise, look: str | None = None) -> str:
    """The promise in the field's terms, with a sign and in its colour."""
    ink = PALETTES[look or theme()].prices[promise.level]
    return (
        f'<span style="display:inline-block;border:2px solid {ink};border-radius:.8rem;'
        f'color:{ink};font-weight:600;padding:.1rem .7rem;line-height:1.35">'
        f'<span aria-hidden="true">{_SIGNS[promise.level]}</span> {safe(promise.terms)}</span>'
    )

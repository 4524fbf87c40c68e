"""Numbers, sentences and colours as the pages show them."""

from __future__ import annotations

import html
import math
import re
from dataclasses import replace
from typing import Any

import streamlit as st

from engine import Dataset
from engine.context import Step
from engine.data.simulated import parse_name
from engine.graphs import metrics
from engine.percent import count as count
from engine.percent import number as number
from engine.result import RunResult
from engine.statistics.registry import STATISTICS

# What a ledger counts in, by its method.
UNITS = {"basic": "ε", "zcdp": "ρ", "gdp": "μ²/2", "rdp": "Rényi ε"}
# Of choices with a name on a page that is not just their own with a capital letter.
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
    "Neighbours differ in one replaced record; their number, columns and levels count as public. A "
    "research tool: its noise is not hardened against floating-point attacks."
)


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


# Streamlit finds links, icons, emoji and arrows in the text that Markdown leaves, whatever was
# escaped. A character without width stands behind these.
_FOUND = re.compile(
    r":(?=//|[\w+-]+[:/])|@(?=\w)|www(?=\.)|(?<!\S)[-<>~](?=[-=>]{1,2}(?!\S))", re.IGNORECASE
)
_MARKS = re.compile(r"[\\`*_\[\]<>$~:&]|^[#+-]|(?<=\d)[.)](?=\s)")


def plain(text: str) -> str:
    """A person's text inside Markdown: it shows as it is, without a mark, a link or an icon."""
    return _MARKS.sub(r"\\\g<0>", _FOUND.sub("\\g<0>\u2060", " ".join(text.split())))


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

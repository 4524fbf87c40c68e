"""Numbers, sentences and colours as the pages show them."""

from __future__ import annotations

import html
import re
from typing import Any

import streamlit as st

from engine import Dataset
from engine.data.simulated import parse_name
from engine.graphs import metrics
from engine.percent import count as count
from engine.percent import number as number
from engine.registry import algorithm
from engine.result import RunResult
from engine.statistics.registry import STATISTICS
from engine.words.run import CLAIMED, GUARANTEED, PROVEN, epsilon_name

# The unit of a ledger, by its method.
UNITS = {"basic": "ε", "zcdp": "ρ", "gdp": "μ²/2", "rdp": "Rényi ε"}
# Choices with a label other than their capitalised name.
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

# The titles of the scores against a truth, and their fields of Scores.
SCORES = {title[0].upper() + title[1:]: field for field, title in metrics.SCORES.items()}

RESEARCH_TOOL = (
    "Neighbouring datasets differ in one replaced record. Row count, columns and levels are "
    "public. This is a research tool: its noise is not hardened against floating-point attacks."
)


def label(value: Any) -> str:
    """Return the field's name for a declared choice."""
    word = str(value)
    return LABELS.get(word, word[:1].upper() + word[1:] if word.islower() else word)


def dataset_title(data: Dataset) -> str:
    """Return the dataset's name as a heading shows it."""
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
    """Return the dataset's name as part of a file name."""
    return data.name.replace(":", "_")


def safe(text: str) -> str:
    """Return a user's text escaped for HTML."""
    return html.escape(text, quote=True)


# Streamlit finds links, icons, emoji and arrows in the text that Markdown leaves, even if it was
# escaped. A zero-width character follows these.
_FOUND = re.compile(
    r":(?=//|[\w+-]+[:/])|@(?=\w)|www(?=\.)|(?<!\S)[-<>~](?=[-=>]{1,2}(?!\S))", re.IGNORECASE
)
_MARKS = re.compile(r"[\\`*_\[\]<>$~:&]|^[#+-]|(?<=\d)[.)](?=\s)")


def plain(text: str) -> str:
    """Return a user's text escaped for Markdown, without formatting, links or icons."""
    return _MARKS.sub(r"\\\g<0>", _FOUND.sub("\\g<0>\u2060", " ".join(text.split())))


def epsilon_cells(result: RunResult) -> list[tuple[str, str, str]]:
    """Return (name, value, note) of every ε of a finished run."""
    ledger, epsilon = result.ledger, getattr(result.params, "epsilon", None)
    if epsilon is None:
        return [("Privacy", "none", "noise-free run")]
    if ledger.no_guarantee_reasons:
        return [("ε", number(epsilon), "no guarantee")]
    proven = result.proven
    if ledger.cap is not None:
        note = f"for the whole run, δ = {number(proven.delta)}"
        return [(GUARANTEED, number(proven.epsilon), note)]
    chosen = algorithm(result.algorithm)
    cells = [(PROVEN, number(proven.epsilon), f"δ = {number(proven.delta)}")]
    if result.claimed is not None:
        cells.insert(0, (CLAIMED, number(result.claimed.epsilon), "as the paper states"))
    if chosen.epsilon_unit:
        cells.insert(
            0, (epsilon_name(chosen.epsilon_unit, result.params), number(epsilon), "published")
        )
    return cells


def share(value: float | None) -> str:
    """Return a score between 0 and 1 with two digits; a dash if it is undefined."""
    return "–" if value is None else f"{value:.2f}"


def theme() -> str:
    """Return "light" or "dark", the browser's theme."""
    return "dark" if st.context.theme.type == "dark" else "light"

"""The effect of setting one column on another, from a release's file alone: nothing is charged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.effects.effect import Effect, effect_of
from engine.release.checking import check, moments_of
from engine.release.file import Release


def effect(release: Release, cause: str, effect: str, **options: Any) -> Effect:
    """What setting ``cause`` does to ``effect``, by the released tables and the released graph.

    Post-processing of the release: no data are needed, and its ledger is as it was.

    Args:
        release: What :func:`engine.release.reading.load` read; it is checked first.
        cause: The column that is set.
        effect: The column that is looked at.
        options: ``level``, ``base``, ``event`` and ``sets``, as in
            :func:`engine.effects.effect.effect_of`.

    Returns:
        The numbers, or why there are none; :func:`engine.effects.words.sentence` says it.

    Raises:
        InputError: For a file that does not hold, and for names or levels that there are not.

    Examples:
        >>> import tempfile
        >>> from dataclasses import replace
        >>> from pathlib import Path
        >>> from engine import load_dataset
        >>> from engine.data.schema import Column, Schema
        >>> from engine.effects.words import sentence
        >>> from engine.release.budget import Budgets
        >>> from engine.release.make import make
        >>> rows = load_dataset("cancer", n=100_000)
        >>> named = zip(rows.names, rows.levels, strict=True)
        >>> schema = Schema(tuple(Column(name=n, type="ordered", levels=some) for n, some in named))
        >>> budgets = Budgets(Path(tempfile.mkdtemp()) / "budgets.db")
        >>> budget = budgets.new("ward", epsilon=3, delta=1e-5)
        >>> data, asked = replace(rows, schema=schema), {"epsilon": 1}
        >>> release = make(data, schema, "marginal_pc", asked, name="ward", budgets=budgets)
        >>> found = effect(release, "Cancer", "Xray")
        >>> found.difference.low > .5  # the truth is .7
        True
    """
    check(release)
    return question(release)(cause, effect, **options)


def question(release: Release) -> Callable[..., Effect]:
    """Effects of a release that was checked, asked one after another: its tensors are read once."""
    (moments, levels), graph = moments_of(release), release.matrix

    def ask(cause: str, effect: str, **options: Any) -> Effect:
        return effect_of(moments, release.names, levels, graph, cause, effect, **options)

    return ask

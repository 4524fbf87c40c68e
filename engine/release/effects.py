"""The effect of setting one column on another, from a release's file alone: nothing is charged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.effects.effect import Effect, effect_of
from engine.effects.plausible import plausible
from engine.graphs.known import known_of
from engine.knowledge import Knowledge
from engine.marginals.diagnostics import MarginalDiagnostics
from engine.release.checking import checked
from engine.release.combine import with_knowledge
from engine.release.file import Release


def effect(
    release: Release, cause: str, effect: str, knowledge: Knowledge | None = None, **options: Any
) -> Effect:
    """What setting ``cause`` does to ``effect``, by the released tables and plausible graphs.

    Post-processing of the release: no data are needed, and its ledger is as it was.

    Args:
        release: What :func:`engine.release.reading.load` read; it is checked first.
        cause: The column that is set.
        effect: The column that is looked at.
        knowledge: What is known of the causes, in the place of what the release has; free.
        options: ``level``, ``base``, ``event`` and ``sets``, as in
            :func:`engine.effects.effect.effect_of`.

    Returns:
        The numbers, or why there are none; its ``sentence`` says it.

    Raises:
        InputError: For a file that is not consistent, and for names or levels that there are not.

    Examples:
        >>> import tempfile
        >>> from dataclasses import replace
        >>> from pathlib import Path
        >>> from engine import Knowledge, load_dataset
        >>> from engine.data.schema import Column, Schema
        >>> from engine.release.budget import Budgets
        >>> from engine.release.make import make
        >>> rows = load_dataset("cancer", n=100_000)
        >>> named = zip(rows.names, rows.levels, strict=True)
        >>> schema = Schema(tuple(Column(name=n, type="ordered", levels=some) for n, some in named))
        >>> budgets = Budgets(Path(tempfile.mkdtemp()) / "budgets.db")
        >>> budget = budgets.new("ward", epsilon=3, delta=1e-5)
        >>> data, asked = replace(rows, schema=schema), {"epsilon": 1}
        >>> release = make(data, schema, "marginal_pc", asked, name="ward", budgets=budgets)
        >>> known = Knowledge(leaves=["Xray"])
        >>> effect(release, "Cancer", "Xray", known).difference.low > .5  # the truth is .7
        True
    """
    if knowledge is not None:
        release = with_knowledge(release, knowledge)
    return question(release)(cause, effect, **options)


def question(release: Release) -> Callable[..., Effect]:
    """Effects of a release, which is checked first, asked one after another."""
    _, outcome = checked(release)
    found, names = outcome.diagnostics, release.names
    assert isinstance(found, MarginalDiagnostics)
    assert found.released is not None
    moments, dags = (
        found.released,
        plausible(found, outcome.cpdag, known_of(release.knowledge, names)),
    )

    def ask(cause: str, effect: str, **options: Any) -> Effect:
        return effect_of(moments, names, found.levels, dags, cause, effect, **options)

    return ask

"""What follows from releases: effects, knowledge applied afterwards, several releases as one.

Post-processing: nothing is charged. The file says which knowledge was applied and holds every
release that it rests on, so that whoever has it can check all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from engine.effects.effect import Effect, effect_of
from engine.effects.plausible import plausible
from engine.errors import InputError
from engine.graphs.known import known_of
from engine.knowledge import Knowledge
from engine.marginals.diagnostics import MarginalDiagnostics
from engine.release.checking import check, checked, moments_of, rederived
from engine.release.file import DISJOINT, Release
from engine.release.pooling import WARN, assembled, drift


def with_knowledge(release: Release, knowledge: Knowledge) -> Release:
    """The release with other knowledge of the causes, in the place of what it had; unsigned.

    The graph and all confidences are derived again from the released tables, as effects and
    synthetic rows then are. InputError for a file that is not consistent, and for knowledge of
    columns that there are not.
    """
    knowledge.check_names(release.names)
    check(release)
    return rederived(replace(release, applied=knowledge))


def combined(releases: Sequence[Release], knowledge: Knowledge | None = None) -> Release:
    """Releases of different people under one schema as one.

    Args:
        releases: Two or more, of different people; one that was combined counts as its parts.
        knowledge: What is known of the causes. Without it what all of the releases state.

    Returns:
        A release with all their tables combined. Each person's (ε, δ) is that of the release that
        holds them, so its own is the largest, if nobody is in two of them.

    Raises:
        InputError: For other schemas or parameters, with the first difference; for a release that
            is given twice; for files that are not consistent.
    """
    parts = [part for each in releases for part in each.parts or (each,)]
    known = [part.knowledge for part in parts]
    made = assembled(parts, known[0] if knowledge is None else knowledge)
    if knowledge is None and any(each != known[0] for each in known):
        raise InputError(
            "The releases state different knowledge of the causes; give the one that holds for all."
        )
    for part in parts:
        check(part)
    return rederived(made)


def drift_words(release: Release) -> str:
    """How far the combined populations differ, by column, in a sentence."""
    overall, columns = drift([moments_of(part)[0] for part in release.parts])
    if overall < WARN:
        return (
            f"The releases' single columns agree within noise and sampling (a standardised "
            f"chi-square of {overall:.1f}; from {WARN:g} on populations differ)."
        )
    worst = sorted(zip(columns.tolist(), release.names, strict=True), reverse=True)[:3]
    most = ", ".join(f"{name} ({value:.0f})" for value, name in worst if value >= WARN)
    return (
        f"The releases are of different populations: their single columns differ by a standardised "
        f"chi-square of {overall:.0f}, where less than {WARN:g} is noise and sampling; most in "
        f"{most or worst[0][1]}. The graph is that of their mixture."
    )


def combined_words(release: Release) -> tuple[str, ...]:
    """Who is combined, what that rests on, how far the populations differ; nothing for one."""
    if not release.parts:
        return ()
    who = ", ".join(
        f"{part.name} (n = {part.rows:,}, ε = {part.total.epsilon:g})" for part in release.parts
    )
    return (
        f"Combined from {len(release.parts)} releases: {who}. Which release holds how many people "
        "is not hidden.",
        DISJOINT,
        drift_words(release),
    )


def effect(
    release: Release, cause: str, effect: str, knowledge: Knowledge | None = None, **options: Any
) -> Effect:
    """What setting ``cause`` does to ``effect``, by the released tables and plausible graphs.

    Post-processing of the release: no data are needed, and its ledger is as it was.

    Args:
        release: What :func:`engine.release.file.load` read; it is checked first.
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

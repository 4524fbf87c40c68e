"""Spend a part of a budget on one release.

Only algorithms whose result follows from Gaussian releases alone are covered: their noise has a
hardened sampler (:mod:`engine.privacy.sources`), and whoever has the file can derive the graph
again without the data (:mod:`engine.release.checking`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from engine.context import Step
from engine.data.dataset import Dataset
from engine.data.schema import Schema, parse_schema
from engine.errors import InputError, need
from engine.privacy.accounting import Guarantee
from engine.randomness import Randomness
from engine.release.budget import Budget, Budgets, Charged
from engine.release.file import Release, findings
from engine.release.settings import MOST_ROWS, Ask, built, covered, empty, run_with
from engine.release.signature import signed
from engine.release.vault import Resumable, Vault
from engine.version import __version__

_PACKAGES = ("numpy", "opendp", "scipy")


class Stopped(InputError):
    """The person stopped a release; the message says whether the budget was charged."""


def dry_run(
    key: str, values: Mapping[str, Any], schema: Schema, rows: int, cancelled: Ask = lambda: False
) -> Guarantee:
    """Run on empty rows of the schema; what a release would cost.

    Whatever is wrong with the request is found here, before anything is spent.
    """
    if rows > MOST_ROWS:
        raise InputError(f"A release is of at most {MOST_ROWS:,} rows.")
    params, total = built(key, values)
    run_with(covered(key), empty(schema, rows), params, Randomness(0), cancelled)
    if cancelled():
        raise Stopped("Stopped: the release was not made, and nothing was charged.")
    return total


def make(
    data: Dataset,
    schema: Schema,
    key: str,
    values: Mapping[str, Any],
    *,
    name: str,
    budgets: Budgets,
    signer: Ed25519PrivateKey | None = None,
    cancelled: Ask = lambda: False,
    on_step: Callable[[Step], None] | None = None,
    on_charged: Callable[[], None] = lambda: None,
    on_kept: Callable[[str], None] = lambda kept: None,
    resume: bool = False,
) -> Release:
    """Charge the budget ``name``, then release; a crash in between leaves the charge.

    The release is in the vault next to the budgets before it is returned.

    Args:
        data: Read with ``schema``.
        schema: The declared public facts.
        key: An algorithm with a hardened sampler: "marginal_pc".
        values: Its parameters by name. Without a delta it is the same share of the budget's total
            as epsilon is.
        name: The budget that pays.
        budgets: The file it is in.
        signer: The key to sign with (:func:`engine.release.signature.own_key`).
        cancelled: Polled: before the charge a stop costs nothing, after it the charge stays.
        on_step: Sees each step as it happens.
        on_charged: Called once the charge is on the disk.
        on_kept: Called with the release's id in the vault; not called where the disk refused it.
        resume: End the last release of this budget that was charged and not made, at its own key
            and values, and charge nothing. Tables that were drawn are given out as they are, the
            others drawn now, of the same data, which is the person's word.

    Returns:
        What can be handed out; :func:`engine.release.file.canonical` is its file's text.

    Raises:
        InputError: In one sentence, and nothing is charged, where the request does not fit.
        Stopped: The message says whether the budget was charged.

    Examples:
        >>> import tempfile
        >>> from dataclasses import replace
        >>> from pathlib import Path
        >>> from engine import load_dataset
        >>> from engine.data.schema import Column, Schema
        >>> from engine.release.budget import Budget, Budgets, Charged
        >>> rows = load_dataset("cancer", n=1_000)
        >>> named = zip(rows.names, rows.levels, strict=True)
        >>> schema = Schema(tuple(Column(name=n, type="ordered", levels=some) for n, some in named))
        >>> budgets = Budgets(Path(tempfile.mkdtemp()) / "budgets.db")
        >>> budget = budgets.new("ward", epsilon=3, delta=1e-5)
        >>> data, asked = replace(rows, schema=schema), {"epsilon": 1}
        >>> release = make(data, schema, "marginal_pc", asked, name="ward", budgets=budgets)
        >>> release.total, str(budgets.show("ward").left[0])
        (Guarantee(epsilon=1.0, delta=3.33e-06), '2')
    """
    fits = (data.names, data.levels) == (schema.names, schema.levels)
    if not data.declared or schema.waiting or not fits:
        raise InputError("A release needs data that were read with the declared schema.")
    need("opendp", "release")
    budget, vault = budgets.show(name), Vault(budgets)
    vault.prepare()
    vault.check()
    if resume:
        number = _unfinished(budget, data.n, schema)
    else:
        chosen: Any = covered(key).params.build(values)
        asked = {"delta": budget.share(float(chosen.epsilon))} | dict(values)
        total = dry_run(key, asked, schema, data.n, cancelled)
        request: dict[str, Any] = {"algorithm": key, "values": asked, "rows": data.n}
        request |= {"schema": schema.to_json(), "columns": list(schema.names)}
        budget = budgets.charge(name, total, f"release by {key}", request)
        number = budget.charges[-1].number
    on_charged()
    (charge,) = (one for one in budget.charges if one.number == number)
    pending = budget.unfinished[number], budget.name, vault.drawn(number)
    try:
        released = _released(*pending, data, cancelled, on_step)
    except Stopped:
        raise
    except (InputError, OSError, MemoryError) as error:
        why = str(error) or "There is no memory left."
        raise InputError(f"{why} {stays(charge, budget.name)}") from error
    except BaseException as error:  # a fault of ours, or a second Ctrl-C
        error.add_note(stays(charge, budget.name))
        raise
    found = released if signer is None else signed(released, signer)
    with suppress(InputError):  # what has been paid for is returned all the same
        on_kept(vault.keep(number, found))
    return found


def _unfinished(budget: Budget, rows: int, schema: Schema) -> int:
    """The charge of the last release that was not made; InputError where it is of another table."""
    if not budget.unfinished:
        raise InputError(f"No release of budget {budget.name!r} waits to be ended.")
    number = max(budget.unfinished)
    asked = budget.unfinished[number]
    if (asked["rows"], parse_schema(asked["schema"]).columns) != (rows, schema.columns):
        raise InputError(
            f"The release of budget {budget.name!r} that waits to be ended is of another table: "
            f"{asked['rows']:,} records of {', '.join(asked['columns'][:6])}."
        )
    return number


def stays(cost: Charged | Guarantee, name: str) -> str:
    """What to say where nothing came of a release after its charge."""
    epsilon, delta = float(cost.epsilon), float(cost.delta)
    return (
        f"The release was not made, and ε = {epsilon:g}, δ = {delta:g} stay charged to "
        f"budget {name!r}, since noise may have been drawn. What was drawn is kept: engine release "
        "--resume ends it, and is not charged again."
    )


def _released(
    request: Mapping[str, Any],
    name: str,
    place: Path,
    data: Dataset,
    cancelled: Ask,
    on_step: Callable[[Step], None] | None,
) -> Release:
    key, schema = request["algorithm"], parse_schema(request["schema"])
    params, total = built(key, request["values"])
    source, rows = Resumable(place), replace(data, schema=schema)
    context, outcome = run_with(covered(key), rows, params, source, cancelled, on_step)
    if outcome.status == "cancelled":
        raise Stopped(f"Stopped after the charge. {stays(total, name)}")
    return Release(
        name=name,
        algorithm=key,
        params=params.as_dict(),
        rows=data.n,
        schema=schema,
        total=total,
        releases=tuple(source.given_out),
        labels=tuple(charge.label for charge in context.ledger),
        versions={"dp-causal-explorer": __version__} | {p: version(p) for p in _PACKAGES},
        **findings(outcome, schema.names),
    )

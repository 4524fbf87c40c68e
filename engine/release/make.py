"""Spend a part of a budget on one release.

Only algorithms whose result follows from Gaussian releases alone are covered: their noise has a
hardened sampler (:mod:`engine.privacy.sources`), and whoever has the file can derive the graph
again without the data (:mod:`engine.release.checking`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.metadata import version
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from engine.data.dataset import Dataset
from engine.data.schema import Schema
from engine.errors import InputError
from engine.privacy.accounting import Guarantee
from engine.privacy.sources import Hardened
from engine.randomness import Randomness
from engine.release.budget import Budgets
from engine.release.file import Release, findings
from engine.release.settings import MOST_ROWS, Ask, built, covered, empty, run_with
from engine.release.signature import signed
from engine.release.vault import Vault
from engine.version import __version__

_PACKAGES = ("numpy", "opendp", "scipy")


class Stopped(InputError):
    """The person stopped a release; the message says whether the budget was charged."""


def rehearse(
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
    on_charged: Callable[[], None] = lambda: None,
    on_kept: Callable[[str], None] = lambda kept: None,
) -> Release:
    """Charge the budget ``name``, then release; a crash in between leaves the charge.

    ``data`` must have been read with ``schema``. The release is in the vault beside the budgets
    before it is returned: ``on_kept`` is told its id, and is not called where the disk refused it.
    Raises InputError in one sentence, and charges nothing, where the request does not fit.
    ``cancelled`` is asked all along: before the charge a stop costs nothing, after it the charge
    stays. Either raises :class:`Stopped`.
    """
    if not data.declared or data.names != schema.names or data.levels != schema.levels:
        raise InputError("A release needs data that were read with the declared schema.")
    budgets.show(name)
    vault = Vault(budgets)
    vault.prepare()
    total = rehearse(key, values, schema, data.n, cancelled)
    budget = budgets.charge(name, total, f"release by {key}")
    on_charged()
    released = _released(data, schema, key, values, budget.name, cancelled)
    found = released if signer is None else signed(released, signer)
    with suppress(InputError):  # what has been paid for is returned all the same
        on_kept(vault.keep(budget.charges[-1].number, found))
    return found


def _released(
    data: Dataset, schema: Schema, key: str, values: Mapping[str, Any], name: str, cancelled: Ask
) -> Release:
    params, total = built(key, values)
    source = Hardened()
    session, outcome = run_with(covered(key), data, params, source, cancelled)
    if outcome.status == "cancelled":
        raise Stopped(
            f"Stopped after the charge: the release was not made, and ε = {total.epsilon:g}, "
            f"δ = {total.delta:g} stay charged to budget {name!r}, since noise may have been drawn."
        )
    return Release(
        name=name,
        algorithm=key,
        params=params.as_dict(),
        rows=data.n,
        schema=schema,
        total=total,
        releases=tuple(source.given_out),
        labels=tuple(charge.label for charge in session.ledger),
        versions={"dp-causal-explorer": __version__} | {p: version(p) for p in _PACKAGES},
        **findings(outcome, schema.names),
    )

"""Spend a part of a budget on one release.

Only algorithms that draw nothing but Gaussian releases are covered: their noise has a hardened
sampler (:mod:`engine.privacy.sources`), and whoever has the file can derive the graph again without
the data (:mod:`engine.release.checking`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib.metadata import version
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from engine.algorithm import Outcome
from engine.context import RunContext, Step
from engine.data.dataset import Dataset
from engine.data.schema import Schema, parse_schema
from engine.errors import InputError, need
from engine.privacy.sources import NoiseSource
from engine.randomness import Randomness
from engine.release.budget import Budget, Budgets
from engine.release.file import MOST_ROWS, Release, findings
from engine.release.settings import Ask, built, covered, empty, known_in
from engine.release.signature import signed
from engine.release.vault import Resumable, Vault
from engine.runner import one_thread
from engine.version import __version__

_PACKAGES = ("numpy", "opendp", "scipy")
OnStep = Callable[[Step], None] | None


class Stopped(InputError):
    """The person stopped a release; the message says whether the budget was charged."""


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
    on_step: OnStep = None,
    on_charged: Callable[[], None] = lambda: None,
    on_kept: Callable[[str], None] = lambda kept: None,
    resume: bool = False,
) -> Release:
    """Charge the budget ``name``, then release; a crash in between leaves the charge.

    Args:
        data: Read with ``schema``.
        schema: The declared public facts.
        key: An algorithm with a hardened sampler: "marginal_pc".
        values: Its parameters by name; delta is the budget's share that epsilon is, if not given.
        name: The budget that pays.
        budgets: The file it is in.
        signer: The key to sign with (:func:`engine.release.signature.own_key`).
        cancelled: Polled: before the charge a stop costs nothing, after it the charge stays.
        on_step: Sees each step as it happens.
        on_charged: Called once the charge is on the disk.
        on_kept: Called with the release's id in the vault; not called where the disk refused it.
        resume: End this budget's last release that was charged and not made, as asked for then,
            for free. Tables that were drawn are given out again, the others drawn now, of the same
            data, which is the person's word.

    Returns:
        What can be handed out (:func:`engine.release.file.canonical`); the vault has it by then.

    Raises:
        InputError: In one sentence, and nothing is charged, where the request does not fit.
        Stopped: The message says whether the budget was charged.
    """
    fits = (data.names, data.levels) == (schema.names, schema.levels)
    if not (data.declared and fits) or schema.waiting or data.n > MOST_ROWS:
        raise InputError(
            f"A release needs data that were read with the declared schema, at most {MOST_ROWS:,} "
            "rows of them."
        )
    need("opendp", "release")
    vault = Vault(budgets)
    vault.prepare()
    budget = budgets.show(name)
    if resume:
        number = _unfinished(budget, data.n, schema)
    else:
        chosen: Any = covered(key).params.build(values)
        asked = {"delta": budget.share(float(chosen.epsilon))} | dict(values)
        request: dict[str, Any] = {"algorithm": key, "values": asked, "rows": data.n}
        request |= {"schema": schema.to_json(), "columns": list(schema.names)}
        # On empty rows, to find whatever is wrong before anything is charged.
        _run(request, empty(schema, data.n), Randomness(0), cancelled)
        if cancelled():
            raise Stopped("Stopped: the release was not made, and nothing was charged.")
        cost = built(key, asked)[1]
        budget = budgets.charge(name, cost, f"release by {key}", request)
        number = budget.charges[-1].number
    on_charged()
    with _paid(budget, number):
        source = Resumable(vault.drawn(number))
        found = _released(budget, number, data, source, cancelled, on_step)
    found = found if signer is None else signed(found, signer)
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


@contextmanager
def _paid(budget: Budget, number: int) -> Iterator[None]:
    """Whatever goes wrong inside also says that the charge stays."""
    request = budget.unfinished[number]
    total = built(request["algorithm"], request["values"])[1]
    stays = (
        f"The release was not made, and ε = {total.epsilon:g}, δ = {total.delta:g} stay charged to "
        f"budget {budget.name!r}, since noise may have been drawn. What was drawn is kept: engine "
        "release --resume ends it, and is not charged again."
    )
    try:
        yield
    except Stopped as stopped:
        raise Stopped(f"{stopped} {stays}") from None
    except (InputError, OSError, MemoryError) as error:
        raise InputError(f"{str(error) or 'There is no memory left.'} {stays}") from error
    except BaseException as error:  # a fault of ours, or a second Ctrl-C
        error.add_note(stays)
        raise


def _released(
    budget: Budget,
    number: int,
    data: Dataset,
    source: Resumable,
    cancelled: Ask,
    on_step: OnStep,
) -> Release:
    """The release that a charge paid for, as it was asked for then."""
    request = budget.unfinished[number]
    key, schema = request["algorithm"], parse_schema(request["schema"])
    params, total = built(key, request["values"])
    context, outcome = _run(request, replace(data, schema=schema), source, cancelled, on_step)
    if outcome.status == "cancelled":
        raise Stopped("Stopped after the charge.")
    return Release(
        name=budget.name,
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


def _run(
    request: Mapping[str, Any],
    data: Dataset,
    source: Randomness | NoiseSource,
    cancelled: Ask,
    on_step: OnStep = None,
) -> tuple[RunContext, Outcome]:
    """One run that takes its noise from ``source``; ``on_step`` sees each step as it happens."""
    chosen = covered(request["algorithm"])
    params, _ = built(chosen.key, request["values"])
    assert chosen.ledger is not None
    context = RunContext(
        *(source, chosen.ledger(data, params), data.names),
        trace=on_step is not None,
        on_step=on_step,
        cancelled=cancelled,
        known=known_in(data),
    )
    with one_thread():  # so that whoever reads the file adds up in the same order
        return context, chosen.run(data, params, context)

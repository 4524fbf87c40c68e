"""Find a running Dask cluster and its workers."""

from __future__ import annotations

import logging
from typing import Any

from engine.errors import InputError, need


class WorkerError(InputError):
    """A worker process ended or could not be used."""


def connect(address: str, timeout: float) -> tuple[Any, list[str]]:
    """Return (client, names of its workers); InputError if there is no answer or no worker."""
    need("distributed")
    from distributed import Client  # imported here because it takes half a second

    # Dask reports a lost connection in forty lines; :func:`present` reports it in one.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    try:
        client = Client(address, timeout=timeout, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"No Dask scheduler answers at {address}.") from error
    workers = workers_of(client)
    if not workers:
        client.close()
        raise InputError(f"The Dask cluster at {address} has no workers; start some.")
    return client, workers


def workers_of(client: Any) -> list[str]:
    """Return the workers that are connected now."""
    return sorted(client.scheduler_info(n_workers=-1)["workers"])


def present(client: Any, address: str, otherwise: str) -> list[str]:
    """Return the workers connected now; WorkerError with a clause if the scheduler is gone."""
    gone = WorkerError(f"The Dask scheduler at {address} has ended; {otherwise}.")
    if client.status != "running":
        raise gone
    try:
        return workers_of(client)
    except Exception as error:  # a broken connection can raise any error
        raise gone from error

"""A running Dask cluster: finding it and its workers."""

from __future__ import annotations

import logging
from typing import Any

from engine.errors import InputError, need


class WorkerError(InputError):
    """A worker process ended, or could not be used."""


def connect(address: str, timeout: float) -> tuple[Any, list[str]]:
    """(client, its workers' names); InputError where nothing answers or there is no worker."""
    need("distributed")
    from distributed import Client  # here: it takes half a second to load

    # It tells of a lost connection in forty lines; we say it in one (:func:`present`).
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
    """The workers that are there now."""
    return sorted(client.scheduler_info(n_workers=-1)["workers"])


def present(client: Any, address: str, otherwise: str) -> list[str]:
    """The workers that are there now; where the scheduler is gone, a WorkerError with a clause."""
    gone = WorkerError(f"The Dask scheduler at {address} has ended; {otherwise}.")
    if client.status != "running":
        raise gone
    try:
        return workers_of(client)
    except Exception as error:  # any error of a broken connection
        raise gone from error

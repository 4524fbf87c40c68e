"""A running Dask cluster: finding it, and spreading independent pieces of work over its workers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any, TypeVar

from engine.errors import InputError, need

T = TypeVar("T")
_POLL = 0.5
_NOTHING = "nothing was read"


class WorkerError(InputError):
    """A worker process ended, or could not be used."""


class Lost(WorkerError):
    """What a worker was to do went with it, or with the data that it was to use."""


def connect(address: str, timeout: float) -> tuple[Any, list[str]]:
    """(client, its workers' names); InputError where nothing answers or there is no worker."""
    need("distributed", "cluster")
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
    except Exception as error:  # whatever a broken connection raises
        raise gone from error


# distributed's and the standard library's, by name: neither need be imported to ask.
_GONE = {"KilledWorker", "CancelledError", "FutureCancelledError", "FuturesCancelledError"}


def finished(future: Future[T], otherwise: str) -> T:
    """The result; whatever went wrong with its worker as a WorkerError that ends in a clause."""
    try:
        return future.result()
    except InputError:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error}".partition("\n")[0][:200]
        kind = Lost if type(error).__name__ in _GONE else WorkerError
        raise kind(f"A worker failed ({reason}); {otherwise}.") from error


def spread(
    address: str, work: Callable[..., T], pieces: Sequence[Any], *rest: Any, timeout: float = 5.0
) -> Iterator[T]:
    """``work(piece, *rest)`` on the cluster's workers, each result as soon as it is there.

    The order is that of finishing. A worker that ends has its pieces done by another one; the
    cluster is left running. Raises InputError as :func:`connect`, or with what ``work`` raised.
    """
    client, _ = connect(address, timeout)
    executor = client.get_executor(pure=False)
    try:
        running = {executor.submit(work, piece, *rest) for piece in pieces}
        while running:
            done, running = wait(running, _POLL, FIRST_COMPLETED)
            if not done and not present(client, address, _NOTHING):
                raise WorkerError(f"The last worker of the cluster at {address} has ended.")
            for future in done:
                try:
                    yield finished(future, _NOTHING)
                except Lost:
                    present(client, address, _NOTHING)
                    raise
    finally:
        executor.shutdown(wait=False)
        client.close()  # calls off what has not begun

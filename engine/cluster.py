"""A running Dask cluster: finding it, and spreading independent pieces of work over its workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any, TypeVar

from engine.errors import InputError

T = TypeVar("T")
_POLL = 0.5


class WorkerError(InputError):
    """A worker process ended, or could not be used."""


def connect(address: str, timeout: float) -> tuple[Any, list[str]]:
    """(client, its workers' names); InputError where nothing answers or there is no worker."""
    try:
        from distributed import Client
    except ImportError:
        raise InputError("A cluster needs the package distributed; pip install it.") from None
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


def finished(future: Future[T], otherwise: str) -> T:
    """The result; whatever went wrong with its worker as a WorkerError that ends in a clause."""
    try:
        return future.result()
    except InputError:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error}".partition("\n")[0][:200]
        raise WorkerError(f"A worker failed ({reason}); {otherwise}.") from error


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
            if not done and not workers_of(client):
                raise WorkerError(f"The last worker of the cluster at {address} has ended.")
            yield from (finished(future, "nothing was read") for future in done)
    finally:
        executor.shutdown(wait=False)
        client.close()  # calls off what has not begun

"""The one way from the file of a release to a release that is worked with.

What comes out of here is verified: the file is laid out as this program writes it and its digest is
its own (:func:`engine.release.file.loads`), each signature in it is one of its release by its key
(:func:`engine.release.signature.verify`), and promise and graph follow from the released numbers
(:func:`engine.release.checking.check`). The first two take milliseconds, the last as long as the
search: .1 s for 8 columns, 2 s for 76.
"""

from __future__ import annotations

import os

from engine.release.checking import SECONDS, check
from engine.release.file import MOST_BYTES, Release, loads, read_bytes
from engine.release.signature import verify


def opened(raw: bytes, key: str | None = None, seconds: float = SECONDS) -> tuple[Release, float]:
    """Verify the bytes of a release's file.

    Args:
        raw: What the file holds.
        key: The public key that has to have signed it, if the reader knows one.
        seconds: The timeout of the derivation.

    Returns:
        The release, and what :func:`engine.release.checking.check` returns for it.

    Raises:
        InputError: In one sentence where anything is wrong, a signature included.
    """
    release = loads(raw)
    verify(release, key)
    return release, check(release, seconds)


def load(
    path: str | os.PathLike[str], key: str | None = None, seconds: float = SECONDS
) -> tuple[Release, float]:
    """Read a file and verify it (:func:`opened`)."""
    return opened(read_bytes(path, MOST_BYTES), key, seconds)

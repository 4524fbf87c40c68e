"""Open a release file; the program uses only releases opened here.

Opening verifies three things. The file has the layout that this program writes, and its digest
matches (:func:`engine.release.file.loads`). Each signature is by its key and for its release
(:func:`engine.release.signature.verify`). Guarantee and graph follow from the released numbers
(:func:`engine.release.checking.check`). The first two take milliseconds, the last takes as long as
the search: .1 s for 8 columns, 2 s for 76.
"""

from __future__ import annotations

import os

from engine.release.checking import SECONDS, check
from engine.release.file import MOST_BYTES, Release, loads, read_bytes
from engine.release.signature import verify


def opened(raw: bytes, key: str | None = None, seconds: float = SECONDS) -> tuple[Release, float]:
    """Verify the bytes of a release's file.

    Args:
        raw: The contents of the file.
        key: The public key that must have signed it, if the recipient knows one.
        seconds: The timeout of the derivation.

    Returns:
        The release, and the result of :func:`engine.release.checking.check`.

    Raises:
        InputError: With one sentence if anything is wrong, including a signature.
    """
    release = loads(raw)
    verify(release, key)
    return release, check(release, seconds)


def load(
    path: str | os.PathLike[str], key: str | None = None, seconds: float = SECONDS
) -> tuple[Release, float]:
    """Read a file and verify it (:func:`opened`)."""
    return opened(read_bytes(path, MOST_BYTES), key, seconds)

"""Noisy tables that are on the disk before anything follows from them.

A release that ends between its charge and its file has been paid for. Every table that was drawn is
kept, so that the release can go on from there: tables that are there are given out again, and only
the others are drawn, of the same data under the same charge. What was drawn and did not reach the
disk has been seen by nobody.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.privacy.sources import Hardened, Replay
from engine.release.file import released_json
from engine.release.reading import parse_released


class Kept(Hardened):
    """Fresh noise from the operating system, after what the file ``path`` has of this release."""

    def __init__(self, path: Path):
        super().__init__()
        self._path = path
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        whole = text[: text.rfind("\n") + 1]  # the last line may be torn
        if whole != text:
            path.write_text(whole, encoding="utf-8")
        self._before = [parse_released(json.loads(line)) for line in whole.splitlines()]

    def gaussian(
        self, exact: NDArray[np.float64], sensitivity: float, sigma: float
    ) -> NDArray[np.float64]:
        """The next table of the file if there is one; else a new one, which is kept first."""
        place = len(self.given_out)
        if place < len(self._before):
            found = Replay([self._before[place]]).gaussian(exact, sensitivity, sigma)
            self.given_out.append(self._before[place])
            return found
        found = super().gaussian(exact, sensitivity, sigma)
        handle = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(json.dumps(released_json(self.given_out[-1])) + "\n")
            file.flush()
            os.fsync(file.fileno())
        return found

"""An attack on a release that was handed out, from its file alone.

Its answers are forced upon neighbours of these settings (:mod:`engine.audit.release`). Whoever
has the file can do it; it needs no data and spends nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from engine.algorithms.marginal_pc import ALGORITHM
from engine.audit.release import PROPOSALS, attack
from engine.audit.replay import Finding
from engine.release.checking import SECONDS, check, requested
from engine.release.file import Release

HALF = 0.5  # of what was charged: an answer that was moved further shows a charge of half


def attack_release(
    release: Release,
    *,
    proposals: int = PROPOSALS,
    seconds: float = SECONDS,
    cancelled: Callable[[], bool] = lambda: False,
    watch: Callable[[float], None] = lambda share: None,
) -> Finding:
    """Check the file, then climb to the records that move each of its answers furthest.

    The ratios of the finding are by answer: the largest move over what the file says was charged.
    An attack that is stopped, or that takes longer than ``seconds``, reports what it tried until
    then. ``watch`` receives the share that is done. InputError where the file is not consistent.
    """
    check(release, seconds)
    end, every = time.monotonic() + seconds, len(release.releases) * (proposals + 1)
    request = requested(release)
    return attack(
        ALGORITHM,
        request.params,
        release.releases,
        request.empty,
        proposals=proposals,
        cancelled=lambda: cancelled() or time.monotonic() > end,
        watch=lambda found: watch(found.pairs / every),
    )


def verdict(found: Finding) -> str:
    """What the attack says, in one sentence."""
    if found.pairs == 0:
        return "Stopped before the first pair of neighbours: nothing is said of the file."
    said = "Not refuted" if found.passed else "REFUTED"
    return f"{said} by {found.pairs} pairs of neighbours under the file's own answers."

"""The short form of ``make soak``: what a long day shows, in seconds."""

from __future__ import annotations

from benchmarks.soak import soak_runs


def test_many_runs_leave_the_memory_flat() -> None:
    """A store and a trace that stayed with each dataset would be 2.6 MB a run: 49 MB."""
    soak_runs(3)  # kernels and libraries are loaded
    early, late = soak_runs(24)
    assert late - early < 25

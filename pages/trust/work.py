"""The long work of this page, for a process without Streamlit."""

from __future__ import annotations

from engine.audit.cases import CaseResult, audit, cases
from engine.audit.replay import Finding
from engine.release.checking import attack_release
from engine.release.door import opened
from pages.worker import Reporter


def attack(monitor: Reporter, algorithm: str, key: str, runs: int) -> CaseResult:
    """Return the audit of the algorithm's case with this key; a part is a measurement so far."""
    # Some cases hold functions that cannot be sent through a pipe.
    case = next(one for one in cases(algorithm) if one.key == key)
    return audit(case, runs, **monitor.options, on_look=monitor.part)


def attack_file(monitor: Reporter, raw: bytes) -> Finding:
    """Verify a release's file, then force its answers upon neighbours."""
    return attack_release(opened(raw)[0], **monitor.options)

"""The long work of this page, for a process that knows nothing of Streamlit."""

from __future__ import annotations

from engine.audit.cases import CaseResult, audit, cases
from engine.audit.measure import Measured
from engine.audit.replay import Finding
from engine.release.checking import attack_release
from engine.release.door import opened
from pages.worker import Tell


def attack(tell: Tell, key: str, runs: int) -> CaseResult:
    """The audit of the case with this key; a part is a measurement so far."""
    # Some cases hold functions that no pipe carries.
    case = next(one for one in cases(key.partition("/")[0]) if one.key == key)

    def watch(found: Measured) -> None:
        tell(found.runs / runs, f"{found.runs:,} of {runs:,} runs on each side", found)

    return audit(case, runs, cancelled=tell, watch=watch)


def attack_file(tell: Tell, raw: bytes) -> Finding:
    """Verify a release's file, then force its answers upon neighbours."""

    def watch(share: float) -> None:
        tell(share)

    return attack_release(opened(raw)[0], cancelled=tell, watch=watch)

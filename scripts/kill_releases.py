"""Kill -9 releases at random moments: ``python -m scripts.kill_releases [N] [--sequences M]``.

Two simultaneous processes resume each interrupted release. Prints how many releases are kept and
how many charges there are: each charge must have one release. Then it runs so many random sequences
of events in the life of budgets (``tests/release/life.py``) and prints their actions.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.release.life import Life
from tests.release.test_resume import killed_releases


def main() -> int:
    """Return 0 if no release was free and no charge had two; a sequence that violates this
    raises."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kills", nargs="?", type=int, default=50)
    parser.add_argument("--sequences", type=int, default=0)
    args = parser.parse_args()
    files = charges = 0
    if args.kills:
        with tempfile.TemporaryDirectory() as folder:
            files, charges = killed_releases(Path(folder), args.kills, seed=args.kills)
        print(f"{args.kills} kills: {files} releases, {charges} charges", flush=True)
    if args.sequences:
        Life.counts = Counter()
        quiet = settings(
            max_examples=args.sequences,
            stateful_step_count=30,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        run_state_machine_as_test(Life, settings=quiet)
        print("\n".join(f"{n:8,} {what}" for what, n in Life.counts.most_common()))
    return 0 if files == charges <= args.kills + 2 else 1


if __name__ == "__main__":
    sys.exit(main())

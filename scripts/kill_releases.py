"""Kill -9 as many releases at random moments: ``python -m scripts.kill_releases [N]``.

Prints how many releases are kept in the end and how many charges there are: each that was cut short
is ended by its charge. A release without a charge would be a free one.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.release.test_resume import killed_releases


def main(kills: int) -> int:
    """0 if no release was free."""
    with tempfile.TemporaryDirectory() as folder:
        files, charges = killed_releases(Path(folder), kills, seed=kills)
    print(f"{kills} kills: {files} releases, {charges} charges")
    return 0 if files == charges <= kills + 2 else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 50))

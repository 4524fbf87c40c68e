"""Text that is kept and compared: what pages and commands say."""

from __future__ import annotations

import os
import re
from difflib import unified_diff
from pathlib import Path

KEPT = Path(__file__).parent / "kept"
# What a clock, a folder of the test or a drawn name says.
CLOCK = re.compile(
    r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d)?( UTC|Z)?)?|[\d.,]+ (s|ms|CPU-s)( on one core)?\b"
    r'|(?<="seconds": )[\d.e-]+|(?<=label: Seconds \| body: )[^|]+(?= \|)'
    r'|/tmp/\S*?(?=[^/\s]*[\s"\'.,]|$)'
)
# More digits than two machines agree on.
LONG = re.compile(r"-?\b\d+\.\d{6,}(e[-+]?\d+)?\b")
# What rounding leaves of a share of 0, other on every processor.
RESIDUE = re.compile(r'(?<="epsilon": |   "cost": )\d+(\.\d+)?e-1[3-9]\b')


def agrees(name: str, text: str) -> None:
    """The text is the kept one; ``KEEP=1`` keeps it."""
    file = KEPT / f"{name}.txt"
    text = LONG.sub(lambda found: f"{float(found[0]):.5g}", CLOCK.sub("…", text))
    text = RESIDUE.sub("0.0", text).strip() + "\n"
    if os.environ.get("KEEP"):
        file.write_text(text, encoding="utf-8")
    kept = file.read_text(encoding="utf-8") if file.exists() else ""
    differ = unified_diff(kept.splitlines(), text.splitlines(), "kept", "shown", n=1, lineterm="")
    assert text == kept, "\n".join(differ)

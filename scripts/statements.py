"""Sentences of the documents to check by hand: ``python -m scripts.statements COUNT SEED``."""

import random
import re
import sys
from pathlib import Path

from scripts.site_pages import ROOT


def statements() -> list[str]:
    """Every sentence or row of a page that has a number, code or a link."""
    found = []
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = re.sub(
            r"(?ms)^```.*?^```|^<!-- ([^\n]+) -->.*?^<!-- \1 ends -->", "", page.read_text("utf-8")
        )
        for part in re.split(r"\n\s*\n|(?<=[.:])\s+(?=[A-Z*`(])|\n(?=[|\-*\d])", text):
            if re.search(r"\d|`|\]\(", part) and len(part) > 40:
                found.append(f"{Path(page).relative_to(ROOT)}: {' '.join(part.split())}")
    return found


if __name__ == "__main__":
    for line in random.Random(int(sys.argv[2])).sample(statements(), int(sys.argv[1])):
        print(line)

"""What every page says and draws, as text: ``python -m scripts.snapshot OUT``.

Two snapshots of one behaviour are the same file: each page is opened by Streamlit's own harness in
several settings, and every element is written out with its words and its chart. Seconds and drawn
names are masked, secret noise is given a seed. Compare with ``diff`` before and after a move.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    *("run", "learn", "compare", "study", "budget", "sieve"),
    *("pairs", "table", "report", "trust"),
]
SETTINGS: dict[str, dict[str, str]] = {
    "asia strict": {"data": "asia", "n": "5000", "algorithm": "priv_pc"},
    "child published": {
        "data": "child", "n": "5000", "algorithm": "curate_pc", "guarantee": "published",
    },
    "survey marginal": {"data": "survey", "n": "5000", "algorithm": "marginal_pc"},
}  # fmt: skip
OWN = ROOT / "sample_data" / "sachs_5000.csv"
MASKS = (
    (r"\b\d+(\.\d+)?(e-?\d+)? ?(ms|s|seconds?|minutes?)\b", "SECONDS"),
    (r"[0-9a-f]{32,64}", "NAME"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "CLOCK"),
    (r"\$\$\w+-[^\"' ]*", "ID"),
    (r"(page_script_hash|form_id|id|fragment_id|active_script_hash): \"[^\"]*\"", r"\1"),
    (r"st-key-[\w-]+", "KEY"),
)


def opened(page: str, **query: str) -> AppTest:
    """The app on a page's address."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=300)
    app._page_hash = calc_hash(page)
    for name, value in query.items():
        app.query_params[name] = value
    return rested(app.run())


def rested(app: AppTest) -> AppTest:
    """The app once nothing on the page is still being computed."""
    for _ in range(60):
        if not any(c.value.startswith(("Repeating", "Drawing")) for c in app.caption):
            break
        time.sleep(1)
        app.run()
    return app


def with_own_data(page: str) -> AppTest:
    """The app after an upload on Data, on a page."""
    app = opened("data")
    app.selectbox(key="data-network").set_value("own").run()
    app.file_uploader(key="data-file").set_value(("mine.csv", OWN.read_bytes(), "text/csv")).run()
    app._page_hash = calc_hash(page)
    return rested(app.run())


def words(node: Any) -> Iterator[str]:
    """Every element below a node, in order."""
    for child in getattr(node, "children", {}).values():
        proto = getattr(child, "proto", None)
        if proto is not None:
            yield f"[{child.type}] {str(proto).strip()}"
        yield from words(child)


def masked(text: str) -> str:
    """The text without what differs from run to run."""
    for pattern, name in MASKS:
        text = re.sub(pattern, name, text)
    return text


def main(out: Path) -> None:
    """Write the snapshot."""
    with (
        patch("engine.randomness.secret_seed", lambda: 12345),
        patch("secrets.randbelow", lambda n: 0),
        out.open("w", encoding="utf-8") as file,
    ):
        for page in PAGES:
            for name, query in SETTINGS.items():
                write(file, page, name, opened(page, **query))
            write(file, page, "own data", with_own_data(page))


def write(file: Any, page: str, name: str, app: AppTest) -> None:
    """One page in one setting."""
    file.write(f"\n===== {page} | {name}\n")
    for error in app.exception:
        file.write(f"EXCEPTION {error.value}\n")
    file.write(masked("\n".join(words(app._tree))) + "\n")
    print(page, name, len(app.exception), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

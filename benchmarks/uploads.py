"""``python -m benchmarks.uploads``: what a server's memory is while large tables are uploaded.

Each visitor has a Chromium window of their own and uploads the same CSV, of Alarm's columns, on
Data. Printed for the server's process, and for it with its worker processes: megabytes before, the
most while the tables come and are read, and at the end. The server keeps of each table the file's
bytes, from which it may be read in another way, and the codes.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import psutil

from benchmarks.soak import chromium_path, resident, served
from engine import load_dataset

ROWS = 20_000  # drawn once, and written again and again
EVERY = 0.02  # seconds between two looks at the memory
REST = 5.0  # seconds after the last table


def table(path: Path, size: float) -> int:
    """Write a CSV of so many bytes; its rows."""
    text = load_dataset("alarm", n=ROWS).to_frame().to_csv(index=False)
    head, body = text.split("\n", 1)
    times = max(1, round(size / len(body)))
    path.write_text(f"{head}\n{body * times}", encoding="utf-8")
    return ROWS * times


class Watch:
    """The most memory that a server's process, and it with its workers, held since the start."""

    def __init__(self, server: psutil.Process) -> None:
        self._server, self._ended = server, threading.Event()
        self.most = (0.0, 0.0)
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def now(self) -> tuple[float, float]:
        """Megabytes of the process alone, and of all."""
        return float(self._server.memory_info().rss / 1e6), resident(self._server)

    def _look(self) -> None:
        while not self._ended.wait(EVERY):
            try:
                alone, together = self.now()
            except psutil.NoSuchProcess:  # a worker that has just ended
                continue
            self.most = max(self.most[0], alone), max(self.most[1], together)

    def end(self) -> None:
        """Look no more."""
        self._ended.set()
        self._thread.join()


def upload(browser: Any, url: str, path: Path, rows: int) -> tuple[Any, float]:
    """A window in which the table was uploaded and read, and the seconds that took."""
    page = browser.new_context().new_page()
    page.set_default_timeout(120_000)
    page.goto(f"{url}/data")
    page.get_by_text("forward-sampled").wait_for()
    box = page.locator(".st-key-data-network input")
    box.click()
    box.fill("Your own")
    box.press("Enter")
    page.get_by_text("Upload a CSV file first").first.wait_for()
    start = time.monotonic()
    page.locator('input[type="file"]').nth(0).set_input_files(path)
    page.get_by_text(f"{rows:,} rows, 37 columns").wait_for()
    return page, time.monotonic() - start


def measure(visitors: int, size: float, port: int) -> None:
    """Start a server, upload, and print."""
    from playwright.sync_api import sync_playwright

    chromium = chromium_path()
    if chromium is None:
        raise SystemExit("This needs Chromium: apt-get install chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "alarm.csv"
        rows = table(path, size)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        with served(port, Path(folder) / "log", folder) as server:
            url = f"http://127.0.0.1:{port}"
            browser.new_page().goto(f"{url}/data")
            time.sleep(2 * REST)  # whatever the first page loads is loaded
            watch = Watch(server)
            before = watch.now()
            shown = [upload(browser, url, path, rows) for _ in range(visitors)]
            time.sleep(REST)
            watch.end()
            said = {"before": before, "most": watch.most, "at the end": watch.now()}
        browser.close()
    each = ", ".join(f"{seconds:.1f}" for _, seconds in shown)
    print(f"{visitors} uploads of {path.name}, {size / 1e6:.0f} MB; seconds until read: {each}")
    for word, (alone, together) in said.items():
        print(f"  {word:12} server {alone:6.0f} MB, with its workers {together:6.0f} MB")


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description="The server's memory while tables are uploaded")
    parser.add_argument("--visitors", type=int, default=2)
    parser.add_argument("--megabytes", type=float, default=90.0)
    parser.add_argument("--port", type=int, default=8606)
    given = parser.parse_args()
    measure(given.visitors, given.megabytes * 1e6, given.port)


if __name__ == "__main__":
    main()

"""From a clone to a graph: ``python -m benchmarks.first_minute [--write]``, on two idle cores.

It times a newcomer's first minute, from an empty folder each time: a fresh clone, a home folder
without the caches of pip, uv and numba, ``make app``, and a browser that opens the address as soon
as it answers. It prints for each step the seconds, and the CPU seconds of its processes; and the
seconds from a typed ε (Enter) until Run shows its numbers and has drawn its graphs.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import psutil

from benchmarks.soak import answers, chromium_path, until
from benchmarks.written import put

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "research" / "speed.md"
STAMP = Path(".venv") / ".installed-app"  # the Makefile makes it when all is installed
GRAPH = ".scene[data-state]"  # the opening page's, drawn
PATIENCE = 600.0
ARGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")
BUSY = 0.5  # load beyond which the machine is not quiet
STEPS = ("clone", "install", "server answers", "graph drawn")
TYPED = tuple(f"{1 + k / 10:.1f}" for k in range(1, 10))
# Run's heading names the ε of the run on screen; a graph's frame says when it is drawn.
_SHOWN = """(epsilon) => {
  const head = document.querySelector("h1")?.closest(".stHtml")?.innerText ?? "";
  const frames = [...document.querySelectorAll("iframe")];
  return document.querySelector("[data-test-script-state=notRunning]") && frames.length
    && head.includes(`\\n${epsilon}\\n`)
    && frames.every((f) => f.contentDocument?.body?.dataset.drawn); }"""


class Step(NamedTuple):
    """Seconds by the clock since the step before, and CPU seconds of what ran for it."""

    wall: float
    cpu: float


def free_port() -> int:
    """Return a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def typed(page: Page, url: str) -> float:
    """Return the median seconds until the graph for an ε of ``TYPED`` is drawn, Priv-PC on Asia.

    The first of them is not counted: Run is pressed for it, as where loops were just compiled.
    """
    page.goto(f"{url}/run")
    page.wait_for_function(_SHOWN, arg="1")
    seconds = []
    for epsilon in TYPED:
        field = page.locator(".st-key-param-epsilon input").last
        field.fill(epsilon)
        page.wait_for_timeout(1000)  # what drew the one before has ended
        begun = time.monotonic()
        field.press("Enter")
        if epsilon == TYPED[0]:
            page.locator(".st-key-run button").click()
        page.wait_for_function(_SHOWN, arg=epsilon)
        seconds.append(time.monotonic() - begun)
    return statistics.median(seconds[1:])


def minute(browser: Browser) -> tuple[list[Step], float]:
    """One first minute, in the order of ``STEPS``, and the seconds of ``typed``."""
    with tempfile.TemporaryDirectory(prefix="first-minute-", ignore_cleanup_errors=True) as place:
        folder, home = Path(place) / "clone", Path(place) / "home"
        home.mkdir()
        begun = time.monotonic()
        subprocess.run(["git", "clone", "-q", str(ROOT), str(folder)], check=True)
        cloned = time.monotonic()
        url = f"http://127.0.0.1:{(port := free_port())}"
        app = subprocess.Popen(
            ["make", "app", f"PORT={port}", f"PYTHON={sys.base_prefix}/bin/python3"],
            cwd=folder,
            env=_bare(home),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            until(app, (folder / STAMP).exists, PATIENCE)
            installed, installing = time.monotonic(), _spent(app.pid)
            until(app, lambda: answers(url), PATIENCE)
            up, starting = time.monotonic(), _spent(app.pid)
            page = browser.new_page()
            page.goto(url)
            page.locator(GRAPH).wait_for(timeout=PATIENCE * 1000)
            drawn, drawing = time.monotonic(), _spent(app.pid)
            later = typed(page, url)
            page.close()
        finally:
            os.killpg(app.pid, signal.SIGTERM)
            app.wait(30)
    return [
        Step(cloned - begun, 0.0),
        Step(installed - cloned, installing),
        Step(up - installed, starting - installing),
        Step(drawn - up, drawing - starting),
    ], later


def _bare(home: Path) -> dict[str, str]:
    """Return the environment of a user who has not installed any package yet."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA", "VIRTUAL", "PYTHON"))}
    caches = {"XDG_CACHE_HOME": str(home / ".cache"), "UV_CACHE_DIR": str(home / ".cache" / "uv")}
    return kept | caches | {"HOME": str(home), "PIP_CACHE_DIR": str(home / ".cache" / "pip")}


def _spent(pid: int) -> float:
    """CPU seconds of a process and of all it has started."""
    total = 0.0
    for one in (found := psutil.Process(pid), *found.children(recursive=True)):
        try:
            total += sum(one.cpu_times()[:4])  # with children it waited for
        except psutil.NoSuchProcess:
            continue
    return total


def table(found: Sequence[tuple[Sequence[Step], float]]) -> str:
    """Return a row per step, one for their sum and one for typing: wall and CPU seconds."""
    minutes = [steps for steps, _ in found]
    numbers = " | ".join(f"time {k + 1}" for k in range(len(minutes)))
    lines = [f"| step | {numbers} |", "|---|" + "---:|" * len(minutes)]
    summed = [Step(sum(s.wall for s in one), sum(s.cpu for s in one)) for one in minutes]
    for k, name in enumerate((*STEPS, "**all**")):
        steps = [(*one, total)[k] for one, total in zip(minutes, summed, strict=True)]
        lines.append(f"| {name} | " + " | ".join(map(_said, steps)) + " |")
    words = " | ".join(f"{later:.2f} s" for _, later in found)
    return "\n".join([*lines, f"| ε typed, Run drawn (median of {len(TYPED) - 1}) | {words} |"])


def _said(step: Step) -> str:
    return f"{step.wall:.1f} s" + (f", {step.cpu:.1f} CPU-s" if step.cpu else "")


def main() -> None:
    """So many first minutes, one after the other."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="the table into the document")
    options = parser.parse_args()
    if options.write and os.getloadavg()[0] > BUSY:
        raise SystemExit("This machine does something else: seconds would tell of that.")
    chromium = chromium_path()
    if chromium is None:
        raise SystemExit("No Chromium found: apt-get install chromium-headless-shell.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(ARGS))
        minutes = [minute(browser) for _ in range(options.times)]
        browser.close()
    print(text := table(minutes))
    if options.write:
        put(PAGE, "benchmarks.first_minute", text)


if __name__ == "__main__":
    main()

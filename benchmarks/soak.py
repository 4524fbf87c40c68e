"""``make soak``: many sessions at once, then many runs, and what is left of the memory.

1. Twenty browser sessions for two minutes on one server, each pressing Run over and over on a
   dataset of its own: the median time to an answer, sessions that saw another's data, errors in the
   server's log, the server's memory before, at its highest and after the sessions have gone.
2. Five hundred runs in one process, each on a dataset of its own: its memory after a fifth of them
   and at the end.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from engine import load_dataset, run

ROOT = Path(__file__).resolve().parents[1]
DATASETS = ("asia", "cancer", "earthquake", "survey")
TROUBLE = ("Traceback", "ERROR", "WebSocketClosed", "Exception")
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
DRAWN = """() => {
  const frames = [...document.querySelectorAll("iframe")];
  return frames.length > 0 && frames.every((f) => f.contentDocument?.body?.dataset.drawn);
}"""
# Presses Run; milliseconds until every graph on the page is a new one and drawn.
PRESS_TO_GRAPH = """() => new Promise((done, fail) => {
  const bodies = () => [...document.querySelectorAll("iframe")].map((f) => f.contentDocument?.body);
  bodies().forEach((body) => { body.dataset.old = "1"; });
  const start = performance.now();
  document.querySelector(".st-key-run button").click();
  const look = () => {
    const now = bodies(), spent = performance.now() - start;
    if (now.length > 0 && now.every((b) => b?.dataset.drawn && !b.dataset.old)) { done(spent); }
    else if (spent > 120000) { fail(new Error("no new graph within two minutes")); }
    else { setTimeout(look, 20); }
  };
  look();
})"""
REST = 0.5  # seconds a person looks before the next press


@dataclass
class Seen:
    """What the sessions saw: seconds from each press of Run to its answer, and what went wrong."""

    answers: list[float] = field(default_factory=list)
    trouble: list[str] = field(default_factory=list)


# Sessions ---------------------------------------------------------------------------


async def sessions(url: str, count: int, seconds: float, chromium: str) -> Seen:
    """So many people at once, each in a browser context of their own, for so long."""
    from playwright.async_api import async_playwright

    seen = Seen()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        until = time.monotonic() + seconds
        people = (_person(browser, url, DATASETS[i % 4], until, seen) for i in range(count))
        await asyncio.gather(*people)
        await browser.close()
    return seen


async def _person(browser: Any, url: str, dataset: str, until: float, seen: Seen) -> None:
    context = await browser.new_context()
    page = await context.new_page()
    page.set_default_timeout(150_000)
    try:
        await page.goto(f"{url}/run?data={dataset}&n=20000")
        await page.wait_for_function(DRAWN)
        while time.monotonic() < until:
            seen.answers.append(await page.evaluate(PRESS_TO_GRAPH) / 1000)
            shown = await page.locator(".stMainBlockContainer").inner_text()
            if dataset not in shown.casefold():
                seen.trouble.append(f"a session on {dataset} does not show it")
            await asyncio.sleep(REST)
    except Exception as error:  # one session's end is a finding, not the end of the soak
        seen.trouble.append(f"{type(error).__name__}: {error}".partition("\n")[0])
    finally:
        await context.close()


def resident(process: psutil.Process) -> float:
    """Megabytes of memory that a process and its children hold."""
    family = [process, *process.children(recursive=True)]
    return float(sum(p.memory_info().rss for p in family if p.is_running()) / 1e6)


def serve(port: int, log: Path, folder: str) -> subprocess.Popen[bytes]:
    """A server of its own; its log and its studies in a folder that goes away."""
    words = [sys.executable, str(ROOT / "scripts" / "serve.py"), "--server.headless", "true"]
    with log.open("wb") as out:
        server = subprocess.Popen(
            [*words, "--server.address", "127.0.0.1", "--server.port", str(port)],
            cwd=folder,
            stdout=out,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    for _ in range(300):
        try:
            opener.open(f"http://127.0.0.1:{port}/_stcore/health", timeout=2).close()
            return server
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    server.kill()
    raise SystemExit("The server did not start.")


def soak_sessions(count: int, seconds: float, port: int) -> bool:
    """Section 1; whether all that is promised held."""
    chromium = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if chromium is None:
        print("No Chromium: the sessions are left out.")
        return True
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        server = serve(port, log, folder)
        try:
            process = psutil.Process(server.pid)
            asyncio.run(sessions(f"http://127.0.0.1:{port}", 1, 1, chromium))  # caches filled
            before = resident(process)
            seen = asyncio.run(sessions(f"http://127.0.0.1:{port}", count, seconds, chromium))
            highest = resident(process)
            after = _settled(process, before)
        finally:
            server.terminate()
            server.wait(20)
        errors = [line for line in log.read_text().splitlines() if any(t in line for t in TROUBLE)]
    median = statistics.median(seen.answers) if seen.answers else float("inf")
    print(f"{count} sessions for {seconds:.0f} s: {len(seen.answers)} answers")
    print(f"  median from press to answer      {median:8.2f} s")
    print(f"  server's memory: before          {before:8.0f} MB")
    print(f"    when the sessions end          {highest:8.0f} MB")
    print(f"    half a minute later at most    {after:8.0f} MB   {after / before:.2f} of before")
    print(f"  errors in the log                {len(errors):8d}")
    print(f"  trouble that sessions met        {len(seen.trouble):8d}")
    for line in [*errors[:5], *seen.trouble[:5]]:
        print(f"    {line[:120]}")
    return not errors and not seen.trouble and after <= 1.2 * before


def _settled(process: psutil.Process, before: float, patience: float = 30.0) -> float:
    """The memory once it is back to within a fifth, or after half a minute."""
    until = time.monotonic() + patience
    while (now := resident(process)) > 1.2 * before and time.monotonic() < until:
        time.sleep(1)
    return now


# Runs -------------------------------------------------------------------------------


def soak_runs(runs: int) -> tuple[float, float]:
    """Megabytes held after a fifth of the runs and after all; every run has a dataset anew."""
    process, early = psutil.Process(), 0.0
    for k in range(runs):
        data = load_dataset("child", n=5_000, seed=k)
        run("priv_pc", data, epsilon=1.0, seed=k, max_order=1)
        if k == runs // 5:
            gc.collect()
            early = resident(process)
    del data
    gc.collect()
    return early, resident(process)


def main() -> None:
    """Print both sections; status 1 where something did not hold."""
    parser = argparse.ArgumentParser(description="Many sessions, many runs")
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--port", type=int, default=8605)
    given = parser.parse_args()
    held = soak_sessions(given.sessions, given.seconds, given.port)
    early, late = soak_runs(given.runs)
    print(f"{given.runs} runs in one process, each on a dataset anew")
    print(f"  memory after a fifth of them     {early:8.0f} MB")
    print(f"  memory after all                 {late:8.0f} MB   {late / early:.2f} of that")
    sys.exit(0 if held and late <= 1.1 * early else 1)


if __name__ == "__main__":
    main()

"""``make soak``: many sessions at once, then many runs, and what is left of the memory.

1. Twenty browser sessions for two minutes on one server. Each is one of four datasets and a row of
   seeds nobody else has; it types the next seed, presses Run, and looks at what came for a few
   seconds. Printed: the median time from the key to the page's reply and from the press to the
   drawn result, sessions that saw another's dataset or seed, errors in the server's log, the
   server's memory before, at the end and after the sessions have gone.
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
# What happens in the page, timed there: "key" has just been typed into the seed, or Run is pressed.
# Milliseconds until the page rests and shows what was asked for. A press must bring the seed that
# was typed: a run that is the same as before draws no new graph.
UNTIL = """([press, seed]) => new Promise((done, fail) => {
  const start = performance.now(), all = (what) => [...document.querySelectorAll(what)];
  if (press) { document.querySelector(".st-key-run button").click(); }
  const shown = () => press
    ? all(".stHtml").some((e) => e.innerText.includes("Noise seed\\n" + seed + "\\n"))
      && all("iframe").length > 0
      && all("iframe").every((f) => f.contentDocument?.body?.dataset.drawn)
      && document.querySelector(".st-key-notice .headline")
    : document.querySelector(".st-key-notice")?.innerText.includes("Settings changed");
  const app = document.querySelector('[data-testid="stApp"]');
  const look = () => {
    const spent = performance.now() - start;
    if (app.dataset.testScriptState === "notRunning" && shown()) { done(spent); }
    else if (spent > 60000) { fail(new Error("no answer within a minute")); }
    else { setTimeout(look, 20); }
  };
  look();
})"""
SHOWN = """() => document.querySelector(".stHtml h1").closest(".stHtml").innerText"""
KEPT = 120.0  # seconds for which Streamlit keeps the session of a browser that has gone
FOLLOWS = 12.0  # seconds more until a visitor's session has let the old ones go


@dataclass
class Seen:
    """What the sessions saw: seconds from each key and press to its answer, and what went wrong."""

    replies: list[float] = field(default_factory=list)
    answers: list[float] = field(default_factory=list)
    trouble: list[str] = field(default_factory=list)


# Sessions ---------------------------------------------------------------------------


async def sessions(url: str, count: int, seconds: float, rest: float, chromium: str) -> Seen:
    """So many people at once, each in a browser context of their own, for so long."""
    from playwright.async_api import async_playwright

    seen = Seen()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        await asyncio.gather(*(_person(browser, url, i, seconds, rest, seen) for i in range(count)))
        await browser.close()
    return seen


async def _person(
    browser: Any, url: str, who: int, seconds: float, rest: float, seen: Seen
) -> None:
    """Types seeds that are this person's alone, presses Run, looks at the result."""
    dataset, seed = DATASETS[who % 4], 1000 * who
    context = await browser.new_context()
    page = await context.new_page()
    page.set_default_timeout(150_000)
    try:
        await page.goto(f"{url}/run?data={dataset}&n=20000&seed={seed}")
        await page.wait_for_function(DRAWN)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            seed += 1
            entry = page.locator(".st-key-run-seed input")
            await entry.fill(f"{seed}")
            await entry.press("Enter")
            seen.replies.append(await page.evaluate(UNTIL, [False, seed]) / 1000)
            seen.answers.append(await page.evaluate(UNTIL, [True, seed]) / 1000)
            shown = await page.evaluate(SHOWN)
            if dataset.capitalize() not in shown or f"\n{seed}\n" not in shown:
                seen.trouble.append(f"a session on {dataset}, seed {seed}, shows something else")
            await asyncio.sleep(rest)
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


def soak_sessions(count: int, seconds: float, rest: float, port: int) -> bool:
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
            url = f"http://127.0.0.1:{port}"
            asyncio.run(sessions(url, len(DATASETS), 1, 0, chromium))  # caches filled
            before = resident(process)
            seen = asyncio.run(sessions(url, count, seconds, rest, chromium))
            highest = resident(process)
            after = _settled(process, before, KEPT)
            if after > 1.2 * before:  # old sessions are let go when the next one ends
                asyncio.run(sessions(url, 1, 1, 0, chromium))
                after = _settled(process, before, FOLLOWS)
        finally:
            ended = _end(server)
        errors = [line for line in log.read_text().splitlines() if any(t in line for t in TROUBLE)]
    median = {
        name: statistics.median(times) if times else float("inf")
        for name, times in (("key to reply", seen.replies), ("press to drawn result", seen.answers))
    }
    print(f"{count} sessions for {seconds:.0f} s, {rest:g} s between: {len(seen.answers)} answers")
    for name, one in median.items():
        print(f"  median from {name:21}{one:8.2f} s")
    print(f"  server's memory: before          {before:8.0f} MB")
    print(f"    when the sessions end          {highest:8.0f} MB")
    print(f"    once they are forgotten        {after:8.0f} MB   {after / before:.2f} of before")
    print(f"  seconds until the server ended   {ended:8.1f}")
    print(f"  errors in the log                {len(errors):8d}")
    print(f"  trouble that sessions met        {len(seen.trouble):8d}")
    for line in [*errors[:5], *seen.trouble[:5]]:
        print(f"    {line[:120]}", flush=True)
    quick = max(median.values()) < 1.0
    return not errors and not seen.trouble and after <= 1.2 * before and quick


def _end(server: subprocess.Popen[bytes], patience: float = 60.0) -> float:
    """Seconds from SIGTERM to the server's end; one that does not end is killed."""
    start = time.monotonic()
    server.terminate()
    try:
        server.wait(patience)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
    return time.monotonic() - start


def _settled(process: psutil.Process, before: float, patience: float) -> float:
    """The memory once it is back to within a fifth, or when the patience ends."""
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
    parser.add_argument("--rest", type=float, default=5.0, help="seconds a person looks at it")
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--port", type=int, default=8605)
    given = parser.parse_args()
    held = soak_sessions(given.sessions, given.seconds, given.rest, given.port)
    early, late = soak_runs(given.runs)
    print(f"{given.runs} runs in one process, each on a dataset anew")
    print(f"  memory after a fifth of them     {early:8.0f} MB")
    print(f"  memory after all                 {late:8.0f} MB   {late / early:.2f} of that")
    sys.exit(0 if held and late <= 1.1 * early else 1)


if __name__ == "__main__":
    main()

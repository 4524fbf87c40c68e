"""``make soak``: many sessions at once, then many runs, and the memory after them.

1. Twenty sessions for two minutes on one public server. Each has one of four datasets and values of
   epsilon that no other session has; it types the next one, presses Run where that is needed, and
   waits on the result for a few seconds. They are visitors without a browser (``visitor.py``), so
   that the two cores are the server's. It prints the median time from the key to the page's reply
   and from the press to the result; results that are not those of the same run alone, or a page
   that shows another's settings; errors in the server's log; its memory before, at the end and
   after the sessions have gone.
2. Twenty-four links to datasets of a million rows and twenty columns, opened at once on a public
   server, nothing pressed: the most memory that it and its workers hold, which must stay below the
   container's (``deploy/compose.yaml``).
3. Five hundred runs in one process, each on a separate dataset: its memory after a fifth of them
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
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path

import psutil

from benchmarks.visitor import DATASETS, Seen, Visitor, mixed, visitors
from benchmarks.written import put
from engine import load_dataset, run
from pages import mode

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "research" / "speed.md"
TROUBLE = ("Traceback", "ERROR", "WebSocketClosed", "Exception")
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "chromium-headless-shell")
KEPT = 120.0  # seconds for which Streamlit keeps the session of a browser that has gone
FOLLOWS = 12.0  # seconds more until a visitor's session has let the old ones go


# Sessions ---------------------------------------------------------------------------


def resident(process: psutil.Process) -> float:
    """Megabytes of memory that a process and its children hold."""
    family = [process, *process.children(recursive=True)]
    return float(sum(p.memory_info().rss for p in family if p.is_running()) / 1e6)


def chromium_path() -> str | None:
    """A Chromium on this machine, if there is one."""
    return next(filter(None, map(shutil.which, CHROMIUM)), None)


@contextmanager
def served(port: int, log: Path, folder: str) -> Iterator[psutil.Process]:
    """A separate server; its log and its studies in a folder that goes away."""
    shutil.copytree(ROOT / ".streamlit", Path(folder) / ".streamlit")  # served as it is by make app
    words = [sys.executable, str(ROOT / "scripts" / "serve.py"), "--server.headless", "true"]
    with log.open("wb") as out:
        server = subprocess.Popen(
            [*words, "--server.address", "127.0.0.1", "--server.port", str(port)],
            cwd=folder,
            stdout=out,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONPATH": str(ROOT), mode.PUBLIC: "1"},
        )
    try:
        until(server, lambda: answers(f"http://127.0.0.1:{port}"), 60.0)
        yield psutil.Process(server.pid)
    finally:
        print(f"  seconds until the server ended   {_end(server):8.1f}")


def answers(url: str) -> bool:
    """Whether a server there says that it is well."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{url}/_stcore/health", timeout=2):
            return True
    except OSError:
        return False


def until(process: subprocess.Popen[bytes], ready: Callable[[], bool], seconds: float) -> None:
    """Wait until it is ready, and for no longer than this."""
    end = time.monotonic() + seconds
    while not ready():
        if process.poll() is not None or time.monotonic() > end:
            raise SystemExit(f"The server ended, or took more than {seconds:g} s to start.")
        time.sleep(0.02)


Numbers = dict[str, float]  # what of a soak goes into the document's table, by its words


def come(url: str, sessions: int, seconds: float, rest: float) -> Seen:
    """So many visitors for so long; each looks at a result for ``rest`` seconds."""
    seen = Seen()
    asyncio.run(visitors(url, range(sessions), seconds, rest, seen))
    return seen


def soak_sessions(
    sessions: int, seconds: float, rest: float, port: int, kept: float = KEPT
) -> tuple[bool, Numbers]:
    """Run section 1; return whether all limits were kept, and the measurements.

    ``kept`` are the seconds that the server gets to let its sessions go.
    """
    url = f"http://127.0.0.1:{port}"
    print(f"{sessions} sessions for {seconds:.0f} s, {rest:g} s between")
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        with served(port, log, folder) as server:
            come(url, len(DATASETS), 1, 0)  # caches filled
            before, spent = resident(server), cpu_seconds(server)
            seen = come(url, sessions, seconds, rest)
            highest, spent = resident(server), cpu_seconds(server) - spent
            after = _settled(server, before, kept)
            if kept and after > 1.2 * before:  # old sessions are let go when the next one ends
                come(url, 1, 1, 0)
                after = _settled(server, before, FOLLOWS)
        errors = [line for line in log.read_text().splitlines() if any(t in line for t in TROUBLE)]
    count = len(seen.replies) + seen.presses
    print(
        f"  server's CPU seconds an interaction  {spent / max(1, count):8.3f}   ({count} of them)"
    )
    print(f"  server's memory: before          {before:8.0f} MB")
    print(f"    when the sessions end          {highest:8.0f} MB")
    print(f"    once they are forgotten        {after:8.0f} MB   {after / before:.2f} of before")
    quick = _times(seen)
    trouble = [*seen.trouble, *mixed(seen)]
    print(f"  errors in the log                {len(errors):8d}")
    print(f"  trouble, results that are mixed  {len(trouble):8d}")
    for line in [*errors[:5], *trouble[:5]]:
        print(f"    {line[:120]}", flush=True)
    held = not errors and not trouble and (after <= 1.2 * before or not kept)
    return held and quick, {
        **_numbers(seen),
        "server, CPU-s an interaction": spent / max(1, count),
        "server's memory before, MB": before,
        "at the end, MB": highest,
        "errors, trouble, mixed results": float(len(errors) + len(trouble)),
    }


def _numbers(seen: Seen) -> Numbers:
    """Medians and nine in ten of what visitors without a browser waited for."""
    found: Numbers = {}
    for name, times in (("key to reply", seen.replies), ("press to result", seen.answers)):
        if times:
            found[f"{name}, median s"] = statistics.median(times)
            found[f"{name}, nine in ten below s"] = sorted(times)[int(0.9 * len(times))]
    return found


def spread(soaks: Sequence[Numbers]) -> str:
    """A table: each number's median over the soaks, the least and the most."""
    lines = [f"| median of {len(soaks)} runs | | least | most |", "|---|---:|---:|---:|"]
    for name in soaks[0]:
        values = sorted(one[name] for one in soaks if name in one)
        three = (statistics.median(values), values[0], values[-1])
        lines.append(f"| {name} | " + " | ".join(f"{v:.3g}" for v in three) + " |")
    return "\n".join(lines)


def _times(seen: Seen) -> bool:
    """Print how long answers took; whether both medians are below a second."""
    both = {"key to reply": seen.replies, "press to result": seen.answers}
    for name, times in {"address to page": seen.firsts, **both}.items():
        if times:
            tenth = sorted(times)[int(0.9 * len(times))]
            words = f"{statistics.median(times):.2f} s, nine in ten below {tenth:.2f} s"
            print(f"  from {name:16} median {words} ({len(times)})")
    return all(statistics.median(times) < 1.0 for times in both.values() if times)


def cpu_seconds(process: psutil.Process) -> float:
    """Return the CPU seconds that the process has used so far."""
    used = process.cpu_times()
    return float(used.user + used.system)


def _end(server: subprocess.Popen[bytes], seconds: float = 60.0) -> float:
    """Seconds from SIGTERM to the server's end; one that does not end is killed."""
    start = time.monotonic()
    server.terminate()
    try:
        server.wait(seconds)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
    return time.monotonic() - start


def _settled(process: psutil.Process, before: float, seconds: float) -> float:
    """The memory once it is back to within a fifth, or after ``seconds``."""
    until = time.monotonic() + seconds
    while (now := resident(process)) > 1.2 * before and time.monotonic() < until:
        time.sleep(1)
    return now


# Links ------------------------------------------------------------------------------

LIMIT = 4_000.0  # MB: mem_limit of deploy/compose.yaml
LINK = "data=sem&sem_nodes=20&n=1000000&sample={}"


def soak_links(links: int, seconds: float, port: int) -> bool:
    """Section 2; whether the memory stayed below the container's."""
    url, highest = f"http://127.0.0.1:{port}", [0.0, 0.0]

    async def look(server: psutil.Process) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            held = float(server.memory_info().rss / 1e6), resident(server)
            highest[:] = map(max, highest, held)
            await asyncio.sleep(0.2)

    async def all_of_them(server: psutil.Process) -> None:
        async with AsyncExitStack() as stack:
            come = [Visitor(url, "run", LINK.format(k)) for k in range(links)]
            await asyncio.gather(*map(stack.enter_async_context, come))
            await look(server)

    with (
        tempfile.TemporaryDirectory() as folder,
        served(port, Path(folder) / "log", folder) as server,
    ):
        asyncio.run(all_of_them(server))
    print(f"{links} links to a million rows of 20 columns, open for {seconds:.0f} s")
    print(f"  most memory: the server          {highest[0]:8.0f} MB")
    print(f"    with its workers               {highest[1]:8.0f} MB   of {LIMIT:.0f}")
    return highest[1] < LIMIT


# Runs -------------------------------------------------------------------------------


def soak_runs(runs: int) -> tuple[float, float]:
    """Megabytes held after a fifth of the runs and after all; every run has a new dataset."""
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
    """Print all sections; status 1 where something did not hold."""
    parser = argparse.ArgumentParser(description="Many sessions, many runs")
    parser.add_argument("--sessions", type=int, default=20, help="visitors without a browser")
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--rest", type=float, default=5.0, help="seconds between steps of a visit")
    parser.add_argument("--links", type=int, default=24, help="to large datasets")
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=1, help="soaks, for their spread")
    parser.add_argument("--write", action="store_true", help="their spread into the document")
    parser.add_argument("--port", type=int, default=8605)
    given = parser.parse_args()
    crowd = given.sessions, given.seconds, given.rest, given.port
    held = True
    soaks: list[Numbers] = []
    for left in reversed(range(given.repeats)):  # the last one waits for its memory to come back
        one, numbers = soak_sessions(*crowd, 0.0 if left else KEPT)
        held, soaks = held and one, [*soaks, numbers]
    print(table := spread(soaks))
    if given.write:
        put(PAGE, "benchmarks.soak", table)
    held = soak_links(given.links, given.seconds, given.port) and held
    early, late = soak_runs(given.runs)
    print(f"{given.runs} runs in one process, each on a new dataset")
    print(f"  memory after a fifth of them     {early:8.0f} MB")
    print(f"  memory after all                 {late:8.0f} MB   {late / early:.2f} of that")
    sys.exit(0 if held and late <= 1.1 * early else 1)


if __name__ == "__main__":
    main()

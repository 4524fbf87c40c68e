"""What watching costs: ``python -m benchmarks.watched``; Chromium against a server of its own.

One table, dataset by algorithm: the run's own seconds on the command line and while the Run page
watches it, their ratio; the seconds of the whole process on the command line beside those from the
click to the result on screen; and how long a cancelled run takes to stop. Both sides start with
nothing counted: every algorithm gets a sample of its own. A last table does the same for a study.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Page, sync_playwright

from engine import ALGORITHMS
from engine.data.networks import NETWORKS
from engine.studies.tune import EPSILONS

ROOT = Path(__file__).resolve().parent.parent
ARGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")
ROWS = 100_000
CANCEL_FROM = 1.5  # seconds; shorter runs have ended before a hand reaches the button
CANCEL_AFTER = 1.2  # seconds from the click on Run to that on Cancel


@contextmanager
def server(port: int) -> Iterator[str]:
    """The app as ``make app`` starts it, in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / ".streamlit", Path(folder) / ".streamlit")
        command = [sys.executable, str(ROOT / "scripts" / "serve.py")]
        command += ["--server.address", "127.0.0.1", "--server.port", str(port)]
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            yield _healthy(f"http://127.0.0.1:{port}")
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(10)


def answers(url: str) -> bool:
    """Whether a server there says that it is well."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{url}/_stcore/health", timeout=2):
            return True
    except OSError:
        return False


def _healthy(url: str) -> str:
    for _ in range(300):
        if answers(url):
            return url
        time.sleep(0.2)
    raise SystemExit("The server did not start.")


def free_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def on_command_line(
    name: str, key: str, sample: int, patience: float
) -> tuple[float, float] | None:
    """(the run's own seconds, those of the whole process); None if it outlasts the patience.

    Raises ValueError with the command's sentence where the algorithm is not for these data.
    """
    start = time.monotonic()
    command = [sys.executable, "-m", "engine", "run", "--dataset", name, "--algorithm", key]
    command += ["--data-seed", str(sample), "--json"]
    try:
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, timeout=patience, check=False, text=True
        )
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        raise ValueError(done.stderr.strip())
    return float(json.loads(done.stdout)["seconds"]), time.monotonic() - start


def rest(page: Page, patience: float = 600.0) -> None:
    """Until no run goes on and the page is drawn."""
    page.locator(".st-key-progress").wait_for(state="detached", timeout=patience * 1000)
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')


def prepare(page: Page, name: str, key: str, sample: int) -> None:
    """A session whose form asks for the run, with nothing of its data drawn yet."""
    page.goto(f"/run?data={name}&sample={sample}&n=2000&algorithm=pc&max_order=0")
    page.locator(".st-key-run-algorithm").wait_for(timeout=120_000)
    rest(page)
    if key != "pc":
        choice = page.locator(".st-key-run-algorithm input")
        choice.click()
        choice.fill(ALGORITHMS[key].title)
        choice.press("Enter")
    else:  # without the limit that made the first run short
        page.locator(".st-key-param-more summary").click()
        order = page.locator(".st-key-param-max_order input")
        order.click()
        order.fill("auto")
        order.press("Enter")
    page.get_by_text("Settings changed").wait_for(timeout=60_000)
    rest(page)
    entry = page.locator(".st-key-run-n input")
    entry.fill(f"{ROWS}")
    entry.press("Enter")
    time.sleep(0.5)
    rest(page)


def press(page: Page) -> float:
    """Click Run; the time of the click."""
    start = time.monotonic()
    page.locator(".st-key-run button").click()
    return start


def watched(page: Page, key: str) -> tuple[float, float]:
    """(the run's own seconds, seconds from the click to the result on screen)."""
    start = press(page)
    page.get_by_text("Settings changed").wait_for(state="detached", timeout=60_000)
    rest(page)
    clicked = time.monotonic() - start
    with page.expect_download() as waiting:
        page.get_by_role("tab", name="Download and share").click()
        page.locator(".st-key-get-json button").click()
    record: dict[str, Any] = json.loads(Path(waiting.value.path()).read_text(encoding="utf-8"))
    if (record["algorithm"], record["n"]) != (key, ROWS):
        raise SystemExit(f"Another run is on screen: {record['algorithm']}, n = {record['n']}.")
    return float(record["seconds"]), clicked


def cancelled(page: Page) -> float | None:
    """Seconds from the click on Cancel until the page shows no run; None if there was no time."""
    press(page)
    try:
        page.get_by_role("button", name="Cancel").wait_for(timeout=4_000)
        time.sleep(CANCEL_AFTER - 0.7)
        start = time.monotonic()
        page.get_by_role("button", name="Cancel").click(timeout=1_000)
    except Exception:  # it had ended
        return None
    page.locator(".st-key-progress").wait_for(state="detached", timeout=60_000)
    return time.monotonic() - start


def table(page: Page, name: str, keys: list[str], patience: float) -> None:
    """One line an algorithm."""
    print(f"{name.capitalize()}, n = 100,000, defaults, seconds", flush=True)
    titles = ("alone", "watched", "ratio", "process", "click", "cancel")
    print(f"  {'':16}" + "".join(f"{title:>9}" for title in titles))
    for k, key in enumerate(keys, 1):
        try:
            found = on_command_line(name, key, k, patience)
        except ValueError as error:
            print(f"  {key:16}  {error}", flush=True)
            continue
        if found is None:
            print(f"  {key:16}  over {patience:.0f} s on the command line", flush=True)
            continue
        alone, process = found
        prepare(page, name, key, k)
        seconds, click = watched(page, key)
        stop = None
        if seconds > CANCEL_FROM:
            prepare(page, name, key, 100 + k)
            stop = cancelled(page)
        word = "–" if stop is None else f"{stop:.2f}"
        print(
            f"  {key:16}{alone:9.2f}{seconds:9.2f}{seconds / alone:9.2f}{process:9.2f}"
            f"{click:9.2f}{word:>9}",
            flush=True,
        )


STUDY_OF, STUDY_BY = "asia", ("priv_pc", "svt_pc", "em_pc")
SEEDS = 50  # long enough for starting up to matter little


def study(page: Page) -> None:
    """Seconds of a study of short runs, by the clock, on the command line and while watched.

    Both include starting up: of a process there, of the worker here.
    """
    command = [sys.executable, "-m", "engine", "sweep", "--dataset", STUDY_OF]
    command += ["--algorithm", ",".join(STUDY_BY), "--seeds", str(SEEDS), "--json"]
    command += ["--epsilon", ",".join(map(str, EPSILONS))]
    start = time.monotonic()
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    alone = time.monotonic() - start
    query = {
        "data": STUDY_OF,
        "n": ROWS,
        "study.seeds": SEEDS,
        "study.others": ",".join(STUDY_BY[1:]),
    }
    page.goto("/study?" + urlencode(query))
    page.locator(".st-key-study-find button").wait_for(timeout=120_000)
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')
    start = time.monotonic()
    page.locator(".st-key-study-find button").click()
    total = SEEDS * len(EPSILONS) * len(STUDY_BY)
    page.get_by_text("Figures and files").wait_for(timeout=600_000)
    seconds = time.monotonic() - start
    print(f"Study of {total:,} runs on {STUDY_OF}, seconds by the clock")
    print(f"  alone {alone:.1f}, watched {seconds:.1f}, ratio {seconds / alone:.2f}", flush=True)


def main() -> None:
    """Both datasets, and a study."""
    parser = argparse.ArgumentParser(description=__doc__.split(";")[0])
    parser.add_argument("--datasets", nargs="*", default=["asia", "alarm"], choices=NETWORKS)
    parser.add_argument("--algorithms", nargs="*", default=list(ALGORITHMS), choices=ALGORITHMS)
    parser.add_argument("--patience", type=float, default=120.0, help="seconds a run may take")
    parser.add_argument("--port", type=int, default=0)
    args = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with server(args.port or free_port()) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(ARGS))
        page = browser.new_context(
            base_url=url, viewport={"width": 1440, "height": 1000}
        ).new_page()
        for name in args.datasets:
            table(page, name, args.algorithms, args.patience)
        study(page)
        browser.close()


if __name__ == "__main__":
    main()

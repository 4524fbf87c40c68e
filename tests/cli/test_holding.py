"""What ends a command from outside: one sentence, status 2 or 130, finished runs kept."""

import os
import re
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LONG_RUN = ("run", "--dataset", "child", "--algorithm", "noleaks", "--gradients", "5000")
SWEEP = ("sweep", "--dataset", "cancer,asia", "--n", "150000", "--algorithm", "noleaks")
SWEEP += ("--seeds", "200")


def begun(*words, code=None, limit=None, **environment):
    """A command in a process group of its own; ``limit`` bounds the bytes of a file it writes."""
    words = ("-c", code) if code else ("-m", "engine", *words)

    def before():
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    return subprocess.Popen(
        [sys.executable, *words],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=before,
    )


def ended(process, within=40):
    """Exit status, standard error without progress, and output of a command that ends by itself."""
    try:
        out, said = process.communicate(timeout=within)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    return process.returncode, re.sub(r"(?m)^(\d+/\d+ runs|import time:).*\n", "", said), out


def one_sentence(said):
    """One line that ends a sentence."""
    return re.fullmatch(r"[^\n]+\.\n", said) is not None


def rows(path):
    """Results in a store that another process is writing."""
    try:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as reader:
            return int(reader.execute("SELECT count(*) FROM trials").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


@pytest.mark.parametrize(
    ("number", "module", "after"),
    [(signal.SIGINT, "numpy", 0.0), (signal.SIGTERM, "engine.score.descent", 0.5)],
)
def test_a_run_is_stopped(number, module, after):
    """While it imports, or while it works: Python says what it has imported."""
    process = begun(*LONG_RUN, PYTHONPROFILEIMPORTTIME="1")
    assert any(line.split()[-1] == module for line in process.stderr)
    time.sleep(after)
    os.killpg(process.pid, number)
    status, said, _ = ended(process)
    assert status == 130
    assert one_sentence(said)
    assert said.startswith(("Cancelled", "Stopped"))


def test_a_thread_that_an_interrupt_cuts_off_says_nothing():
    code = "import threading; from engine.cli.interrupts import ignore_signals; ignore_signals(); "
    code += "threading.Thread(target=[].pop).start()"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True)
    assert done.stderr == b""


def test_a_sweep_is_stopped(tmp_path):
    path = tmp_path / "s.db"
    process = begun(*SWEEP, "--out", str(path))
    until = time.monotonic() + 40
    while rows(path) < 2 and time.monotonic() < until:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    status, said, out = ended(process)
    assert (status, said) == (130, f"Stopped; finished runs are kept in {path}.\n")
    assert out.startswith("dataset")
    assert 2 <= rows(path) < 400


def test_an_interrupt_breaks_into_no_lock(tmp_path):
    """Twice while the conditions of all runs are taken: raised there, they would stay taken.

    And once more, while it ends. The table travels through a pipe: a disk without room is no
    matter, and holds no rows.
    """
    path, folder, pressed = tmp_path / "s.db", tmp_path / "temporary", tmp_path / "pressed"
    folder.mkdir()
    code = f"""if True:
        import os, signal, sys, time
        from concurrent.futures import _base
        from joblib.externals.loky.process_executor import _ExecutorManagerThread as Manager
        from engine import __main__ as line
        from engine.studies.store import ResultStore
        enter, put, kept = _base._AcquireFutures.__enter__, ResultStore.put, []
        press = lambda: (*map(signal.raise_signal, (2, 2)), os.killpg(0, 2), open("{pressed}", "w"))
        _base._AcquireFutures.__enter__ = lambda all: (enter(all), len(kept) > 1 and press())
        came = Manager.process_result_item  # the pool ends before it has seen the next batch
        Manager.process_result_item = lambda pool, result: (came(pool, result), time.sleep(0.4))
        ResultStore.put = lambda store, results: (put(store, results), kept.extend(results))
        sys.argv[1:] = {[*SWEEP, "--workers", "2", "--out", str(path)]}
        sys.exit(line.script())
    """
    process, large = begun(code=code, TMPDIR=str(folder)), set()
    until = time.monotonic() + 40
    while not pressed.exists() and time.monotonic() < until:
        time.sleep(0.02)
        large |= {p for p in folder.rglob("*") if p.is_file() and p.stat().st_size > 1000}
    assert not large
    os.killpg(process.pid, signal.SIGINT)
    status, said, _ = ended(process, within=8)  # of which the machine's other work may take most
    assert (status, said[:8], one_sentence(said)) == (130, "Stopped;", True)
    assert 2 <= rows(path) < 400


def test_a_sweep_is_stopped_in_its_first_second(tmp_path):
    process = begun(*SWEEP, "--workers", "2", "--out", str(tmp_path / "s.db"))
    time.sleep(0.4)
    os.killpg(process.pid, signal.SIGINT)
    status, said, _ = ended(process)
    assert status == 130
    assert one_sentence(said)


def test_nothing_swallows_a_signal_while_modules_are_read():
    """What modules catch, and what compiled code prints, is not asked."""
    code = """if True:
        import os, signal
        from engine.cli.interrupts import end_on_signals, modules_are_read
        end_on_signals()
        with modules_are_read("Stopped."):
            try:
                os.kill(os.getpid(), signal.SIGINT)
            except BaseException:
                print("swallowed")
        print("went on")
    """
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "Stopped.\n")


def test_a_full_disk_keeps_what_was_written(tmp_path):
    """No file may pass 100 kB: SQLite's side file gets there after some dozens of runs."""
    path = tmp_path / "s.db"
    process = begun(
        *("sweep", "--dataset", "asia", "--n", "2000", "--algorithm", "priv_pc", "--seeds", "400"),
        *("--out", str(path)),
        limit=100_000,
    )
    status, said, _ = ended(process)
    assert status == 2
    assert one_sentence(said)
    assert str(path) in said
    assert rows(path) > 5

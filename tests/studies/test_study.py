"""sweep(): the same cells everywhere, resumed after a kill, cancelled, estimated."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import asdict
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from joblib.externals.loky import reusable_executor

from engine import Dataset, InputError, load_dataset, sweep
from engine.studies import study as module
from engine.studies.store import ResultStore
from engine.studies.study import TimeLeft, estimate
from engine.studies.trial import Trial, TrialResult, study_of

ROOT = Path(__file__).resolve().parents[2]
GRID = {"epsilon": [0.5, 5.0], "delta": 1e-3, "guarantee": "published"}
NAMES = ("asia", "cancer")
KEYS = ["priv_pc", "pc"]


@pytest.fixture(scope="module")
def datasets():
    return [load_dataset(name, n=3000) for name in NAMES]


@pytest.fixture(scope="module")
def expected(datasets):
    return _fixed(sweep(datasets, KEYS, GRID, 3))


def _fixed(results):
    return sorted(r.fixed() for r in results)


def test_the_grid_is_complete_and_a_parameter_skips_who_lacks_it(datasets):
    cells = study_of(datasets, KEYS, GRID, 3).trials
    assert len(cells) == 2 * (2 + 1) * 3  # pc has no epsilon
    assert len({c.key for c in cells}) == len(cells)
    assert [c.fingerprint for c in cells] == sorted(
        (c.fingerprint for c in cells), key=[d.fingerprint for d in datasets].index
    )


def test_results_do_not_depend_on_the_order_of_the_study(datasets, expected):
    turned = {**GRID, "epsilon": GRID["epsilon"][::-1]}
    assert _fixed(sweep(datasets[::-1], KEYS[::-1], turned, [2, 1, 0])) == expected


def test_worker_processes_give_the_same_cells_also_where_one_is_killed(datasets, expected):
    results = sweep(datasets, KEYS, GRID, 3, executor="processes", workers=2)
    first = next(results)
    os.kill(next(iter(reusable_executor._executor._processes)), signal.SIGKILL)
    assert _fixed([first, *results]) == expected


def test_a_dataset_is_sent_only_to_a_worker_that_has_not_met_it(monkeypatch):
    """Of forty batches, each of one trial."""
    sent, submit = list[bool](), module._Pool.submit

    def seen(pool, batch, data=None):
        sent.append(data is not None)
        submit(pool, batch, data)

    monkeypatch.setattr(module._Pool, "submit", seen)
    monkeypatch.setattr(module, "BATCH_SECONDS", 0.0)
    new = load_dataset("cancer", n=701)
    assert len(list(sweep(new, "pc", None, 40, executor="processes", workers=2))) == 40
    assert 1 <= sum(sent) < 20


def test_a_refusal_inside_a_run_names_the_cell(datasets):
    no_truth = Dataset.from_codes(datasets[1].codes, name="mine")
    for executor in ("serial", "processes"):
        with pytest.raises(InputError, match=r"^pc on mine"):
            list(sweep(no_truth, "pc", {"statistic": "oracle"}, 1, executor=executor))
    assert not reusable_executor._executor._flags.shutdown  # the next study has its workers


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A Dask cluster of one worker."""
    distributed = pytest.importorskip("distributed")
    import dask

    # Its nanny looks for the scheduler that a test ends.
    soon = dask.config.set({"distributed.comm.timeouts.connect": "1s"})
    with (
        soon,
        distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            dashboard_address=None,
            local_directory=tmp_path_factory.mktemp("dask"),
        ) as started,
    ):
        yield started


def test_a_dask_cluster_gives_the_same_rows_and_its_end_is_one_sentence(cluster, tmp_path, caplog):
    """Also where its worker is killed at work."""
    study = NAMES, "noleaks", {"gradients": 100}, 4
    results = sweep(*study, executor=cluster.scheduler_address)
    first = next(results)
    os.kill(cluster.workers[0].pid, signal.SIGKILL)
    assert _fixed([first, *results]) == _fixed(sweep(*study))

    # Without a scheduler: the same command continues.
    store, address = tmp_path / "s.db", cluster.scheduler_address
    slow = sweep("asia", "noleaks", {"gradients": 1000}, 200, store=store, executor=address)
    next(slow)
    caplog.clear()
    cluster.sync(cluster.scheduler.close)
    with pytest.raises(InputError, match=r"^The Dask scheduler .* the same command continues"):
        list(slow)
    assert _rows(store) >= 1
    assert not [r for r in caplog.records if r.name == "distributed.client"]


def test_cells_are_shared_through_a_store(datasets, tmp_path):
    path, seen = tmp_path / "s.db", []
    first = _fixed(sweep(datasets, "priv_pc", GRID, 2, store=path))
    wider = sweep(datasets, KEYS, GRID, 3, store=path, on_progress=lambda *told: seen.append(told))
    assert set(first) <= set(_fixed(wider))
    shares, phrases = zip(*seen, strict=True)
    assert shares == tuple(k / len(seen) for k in range(1, len(seen) + 1))
    assert phrases[-1].startswith(f"{len(seen)} of {len(seen)} runs")
    assert phrases[-1].endswith(f", {len(first)} from the store")


@pytest.mark.parametrize("executor", ["serial", "processes"])
def test_a_stop_and_an_abandoned_iterator_keep_what_is_finished(executor, datasets, tmp_path):
    done = []
    with ResultStore(tmp_path / "s.db") as store:
        how = {"store": store, "executor": executor, "workers": 2}
        done += sweep(datasets, KEYS, GRID, 40, stop=lambda: len(store) >= 5, **how)
        assert 5 <= len(done) < 240
        assert {r.status for r in done} == {"complete"}
        results = sweep(datasets, KEYS, GRID, 40, store=store)
        done = list(islice(results, len(done) + 4))
        del results
        assert [store.get(r) for r in done] == done


EPSILONS = [0.03, 0.1, 0.3, 1.0, 2.0, 5.0]
# What is asked for takes many seconds, so that it is met alive; what is resumed less.
SEEDS, RESUMED = 100, 3
RUNS = SEEDS * len(EPSILONS)
UNGUARDED = f"""
from engine import load_dataset, sweep
data, grid = load_dataset("asia", n=10_000), {{"epsilon": {EPSILONS}, "guarantee": "published"}}
list(sweep(data, "priv_pc", grid, {SEEDS}, store="s.db", executor="processes", workers=2))
"""


def _resumed(path):
    """Its first seeds in this process, from what is in the store on."""
    grid = {"epsilon": EPSILONS, "guarantee": "published"}
    return _fixed(sweep(load_dataset("asia", n=10_000), "priv_pc", grid, RESUMED, store=path))


def _rows(path):
    """How many finished runs a store holds."""
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
            return connection.execute("SELECT count(*) FROM trials").fetchone()[0]
    except sqlite3.Error:
        return 0


def test_a_study_killed_half_way_resumes_to_the_same_rows(tmp_path):
    """The script has no guard: if workers imported the program's main module, it would end."""
    path = tmp_path / "s.db"
    (tmp_path / "mine.py").write_text(UNGUARDED)
    words, environment = [sys.executable, "mine.py"], {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(words, cwd=tmp_path, env=environment, start_new_session=True)
    give_up = time.monotonic() + 60
    while _rows(path) < 15 and process.poll() is None and time.monotonic() < give_up:
        time.sleep(0.02)  # the first seed's runs come first
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert 15 <= _rows(path) < RUNS
    _wait_for_group(process.pid)
    with ResultStore(path) as store:
        kept = set(_fixed(store.results()))
    wanted = _resumed(None)
    assert kept & set(wanted)
    assert _resumed(path) == wanted
    with ResultStore(path) as store:
        assert set(_fixed(store.results())) == kept | set(wanted)


def _wait_for_group(number):
    """No worker outlives a killed parent for long."""
    give_up = time.monotonic() + 20
    while time.monotonic() < give_up:
        try:
            os.killpg(number, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    os.killpg(number, signal.SIGKILL)
    pytest.fail("worker processes outlived their killed parent by 20 s")


def test_an_estimate_is_near_what_a_study_takes(tmp_path):
    """Both are the shortest of four: one run of a probe may stand still for other processes."""
    data, times, guesses = load_dataset("cancer", n=5_000), [], []
    for number in range(4):
        guesses.append(estimate(data, "priv_pc", GRID, 30))
        start = time.perf_counter()
        list(sweep(data, "priv_pc", GRID, 30, store=tmp_path / f"{number}.db"))
        times.append(time.perf_counter() - start)
    assert {(guess.total, guess.done) for guess in guesses} == {(60, 0)}
    assert min(times) / 5 < min(guess.left or 0.0 for guess in guesses) < min(times) * 5
    again = estimate(data, "priv_pc", GRID, 40, store=tmp_path / "0.db")
    assert (again.done, again.reused, again.total) == (60, 60, 80)
    guess = estimate(load_dataset("alarm", n=2_000), "priv_pc", GRID, 30, patience=0.2)
    assert (guess.left or 0.0) > 0.2


@pytest.mark.parametrize(
    "arguments",
    [
        {"datasets": "asai"},
        {"datasets": []},
        {"algorithms": "priv_cp"},
        {"algorithms": []},
        {"parameters": {"epsilom": [1.0]}},
        {"parameters": {"epsilon": [1.0, -1.0]}},
        {"parameters": {"epsilon": []}},
        {"seeds": 0},
        {"seeds": [-1]},
        {"seeds": 2.5},
        {"executor": "threads"},
        {"executor": "tcp://127.0.0.1:9"},
        {"executor": "processes", "workers": 0},
    ],
)
def test_what_does_not_fit_is_one_sentence(arguments, monkeypatch):
    # nobody answers at the address, which is as plain after a tenth of a second as after five
    monkeypatch.setattr(module, "CONNECT_SECONDS", 0.1)
    given = {"datasets": "cancer", "algorithms": "pc", **arguments}
    with pytest.raises(InputError) as caught:
        list(sweep(**given))
    assert "\n" not in str(caught.value)


# How long a study will still take -------------------------------------------------------


def plain(trial, rng):
    """An Asia run takes a hundredth of an Alarm run."""
    return {"asia": 0.02, "alarm": 2.0}[trial.dataset]


def by_epsilon(trial, rng):
    """A hundred times from the least epsilon to the most."""
    return plain(trial, rng) * float(trial.values["epsilon"]) ** (2 / 3)


def by_luck(trial, rng):
    """Runs of one setting differ by half and more."""
    return plain(trial, rng) * float(rng.lognormal(0, 0.4))


@pytest.mark.parametrize("load", [1.0, 5.0])
@pytest.mark.parametrize("length", [plain, by_epsilon, by_luck])
def test_after_an_eighth_the_time_left_is_known(length, load):
    """On a wall clock that goes by ``load`` times as fast as the work, with two workers."""
    epsilons = [0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0]
    trials = [
        Trial(name, name, key, json.dumps({"epsilon": epsilon}), seed)
        for name in ("asia", "alarm")
        for seed in range(8)
        for key in ("priv_pc", "em_pc")
        for epsilon in epsilons
    ]
    ordered = sorted(trials, key=lambda trial: trial.seed != 0)  # as a study runs them
    rng, left, at, said = np.random.default_rng(0), TimeLeft(trials), [90.0], []  # workers begin
    blank = dict.fromkeys(TrialResult.__dataclass_fields__)
    for trial in ordered:
        took = length(trial, rng)
        at.append(at[-1] + took * load / 2)
        made = TrialResult(**{**blank, **asdict(trial), "seconds": took})
        left.note(made, fresh=True)
        said.append(left.seconds(at[-1]))
    known = [
        value / (at[-1] - at[done])
        for done, value in enumerate(said, 1)
        if 0.15 <= done / len(trials) < 0.9 and value is not None
    ]
    assert len(known) > 100
    assert 0.5 < min(known) <= max(known) < 2.0, (min(known), max(known))


def test_the_first_seed_of_everything_comes_first(datasets):
    started = sweep(datasets, KEYS, GRID, 3)
    wanted = [(name, s) for seeds in ([0], [1, 2]) for name in NAMES for s in seeds for _ in "abc"]
    assert [(trial.dataset, trial.seed) for trial in started] == wanted

"""One monitor: what long work reports, how it is stopped, and the names that both had before."""

import threading

import pytest

from engine import Budget, InputError, Schema, load_dataset, plan, run, sweep
from engine.audit.cases import audit, cases
from engine.monitor import Cancelled, Monitor
from engine.release.budget import VARIABLE
from engine.release.checking import attack_release
from engine.studies.detectability import Shape
from engine.studies.repeat import invented
from engine.studies.scenes import make_scene
from engine.studies.tune import tune


def test_a_monitor_hears_events_and_functions_and_stops_in_time(monkeypatch):
    event, now = threading.Event(), [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    monitor = Monitor(stop=event)
    part = monitor.within(5.0)
    assert [monitor.stopped(), part.stopped()] == [False, False]
    now[0] = 6.0
    assert part.stopped()
    assert not monitor.stopped()
    event.set()
    with pytest.raises(Cancelled):
        monitor.check()
    for wrong in ({"stop": 5}, {"progress": lambda share: None}):
        with pytest.raises(InputError, match=r"whether to stop|a share and a phrase"):
            Monitor(**wrong)


def test_runs_that_take_alike_are_counted(monkeypatch):
    told, now = [], [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    count = Monitor(lambda *values: told.append(values)).counted(3)
    for now[0] in (2.0, 4.0, 6.0):
        count()
    assert told == [
        (1 / 3, "1 of 3 runs, about 4 s left"),
        (2 / 3, "2 of 3 runs, about 2 s left"),
        (1.0, "3 of 3 runs, about 0 s left"),
    ]


def test_a_run_tells_its_steps():
    told, steps = [], []
    how = {"on_progress": lambda *values: told.append(values), "on_step": steps.append}
    run("priv_pc", ASIA, epsilon=5.0, **how)
    assert len(told) == len(steps) // 20 > 0
    assert told[-1] == (None, f"order {steps[20 * len(told) - 1].order} · {20 * len(told)} steps")


# Earlier names ----------------------------------------------------------------------------

ASIA = load_dataset("asia", n=500)
SMALL = {"rows": 300, "algorithms": "marginal_pc", "epsilon": 1.0, "draws": 1, "empty": 0}
FRAME = ASIA.to_frame().astype(str)[["smoke", "lung", "bronc"]]
SCHEMA = Schema.draft(FRAME).declare(*FRAME.columns)


def paid(**how):
    ward = Budget("ward", epsilon=3, delta=1e-5)
    return ward.release(FRAME, SCHEMA, epsilon=1, **how).release


@pytest.mark.parametrize(
    ("call", "old"),
    [
        (lambda **how: list(sweep("cancer", "pc", seeds=1, **how)), "cancelled"),
        (lambda **how: tune("priv_pc", ASIA, {"epsilon": 1.0}, runs=20, **how), "cancelled"),
        (lambda **how: invented("pc", Shape((2, 2), 100), {}, draws=1, **how), "cancelled"),
        (lambda **how: make_scene(ASIA, ["pc"], [1.0], 1, **how), "cancelled"),
        (lambda **how: make_scene(ASIA, ["marginal_pc"], [1.0], 1, **how), "on_frame"),
        (lambda **how: plan(SCHEMA, **SMALL, **how), "on_step"),
        (lambda **how: audit(cases("marginal_pc")[0], 4, **how), "watch"),
        (lambda **how: attack_release(paid(), proposals=1, **how), "watch"),
        (lambda **how: paid(**how), "on_charged"),
    ],
)
def test_earlier_names_of_a_stop_and_of_progress_warn_and_are_heard(
    call, old, tmp_path, monkeypatch
):
    monkeypatch.setenv(VARIABLE, str(tmp_path / "budgets.db"))
    heard = []

    def told(*values):
        heard.append(values)
        return True

    with pytest.warns(DeprecationWarning, match=f"{old} is called"):
        call(**{old: told})
    assert heard

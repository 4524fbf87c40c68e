"""Work in processes of its own: the same results, stops that are heard, and an end for the deaf."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from engine import InputError, load_dataset, run
from engine.audit.survey import subjects
from engine.registry import algorithm
from engine.serialise import result_dict
from engine.studies.cells import CellResult
from engine.studies.forecast import Question, plan
from engine.studies.price import price_steps
from engine.studies.repeat import Repetition, repeated
from engine.studies.scene import Frame, States, empty_scene, fill
from engine.studies.sweep import sweep
from engine.studies.tuning import Tuned
from pages.host import apart
from pages.host.apart import Workers

Cancelled = Callable[[], bool]


def never() -> bool:
    return False


def pid(*, cancelled: Cancelled) -> int:
    return os.getpid()


def waits(*, cancelled: Cancelled, told: Callable[[str], object]) -> str:
    told("here")
    while not cancelled():
        time.sleep(0.01)
    return "stopped"


def deaf(*, cancelled: Cancelled) -> None:
    time.sleep(60)


def dies(*, cancelled: Cancelled) -> None:
    os._exit(3)


def refuses(*, cancelled: Cancelled) -> None:
    raise InputError("No.")


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    made = apart.begin(1)
    yield made
    apart._WORKERS = None
    for worker in made._idle:
        worker.end()


def searched(workers: Workers, data: object, seed: int | None) -> tuple[object, list[int]]:
    steps: list[int] = []
    result = apart.call(
        apart.searched,
        *("priv_pc", seed, {"epsilon": 1.0}),
        data=data,
        stopped=never,
        notes={"noted": lambda order, count: steps.append(count)},
    )
    return result, steps


def test_a_search_apart_is_the_search_here(workers: Workers) -> None:
    data = load_dataset("child", n=2000)
    assert apart.heavy(data)
    assert not apart.heavy(load_dataset("asia", n=2000))
    found, steps = searched(workers, data, 3)
    alone = run("priv_pc", data, epsilon=1.0, seed=3)
    there, here = (result_dict(r) | {"seconds": 0} for r in (found, alone))
    assert there == here
    assert steps == sorted(steps) != []
    before = workers._idle[0]
    assert before.pack(data) == (data.identity, None)  # it is there already
    again, _ = searched(workers, data, 3)
    assert result_dict(again) | {"seconds": 0} == here
    assert workers._idle == [before]


def test_own_data_are_kept_by_no_process(workers: Workers) -> None:
    own = replace(load_dataset("cancer", n=500), public=False)
    assert apart.heavy(own)
    found, _ = searched(workers, own, None)
    assert found.fingerprint == own.identity
    assert found.seed is None
    assert own.identity not in workers._idle[0].has


def test_a_stop_is_heard_and_the_process_goes_on(workers: Workers) -> None:
    before = workers.call(pid, stopped=never)
    said: list[str] = []
    assert workers.call(waits, stopped=lambda: bool(said), notes={"told": said.append}) == "stopped"
    assert said == ["here"]
    with pytest.raises(InputError, match=r"^No\.$"):
        workers.call(refuses, stopped=never)
    assert workers.call(pid, stopped=never) == before


@pytest.mark.parametrize(("function", "words"), [(deaf, "did not listen"), (dies, "to an end")])
def test_a_process_that_is_lost_is_one_sentence_and_replaced(
    workers: Workers,
    monkeypatch: pytest.MonkeyPatch,
    function: Callable[..., None],
    words: str,
) -> None:
    monkeypatch.setattr(apart, "PATIENCE", 0.3)
    before, lost = workers.call(pid, stopped=never), workers.killed
    start = time.monotonic()
    with pytest.raises(InputError, match=words):
        workers.call(function, stopped=lambda: function is deaf)
    assert time.monotonic() - start < 20
    assert workers.killed == lost + 1
    with pytest.raises(ProcessLookupError):
        os.kill(before, 0)
    assert workers.call(pid, stopped=never) != before


def test_an_idle_process_gives_its_memory_back(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = workers.call(pid, stopped=never)
    monkeypatch.setattr(apart, "IDLE", -1.0)
    workers._end_idle()
    assert workers._idle == []
    with pytest.raises(ProcessLookupError):
        os.kill(before, 0)


def test_plans_and_audits_travel(workers: Workers) -> None:
    notes: list[object] = []
    question = Question(("a", "b", "c"), (("0", "1"),) * 3, 500, 1.0)
    (found,) = apart.call(
        plan,
        *(question, (1.0,), ["priv_pc"]),
        draws=2,
        empty=2,
        stopped=never,
        notes={"on_progress": notes.append},
    )
    assert found.algorithm == "priv_pc"
    assert notes
    watched: list[object] = []
    (subject,) = (s for s in subjects() if s.key == "priv_pc/strict/one cell")
    line = apart.call(
        apart.audited, subject.key, 20, stopped=never, notes={"watch": watched.append}
    )
    assert line.key == subject.key
    assert watched


def test_repetitions_and_their_price_travel(workers: Workers) -> None:
    data = load_dataset("cancer", n=2_000)
    params = {"epsilon": 1.0}
    here = list(repeated("priv_pc", data, params, range(4)))
    there: list[Repetition] = []
    notes = {"made": there.append}
    asked = apart.repetitions, "priv_pc", params, range(4)
    assert apart.call(*asked, data=data, stopped=never, notes=notes) is None
    assert [o.seed for o in there] == [0, 1, 2, 3]
    assert all((a.matrix == b.matrix).all() for a, b in zip(here, there, strict=True))
    built = algorithm("priv_pc").params.build(params)
    steps = apart.call(apart.priced, "priv_pc", built, data=data, stopped=never)
    assert steps == price_steps(data, "priv_pc", built)


def test_a_scene_that_is_filled_apart_is_the_scene_here(workers: Workers) -> None:
    made = [empty_scene(load_dataset("cancer", n=2_000), ["priv_pc"], [1.0], 2) for _ in range(2)]
    fill(made[0])

    def framed(frame: Frame, states: States) -> None:
        made[1].states[frame.algorithm][frame.at, frame.draw] = states

    steps = apart.call(apart.filled, made[1], stopped=never, notes={"framed": framed})
    assert (made[0].states["priv_pc"] == made[1].states["priv_pc"]).all()
    assert steps == made[0].steps


def test_a_search_for_settings_and_a_map_travel(workers: Workers) -> None:
    data = [load_dataset("cancer", n=1_000)]
    told: list[object] = []
    begun: list[int] = []
    options = {"names": ["threshold"], "runs": 20}
    found = apart.call(
        apart.tuned,
        *(data, "priv_pc", 1.0, None, options),
        stopped=lambda: len(told) > 2,
        notes={"begun": lambda: begun.append(1), "noted": lambda *said: told.append(said)},
    )
    assert isinstance(found, Tuned)
    assert len(begun) == 1
    assert told
    cells: list[CellResult] = []
    grid = {"epsilon": 1.0, "guarantee": "strict", "threshold": [0.05, 0.1]}
    apart.call(
        apart.laid_out,
        *(data, "priv_pc", grid, 2),
        stopped=never,
        notes={"made": cells.append, "noted": lambda *said: None},
    )
    assert [c.fixed() for c in cells] == [c.fixed() for c in sweep(data, "priv_pc", grid, 2)]


def test_long_work_leaves_room_for_a_search(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With as many long calls as there may be, a search gets a process and another call waits."""
    monkeypatch.setattr(apart, "LONG", 1)
    monkeypatch.setattr(workers, "most", 2)
    stop, here = threading.Event(), threading.Semaphore(0)

    def long() -> None:
        notes = {"told": lambda _: here.release()}
        workers.call(waits, stopped=stop.is_set, notes=notes, long=True)

    threads = [threading.Thread(target=long) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        assert here.acquire(timeout=60)
        assert workers.call(pid, stopped=never) != os.getpid()
        assert not here.acquire(blocking=False)
    finally:
        stop.set()
        for thread in threads:
            thread.join(60)

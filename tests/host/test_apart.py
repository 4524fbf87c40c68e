"""Work in processes of its own: the same results, stops that are heard, and an end for the deaf."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from engine import InputError, load_dataset, run
from engine.audit.survey import subjects
from engine.serialise import result_dict
from engine.studies.forecast import Question, plan
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

"""What is left of a study, from its own runs: recorded times, with slow parts planted."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine import Dataset, load_dataset, sweep
from engine.studies import tuning
from engine.studies.cells import Cell, CellResult
from engine.studies.timing import Left, looks_first
from engine.studies.tuning import Search

FACTOR = 1.5
FIRST = 5.0  # times as long as others: a dataset's first run, which counts the tables
# Seconds of 435 real runs: engine sweep --dataset asia,sachs,child --n 20000 --seeds 5
# --algorithm pc,priv_pc,em_pc,marginal_pc,curate_pc --epsilon 0.1,0.3,1,3,10,30,100
RECORDED = json.loads(Path(__file__).with_name("seconds.json").read_text())
Length = Callable[[Cell, float, np.random.Generator], float]


def study(length: Length, seed: int = 0) -> tuple[list[Cell], dict[Cell, float]]:
    """The recorded study's cells in a study's order, and how long each takes."""
    rng = np.random.default_rng(seed)
    cells, seconds = [], {}
    for name, draws in RECORDED.items():
        for draw in range(5):
            for key, by_epsilon in draws.items():
                for epsilon, took in by_epsilon.items():
                    params = json.dumps({} if epsilon == "none" else {"epsilon": float(epsilon)})
                    cell = Cell(name, name, key, params, draw, "0")
                    cells.append(cell)
                    seconds[cell] = length(cell, took[draw], rng)
    return cells, seconds


def finished(cell: Cell, cpu: float, seconds: float = math.nan) -> CellResult:
    """A run that took so long, on the processor and on the wall."""
    blank = dict.fromkeys(CellResult.__dataclass_fields__)
    took = {"seconds": cpu if math.isnan(seconds) else seconds, "cpu": cpu}
    return CellResult(**{**blank, **vars(cell), **took})  # type: ignore[arg-type]


Load = Callable[[float], float]  # share of the work that is done -> seconds on the wall for one


def alone(share: float) -> float:
    return 1.0


def ratios(
    cells: list[Cell], seconds: dict[Cell, float], workers: int = 1, load: Load = alone
) -> dict[float, float | None]:
    """Share of cells done -> what is said to be left over what is, on the wall."""
    early, later = looks_first(cells)
    left, said, at = Left(cells), [], [0.0]
    total, worked = sum(seconds.values()), 0.0
    for cell in early + later:
        worked += seconds[cell]
        took = seconds[cell] * load(worked / total)
        at.append(at[-1] + took / workers)
        left.note(finished(cell, seconds[cell], took), fresh=True)
        said.append(left.seconds(at[-1]))
    return {
        done / len(cells): None if told is None else told / (at[-1] - at[done])
        for done, told in enumerate(said, 1)
        if done < len(cells)
    }


def plain(cell: Cell, took: float, rng: np.random.Generator) -> float:
    return took


def one_slow_part(cell: Cell, took: float, rng: np.random.Generator) -> float:
    """The last dataset's EM-PC takes fifty times as long."""
    return took * (50 if (cell.dataset, cell.algorithm) == ("child", "em_pc") else 1)


def by_epsilon(cell: Cell, took: float, rng: np.random.Generator) -> float:
    """A hundred times from the least epsilon to the most."""
    return float(took * cell.values.get("epsilon", 1.0) ** (2 / 3))


def by_luck(cell: Cell, took: float, rng: np.random.Generator) -> float:
    """Runs of one setting differ by half and more."""
    return took * float(rng.lognormal(0, 0.4))


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("length", [plain, one_slow_part, by_epsilon, by_luck])
def test_after_a_tenth_what_is_left_is_known_within_a_factor(length: Length, workers: int) -> None:
    cells, seconds = study(length)
    known = {at: ratio for at, ratio in ratios(cells, seconds, workers).items() if 0.12 <= at < 0.9}
    worst = max(abs(math.log(ratio)) for ratio in known.values() if ratio)
    assert len(known) > 300
    assert math.exp(worst) < FACTOR, math.exp(worst)


def crowded(share: float) -> float:
    """Four others want the same core from beginning to end."""
    return 5.0


def filling(share: float) -> float:
    """The machine was empty while the study began."""
    return 1.0 if share < 0.06 else 4.0


def emptying(share: float) -> float:
    return 4.0 if share < 0.06 else 1.0


def coming_and_going(share: float) -> float:
    """Others' work lasts a hundredth of the study's at a time."""
    return 2.0 + 1.5 * math.sin(2 * math.pi * 50 * share)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("load", [crowded, filling, emptying, coming_and_going])
def test_what_is_left_is_known_on_the_wall_of_a_busy_machine(load: Load, workers: int) -> None:
    """Lengths as recorded, of ten times the rows, on a clock that goes on as the load has it."""
    cells, seconds = study(lambda cell, took, rng: 10 * took)
    known = ratios(cells, seconds, workers, load)
    told = [ratio for at, ratio in known.items() if 0.12 <= at < 0.9 and ratio]
    worst = math.exp(max(abs(math.log(ratio)) for ratio in told))
    assert len(told) > 300
    assert worst < FACTOR, worst


def test_a_tenth_is_looked_at_first_and_touches_every_kind() -> None:
    cells, _ = study(plain)
    early, later = looks_first(cells)
    assert sorted(early + later, key=cells.index) == cells
    groups = {(c.dataset, c.algorithm) for c in cells}
    assert {(c.dataset, c.algorithm) for c in early} == groups
    assert len(early) < 0.13 * len(cells)
    ends = defaultdict(set)
    for cell in early:
        ends[cell.dataset, cell.algorithm].add(cell.values.get("epsilon"))
    assert all({0.1, 100.0} <= found for (_, key), found in ends.items() if key != "pc")


def test_few_cells_on_more_datasets_than_workers_hold_keep_their_order() -> None:
    cells, _ = study(plain)
    few = [c for c in cells if c.seed == 0]  # 29 a dataset
    assert looks_first(few, holds=2) == ([], few)
    assert looks_first(few, holds=3)[0]
    assert looks_first(cells, holds=2)[0]


def test_kept_runs_tell_how_long_their_kind_takes() -> None:
    cells, _ = study(plain)
    left = Left(cells)
    assert left.seconds(0.0) is None
    left.note(finished(cells[0], 7.0), fresh=False)
    left.note(finished(cells[1], 1.0), fresh=True)
    assert cells[0].algorithm == cells[1].algorithm or left.seconds(1.0) is not None


def test_the_run_that_counts_the_tables_is_no_measure_of_the_others() -> None:
    cells, _ = study(plain)
    mine = [c for c in cells if c.algorithm == "priv_pc" and c.dataset == "asia"]
    left = Left(mine)
    left.note(finished(mine[0], 50.0), fresh=True)
    assert left.seconds(50.0) == pytest.approx(50.0 * (len(mine) - 1))  # nothing else is known
    left.note(finished(mine[1], 1.0), fresh=True)
    assert left.seconds(51.0) == pytest.approx(1.0 * (len(mine) - 2))


def test_a_kind_that_nobody_has_seen_is_as_slow_as_the_slowest() -> None:
    cells, _ = study(plain)
    fast, slow, unseen = (
        [c for c in cells if c.algorithm == key and c.dataset == "asia"]
        for key in ("priv_pc", "em_pc", "curate_pc")
    )
    left = Left([*fast, *slow, *unseen])
    for part, seconds in ((fast, 1.0), (slow, 9.0)):
        for cell in part:
            left.note(finished(cell, seconds), fresh=True)
    assert left.seconds(10.0 * len(fast)) == pytest.approx(9.0 * len(unseen))


def test_rows_without_a_clock_leave_the_probe_to_tell() -> None:
    cells, _ = study(plain)
    mine = [c for c in cells if c.algorithm == "priv_pc" and c.dataset == "asia"]
    left = Left(mine, {("asia", "priv_pc"): 2.0})
    left.note(finished(mine[0], math.nan), fresh=True)
    assert left.seconds(3.0) == pytest.approx(2.0 * (len(mine) - 1))


def test_a_search_knows_how_long_its_report_on_other_data_will_take(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Runs on the other data take thirty times as long, and come last but for two looks."""
    near, far = load_dataset("cancer", n=200), load_dataset("earthquake", n=200)
    clock, told = [0.0], []

    def slow(data: list[Dataset], *asked: Any, **kept: Any) -> list[CellResult]:
        results = []
        for result in sweep(data, *asked, **kept):
            took = (30.0 if result.fingerprint == far.identity else 1.0) + 0.3 * (len(told) % 3)
            clock[0] += took
            results.append(replace(result, seconds=took, cpu=took))
        return results

    monkeypatch.setattr(tuning, "sweep", slow)
    monkeypatch.setattr(tuning, "monotonic", lambda: clock[0])
    search = Search(
        "priv_pc", near, {"epsilon": 1.0}, ["subsample"], runs=60, elsewhere=far,
        on_progress=lambda done, planned: told.append((done / planned, clock[0], search.left)),
    )  # fmt: skip
    assert search.left is None
    assert search.tune().params  # not the default, whose report would serve twice
    ratios = [
        left / (clock[0] - at)
        for share, at, left in told
        if 0.1 <= share < 0.9 and left is not None
    ]
    assert len(ratios) > 50
    assert min(ratios) > 1 / FACTOR
    assert max(ratios) < FACTOR

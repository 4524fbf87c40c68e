"""One row a person: each rule beside a plain Python one, and the same bytes by every door."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import distributed
import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from engine import fold_table, read_table, run
from engine.data.schema import Column, Person, Schema, load_schema
from engine.errors import InputError

YES: dict[str, Any] = {"type": "ordered", "levels": ("no", "yes")}
STAGES: dict[str, Any] = {"type": "ordered", "levels": ("I", "II", "III", "gap"), "other": "gap"}
SCHEMA = Schema(
    (
        Column(name="smoker", **YES, take="any"),
        Column(name="stage", **STAGES, take="last"),
        Column(name="ward", **STAGES, take="first"),
        Column(name="grade", type="ordered", levels=("1", "2", "3"), take="most"),
        Column(name="dose", type="numeric", cuts=(0.3, 10), other="level", take="sum"),
        Column(name="visits", type="numeric", cuts=(2, 4), take="count"),
    ),
    person=Person(id="patient", order="day"),
)


def visits(n: int = 400, persons: int = 60, seed: int = 0) -> pd.DataFrame:
    """Visits with gaps, ties in the day, and some that say of nobody whose they are."""
    rng = np.random.default_rng(seed)
    whose = [f"p{k}" if k else None for k in rng.integers(0, persons, n)]
    return pd.DataFrame(
        {
            "patient": whose,
            "day": rng.choice(["2024-03-01", "2024-03-02 08:00", "2024-03-02T07:00:00Z", None], n),
            "smoker": rng.choice(["no", "yes"], n, p=[0.8, 0.2]),
            "stage": rng.choice(["I", "II", "III", None], n),
            "ward": rng.choice(["I", "II", "III", None], n),
            "grade": rng.choice(["1", "2", "3"], n),
            "dose": rng.choice(["0.1", "0.2", "5", None], n),
            "note": "never read",
        }
    )


def by_hand(frame: pd.DataFrame) -> Counter[Any]:
    """How often each person's row occurs, by the words of the rules."""
    days = {"2024-03-01": 1.0, "2024-03-02T07:00:00Z": 2.0, "2024-03-02 08:00": 3.0}
    stages = {"I": 0, "II": 1, "III": 2}
    found: Counter[Any] = Counter()
    for _, rows in frame.dropna(subset=["patient"]).groupby("patient"):
        at = [days.get(day, -math.inf) for day in rows["day"]]
        grades = Counter(rows["grade"])
        doses = [float(dose) for dose in rows["dose"] if isinstance(dose, str)]

        def of_day(name: str, day: float, rows: Any = rows, at: Any = at) -> int:
            cells = zip(rows[name], at, strict=True)
            return min(stages.get(cell, 3) for cell, when in cells if when == day)

        total = round(sum(doses), 6)
        found[
            int("yes" in set(rows["smoker"])),
            of_day("stage", max(at)),
            of_day("ward", min(at)),
            int(min(g for g in grades if grades[g] == max(grades.values()))) - 1,
            3 if not doses else int(total >= 0.3) + int(total >= 10),
            int(len(rows) >= 2) + int(len(rows) >= 4),
        ] += 1
    return found


def rows_of(data: Any) -> Counter[Any]:
    return Counter(map(tuple, data.row_codes().tolist()))


def test_each_rule_is_what_its_word_says() -> None:
    frame = visits()
    data = read_table(frame, schema=SCHEMA)
    assert rows_of(data) == by_hand(frame)
    assert data.n == frame["patient"].nunique()
    assert data.declared
    assert "one row a person" in data.notes[0]
    assert "patient" not in repr(data.names)


def test_what_is_added_up_is_exact() -> None:
    """0.1 + 0.2 is 0.3, whatever the order; a float would be above or below it."""
    frame = pd.DataFrame(
        {"p": list("aaabb"), "x": [0.1, 0.2, -1e-7, 0.1, 0.19], "y": [1, 2, 1, 2, 2]}
    )
    columns = (
        Column(name="x", type="numeric", cuts=(0.3,), take="sum"),
        Column(name="y", type="ordered", levels=("1", "2"), take="most"),
    )
    data = read_table(frame, schema=Schema(columns, person=Person(id="p")))
    assert rows_of(data) == Counter({(1, 0): 1, (0, 1): 1})


def test_the_same_bytes_by_every_door(tmp_path: Path) -> None:
    frame = visits()
    want = read_table(frame, schema=SCHEMA)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    parquet.write_table(table, tmp_path / "one.parquet")
    (tmp_path / "parts").mkdir()
    shuffled = frame.sample(frac=1, random_state=1)
    for k in range(3):
        part = pa.Table.from_pandas(shuffled.iloc[k::3], preserve_index=False)
        parquet.write_table(part, tmp_path / "parts" / f"{k}.parquet")
    shuffled.to_csv(tmp_path / "rows.csv", index=False)
    with duckdb.connect(str(tmp_path / "rows.duckdb")) as database:
        database.register("frame", frame)
        database.execute("CREATE TABLE visits AS SELECT * FROM frame")
    places: list[Any] = [tmp_path / name for name in ("one.parquet", "parts", "rows.csv")]
    for source in (*places, tmp_path / "rows.duckdb", shuffled):
        for data in (read_table(source, schema=SCHEMA), fold_table(source, schema=SCHEMA)):
            assert data.codes.tobytes() == want.codes.tobytes()
            assert (data.weights == want.weights).all()


def test_a_cluster_brings_the_same_persons_together(tmp_path: Path) -> None:
    frame = visits()
    for k in range(3):
        part = pa.Table.from_pandas(frame.iloc[k::3], preserve_index=False)
        parquet.write_table(part, tmp_path / f"{k}.parquet")
    want = read_table(frame, schema=SCHEMA)
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster:
        data = fold_table(tmp_path, schema=SCHEMA, scheduler=cluster.scheduler_address)
    assert data.codes.tobytes() == want.codes.tobytes()
    assert (data.weights == want.weights).all()


def test_the_schema_states_how_many_persons_there_are() -> None:
    frame = visits()
    n = frame["patient"].nunique()
    stated = Schema(SCHEMA.columns, rows=n, person=SCHEMA.person)
    assert read_table(frame, schema=stated).n == n
    with pytest.raises(InputError, match=f"has {n} persons but the schema states {n + 1}"):
        read_table(frame, schema=Schema(SCHEMA.columns, rows=n + 1, person=SCHEMA.person))


def test_a_strict_run_is_about_persons() -> None:
    result = run("marginal_pc", visits(), schema=SCHEMA, epsilon=1.0)
    assert result.spent.epsilon == 1.0


A = {"name": "a", "type": "ordered", "levels": ["no", "yes"], "take": "any"}
B = {"name": "b", "type": "numeric", "cuts": [1, 2], "take": "sum"}
WRONG: dict[str, tuple[Any, str]] = {
    "no person": ({"columns": [A, B]}, "names no person"),
    "no rule": ({"columns": [A, {**B, "take": None}], "person": {"id": "p"}}, "'b': \"take\" is"),
    "another rule": (
        {"columns": [A, {**B, "take": "mean"}], "person": {"id": "p"}},
        "one of first",
    ),
    "no order": ({"columns": [{**A, "take": "last"}, B], "person": {"id": "p"}}, "orders them"),
    "the id a column": ({"columns": [A, B], "person": {"id": "a"}}, "given out nowhere"),
    "no id": ({"columns": [A, B], "person": {"order": "day"}}, 'such as {"id": "patient"}'),
    "an id that is none": ({"columns": [A, B], "person": {"id": 3}}, "names of columns"),
    "a sum of words": (
        {"columns": [{**A, "take": "sum"}, B], "person": {"id": "p"}},
        "is a number",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_rules_that_do_not_fit_are_one_sentence(case: str, tmp_path: Path) -> None:
    import json

    content, expected = WRONG[case]
    head = {"format": "dp-causal-explorer/schema", "version": 1}
    with pytest.raises(InputError, match=expected) as caught:
        load_schema(json.dumps(head | content).encode())
    assert "\n" not in str(caught.value)


def test_a_schema_of_persons_survives_its_file(tmp_path: Path) -> None:
    SCHEMA.save(tmp_path / "s.json")
    assert load_schema(tmp_path / "s.json") == SCHEMA

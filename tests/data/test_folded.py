"""Tables folded on reading: by DuckDB, a batch at a time, or file by file on a Dask cluster."""

import gzip
import json
import pickle
import time
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from engine import Dataset, fold_table, load_dataset, read_table, run
from engine.__main__ import main
from engine.data import distinct, folded
from engine.data.numerals import Numbers
from engine.data.schema import Column, Schema
from engine.errors import DataError, InputError
from engine.tables.rows import fold
from engine.tables.store import Store

SCHEMA = Schema(
    (
        Column(name="score", type="numeric", bounds=(0.0, 1.0), bins=4, other=0.6),
        Column(name="Grade", type="ordered", levels=("low", "mid", "high"), other="mid"),
        Column(name="smoker", type="unordered", levels=("true", "false")),
        Column(name="visits", type="ordered", levels=("0", "1", "2", "3")),
        Column(name="age", type="numeric", bounds=(0.0, 90.0), bins=3),
    )
)


def people(n: int, seed: int = 0) -> pd.DataFrame:
    """Rows with everything that a schema has to foresee: blanks, NaN, infinity, strange levels."""
    rng = np.random.default_rng(seed)
    score = rng.choice([rng.random(), np.nan, np.inf, -0.0, 0.25, 0.5, 7.0, *rng.random(n)], n)
    return pd.DataFrame(
        {
            "left out": rng.random(n),
            "age": rng.integers(-5, 120, n),
            "score": score,
            "Grade": rng.choice(["low", "mid", "high", "other", "", None], n),
            "smoker": rng.random(n) < 0.3,
            "visits": rng.integers(0, 5, n),
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Parquet folder of three files; one of them brings a type that DuckDB is not asked about."""
    place = tmp_path_factory.mktemp("rows") / "people [2026]"
    place.mkdir()
    for i, n in enumerate((700, 1, 400)):
        frame = people(n, seed=i)
        if i == 2:
            frame["visits"] = frame["visits"].astype(float)
        frame.to_parquet(place / f"part-{i}.parquet")
    return place


@pytest.fixture(scope="module")
def rows(folder: Path) -> Dataset:
    """The same rows read one by one."""
    return read_table(pd.concat(map(pd.read_parquet, sorted(folder.iterdir()))), schema=SCHEMA)


def same(found: Dataset, rows: Dataset) -> None:
    """Found holds exactly the folded rows, byte for byte."""
    expected = fold(rows)[0]
    assert found.weights is not None
    assert found.codes.tobytes("F") == expected.codes.tobytes("F")
    assert found.codes.dtype == expected.codes.dtype
    assert found.weights.tolist() == expected.weights.tolist()
    assert (found.n, found.names, found.levels) == (rows.n, rows.names, rows.levels)
    assert found.declared
    assert not found.public


def test_a_folder_is_folded_to_the_same_rows(folder: Path, rows: Dataset) -> None:
    seen: list[tuple[int, int | None, str]] = []
    same(fold_table(folder, schema=SCHEMA, watch=lambda *at: seen.append(at)), rows)
    assert seen == [(k, 3, "files") for k in range(4)]


def test_one_table_says_how_far_it_is(tmp_path: Path) -> None:
    """By rows where batches are folded; by DuckDB's own measure where DuckDB groups."""
    seen: list[tuple[int, int | None, str]] = []
    people(900).to_parquet(tmp_path / "p.parquet")
    fold_table(people(900), schema=SCHEMA, watch=lambda *at: seen.append(at))
    assert seen == [(900, None, "rows")]
    fold_table(tmp_path / "p.parquet", schema=SCHEMA, watch=lambda *at: seen.append(at))
    assert (900, None, "rows") not in seen[1:]
    assert seen[-1] == (100, 100, "%")


def test_an_interrupt_stops_a_grouping_that_would_take_hours() -> None:
    """The first look at it presses Ctrl-C."""
    numbers, looks = Numbers(None, None), []

    def press(done: int, total: int | None, unit: str) -> None:
        looks.append((done, total, unit))
        raise KeyboardInterrupt

    table = "(SELECT CAST(range % 3 AS VARCHAR) AS a, a AS b FROM range(1000000000000))"
    column = {"type": "unordered", "levels": ("0", "1")}
    schema = Schema(tuple(Column(name=name, **column) for name in "ab"))
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt), duckdb.connect() as connection:
        folded._group(connection, table, [], schema, numbers, "people", press)
    assert len(looks) == 1
    assert time.monotonic() - start < 10


def test_duckdb_does_the_grouping_where_types_are_plain(
    tmp_path: Path, rows: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file, a database and a query on it; no batch of single rows is ever seen."""
    grouped = []
    real = folded._group
    monkeypatch.setattr(folded, "_group", lambda *args: grouped.append(r := real(*args)) or r)
    people(900).to_parquet(tmp_path / "p.parquet")
    expected = read_table(tmp_path / "p.parquet", schema=SCHEMA)
    same(fold_table(tmp_path / "p.parquet", schema=SCHEMA), expected)
    with duckdb.connect(str(tmp_path / "p.db")) as connection:
        connection.execute(
            "CREATE TABLE people AS FROM read_parquet(?)", [str(tmp_path / "p.parquet")]
        )
    same(fold_table(tmp_path / "p.db", schema=SCHEMA), expected)
    query = "SELECT * FROM people WHERE age > 30; -- adults"
    some = read_table(tmp_path / "p.db", query=query, schema=SCHEMA)
    same(fold_table(tmp_path / "p.db", query=query, schema=SCHEMA), some)
    assert 0 < some.n < expected.n
    assert len(grouped) == 3
    assert all(one is not None for one in grouped)


def test_other_tables_are_folded_batch_by_batch(tmp_path: Path) -> None:
    frame = people(500)
    text = gzip.compress(frame.to_csv(index=False).encode())
    (tmp_path / "p.csv.gz").write_bytes(text)
    for source in (frame, text, tmp_path / "p.csv.gz"):
        same(fold_table(source, schema=SCHEMA), read_table(source, schema=SCHEMA))


def test_numbers_written_otherwise_are_not_left_to_duckdb(tmp_path: Path) -> None:
    frame = people(200)
    frame["score"] = [f"{v:.3f}".replace(".", ",") for v in frame["score"]]
    frame.to_parquet(tmp_path / "p.parquet")
    expected = read_table(tmp_path / "p.parquet", schema=SCHEMA, decimal=",")
    assert len(np.unique(expected.codes[:, 0])) == 4
    same(fold_table(tmp_path / "p.parquet", schema=SCHEMA, decimal=","), expected)


def test_a_long_file_is_parted_at_its_row_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folded, "_PART_ROWS", 1000)
    path = tmp_path / "p.parquet"
    people(2_500).to_parquet(path, row_group_size=400)
    assert [part.groups for part in folded._parts(str(path))] == [(0, 3), (3, 5), (5, 7)]
    people(900).to_parquet(path, row_group_size=400)
    assert folded._parts(str(path)) == [(str(path), None)]
    # DuckDB's own word for a row's place: such a file stays whole.
    people(2_500).rename(columns={"left out": "File_row_number"}).to_parquet(path, row_group_size=9)
    assert folded._parts(str(path)) == [(str(path), None)]


def test_merging_gives_the_same_however_the_rows_were_parted(
    rows: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(distinct.Folding, "_LEAST", 20)
    parts = np.array_split(np.random.default_rng(1).permutation(rows.n), 40)
    folding = distinct.Folding(rows.cardinalities)
    for part in parts:
        folding.add(distinct.Folded(rows.codes[part], np.ones(len(part), np.int64)))
    found, expected = folding.finish(), fold(rows)[0]
    assert found.codes.tobytes("F") == expected.codes.tobytes("F")
    assert found.weights.tolist() == expected.weights.tolist()


def test_two_workers_of_a_cluster_give_the_same_bytes(
    folder: Path,
    rows: Dataset,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Three partitions, two workers (threads of this process: a process is two seconds away)."""
    distributed = pytest.importorskip("distributed")
    seen: list[tuple[int, int | None, str]] = []

    def watch(*at: Any) -> None:
        seen.append(at)

    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=False,
        protocol="tcp://",
        dashboard_address=None,
        local_directory=tmp_path,
    ) as cluster:
        address = cluster.scheduler_address
        found = fold_table(folder, schema=SCHEMA, scheduler=address, watch=watch)
        same(found, rows)
        assert seen[-1] == (3, 3, "files")
        (tmp_path / "s.json").write_text(json.dumps(SCHEMA.to_json()))
        argv = f"run --schema {tmp_path / 's.json'} --algorithm pc --json --csv".split()
        assert main([*argv, str(folder), "--fold", address]) == 0
        there = json.loads(capsys.readouterr().out)
        assert main([*argv, str(folder), "--fold"]) == 0
        assert there["skeleton"] == json.loads(capsys.readouterr().out)["skeleton"]
        (tmp_path / "broken").mkdir()
        (tmp_path / "broken/p.parquet").write_bytes(b"PAR1 nothing PAR1")
        with pytest.raises(DataError, match=r"^The folder broken holds no Parquet"):
            fold_table(tmp_path / "broken", schema=SCHEMA, scheduler=address)
        # One file, whose row groups they share: by DuckDB, and a batch at a time.
        monkeypatch.setattr(folded, "_PART_ROWS", 1000)
        for kind in (int, float):
            frame = people(2_500)
            frame["visits"] = frame["visits"].astype(kind)
            frame.to_parquet(tmp_path / "one.parquet", row_group_size=400)
            parted = fold_table(
                tmp_path / "one.parquet", schema=SCHEMA, scheduler=address, watch=watch
            )
            same(parted, read_table(frame, schema=SCHEMA))
            assert seen[-1] == (3, 3, "parts")
    with pytest.raises(InputError, match=r"^A cluster folds Parquet files"):
        fold_table(people(9), schema=SCHEMA, scheduler=address)


@pytest.mark.parametrize("key", ["pc", "priv_pc", "marginal_pc", "noleaks", "gram_notears"])
@pytest.mark.parametrize("guarantee", ["strict", "published"])
def test_a_run_is_that_of_the_same_rows_in_order(key: str, guarantee: str) -> None:
    """Every family of algorithms, sampling, merging of levels and row order included."""
    drawn = load_dataset("asia", n=3000)
    order = np.lexsort(drawn.codes.T[::-1])
    one_by_one = Dataset.from_codes(drawn.codes[order], drawn.names, drawn.levels, public=True)
    rows, _ = fold(drawn)
    born = Dataset.from_codes(
        rows.codes, drawn.names, drawn.levels, weights=rows.weights, public=True
    )
    assert (born.n, len(born.codes)) == (3000, len(rows.codes))
    assert born.fingerprint != one_by_one.fingerprint
    assert np.array_equal(born.row_codes(), one_by_one.codes)
    assert np.array_equal(born.row_codes(7), one_by_one.codes[:7])
    assert np.array_equal(Store(born).index_of_rows(), Store(one_by_one).index_of_rows())
    assert pickle.loads(pickle.dumps(born)).fingerprint == born.fingerprint
    options = {} if key == "pc" else {"guarantee": guarantee} if key != "marginal_pc" else {}
    if guarantee == "published" and key in ("marginal_pc", "gram_notears"):
        options = {}
    a, b = (run(key, data, seed=4, **options) for data in (born, one_by_one))
    assert a.matrix.tobytes() == b.matrix.tobytes()
    assert a.ci_tests_by_order == b.ci_tests_by_order


def test_a_weight_is_a_whole_number_of_rows() -> None:
    for weights in ([0, 1], [1, -1], [1.5, 1.0], [1], [2**31, 1]):
        with pytest.raises(InputError, match=r"(Weights|most).*\.$"):
            Dataset.from_codes([[0, 1], [1, 0]], weights=weights)


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ("--dataset asia --fold", "--fold belongs to --csv"),
        ("--csv {csv} --fold", "--fold needs --schema"),
        ("--csv {csv} --schema {schema} --fold tcp://127.0.0.1:1", "A cluster folds Parquet files"),
        ("--csv {folder} --schema {schema} --fold somewhere", "--fold takes an address"),
    ],
)
def test_a_flag_that_does_not_fit_gets_one_sentence(
    argv: str, said: str, tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    people(30).to_csv(tmp_path / "p.csv", index=False)
    (tmp_path / "s.json").write_text(json.dumps(SCHEMA.to_json()))
    places = {"csv": tmp_path / "p.csv", "schema": tmp_path / "s.json", "folder": folder}
    words = [word.format(**places) for word in argv.split()]
    assert main(["run", *words]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1

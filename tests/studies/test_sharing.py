"""A study handed on: read from bytes, joined, as a table; and what is refused."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import duckdb
import pandas
import pytest

from engine import InputError, load_dataset, sweep
from engine.__main__ import main
from engine.data.dataset import OWN
from engine.studies import CellResult, ResultStore
from engine.studies.analysis import _FIXED, frame
from engine.studies.known import ALONE
from engine.studies.sharing import joined, read_study, runs_table, study_file

GRID = {"epsilon": [0.5, 5.0]}
PAGE = (Path(__file__).resolve().parents[2] / "docs/reference/studies.md").read_text()


@pytest.fixture(scope="module")
def results() -> list[CellResult]:
    data = load_dataset("cancer", n=500)
    return list(sweep(data, ["priv_pc", "curate_pc", "pc"], GRID, 2))


def test_a_file_from_bytes_is_the_study(results: list[CellResult], tmp_path: Path) -> None:
    found = read_study(study_file(results, {"mine": {"seeds": 2}}), "mine.db")
    assert sorted(r.fixed() for r in found.results) == sorted(r.fixed() for r in results)
    assert found.studies == {"mine": {"seeds": 2}}
    path = tmp_path / "s.db"  # as the command line keeps it: in write-ahead mode
    with ResultStore(path) as store:
        store.put(results)
    assert path.read_bytes()[18] == 2
    assert len(read_study(path.read_bytes(), "s.db").results) == len(results)


def spoilt(change: str) -> Callable[[Path], None]:
    def spoil(path: Path) -> None:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(change)
            connection.commit()

    return spoil


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-5000])


def noise(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4096:6000] = b"\xff" * (6000 - 4096)
    path.write_bytes(content)


def unreadable(path: Path) -> None:
    """A file whose tables are none, so that SQLite quotes bytes of it that are no text."""
    path.write_bytes(path.read_bytes().replace(b"tablecellscells", b"table\x99ellscells"))


RECURSIVE = (
    "CREATE VIEW cells AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
    "SELECT i FROM n"
)


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda path: path.write_bytes(b"SQLite format 3\0" + b"x" * 84), "not a file of study"),
        (lambda path: path.write_bytes(b""), "not a file of study"),
        (cut, "damaged"),
        (noise, "damaged"),
        (spoilt("PRAGMA user_version = 9"), "newer version"),
        (spoilt("CREATE TABLE more (x)"), "more than study results"),
        (spoilt("CREATE VIEW v AS SELECT * FROM cells"), "more than study results"),
        (spoilt("CREATE INDEX i ON cells (abs(seed))"), "more than study results"),
        (spoilt("ALTER TABLE cells ADD COLUMN x AS (seed + 1)"), "more than study results"),
        (
            spoilt("CREATE TRIGGER t BEFORE INSERT ON studies BEGIN DELETE FROM cells; END"),
            "more than study results",
        ),
        (spoilt("DROP TABLE studies"), "more than study results"),
        (unreadable, "damaged"),
        (spoilt("UPDATE cells SET cpdag = '[[1]]' WHERE seed = 1"), "damaged row"),
        (spoilt(f"UPDATE cells SET cpdag = '{'[' * 100_000}'"), "damaged row"),
        (spoilt('UPDATE cells SET cpdag = \'[["\\ud800", "b"]]\''), "damaged row"),
        (spoilt(f"UPDATE cells SET seed = '{'x' * 100_000}' WHERE seed = 1"), "damaged row"),
        (spoilt(f"UPDATE cells SET params = '{'[' * 100_000}' || params"), "damaged row"),
        (spoilt("UPDATE cells SET algorithm = 'divination'"), "'divination', which this version"),
        (
            spoilt(
                "UPDATE cells SET params = "
                "json_replace(params, '$.epsilon', -(params ->> 'epsilon'))"
            ),
            "does not fit this version",
        ),
        (spoilt("UPDATE cells SET status = CAST(x'ff' AS TEXT)"), "damaged"),
        (spoilt(f"UPDATE cells SET fingerprint = '{OWN}x' || seed"), "own data"),
    ],
)
def test_what_is_no_study_is_a_sentence(
    spoil: Callable[[Path], None], says: str, results: list[CellResult], tmp_path: Path
) -> None:
    path = tmp_path / "s.db"
    with ResultStore(path) as store:
        store.put(results)
    spoil(path)
    with pytest.raises(InputError, match=says) as told:
        read_study(path.read_bytes(), "handed.db")
    assert str(told.value).startswith("handed.db")
    assert "\n" not in str(told.value)
    assert len(str(told.value)) < 400


def test_a_view_in_the_place_of_the_runs_is_never_asked(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    ResultStore(path).close()
    spoilt("DROP TABLE cells")(path)
    spoilt(RECURSIVE)(path)
    with pytest.raises(InputError, match="more than study results"):
        read_study(path.read_bytes(), "endless.db")


def test_joined_studies_hold_every_run_once(results: list[CellResult]) -> None:
    one, other = results[:7], results[4:]
    found = joined(("one", one), ("other", other))
    assert [r.cell.key for r in found] == [r.cell.key for r in results]
    again = [replace(r, seconds=r.seconds + 1, dataset="renamed") for r in results]
    assert joined(("one", results), ("again", again)) == results


def test_what_does_not_fit_together_is_a_sentence(results: list[CellResult]) -> None:
    older = [replace(r, version="0.0.1+old") for r in results]
    with pytest.raises(InputError, match=r"^a was computed by engine .*, b by 0.0.1\+old: "):
        joined(("a", results), ("b", older))
    changed = [replace(results[0], shd=99), *results[1:]]
    with pytest.raises(InputError, match="one of the two was changed"):
        joined(("a", results), ("b", changed))


def test_merge_and_table_on_the_command_line(
    tmp_path: Path, results: list[CellResult], capsys: pytest.CaptureFixture[str]
) -> None:
    for name, part in (("a", results[:6]), ("b", results[6:])):
        with ResultStore(tmp_path / f"{name}.db") as store:
            store.put(part)
    a, b, both = (str(tmp_path / f"{name}.db") for name in ("a", "b", "both"))
    assert main(["merge", a, b, "--out", both]) == 0
    with ResultStore(both) as store:
        assert sorted(r.fixed() for r in store.results()) == sorted(r.fixed() for r in results)
    assert main(["merge", a, b, "--out", both]) == 2
    assert "there already" in capsys.readouterr().err
    with ResultStore(b) as store:
        store.put([replace(results[0], version="0.0.1+old")])
    assert main(["merge", a, b, "--out", str(tmp_path / "c.db")]) == 2
    told = capsys.readouterr().err
    assert "runs of different code" in told
    assert told.count("\n") == 1
    assert not (tmp_path / "c.db").exists()


def lines(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.S)


def test_the_lines_of_the_reference_read_the_file(
    tmp_path: Path, results: list[CellResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with ResultStore("s.db") as store:
        store.put(results)
    command = lines("")[0].split()
    assert command[:3] == ["python", "-m", "engine"]
    assert main(command[3:]) == 0
    names = {"pandas": pandas, "duckdb": duckdb, "sqlite3": sqlite3}
    for line in lines("python"):
        assert line.count("\n") == 1  # one line
        exec(line, names)  # the reference's own
    wanted = frame(results)
    runs, cells, medians = names["runs"], names["cells"], names["medians"].df()
    assert set(runs.columns) == set(wanted.columns)
    assert list(runs["tested_shd"]) == list(wanted["tested_shd"])
    assert len(cells) == len(results)
    by_hand = wanted.astype({"tested_skeleton_f1": float}).groupby(["algorithm", "epsilon"])
    found = medians.dropna().set_index(["algorithm", "epsilon"])["f1"]
    for key, median in by_hand["tested_skeleton_f1"].median().items():
        assert found[key] == median


def test_the_reference_names_every_column() -> None:
    listed = re.findall(r"^\| `(\w+)` \|", PAGE, re.M)
    assert listed == [*_FIXED, ALONE]


def test_a_parameter_that_is_a_number_or_a_word_is_text(results: list[CellResult]) -> None:
    mixed = frame(results)
    assert set(map(type, mixed["subsample"].dropna())) <= {int, str}
    with pytest.raises(InputError, match=r"\.parquet or \.csv"):
        runs_table(mixed, "xlsx")

"""The command line on two files that differ in one record: what it prints and writes is alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import ALGORITHMS
from engine.__main__ import main
from engine.release.budget import VARIABLE
from engine.release.signature import VARIABLE as KEY
from tests.boundary.alike import DECLARED, ODD, Twice, table

STRICT = [key for key, a in ALGORITHMS.items() if a.private and a.columns is None]
PLACE = 7


def said(
    folder: Path, content: bytes, asked: list[str], twice: Twice, capsys: pytest.CaptureFixture[str]
) -> dict[str, object]:
    """What each command printed and its status, and all files that were left but for the input."""
    folder.mkdir()
    own, schema = folder / "mine.csv", folder / "s.json"
    own.write_bytes(content)
    schema.write_text(DECLARED)
    told: dict[str, object] = {}
    with twice.visit():
        for line in asked:
            words = [word.format(folder=folder, own=own, schema=schema) for word in line.split()]
            status, printed = main(words), capsys.readouterr()
            # Standard error tells the owner what matched no level; all else is alike.
            told[line] = status, printed.out.replace(str(folder), "")
    files = [path for path in folder.rglob("*") if path.is_file() and path != own]
    # A budget tells when it was charged: its words are compared, not its file.
    return told | {
        str(path.relative_to(folder)): path.read_bytes()
        for path in files
        if not path.name.startswith("b.db")
    }


def compared(
    asked: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Both visits told the same, and something."""
    twice, found = Twice(), []
    monkeypatch.setenv(KEY, str(tmp_path / "key.pem"))
    for name, record in (("one", None), ("other", ODD)):
        monkeypatch.setenv(VARIABLE, str(tmp_path / name / "b.db"))
        found.append(said(tmp_path / name, table(PLACE, record), asked, twice, capsys))
    one, other = found
    assert one.keys() == other.keys()
    for what, content in one.items():
        assert content == other[what], what
    assert all(one[line][0] == 0 for line in asked), one  # type: ignore[index]


@pytest.mark.parametrize("key", STRICT)
def test_a_run_prints_nothing_of_one_record(
    key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = f"run --csv {{own}} --schema {{schema}} --algorithm {key}"
    compared([run, f"{run} --json"], tmp_path, monkeypatch, capsys)


def test_nor_do_studies_releases_and_what_is_made_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    own = "--csv {own} --schema {schema}"
    compared(
        [
            f"sweep {own} --algorithm svt_pc --epsilon 1,5 --seeds 2 --out {{folder}}/s.db --json",
            "table {folder}/s.db --out {folder}/runs.csv",
            "budget new w --epsilon 9 --delta 1e-4",
            f"release {own} --budget w --epsilon 1 --out {{folder}}/r.json",
            f"release {own} --budget w --epsilon 2 --sign --out {{folder}}/f.json",
            "check {folder}/f.json --page {folder}/f.html",
            "effect {folder}/r.json --cause smoker --effect cough --json",
            "twin {folder}/r.json --rows 10 --out {folder}/twin.csv",
        ],
        tmp_path,
        monkeypatch,
        capsys,
    )

"""Simulated pairs, a person's own two columns, and the Tuebingen file."""

import json
import zipfile

import numpy as np
import pytest

from engine import InputError, load_dataset
from engine.__main__ import main
from engine.data import pairs
from engine.errors import DataError
from engine.request import Request, Source


@pytest.mark.parametrize("mechanism", [*pairs.MECHANISMS, *pairs.HELD_OUT])
def test_simulated_pairs(mechanism):
    for noise in pairs.NOISES:
        for cause in pairs.CAUSES:
            data = pairs.simulate_pair(mechanism, noise, cause, n=300, seed=1)
            assert data.public
            assert len(data.truth.edges) == 1
            low, high = np.array(data.bounds).T
            inside = (data.values >= low) & (data.values <= high)
            assert inside.mean() > 0.98
            assert load_dataset(data.name, n=300, seed=1).fingerprint == data.fingerprint
    same = pairs.simulate_pair(mechanism, n=300, seed=1)
    assert same.fingerprint == pairs.simulate_pair(mechanism, n=300, seed=1).fingerprint
    drawn = (pairs.simulate_pair(mechanism, n=9, seed=seed) for seed in range(9))
    assert len({tuple(one.truth.edges) for one in drawn}) == 2


@pytest.mark.parametrize("bad", ["pair:sine", "pair:sinus:laplace", "pair:sine:loud"])
def test_pairs_by_name(bad):
    assert load_dataset("pair:sine:laplace", n=50, seed=2).n == 50
    with pytest.raises(InputError, match=r"^[^\n]*$"):
        load_dataset(bad, n=50)


ROWS = "\n".join(f"{i},{i * i % 17}" for i in range(20))


def test_own_columns():
    data = pairs.read_pair(f"a,b\n{ROWS}\n".encode(), ((0, 30), (0, 16)))
    assert (data.n, data.names, data.bounds) == (20, ("a", "b"), ((0.0, 30.0), (0.0, 16.0)))
    assert not data.public
    assert data.truth is None
    with pytest.raises(InputError, match="lower one first"):
        pairs.read_pair(f"a,b\n{ROWS}".encode(), ((3, 1), (0, 16)))
    assert "without noise" in pairs.read_pair(f"a;b\n{ROWS.replace(',', ';')}".encode()).notes[0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b,c\n1,2,3\n", "3 columns"),
        ("a\n1\n", "1 column with a name"),
        ("a,b\n1,2\n1,3\n", "fewer than 10 rows"),
        *(
            ("a,b\n" + f"1,2\n3,{cell}\n" * 9, "no finite number")
            for cell in ("nan", "inf", "x", "")
        ),
        ("a,b\n" + "1,2\n1,3\n" * 9, "constant"),
        ("a,b\n" + "1,2\n1\n" * 9, "Line 3 of data does not have as many cells"),
        ("a,a\n" + "1,2\n2,3\n" * 9, "called 'a'"),
    ],
)
def test_bad_files_get_one_sentence(text, said):
    with pytest.raises(InputError, match=said) as caught:
        pairs.read_pair(text.encode())
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")


def wheel(path, targets="SampleID,Target\npair1,1.0\npair2,1.0\npair3,0\n"):
    cells = {name: " ".join(map(str, range(k, k + 12))) for k, name in enumerate("ABC")}
    rows = "SampleID,A,B\n" + "".join(f"pair{i},{cells['A']},{cells['B']}\n" for i in (1, 2, 3))
    with zipfile.ZipFile(path, "w") as out:
        out.writestr(pairs.WHEEL_PAIRS, rows)
        out.writestr(pairs.WHEEL_TARGETS, targets)
    return path


def test_the_tuebingen_file(tmp_path, monkeypatch):
    """Every second pair is turned round; a pair without a direction is left out."""
    first, second = pairs.read_tuebingen(wheel(tmp_path / "cdt-0.6.0-py3-none-any.whl"))
    monkeypatch.chdir(tmp_path)
    found = {}  # the program of a request reads the user's copy
    exec(Request(Source(second.name), "anm").to_python().partition("\nresult")[0], found)
    assert found["data"].fingerprint == second.fingerprint
    assert first.name == "tuebingen:pair1"
    assert list(first.truth.edges) == [("A", "B")]
    assert list(second.truth.edges) == [("B", "A")]
    assert (first.values == second.values[:, ::-1]).all()
    for bad in (tmp_path / "none.whl", tmp_path):
        with pytest.raises(DataError, match="pip download"):
            pairs.read_tuebingen(bad)
    with pytest.raises(DataError, match="no cause-effect pairs"):
        pairs.read_tuebingen(wheel(tmp_path / "empty.whl", "SampleID,Target\n"))


@pytest.mark.parametrize(
    "targets",
    [b"SampleID\npair1\n", b"Sample,Target\na,1\n", b"SampleID,Target\npair1,much\n", b"\xff"],
)
def test_another_zip_is_one_sentence(targets, tmp_path):
    with pytest.raises(DataError, match=r"is not the cdt 0\.6\.0 wheel"):
        pairs.read_tuebingen(wheel(tmp_path / "cdt.whl", targets))


# The command ------------------------------------------------------------------------------------


def test_the_command(tmp_path, capsys):
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 3, 600)
    table = np.column_stack([x, (x - 1) ** 2 + 0.2 * rng.normal(size=600)])
    path = tmp_path / "pair.csv"
    np.savetxt(path, table, delimiter=",", header="altitude,warmth", comments="")
    bounds = ["--bounds", "0,3,-2,6"]
    asked = ["pairs", "--csv", str(path), *bounds, "--score", "hsic", "--epsilon", "1", "--json"]
    assert main(asked) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["direction"] == "altitude->warmth"
    assert found["proven"] == {"epsilon": 1.0, "delta": 0.0}
    assert 0.5 <= found["probability"] <= 1
    assert len(found["scores"]) == 1
    assert "seed" not in found  # noise that can be drawn again hides nothing
    for release in ("scores", "vote"):
        assert main(["pairs", "--csv", str(path), "--release", release]) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert "--bounds" in said

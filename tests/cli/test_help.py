"""Help that helps: what each word does, an example that works, schemas."""

import json
import shlex
from contextlib import suppress

import numpy as np
import pytest

from engine.__main__ import COMMANDS, EXAMPLES, main
from engine.data.schema import Schema

PARTS = {"schema": ("draft", "check"), "budget": ("new", "show")}
# Every parser there is: a word, and where it has words of its own, these.
PATHS = [
    *((word,) for word in COMMANDS if word != "budget"),
    *((word, part) for word, parts in PARTS.items() for part in parts),
]
# Those whose example is run by another test, and which.
ELSEWHERE = {
    ("audit",): "tests/audit/test_release.py runs it, with fewer proposals",
    ("figure",): "tests/docs/test_shell_blocks.py runs it, from two pages",
    ("warm",): "tests/contract/test_kernels.py runs it, in a process of its own",
    ("story",): "tests/test_wheel.py writes it, from an installed package",
}


@pytest.fixture
def helped(capsys):
    """The lines of a word's help."""

    def lines(path):
        with suppress(SystemExit):
            assert not main([*path, "--help"])
        return str(capsys.readouterr().out).rstrip().splitlines()

    return lines


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A folder with the files that the examples speak of."""
    folder = tmp_path_factory.mktemp("desk")
    chance = np.random.default_rng(3)
    ages, smokes = chance.integers(20, 90, 300), chance.integers(0, 2, 300)
    stage = np.minimum(2, ages // 40 + smokes)
    cells = zip(ages, smokes, stage, strict=True)
    rows = [f"{a},{('no', 'yes')[s]},{('I', 'II', 'III')[g]}" for a, s, g in cells]
    (folder / "table.csv").write_text("\n".join(["age,smokes,stage", *rows]) + "\n")
    x = chance.normal(size=200)
    pairs = [f"{a:.4f},{b:.4f}" for a, b in zip(x, x**2 + chance.uniform(size=200), strict=True)]
    (folder / "pair.csv").write_text("\n".join(["x,y", *pairs]) + "\n")
    return folder


def stated_schema(folder):
    """What is stated of the table there."""
    draft = Schema.draft(folder / "table.csv")
    return draft.declare("smokes", "stage", age={"cuts": [40, 55, 70], "other": "level"}).to_json()


@pytest.fixture
def at_desk(desk, monkeypatch, capsys):
    """Run a command there; what it prints."""
    monkeypatch.chdir(desk)
    monkeypatch.setenv("DP_CAUSAL_EXPLORER_BUDGETS", str(desk / "budgets.db"))
    monkeypatch.setenv("DP_CAUSAL_EXPLORER_KEY", str(desk / "key.pem"))

    def ran(words):
        status = main(shlex.split(words))
        told = capsys.readouterr()
        assert status == 0, told.err
        return str(told.out)

    if not (desk / "schema.json").exists():
        (desk / "schema.json").write_text(json.dumps(stated_schema(desk)))
        ran("budget new ward-7 --epsilon 9 --delta 1e-5")
        release = "release --csv table.csv --schema schema.json --budget ward-7 --epsilon 1"
        ran(f"{release} --out first.json")
        for name in ("release.json", "ward-7.json"):
            (desk / name).write_bytes((desk / "first.json").read_bytes())
        ran("budget new ward-6 --epsilon 9 --delta 1e-5")
        ran(release.replace("ward-7", "ward-6") + " --out ward-8.json")
        study = "sweep --dataset cancer --n 500 --algorithm priv_pc,svt_pc --epsilon 1,10"
        ran(f"{study} --seeds 2 --out curves.db")
        ran("sweep --dataset cancer --n 500 --algorithm em_pc --epsilon 1 --seeds 1 --out more.db")
    return ran


def test_help_says_what_each_word_does(capsys):
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    for word in COMMANDS:
        [line] = [one for one in shown.splitlines() if one.startswith(f"  {word} ")]
        assert line.rstrip().endswith("."), line
        assert "`" not in line
    assert shown.count("\n  engine ") == len(EXAMPLES) == 3
    assert "default algorithm: marginal_pc for your own table" in shown


@pytest.mark.parametrize(
    ("line", "near"),
    [
        ("runn", "run"),
        ("budget nwe", "new"),
        ("budget new x --epsilon 1 --detla 2", "--delta"),
        ("run --dataset asia --epsilom 1", "--epsilon"),
        ("release --cvs table.csv", "--csv"),  # before flags that are missing, too
        ("schema check schema.json --cvs=table.csv", "--csv"),
        ("run --dataset asia --statistic kendal", "kendall"),
        ("run --dataset asai", "asia"),
    ],
)
def test_a_typo_gets_the_nearest_word(line, near, capsys):
    assert main(line.split()) == 2
    assert capsys.readouterr().err.rstrip().endswith(f"Did you mean '{near}'?")


def test_flags_show_the_values_they_take(helped):
    said = " ".join(" ".join(helped(("sweep",))).split())
    for shown in (
        "--epsilon NUMBER,NUMBER,...",
        "--stable true|false,true|false,...",
        "(true or false; default false)",
        "marginal_pc with --csv, else priv_pc",
    ):
        assert shown in said


@pytest.mark.parametrize("path", [*PATHS, ("budget",)], ids=" ".join)
def test_every_help_begins_with_sentences_and_ends_with_an_example(path, helped):
    _, description, *_, example = "\n".join(helped(path)).split("\n\n")
    assert description.endswith(".")
    assert example.startswith(f"example:\n  engine {path[0]}")


@pytest.mark.parametrize("path", [path for path in PATHS if path not in ELSEWHERE], ids=" ".join)
def test_the_example_of_every_help_runs(path, helped, at_desk, desk):
    example = helped(path)[-1].removeprefix("  engine ")
    if path == ("release",):  # the desk has its file already, and none is overwritten
        example = example.replace("release.json", "second.json")
    assert at_desk(example).strip() or "--out" in example


def test_an_example_outside_the_word_s_own_help_runs(at_desk, desk):
    drafted = at_desk(EXAMPLES[1].partition(" >")[0])
    content = json.loads(drafted)
    assert [column["declared"] for column in content["columns"]] == [False] * 3


# Schemas --------------------------------------------------------------------------------


def test_a_draft_is_marked_until_it_is_stated(at_desk, desk):
    (desk / "draft.json").write_text(at_desk("schema draft table.csv"))
    shown = at_desk("schema check draft.json --csv table.csv")
    assert "Not declared yet: age, smokes, stage" in shown
    assert "300 rows" in shown
    run = "run --csv table.csv --schema draft.json --algorithm marginal_pc --epsilon 1"
    said = at_desk(run)
    assert "No guarantee" in said
    assert "epsilon inf" not in said
    text = (desk / "draft.json").read_text().replace(',\n   "declared": false', "")
    (desk / "stated.json").write_text(text)
    assert "All columns are declared" in at_desk("schema check stated.json")


def test_a_level_that_holds_nearly_all_rows_is_told_to_its_owner(at_desk, desk):
    """Equal bins of what has a long tail: nothing is left to learn from."""
    rows = "\n".join(f"{k % 3},{k % 2}" for k in range(200))
    (desk / "tail.csv").write_text(f"visits,b\n77,0\n{rows}\n")
    two = {"name": "b", "type": "ordered", "levels": ["0", "1"]}
    for facts, crowded in (({"bounds": [0, 77]}, True), ({"cuts": [1, 2]}, False)):
        columns = [{"name": "visits", "type": "numeric", **facts}, two]
        head = {"format": "dp-causal-explorer/schema", "version": 1}
        (desk / "tail.json").write_text(json.dumps(head | {"columns": columns}))
        shown = at_desk("schema check tail.json --csv tail.csv")
        assert ("visits: 100 % of rows have the level" in shown) == crowded

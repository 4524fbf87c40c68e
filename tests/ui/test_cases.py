"""Tables as people have them, by every way in: Python, the command line and My table."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pytest

from engine import Dataset, InputError, Join, Schema, read_table, run
from engine.__main__ import main
from engine.data.schema import parse_schema
from engine.knowledge import parse_json
from engine.marginals.levels import check_levels
from tests.boundary.fuzz import rows_of
from tests.ui.steps import give, own_table, press, step, told

pytestmark = pytest.mark.filterwarnings("ignore:.*See data.unforeseen:UserWarning")
rng = np.random.default_rng(77)
ROWS = 720
SICK = rng.random(ROWS) < 0.35
YES = np.array(["no", "yes"])


def inflated(share: float, low: int, high: int) -> np.ndarray:
    """Mostly 0, the rest between these numbers; more of it where somebody is sick."""
    some = rng.random(ROWS) < np.where(SICK, share, share / 9)
    return np.where(some, rng.integers(low, high, ROWS), 0)


def odd(low: int, high: int, **words: float) -> list[Any]:
    """Whole numbers, a share of which is each of these words."""
    cells = rng.integers(low, high, ROWS).astype(object)
    for word, share in words.items():
        cells[rng.random(ROWS) < share] = int(word) if word.lstrip("-").isdigit() else word
    return cells.tolist()


PARITY = rng.integers(0, 24, ROWS * 6)
VISITS = np.repeat(rng.permutation(np.arange(30_001, 30_181)), rng.integers(1, 8, 180))
GROUP = rng.random(ROWS) < 0.25
DAYS = pd.Timestamp("1994-03-01") + pd.to_timedelta(rng.integers(0, 60, ROWS), "D")
PAIN = pd.CategoricalDtype(["low", "medium", "high", "worst"], ordered=True)
PLANES = pd.DataFrame(
    {"plane": [f"N{k}" for k in range(90)], "seats": np.repeat([50, 99, 180], 30)}
)
FLOWN = rng.integers(0, 99, ROWS)  # some are of no known plane


@dataclass
class Case:
    """A table, and what its draft must say.

    ``types`` by column, of those left out a part of the reason; ``codes`` proposed for missing;
    ``hints`` parts of what is pointed out; ``facts`` declared instead of what was found, and how
    they are typed into a card; ``links`` that PC finds then.
    """

    table: Mapping[str, Any]
    types: dict[str, str]
    codes: dict[str, set[str]] = field(default_factory=dict)
    hints: dict[str, str] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    typed: dict[str, str] = field(default_factory=dict)
    links: tuple[tuple[str, str], ...] = ()
    holds: Callable[[Schema, Dataset], bool] = lambda schema, data: True


def shares(data: Dataset, name: str) -> list[float]:
    """The share of a column's rows in each of its levels."""
    j = data.names.index(name)
    counts = np.bincount(data.codes[:, j], data.weights, data.cardinalities[j])
    return list(counts / data.n)


CASES = {
    "mostly 0": Case(
        {"sick": YES[SICK * 1], "claims": inflated(0.5, 90, 9000), "nights": inflated(0.3, 1, 40)},
        {"sick": "unordered", "claims": "numeric", "nights": "numeric"},
        links=(("sick", "claims"), ("sick", "nights")),
        holds=lambda schema, data: all(0 < c.cuts[0] <= 1 for c in schema.columns[1:]),
    ),
    "far from 0 and close together": Case(
        {
            "year": rng.integers(1990, 2004, ROWS),
            "seconds": 1_700_000_000 + rng.integers(0, 9_000, ROWS),
            "longitude": (2.35 + rng.random(ROWS) * 0.007).round(5),
            "kelvin": (280.15 + rng.random(ROWS) * 0.2).round(3),
            "gross": 5003 + rng.integers(0, 400, ROWS) / 100,
        },
        dict.fromkeys(("year", "seconds", "longitude", "kelvin", "gross"), "numeric"),
        holds=lambda schema, data: (
            all(sum(s >= 0.1 for s in shares(data, name)) >= 2 for name in data.names)
            and all(cut == int(cut) for cut in schema.columns[0].cuts)
        ),
    ),
    "as many rows of each value": Case(
        {
            "month": np.tile(np.arange(1, 13), ROWS // 12),
            "hour": np.tile(np.arange(24), ROWS // 24),
            "dose": np.repeat(np.arange(0, 120, 10), ROWS // 12),
            "busy": YES[(rng.random(ROWS) < np.tile(np.repeat([0.1, 0.9], 12), ROWS // 24)) * 1],
        },
        {"month": "numeric", "hour": "numeric", "dose": "numeric", "busy": "unordered"},
        links=(("hour", "busy"),),
    ),
    "odd words and codes": Case(
        {
            "salary": odd(1500, 9000, **{"*": 0.05}),
            "age": odd(18, 95, **{".": 0.02}),
            "pressure": odd(90, 190, **{"#NULL!": 0.03}),
            "drinks": odd(0, 40, **{"Refused": 0.05, "Don't know": 0.03}),
            "mass": odd(45, 130, **{"888": 0.04, "-8": 0.02}),
            "admitted": DAYS.strftime("%d/%m/%Y"),
        },
        {
            **dict.fromkeys(("salary", "age", "pressure", "drinks", "mass"), "numeric"),
            "admitted": "date written as %d/%m/%Y",
        },
        codes={"salary": {"*"}, "age": {"."}, "drinks": {"Refused", "Don't know"}},
        hints={"mass": "888", "pressure": "#NULL!"},
    ),
    "more levels than a release takes": Case(
        {
            "state": [f"s{k:02d}" for k in PARITY],
            "insured": YES[(rng.random(ROWS * 6) < np.where(PARITY % 2, 0.8, 0.2)) * 1],
        },
        {"state": "unordered", "insured": "unordered"},
        hints={"state": "24 levels and a release takes 12: group them"},
        facts={
            "state": {
                "type": "unordered",
                "groups": {
                    "even": [f"s{k:02d}" for k in range(0, 24, 2)],
                    "odd": [f"s{k:02d}" for k in range(1, 24, 2)],
                },
                "levels": [f"s{k:02d}" for k in range(24)],
            }
        },
        typed={
            "card-0-groups": f"even: {', '.join(f's{k:02d}' for k in range(0, 24, 2))} | "
            f"odd: {', '.join(f's{k:02d}' for k in range(1, 24, 2))}"
        },
        links=(("state", "insured"),),
    ),
    "several rows of a person": Case(
        {
            "pnr": VISITS,
            "wave": np.arange(len(VISITS)) % 7 + 1981,
            "sick": YES[VISITS % 2],
            "dollars": np.where(VISITS % 3 > 0, 0, VISITS % 877 + 5),
        },
        {"pnr": "an id, each with about", "wave": "ordered", "sick": "unordered"},
    ),
    "categories in an order": Case(
        {
            "pain": pd.Series(rng.choice(PAIN.categories[:3], ROWS), dtype=PAIN),
            "drug": YES[SICK * 1],
        },
        {"pain": "ordered", "drug": "unordered"},
        holds=lambda schema, data: schema.levels[0] == tuple(PAIN.categories),
    ),
    "numbers with underscores": Case(
        {"code": rng.choice(["2_2", "22", "3_1", "3_2"], ROWS), "ok": YES[SICK * 1]},
        {"code": "unordered", "ok": "unordered"},
        holds=lambda schema, data: len(schema.levels[0]) == 4,
    ),
    "survey weights": Case(
        {
            "group": YES[GROUP * 1],
            "poor": YES[SICK * 1],
            "weight": np.where(GROUP, rng.uniform(0.2, 0.6, ROWS), 1.2).round(3),
        },
        {"group": "unordered", "poor": "unordered", "weight": "a survey weight"},
    ),
}  # fmt: skip


def check(case: Case, draft: Schema) -> None:
    """Compare a draft with what a case asks for."""
    out, hints = dict(draft.left_out), dict(draft.hints)
    columns = {column.name: column for column in draft.columns}
    for name, kind in case.types.items():
        assert kind in (columns[name].type if name in columns else out[name]), name
    for name, codes in case.codes.items():
        assert {*columns[name].missing} == codes
    for name, words in case.hints.items():
        assert words in hints[name]


@pytest.mark.parametrize("name", CASES)
def test_a_table_is_drafted_declared_and_read_alike(name, tmp_path, capsys, open_app):
    case, kind = CASES[name], "parquet" if "order" in name else "csv"
    frame, path = pd.DataFrame(case.table), tmp_path / f"mine.{kind}"
    frame.to_parquet(path) if kind == "parquet" else frame.to_csv(path, index=False)
    draft = Schema.draft(path)
    check(case, draft)
    check(case, Schema.draft(frame))
    assert main(["schema", "draft", str(path)]) == 0
    said = capsys.readouterr()
    assert parse_schema(parse_json(said.out, "schema")) == draft
    assert all(remark in said.err for remark in draft.remarks)
    schema = draft.declare(*(n for n in draft.names if n not in case.facts), **case.facts)
    data = read_table(path, schema)
    assert case.holds(schema, data)
    schema.save(tmp_path / "s.json")
    assert main(["schema", "check", str(tmp_path / "s.json"), "--csv", str(path)]) == 0
    if case.facts:
        with pytest.raises(InputError, match="group"):
            check_levels(draft.declare(*draft.names))
    check_levels(schema)
    found = {frozenset(pair) for pair in run("pc", data).skeleton}
    assert found >= {frozenset(pair) for pair in case.links}
    app = open_app("my-data")
    own_table(app, path.read_bytes(), name=path.name)
    step(app, "columns")
    app.toggle(key="schema-open").set_value(True).run()
    for key, typed in case.typed.items():
        app.text_input(key=key).set_value(typed).run()
    press(app, "schema-all", "schema-use")
    mine = app.session_state["own_data"]
    assert (mine.names, mine.levels) == (data.names, data.levels)
    assert rows_of(mine) == rows_of(data)


def test_two_files_are_joined_alike_and_never_repeat_a_row(tmp_path, capsys, open_app):
    tables = {
        "flights": pd.DataFrame({"late": YES[SICK * 1], "tail": [f"N{k}" for k in FLOWN]}),
        "planes": PLANES,
        "twice": pd.concat([PLANES, PLANES[:1]]),
    }
    for name, frame in tables.items():
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    flights, planes, twice = (str(tmp_path / f"{name}.csv") for name in tables)
    wanted = tables["flights"].merge(PLANES, "left", left_on="tail", right_on="plane")
    wanted = wanted.drop(columns="plane")
    schema = Schema.draft(Join(flights, planes, ("tail", "plane")))
    assert schema == Schema.draft(wanted)
    data = read_table(Join(tables["flights"], PLANES, ("tail", "plane")), schema)
    assert rows_of(data) == rows_of(read_table(wanted, schema))
    assert shares(data, "seats")[-1] == (FLOWN >= 90).mean()  # of no plane there
    asked = ["schema", "draft", flights, "--join", planes, "tail", "plane"]
    assert main(asked) == 0
    assert parse_schema(parse_json(capsys.readouterr().out, "schema")) == schema
    refused = "more than once in twice.csv, so the join would repeat rows"
    with pytest.raises(InputError, match=refused):
        read_table(Join(flights, twice, ("tail", "plane")), schema)
    assert main([*asked[:4], twice, "tail", "plane"]) == 2
    assert refused in capsys.readouterr().err
    assert main([*asked[:4], planes, "tail", "plan"]) == 2
    assert "Did you mean 'plane'?" in capsys.readouterr().err
    app = open_app("my-data")
    own_table(app, tables["flights"].to_csv(index=False).encode(), name="flights.csv")
    app.session_state["join-open"] = True
    step(app, "table")
    for name, fault in (("twice", refused), ("planes", "")):
        give(app, "join-file", tables[name].to_csv(index=False), f"{name}.csv")
        app.selectbox(key="join-key").set_value("tail").run()
        assert fault in told(app, "error")
        press(app, *["join-go"] * (not fault))
        assert bool(fault) == bool(app.error)
        assert ("were added" in told(app, "success")) == (not fault)
    mine = app.session_state["own_data"]
    assert rows_of(mine) == rows_of(read_table(wanted))

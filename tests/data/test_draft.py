"""What a draft proposes: no column is made constant, and nothing is left out without its reason."""

import sys

import numpy as np
import pandas as pd
import pytest

from engine import InputError, Schema
from engine.data.draft import FEW, OWN

ROWS = 600
WORDS = ("*", ".", "#NULL!", "Refused", "Don't know", "inf")


def _number(rng):
    """A column of numbers of any shape, whole or not."""
    shape = rng.integers(6)
    base = rng.choice([0, 2000, 295.15, 48.85, 1.6e9, -40])
    spread = rng.choice([0.01, 1, 40, 9000])
    values = [
        lambda: base + rng.random(ROWS) * spread,
        lambda: rng.lognormal(rng.uniform(-4, 9), 2, ROWS),
        lambda: rng.normal(base, spread, ROWS).round(rng.integers(0, 4)),
        lambda: base + rng.integers(0, 5 + int(spread), ROWS),
        lambda: np.tile(np.arange(rng.integers(11, 60)), ROWS)[:ROWS],
        lambda: rng.standard_t(1, ROWS),
    ][shape]()
    zeros = rng.random(ROWS) < rng.choice([0, 0, 0.4, 0.8, 0.93])
    return np.where(zeros, 0, values)


def _drafted(cells):
    """The draft of a column next to another one, and that column; None where it is left out."""
    draft = Schema.draft(pd.DataFrame({"x": cells, "y": [0, 1] * 300, "z": [0, 1, 1] * 200}))
    return draft, next((column for column in draft.columns if column.name == "x"), None)


def contract(seed):
    """What of the contract one random column does not keep."""
    rng = np.random.default_rng(seed)
    kind, values = rng.integers(4), _number(rng)
    cells = pd.Series(values)
    if kind == 1:  # odd words among the numbers
        cells = cells.astype(object).where(rng.random(ROWS) > 0.05, rng.choice(WORDS))
    elif kind == 2:  # ids of persons, in blocks or not
        people = rng.permutation(np.arange(ROWS // 4)) + int(rng.choice([1, 20_001]))
        cells = pd.Series(np.repeat(people, rng.integers(1, 9, len(people)))[:ROWS])
        values = cells.to_numpy(float)
        if rng.random() < 0.5:
            cells = cells.sample(frac=1, random_state=1, ignore_index=True)
    elif kind == 3:  # dates
        days = pd.Timestamp("1993-01-01") + pd.to_timedelta(rng.integers(0, 400, ROWS), "D")
        form = rng.choice(["%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y"])
        draft, column = _drafted(days.strftime(str(form)))
        return [] if column is None and form in str(draft) else [f"no date {form}: {draft}"]
    draft, column = _drafted(cells)
    said = dict(draft.left_out) | dict(draft.hints)
    if kind == 2:
        return [] if "rows" in said.get("x", "") else [f"a silent id: {draft}"]
    if column is None or column.type == "unordered":  # few numbers with words are words
        fine = len(set(values)) in (1, ROWS) or (kind == 1 and len(set(values)) <= FEW)
        return [] if fine else [f"left out: {said}"]
    wrong = []
    odd = {str(c) for c in cells if isinstance(c, str)}
    if odd - {*(column.missing or ())} and column.type == "numeric":
        wrong.append(f"no code for missing: {odd}")
    values = np.array([c for c in cells if not isinstance(c, str)], float)
    counts = pd.Series(values).value_counts()
    own = counts[counts >= OWN * counts.sum()].index
    shares = (
        np.bincount(np.digitize(values, column.cuts)) / len(values) if column.cuts else np.zeros(1)
    )
    if shares.max() > 0.95 and counts.iloc[0] < 0.95 * counts.sum():
        wrong.append(f"one level has {shares.max():.0%}")
    if (shares == 0).any() and column.cuts:
        wrong.append("a level is empty")
    for value in own if column.cuts else ():
        level = np.digitize(value, column.cuts)
        if {*values[np.digitize(values, column.cuts) == level]} != {value}:
            wrong.append(f"{value} shares its level")
    return [f"{one}: {column}" for one in wrong]


def test_the_contract_holds_for_random_columns():
    assert [fault for seed in range(25) for fault in contract(seed)] == []


def test_what_is_left_out_and_what_is_a_code_is_said():
    rng = np.random.default_rng(6)
    mass = rng.integers(50, 120, ROWS).astype(object)
    mass[:9], mass[9:15] = 888, -8
    frame = pd.DataFrame(
        {
            "mass": mass,
            "code": rng.choice(["2_2", "22", "3_1"], ROWS),
            "id_of_card": 2**60 + np.arange(ROWS),
            "note": [f"n{min(k, 90)}" for k in range(ROWS)],
        }
    )
    draft = Schema.draft(frame)
    out, hints = dict(draft.left_out), dict(draft.hints)
    assert "-8 (6 rows)" in hints["mass"]
    assert "888 (9 rows)" in hints["mass"]
    assert "all different (600)" in out["id_of_card"]
    assert "different values" in out["note"]
    assert draft.levels[draft.names.index("code")] == ("2_2", "3_1", "22")
    assert all(word in str(draft) for word in (*out, *hints))
    both = Schema.draft(frame, missing=[888, "-8"])
    assert both.missing == (888, "-8")
    assert "apart" not in dict(both.hints).get("mass", "")
    assert "missing" in both.levels[0]


def test_a_table_without_columns_of_use_says_why():
    with pytest.raises(InputError, match="all different"):
        Schema.draft(pd.DataFrame({"a": np.arange(90), "b": "x"}))


if __name__ == "__main__":  # python -m tests.data.test_draft [500]
    found = [fault for seed in range(int((sys.argv[1:] or ["500"])[0])) for fault in contract(seed)]
    print("\n".join(found), f"{len(found)} findings", sep="\n")

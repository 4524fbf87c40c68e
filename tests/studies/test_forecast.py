"""The forecast: bands over simulated networks of a schema, from public facts alone."""

import json
import math
import re
from dataclasses import replace
from itertools import combinations
from unittest import mock

import numpy as np
import pytest

from benchmarks import forecast as judging
from benchmarks.written import between
from engine import InputError, load_dataset, run
from engine.__main__ import main
from engine.data.imagined import MOST_BORROWED, MOST_PARENTS, fitted, random_network
from engine.data.networks import NETWORKS, load_network
from engine.data.schema import Column, Schema
from engine.percent import percent
from engine.studies import plan as forecast
from engine.studies import repeat
from engine.studies.detectability import (
    GRAPH,
    UNREACHED,
    Shape,
    detectability,
    remedies,
    smallest_correlation,
)

FAST = ["gauss_pc", "em_pc"]


def plan(request, epsilons, keys, **more):
    """The forecasts of a request."""
    return list(forecast.plan(request, epsilon=epsilons, algorithms=keys, **more).forecasts)


def schema(tmp_path, content):
    path = tmp_path / "schema.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return str(path)


HEAD = {"format": "dp-causal-explorer/schema", "version": 1}
COLUMNS = {
    **HEAD,
    "columns": [
        {"name": f"c{j}", "type": "unordered", "levels": ["a", "b", "c"][: 2 + j % 2]}
        for j in range(5)
    ],
}


QUESTION = forecast.PlanRequest(("a", "b", "c"), (("no", "yes"),) * 3, 3_000)


def made(key, epsilon, low, median, high):
    counts = {name: forecast.Band(k, k + 1, k + 2) for k, name in enumerate(forecast.BANDS)}
    return forecast.Forecast(
        key, epsilon, draws=9, **counts | {"f1": forecast.Band(low, median, high)}
    )


@pytest.mark.parametrize("donor", [None, *NETWORKS])
def test_networks_keep_to_the_schema(donor):
    """Random ones, and those with the tables of a bundled network."""
    rng = np.random.default_rng(3)
    names = [f"v{j}" for j in range(8)]
    for _ in range(1 if donor else 30):
        levels = [tuple(map(str, range(r))) for r in (1, 2, *rng.integers(1, 10, 6))]
        asked = names, levels, 9, rng
        network = random_network(*asked, donor and load_network(donor))
        assert network.states == tuple(levels)
        assert network.dag().number_of_edges() == 9
        assert max(map(len, network.parents)) <= (MOST_BORROWED if donor else MOST_PARENTS)
        for table in network.tables:
            assert np.allclose(table.sum(axis=1), 1)
            assert (table >= 0).all()
        network.sample(20, rng)
    assert random_network(["a", "b"], [("0", "1")] * 2, 99, rng).dag().number_of_edges() == 1


def test_half_of_the_networks_borrow_the_tables_of_others():
    """In turns made up and borrowed, each time of another donor; never of the schema's own."""
    data = load_dataset("asia", n=10)
    donors = tuple(name for name in NETWORKS if name != "asia")
    lent = []

    def drawn(*asked):
        lent.append(asked[-1] and asked[-1].name)
        return random_network(*asked)

    question = forecast.PlanRequest(data.names, data.levels, 50, donors=donors)
    with mock.patch.object(forecast, "random_network", drawn):
        tables = [question.dataset(k) for k in range(2 * len(donors))]
        assert (set(lent[::2]), sorted(lent[1::2])) == ({None}, sorted(donors))
        assert question.dataset(3).codes.tolist() == tables[3].codes.tolist()
        question.dataset(3, seed=1)
        assert lent[-1] != lent[3]
    counts = [t.truth.number_of_edges() for t in tables if t.truth is not None]
    assert min(counts) >= round(8 * 1.2 * math.exp(-forecast.GUESSED))
    assert max(counts) <= round(8 * 1.2 * math.exp(forecast.GUESSED))
    alone = forecast.PlanRequest(data.names, data.levels, 50, donors=())
    assert alone.dataset(1).n == 50


def test_a_table_of_the_same_levels_is_lent_as_it_is():
    """With the same numbers of levels only the order of equal parents could change."""
    rng = np.random.default_rng(0)
    table = rng.dirichlet(np.ones(3), 2 * 4)
    assert np.array_equal(fitted(table, (2, 4), (2, 4), 3, rng), table)
    turned = fitted(table, (2, 4), (4, 2), 3, rng)  # the parent with 4 levels stands first
    assert np.array_equal(turned.reshape(4, 2, 3), table.reshape(2, 4, 3).swapaxes(0, 1))


def test_levels_that_are_added_up_or_split_keep_their_probability():
    rng = np.random.default_rng(1)
    table = rng.dirichlet(np.ones(4), 3)
    fewer = fitted(table, (3,), (3,), 2, rng)
    sums = [table[:, :k].sum(axis=1) for k in (1, 2, 3)]
    assert any(np.allclose(fewer[:, 0], s) for s in sums)
    more = fitted(table, (3,), (3,), 6, rng)
    # Split levels stand side by side, in parts that are the same in every row.
    joins = [np.add.reduceat(more, (0, *cuts), axis=1) for cuts in combinations(range(1, 6), 3)]
    assert any(np.allclose(join, table) for join in joins)
    assert np.allclose((more[:, 1:] / more[:, :-1]).std(axis=0).min(), 0)
    some = fitted(table, (3,), (2,), 4, rng)
    assert all(any(np.array_equal(row, own) for own in table) for row in some)
    twice = fitted(table, (3,), (5,), 4, rng)
    assert {tuple(row) for row in twice} == {tuple(row) for row in table}
    extra = fitted(table, (3,), (3, 2), 4, rng).reshape(3, 2, 4)
    assert np.array_equal(extra[:, 0], extra[:, 1])  # a parent that the table does not know
    gone = fitted(table, (3,), (), 4, rng)
    assert gone.shape == (1, 4)


def test_the_band_of_f1_is_the_stretched_one():
    data = load_dataset("cancer", n=10)
    question = forecast.PlanRequest(data.names, data.levels, 3_000)
    each = (run("em_pc", question.dataset(k), seed=k, epsilon=1.0, delta=1e-6) for k in range(5))
    runs = [forecast.numbers_of(one) for one in each]
    ends = {**forecast.ENDS, "published": ((1.0, 1.0), (3.0, 0.0), (9.0, 9.0))}
    with mock.patch.object(forecast, "ENDS", ends):
        (found,) = plan(question, [1.0], ["em_pc"], draws=5, empty=0)
    raw = forecast.Band.of([run[3] for run in runs])
    share = math.log10(3)  # of the way from 1,000 to 10,000 rows
    below, above = 1 + 2 * share, 1 - share
    wanted = raw.stretched(below, above, forecast.LEAST_END)
    assert (found.f1.low, found.f1.high) == pytest.approx((wanted.low, wanted.high))
    assert found.directed_f1 == forecast.Band.of([run[4] for run in runs])
    (content,) = forecast.Plan(question, (found,)).as_dict()["forecasts"]
    assert content["invented_on_nothing"] is None
    # One that has no length reaches a little; F1 ends at 0 and 1.
    assert forecast.Band(0.5, 0.5, 0.5).stretched(2.0, 1.0, 0.02).low == pytest.approx(0.46)
    assert forecast.Band(0.1, 0.5, 0.9).stretched(3.0, 3.0, 0.02) == forecast.Band(0.0, 0.5, 1.0)
    knots = ((1.0, 4.0), (2.0, 3.0), (4.0, 2.0))
    assert (forecast.ends_for(50, knots), forecast.ends_for(10**7, knots)) == (
        (1.0, 4.0),
        (4.0, 2.0),
    )
    kinds = {key: forecast.kind_of(key) for key in forecast.planned_algorithms()}
    assert set(kinds.values()) == set(forecast.ENDS)
    assert (kinds["marginal_pc"], kinds["gram_notears"]) == ("marginals", "scores")


def test_where_little_is_to_be_had_nothing_was_found():
    """Every network and setting of the study for which the sentence stands."""
    sizes = {name: len(load_network(name).names) for name in NETWORKS}
    met = 0
    for one in judging.kept():
        if one.network in sizes and detectability(one.rows, sizes[one.network], [one.epsilon]):
            assert np.mean(one.real) < UNREACHED
            met += 1
    assert met > 50


def test_what_the_band_holds_is_what_the_study_counted():
    """The numbers that Plan prints, and the table, follow from the runs that are kept."""
    found = judging.kept()
    names = ("ENDS", "HELD", "RUNS", "JUDGED")
    assert judging.constants(found) == {name: getattr(forecast, name) for name in names}
    assert between(judging.DOC, "benchmarks.forecast") == judging.table(found)
    assert {one.rows for one in found} == set(forecast.KNOTS)
    assert {one.algorithm for one in found} == set(forecast.planned_algorithms())


def test_each_network_is_judged_with_ends_of_the_others():
    """Two networks: one lies far below its bands, the other in the middle of its own."""
    drawn = tuple(np.linspace(0.4, 0.6, 9))
    low = judging.Judged("low", "em_pc", 1000, 1.0, drawn, (0.1,) * 10)
    mid = judging.Judged("mid", "em_pc", 1000, 1.0, drawn, (0.5,) * 10)
    where = judging.places([low, mid])
    assert where[low] == [-1] * 10  # the other network's ends know nothing of it
    assert where[mid] == [0] * 10
    (below, _), *rest = judging.fitted([low, mid])["published"]
    band = forecast.Band.of(drawn)
    assert below == pytest.approx((0.5 - 0.1) / (0.5 - band.low))
    assert rest == [(1.0, 1.0)] * 2  # where nothing was run the simulated band stands


def test_where_nothing_is_to_be_had_is_said_from_public_facts():
    assert smallest_correlation(100_000, 37, 0.1, 1e-6) == pytest.approx(0.041, abs=5e-4)
    assert smallest_correlation(5_000, 37, 1.0, 1e-6) == pytest.approx(0.10, abs=5e-3)
    # Four times the noise for twice the columns, half of it for twice the rows, but for chance.
    few, many = (smallest_correlation(1000, d, 0.01, 1e-6) for d in (10, 20))
    assert many / few == pytest.approx(2.0, rel=1e-2)
    said = detectability(10_000, 20, [10.0, 0.1, 0.05])
    assert "ε = 0.05, 0.1 little can be found" in said
    assert "20 columns" in said
    assert "correlation of 0.2" in said  # at the larger of the two
    assert detectability(10_000, 20, [1.0, 10.0]) == ""
    none = detectability(1_000, 37, [0.1])
    assert "next to nothing can be found" in none
    assert "no link would clearly exceed the noise" in none
    assert detectability(1, 5, [0.1]) == detectability(100, 1, [0.1]) == ""


def test_what_is_said_to_show_a_graph_did():
    """Every setting of the study at which what stands out is no more than the remedies ask for."""
    sizes = {name: len(load_network(name).names) for name in NETWORKS if name != "water"}
    shown = [
        np.mean(one.real)
        for one in judging.kept()
        if one.algorithm == "marginal_pc" and one.network in sizes
        if smallest_correlation(one.rows, sizes[one.network], one.epsilon, 1e-6) <= GRAPH
    ]
    assert len(shown) > 30
    assert min(shown) >= UNREACHED


@pytest.mark.parametrize(("rows", "columns", "epsilon"), [(10_000, 20, 0.1), (20_000, 37, 0.05)])
def test_each_remedy_is_the_least_that_does(rows, columns, epsilon):
    said = remedies(rows, columns, epsilon)
    larger, fewer, tables = map(float, re.findall(r"[\d.]*\d", said))
    assert smallest_correlation(rows, columns, larger, 1e-6) <= GRAPH
    assert smallest_correlation(rows, columns, larger - 0.1, 1e-6) > GRAPH
    assert smallest_correlation(rows, int(fewer), epsilon, 1e-6) <= GRAPH
    assert smallest_correlation(rows, int(fewer) + 1, epsilon, 1e-6) > GRAPH
    least = smallest_correlation(rows, columns, epsilon, 1e-6)
    assert least / math.sqrt(tables) <= GRAPH < least / math.sqrt(tables - 1)
    assert "larger ε does not suffice" in remedies(1_000, columns, 1.0)


def test_a_band_holds_as_many_new_draws_as_it_says():
    """Of 19 draws the 10th and 90th percentile hold 80 % of further ones."""
    rng = np.random.default_rng(1)
    draws = rng.normal(size=(4000, 20))
    inside = [forecast.Band.of(row[:19]).holds(row[19]) for row in draws]
    assert np.mean(inside) == pytest.approx(0.8, abs=0.02)


def test_more_budget_and_more_rows_buy_more():
    data = load_dataset("asia", n=10)
    few, many = (forecast.PlanRequest(data.names, data.levels, n) for n in (300, 20_000))
    poor = plan(few, [0.01], FAST, draws=9)
    rich = plan(many, [5.0], FAST, draws=4)
    for a, b in zip(poor, rich, strict=True):
        assert a.f1.median < b.f1.median
        assert a.noise
        assert not b.noise
    said = forecast.Plan(few, tuple(poor)).warning
    assert "300 rows and ε = 0.01 this budget cannot show a graph" in said
    assert "such tables combined" in said
    assert forecast.Plan(many, tuple(rich)).warning == ""
    reached = forecast.epsilon_range([*poor, *rich], 0.5)
    assert reached.will == 5.0
    assert forecast.epsilon_range(poor, 1.01).may is None


def test_a_target_is_reached_in_a_range_of_epsilons():
    def forecasts(key, bands):
        return [made(key, e, a, (a + b) / 2, b) for e, (a, b) in bands.items()]

    # At 0.3 the upper end reaches .8 and at 1 it does not, so that it counts from 3 on.
    first = {0.1: (0.1, 0.4), 0.3: (0.6, 0.9), 1.0: (0.5, 0.7), 3.0: (0.7, 0.9), 10.0: (0.85, 1)}
    found = forecast.epsilon_range(forecasts("priv_pc", first), 0.8)
    assert (found.may, found.will) == (3.0, 10.0)
    assert "ε = 3 to 10 on, with Priv-PC" in found.words
    early = forecasts("marginal_pc", {0.1: (0.1, 0.9), 1.0: (0.7, 0.9), 10.0: (0.7, 1)})
    # The one that surely reaches it is told, though another may at a smaller epsilon.
    assert (
        forecast.epsilon_range([*forecasts("priv_pc", first), *early], 0.8).algorithm == "priv_pc"
    )
    alone = forecast.epsilon_range(early, 0.8)
    assert (alone.may, alone.usual, alone.will) == (0.1, 1.0, None)
    assert "0.1 on one network in ten, ε = 1 on half of them" in alone.words
    assert "more than any ε tried on the hardest tenth" in alone.words
    sure = forecast.epsilon_range(forecasts("priv_pc", {1.0: (0.85, 0.9)}), 0.8)
    assert sure.words == "Expect skeleton F1 0.8 from ε = 1 on, with Priv-PC."


def test_a_forecast_counts_as_a_run_does():
    """Priv-PC leaves most pairs open: Run calls none found or invented. Marginal PC doubts arrows,
    which scores take as arrows.
    """
    data = load_dataset("asia", n=3_000, seed=1)
    runs = run("priv_pc", data, seed=0, epsilon=0.1), run("marginal_pc", data, seed=0, epsilon=3.0)
    assert runs[0].untested
    for result in runs:
        counts, scores = result.counts, result.metrics_tested
        told = forecast.numbers_of(result)
        shown = counts.found + counts.false_positives
        assert told[:3] == (counts.true, counts.found, counts.false_positives)
        assert told[3:6] == (scores.skeleton_f1, scores.directed_f1, scores.shd)
        assert told[6:] == (counts.false_positives / max(1, shown), shown)
    assert counts.scores.directed_f1 != scores.directed_f1


def test_a_stop_keeps_what_is_finished():
    data, seen = load_dataset("cancer", n=10), []
    question = forecast.PlanRequest(data.names, data.levels, 500)
    found = plan(
        question, [1.0], FAST, draws=9, stop=lambda: len(seen) >= 3,
        on_progress=lambda share, phrase: seen.append(phrase),
    )  # fmt: skip
    assert [f.draws for f in found] == [2, 1]
    assert seen[-1].startswith(f"3 of {18 + 2 * repeat.DRAWS} runs, about ")


def test_the_command(tmp_path, capsys):
    path = schema(tmp_path, COLUMNS)
    argv = ["plan", "--schema", path, "--rows", "3000", "--epsilon", "0.1,3", "--draws", "3"]
    argv += ["--algorithm", ",".join(FAST)]
    assert main([*argv, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["rows"] == 3000
    assert len(found["forecasts"]) == 4
    assert {*forecast.BANDS, "noise"} <= set(found["forecasts"][0])
    assert main(argv) == 0
    text = capsys.readouterr().out
    shape = Shape((2, 3, 2, 3, 2), 3000)
    for f, line in zip(found["forecasts"], text.splitlines()[1:], strict=False):
        count = repeat.invented(f["algorithm"], shape, {"epsilon": f["epsilon"]})
        assert f["invented_on_nothing"] == count.mean
        assert f" {percent(f['false_share'][1])}  " in line
        assert line.split("%", 1)[1].split()[0] == count.about
    assert "No row was read" in text
    assert "Strict guarantee" in text


@pytest.mark.parametrize(
    ("content", "extra"),
    [
        ("not json", []),
        ({**HEAD, "columns": []}, []),
        ({**HEAD, "columns": [{"name": "a"}]}, []),
        ({**HEAD, "columns": COLUMNS["columns"][:1]}, []),
        (COLUMNS, ["--epsilon", "zero"]),
        (COLUMNS, ["--epsilon", "-1"]),
        (COLUMNS, ["--rows", "1"]),
        (COLUMNS, ["--links", "0"]),
        (COLUMNS, ["--algorithm", "pc"]),
        (COLUMNS, ["--draws", "1"]),
    ],
)
def test_bad_input_is_one_sentence(content, extra, tmp_path, capsys):
    argv = ["plan", "--schema", schema(tmp_path, content), "--rows", "3000", *extra]
    assert main(argv) == 2
    error = capsys.readouterr().err.strip()
    assert "\n" not in error
    assert error.endswith((".", "?"))


# A plan as a notebook shows it ----------------------------------------------------------

LOW = made("em_pc", 0.1, 0.1, 0.2, 0.4)
HIGH = made("priv_pc", 1.0, 0.3, 0.6, 0.7)
REACHED = made("priv_pc", 3.0, 0.82, 0.9, 1.0)
UNKNOWN = made("svt_pc", 1.0, 0.05, 0.5, 1.0)


def test_what_is_printed_is_a_table_with_the_answer_below():
    assert "best is skeleton F1 0.60, by Priv-PC at ε = 1." in str(
        forecast.Plan(QUESTION, (LOW, HIGH))
    )
    found = forecast.Plan(QUESTION, (LOW, HIGH, REACHED, UNKNOWN))
    head, *lines = str(found).splitlines()
    assert head.split()[:2] == ["Algorithm", "ε"]
    assert [line.split()[0] for line in lines[:4]] == ["EM-PC", "Priv-PC", "Priv-PC", "SVT-PC"]
    assert lines[0].endswith("noise")
    assert "0.50 (0.05 to 1.00)" in lines[3]
    assert "*: nothing can be said" in lines[5]
    assert lines[4] == forecast.epsilon_range(found.forecasts, 0.8).words
    assert forecast.TRUST in lines[5]
    assert "3,000 rows and ε = 0.1 this budget cannot" in str(forecast.Plan(QUESTION, (LOW, HIGH)))
    assert "Stopped before" in str(forecast.Plan(QUESTION, ()))
    assert "Priv-PC" in found._repr_html_()


def test_a_band_wider_than_half_says_nothing():
    wide = replace(UNKNOWN, false_positives=forecast.Band(0, 0, 0))
    assert wide.unknown
    assert forecast.Plan(QUESTION, (wide,)).table["Expect"].tolist() == ["*"]
    said = forecast.Plan(QUESTION, (wide,), 0.01).as_dict()
    assert "No forecast is possible" in said["sentence"]
    assert said["smallest_epsilon"] is said["by"] is None
    assert not HIGH.unknown
    ends = ((1.0, 0.5), (3.0, 0.85))  # half of the networks reach .8 from 1 on, nine in ten from 3
    some = [replace(HIGH, epsilon=e, f1=forecast.Band(low, 0.9, 0.95)) for e, low in ends]
    assert forecast.Plan(QUESTION, tuple(some), 0.8).as_dict()["smallest_epsilon"] == [1.0, 3.0]


def test_what_is_expected_of_the_links_narrows_and_moves_the_forecast():
    asked = {"names": tuple("abcdef"), "levels": (("no", "yes"),) * 6, "rows": 3_000}
    few, many = (forecast.PlanRequest(**asked, links=k) for k in (2, 8))
    assert {few.dataset(d).truth.number_of_edges() for d in range(6)} == {2}
    assert min(many.dataset(d).truth.number_of_edges() for d in range(6)) >= 7
    f1 = []
    for strength in (0.3, 1.0):
        request = forecast.PlanRequest(**asked, links=5, strength=strength)
        (one,) = plan(request, [1.0], ["marginal_pc"], draws=5, empty=0)
        f1.append(one.f1.median)
    assert f1[0] < f1[1]
    for wrong in ({"links": 0}, {"links": 99}, {"strength": 0.0}, {"strength": 3.0}):
        with pytest.raises(InputError):
            forecast.PlanRequest(**asked, **wrong)
    with pytest.raises(InputError, match="two columns"):
        forecast.PlanRequest(("a",), (("0",),), 10)


def test_the_frame_has_medians_and_the_ends_of_f1():
    frame = forecast.Plan(QUESTION, (LOW, HIGH)).frame
    assert frame.loc[1, ["f1_low", "f1", "f1_high"]].tolist() == [0.3, 0.6, 0.7]
    assert frame[["links", "found", "false_positives"]].to_numpy().tolist() == [[1, 2, 3]] * 2
    assert frame["invented"].tolist() == frame["false_positives"].tolist()
    with pytest.warns(DeprecationWarning, match="invented is called false_positives"):
        assert LOW.invented is LOW.false_positives
    assert frame["noise"].tolist() == [True, True]


def test_rows_are_those_asked_for_then_the_schemas():
    columns = tuple(Column(name=n, type="ordered", levels=("no", "yes")) for n in ("a", "b"))
    schema = Schema(columns, rows=700)

    def rows(**asked):
        return forecast.plan(schema, epsilon=1, algorithms="em_pc", draws=2, **asked).request.rows

    assert rows() == 700
    assert rows(rows=900) == 900
    with pytest.raises(InputError, match="the number of records"):
        forecast.plan(Schema(columns), epsilon=1)

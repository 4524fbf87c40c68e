"""A notebook's input and output: any frame, one sentence where it is none, no row."""

import re
import threading

import numpy as np
import pandas as pd
import pytest

import engine
from engine import (
    Budget,
    InputError,
    Schema,
    load_dataset,
    load_release,
    load_schema,
    plan,
    run,
    sweep,
)

RNG = np.random.default_rng(7)
FRAME = load_dataset("asia", n=3_000, seed=7).to_frame().astype(str)
SCHEMA = Schema.draft(FRAME).declare(*FRAME.columns)


def of(**columns):
    return pd.DataFrame(columns)


TWO = [1, 2] * 10


def test_a_frames_values_are_words_in_their_order():
    """Mixed objects, truth values and periods as text."""
    years = pd.PeriodIndex(["2021", "2020"] * 10, freq="Y")
    frame = of(a=[1, "x", 2.5, (1, 2)] * 5, b=[True, False] * 10, d=years, e=TWO)
    mixed, *others = engine.read_table(frame).levels
    assert mixed == ("(1, 2)", "1", "2.5", "x")
    assert others == [("false", "true"), ("2020", "2021"), ("1", "2")]


ODD = {
    "nothing": (None, "not nothing"),
    "a number": (5, "not of the type int"),
    "lists": ([[1, 2], [2, 1]], "not of the type list"),
    "one axis": (np.zeros(3), "has rows and columns"),
    "complex numbers in an array": (np.zeros((3, 2), complex), "of numbers or words"),
    "complex numbers in a frame": (of(a=[1j, 2] * 10, b=TWO), "a type that is not read"),
    "a column twice": (
        pd.DataFrame([[1, 2, 3]] * 4, columns=["a", "a", "b"]),
        "are called 'a'; rename",
    ),
    "one column": (of(a=TWO), "1 column with a name"),
    "a series": (pd.Series(TWO), "A single column is not a table"),
    "an empty frame": (pd.DataFrame(), "0 columns with a name"),
    "no such file": ("nowhere.csv", "no file 'nowhere.csv'"),
    "many words": (
        of(a=np.char.add("w", np.arange(30_000).astype(str)), b=np.arange(30_000) % 2),
        "its values are all different",
    ),
    "a schema that is none": (FRAME, "The schema must be a Schema"),
}


@pytest.mark.parametrize("case", ODD)
def test_what_is_no_table_is_one_sentence(case):
    data, expected = ODD[case]
    more = {"schema": {}} if case == "a schema that is none" else {}
    with pytest.raises(InputError, match=re.escape(expected)) as caught:
        run("marginal_pc", data, epsilon=1.0, **more)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


# What is shown --------------------------------------------------------------------------


def no_row_in(text, frame):
    """Whether no row stands in a text, whatever separates its cells."""
    words = set(re.findall(r"\w+", text))
    return not any(set(map(str, row)) <= words for row in frame.head(50).itertuples(index=False))


@pytest.fixture(scope="module")
def people():
    """A table whose cells are found again wherever they appear."""
    n = 400
    ages = RNG.permutation(np.arange(10_000, 10_000 + n))
    return of(age=ages, stage=RNG.choice(["early", "late"], n), smokes=RNG.choice(["no", "yes"], n))


def test_what_a_run_shows_of_own_data_is_nothing_exact(people):
    schema = Schema.draft(people).keep("stage", "smokes").declare("stage", "smokes")
    whole = Schema(
        (engine.Column(name="age", type="numeric", cuts=(10_100, 10_300)), *schema.columns)
    )
    ours = run("marginal_pc", people, schema=whole, epsilon=1)
    assert repr(ours).count("\n") == 0
    html = ours._repr_html_()
    assert "<svg" in html
    assert "Guaranteed ε = 1 for the whole run" in html
    assert no_row_in(repr(ours) + html, people)
    assert not re.search(r"1\d{4}", html.replace("10100", ""))  # no age
    assert ours.metrics_all is None
    assert "src=" not in html
    assert html.count("http") == html.count("http://www.w3.org/2000/svg")


def test_text_in_a_picture_is_text():
    frame = of(**{"<script>x</script>": ["a", "b"] * 9, "y&z": ["a", "b"] * 9})
    html = run("marginal_pc", frame, epsilon=1.0)._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "No guarantee" in html


def test_the_edges_of_a_run_are_its_graph():
    result = run("marginal_pc", load_dataset("asia", n=20_000), epsilon=1.0)
    frame = result.edges
    shown = ["source", "target", "edge_confidence", "direction_confidence", "class"]
    assert list(frame.columns) == [*shown, "link", "arrow"]
    assert frame.link.equals(frame.edge_confidence)
    assert {
        frozenset(pair) for pair in zip(frame.source, frame.target, strict=True)
    } == result.skeleton
    graph = result.to_networkx()
    assert set(graph.edges) == set(result.cpdag.edges)
    assert list(graph) == list(result.names)
    for one in frame.itertuples():
        assert graph.edges[one.source, one.target]["edge_confidence"] == one.edge_confidence
        assert (one.target, one.source) in graph.edges or frame["class"][one.Index] == "directed"
    lines = result.to_dot().count("dir=none")
    assert lines == (result.displayed_cpdag & result.displayed_cpdag.T).sum() / 2
    assert result.to_dot().count("->") == len(result.skeleton)
    assert frame.edge_confidence.between(0, 1).all()


# A draft --------------------------------------------------------------------------------


def test_a_draft_is_not_declared_until_all_of_it_is_stated(people, tmp_path):
    frame = people.assign(age=people.age % 90)
    draft = Schema.draft(frame)
    assert draft.waiting == draft.names
    assert np.isinf(run("marginal_pc", frame, schema=draft, epsilon=1).proven.epsilon)
    partly = draft.declare("stage", age={"cuts": [40, 55, 70]})
    partly.save(tmp_path / "s.json")
    assert load_schema(tmp_path / "s.json") == partly
    assert partly.waiting == ("smokes",)
    said = run("marginal_pc", frame, schema=partly, epsilon=1).guarantee
    assert "found in the data" in said
    with pytest.raises(InputError, match="The levels of smokes were found in the data"):
        Budget("draft", epsilon=3, delta=1e-5, path=tmp_path / "b.db").release(frame, partly, 1)
    whole = partly.declare(smokes=["no", "yes"])
    assert run("marginal_pc", frame, schema=whole, epsilon=1).proven.epsilon == 1


STATED = {
    "levels": (["lo", "hi"], ("lo", "hi")),
    "levels of numbers": ([0, 1], ("0", "1")),
    "cuts": ({"cuts": [1, 3, 6]}, ("< 1", "[1, 3)", "[3, 6)", ">= 6")),
    "cuts of numpy": ({"cuts": np.array([1, 3])}, ("< 1", "[1, 3)", ">= 3")),
    "bounds": ({"bounds": [0, 4], "bins": 2}, ("< 2", ">= 2")),
    "a level of gaps": ({"cuts": [1], "other": "level"}, ("< 1", ">= 1", "missing")),
}


@pytest.mark.parametrize("case", STATED)
def test_what_a_person_states_is_what_the_column_has(case):
    said, levels = STATED[case]
    draft = Schema.draft(of(a=np.arange(30) % 12, b=["x", "y"] * 15))
    assert draft.declare(a=said).levels[0] == levels


WRONG = {
    "another column": ({"c": [1, 2]}, "has no column 'c' to declare"),
    "a field that there is not": ({"a": {"cut": [1]}}, "has no field 'cut'; it has type"),
    "a number": ({"a": 3}, "by a list of its levels, or fields"),
    "a set": ({"a": {3, 4}}, "by a list of its levels, or fields"),
    "a word": ({"a": "age in twelves"}, "by a list of its levels, or fields"),
    "cuts that fall": ({"a": {"cuts": [3, 1]}}, "cuts that do not increase"),
    "cuts of text": ({"a": {"cuts": "123"}}, "is a list"),
    "cuts and bounds": ({"a": {"cuts": [1], "bounds": [0, 1]}}, "cuts outside of its bounds"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_does_not_fit_is_one_sentence(case):
    said, expected = WRONG[case]
    draft = Schema.draft(of(a=np.arange(30) % 12, b=["x", "y"] * 15))
    with pytest.raises(InputError, match=re.escape(expected)):
        draft.declare(**said)


# Progress and stops ---------------------------------------------------------------------


def test_progress_is_told_and_a_run_is_stopped():
    seen = []
    halt = threading.Event()

    def step(one):
        seen.append(one)
        halt.set()

    result = run("priv_pc", load_dataset("asia", n=5_000), epsilon=1.0, on_step=step, stop=halt)
    assert result.status == "cancelled"
    assert seen
    with pytest.raises(InputError, match=r"threading\.Event"):
        run("pc", load_dataset("asia", n=500), stop=5)
    with pytest.raises(InputError, match="a share and a phrase"):
        sweep("cancer", "pc", on_progress=seen.append)


# A plan ---------------------------------------------------------------------------------


def test_a_plan_is_a_sentence_a_frame_and_a_table():
    seen = []
    found = plan(
        SCHEMA,
        rows=3_000,
        epsilon=[0.3, 3],
        algorithms="marginal_pc",
        draws=2,
        on_progress=lambda share, phrase: seen.append(share),
    )
    assert found.frame.epsilon.tolist() == [0.3, 3.0]
    assert found.frame.f1.between(0, 1).all()
    assert seen == sorted(seen)
    assert seen[-1] == 1
    assert "\n" not in repr(found)
    html = found._repr_html_()
    assert html.count("<table ") == 1
    assert "No row was read" in html
    nothing = plan(SCHEMA, rows=3_000, algorithms="marginal_pc", stop=lambda: True)
    assert "Stopped" in nothing._repr_html_()
    with pytest.raises(InputError, match="Give the number of records"):
        plan(SCHEMA)
    with pytest.raises(InputError, match="A forecast needs a Schema"):
        plan(FRAME, rows=10)


# A budget and what it pays --------------------------------------------------------------


def test_a_release_from_frame_to_file_and_back(tmp_path):
    book = tmp_path / "budgets.db"
    ward = Budget("ward-7", epsilon=3, delta=1e-5, path=book)
    paid = ward.release(FRAME, SCHEMA, epsilon=1)
    assert ward.left.epsilon == 2.0
    assert 0 < paid.check() <= 1
    assert paid.synthetic(50).n == 50
    assert paid.effect("smoke", "bronc").sentence.endswith(".")
    assert "\n" not in repr(paid)
    place = paid.save(tmp_path / "ward-7.json")
    assert "<svg" in (tmp_path / "ward-7.html").read_text(encoding="utf-8")
    again = load_release(place)
    pd.testing.assert_frame_equal(again.edges, paid.edges)
    assert set(again.to_networkx().edges) >= set(paid.release.cpdag)
    assert "probably" in paid._repr_html_() or "No link" in paid._repr_html_()
    assert no_row_in(paid._repr_html_() + repr(paid), FRAME)
    with pytest.raises(InputError, match="'gml' is none"):
        paid.to_text("gml")
    with pytest.raises(InputError, match="not overwritten"):
        paid.save(place)
    # The name is known from here on, with its total.
    assert Budget("ward-7", path=book).left.epsilon == 2.0
    assert Budget("ward-7", epsilon=3, delta=1e-5, path=book).charges
    with pytest.raises(InputError, match="cannot be changed to 4"):
        Budget("ward-7", epsilon=4, path=book)
    with pytest.raises(InputError, match="cannot be changed to 'four'"):
        Budget("ward-7", epsilon="four", path=book)
    with pytest.raises(InputError, match="declare its total"):
        Budget("ward-8", path=book)
    with pytest.raises(InputError, match="This release needs"):
        ward.release(FRAME, SCHEMA, epsilon=2.5)


# First guesses --------------------------------------------------------------------------


GUESSES = {
    "a frame as a network": (lambda: engine.load_dataset(FRAME), "read_table"),
    "a file as a network": (lambda: engine.load_dataset("my.csv"), "read_table"),
    "a budget for what is not private": (lambda: run("pc", FRAME, epsilon=1), "is not private"),
    "what is known as a dict": (lambda: run("priv_pc", FRAME, knowledge={}), "is a Knowledge"),
    "a budget without a name": (lambda: Budget(None, epsilon=1), "name has at most"),
    "another word for a seed": (lambda: run("priv_pc", FRAME, random_state=1), "mean seed"),
    "a module that is called": (lambda: engine.release(FRAME, SCHEMA), "a budget releases"),
    "a schema that is inferred": (lambda: Schema.infer(FRAME), "'draft'"),
    "levels for a reader": (lambda: engine.read_table(b"a,b", levels={}), "in a schema"),
}


@pytest.mark.parametrize("case", GUESSES)
def test_a_first_guess_is_told_what_there_is(case):
    guess, expected = GUESSES[case]
    with pytest.raises((InputError, AttributeError), match=expected):
        guess()


def test_a_first_guess_gives_what_its_word_says():
    data, result = engine.read_table(FRAME, SCHEMA), run("pc", FRAME, schema=SCHEMA)
    shown = str(data)
    assert "3,000 rows, 8 columns, private, declared" in shown
    assert "levels: 'asia' 2, 'tub' 2," in shown
    assert shown.endswith("cells that match no level: 0 (data.unforeseen)")
    counts = data.to_frame().astype(str).value_counts(sort=False)
    assert counts.to_dict() == FRAME.value_counts().to_dict()
    assert "links found" in result.summary().headline
    picture = result.plot()
    assert picture.startswith("<svg")
    assert f" learned from {result.dataset}" in picture


def test_an_earlier_name_warns_and_gives_the_present_one():
    with pytest.warns(DeprecationWarning, match="read_csv is called read_table"):
        from engine import read_csv
    assert read_csv is engine.read_table
    assert "read_csv" not in engine.__all__

"""One's own table without a browser: a file, its columns stated, runs on it, a release's price."""

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from engine import InputError, read_table
from engine.data.column import Column
from engine.data.draft import survey
from engine.data.schema import Schema
from engine.release.budget import VARIABLE, Budgets
from pages.table import cards, columns
from tests.ui.steps import address, give, metrics, own_table, press, step, told, visit

SAMPLES = Path(__file__).resolve().parents[2] / "sample_data"
ASIA, SURVEY = ((SAMPLES / name).read_bytes() for name in ("asia_2000.csv", "survey_1000.csv"))


@pytest.fixture
def data_page(open_app):
    """The app on its Data page."""
    return open_app("my-data")


def test_a_bundled_network(data_page):
    app = data_page
    app.session_state["data-public"] = True
    app.run()
    shown = metrics(app)
    assert [shown[k] for k in ("Rows", "Columns", "True edges")] == ["100,000", "8", "8"]
    assert len(app.get("iframe")) == 1
    assert len(app.get("plotly_chart")) == 1
    assert "forward-sampled" in told(app, "caption")
    app.selectbox(key="data-network").set_value("sachs").run()
    app.number_input(key="data-n").set_value(1234).run()
    assert not app.exception
    assert [metrics(app)[k] for k in ("Rows", "Columns")] == ["1,234", "11"]


def test_own_data_show_nothing_exact_before_it_is_asked_for(data_page):
    app = data_page
    own_table(app, (SAMPLES / "sachs_5000.csv").read_bytes())
    assert not metrics(app)
    assert not app.get("plotly_chart")
    app.toggle(key="exact").set_value(True).run()
    assert metrics(app)["Rows"] == "5,000"
    bars = json.loads(app.get("plotly_chart")[0].proto.spec)["data"][0]
    shares = [float(word.removesuffix(" %")) for word in bars["text"]]
    assert sum(shares) == pytest.approx(100, abs=0.2)  # of rows, not of distinct ones
    assert metrics(app)["True edges"] == "unknown"
    assert not app.get("iframe")
    assert "without noise" in told(app, "caption")


def test_own_data_with_truth_run_and_are_scored(data_page):
    app = data_page
    own_table(app, ASIA)
    edges = (SAMPLES / "asia_edges.csv").read_bytes()
    visit(app, "run")  # no place for a file on this page has the table
    give(app, "run-truth", edges)
    assert app.session_state["own_data"].truth.number_of_edges() == 8
    assert app.info[0].value.startswith("Nothing has been run on this table yet")
    press(app, "run")
    assert "Skeleton F1" in metrics(app)
    assert "every rerun spends ε, and F1 against a truth is not private" in told(app, "html")


def words_schema(content):
    """What a person would state of the file: all its columns are unordered words."""
    found, _ = survey(content)
    return Schema(
        tuple(Column(name=f.name, type="unordered", levels=f.column.levels) for f in found)
    )


def test_runs_on_own_data_add_up_with_secret_noise(app):
    own_table(app, SURVEY, page="run")
    press(app, "run")
    assert "Skeleton F1" not in metrics(app)  # no truth is known
    assert "CI tests" in metrics(app)
    assert len(app.get("iframe")) == 1
    assert not any("simulation only" in c for d in app.dataframe for c in d.value.columns)
    assert "1 run on these data, together no bound on ε" in told(app, "caption")
    assert "the schema was found" in told(app, "warning")
    own_table(app, SURVEY, words_schema(SURVEY), page="run")
    app.session_state["own_costs"].clear()
    found = set()
    for _ in range(2):
        press(app, "run")
        result = app.session_state["shown"][True].result
        assert (result.seed, result.proven.epsilon) == (None, 1)
        found.add(repr(result.steps))
    assert len(found) == 2
    assert "2 runs on these data, together ε = 2" in told(app, "caption")
    assert address(app)["data"] == "own"
    visit(app, "report")  # which makes no run more, and has no button that would
    assert "Real data: the number of links that are real is unknown" in told(app, "html")
    app.session_state["state"].chosen["epsilon"] = 3.0
    app.run()
    assert "Below is: Priv-PC, ε = 1" in told(app, "warning")
    assert "report-run" not in {b.key for b in app.button}
    app.session_state["state"].chosen.pop("epsilon")
    assert [len(meter) for meter in app.session_state["own_costs"].values()] == [2]
    visit(app, "run")
    app.selectbox(key="run-network").set_value("asia").run()
    press(app, "run")
    app.selectbox(key="run-network").set_value("own").run()
    assert app.session_state["shown"][True].result is result  # it was paid for


def test_a_run_that_dies_is_counted(app, monkeypatch):
    """For lack of memory, or with its process; not one that was refused before it drew."""
    own_table(app, SURVEY, words_schema(SURVEY), page="run")
    ends = [MemoryError(), EOFError(), InputError("Choose another epsilon.")]

    def dies(*_, **__):
        raise ends[0]

    monkeypatch.setattr("engine.request.run", dies)
    for counted in (1, 2, 2):
        press(app, "run")
        (meter,) = app.session_state["own_costs"].values()
        assert [(c.epsilon, c.delta) for c in meter.values()] == [(1.0, 1e-6)] * counted
        ends.pop(0)


def to_cards(app):
    """To the cards, which show what was found in the rows: those that are stated by a switch."""
    step(app, "columns")
    assert not [c for c in app.toggle if str(c.key).startswith("card-")]  # not asked for
    app.toggle(key="schema-open").set_value(True).run()
    assert not app.exception
    return [str(c.key) for c in app.toggle if str(c.key).endswith("-declared")]


def state(app, *cards):
    """As found, by the cards' switches; then the table is read so."""
    for card in cards:
        app.toggle(key=f"card-{card}-declared").set_value(True).run()
    press(app, "schema-use")


def test_persons_have_one_row(data_page):
    app = data_page
    rows = "".join(f"p{k % 20},{k % 7},{'ny'[k % 2]},20{k + 10}-01-01\n" for k in range(80))
    own_table(app, f"who,day,smokes,on\n{rows}".encode())
    to_cards(app)
    assert not [t for t in app.toggle if str(t.key).endswith("person")]
    app.radio(key="cards-several").set_value(columns.MANY).run()
    assert len([t for t in app.toggle if str(t.key).endswith("person")]) == 4  # any column may be
    app.toggle(key="card-0-person").set_value(True).run()
    assert app.selectbox(key="cards-order").value == "on"  # the date
    app.selectbox(key="cards-order").set_value(cards.ORDERLESS).run()
    app.selectbox(key="card-1-kind").set_value(cards.NUMERIC).run()
    app.text_input(key="card-1-cuts").set_value("3, 9").run()
    app.selectbox(key="card-1-take").set_value("sum").run()
    app.selectbox(key="card-2-take").set_value("last").run()
    state(app, 1, 2)
    assert "name the column that orders the rows" in app.error[0].value
    app.selectbox(key="cards-order").set_value("on").run()
    state(app)
    assert app.session_state["own_data"].n == 20
    step(app, "known")
    assert "replace one person with all of their rows" in told(app)


def test_cards_begin_with_the_schema_in_force_and_keep_what_they_do_not_show(data_page):
    app = data_page
    groups = {"z": {"x": 3, "w": 1}}
    words = Column(name="b", type="ordered", levels=tuple("xyw"), groups=groups, values={"y": 2.5})
    base = Schema(
        (Column(name="a", type="numeric", cuts=(7.5,), bounds=(0, 30)), words), missing=(-9,)
    )
    rows = b"id,a,b,c\n" + b"".join(
        b"p%d,%d,%c,%d\n" % (k, k % 20, b"xy"[k % 2], k % 3) for k in range(60)
    )
    own_table(app, rows, base)
    to_cards(app)
    assert "2 of the used columns are declared (public); 0 are inferred" in told(app)
    assert "Uploaded, public." in told(app, "caption")
    assert app.text_input(key="card-1-cuts").value == "7.5"
    assert "schema-all" not in [b.key for b in app.button]
    app.text_input(key="card-1-cuts").set_value("7.5, 12").run()
    app.text_input(key="card-2-missing").set_value("?!").run()
    app.toggle(key="card-3-out").set_value(False).run()
    press(app, "schema-all")
    assert "3 of the used columns are declared (public); 0 are inferred" in told(app)
    press(app, "schema-use")
    made = app.session_state["own_data"].schema
    assert [column.name for column in made.columns] == ["a", "b", "c"]
    assert (made.columns[0].cuts, made.columns[0].bounds) == ((7.5, 12), (0, 30))
    assert (made.columns[1], made.missing) == (replace(words, missing=("?!",)), (-9,))
    assert "Declared, public." in told(app, "caption")


def test_many_odd_columns_are_turned(data_page):
    """Names with marks, quotes, commas and a line end; gaps, a constant, a formula."""
    names = [f'"{k}", <b>ä*{k}*</b>' + "\n" * (k == 7) for k in range(28)]
    cells = [[*(r % (k % 5 + 2) if r % 11 else "" for k in range(28)), "x", f"a{r}"]
             for r in range(60)]  # fmt: skip
    table = pd.DataFrame(cells, columns=[*names, "same", " = 1+1"])
    own_table(data_page, table.to_csv(index=False).encode())
    assert "60 rows, 28 columns" in told(data_page)
    assert to_cards(data_page) == [f"card-{j}-declared" for j in range(cards.A_PAGE)]


GAPS = 47


def with_gaps():
    """228 rows with a number of many values, which 47 do not have, and a word."""
    cells = ["NA" if i < GAPS else f"{i * 7 % 181}.5" for i in range(228)]
    rows = [f"{c},{'no' if i % 3 else 'yes'}" for i, c in enumerate(cells)]
    return "\n".join(["age,smoker", *rows]).encode()


def counts(data, column):
    """Level -> rows."""
    return data.to_frame()[column].value_counts(sort=False).to_dict()


def test_gaps_are_a_level_of_their_own_and_are_told(data_page):
    app = data_page
    own_table(app, with_gaps())
    assert not app.error
    ages = counts(app.session_state["own_data"], "age")
    assert (list(ages)[-1], ages["missing"]) == ("missing", GAPS)
    (found,) = [d.value for d in app.dataframe if "counts as" in d.value.columns]
    assert found.values.tolist() == [["age", GAPS, "21 %", "(empty)", "missing"]]
    to_cards(app)
    assert app.selectbox(key="card-0-gaps").value == cards.OWN_LEVEL
    state(app, 0, 1)
    assert counts(app.session_state["own_data"], "age")["missing"] == GAPS


def test_before_a_release_many_cells_are_a_question_and_its_price_and_worth_are_said(
    data_page, tmp_path, monkeypatch
):
    app = data_page
    monkeypatch.setenv(VARIABLE, str(tmp_path / "b.db"))
    Budgets(tmp_path / "b.db").new("ward", 1.5, 1e-5)
    age = Column(name="age", type="numeric", cuts=(60.0, 120.0), other="level")
    two = Column(name="smoker", type="ordered", levels=("maybe", "no"), other="maybe")
    own_table(app, with_gaps(), Schema((age, two)))
    assert counts(app.session_state["own_data"], "smoker")["maybe"] == 76
    step(app, "release")
    assert "If that is wrong" in told(app)
    assert "release-go" not in [b.key for b in app.button]
    press(app, "release-agree")
    assert "release-go" in [b.key for b in app.button]
    assert "After this release ε = 0.5 remains." in told(app)
    assert re.search(r"Expect about \d+ of \d+ links, and (no|\d+) false", told(app))
    app.number_input(key="release-epsilon").set_value(2.0).run()
    assert "which is too little for this release" in told(app)


def stated(raw):
    """The cards of a file, all stated as found, and how it is written."""
    found, dialect = survey(raw)
    drafts = cards.drafts(found)
    with pytest.raises(InputError, match="I declare this"):
        cards.schema_of(drafts, dialect)
    for card in drafts.values():
        card["declared"] = True
    return drafts, dialect


def test_what_is_stated_becomes_a_schema():
    raw = b"id,day,a,b,c\n" + b"".join(
        f"p{k},20{k % 9 + 10}-01-0{k % 8 + 1},{'yes' if k % 3 else 'no'},{k * 1.5},"
        f"{k % 4 if k else ''}\n".encode()
        for k in range(50)
    )
    drafts, dialect = stated(raw)
    assert [name for name, card in drafts.items() if card["out"]] == ["id", "day"]
    drafts["b"]["cuts"] = "10; 50"
    assert drafts["day"]["cuts"] == ", ".join(map(str, range(2011, 2019)))  # between its years
    drafts["day"] |= {"out": False, "kind": cards.YEAR, "cuts": "2012, 2015"}
    month = cards.schema_of({**drafts, "day": {**drafts["day"], "kind": cards.MONTH}}, dialect)
    assert month.columns[0].levels == tuple(map(str, range(1, 13)))  # as many as a release takes
    schema = cards.schema_of(drafts, dialect)
    assert [c.type for c in schema.columns] == ["numeric", "unordered", "numeric", "ordered"]
    assert schema.columns[2].cuts == (10.0, 50.0)
    assert schema.columns[3].levels == ("0", "1", "2", "3", "missing")
    assert schema.columns[3].other == "missing"
    assert [0, 0, 0, 4] in read_table(raw, schema).codes.tolist()
    for typed, sentence in (
        ("ten", "are numbers separated by commas"),
        ("", "at least one cut point"),
    ):
        drafts["b"]["cuts"] = typed
        with pytest.raises(InputError, match=sentence):
            cards.schema_of(drafts, dialect)


def test_a_card_says_what_is_no_number_counts_as():
    drafts, dialect = stated(with_gaps())
    assert (drafts["age"]["gaps"], drafts["smoker"]["other"]) == (cards.OWN_LEVEL, cards.REFUSE)
    found = []
    for gaps in (cards.OWN_LEVEL, 3.0, 200.0):
        drafts["age"]["gaps"] = gaps
        data = read_table(with_gaps(), cards.schema_of(drafts, dialect))
        found.append([*counts(data, "age").values()])
    level, low, high = found
    assert level[-1] == low[0] - high[0] == high[-1] - low[-1] == GAPS
    drafts["age"]["gaps"] = cards.REFUSE
    with pytest.raises(InputError, match="declare in the schema how they count"):
        read_table(with_gaps(), cards.schema_of(drafts, dialect))


# Empty, of one column, of one row, with a constant, in another encoding, ragged, binary.
BAD = (b"", b"a\n1\n2\n", b"a,b\n1,2\n", b"a,b\n1,2\n1,3\n1,2\n",
       "a,b\nä,1\nö,2\n".encode("latin-1"), b"a,b\n1,2\n1\n", b"\x00\x01\x02")  # fmt: skip
BAD_EDGES = (b"asia,nowhere\n", b"asia,tub\ntub,asia\n", b"?\n")


def test_a_bad_file_or_edge_list_gives_one_sentence(data_page):
    own_table(data_page, ASIA)
    for key, content in (*(("truth", e) for e in BAD_EDGES), *(("file", c) for c in BAD)):
        give(data_page, f"data-{key}", content)
        (error,) = data_page.error
        assert re.fullmatch(r"[^\n]*\.", error.value), error.value
        assert "Traceback" not in error.value


# What Streamlit makes of Markdown and of the text that it leaves: a link, an icon, an emoji, marks.
HOSTILE = ("https://e.vil/x", "www.e.vil", ":material/home:", ":smile: **b** [c](http://e.vil)")
ACTS = re.compile(r"https?\\?://e\.vil|www\.e\.vil|:material/home|:smile|(?<!\\)\*\*b|(?<!\\)\[c")
# Fields that show their text as it is, or whose text is made for a program (and tested as that).
SHOWN = re.compile(
    r"(multiselect|selectbox)\.options|text_input\.(default|value)|iframe\.|html\.|plotly|arrow|component|\.id$"
)


def texts(message, path):
    """Every text of a message of Streamlit's, with the way to it."""
    for field, value in message.ListFields():
        way = f"{path}.{field.name}"
        for one in value if hasattr(value, "__len__") and not isinstance(value, str) else [value]:
            if isinstance(one, str):
                yield way, one
            elif hasattr(one, "ListFields"):
                yield from texts(one, way)


def acting(app):
    """Foreign words on the page that Streamlit would act on."""
    nodes, found = [app._tree], []
    while nodes:
        node = nodes.pop()
        nodes += list(getattr(node, "children", {}).values())
        if (proto := getattr(node, "proto", None)) is not None and hasattr(proto, "ListFields"):
            found += [t for t in texts(proto, node.type) if ACTS.search(t[1])]
    return [one for one in found if not SHOWN.search(one[0])]


def test_names_and_levels_are_no_links_and_no_icons_on_any_page(data_page):
    app, out = data_page, io.StringIO()
    rows = [[HOSTILE[(k // 2**j + j) % 4] for j in range(4)] for k in range(320)]
    csv.writer(out).writerows([HOSTILE, *rows])
    own_table(app, out.getvalue().encode(), name=f"{HOSTILE[2]}.csv")
    found = {"table": acting(app)}
    for word in ("known", "budget", "columns"):
        step(app, word)
        found[word] = acting(app)
    app.toggle(key="schema-open").set_value(True).run()
    assert app.get("text_input")
    found["cards"] = acting(app)
    visit(app, "run")
    press(app, "run")
    found["run"] = acting(app)
    for page in ("study", "report", "scene", "pairs", "trust", "learn"):
        visit(app, page)
        found[page] = acting(app)
    assert {page: few[:3] for page, few in found.items() if few} == {}

"""The Data page and uploads without a browser."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from engine import InputError, read_csv
from engine.data.column import Column, Dialect
from engine.data.draft import survey
from engine.data.reading import read
from engine.data.schema import Schema
from engine.release.budget import VARIABLE, Budgets
from pages.table import cards, expected

SAMPLES = Path(__file__).resolve().parents[2] / "sample_data"
BAD_FILES = {
    "empty": b"",
    "one column": b"a\n1\n2\n",
    "one row": b"a,b\n1,2\n",
    "constant": b"a,b\n1,2\n1,3\n1,2\n",
    "encoding": "a,b\nä,1\nö,2\n".encode("latin-1"),
    "ragged": b"a,b\n1,2\n1\n",
    "binary": b"\x00\x01\x02",
}


@pytest.fixture
def data_page(open_app: Callable[..., AppTest]) -> AppTest:
    """The app on its Data page."""
    return open_app("table")


@pytest.fixture(scope="module")
def patient_page(open_app: Callable[..., AppTest]) -> AppTest:
    """A Data page that is given one bad file after the other."""
    return open_app("table")


def metrics(app: AppTest) -> dict[str, str]:
    return {m.label: m.value for m in app.metric}


def upload(app: AppTest, content: bytes, truth: bytes | None = None, page: str = "data") -> None:
    app.selectbox(key=f"{page}-network").set_value("own").run()
    app.file_uploader(key=f"{page}-file").set_value(("mine.csv", content, "text/csv")).run()
    if truth is not None:
        app.file_uploader(key=f"{page}-truth").set_value(("e.csv", truth, "text/csv")).run()
    assert not app.exception


def test_shows_the_bundled_network(data_page: AppTest) -> None:
    data_page.session_state["data-public"] = True
    data_page.run()
    shown = metrics(data_page)
    assert shown["Rows"] == "100,000"
    assert shown["Columns"] == "8"
    assert shown["True edges"] == "8"
    (frame,) = data_page.get("iframe")
    assert "Math.max(0.511, " in frame.proto.srcdoc  # on a phone it is as wide as Run's, not tiny
    assert len(data_page.get("plotly_chart")) == 1
    assert any("forward-sampled" in c.value for c in data_page.caption)

    data_page.selectbox(key="data-network").set_value("sachs").run()
    data_page.number_input(key="data-n").set_value(1234).run()
    assert not data_page.exception
    assert metrics(data_page)["Rows"] == "1,234"
    assert metrics(data_page)["Columns"] == "11"


def test_own_data_without_truth(data_page: AppTest) -> None:
    upload(data_page, (SAMPLES / "sachs_5000.csv").read_bytes())
    assert not metrics(data_page)  # nothing exact before it is asked for
    assert not data_page.get("plotly_chart")
    data_page.toggle(key="exact").set_value(True).run()
    assert metrics(data_page)["Rows"] == "5,000"
    bars = json.loads(data_page.get("plotly_chart")[0].proto.spec)["data"][0]
    shares = [float(word.removesuffix(" %")) for word in bars["text"]]
    assert sum(shares) == pytest.approx(100, abs=0.2)  # of rows, not of distinct ones
    assert metrics(data_page)["True edges"] == "unknown"
    assert not data_page.get("iframe")
    assert any("without noise" in c.value for c in data_page.caption)


def test_own_data_with_truth_run_and_are_scored(data_page: AppTest) -> None:
    edges = (SAMPLES / "asia_edges.csv").read_bytes()
    upload(data_page, (SAMPLES / "asia_2000.csv").read_bytes(), edges)
    data_page.toggle(key="exact").set_value(True).run()
    assert metrics(data_page)["True edges"] == "8"
    data_page.query_params.clear()  # as the menu does
    data_page.switch_page("pages/run/page.py").run()
    assert data_page.warning[0].value.startswith("Settings changed")
    data_page.button(key="run").click().run()
    assert not data_page.exception
    assert "Skeleton F1" in metrics(data_page)
    html = " ".join(h.value for h in data_page.get("html"))
    assert "every rerun spends ε" in html
    assert "F1 against a truth is not private" in html


def schema_of(content: bytes) -> bytes:
    """What a person would state of the file: all its columns are unordered words."""
    found, _ = survey(content)
    columns = [Column(name=f.name, type="unordered", levels=f.levels) for f in found]
    return json.dumps(Schema(tuple(columns)).to_json()).encode()


def declare(app: AppTest, schema: bytes, page: str) -> None:
    app.file_uploader(key=f"{page}-schema").set_value(("s.json", schema, "text/json")).run()
    assert not app.exception


def test_runs_on_own_data_add_up_with_secret_noise(app: AppTest) -> None:
    content = (SAMPLES / "survey_1000.csv").read_bytes()
    upload(app, content, page="run")
    app.button(key="run").click().run()
    assert "Skeleton F1" not in metrics(app)  # no truth is known
    assert "CI tests" in metrics(app)
    assert len(app.get("iframe")) == 1
    assert not any("simulation only" in c for d in app.dataframe for c in d.value.columns)
    assert any("1 run on these data, together without any bound" in c.value for c in app.caption)
    assert any("the schema was found" in w.value for w in app.warning)
    declare(app, schema_of(content), "run")
    app.session_state["own_costs"].clear()
    found = set()
    for _ in range(2):
        app.button(key="run").click().run()
        result = app.session_state["shown"].result
        assert result.seed is None
        assert result.spent.epsilon == 1
        found.add(repr(result.steps))
    assert len(found) == 2
    assert any("2 runs on these data, together ε = 2" in c.value for c in app.caption)
    assert "own" in str(dict(app.query_params))


def test_a_run_that_dies_is_counted(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    """For lack of memory, or with its process; not one that was refused before it drew."""
    content = (SAMPLES / "survey_1000.csv").read_bytes()
    upload(app, content, page="run")
    declare(app, schema_of(content), "run")
    ends = [MemoryError(), EOFError(), InputError("Choose another epsilon.")]

    def dies(*_: object, **__: object) -> None:
        raise ends[0]

    monkeypatch.setattr("pages.worker.run", dies)
    for counted in (1, 2, 2):
        app.button(key="run").click().run()
        assert not app.exception
        (meter,) = app.session_state["own_costs"].values()
        assert [(c.epsilon, c.delta) for c in meter.values()] == [(1.0, 1e-6)] * counted
        ends.pop(0)


def step(app: AppTest, word: str) -> None:
    """To a step of the journey on this page."""
    app.query_params["step"] = word
    app.run()
    assert not app.exception


def state_columns(app: AppTest) -> None:
    """To the cards, which show what was found in the rows."""
    step(app, "columns")
    app.toggle(key="schema-open").set_value(True).run()
    assert not app.exception


def told(app: AppTest) -> str:
    """What the page says in words."""
    parts = (app.markdown, app.caption, app.warning, app.success, app.info, app.error)
    return " ".join(one.value for part in parts for one in part)


def test_the_columns_are_stated_card_by_card(data_page: AppTest) -> None:
    upload(data_page, b"id,a,b\n" + b"".join(f"p{k},{k % 2},{k % 3}\n".encode() for k in range(60)))
    assert "Nothing is stated of this table" in told(data_page)
    step(data_page, "columns")
    assert not [c for c in data_page.toggle if str(c.key).startswith("card-")]  # not asked for
    state_columns(data_page)
    assert "0 of the used columns are stated by you (public); 2 are as found" in told(data_page)
    data_page.button(key="schema-use").click().run()
    assert "I state this" in data_page.error[0].value
    for card in ("card-1", "card-2"):
        data_page.toggle(key=f"{card}-stated").set_value(True).run()
    data_page.button(key="schema-use").click().run()
    assert not data_page.exception
    assert data_page.session_state["own_data"].declared
    assert data_page.session_state["own_data"].names == ("a", "b")
    assert "read by the schema that you stated" in told(data_page)
    step(data_page, "known")
    assert "There are 60 rows" in told(data_page)


GAPS_SCHEMA = Schema(
    (
        Column(name="age", type="numeric", cuts=(60.0, 120.0), other="level"),
        Column(name="smoker", type="ordered", levels=("no", "yes")),
    )
)


def test_release_says_what_remains_and_what_to_expect(
    data_page: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "b.db"))
    Budgets(tmp_path / "b.db").new("ward", 1.5, 1e-5)
    monkeypatch.setattr(expected, "DRAWS", 2)
    monkeypatch.setattr("pages.shell.task.AT_ONCE", 60.0)
    upload(data_page, with_gaps())
    step(data_page, "columns")
    declare(data_page, json.dumps(GAPS_SCHEMA.to_json()).encode(), "data")
    step(data_page, "release")
    assert "After this release ε = 0.5 is left." in told(data_page)
    assert re.search(r"Expect about \d+ of \d+ links, and (no|\d+) false", told(data_page))
    data_page.number_input(key="release-epsilon").set_value(2.0).run()
    assert "which does not pay for this" in told(data_page)


def test_persons_have_one_row(data_page: AppTest) -> None:
    rows = "".join(f"p{k % 20},{k % 7},{('no', 'yes')[k % 2]}\n" for k in range(80))
    upload(data_page, f"who,day,smokes\n{rows}".encode())
    state_columns(data_page)
    data_page.toggle(key="card-0-person").set_value(True).run()
    for card, take in (("card-1", "the sum of all rows"), ("card-2", "the last row's")):
        if card == "card-1":
            data_page.selectbox(key=f"{card}-kind").set_value(cards.NUMERIC).run()
            data_page.text_input(key=f"{card}-cuts").set_value("3, 9").run()
        data_page.selectbox(key=f"{card}-take").set_value(take).run()
        data_page.toggle(key=f"{card}-stated").set_value(True).run()
    data_page.button(key="schema-use").click().run()
    assert "needs the column that orders them" in data_page.error[0].value
    data_page.selectbox(key="card-2-take").set_value("the most frequent").run()
    data_page.button(key="schema-use").click().run()
    assert not data_page.exception
    assert data_page.session_state["own_data"].n == 20
    step(data_page, "known")
    assert "replace one person with all of their rows" in told(data_page)


def test_many_columns_are_turned(data_page: AppTest) -> None:
    names = [f"c{j}" for j in range(30)]
    rows = "\n".join(",".join(str((k + j) % 2) for j in range(30)) for k in range(9))
    upload(data_page, (",".join(names) + "\n" + rows).encode())
    state_columns(data_page)
    stated = [c.key for c in data_page.toggle if str(c.key).endswith("-stated")]
    assert stated == [f"card-{j}-stated" for j in range(cards.A_PAGE)]


def stated(raw: bytes) -> tuple[dict[str, dict[str, object]], Dialect]:
    """The cards of a file, all stated as found, and how it is written."""
    found, dialect = survey(raw)
    drafts = cards.drafts(found)
    for card in drafts.values():
        card["stated"] = True
    return drafts, dialect  # type: ignore[return-value]


def test_what_is_stated_becomes_a_schema() -> None:
    raw = b"id,day,a,b,c\n" + b"".join(
        f"p{k},20{k % 9 + 10}-01-0{k % 8 + 1},{'yes' if k % 3 else 'no'},{k * 1.5},"
        f"{k % 4 if k else ''}\n".encode()
        for k in range(50)
    )
    found, dialect = survey(raw)
    with pytest.raises(InputError, match="I state this"):
        cards.schema_of(cards.drafts(found), dialect)
    drafts, _ = stated(raw)
    assert [name for name, card in drafts.items() if card["out"]] == ["id", "day"]
    drafts["b"]["cuts"] = "10; 50"
    drafts["day"] |= {"out": False, "kind": cards.YEAR, "cuts": "2012, 2015"}
    schema = cards.schema_of(drafts, dialect)  # type: ignore[arg-type]
    assert [c.type for c in schema.columns] == ["numeric", "unordered", "numeric", "ordered"]
    assert schema.columns[2].cuts == (10.0, 50.0)
    assert schema.columns[3].levels == ("0", "1", "2", "3", "missing")
    assert schema.columns[3].other == "missing"
    assert [0, 0, 0, 4] in read_csv(raw, schema).codes.tolist()
    for typed, sentence in (("ten", "are numbers with commas"), ("", "at least one cut point")):
        drafts["b"]["cuts"] = typed
        with pytest.raises(InputError, match=sentence):
            cards.schema_of(drafts, dialect)  # type: ignore[arg-type]


GAPS = 47


def with_gaps() -> bytes:
    """228 rows with a number of many values, which 47 do not have, and a word."""
    cells = ["NA" if i % 228 < GAPS else f"{i * 7 % 181}.5" for i in range(228)]
    return "\n".join(
        ["age,smoker", *(f"{c},{'no' if i % 3 else 'yes'}" for i, c in enumerate(cells))]
    ).encode()


def counts(app: AppTest, column: str) -> dict[str, int]:
    """Level -> rows, of the data in force."""
    data = app.session_state["own_data"]
    j = data.names.index(column)
    found = np.bincount(data.codes[:, j], weights=data.weights, minlength=data.cardinalities[j])
    return dict(zip(data.levels[j], map(int, found), strict=True))


def test_gaps_are_a_level_of_their_own_and_are_told(data_page: AppTest) -> None:
    upload(data_page, with_gaps())
    assert not data_page.error
    ages = counts(data_page, "age")
    assert list(ages)[-1] == "missing"
    assert ages["missing"] == GAPS
    (told_of,) = [d.value for d in data_page.dataframe if "counts as" in d.value.columns]
    assert told_of.values.tolist() == [["age", GAPS, "21 %", "(empty)", "missing"]]
    state_columns(data_page)
    assert data_page.selectbox(key="card-0-gaps").value == cards.OWN_LEVEL
    for card in ("card-0", "card-1"):
        data_page.toggle(key=f"{card}-stated").set_value(True).run()
    data_page.button(key="schema-use").click().run()
    assert counts(data_page, "age")["missing"] == GAPS
    # A template says what a column is by its nature; it still has to be stated.
    data_page.selectbox(key="card-0-template").set_value("age in tens").run()
    assert data_page.text_input(key="card-0-cuts").value.startswith("10, 20, 30")
    assert not data_page.toggle(key="card-0-stated").value


def test_many_cells_that_count_as_an_answer_are_a_question(
    data_page: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "b.db"))
    monkeypatch.setattr(expected, "DRAWS", 2)
    Budgets(tmp_path / "b.db").new("ward", 1.5, 1e-5)
    two = Column(name="smoker", type="ordered", levels=("maybe", "no"), other="maybe")
    schema = Schema((GAPS_SCHEMA.columns[0], two))
    upload(data_page, with_gaps())
    declare(data_page, json.dumps(schema.to_json()).encode(), "data")
    assert counts(data_page, "smoker")["maybe"] == 76
    step(data_page, "release")
    assert "Is that what they mean?" in told(data_page)
    assert not [b for b in data_page.button if b.key == "release-go"]
    data_page.button(key="release-agree").click().run()
    assert not data_page.exception
    assert [b for b in data_page.button if b.key == "release-go"]


def test_a_card_says_what_is_no_number_counts_as() -> None:
    drafts, dialect = stated(with_gaps())
    assert (drafts["age"]["gaps"], drafts["smoker"]["other"]) == (cards.OWN_LEVEL, cards.REFUSE)
    found = []
    for gaps in (cards.OWN_LEVEL, 3.0, 200.0):
        drafts["age"]["gaps"] = gaps
        data = read(with_gaps(), cards.schema_of(drafts, dialect))  # type: ignore[arg-type]
        found.append(np.bincount(data.codes[:, 0], weights=data.weights))
    level, low, high = found
    assert level[-1] == low[0] - high[0] == high[-1] - low[-1] == GAPS
    drafts["age"]["gaps"] = cards.REFUSE
    with pytest.raises(InputError, match="say in the schema what they count as"):
        read_csv(with_gaps(), cards.schema_of(drafts, dialect))  # type: ignore[arg-type]


@pytest.mark.parametrize("content", BAD_FILES.values(), ids=BAD_FILES.keys())
def test_a_bad_file_gives_one_sentence(patient_page: AppTest, content: bytes) -> None:
    upload(patient_page, content)
    assert len(patient_page.error) == 1
    sentence = patient_page.error[0].value
    assert sentence.endswith(".")
    assert "Traceback" not in sentence
    assert "\n" not in sentence


@pytest.mark.parametrize("truth", [b"asia,nowhere\n", b"asia,tub\ntub,asia\n", b"?\n"])
def test_a_bad_edge_list_gives_one_sentence(patient_page: AppTest, truth: bytes) -> None:
    upload(patient_page, (SAMPLES / "asia_2000.csv").read_bytes(), truth)
    assert len(patient_page.error) == 1


def test_run_without_a_file_says_so(app: AppTest) -> None:
    app.selectbox(key="run-network").set_value("own").run()
    app.button(key="run").click().run()
    assert not app.exception
    assert "Upload a table first" in app.error[0].value


def test_names_of_columns_cannot_break_the_page(app: AppTest) -> None:
    nasty = '</script><img src=x onerror=alert(1)>,"**b** `c` $x$"\n'
    rows = "".join(f"{k % 2},{(k // 3) % 2}\n" for k in range(300))
    upload(app, (nasty + rows).encode(), page="run")
    app.button(key="run").click().run()
    assert not app.exception
    page = app.get("iframe")[0].proto.srcdoc
    assert "<img" not in page
    assert page.count("</script>") == page.count("<script")
    assert "<img" not in " ".join(h.value for h in app.get("html"))

"""The Release page: declare a budget, spend it once, check the file."""

import json
import time
from dataclasses import replace

import pytest

from engine import Knowledge
from engine.effects.width import width
from engine.privacy.accounting import Guarantee
from engine.privacy.sources import Hardened
from engine.release.budget import VARIABLE, Budgets
from engine.release.checking import check
from engine.release.file import DISJOINT, canonical, loads
from engine.release.make import BudgetedRelease
from engine.release.page import doubt_words, to_html
from engine.release.pooling import WARN
from engine.release.signature import VARIABLE as KEY
from engine.release.signature import own_key, public_text
from pages.shell import export
from pages.table import pay as releases
from pages.table.work import CHARGED
from tests.release.samples import asia_schema, make, own_asia
from tests.ui.steps import give, own_table, press, step, told

Files = list[tuple[str, bytes, str]]
WARD = own_asia().to_frame().to_csv(index=False).encode()


@pytest.fixture(scope="module", autouse=True)
def book(tmp_path_factory):
    """The file of budgets."""
    path = tmp_path_factory.mktemp("budget") / "b.db"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, str(path))
        yield Budgets(path)


def with_table(open_app):
    app = open_app("my-data", step="release")
    own_table(app, WARD, asia_schema())
    return app


def release(app):
    app.checkbox(key="release-sure").set_value(True).run()
    press(app, "release-go")


def to_check(app, content, key=None):
    give(app, "check-file", content, "r.json")
    if key is not None:
        app.text_input(key="check-key").set_value(key).run()


@pytest.mark.usefixtures("wards")  # whose budgets fit the table too
def test_a_release_from_upload_to_check(open_app, book):
    app = open_app("my-data", step="release")
    assert app.file_uploader(key="drop-file").label == "A table: drop a file here"
    assert "asia" not in told(app, "html").lower()
    own_table(app, WARD)
    assert "Declare the columns of your file first" in told(app, "info")
    own_table(app, WARD, asia_schema())
    step(app, "share")
    assert "This table was not released" in told(app, "info")
    step(app, "budget")
    app.text_input(key="new-name").set_value("ward").run()
    app.number_input(key="new-epsilon").set_value(1.5).run()
    press(app, "new-budget")
    app.number_input(key="release-epsilon").set_value(-1.0).run()
    assert "left" not in told(app, "caption")  # nor can it be spent
    app.number_input(key="release-epsilon").set_value(1.0).run()
    assert app.button(key="release-go").disabled
    release(app)
    assert len(book.show("ward").charges) == 1
    found, _ = app.session_state["released"]
    check(found)
    assert doubt_words(found).replace("\\", "") in told(app, "markdown")
    assert "Released under" in told(app, "success")
    assert list(app.dataframe[0].value) == ["Edge", "Link confidence", "Directions"]
    assert "is drawn as a line" in told(app, "caption")
    came = len({frozenset(pair) for pair in found.cpdag})
    (forecast,) = [m.value for m in app.markdown if m.value.startswith("**Forecast: ")]
    assert f"Result: {came}." in forecast
    # The browser is told, or what is done next would lead to the step before.
    assert app.session_state["journey_shown"] == "budget"
    release(app)  # 0.5 is left
    assert "remaining" in app.error[0].value
    assert len(book.show("ward").charges) == 1
    content = canonical(found).encode()
    to_check(app, content)
    assert "Consistent" in told(app, "success")
    assert "Not signed" in told(app, "markdown")
    to_check(app, content, "58" + "66" * 31)
    assert "not signed" in app.error[-1].value
    forged = content.replace(b'"edge_confidence":[[', b'"edge_confidence":[["x","y",1.0],[')
    to_check(app, content, "")
    to_check(app, forged)
    assert "digest" in app.error[-1].value
    again = open_app("my-data", step="release")  # another session: what was paid for is still there
    own_table(again, WARD)
    (id_,) = book.ids(book.show("ward")).values()
    saved = again.selectbox(key="kept-release")
    times = [words.partition(" UTC")[0] for words in saved.options]
    assert times == sorted(times, reverse=True)
    assert saved.options[0].endswith(saved.value)  # the last one
    assert not saved.set_value(id_).run().exception
    assert book.get(id_)[1] == canonical(found)


def test_a_release_is_signed_from_the_page(open_app, book, tmp_path, monkeypatch):
    monkeypatch.setenv(KEY, str(tmp_path / "key.pem"))
    book.new("signed", 2, 1e-5)
    app = with_table(open_app)
    app.selectbox(key="release-budget").set_value("signed").run()
    app.toggle(key="release-sign").set_value(True).run()
    release(app)
    (found, _), mine = app.session_state["released"], public_text(own_key(tmp_path / "key.pem"))
    assert mine in told(app, "caption")
    content = canonical(found).encode()
    to_check(app, content)
    assert mine in told(app, "markdown")
    to_check(app, content, mine)
    assert "the one that you gave" in told(app, "markdown")
    give(app, "check-page", to_html(found), "r.html")
    assert "The page belongs to it" in told(app, "markdown")
    give(app, "check-page", to_html(found).replace("= (1, ", "= (0.1, "), "r.html")
    assert "does not match this release" in app.error[-1].value
    to_check(app, canonical(replace(found, name="other")).encode())
    assert "The signature does not match this release" in app.error[-1].value
    to_check(app, content, str(tmp_path / "key.pem"))  # no file is read
    assert "64 hexadecimal digits" in app.error[-1].value


def test_a_question_s_width_is_promised_where_it_can_be_and_a_reader_sees_the_answer(
    open_app, book
):
    book.new("asked", 5, 1e-5)
    app = with_table(open_app)
    app.selectbox(key="release-budget").set_value("asked").run()
    app.number_input(key="release-epsilon").set_value(2.0).run()
    app.selectbox(key="question-cause").set_value("smoke").run()
    app.selectbox(key="question-outcome").set_value("smoke").run()
    assert "two different columns" in told(app, "error")
    app.selectbox(key="question-outcome").set_value("bronc").run()
    assert app.selectbox(key="question-level").value == "yes"
    assert "No width is guaranteed" in told(app, "markdown")
    half = width(rows=5_000, epsilon=2.0, delta=4e-6, share=0.7, levels=2, span=1.0).half
    assert f"of bronc will be known to about ± {100 * half:.1f} of 100" in told(app, "markdown")
    press(app, "question-more")
    app.selectbox(key="question2-cause").set_value("smoke").run()
    app.selectbox(key="question2-outcome").set_value("dysp").run()
    app.number_input(key="question-weight").set_value(3.0).run()
    about = {"rows": 5_000, "epsilon": 2.0, "delta": 4e-6, "levels": 2, "span": 1.0}
    for outcome, part in (("bronc", 3 / 4), ("dysp", 1 / 4)):
        half = 100 * width(share=0.7 * part, **about).half
        assert f"{outcome} will be known to about ± {half:.1f} of 100" in told(app, "markdown")
    release(app)
    found, _ = app.session_state["released"]
    assert [(q.outcome, q.outcome_level, q.weight) for q in found.schema.questions] == [
        ("bronc", "yes", 3.0), ("dysp", "yes", 1.0),
    ]  # fmt: skip
    to_check(app, canonical(found).encode())
    for answer in BudgetedRelease(found).answers:
        assert told(app, "markdown").count(answer.sentence) == 2


@pytest.mark.parametrize("charged", [False, True])
def test_a_release_that_goes_on_says_what_a_stop_costs(open_app, tmp_path, monkeypatch, charged):
    def waits(monitor, *_):
        if charged:
            budgets.charge("ward", Guarantee(1.0, 1e-6), "a release")
            monitor.part(CHARGED)
        while not monitor.stopped():
            time.sleep(0.01)

    budgets = Budgets(tmp_path / "b.db")
    monkeypatch.setenv(VARIABLE, str(budgets.path))
    budgets.new("ward", 3, 1e-5)
    monkeypatch.setattr(releases, "release", waits)
    monkeypatch.setattr("pages.shell.task.SHORT", 0.5)  # it ends only when it is stopped
    app = with_table(open_app)
    release(app)
    app.run()
    assert ("keeps the charge" if charged else "so you can stop") in told(app, "info")
    left = "2 of 3" if charged else "3 of 3"  # the table was drawn before the charge
    assert app.dataframe[0].value["ε left"].tolist() == [left]
    press(app, "release-stop")
    assert app.session_state["task-release"].wait(5)


def test_a_release_that_was_interrupted_is_resumed_without_another_charge(
    open_app, tmp_path, monkeypatch
):
    budgets = Budgets(tmp_path / "b.db")
    monkeypatch.setenv(VARIABLE, str(budgets.path))
    budgets.new("ward", 3, 1e-5)
    app = with_table(open_app)
    with monkeypatch.context() as patch:
        patch.setattr(Hardened, "gaussian", lambda *_: (_ for _ in ()).throw(OSError("full")))
        release(app)
    assert "Resume" in told(app, "error")
    app.run()
    assert "was interrupted after its charge" in told(app, "warning")
    press(app, "release-resume")
    assert "Released under" in told(app, "success")
    assert len(budgets.show("ward").charges) == 1


def test_a_damaged_file_of_budgets_is_one_sentence(open_app, tmp_path, monkeypatch):
    path = tmp_path / "b.db"
    path.write_text("no budgets")
    monkeypatch.setenv(VARIABLE, str(path))
    app = open_app("my-data", step="release")
    own_table(app, WARD)
    assert app.error[0].value.endswith(".")


@pytest.fixture(scope="module")
def wards(book):
    """Files of two releases, of different people."""
    files = []
    for k in (7, 8):
        book.new(f"ward {k}", 1, 1e-5)
        made = make(book, own_asia(seed=k), name=f"ward {k}", delta=1e-6)
        files.append((f"{k}.json", canonical(made).encode(), "text/json"))
    return files


@pytest.fixture
def offered(monkeypatch):
    """What each download button of a page would give."""
    found = {}
    monkeypatch.setattr(export, "download", lambda _, made, name, *, key: found.update({key: made}))
    return found


def test_knowledge_is_applied_to_releases_afterwards_and_several_become_one(
    open_app, wards, offered
):
    app = open_app("my-data", step="release")
    give(app, "check-file", wards[0][1], "7.json")
    known = Knowledge(required=frozenset([("smoke", "lung"), ("asia", "tub")]))
    content = json.dumps(known.to_json()).encode()
    give(app, "check-knowledge", content, "k.json")
    assert "nothing is charged" in told(app, "success")
    made = loads(offered["check-new-Release (JSON)"]().encode())
    assert made.applied == known
    assert check(made) > 0
    give(app, "check-knowledge", content.replace(b"smoke", b"smoek"), "k.json")
    assert "smoek" in app.error[-1].value
    assert "nothing is charged" not in told(app, "success")

    app = open_app("my-data", step="release")
    app.file_uploader(key="check-file").set_value(wards).run()
    assert not app.exception
    assert "Combined from 2 releases: ward 7 (n = 5,000, ε = 1, not signed), ward 8" in told(
        app, "markdown"
    )
    assert DISJOINT in told(app, "markdown")
    table = next(d.value for d in app.dataframe if len(d.value) == 8)
    assert list(table["Column"]) == list(asia_schema().names)
    assert all(abs(float(x)) < WARN for x in table.iloc[:, 1])  # one population
    made = loads(offered["check-new-Release (JSON)"]().encode())
    assert made.rows == 10_000
    assert check(made) > 0
    app.file_uploader(key="check-file").set_value([wards[0], wards[0]]).run()
    assert "of one budget" in app.error[-1].value

"""The Release page: declare a budget, spend it once, check the file."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from engine import Knowledge
from engine.privacy.accounting import Guarantee
from engine.release.budget import VARIABLE, Budgets
from engine.release.checking import check
from engine.release.file import DISJOINT, canonical, loads
from engine.release.make import make
from engine.release.page import doubt_words, to_html
from engine.release.pooling import WARN
from engine.release.signature import VARIABLE as KEY
from engine.release.signature import own_key, public_text
from engine.release.vault import Vault
from engine.studies.plan import BANDS, Band, Forecast
from pages.shell import export
from pages.table import expected
from pages.table import pay as releases
from pages.table.work import CHARGED
from pages.worker import Tell
from tests.release.samples import asia_schema, own_asia


@pytest.fixture(scope="module", autouse=True)
def book(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Budgets]:
    path = tmp_path_factory.mktemp("budget") / "b.db"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, str(path))
        yield Budgets(path)


@pytest.fixture(scope="module", autouse=True)
def forecasts() -> Iterator[None]:
    """The page waits for a forecast of two networks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(expected, "DRAWS", 2)
        patch.setattr("pages.shell.task.AT_ONCE", 60.0)
        yield


def test_a_release_s_links_stand_beside_the_forecast_s() -> None:
    bands: dict[str, Any] = dict.fromkeys(BANDS, Band(1, 2, 3))
    f = Forecast(
        "marginal_pc", 1.0, draws=9, **bands | {"shown": Band(4, 6, 8), "f1": Band(0.5, 0.6, 0.75)}
    )
    said = expected.against(f, 6)
    assert "4 to 8 links shown, 2 of them false, skeleton F1 between 0.50 and 0.75" in said
    assert said.endswith("Came: 6.")
    assert expected.against(f, 4).endswith("Came: 4.")
    assert "less than forecast" in expected.against(f, 3)
    assert "more than forecast" in expected.against(f, 9)


def test_a_release_from_upload_to_check(open_app: Callable[..., AppTest], book: Budgets) -> None:
    app = open_app("table", step="release")
    app.selectbox(key="data-network").set_value("own").run()
    raw = own_asia().to_frame().to_csv(index=False).encode()
    app.file_uploader(key="data-file").set_value(("ward.csv", raw, "text/csv")).run()
    assert any("Declare the schema" in i.value for i in app.info)
    schema = json.dumps(asia_schema().to_json()).encode()
    app.file_uploader(key="data-schema").set_value(("s.json", schema, "text/json")).run()
    app.query_params["step"] = "share"
    app.run()
    assert any("Nothing was released of this table" in i.value for i in app.info)
    app.query_params["step"] = "budget"
    app.run()
    app.text_input(key="new-name").set_value("ward").run()
    app.number_input(key="new-epsilon").set_value(1.5).run()
    app.button(key="new-budget").click().run()
    assert not app.exception
    assert app.button(key="release-go").disabled
    app.checkbox(key="release-sure").set_value(True).run()
    app.button(key="release-go").click().run()
    assert not app.exception
    assert len(book.show("ward").charges) == 1
    found, _ = app.session_state["released"]
    check(found)
    assert doubt_words(found) in [m.value for m in app.markdown]
    assert any("Released under" in s.value for s in app.success)
    assert list(app.dataframe[-1].value) == ["Edge", "Link confidence", "Directions"]
    assert any("is drawn as a line" in c.value for c in app.caption)
    came = len({frozenset(pair) for pair in found.cpdag})
    assert any(m.value.startswith("**Forecast: ") and f"Came: {came}." in m.value
               for m in app.markdown)  # fmt: skip
    # The browser is told, or what is done next would lead to the step before.
    assert app.session_state["journey_shown"] == "budget"
    app.checkbox(key="release-sure").set_value(True).run()
    app.button(key="release-go").click().run()  # 0.5 is left
    assert "left" in app.error[0].value
    assert len(book.show("ward").charges) == 1
    content = canonical(found).encode()
    app.file_uploader(key="check-file").set_value(("r.json", content, "text/json")).run()
    assert any("Consistent" in s.value for s in app.success)
    assert any("Not signed" in w.value for w in app.warning)
    app.text_input(key="check-key").set_value("58" + "66" * 31).run()
    assert "not signed" in app.error[-1].value
    app.text_input(key="check-key").set_value("").run()
    forged = content.replace(b'"edge_confidence":[[', b'"edge_confidence":[["x","y",1.0],[')
    app.file_uploader(key="check-file").set_value(("f.json", forged, "text/json")).run()
    assert "digest" in app.error[-1].value
    again = open_app("table", step="release")  # another session: what was paid for is still there
    again.selectbox(key="data-network").set_value("own").run()
    again.file_uploader(key="data-file").set_value(("ward.csv", raw, "text/csv")).run()
    (id_,) = Vault(book).ids(book.show("ward")).values()
    assert again.selectbox(key="kept-release").value == id_
    assert Vault(book).get(id_).text == canonical(found)


def test_a_release_is_signed_from_the_page(
    open_app: Callable[..., AppTest], book: Budgets, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY, str(tmp_path / "key.pem"))
    book.new("signed", 2, 1e-5)
    app = with_table(open_app)
    app.selectbox(key="release-budget").set_value("signed").run()
    app.toggle(key="release-sign").set_value(True).run()
    app.checkbox(key="release-sure").set_value(True).run()
    app.button(key="release-go").click().run()
    assert not app.exception
    (found, _), mine = app.session_state["released"], public_text(own_key(tmp_path / "key.pem"))
    assert any(mine in c.value for c in app.caption)
    content = canonical(found).encode()
    app.file_uploader(key="check-file").set_value(("r.json", content, "text/json")).run()
    assert any(mine in i.value for i in app.info)
    app.text_input(key="check-key").set_value(mine).run()
    assert any("key that you gave" in s.value for s in app.success)
    page = ("r.html", to_html(found).encode(), "text/html")
    app.file_uploader(key="check-page").set_value(page).run()
    assert any("The page belongs to it" in c.value for c in app.caption)
    app.text_input(key="check-key").set_value(str(tmp_path / "key.pem")).run()  # no file is read
    assert "64 hexadecimal digits" in app.error[-1].value


def with_table(open_app: Callable[..., AppTest]) -> AppTest:
    app = open_app("table", step="release")
    app.selectbox(key="data-network").set_value("own").run()
    raw = own_asia().to_frame().to_csv(index=False).encode()
    schema = json.dumps(asia_schema().to_json()).encode()
    app.file_uploader(key="data-file").set_value(("ward.csv", raw, "text/csv")).run()
    app.file_uploader(key="data-schema").set_value(("s.json", schema, "text/json")).run()
    return app


@pytest.mark.parametrize("charged", [False, True])
def test_a_release_that_goes_on_says_what_a_stop_costs(
    open_app: Callable[..., AppTest],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    charged: bool,
) -> None:
    def waits(tell: Tell, *_: Any) -> None:
        if charged:
            budgets.charge("ward", Guarantee(1.0, 1e-6), "a release")
            tell(part=CHARGED)
        while not tell():
            time.sleep(0.01)

    budgets = Budgets(tmp_path / "b.db")
    monkeypatch.setenv(VARIABLE, str(budgets.path))
    budgets.new("ward", 3, 1e-5)
    monkeypatch.setattr(releases, "release", waits)
    monkeypatch.setattr("pages.shell.task.SHORT", 0.5)  # it ends only when it is stopped
    app = with_table(open_app)
    app.checkbox(key="release-sure").set_value(True).run()
    app.button(key="release-go").click().run()
    app.run()
    said = "keeps the charge" if charged else "stopping is free"
    assert any(said in i.value for i in app.info)
    left = "2 of 3" if charged else "3 of 3"  # the table was drawn before the charge
    assert app.dataframe[0].value["ε left"].tolist() == [left]
    app.button(key="release-stop").click().run()
    assert app.session_state["task-release"].wait(5)


def test_a_damaged_file_of_budgets_is_one_sentence(
    open_app: Callable[..., AppTest], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "b.db"
    path.write_text("no budgets")
    monkeypatch.setenv(VARIABLE, str(path))
    app = open_app("table", step="release")
    app.selectbox(key="data-network").set_value("own").run()
    raw = own_asia(200).to_frame().to_csv(index=False).encode()
    app.file_uploader(key="data-file").set_value(("ward.csv", raw, "text/csv")).run()
    assert not app.exception
    assert app.error[0].value.endswith(".")


@pytest.fixture(scope="module")
def wards(book: Budgets) -> list[tuple[str, bytes, str]]:
    """Files of two releases, of different people."""
    files = []
    for k in (7, 8):
        book.new(f"ward {k}", 1, 1e-5)
        asked = {"epsilon": 1.0, "delta": 1e-6}
        made = make(own_asia(seed=k), asia_schema(), "marginal_pc", asked, name=f"ward {k}",
                    budgets=book)  # fmt: skip
        files.append((f"{k}.json", canonical(made).encode(), "text/json"))
    return files


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> dict[str, Callable[[], str]]:
    """What each download button of a page would give."""
    found: dict[str, Callable[[], str]] = {}

    def download(title: str, make: Callable[[], str], name: str, *, key: str) -> None:
        found[key] = make

    monkeypatch.setattr(export, "download", download)
    return found


def test_without_a_table_a_release_opens_with_a_place_for_one(
    open_app: Callable[..., AppTest],
) -> None:
    app = open_app("table", step="release")
    assert app.file_uploader(key="drop-file").label == "A table: drop a file here"
    assert not any("asia" in h.proto.body.lower() for h in app.get("html"))


def test_knowledge_is_applied_to_a_release_afterwards(
    open_app: Callable[..., AppTest],
    wards: list[tuple[str, bytes, str]],
    offered: dict[str, Callable[[], str]],
) -> None:
    app = open_app("table", step="release")
    app.file_uploader(key="check-file").set_value(wards[0]).run()
    arrows = [["smoke", "lung"], ["asia", "tub"]]
    known = Knowledge(required=frozenset((a, b) for a, b in arrows))
    content = json.dumps(known.to_json()).encode()
    app.file_uploader(key="check-knowledge").set_value(("k.json", content, "text/json")).run()
    assert not app.exception
    assert any("nothing is charged" in s.value for s in app.success)
    made = loads(offered["check-new-json"]().encode())
    assert made.applied == known
    assert check(made) > 0
    content = content.replace(b"smoke", b"smoek")
    app.file_uploader(key="check-knowledge").set_value(("k.json", content, "text/json")).run()
    assert "smoek" in app.error[-1].value
    assert not any("nothing is charged" in s.value for s in app.success)


def test_several_releases_become_one(
    open_app: Callable[..., AppTest],
    wards: list[tuple[str, bytes, str]],
    offered: dict[str, Callable[[], str]],
) -> None:
    app = open_app("table", step="release")
    app.file_uploader(key="check-file").set_value(wards).run()
    assert not app.exception
    said = " ".join(m.value for m in app.markdown).replace("\\", "")
    assert "Combined from 2 releases: ward 7 (n = 5,000, ε = 1), ward 8" in said
    assert DISJOINT in said
    table = next(d.value for d in app.dataframe if len(d.value) == 8)
    assert list(table["Column"]) == list(asia_schema().names)
    assert all(abs(float(x)) < WARN for x in table.iloc[:, 1])  # one population
    made = loads(offered["check-new-json"]().encode())
    assert made.rows == 10_000
    assert check(made) > 0
    app.file_uploader(key="check-file").set_value([wards[0], wards[0]]).run()
    assert "are one release" in app.error[-1].value

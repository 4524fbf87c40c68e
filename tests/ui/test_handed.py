"""Sweep: a study that somebody hands on is opened, shown, added to another, and handed on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from engine import InputError, load_dataset, sweep
from engine.studies import CellResult, ResultStore
from engine.studies.sharing import read_study, study_file
from pages.mode import PUBLIC
from pages.sweep import handed
from pages.sweep import jobs as study_jobs
from pages.sweep.handed import file_of, of_file, together
from pages.sweep.state import Wanted

SOURCE = (("cancer", 1000, 0),)


def wanted(*algorithms: str, epsilons: tuple[float, ...] = (1.0,), seeds: int = 2) -> Wanted:
    params = {"guarantee": "strict"}
    spec = {"sources": SOURCE, "algorithms": algorithms, "epsilons": epsilons}
    return Wanted.from_json(spec | {"seeds": seeds, "params": params})


def runs(one: Wanted) -> list[CellResult]:
    data = load_dataset("cancer", n=1000)
    return list(sweep(data, one.algorithms, one.parameters(), one.seeds))


PRIV, EM = wanted("priv_pc"), wanted("em_pc")


def test_what_is_known_is_that_of_both_or_of_neither() -> None:
    told, more = replace(PRIV, known="two-tiers"), replace(EM, known="two-tiers")
    both = told.joined(more)
    assert both is not None
    assert (both.known, both.algorithms) == ("two-tiers", ("priv_pc", "em_pc"))
    assert told.joined(EM) is None


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    made = {"priv": PRIV, "em": EM}
    found = {name: study_file(runs(one), {name: one.as_json()}) for name, one in made.items()}
    return found | {"nameless": study_file(runs(PRIV))}


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    yield
    study_jobs.jobs().clear()


def words(app: AppTest) -> str:
    kinds = (app.markdown, app.caption, app.info, app.warning, app.error)
    return " ".join(e.value for kind in kinds for e in kind)


def handing(app: AppTest, content: bytes, name: str, button: str) -> AppTest:
    app.file_uploader(key="sweep-file").set_value((name, content, "application/x-sqlite3")).run()
    app.button(key=button).click().run()
    assert not app.exception
    return app


def test_a_file_is_opened_kept_and_reached_by_its_link(
    open_app: Callable[..., AppTest], files: dict[str, bytes]
) -> None:
    app = handing(open_app("sweep"), files["priv"], "../from ann.db", "sweep-open-file")
    assert "from ann" in words(app)
    assert "2 of 2 runs · finished" in words(app)
    assert app.multiselect(key="sweep-algorithms").value == ["priv_pc"]
    kept = Path("studies/from ann.db")
    assert kept.stat().st_mode & 0o077 == 0
    again = open_app("sweep", **{"sweep.study": "from ann"})
    assert "2 of 2 runs · finished" in words(again)
    with ResultStore(kept) as store:
        assert read_study(kept.read_bytes(), "x").results
        assert len(store) == 2


@pytest.mark.parametrize("link", ["../studies/x", "/etc/passwd", "http://127.0.0.1/x.db", "x/y"])
def test_a_link_is_a_name_and_never_a_place(link: str, open_app: Callable[..., AppTest]) -> None:
    app = open_app("sweep", **{"sweep.study": link})
    assert any("A study's name has" in e.value for e in app.error)


def test_a_second_file_is_added_to_the_one_on_screen(
    open_app: Callable[..., AppTest], files: dict[str, bytes]
) -> None:
    app = handing(open_app("sweep"), files["priv"], "a.db", "sweep-open-file")
    handing(app, files["em"], "b.db", "sweep-add-file")
    assert "4 of 4 runs · finished" in words(app)
    assert app.multiselect(key="sweep-algorithms").value == ["priv_pc", "em_pc"]
    assert sorted(p.stem for p in Path("studies").glob("*.db")) == ["a", "a + b"]


def test_what_a_file_holds_is_shown_though_its_settings_are_not_known(
    open_app: Callable[..., AppTest], files: dict[str, bytes]
) -> None:
    app = handing(open_app("sweep"), files["nameless"], "c.db", "sweep-open-file")
    assert "Made outside this page" in words(app)
    assert len(app.get("plotly_chart")) == 2


def test_what_is_no_study_is_said_and_keeps_what_is_on_screen(
    open_app: Callable[..., AppTest],
) -> None:
    app = handing(open_app("sweep"), b"no study", "c.db", "sweep-open-file")
    assert any("c.db is not a file of study results" in e.value for e in app.error)
    assert "145 of 145 runs" in words(app)
    assert not list(Path(".").rglob("*.db"))


def test_an_unknown_visitors_study_stays_in_the_session(
    files: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PUBLIC, "1")
    job = handed.keep(of_file(files["priv"], "a.db"))
    assert job.path is None
    assert job.memory is not None
    assert len(job.memory) == 2
    assert not list(Path(".").rglob("*.db"))


def test_studies_that_ask_for_different_things_are_shown_whole(files: dict[str, bytes]) -> None:
    one = of_file(files["priv"], "a.db")
    other_params = Wanted(**{**vars(EM), "params": (("guarantee", "strict"), ("threshold", 0.2))})
    other = of_file(study_file(runs(other_params), {"b": other_params.as_json()}), "b.db")
    both = together(one, other)
    assert both.wanted is None
    assert both.done == 4
    wider = of_file(study_file(runs(wanted("priv_pc", epsilons=(1.0, 9.0)))), "w.db")
    assert together(one, wider).done == 4  # two of its runs are the first's


def test_settings_that_no_form_could_ask_for_are_not_taken(files: dict[str, bytes]) -> None:
    spec = PRIV.as_json() | {"sources": [["own", 5, 0]]}
    job = of_file(study_file(runs(PRIV), {"x": spec}), "x.db")
    assert job.wanted is None
    spec = PRIV.as_json() | {"sources": [["sem:er:900:9000:gaussian", 10**9, 0]]}
    assert of_file(study_file(runs(PRIV), {"x": spec}), "x.db").wanted is None


def test_own_data_and_running_studies_are_added_to_nothing(files: dict[str, bytes]) -> None:
    one, mine = of_file(files["priv"], "a.db"), of_file(files["em"], "b.db")
    mine.own = load_dataset("cancer", n=1000)
    with pytest.raises(InputError, match="own data"):
        together(one, mine)
    other = of_file(files["em"], "b.db")
    other._begun = True
    with pytest.raises(InputError, match="still running"):
        together(one, other)


def test_a_study_handed_on_is_the_study(files: dict[str, bytes]) -> None:
    job = of_file(files["priv"], "a.db")
    found = of_file(file_of(job), "back.db")
    assert found.wanted == job.wanted
    assert sorted(r.fixed() for r in found.results) == sorted(r.fixed() for r in job.results)

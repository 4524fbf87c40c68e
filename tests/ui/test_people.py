"""Two people on one server: nothing of the one is seen, spent, opened or kept by the other."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from pages.host import person
from pages.host.person import FROM_PROXY, HEADER, HOME, NAMELESS, OPEN, SIGN_IN
from pages.shell.settings import Source
from pages.sweep import jobs
from pages.sweep.state import Wanted
from tests.release.samples import asia_schema, own_asia

APP = Path(__file__).resolve().parents[2] / "app.py"
STUDY = Wanted(sources=(Source("cancer", 1000),), algorithms=("pc",), epsilons=(1.0,), seeds=1)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(HEADER, "X-Forwarded-User")
    monkeypatch.setenv(HOME, str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


def visit(page: str, name: str | None, **query: str) -> AppTest:
    """The page as the proxy's visitor of that name sees it."""
    app = AppTest.from_file(str(APP), default_timeout=60)
    app._page_hash = calc_hash(page)
    app.user = {FROM_PROXY: name}
    for word, value in query.items():
        app.query_params[word] = value
    return app.run()


def with_own_data(app: AppTest, page: str) -> AppTest:
    app.selectbox(key=f"{page}-network").set_value("own").run()
    raw = own_asia().to_frame().to_csv(index=False).encode()
    schema = json.dumps(asia_schema().to_json()).encode()
    app.file_uploader(key=f"{page}-file").set_value(("ward.csv", raw, "text/csv")).run()
    app.file_uploader(key=f"{page}-schema").set_value(("s.json", schema, "text/json")).run()
    assert not app.exception
    return app


def said(app: AppTest) -> str:
    """Every word on the page."""
    kinds = (app.markdown, app.caption, app.info, app.warning, app.error, app.success)
    tables = "".join(frame.value.to_csv() for frame in app.dataframe)
    names = " ".join(str(e.proto.body) for e in app.get("html"))
    return " ".join(str(e.value) for kind in kinds for e in kind) + tables + names


def test_a_budget_is_seen_and_spent_by_its_person_alone(home: Path) -> None:
    ann = with_own_data(visit("release", "ann@example.org"), "release")
    ann.text_input(key="new-name").set_value("ward seven").run()
    ann.button(key="new-budget").click().run()
    ann.checkbox(key="release-sure").set_value(True).run()
    ann.button(key="release-go").click().run()
    assert "Released under" in said(ann)
    assert "ann@example.org" in said(ann)
    bob = with_own_data(visit("release", "bob@example.org"), "release")
    assert "ward seven" not in said(bob)
    assert "ann@" not in said(bob)
    assert not [box for box in bob.selectbox if box.key in ("kept-release", "release-budget")]
    bob.text_input(key="new-name").set_value("ward seven").run()  # the name is free for bob
    bob.button(key="new-budget").click().run()
    assert "ward seven" in said(bob)
    again = with_own_data(visit("release", "ann@example.org"), "release")
    assert again.selectbox(key="kept-release").options
    assert len(list((home / "people").iterdir())) == 2
    for path in home.rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path


def test_a_study_is_listed_and_opened_by_its_person_alone(home: Path) -> None:
    ann = visit("sweep", "ann")
    jobs_of_ann = home / "people" / key("ann") / "studies"
    job = jobs.StudyJob("secret plan", STUDY, jobs_of_ann / "secret plan.db")
    job.prepare(jobs.datasets_of(STUDY), jobs.estimate(jobs.datasets_of(STUDY), "pc", {}, 1))
    job.start()
    assert job.wait(60)
    ann.run()
    assert "secret plan" in ann.selectbox(key="sweep-chosen").options
    assert "secret plan" in said(visit("sweep", "ann", **{"sweep.study": "secret plan"}))
    for name in ("bob", None):
        other = visit("sweep", name)
        assert not [box for box in other.selectbox if box.key == "sweep-chosen"]
        asked = visit("sweep", name, **{"sweep.study": "secret plan"})
        assert "There is no study named" in said(asked)
        assert "finished" not in asked.error[0].value
    for path in home.rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path


def key(name: str) -> str:
    found = person.identity({FROM_PROXY: name})
    assert found is not None
    return found.key


def test_a_name_is_no_path(home: Path) -> None:
    """A folder is named by a digest: whatever the proxy says, nobody leaves their own."""
    for name in ("../../etc", "a/b", "", "  ", "ann", "Ann"):
        found = person.identity({FROM_PROXY: name})
        assert (found is None) == (not name.strip())
        assert found is None or found.key.isalnum()
    assert key("ann") != key("Ann")


@pytest.mark.parametrize(
    ("page", "words"), [("release", NAMELESS), ("data", NAMELESS), ("pairs", NAMELESS)]
)
def test_whom_the_proxy_does_not_name_has_no_budgets_and_no_own_data(
    home: Path, page: str, words: str
) -> None:
    app = visit(page, None)
    if page == "pairs":
        app.radio(key="pairs-source").set_value("Your own CSV").run()
    else:
        app.selectbox(key=f"{page}-network").set_value("own").run()
    assert not app.exception
    assert words in said(app)
    named = {box.key for box in app.get("file_uploader")}
    assert not {f"{page}-file", f"{page}-csv"} & named
    assert not home.exists()


def test_a_session_that_becomes_anothers_forgets_what_it_held(home: Path) -> None:
    app = with_own_data(visit("data", "ann"), "data")
    assert app.session_state["own_data"].d == 8
    app.user = {FROM_PROXY: "bob"}
    app.run()
    for place in ("own_data", "own_file"):
        assert place not in app.session_state or app.session_state[place] is None


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Say where the server listens."""
    real = person.st.get_option

    def listen(at: str) -> None:
        monkeypatch.setattr(
            person.st, "get_option", lambda n: at if n == "server.address" else real(n)
        )

    return listen


@pytest.mark.parametrize("at", ["0.0.0.0", "::", "", "192.168.1.7", "example.org"])
def test_a_server_that_others_reach_belongs_to_nobody(
    address: Callable[[str], None], at: str
) -> None:
    address(at)
    app = AppTest.from_file(str(APP), default_timeout=60)
    app._page_hash = calc_hash("release")
    app.run()
    assert OPEN in said(app)
    assert "Your budgets" not in said(app)


@pytest.mark.parametrize(
    ("headers", "mine"),
    [
        ({"host": "localhost:8501"}, True),
        ({"host": "127.0.0.1:8501"}, True),
        ({"host": "[::1]:8501"}, True),
        ({"host": "app.example.org"}, False),
        ({"host": "localhost:8501", "x-forwarded-for": "10.0.0.9"}, False),
        ({"host": "localhost", "forwarded": "for=10.0.0.9"}, False),
        ({"host": "127.0.0.1.example.org"}, False),
    ],
)
def test_a_proxy_before_a_local_server_makes_it_nobodys(
    headers: dict[str, str], mine: bool
) -> None:
    assert person.direct(headers) == mine


def test_people_who_sign_in_are_told_apart_by_issuer_and_subject(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(person, "get_secrets_auth_section", lambda: {"client_id": "x"})
    monkeypatch.setenv(HOME, str(tmp_path))
    ann = {"is_logged_in": True, "iss": "https://id.example.org", "sub": "7", "email": "a@b.c"}
    keys = [
        None if found is None else found.key
        for found in (
            person.identity(user)
            for user in (
                ann,
                {**ann, "email": "new@b.c", "name": "Ann"},
                {**ann, "sub": "8"},
                {**ann, "iss": "https://evil.example.org"},
                {**ann, "is_logged_in": False},
                {**ann, "sub": None},
                {FROM_PROXY: "ann"},
            )
        )
    ]
    assert keys[0] == keys[1] != None  # noqa: E711
    assert len(set(keys[1:4])) == 3
    assert keys[4:] == [None] * 3
    app = AppTest.from_file(str(APP), default_timeout=60)
    app._page_hash = calc_hash("release")
    app.user = {"is_logged_in": False}
    app.run()
    assert SIGN_IN in said(app)
    assert app.button(key="sign").label == "Sign in"
    app.user = ann
    app.run()
    assert SIGN_IN not in said(app)
    assert app.button(key="sign").label == "Sign out"

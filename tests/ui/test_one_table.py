"""One table is in force: another upload, read or not, ends what pages say of the one before."""

import numpy as np
import pytest

from engine.data.schema import Column, Schema
from engine.privacy.accounting import Guarantee
from engine.release.budget import VARIABLE, Budgets
from pages.shell import PAGES
from tests.ui.shown import shown
from tests.ui.steps import own_table, press, visit

NAME, ROWS = "ledgerfile", 417
COLUMNS = ("zebra", "yak", "xerus")
TRACES = (NAME, f"{ROWS} rows", f"n = {ROWS}", *COLUMNS)
SHORT, GAP = b"a,b\n1,2\n3\n1,1\n", b"a,b\n1,2\n,3\n1,1\n"


def table(columns, rows):
    codes = np.random.default_rng(3).integers(0, 2, (rows, len(columns)))
    lines = [",".join(columns), *(",".join(("no", "yes")[c] for c in row) for row in codes)]
    return "\n".join(lines).encode()


def schema(columns):
    return Schema(tuple(Column(name=n, type="unordered", levels=("no", "yes")) for n in columns))


def give(app, name, content, declared):
    """Upload a file with its schema on the Data page; without one where ``declared`` is None."""
    visit(app, "table")
    own_table(app, content, declared, name=f"{name}.csv")


@pytest.fixture(scope="module")
def visited(open_app, tmp_path_factory):
    """A session in which every page has something to say of its own file."""
    path = tmp_path_factory.mktemp("budgets") / "budgets.db"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, str(path))
        Budgets(path).new("survey of 1999", 9.0, 1e-3)
        app = open_app("my-data")
        give(app, NAME, table(COLUMNS, ROWS), schema(COLUMNS))
        visit(app, "run")
        press(app, "run", "pin")
        visit(app, "table", step="release")
        app.checkbox(key="release-sure").set_value(True).run()
        press(app, "release-go")
        assert app.session_state["task-release"].result is not None
        yield app


@pytest.fixture
def used(visited):
    """The same, with the file in force."""
    give(visited, NAME, table(COLUMNS, ROWS), schema(COLUMNS))
    for page, step in (("run", ""), ("table", "release"), ("table", "table")):
        visit(visited, page, step=step)
        assert any(trace in shown(visited) for trace in TRACES), page
    return visited


# Says nothing of missing numbers, so a file that has one is refused.
STRICT = Schema(tuple(Column(name=n, type="numeric", bounds=(0.0, 9.0)) for n in "ab"))


@pytest.mark.parametrize(("content", "declared"), [(SHORT, None), (GAP, STRICT)])
def test_a_file_that_cannot_be_read_leaves_no_table(used, content, declared):
    visit(used, "table")
    give(used, "broken", content, declared)
    assert NAME not in shown(used)
    [why] = used.sidebar.error
    assert used.main.info[0].value == why.value  # why there is none
    for page in PAGES:
        visit(used, page.name)
        found = [trace for trace in TRACES if trace in shown(used)]
        assert found == [], page.name


def test_another_file_takes_the_place_and_what_was_paid_for_is_kept_apart(used):
    others = ("wombat", "vole", "urchin")
    give(used, "second", table(others, 523), schema(others))
    for page in PAGES:
        visit(used, page.name, step="share")
        found = [trace for trace in TRACES if trace in shown(used)]
        if page.name == "table":
            assert [e.label for e in used.expander if "from another file" in e.label]
        else:
            assert found == [], page.name
    give(used, NAME, table(COLUMNS, ROWS), schema(COLUMNS))
    visit(used, "table", step="share")
    assert not [e.label for e in used.expander if "from another file" in e.label]
    assert "Released under" in " ".join(s.value for s in used.success)


def test_the_same_file_by_a_schema_keeps_what_was_found_in_it(open_app):
    app = open_app("run")
    own_table(app, table(COLUMNS, ROWS), page="run", name=f"{NAME}.csv")
    press(app, "run")
    before = app.session_state["shown"][True]
    own_table(app, table(COLUMNS, ROWS), schema(COLUMNS), page="run", name=f"{NAME}.csv")
    assert app.session_state["shown"][True] is before
    assert [*app.session_state["own_costs"][NAME].values()] == [Guarantee(float("inf"), 0.0)]


def test_of_a_file_that_cannot_be_read_its_own_fault_is_said(open_app):
    """Not that of the one before it, which the same settings were refused for."""
    app = open_app("my-data")
    give(app, "first", b"a,b\n0,1\n1,1\n", None)
    visit(app, "run")
    press(app, "run")
    assert "it holds one value only" in app.main.error[0].value
    give(app, "second", b"a,b\n0,1\n1\n", None)
    assert not app.main.warning  # of columns that nobody has seen nothing is said
    visit(app, "run")
    assert not [e.value for e in app.main.error if "it holds" in e.value]
    press(app, "run")
    assert "Line 3 of second.csv does not have as many" in app.main.error[0].value

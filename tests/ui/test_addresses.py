"""Every field of every page's address, with what no page ever wrote into it.

Each is answered with one sentence or left out; nothing of it is a traceback.
"""

import pytest

from engine import InputError
from pages.learn import allocation, sieve
from pages.learn.tour import Tour
from pages.shell import state
from pages.shell.settings import MOST_SEED, Source, check_rows
from pages.shell.state import defaults
from tests.ui.steps import back

LONGEST = 300  # characters of a sentence
ON_PAGES = ("", "x", "nan", "1e308", "-1", "1.5", f"{2**53}", "9" * 400, "\x00", "own")
SETTINGS = "data n sample seed algorithm epsilon max_order subsample"
FIELDS = {
    "scene": "data algorithm epsilon draw ghost",
    "run": f"{SETTINGS} sem_graph sem_nodes asia-known",
    "report": f"present {SETTINGS}",
    "learn": "present step sieve.round sieve.threshold plan.beta1 data epsilon seed shuffles room",
    "study": f"study.target study.others study.seeds plan.rows {SETTINGS}",
    "table": "data n sample step",
    "pairs": "pairs.rows pairs.width",
}


@pytest.mark.parametrize("page", FIELDS)
def test_no_address_is_a_traceback(open_app, page):
    """All fields wrong in one way; then each alone, said twice."""
    app, names = open_app(page, data="cancer", n="2000"), FIELDS[page].split()
    for word in ON_PAGES:
        look(app, dict.fromkeys(names, word))
    for name in names:
        look(app, {name: ["", "9" * 400]})


def look(app, query):
    """What the browser does with a link: the page must be whole, with short sentences at most."""
    back(app, query)
    told = {name: word[:40] for name, word in query.items()}
    assert not app.exception, (told, app.exception[0].message)
    said = ". ".join(error.value for error in app.error)
    assert all(len(sentence) < LONGEST for sentence in said.split(". ")), told


@pytest.mark.parametrize("fields", [allocation.Fields, sieve.Fields, Tour])
def test_every_field_says_what_it_admits_and_is_read_as_it_was_written(fields):
    """Every field, moved away from its default; and every word that no field could show."""
    for spec in fields.specs():
        bounded = spec.low is not None and spec.high is not None
        assert bounded or spec.among or spec.choices or spec.kind == "bool", spec.name
        other = next(v for v in (*spec.among, *spec.choices, False, spec.high) if moved(spec, v))
        words = state.words(fields.specs(), defaults(fields) | {spec.name: other}, "p.")
        assert list(words) in ([f"p.{spec.name}"], [spec.name])
        assert spec.check(spec.parse(*words.values())) == other
        for odd in ("nan", "x", "9" * 400):
            with pytest.raises(InputError):
                spec.check(spec.parse(odd))
    fields()  # its own defaults fit


def moved(spec, value):
    """Whether the value fits the field and is not its default."""
    try:
        return value != spec.default and spec.check(value) == value
    except InputError:
        return False


@pytest.mark.parametrize("seed", [-1, MOST_SEED + 1, 10**400])
def test_a_data_seed_that_is_not_drawn_here(seed):
    with pytest.raises(InputError, match="data seed"):
        check_rows(Source("asia", 1_000, seed))

"""Every field of every page's address, with what no page ever wrote into it.

Each is answered with one sentence or left out; nothing of it is a traceback.
"""

import pytest

from engine import InputError
from engine.request import Source
from pages.learn import scenes, sieve
from pages.learn.tour import Tour
from pages.shell.settings import MOST_SEED, check_rows
from tests.ui.steps import back

ODD = ("", "nan", "1e308", "-1", f"{2**53}", "9" * 400, "\x00", "own", ["", "9" * 400])
SETTINGS = "data n sample seed algorithm epsilon max_order subsample"
FIELDS = {
    "scene": "present data algorithm epsilon draw ghost",
    "run": f"{SETTINGS} sem_graph sem_nodes asia-known",
    "report": f"present {SETTINGS}",
    "learn": "present step data epsilon seed shuffles",
    "learn/person": "room",
    "learn/sieve": "sieve.round sieve.scale sieve.threshold sieve.tweak sieve.best sieve.share",
    "learn/orders": "plan.beta1 plan.beta2",
    "study": f"study.target study.lines study.tweak study.seeds plan.rows {SETTINGS}",
    "table": "data n sample step",
    "pairs": "pairs.rows pairs.width",
    "trust": "trust.attacked trust.claim trust.neighbours trust.runs",
}


@pytest.mark.parametrize(("page", "names"), FIELDS.items(), ids=FIELDS)
def test_no_address_is_a_traceback(open_app, page, names):
    """All fields wrong in one way, the last one said twice: short sentences at most."""
    page, _, step = page.partition("/")
    app, here = open_app(page, data="cancer", n="2000"), {"step": step, "data": "cancer"}
    for word in ODD:
        back(app, (here if step else {}) | dict.fromkeys(names.split(), word))
        assert not app.exception, (word[:40], app.exception[0].message)
        said = ". ".join(error.value for error in app.error)
        assert all(len(sentence) < 300 for sentence in said.split(". ")), word[:40]


@pytest.mark.parametrize("fields", [scenes.Fields, sieve.Fields, Tour])
def test_every_field_of_learn_says_what_it_admits(fields):
    for spec in fields.specs():
        bounded = spec.low is not None and spec.high is not None
        assert bounded or spec.among or spec.choices or spec.kind == "bool", spec.name


@pytest.mark.parametrize("seed", [-1, MOST_SEED + 1, 10**400])
def test_a_data_seed_that_is_not_drawn_here(seed):
    with pytest.raises(InputError, match="sample must be at least 0"):
        check_rows(Source("asia", 1_000, seed))

"""The Audit and Plan pages: they open on finished examples, and attack and simulate when asked."""

import json
import re
from dataclasses import replace
from functools import partial

from engine import read_table
from engine.audit.replay import Finding
from engine.release.budget import Budgets
from engine.release.checking import attack_release
from engine.release.file import canonical
from tests.release.samples import asia_schema, make, own_asia
from tests.ui.steps import give, press, told


def finished(app):
    """Wait for the thread, then draw the page again."""
    for key in ("task-audit", "task-audit-release"):
        assert key not in app.session_state or app.session_state[key].wait(60)
    app.run()
    assert not app.exception


def test_an_attack_runs_and_goes_back(open_app):
    app = open_app("audit")
    app.selectbox(key="audit-algorithm").set_value("gram_notears").run()
    app.selectbox(key="audit-pair-gram_notears").set_value("one cell").run()
    app.select_slider(key="audit-runs").set_value(50).run()
    press(app, "audit-go")
    finished(app)
    assert "Gram-NOTEARS, strict: claimed ε = 1, measured at least" in told(app)
    press(app, "audit-back")
    assert "Finished example: CURATE, as published: claimed ε = 1, measured at least 5.29" in told(
        app
    )


def test_members_are_traced_in_exact_tables_and_hardly_in_noisy_ones(open_app):
    app = open_app("audit")
    app.session_state["audit-membership"] = True
    app.run()
    assert not app.exception
    exact, private = re.search(r"recognises (\d+) % .* and (\d+) % in tables", told(app)).groups()
    assert int(exact) > 25 > 15 > int(private)


def attacked(app, raw):
    """The page with a file up and attacked."""
    give(app, "audit-release-file", raw, "r.json")
    return press(app, "audit-release-go")


def test_a_release_file_is_attacked_and_a_bad_one_refused_in_a_sentence(
    open_app, tmp_path, monkeypatch
):
    monkeypatch.setattr("pages.trust.work.attack_release", partial(attack_release, proposals=2))
    schema = asia_schema(2_000).keep("lung", "either", "xray")
    rows = read_table(own_asia(2_000).to_frame(), schema)
    release = make(Budgets(tmp_path / "b.db"), rows, schema)
    raw = canonical(release).encode()
    app = open_app("audit")
    assert "audit-release-go" not in [b.key for b in app.button]
    for bad, said in (
        (b"{}", "This is not a release"),
        (b"\xff" * 9, "not JSON in UTF-8"),
        (raw.replace(b'"rows":2000', b'"rows":2001'), "its digest does not match"),
    ):
        (error,) = attacked(app, bad).error
        assert said in error.value
        assert error.value.count(". ") == 0
    other = replace(release, cpdag=release.cpdag[1:])  # consistent in itself, not with its numbers
    finished(attacked(app, canonical(other).encode()))
    assert ["does not follow" in e.value for e in app.error] == [True]
    finished(attacked(app, raw))
    assert not app.error
    assert f"Not refuted by {3 * len(release.releases)} pairs of neighbours" in told(app, "info")
    assert f"of {len(release.releases)} answers" in told(app)
    give(app, "audit-release-file", b"{}", "o.json")
    assert "pairs of neighbours" not in told(app, "info")
    refuted = Finding({"below": 0.7, "at": 1.0, "beyond": 1.2})
    monkeypatch.setattr("pages.trust.work.attack_release", lambda *_, **more: refuted)
    finished(attacked(app, raw))
    drawn = [bar for one in app.get("plotly_chart") for bar in json.loads(one.proto.spec)["data"]]
    [inks] = [bar["marker"]["color"] for bar in drawn if bar["x"] == [1.2, 1.0, 0.7]]
    assert [*map(inks.count, inks)] == [1, 2, 2]

"""One value a control for the whole visit, the address that follows it, and who is right of two.

The browser may be behind: what it sends, of a field or of the address, may be of before.
"""

from types import SimpleNamespace

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from engine.params import ParameterError, Spec
from engine.studies.scenes import kept_scene
from pages.shell import form, state
from tests.ui.steps import address, back, behind, told, visit


def _visit():
    """Two pages of one visit, a preset and its undoing; a switch that hides a field; a clock."""
    import streamlit as st

    from engine.params import Spec
    from pages.shell import form, state

    specs = (
        Spec(name="epsilon", kind="float", default=1.0, title="ε", low=0.0, open_low=True),
        Spec(name="seeds", kind="int", default=3, title="Seeds", low=1),
        Spec(name="score", kind="choice", default="p", title="Score", choices=("p", "z")),
        Spec(name="nets", kind="many", default=("asia",), title="Networks"),
    )
    here = st.session_state.get("page", "one")
    state.read_address(here)
    state.write_changes("")
    if "long" in st.session_state:
        st.stop()
    d = state.Values(specs, f"{here}.")
    presets = {"epsilon": 2.5, "score": "z", "nets": ("asia", "child")}
    st.button("preset", on_click=d.update, args=(presets,), key="preset")
    st.button("undo", on_click=d.update, args=({"score": "p"},), key="undo")
    form.parameters(specs[:2], d, key="f")
    if st.checkbox("show", value=True, key="show"):
        form.parameters(specs[2:3], d, key="f")
    form.bound(st.multiselect, "Networks", d, "nets", key="nets", options=["asia", "child"])
    state.write_address()
    state.draw_mark()
    if "tick" in st.session_state:
        st.query_params.from_dict({"epsilon": st.session_state.pop("tick")})
        st.rerun()


@pytest.fixture
def app():
    return AppTest.from_function(_visit).run()


def epsilon(app, value=None):
    """What the field shows, once a value is typed into it."""
    if value is not None:
        app.number_input("f-epsilon").set_value(value).run()
    return float(app.number_input("f-epsilon").value)


def test_a_preset_is_one_write_and_back_undoes_all_of_it(app):
    assert address(app) == {}
    app.button("preset").click().run()
    whole = {"epsilon": "2.5", "one.score": "z", "one.nets": "asia,child"}
    assert address(app) == whole
    assert epsilon(app) == 2.5
    back(app, {})
    assert (epsilon(app), address(app)) == (1.0, {})
    back(app, whole)
    assert app.multiselect("nets").value == ["asia", "child"]


def test_a_press_is_in_the_address_before_the_page_is_drawn(app):
    """A page that begins long work may be reloaded before it is drawn to its end."""
    app.session_state["long"] = True
    app.button("preset").click().run()
    words = {"epsilon": "2.5", "one.score": "z", "one.nets": "asia,child"}
    assert address(app, "early_address") == words


def test_a_link_sets_what_it_names_and_what_no_control_can_show_is_dropped():
    app = AppTest.from_function(_visit)
    link = {"epsilon": "0.2", "one.score": "q", "one.seeds": "many", "nobody": "1"}
    app.query_params.update(link)
    assert epsilon(app.run()) == 0.2
    assert (app.radio("f-score").value, app.number_input("f-seeds").value) == ("p", 3)
    assert address(app) == {"epsilon": "0.2"}


def test_epsilon_is_one_for_all_pages_and_the_rest_is_each_pages_own(app):
    epsilon(app, 4.0)
    app.number_input("f-seeds").set_value(9).run()
    for page, seeds in (("two", 3), ("one", 9)):
        app.session_state["page"] = page
        behind(app, {})
        app.run()
        assert (epsilon(app), app.number_input("f-seeds").value) == (4.0, seeds)


def test_a_refused_number_stays_with_its_sentence(app):
    assert epsilon(app, -1.0) == -1.0
    assert "must be above 0" in told(app, "html")


def test_an_address_of_before_takes_nothing_back(app):
    app.number_input("f-seeds").set_value(5).run()
    behind(app, {})
    epsilon(app, 2.0)
    assert address(app) == {"epsilon": "2.0", "one.seeds": "5"}
    app.session_state["tick"] = "1"  # nor does one that a look by the clock brings
    assert epsilon(app.run()) == 2.0
    assert address(app)["epsilon"] == "2.0"


def test_a_press_right_after_a_preset_does_not_undo_it(app):
    app.button("preset").click().run()
    app.text_input(state.MARK).set_value("0")  # the browser has not seen the preset's values
    assert epsilon(app, 1.0) == 2.5


def test_what_a_field_was_told_before_it_was_hidden_binds_no_hand(app):
    app.button("preset").click().run()
    app.checkbox("show").uncheck().run()
    app.button("undo").click().run()
    app.checkbox("show").check().run()
    for chosen in ("z", "p"):
        app.radio("f-score").set_value(chosen).run()
        assert app.radio("f-score").value == chosen


def test_a_choice_whose_run_was_cut_short_is_kept(app):
    """The next press ends a run at any line, also in a callback: the browser's values hold all."""
    app.radio("f-score").set_value("z").run()
    lost = app.session_state["state"].chosen.pop("one.score")  # as if its callback had been ended
    app.session_state["state_kept"]["f-score"] = "p"
    app.number_input("f-seeds").set_value(5).run()
    assert (lost, app.radio("f-score").value) == ("z", "z")
    assert address(app) == {"one.score": "z", "one.seeds": "5"}


def test_a_choice_of_several_is_checked():
    spec = Spec(name="nets", kind="many", default=(), title="", choices=("a", "b"))
    assert spec.check(spec.parse("a,b")) == ("a", "b")
    for bad in (("a", "c"), ("a", "a"), 3):
        with pytest.raises(ParameterError):
            spec.check(bad)


def test_a_field_begins_with_what_it_is_told(open_app):
    """The telling is lost where another run begins before it was sent: a browser then shows what
    the field begins with, its least number or first choice, and sends that back as chosen.
    """
    model = {"sem_graph": "sf", "sem_nodes": "12", "sem_edges": "24", "sem_noise": "gumbel"}
    app = open_app("run", data="sem", n="3000", sample="7", epsilon="2", **model)
    app.run()  # in which nothing is told any more
    numbers = {field.key: field.proto for field in app.number_input}
    asked = {"run-sem_nodes": 12, "run-sem_edges": 24, "run-n": 3000, "run-sample": 7}
    for key, value in {**asked, "param-epsilon": 2.0}.items():
        assert (numbers[key].set_value, numbers[key].default) == (False, value), key
    lists = {field.key: field for field in (*app.selectbox, *app.radio)}
    for key in ("run-network", "run-sem_graph", "run-sem_noise", "run-algorithm"):
        assert lists[key].proto.default == lists[key].index > 0, key
    assert "SEM, Scale-free, Gumbel" in told(app, "html")
    assert address(app).items() >= {"data": "sem", "n": "3000", **model}.items()
    visit(app, "table")


def test_a_look_by_the_clock_takes_nothing_back(monkeypatch):
    """It brings what all fields held when the clock struck, and no choice of anybody's."""
    run = SimpleNamespace(fragment_ids_this_run=None)
    monkeypatch.setattr(form, "get_script_run_ctx", lambda: run)
    monkeypatch.setattr(state, "get_script_run_ctx", lambda: run)
    home = SimpleNamespace(get=lambda: SimpleNamespace(fragment_id=None))
    monkeypatch.setattr(form, "ThreadState", home)
    monkeypatch.setattr(st, "session_state", {})
    made = {}
    store = {"epsilon": 3.0}
    form.bound(lambda _, **told: made.update(told), "ε", store, "epsilon", key="e")
    st.session_state["e"] = 1.0
    run.fragment_ids_this_run = ["clock"]
    made["on_change"]()
    assert store["epsilon"] == 3.0
    run.fragment_ids_this_run = None
    made["on_change"]()
    assert store["epsilon"] == 1.0
    run.fragment_ids_this_run = ["dialog"]  # in which alone a hand runs a field of its own
    home.get = lambda: SimpleNamespace(fragment_id="dialog")
    st.session_state["e"] = 2.0
    form.bound(lambda _, **told: None, "ε", store, "epsilon", key="e")
    assert store["epsilon"] == 2.0


def _pair():
    """Two fields of one number, and a switch beside them."""
    import streamlit as st

    from pages.shell.form import bound
    from pages.shell.state import draw_mark, session_values

    form = session_values("form", {"epsilon": 1.0, "stable": False})
    bound(st.number_input, "ε", form, "epsilon", key="typed", step=1.0)
    bound(st.select_slider, "ε", form, "epsilon", key="slid", options=[1.0, 2.0, 3.0])
    bound(st.toggle, "Stable", form, "stable", key="stable")
    draw_mark()


@pytest.fixture
def typed():
    """ε = 2 is typed, and the slider told."""
    app = AppTest.from_function(_pair).run()
    app.number_input("typed").set_value(2.0).run()
    assert app.select_slider("slid").value == 2.0
    return app


def sends(app, seen, slid, *, shows, press=False):
    """The browser sends the slider's place, once it has seen what it was told up to a mark."""
    if seen is not None:
        app.text_input(state.MARK).set_value(seen)
    app.select_slider("slid").set_value(slid)
    if press:
        app.toggle("stable").set_value(not app.toggle("stable").value)
    app.run()
    assert not app.exception
    assert app.number_input("typed").value == app.select_slider("slid").value == shows


def test_what_a_field_showed_before_it_was_told_another_is_no_choice(typed):
    for _ in range(2):  # whatever is pressed before the browser has the slider's new place
        sends(typed, "0", 1.0, shows=2.0, press=True)
    assert not typed.toggle("stable").value
    sends(typed, "0", 3.0, shows=3.0)  # a hand may take it elsewhere: nothing had shown 3


def test_of_two_tellings_the_first_is_no_choice_either(typed):
    seen = typed.text_input(state.MARK).value
    typed.number_input("typed").set_value(3.0).run()
    sends(typed, seen, 2.0, shows=3.0, press=True)  # the browser has the slider at 2, and sends it


def test_what_a_hand_chose_is_not_undone_by_a_telling_that_comes_late(typed):
    late = typed.text_input(state.MARK).value
    sends(typed, "0", 3.0, shows=3.0)
    sends(typed, late, 2.0, shows=3.0, press=True)  # the telling of 2 has come over the hand's 3
    for value in (2.0, 3.0, 2.0):  # and a hand may go to and fro
        sends(typed, None, value, shows=value)


def test_a_hand_may_take_a_field_back_also_where_a_mark_is_no_number(typed):
    sends(typed, None, 1.0, shows=1.0)  # the browser has seen that it was told 2
    sends(typed, "me", 2.0, shows=2.0)  # as a browser that fills in forms may say


def test_a_scene_that_is_made_ones_own_brings_its_rows(open_app, monkeypatch):
    app, asked = open_app(data="asia", n="2000", sample="5"), {}
    monkeypatch.setattr(st, "switch_page", lambda page, query_params: asked.update(query_params))
    app.switch_page("pages/scene/page.py")
    app.session_state["scene_yours"] = True  # as the button does
    app.run()
    assert (asked["n"], asked["sample"]) == (str(kept_scene("asia")["rows"]), "0")

"""Visits with files that differ in one record: every message and every file is alike.

What the server sends is compared before the browser has it, shown or not: a page that says nothing
of a record may still send it.
"""

import re
from itertools import count
from types import SimpleNamespace
from uuid import UUID

import pytest
import streamlit as st
from google.protobuf.text_format import MessageToString
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

from engine.release.budget import VARIABLE, Budgets
from tests.boundary.alike import DECLARED, ODD, Twice, table
from tests.ui.steps import own_table, press, visit

# What a clock says of public data and of a charge. Streamlit's own timing (page_profile) and what
# is seen while one waits are left out by their types.
CLOCK = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC|[\d.]+ s on one core")


class Wire:
    """Everything that is sent to a browser, and every file that is offered to it, as text."""

    def __init__(self, monkeypatch):
        self.said: list[str] = []
        enqueue, offer = ForwardMsgQueue.enqueue, st.download_button

        def sent(queue, message):
            copy = type(message)()
            copy.CopyFrom(message)
            copy.hash = ""
            timing = copy.WhichOneof("type") == "page_profile"
            if not timing and not copy.delta.HasField("new_transient"):
                self.said.append(CLOCK.sub("", MessageToString(copy)))
            return enqueue(queue, message)

        def offered(label, data, name, *args, **options):
            content = data() if callable(data) else data
            self.said.append(f"{name}: {content!r}")
            return offer(label, data, name, *args, **options)

        monkeypatch.setattr(ForwardMsgQueue, "enqueue", sent)
        monkeypatch.setattr(st, "download_button", offered)


def journey(app, content):
    """One's own table on every page that has something to say of it."""
    own_table(app, content, DECLARED)
    visit(app, "run")
    app.session_state["run-details"] = "Download and share"
    for key in ("svt_pc", "priv_pc", "marginal_pc"):
        app.selectbox(key="run-algorithm").set_value(key).run()
        press(app, "run")
    press(app, "pin")
    for page in ("study", "learn", "report"):
        visit(app, page)
    assert "Columns" in [link.proto.label for link in app.get("page_link")]  # a step of one's table
    visit(app, "table", step="release")
    app.checkbox(key="release-sure").set_value(True).run()
    press(app, "release-go")
    assert app.session_state["task-release"].result is not None
    visit(app, "table")


USUAL = ("yes", "yes", "y", "77.5")
CASES = {
    "every page": (journey, ODD, USUAL),
    "of no schema": (own_table, None, ("yes", "quux", "y", "77.5")),  # a level that only it has
}


@pytest.mark.parametrize("case", CASES)
def test_no_message_and_no_file_is_another_one_s(open_app, tmp_path, monkeypatch, case):
    walked, *records = CASES[case]
    # What matches no level is told to the table's owner, exact: all else is compared.
    for place in ("pages.table.columns", "pages.table.pay"):
        monkeypatch.setattr(f"{place}.unforeseen", lambda data, *, key: None)
    open_app("run")  # what all sessions share is there for all visits alike
    wire, twice, heard = Wire(monkeypatch), Twice(), []
    for k, record in enumerate(records):
        monkeypatch.setenv(VARIABLE, str(tmp_path / f"{k}" / "b.db"))
        Budgets().new("ward", 9, 1e-3)
        files = map(UUID, map("{:032x}".format, count(1)))  # Streamlit's names of what it serves
        names = SimpleNamespace(uuid4=files.__next__)
        monkeypatch.setattr("streamlit.runtime.media_file_manager.uuid", names)
        with twice.visit():
            app = open_app("my-data")
            wire.said.clear()
            walked(app, table(7, record))
        heard.append(list(wire.said))
    one, other = heard
    for kind in ("ledger.csv", ".zip") * (walked is journey):
        assert any(kind in said for said in one)
    differ = [pair for pair in zip(one, other, strict=False) if pair[0] != pair[1]]
    assert not differ, [said[:300] for said in differ[0]]
    assert len(one) == len(other)

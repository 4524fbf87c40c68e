"""Steps and looks that tests of pages share."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial

import pytest
from streamlit.runtime.scriptrunner import RerunData
from streamlit.testing.v1 import AppTest, local_script_runner

from engine.data.schema import Schema

Open = Callable[..., AppTest]
WORDS = ("markdown", "header", "caption", "html", "warning", "success", "info", "error")


def told(app: AppTest, *kinds: str) -> str:
    """What the page says in words, or in those of some kinds."""
    said = [str(e.value) for kind in kinds or WORDS for e in app.get(kind)]
    return " ".join(said).replace("\\", "")


def metrics(app: AppTest) -> dict[str, str]:
    """Title -> value of every tile."""
    return {m.label: m.value for m in app.metric}


def address(app: AppTest, name: str = "address") -> dict[str, str]:
    """The words of the address that the browser was last given."""
    [found] = [e for e in app.get("bidi_component") if e.proto.component_name == name]
    query: dict[str, str] = json.loads(found.proto.json)["query"]
    return query


def press(app: AppTest, *keys: str) -> AppTest:
    """Buttons, one after the other."""
    for key in keys:
        app.button(key=key).click().run()
        assert not app.exception
    return app


def visit(app: AppTest, page: str, **query: str) -> None:
    """To another page by the menu, which leaves the address of the last one behind."""
    app.query_params.clear()
    app.query_params.update(query)
    app.switch_page(f"pages/{page}/page.py").run()
    assert not app.exception, page


def step(app: AppTest, word: str) -> None:
    """To a step of the journey of one's own table."""
    app.query_params["step"] = word
    app.run()
    assert not app.exception


def give(app: AppTest, key: str, content: bytes | str, name: str = "mine.csv") -> None:
    """A file into the place of this key."""
    raw = content.encode() if isinstance(content, str) else content
    app.file_uploader(key=key).set_value((name, raw, "text/csv")).run()
    assert not app.exception


def own_table(
    app: AppTest,
    content: bytes,
    schema: Schema | str | None = None,
    *,
    page: str = "data",
    name: str = "mine.csv",
) -> None:
    """One's own table, with its schema where there is one, on a page whose fields begin so."""
    app.selectbox(key=f"{page}-network").set_value("own").run()
    if schema is not None:
        words = json.dumps(schema.to_json()) if isinstance(schema, Schema) else schema
        app.file_uploader(key=f"{page}-schema").set_value(("s.json", words.encode(), "text/json"))
    give(app, f"{page}-file", content, name)


def behind(app: AppTest, query: Mapping[str, str]) -> None:
    """The browser still has an address of before; whatever is pressed next brings that."""
    app.query_params.clear()
    app.query_params.update(query)


def back(app: AppTest, query: Mapping[str, str]) -> None:
    """Back or Forward is pressed, and leads to this address."""
    behind(app, query)
    with pytest.MonkeyPatch.context() as patch:
        gone = partial(RerunData, is_history_navigation=True)
        patch.setattr(local_script_runner, "RerunData", gone)
        app.run()

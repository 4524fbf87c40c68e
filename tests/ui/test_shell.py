"""Navigation, and addresses that lead straight to one page."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

APP = Path(__file__).resolve().parents[2] / "app.py"


@pytest.mark.parametrize("page", ["data", "run"])
def test_a_page_opened_first_is_drawn_inside_the_app(page: str) -> None:
    # Before any st.navigation call Streamlit would start the page's file alone.
    app = AppTest.from_file(str(APP), default_timeout=60)
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception
    assert app.session_state["inside_app"]
    assert f">{page.capitalize()}</h1>" in " ".join(h.value for h in app.get("html"))
    assert len([h for h in app.get("html") if ".stMainBlockContainer" in h.value]) == 1
    app.run()
    assert not app.exception

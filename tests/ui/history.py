"""What the browser says of its history, under Streamlit's own test harness."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import pytest
from streamlit.runtime.scriptrunner import RerunData
from streamlit.testing.v1 import AppTest, local_script_runner


def behind(app: AppTest, query: Mapping[str, list[str]] | Mapping[str, str]) -> None:
    """The browser still has an address of before; whatever is pressed next brings that."""
    app.query_params.clear()
    app.query_params.update(query)


def back(app: AppTest, query: Mapping[str, list[str]] | Mapping[str, str]) -> AppTest:
    """Back or Forward is pressed, and leads to this address."""
    behind(app, query)
    with pytest.MonkeyPatch.context() as patch:
        gone = partial(RerunData, is_history_navigation=True)
        patch.setattr(local_script_runner, "RerunData", gone)
        return app.run()

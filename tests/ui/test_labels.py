"""A person's words in a chart mean themselves: Plotly would read tags in them."""

from __future__ import annotations

from pages.draw.charts import Axis, bars, curves

ODD = "<b>30</b> & more"


def test_levels_and_names_of_columns_are_no_markup() -> None:
    drawn = bars([ODD], [1.0], x_title=ODD, y_title="%", words=["1"]).to_json()
    lines = curves([], Axis(ODD), Axis(f"{ODD} less its fit")).to_json()
    for content in (drawn, lines):
        assert "<b>" not in content.replace("\\u003c", "<").replace("\\u003e", ">")
        assert "&lt;b" in content.replace("\\u0026", "&")

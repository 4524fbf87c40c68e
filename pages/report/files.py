"""The report's files: one HTML page, a ZIP, pictures, and the graph for other tools."""

from __future__ import annotations

import streamlit as st

from engine.graphs.formats import FORMATS
from engine.graphs.orientation import SHOWN
from engine.marginals.confidence import percent
from engine.studies.bundle import bundle
from engine.studies.scene import kept_scene, kept_scenes
from pages.draw.picture import Picture
from pages.draw.scene import Offline, given, offline
from pages.report.repeats import Repeats
from pages.report.view import STYLE, Pictures, body, pictures
from pages.shell import words as text
from pages.shell.export import download
from pages.shell.runs import Shown
from pages.shell.words import safe

_SHEET = """
body {font-family: "Source Sans 3", "Source Sans Pro", system-ui, sans-serif; color: #1a2230;
  background: #fff; margin: 2rem auto; max-width: 88rem; padding: 0 1.5rem}
footer {margin-top: 2rem; font-size: .9rem; color: #4d5666}
@media print {body {margin: 0; padding: 0} figure, li {break-inside: avoid} @page {margin: 14mm}}
"""
# Nothing may be fetched, and no script runs but the scene's.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page(run: Shown, repeats: Repeats | None, drawn: Pictures) -> str:
    """A complete HTML page that needs nothing but itself; with a dial where there is a scene."""
    title = f"{text.dataset_title(run.data)}: report"
    scene = _scene(run)
    policy = _POLICY if scene is None else f"{_POLICY}; {scene.policy}"
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{safe(title)}</title><style>{_SHEET}{STYLE}{scene.style if scene else ''}</style>"
        f"</head><body>{body(run, repeats, drawn, 'light', inline=True)}"
        f"{scene.html if scene else ''}<footer>{safe(_made(run))}</footer>"
        + (f'<script type="module">{scene.script}</script>' if scene else "")
        + "</body></html>\n"
    )


def _scene(run: Shown) -> Offline | None:
    """The scene of the run's rows, if it comes with the project."""
    source = run.settings.source
    if not run.data.public or source.name not in kept_scenes() or source.seed:
        return None
    content = kept_scene(source.name)
    if content["rows"] != source.n:
        return None
    params = run.result.params.as_dict()
    start = {"algorithm": run.result.algorithm, "epsilon": params.get("epsilon"), "ghost": False}
    return offline(given(content), start)


def _made(run: Shown) -> str:
    words = f"Made with the DP Causal Explorer; algorithm {run.result.algorithm}."
    if run.data.public:
        seeds = f"rows drawn with seed {run.settings.source.seed}, noise with {run.result.seed}"
        return f"{words} {text.dataset_title(run.data)}, {run.data.n:,} rows; {seeds}."
    return words


def archive(run: Shown, repeats: Repeats | None) -> bytes:
    """The ZIP of the run with the report and its pictures."""
    drawn = pictures(run, repeats, "light")
    files: dict[str, str | bytes] = {
        "report.html": page(run, repeats, drawn),
        "graph.svg": drawn.graph.svg,
        "graph.png": drawn.graph.png,
    }
    if drawn.curve is not None:
        files |= {"curve.svg": drawn.curve.svg, "curve.png": drawn.curve.png}
    sample = run.settings.source.seed if run.data.public else None
    return bundle(run.data, run.result, sample, files)


def files_view(run: Shown, repeats: Repeats | None) -> None:
    """Buttons; each file is made when its button is pressed."""
    stem = text.file_stem(run.data) if run.data.public else "own_data"
    name = f"{stem}_{run.result.algorithm}"

    def drawn() -> Pictures:
        return pictures(run, repeats, "light")

    st.markdown("**Take it with you**")
    with st.container(horizontal=True):
        download(
            "Report (HTML)",
            lambda: page(run, repeats, drawn()),
            f"{name}_report.html",
            key="report-html",
        )
        if run.result.status != "cancelled":
            download(
                "Everything (ZIP)",
                lambda: archive(run, repeats),
                f"{name}.zip",
                key="report-zip",
            )
        download("Graph (SVG)", lambda: drawn().graph.svg, f"{name}.svg", key="report-svg")
        download("Graph (PNG)", lambda: drawn().graph.png, f"{name}.png", key="report-png")
        if drawn_curve(repeats):
            curve = f"{name}_curve"
            download("Curve (SVG)", lambda: _curve(drawn()).svg, f"{curve}.svg", key="curve-svg")
            download("Curve (PNG)", lambda: _curve(drawn()).png, f"{curve}.png", key="curve-png")
    st.caption(
        "The HTML page opens without the internet. The ZIP holds settings, versions, edges, ledger "
        + (
            "and a script that repeats the run exactly."
            if run.data.public
            else "and a script with the same settings: never your data, nor the seed."
        )
    )
    st.markdown("**Go on in another tool**")
    if run.result.doubted:
        st.caption(
            f"An arrow less sure than {percent(SHOWN)} is a line here too, as in the picture."
        )
    with st.container(horizontal=True):
        for key, form in FORMATS.items():
            download(
                form.title,
                lambda form=form: form.write(run.result.names, run.result.drawn),  # type: ignore[misc]
                f"{name}.{form.extension}",
                key=f"report-{key}",
            )


def drawn_curve(repeats: Repeats | None) -> bool:
    """Whether there is a curve."""
    return repeats is not None and len(repeats.points) >= 3


def _curve(drawn: Pictures) -> Picture:
    assert drawn.curve is not None
    return drawn.curve

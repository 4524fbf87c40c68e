"""Many runs at once: what privacy costs as ε, the algorithm and the seed change."""

from __future__ import annotations

from collections.abc import MutableMapping
from time import monotonic
from typing import Any

import pandas as pd
import streamlit as st

from engine import Dataset, InputError
from engine.data.networks import NETWORKS
from engine.registry import ALGORITHMS
from engine.studies import analysis
from pages.components import charts, curves, dataset, export, form, state, studies, text
from pages.components.curves import Axis, Line
from pages.components.shell import draw
from pages.components.strip import show_strip
from pages.components.studies import Job, Wanted

Y = {"F1": "skeleton_f1", "CI tests": "ci_tests", "Seconds": "seconds"}
Y_TITLES = {"F1": "Skeleton F1", "CI tests": "CI tests", "Seconds": "Seconds a run"}
X = {"asked ε": "epsilon", "paper's total": "claimed_epsilon", "defended total": "spent_epsilon"}
X_TITLES = {"asked ε": "ε asked for", "paper's total": "Total ε as the paper composes it"}
X_TITLES |= {"defended total": "Total ε that can be defended"}
EVERY = 1.0  # seconds between two looks at a running study
PAUSE = 2.5  # seconds for which its charts stay as they are
MOST_EDGES = 36  # rows of the heat map


def main() -> None:
    """The page, top to bottom."""
    run = state.shown()
    if "sweep_job" not in st.session_state:
        st.session_state["sweep_job"] = studies.example()
    with st.sidebar:
        settings_form()
        saved_studies()
    job: Job = st.session_state["sweep_job"]
    data = strip_data(job) or run.data
    show_strip("Sweep", data, run.result if data.fingerprint == run.data.fingerprint else None)
    if problem := st.session_state.pop("sweep_problem", None):
        st.error(text.plain(problem), icon=":material/error:")
    # A running study looks again every second; what the page shows is the same either way.
    st.fragment(study_view, run_every=EVERY if job.running else None)(job.running)


def strip_data(job: Job) -> Dataset | None:
    """The dataset the strip is about: the study's own data if it has any, else its first."""
    found = _datasets(job.wanted) if job.wanted is not None else []
    private = [data for data in found if not data.public]
    return next(iter([*private, *found]), None)


# The form -------------------------------------------------------------------------------


def draft() -> MutableMapping[str, Any]:
    """What the form shows, kept over changes of page; it starts as the example."""
    if "sweep_draft" not in st.session_state:
        fill_draft(studies.EXAMPLE)
    return st.session_state["sweep_draft"]


def fill_draft(wanted: Wanted) -> None:
    """Show a study's settings in the form."""
    params = dict(wanted.params)
    first = next((s for s in wanted.sources if not s.own), state.Source())
    st.session_state["sweep_draft"] = {
        "datasets": [s.name for s in wanted.sources],
        "n": first.n,
        "sample": first.seed,
        "algorithms": list(wanted.algorithms),
        "guarantee": params.pop("guarantee", "strict"),
        "grid": "Range" if wanted == studies.EXAMPLE else "List",
        "from": min(wanted.epsilons, default=0.1),
        "to": max(wanted.epsilons, default=100.0),
        "count": len(wanted.epsilons),
        "list": ", ".join(f"{e:g}" for e in wanted.epsilons),
        "seeds": wanted.seeds,
        "changed": list(params),
        "params": params,
        "name": "",
    }


def wanted_now() -> Wanted:
    """What the form asks for; raises InputError in one sentence."""
    d = draft()
    sources = tuple(
        state.Source(state.OWN) if name == state.OWN else state.Source(name, d["n"], d["sample"])
        for name in d["datasets"]
    )
    typed = d["grid"] == "List"
    epsilons = (
        studies.epsilon_list(d["list"])
        if typed
        else studies.epsilon_range(d["from"], d["to"], d["count"])
    )
    known = studies.declared(d["algorithms"])
    params = {"guarantee": d["guarantee"]} | {name: d["params"][name] for name in d["changed"]}
    wanted = Wanted(
        sources=sources,
        algorithms=tuple(d["algorithms"]),
        epsilons=epsilons,
        seeds=d["seeds"],
        params=tuple((k, v) for k, v in params.items() if k in known),
    )
    studies.check(wanted)
    return wanted


def settings_form() -> None:
    """Datasets, algorithms, ε grid, seeds; the estimate, and Start."""
    d = draft()
    state.bound(
        st.multiselect,
        "Datasets",
        d,
        "datasets",
        key="sweep-datasets",
        options=_sources(d),
        format_func=_label,
        help="A simulated model or your own data appear here once chosen on Run or Data.",
    )
    left, right = st.columns([3, 2], gap="small")
    with left:
        state.bound(st.number_input, "Rows n", d, "n", key="sweep-n", step=1000)
    with right:
        state.bound(st.number_input, "Data seed", d, "sample", key="sweep-sample", min_value=0)
    state.bound(
        st.multiselect,
        "Algorithms",
        d,
        "algorithms",
        key="sweep-algorithms",
        options=list(ALGORITHMS),
        format_func=lambda k: ALGORITHMS[k].title,
    )
    grid_form(d)
    other_parameters(d)
    start_bar(d)


def _sources(d: MutableMapping[str, Any]) -> list[str]:
    """Bundled networks, the models the form or the Run page names, and the person's own data."""
    named = [*d["datasets"], state.drafted_source().name, state.shown().settings.source.name]
    models = [name for name in dict.fromkeys(named) if state.is_simulated(name)]
    own = [state.OWN] if state.own_data() is not None else []
    d["datasets"] = [n for n in d["datasets"] if n != state.OWN or own]
    return [*NETWORKS, *models, *own]


def _label(name: str) -> str:
    return name if state.is_simulated(name) else dataset.network_label(name)


def grid_form(d: MutableMapping[str, Any]) -> None:
    """The guarantee, the values of ε, and the seeds."""
    state.bound(
        st.radio,
        "Guarantee",
        d,
        "guarantee",
        key="sweep-guarantee",
        options=["strict", "published"],
        format_func=text.label,
        horizontal=True,
        help="Strict: ε is the total of a run. Published: what the paper calls ε.",
    )
    state.bound(
        st.radio,
        "Values of ε",
        d,
        "grid",
        key="sweep-grid",
        options=["Range", "List"],
        horizontal=True,
    )
    if d["grid"] == "List":
        state.bound(st.text_input, "ε, with commas", d, "list", key="sweep-list")
    else:
        a, b, c = st.columns(3, gap="small")
        with a:
            state.bound(st.number_input, "From", d, "from", key="sweep-from", format="%g")
        with b:
            state.bound(st.number_input, "To", d, "to", key="sweep-to", format="%g")
        with c:
            state.bound(st.number_input, "Points", d, "count", key="sweep-count", step=1)
    state.bound(
        st.number_input,
        "Seeds",
        d,
        "seeds",
        key="sweep-seeds",
        step=1,
        help="Runs of every setting; each seed draws its own noise.",
    )


def other_parameters(d: MutableMapping[str, Any]) -> None:
    """Any declared parameter can be set for all algorithms that have it."""
    specs = studies.declared(d["algorithms"])
    free = [n for n in specs if n not in ("epsilon", "guarantee")]
    d["changed"] = [n for n in d["changed"] if n in free]
    title = f"Other parameters ({len(d['changed'])} set)" if d["changed"] else "Other parameters"
    with st.expander(title, key="sweep-other"):
        state.bound(
            st.multiselect,
            "Set",
            d,
            "changed",
            key="sweep-changed",
            options=free,
            format_func=lambda n: specs[n].title,
            placeholder="All at their defaults",
        )
        for name in d["changed"]:
            d["params"].setdefault(name, specs[name].default)
            form.parameter(specs[name], d["params"], key="sweep-param")


def start_bar(d: MutableMapping[str, Any]) -> None:
    """What the study would take, its name, and the button."""
    try:
        wanted = wanted_now()
        with st.spinner("Estimating …"):
            cost = studies.estimated(wanted)
    except InputError as error:
        st.warning(text.plain(str(error)))
        return
    seconds = text.number(cost.seconds, 2)
    least = "at least " if cost.at_least else "about "
    st.caption(f"{text.count(cost.cells, 'run')}, {least}{seconds} s on one core.")
    if wanted.own:
        st.warning(own_warning(wanted))
    else:
        # A suggestion that follows the settings until a person types a name.
        state.bound(
            st.text_input,
            "Name of the study",
            d,
            "name",
            key="sweep-name",
            placeholder=studies.new_name(wanted),
        )
    busy = st.session_state["sweep_job"].running
    st.button(
        "Start",
        type="primary",
        key="sweep-start",
        width="stretch",
        disabled=busy,
        on_click=start,
        args=(wanted, cost.seconds),
    )


def own_warning(wanted: Wanted) -> str:
    """What a study on a person's own data would spend."""
    runs = wanted.seeds * sum(ALGORITHMS[k].private for k in wanted.algorithms)
    if any(not ALGORITHMS[k].private for k in wanted.algorithms):
        return "Your own data: an algorithm without privacy is chosen, so no finite ε would hold."
    if dict(wanted.params).get("guarantee") == "published":
        return (
            f"Your own data: every one of {runs * len(wanted.epsilons):,} runs would spend ε, "
            "more than what is asked for (see Defended total)."
        )
    total = runs * sum(wanted.epsilons)
    return f"Your own data: every run would spend its ε, together ε = {text.number(total)}."


def start(wanted: Wanted, seconds: float) -> None:
    """Start the study the form asks for; what is wrong with it is said on the page."""
    try:
        name = draft()["name"].strip() or studies.new_name(wanted)
        path = None if wanted.own else studies.path_of(name)
        job = Job("Your own data" if wanted.own else name, wanted, path)
        studies.launch(job, seconds=seconds)
    except (InputError, OSError) as error:
        st.session_state["sweep_problem"] = str(error)
        return
    st.session_state["sweep_job"] = job
    st.session_state["sweep_seconds"] = seconds


def resume(job: Job) -> None:
    """Go on where the study stopped."""
    try:
        studies.launch(job, seconds=st.session_state.get("sweep_seconds", 0.0))
    except (InputError, OSError) as error:
        st.session_state["sweep_problem"] = str(error)


def saved_studies() -> None:
    """Open a study again."""
    names = studies.saved()
    with st.expander(f"Saved studies ({len(names)})", key="sweep-saved"):
        if not names:
            st.caption(f"None yet. A started study is kept in the folder {studies.FOLDER}.")
            return
        chosen = st.selectbox("Study", names, key="sweep-chosen")
        st.button(
            "Open study", key="sweep-open", on_click=open_study, args=(chosen,), width="stretch"
        )


def open_study(name: str) -> None:
    """Show a kept study and its settings."""
    try:
        job = studies.opened(name)
    except (InputError, OSError) as error:
        st.session_state["sweep_problem"] = str(error)
        return
    st.session_state["sweep_job"] = job
    if job.wanted is not None:
        fill_draft(job.wanted)
        draft()["name"] = name


# Progress -------------------------------------------------------------------------------


def study_view(was_running: bool) -> None:
    """How far the study is, and what is known so far."""
    job: Job = st.session_state["sweep_job"]
    if was_running != job.running:
        st.rerun()  # the whole page: look again, or stop looking and free the form
    progress_view(job)
    results = looked_at(job)
    if not results:
        st.info("The first runs are under way." if job.running else "No run is finished yet.")
        return
    results_view(job, results)


def looked_at(job: Job) -> list[Any]:
    """The finished runs; of a running study those of a few seconds ago, to leave it the time."""
    now, results = monotonic(), list(job.results)
    seen = st.session_state.get("sweep_seen")
    if job.running and seen and seen[0] is job and seen[1] and now < seen[2] + PAUSE:
        return seen[1]
    st.session_state["sweep_seen"] = (job, results, now)
    return results


@st.cache_data(max_entries=4, show_spinner=False, scope="session")
def tidy(name: str, count: int, last: str, _results: list[Any]) -> pd.DataFrame:
    """One row a run; the key changes whenever a run is added."""
    table = analysis.frame(_results)
    for column in ("claimed_epsilon", "spent_epsilon", "skeleton_f1"):
        table[column] = pd.to_numeric(table[column])
    return table


def progress_view(job: Job) -> None:
    """A line on the study's state, a bar while it runs, and Cancel or Resume."""
    left, right = st.columns([5, 1], vertical_alignment="center")
    with left:
        share = job.done / job.total if job.total else 0.0
        words = f"**{text.plain(job.name)}** · {job.done:,} of {text.count(job.total, 'run')}"
        if job.running:
            st.progress(min(1.0, share), text=f"{words} · {_left(job)}")
        else:
            st.markdown(f"{words} · {_state(job)}")
    with right:
        if job.running:
            st.button("Cancel", key="sweep-cancel", on_click=job.cancel, width="stretch")
        elif job.resumable:
            st.button("Resume", key="sweep-resume", on_click=resume, args=(job,), width="stretch")
    if job.error:
        st.error(text.plain(job.error), icon=":material/error:")
    if job.note:
        st.caption(job.note)


def _left(job: Job) -> str:
    p = job.progress
    if p is None or p.left is None or p.done - p.reused < 20:  # starting up tells nothing yet
        return "running"
    return f"about {p.left / 60:.0f} min left" if p.left > 120 else f"about {p.left:.0f} s left"


def _state(job: Job) -> str:
    words = {"finished": "finished", "failed": "stopped by an error"}
    if job.state in words:
        return words[job.state]
    return "cancelled; what is finished is kept" if job.state == "cancelled" else "not finished"


# Results --------------------------------------------------------------------------------


def results_view(job: Job, results: list[Any]) -> None:
    """Curves, heat map, smallest ε, files."""
    table = tidy(job.name, len(results), repr(results[-1].cell.key), results)
    names = list(dict.fromkeys(table["dataset"]))
    x, y = controls(table, names)
    chosen = st.session_state.get("sweep-dataset") if len(names) > 1 else names[0]
    chosen = chosen if chosen in names else names[0]
    here = table[table["dataset"] == chosen]
    curve_view(here, x, y)
    mine = [r for r in results if r.dataset == chosen]
    left, right = st.columns([5, 4], gap="medium")
    with left:
        stability_view(mine, _truth(job, mine[0].fingerprint))
    with right:
        target_view(here, x)
    downloads(job, results, table)


def controls(table: pd.DataFrame, names: list[str]) -> tuple[str, str]:
    """What the axes show, and which dataset; returns (x, y)."""
    with st.container(horizontal=True, gap="large", key="sweep-controls"):
        if len(names) > 1:
            st.selectbox("Dataset", names, key="sweep-dataset", width=220)
        scored = table["skeleton_f1"].notna().any()
        options = list(Y) if scored else list(Y)[1:]
        y = st.segmented_control("Show", options, default=options[0], key="sweep-y", required=True)
        x = st.segmented_control(
            "Against", list(X), default="asked ε", key="sweep-x", required=True
        )
    return x or "asked ε", y or options[0]


def curve_view(table: pd.DataFrame, x: str, y: str) -> None:
    """Median and band of every algorithm, the Run page's place, and the numbers."""
    points = analysis.bands(table, Y[y], x=X[x])
    usable = points["x"].gt(0) & points["x"].lt(float("inf")) & points["median"].notna()
    drawn, flat = points[usable], points[points["epsilon"].isna()] if "epsilon" in points else None
    left, right = st.columns([5, 4], gap="medium")
    with left:
        if drawn.empty:
            st.info(_nothing(x))
        else:
            _curve_chart(drawn, flat, x, y, table)
        st.caption(_curve_notes(points, drawn, flat, x))
    with right:
        st.markdown(f"**{Y_TITLES[y]}: median and band over the seeds**")
        curves.table(_numbers(points, x), alt=f"{y} of every algorithm by ε", height=400)


def _nothing(x: str) -> str:
    if x == "paper's total":
        return "No run claims a total: strict runs keep a cap instead. Choose another axis."
    return "No run has a finite total. Choose another axis."


def _curve_chart(
    drawn: pd.DataFrame, flat: pd.DataFrame | None, x: str, y: str, table: pd.DataFrame
) -> None:
    low, high = float(drawn["x"].min()), float(drawn["x"].max())
    lines = []
    for key, part in drawn.groupby("algorithm", sort=False):
        part = part.sort_values("x")
        lines.append(
            Line(
                name=ALGORITHMS[key].title,
                x=list(part["x"]),
                y=list(part["median"]),
                low=list(part["low"]),
                high=list(part["high"]),
                style=curves.style_of(key),
            )
        )
    for row in (flat if flat is not None else drawn.iloc[:0]).itertuples():
        name = ALGORITHMS[row.algorithm].title
        style = curves.style_of(row.algorithm)
        ends = [low, high]
        lines.append(Line(name=name, x=ends, y=[row.median] * 2, style=style, mode="lines"))
    place = here(table, x, y)
    if place is not None:
        low, high = min(low, place[0]), max(high, place[0])
    pad = (high / low) ** 0.05 if high > low else 3.0
    figure = curves.curves(
        lines,
        Axis(X_TITLES[x], log=True, ends=(low / pad, high * pad)),
        Axis(Y_TITLES[y], ends=(0, 1.04) if y == "F1" else None, log=y == "Seconds"),
        height=430,
        here=place,
    )
    charts.show(figure, key="sweep-curves", alt=f"{y} against ε, one line an algorithm")


def here(table: pd.DataFrame, x: str, y: str) -> tuple[float, float, str] | None:
    """Where the Run page's result lies, if it is about these data and has an ε."""
    run = state.shown()
    if run.data.fingerprint not in set(table["fingerprint"]):
        return None
    result = run.result
    asked = getattr(result.params, "epsilon", None)
    totals = {
        "asked ε": asked,
        "paper's total": result.claimed.epsilon if result.claimed is not None else None,
        "defended total": result.spent.epsilon,
    }
    scores = result.metrics
    heights = {"CI tests": result.ci_tests, "Seconds": result.seconds}
    heights["F1"] = scores.skeleton_f1 if scores is not None else None
    at, high = totals[x], heights[y]
    if asked is None or at is None or high is None or not 0 < at < float("inf"):
        return None
    return float(at), float(high), f"You are here: {ALGORITHMS[result.algorithm].title} on Run"


def _curve_notes(
    points: pd.DataFrame, drawn: pd.DataFrame, flat: pd.DataFrame | None, x: str
) -> str:
    notes = ["Lines are medians over the seeds, bands reach from the 10th to the 90th percentile."]
    hidden = len(points) - len(drawn) - (len(flat) if flat is not None else 0)
    if hidden > 0 and not drawn.empty:
        notes.append(f"{text.count(hidden, 'point')} without a finite total on this axis.")
    if x != "asked ε":
        notes.append("Each point lies at the median total of its runs.")
    return " ".join(notes)


def _numbers(points: pd.DataFrame, x: str) -> pd.DataFrame:
    out = pd.DataFrame({"Algorithm": [ALGORITHMS[k].title for k in points["algorithm"]]})
    if "epsilon" in points and x != "asked ε":
        out["Asked ε"] = points["epsilon"].to_numpy()
    at = points["x"].to_numpy(dtype=float)
    endless = bool((at == float("inf")).any())
    out[x[0].upper() + x[1:]] = [text.number(v) for v in at] if endless else at
    for name, column in (("Median", "median"), ("10 %", "low"), ("90 %", "high")):
        out[name] = points[column].to_numpy(dtype=float)
    out["Runs"] = points["count"].to_numpy()
    return out


# Edges ----------------------------------------------------------------------------------


def _truth(job: Job, fingerprint: str) -> Any:
    """The true graph of the dataset with the fingerprint, if the study's settings name it."""
    if job.wanted is None:
        return None
    data: Dataset
    for data in _datasets(job.wanted):
        if data.fingerprint == fingerprint:
            return data.truth
    return None


def _datasets(wanted: Wanted) -> list[Dataset]:
    try:
        return studies.datasets_of(wanted)
    except InputError:
        return []


def stability_view(results: list[Any], truth: Any) -> None:
    """How often each edge was found at each ε, for one algorithm."""
    st.markdown("**How often each edge was found**")
    table = analysis.edge_stability(results, truth)
    keys = list(dict.fromkeys(r.algorithm for r in results))
    private = [k for k in keys if ALGORITHMS[k].private] or keys
    start = private[0]
    key = st.selectbox(
        "Algorithm",
        [*private, *(k for k in keys if k not in private)],
        key="sweep-stable-of",
        format_func=lambda k: ALGORITHMS[k].title,
        label_visibility="collapsed",
    )
    part = table[table["algorithm"] == (key or start)]
    wide = part.assign(epsilon=part["epsilon"].map(_epsilon_word)).pivot_table(
        index="edge", columns="epsilon", values="share", sort=False
    )
    if wide.empty:
        st.caption("No edge was found.")
        return
    real = set(part.loc[part["true"].eq(True), "edge"])
    order = sorted(wide.index, key=lambda e: (e not in real, -wide.loc[e].mean()))
    wide = wide.loc[[e for e in order if e in real or wide.loc[e].max() > 0]]
    cut = wide.iloc[:MOST_EDGES]
    marked = cut.set_axis([f"✓ {e}" if e in real else e for e in cut.index])
    figure = curves.heat(marked, x_title="ε asked for", words=len(cut.columns) <= 12)
    charts.show(figure, key="sweep-heat", alt="Share of seeds in which each edge was found, by ε")
    notes = ["✓ marks an edge of the true graph (direction left out)."] if real else []
    if len(wide) > len(cut):
        notes.append(f"{len(wide) - len(cut):,} rarer edges are in the table only.")
    st.caption(" ".join(notes))
    with st.expander("The same as a table"):
        shown = wide.reset_index(names="Edge")
        if truth is not None:
            shown.insert(1, "True", [e in real for e in wide.index])
        curves.table(shown, alt="Share of seeds in which each edge was found, by ε", digits=2)


def _epsilon_word(value: float) -> str:
    return "none" if pd.isna(value) else f"{value:g}"


def target_view(table: pd.DataFrame, x: str) -> None:
    """The smallest ε whose median F1 stays at the target or above."""
    st.markdown("**Smallest ε that meets a target F1**")
    if not table["skeleton_f1"].notna().any():
        st.caption("There is no truth, so there is no F1 to aim at.")
        return
    target = st.slider("Target F1", 0.0, 1.0, 0.75, 0.01, key="sweep-target")
    found = analysis.smallest_epsilon(table, target, x=X[x])
    rows = pd.DataFrame(
        {
            "Algorithm": [ALGORITHMS[k].title for k in found["algorithm"]],
            "Smallest ε": [
                text.number(e) if ok else "not reached"
                for e, ok in zip(found["epsilon"], found["reached"], strict=True)
            ],
            "Best F1": found["best"].to_numpy(dtype=float),
            "How it is known": [
                note if ALGORITHMS[k].private else "No privacy: it has no ε."
                for k, note in zip(found["algorithm"], found["note"], strict=True)
            ],
        }
    )
    for k, i in zip(found["algorithm"], rows.index, strict=True):
        if not ALGORITHMS[k].private:
            rows.loc[i, "Smallest ε"] = "–"
    curves.table(rows, alt="Smallest ε that meets the target, by algorithm")
    st.caption(
        f"On the axis chosen above ({x}). From this ε on the median stays at the target; between "
        "two measured points it is read off a straight line in log ε."
    )


def downloads(job: Job, results: list[Any], table: pd.DataFrame) -> None:
    """Every run as a row, or with its edges as JSON; without the seeds of own data."""
    own = job.wanted is not None and job.wanted.own
    name = job.name.replace(" ", "_")

    def as_json() -> str:
        """The runs as a JSON array."""
        records = [r.as_dict() for r in results]
        if own:  # whoever knows the seed can take the noise away
            records = [record | {"seed": None} for record in records]
        return export.as_json(records)

    tidy = table.drop(columns="seed") if own else table
    with st.container(horizontal=True):
        export.download("Runs (CSV)", lambda: export.as_csv(tidy), f"{name}.csv", key="sweep-csv")
        export.download("Runs (JSON)", as_json, f"{name}.json", key="sweep-json")
    if own:
        st.caption("Your own data: F1 against a truth is not private; seeds are left out.")


draw(main)

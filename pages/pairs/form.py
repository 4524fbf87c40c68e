"""The form: the pair, the kind of release, and the data."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from engine import Dataset, InputError, RunResult
from engine.algorithms.anm import AnmParameters
from engine.data.pairs import CAUSES, HELD_OUT, MECHANISMS, NOISES, WHERE, simulate_pair
from engine.pairs.decision import Setting
from engine.pairs.protocol import DIFFERENCE, TWO_SCORES, VOTE
from engine.params import Parameters, again, param, relevant
from engine.request import Request, Source
from engine.teaching.pairwise import EPSILONS, Picture, picture
from pages import mode
from pages.pairs import work
from pages.pairs.work import Bounds
from pages.shell import own, state
from pages.shell import words as text
from pages.shell.form import bound, fault, parameters
from pages.shell.own import metered
from pages.shell.settings import MOST_SEED
from pages.shell.state import Draft, Place, session_values
from pages.shell.task import drop, find, watch
from pages.worker import Upload

SIMULATED, FILE, OWN_PAIR = "Simulated", "Tübingen file", "Your own CSV"
PROTECTS = (
    "A vote protects every row. On public data the others protect the test half only, as in the "
    "paper's Table 2. On your own data they protect both halves."
)
_COPY, _TABLE = "pairs-copy", "pairs-table"  # places of files that are read
_MADE = {"source": (SIMULATED,)}


@dataclass(frozen=True, kw_only=True)
class Fields(Parameters):
    """The page's settings."""

    source: str = param(SIMULATED, "Pair", choices=(SIMULATED, FILE, OWN_PAIR))
    mechanism: str = param("square", "Mechanism", choices=(*MECHANISMS, *HELD_OUT), when=_MADE)
    noise: str = param("gaussian", "Noise in the effect", choices=tuple(NOISES), when=_MADE)
    cause: str = param("uniform", "Cause", choices=tuple(CAUSES), when=_MADE)
    rows: int = param(1_000, "Rows n", low=20, high=20_000, when=_MADE)
    sample: int = param(0, "Data seed", low=0, high=MOST_SEED, when=_MADE)
    epsilon: float = param(
        1.0, "Total ε", among=tuple(EPSILONS), help="Strict: each of two scores gets half of it."
    )
    release: str = again(
        AnmParameters,
        "release",
        default=VOTE,
        choices=(VOTE, DIFFERENCE, TWO_SCORES),
        help=PROTECTS,
    )  # fmt: skip
    ridge: float = again(AnmParameters, "ridge", log=False, when={})
    width: float = again(AnmParameters, "width", when={})
    score_width: float = again(AnmParameters, "score_width", when={})
    seed: int = param(
        0,
        "Noise seed",
        low=0,
        high=MOST_SEED,
        help="Fixes the split and the noise.",
        when={"source": (SIMULATED, FILE)},
    )


_OF_FIT = ("ridge", "width", "score_width")
_SOUND: Place[dict[str, Any]] = Place("pairs_sound", lambda: Fields().as_dict())


def fields() -> tuple[Draft, bool, Dataset | InputError]:
    """Show the fields.

    Returns:
        Their values; a refused value is replaced by the last accepted one. The second value is true
        if the form accepts all of them. The third is the pair, or why there is none.
    """
    d = state.Values(Fields, "pairs.")

    def show(*names: str) -> None:
        parameters([d.specs[name] for name in names], d, key="pairs")

    show("source", "mechanism")
    place = st.container()
    show("epsilon", "release")
    with st.expander("More settings", key="pairs-more"):
        show("noise", "cause", "rows", "sample", *_OF_FIT, "seed")
    before, specs = _SOUND.get(), Fields.specs()
    faults = {spec.name for spec in specs if fault(spec, d[spec.name])}
    sound = {s.name: (before if s.name in faults else d)[s.name] for s in specs}
    _SOUND.put(sound)
    try:
        with place:
            data: Dataset | InputError = _data_of(sound)
    except InputError as error:
        data = error
    return sound, not any(spec.name in faults for spec in relevant(specs, d)), data


# The data ---------------------------------------------------------------------------------


def _data_of(d: Draft) -> Dataset:
    """Draw the upload of a file, if the form asks for one, and return the pair."""
    if d["source"] == SIMULATED:
        kind = d["mechanism"], d["noise"], d["cause"]
        return simulated(*kind, int(d["rows"]), int(d["sample"]))
    if mode.public():
        raise InputError(mode.OFF)
    return _file() if d["source"] == FILE else _own()


@st.cache_resource(max_entries=32, show_spinner=False)
def simulated(mechanism: str, noise: str, cause: str, n: int, seed: int) -> Dataset:
    """Return a simulated pair; all sessions share it."""
    return simulate_pair(mechanism, noise, cause, n=n, seed=seed)


def _file() -> Dataset:
    """Draw the upload of a user's copy of the Tübingen pairs, and return one of them."""
    st.caption(
        "The 99 Tübingen cause–effect pairs (Mooij et al. 2016) are not part of this program; "
        f"{WHERE}"
    )
    file = st.file_uploader("cdt-0.6.0 wheel", type=["whl", "zip"], key="pairs-wheel")
    _read(_COPY, file, "Upload your copy of the cdt 0.6.0 wheel", work.tuebingen)
    names = {name: text.dataset_title(data) for name, data in tuebingen().items()}
    chosen = bound(
        st.selectbox,
        "Which pair",
        _kept(),
        "chosen",
        key="pairs-chosen",
        options=list(names),
        start=next(iter(names)),
        format_func=names.__getitem__,
    )
    return tuebingen()[chosen]


def _own() -> Dataset:
    """Draw the upload of a user's two columns and their declared bounds, and return the columns."""
    typed = bound(
        st.text_input,
        "Bounds: low, high, low, high",
        _kept(),
        "bounds",
        key="pairs-bounds",
        placeholder="0, 120, -20, 40",
        help="Lowest and highest possible value of each column. These are public facts, not read "
        "from the data. Values outside are clipped.",
    )
    file = st.file_uploader("CSV of two columns", type=["csv", "txt", "tsv"], key="pairs-csv")
    try:
        bounds = None if file is None else _bounds(typed)
    except InputError:
        drop(_TABLE)
        raise
    wanted = "Upload a CSV file of two numeric columns"
    data: Dataset = _read(_TABLE, file, wanted, work.pair, bounds)
    return data


def tuebingen() -> dict[str, Dataset]:
    """Return the pairs of the user's copy by name, empty without a copy."""
    task = find(_COPY)
    return {data.name: data for data in (task.result or ())} if task else {}


def _kept() -> Draft:
    """Return the settings of a user's own files, which are in no address."""
    return session_values("pairs_own", {"bounds": ""})


def _read(name: str, file: Any, wanted: str, function: Callable[..., Any], *args: Any) -> Any:
    """Return the content of a file, once it is read in this way; else InputError says what to wait
    for. A file that was read stays when the user comes back to the page."""
    asked = None if file is None else (file.file_id, args)
    if file is not None and ((task := find(name)) is None or task.about != asked):
        own.read(name, function, Upload(file.name, file.getvalue()), *args, about=asked)
    watch(name)
    if (task := find(name)) is None:
        raise InputError(f"{wanted}, or take a simulated pair.")
    if task.result is None:
        raise InputError(own.problem(task) if task.done else f"{task.title} is still running.")
    return task.result


def _bounds(typed: str) -> Bounds:
    said = "lowest and highest value of the first column, then of the second."
    try:
        a, b, c, d = (float(cell) for cell in typed.split(","))
    except ValueError:
        raise InputError(f"Enter the bounds as four numbers separated by commas: {said}") from None
    if not (-math.inf < a < b < math.inf and -math.inf < c < d < math.inf):
        raise InputError(
            f"Enter each column's lowest value before its highest one, both finite: {said}"
        )
    return (a, b), (c, d)


# Its exact picture, and a release ---------------------------------------------------------


def setting_of(d: Draft) -> Setting:
    """Return the public choices; scores protect the test half, as in the paper's Table 2."""
    ridge, width, score_width = (float(d[name]) for name in _OF_FIT)
    return Setting(ridge=ridge, width=width, score_width=score_width, protect="test")


def picture_of(d: Draft, data: Dataset) -> Picture:
    """Return all exact numbers and curves of the pair."""
    return _picture(data.identity, setting_of(d), int(d["seed"]), data)


@st.cache_data(max_entries=32, show_spinner="Fitting …", scope="session")
def _picture(fingerprint: str, setting: Setting, seed: int, _data: Dataset) -> Picture:
    return picture(_data, setting, seed)


def request_of(d: Draft, data: Dataset) -> Request:
    """Return the request for one release; on the user's data its seed is secret."""
    values = {name: d[name] for name in ("release", "epsilon", *_OF_FIT)}
    if not data.public:
        return Request(Source.of(data), "anm", values, None)
    source = Source(data.name, data.n, int(d["sample"]))
    return Request(source, "anm", {**values, "protect": "test"}, int(d["seed"]))


def released(d: Draft, data: Dataset) -> RunResult:
    """Return one release, and add its cost on the user's data to the session's."""
    request = request_of(d, data)
    if data.public:
        return request.run(data)
    charge = metered(request, data)
    result = request.run(data)
    charge(result.proven)
    return result

"""What the pages remember: drafted and frozen settings, datasets, results, links.

The draft is what the form shows; a run freezes it. Both live in session state under one key each,
apart from any widget, so that they survive a change of page. Uploads never leave the session.
"""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from engine import Dataset, InputError, RunResult, load_dataset
from engine.data.networks import NETWORKS, load_network
from engine.data.simulated import parse_name
from engine.params import ParameterError, Spec, relevant
from engine.registry import algorithm
from pages.components import worker
from pages.components.worker import Job

OWN, SEM = "own", "sem"
MIN_ROWS, MAX_ROWS = 100, 1_000_000
MAX_SEM_CELLS = 20_000_000  # numeric values of a simulated model, 8 bytes each
SEM_FIELDS = ("sem_graph", "sem_nodes", "sem_edges", "sem_noise")
SEM_START = "sem:er:10:20:gaussian"
_SEEDS = 2**63


@dataclass(frozen=True)
class Source:
    """Which dataset: a bundled network or a simulated model ("sem:er:10:20:gaussian") with n rows
    and a sampling seed, or the person's own.
    """

    name: str = "asia"
    n: int = 100_000
    seed: int = 0
    fingerprint: str = ""

    @property
    def own(self) -> bool:
        return self.name == OWN


@dataclass(frozen=True)
class Settings:
    """Everything that fixes a run. ``seed`` is None for own data: each run draws a secret one."""

    source: Source = Source()
    algorithm: str = "priv_pc"
    params: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = 0

    def to_query(self) -> dict[str, str]:
        """The settings as query parameters; never data, and no seed that hides a person."""
        query = {"data": self.source.name, "algorithm": self.algorithm}
        if not self.source.own:
            query |= {"n": str(self.source.n), "sample": str(self.source.seed)}
        if self.seed is not None:
            query["seed"] = str(self.seed)
        specs = {s.name: s for s in algorithm(self.algorithm).params.specs()}
        shown = {k: v for k, v in self.params.items() if k in specs}
        return query | {k: _as_text(v) for k, v in shown.items()}

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> Settings:
        """Settings from a link; raises InputError in one sentence where they do not fit."""
        name = query.get("data", "asia")
        if name == OWN:
            raise InputError(
                "This link was made with a person's own data, which a link never carries: "
                "upload the file, then press Run."
            )
        if is_simulated(name):
            parse_name(name)
        else:
            load_network(name)
        key = query.get("algorithm", "priv_pc")
        specs = {s.name: s for s in algorithm(key).params.specs()}
        values = {k: specs[k].parse(v) for k, v in query.items() if k in specs}
        algorithm(key).params.build(values)
        source = Source(name, _whole(query, "n", 100_000), _whole(query, "sample", 0))
        _check_rows(source)
        return cls(source, key, filled(key, values), _whole(query, "seed", 0))


def is_simulated(name: str) -> bool:
    """Whether the name is that of a simulated linear model."""
    return name.startswith("sem:")


def _as_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _whole(query: Mapping[str, str], name: str, otherwise: int) -> int:
    value = query.get(name, str(otherwise))
    if not value.isascii() or not value.isdigit() or len(value) > 16:
        raise ParameterError(f"{name} in the link must be a whole number, not {value[:40]!r}.")
    return int(value)


def fits(spec: Spec, value: Any) -> bool:
    """Whether the declaration admits the value."""
    try:
        spec.check(value)
    except ParameterError:
        return False
    return True


def filled(key: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """A value for every parameter of the algorithm that has an effect, in declared order."""
    specs = algorithm(key).params.specs()
    full = {s.name: values.get(s.name, s.default) for s in specs}
    return {s.name: full[s.name] for s in relevant(specs, full)}


# Draft ----------------------------------------------------------------------------------


def draft() -> MutableMapping[str, Any]:
    """What the form shows now; a mutable mapping that lives in session state."""
    if "draft" not in st.session_state:
        redraft(Settings())
    return st.session_state["draft"]


def redraft(settings: Settings) -> None:
    """Fill the form with given settings."""
    simulated = is_simulated(settings.source.name)
    fields = dict(zip(SEM_FIELDS, parse_name(SEM_START), strict=True))
    form = st.session_state.setdefault("draft", {"params": {}, **fields})
    form |= {"network": settings.source.name, "algorithm": settings.algorithm}
    if simulated:
        form |= {"network": SEM}
        form |= dict(zip(SEM_FIELDS, parse_name(settings.source.name), strict=True))
    form["params_of"] = settings.algorithm
    if not settings.source.own:
        form |= {"n": settings.source.n, "sample": settings.source.seed}
    if settings.seed is not None:
        form["seed"] = settings.seed
    form["params"] = filled(settings.algorithm, settings.params)


def adapt() -> None:
    """After a change of algorithm: what a person had changed stays if it fits, the rest is new."""
    form = draft()
    old, new = form["params_of"], form["algorithm"]
    if old == new:
        return
    before = {s.name: s.default for s in algorithm(old).params.specs()}
    changed = {k: v for k, v in form["params"].items() if v != before.get(k)}
    specs = {s.name: s for s in algorithm(new).params.specs()}
    kept = {k: v for k, v in changed.items() if k in specs and fits(specs[k], v)}
    form |= {"params_of": new, "params": filled(new, kept)}


def drafted_source() -> Source:
    """The dataset the form names now."""
    form = draft()
    if form["network"] == OWN:
        data = own_data()
        return Source(OWN, 0, 0, data.fingerprint if data is not None else "")
    name = form["network"]
    if name == SEM:
        name = ":".join([SEM, *(f"{form[field]}" for field in SEM_FIELDS)])
    return Source(name, form["n"], form["sample"])


def drafted() -> Settings:
    """The settings the form shows now, checked or not."""
    adapt()
    form, source = draft(), drafted_source()
    params = filled(form["algorithm"], form["params"])
    return Settings(source, form["algorithm"], params, None if source.own else form["seed"])


def bound(
    widget: Callable[..., Any],
    label: str,
    store: MutableMapping[str, Any],
    name: str,
    *,
    key: str,
    **options: Any,
) -> Any:
    """Show a widget whose value is ``store[name]``, whatever page or rerun it is shown on."""

    def keep() -> None:
        store[name] = st.session_state[key]

    st.session_state[key] = store[name]
    return widget(label, key=key, on_change=keep, **options)


# Data -----------------------------------------------------------------------------------


@st.cache_resource(max_entries=8, show_spinner=False)
def bundled(name: str, n: int, seed: int) -> Dataset:
    """A sample of a bundled network or simulated model, shared by all sessions."""
    return load_dataset(name, n=n, seed=seed)


@st.cache_data(show_spinner=False)
def network_sizes() -> dict[str, tuple[int, int]]:
    """Name -> (nodes, edges) of every bundled network."""
    graphs = {name: load_network(name).dag() for name in NETWORKS}
    return {name: (len(g), g.number_of_edges()) for name, g in graphs.items()}


def own_data() -> Dataset | None:
    """The person's own data of this session."""
    return st.session_state.get("own_data")


def keep_own(data: Dataset | None) -> None:
    """Replace the session's own data; with data, also select them."""
    st.session_state["own_data"] = data
    if data is not None:
        draft()["network"] = OWN


def data_for(source: Source) -> Dataset:
    """The dataset; raises InputError in one sentence if it is not there."""
    if not source.own:
        _check_rows(source)
        return bundled(source.name, source.n, source.seed)
    data = own_data()
    if data is None:
        raise InputError("Upload a CSV file first, or choose a bundled network.")
    return data


def _check_rows(source: Source) -> None:
    if not isinstance(source.n, int) or not MIN_ROWS <= source.n <= MAX_ROWS:
        raise InputError(f"Rows n must be from {MIN_ROWS:,} to {MAX_ROWS:,} here.")
    if is_simulated(source.name) and source.n * parse_name(source.name)[1] > MAX_SEM_CELLS:
        raise InputError(
            f"Rows times nodes of a simulated model may be at most {MAX_SEM_CELLS:,} here."
        )


# Runs -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Shown:
    """A finished run with the settings and data that made it."""

    settings: Settings
    data: Dataset
    result: RunResult


_MOST_KEPT = 32
_KEPT = threading.Lock()


@st.cache_resource(show_spinner=False)
def _finished() -> OrderedDict[Any, RunResult]:
    """Finished runs on public data, shared by all sessions; the oldest go first."""
    return OrderedDict()


def _keep(store: OrderedDict[Any, RunResult], key: Any, result: RunResult) -> None:
    if result.status == "cancelled":
        return
    with _KEPT:
        store[key] = result
        while len(store) > _MOST_KEPT:
            store.popitem(last=False)


def begun(settings: Settings) -> Shown | Job:
    """The same run if it is known, else a job that has started; raises InputError in one sentence.

    A run on own data draws a new secret seed and is added to what these data have cost.
    """
    data = data_for(settings.source)
    if settings.seed is None:
        costs, seed = _own_costs(data), secrets.randbelow(_SEEDS)

        def keep(result: RunResult) -> None:
            costs.append((result.spent.epsilon, result.spent.delta))
    else:
        store, seed = _finished(), settings.seed
        chosen = tuple(settings.params.items())
        key = (data.fingerprint, data.name, settings.algorithm, chosen, seed)
        if (known := store.get(key)) is not None:
            return Shown(settings, data, known)

        def keep(result: RunResult) -> None:
            _keep(store, key, result)

    job = Job(settings, settings.algorithm, data, seed, settings.params, keep)
    job.start()
    return job


def _ended(job: Job) -> Shown:
    """What came of a job that has ended; raises InputError in one sentence."""
    if job.result is None:
        raise InputError(job.error)
    return Shown(job.settings, job.data, job.result)


def compute(settings: Settings) -> Shown:
    """Run to the end, or look the same run up; raises InputError in one sentence."""
    found = begun(settings)
    if isinstance(found, Shown):
        return found
    while not found.wait(0.5):
        pass
    return _ended(found)


def _own_costs(data: Dataset) -> list[tuple[float, float]]:
    return st.session_state.setdefault("own_costs", {}).setdefault(data.fingerprint, [])


def own_costs(data: Dataset) -> tuple[int, float, float]:
    """(runs, ε, δ) of this session's runs on own data, under basic composition."""
    costs = _own_costs(data)
    return len(costs), sum(e for e, _ in costs), sum(d for _, d in costs)


def freeze(settings: Settings) -> None:
    """Run the settings and show the result; on bad input keep what was there, with the reason.

    A run that takes longer than a moment goes on as :func:`job`, in the place of one before.
    """
    before = job()
    if before is not None and before.settings == settings:
        return
    if before is not None:
        before.cancel()
    st.session_state["refused"] = st.session_state["stopped"] = st.session_state["job"] = None
    try:
        found = begun(settings)
    except InputError as error:
        st.session_state["refused"] = (settings, str(error))
        return
    if isinstance(found, Shown):
        st.session_state["shown"] = found
        return
    st.session_state["job"] = found
    found.wait(worker.PATIENCE)
    settle()


def job() -> Job | None:
    """The run that is still going on in this session, if any."""
    settle()
    return st.session_state.get("job")


def settle() -> None:
    """Show what came of a job that has ended meanwhile."""
    done: Job | None = st.session_state.get("job")
    if done is None or done.running:
        return
    st.session_state["job"] = None
    try:
        found = _ended(done)
    except InputError as error:
        st.session_state["refused"] = (done.settings, str(error))
        return
    if found.result.status == "cancelled" and not worker.decided(found.result):
        st.session_state["stopped"] = done.settings
        return
    st.session_state["shown"] = found


def stopped(now: Settings) -> bool:
    """Whether these settings' run was stopped before it had anything to show."""
    return st.session_state.get("stopped") == now


def shown() -> Shown:
    """The run on screen; at a session's start the one that the link names, or the default.

    While the link's run goes on, and where it fails, the default is there.
    """
    settle()
    if "shown" not in st.session_state:
        default = Settings(params=filled("priv_pc", {}))
        wanted, problem = default, None
        try:
            if st.query_params:
                wanted = Settings.from_query(st.query_params.to_dict())
                data_for(wanted.source)
        except InputError as error:
            wanted, problem = default, str(error)
        redraft(wanted)
        freeze(wanted)
        if "shown" not in st.session_state:
            st.session_state["shown"] = compute(default)
        if problem:
            st.session_state["refused"] = (drafted(), problem)
    return st.session_state["shown"]


def refusal() -> str | None:
    """Why the settings now in the form could not be run, if they were tried."""
    refused = st.session_state.get("refused")
    return refused[1] if refused and refused[0] == drafted() else None


def stale(now: Settings) -> bool:
    """Whether the result on screen belongs to other settings than those in the form."""
    return now != st.session_state["shown"].settings


def write_link(settings: Settings) -> None:
    """Put the settings into the address, unless they are the default."""
    default = Settings(params=filled("priv_pc", {}))
    query = {} if settings == default else settings.to_query()
    if st.query_params.to_dict() != query:
        st.query_params.from_dict(query)


def theme() -> str:
    """ "light" or "dark", as the browser shows the app."""
    return "dark" if st.context.theme.type == "dark" else "light"

"""Drafts: what a form shows, apart from any widget, so that it survives a change of page."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

from engine import Dataset, Knowledge
from engine.data.simulated import parse_name
from engine.registry import algorithm
from pages.shell.data import (
    OWN_DATA,
    OWN_FILE,
    OWN_GAPS,
    OWN_KNOWING,
    OWN_PROBLEM,
    OwnFile,
    own_data,
    own_file,
)
from pages.shell.session import Place
from pages.shell.settings import OWN, SEM, Settings, Source, filled, fits, is_simulated

SEM_FIELDS = ("sem_graph", "sem_nodes", "sem_edges", "sem_noise")
SEM_START = "sem:er:10:20:gaussian"
Draft = MutableMapping[str, Any]


def kept(name: str, fresh: Draft) -> Draft:
    """The session's draft of that name; ``fresh`` at first."""
    return Place[Draft](name, lambda: fresh).get()


def draft() -> Draft:
    """What the form shows now; a mutable mapping that lives in session state."""
    if not kept("draft", {}):
        redraft(Settings())
    return kept("draft", {})


def redraft(settings: Settings) -> None:
    """Fill the form with given settings."""
    simulated = is_simulated(settings.source.name)
    fields = dict(zip(SEM_FIELDS, parse_name(SEM_START), strict=True))
    form = kept("draft", {})
    for name, value in {"params": {}, **fields}.items():
        form.setdefault(name, value)
    form.update(network=settings.source.name, algorithm=settings.algorithm)
    if simulated:
        form["network"] = SEM
        form.update(zip(SEM_FIELDS, parse_name(settings.source.name), strict=True))
    form["params_of"] = settings.algorithm
    if not settings.source.own:
        form.update(n=settings.source.n, sample=settings.source.seed)
    if settings.seed is not None:
        form["seed"] = settings.seed
    form["params"] = filled(settings.algorithm, settings.params)
    source = settings.source
    form["known"], form["known_of"] = settings.known, source.fingerprint or source.name


def adapt(form: Draft) -> None:
    """After a change of algorithm: what a person had changed stays if it fits, the rest is new.

    ``form`` holds "algorithm", "params", and in "params_of" whose parameters these are.
    """
    old, new = form["params_of"], form["algorithm"]
    if old == new:
        return
    before = {s.name: s.default for s in algorithm(old).params.specs()}
    changed = {k: v for k, v in form["params"].items() if v != before.get(k)}
    specs = {s.name: s for s in algorithm(new).params.specs()}
    fitting = {k: v for k, v in changed.items() if k in specs and fits(specs[k], v)}
    form.update(params_of=new, params=filled(new, fitting))


def drafted_source() -> Source:
    """The dataset the form names now."""
    form = draft()
    if form["network"] == OWN:
        data = own_data()
        return Source(OWN, 0, 0, data.identity if data is not None else "")
    name = form["network"]
    if name == SEM:
        name = ":".join([SEM, *(f"{form[field]}" for field in SEM_FIELDS)])
    return Source(name, form["n"], form["sample"])


def drafted() -> Settings:
    """The settings the form shows now, checked or not."""
    form, source = draft(), drafted_source()
    adapt(form)
    params = filled(form["algorithm"], form["params"])
    seed = None if source.own else form["seed"]
    return Settings(source, form["algorithm"], params, seed, drafted_known(source))


def drafted_known(source: Source) -> Knowledge | None:
    """What the form says is known of this dataset; of another one it says nothing.

    Of own data the schema may say it.
    """
    form = draft()
    if form.get("known_of") == (source.fingerprint or source.name):
        known: Knowledge | None = form["known"]
        return known
    data = own_data() if source.own else None
    return data.schema.knowledge if data is not None and data.schema is not None else None


def draft_known(known: Knowledge | None) -> None:
    """What is known of the dataset that the form names."""
    source = drafted_source()
    form = draft()
    form["known"], form["known_of"] = known or None, source.fingerprint or source.name


def keep_own(data: Dataset) -> None:
    """What was read from the file in force becomes the session's own data, and is selected."""
    OWN_DATA.put(data)
    OWN_KNOWING.get().clear()
    OWN_PROBLEM.put(None)
    OWN_GAPS.put(None)
    if (file := own_file()) is not None:
        file.readings.add(data.identity)
    draft()["network"] = OWN


def take_file(file: OwnFile) -> None:
    """Another file comes into force: there are no own data until it has been read."""
    if (before := OWN_FILE.get()) is not None:
        before.empty()
    OWN_FILE.put(file)
    OWN_DATA.put(None)
    OWN_KNOWING.get().clear()
    OWN_GAPS.put(None)

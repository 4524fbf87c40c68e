"""The values of controls, kept for a visit and written into the address.

A control is declared once, as the engine's :class:`~engine.params.Spec`: its type, bounds, default,
title and help. Its value has one key for all algorithms and pages: the spec's name, behind the
prefix of a page where the meaning is the page's own. Names in ``SHARED`` never take a prefix: one
dataset, n, ε, guarantee and seed per visit, on every page until changed.

    d = state.Values(Fields)           # or Values(specs, "study."): a live mapping, name -> value
    form.parameters(Fields.specs(), d, key="study")     # a control for each, with its complaint
    form.bound(st.radio, "Show", d, "shown", key="study-shown", options=[…])  # any other widget
    d["seeds"]                         # the value that is set, else a link's, else the default
    d.update(epsilon=2.5, delta=1e-6)  # a preset, from a callback: one step of Back

Each value that a page reads is in its address, unless it is the default. Pages do not write
addresses. The new address replaces the previous one. Only a move to another page adds an entry to
the browser's history, and Back leads there. A value that a control cannot show (another algorithm's
choice) is the default there and stays for the pages that it fits. A number that is out of bounds
stays visible, and ``spec.check`` names the fault.

Streamlit binds widgets to the address itself (``bind="query-params"``). It was tried in Chromium,
and is not used: a preset of three controls took three steps of Back, a typed number took none, and
a page without the control lost the values of its link (research/decisions/streamlit.md).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from engine.params import ParameterError, Parameters, Spec
from engine.request import as_word

T = TypeVar("T")
Draft = MutableMapping[str, Any]  # the values of a form, independent of widgets


class Place(Generic[T]):
    """One value of the session; ``name`` is its key and ``first()`` its value until it is set."""

    def __init__(self, name: str, first: Callable[[], Any] = lambda: None):
        self._name, self._first = name, first

    def get(self) -> T:
        """Return the value."""
        try:
            found: T = st.session_state[self._name]
        except KeyError:  # ``first`` is made once
            self.put(found := self._first())
        return found

    def put(self, value: T) -> None:
        """Set the value."""
        st.session_state[self._name] = value

    def take(self) -> T:
        """Return the value and reset it to the first one."""
        found = self.get()
        del st.session_state[self._name]
        return found


def session_values(name: str, fresh: Draft) -> Draft:
    """Return the session's mapping of that name, which is not in addresses; ``fresh`` at first."""
    return Place[Draft](name, lambda: fresh).get()


Query = dict[str, str]
SHARED = frozenset(("data", "n", "sample", "algorithm", "epsilon", "delta", "guarantee", "seed"))
LARGEST = 2**53 - 1  # the largest whole number that a browser's field holds
PRESENT, NAMES = "present", "names"  # presenter mode; columns' own names: no part of a request
ASIDE = ("step", "room")  # address parameters of one page, not kept in the session


@dataclass
class Visit:
    """The values of a visit's controls, and the parameters of its address."""

    chosen: dict[str, Any] = field(default_factory=dict)  # key -> value other than the default
    asked: Query = field(default_factory=dict)  # a link's parameters, until they are read
    words: dict[str, str | None] = field(default_factory=dict)  # of values that this run has read
    pages: dict[str, set[str]] = field(default_factory=dict)  # page -> the keys it has read
    refused: list[str] = field(default_factory=list)  # why parameters of the link are not shown
    request: Query | None = None  # a whole request, which replaces the form's parameters
    page: str = ""  # the title of the page that is open
    opened: bool = False  # true if it has just been opened
    written: Query = field(default_factory=dict)  # the address that the server gave it
    told: dict[str, str | None] = field(default_factory=dict)  # its parameters at that time
    times: int = 0  # number of addresses given so far


visit = Place[Visit]("state", Visit).get


class Values(MutableMapping[str, Any]):
    """A live view of declared values by name; values that are read appear in the page's address."""

    def __init__(self, fields: type[Parameters] | Iterable[Spec], prefix: str = ""):
        specs = fields.specs() if isinstance(fields, type) else fields
        self.specs, self.prefix = {spec.name: spec for spec in specs}, prefix

    def __getitem__(self, name: str) -> Any:
        spec, key, here = self.specs[name], self._key(name), visit()
        if (word := here.asked.pop(key, None)) is not None:
            _put(key, spec, _parsed(spec, word))
        value = here.chosen.get(key, spec.default)
        value = value if showable(spec, value) else spec.default
        here.words[key] = None if value == spec.default else as_word(value)
        return value

    def __setitem__(self, name: str, value: Any) -> None:
        key = self._key(name)
        value = tuple(value) if isinstance(value, list) else value
        if value != self[name]:
            _put(key, self.specs[name], value)
        self[name]

    def __delitem__(self, name: str) -> None:
        self[name] = self.specs[name].default

    def __iter__(self) -> Iterator[str]:
        return iter(self.specs)

    def __len__(self) -> int:
        return len(self.specs)

    def _key(self, name: str) -> str:
        return name if name in SHARED else f"{self.prefix}{name}"


def showable(spec: Spec, value: Any) -> bool:
    """Return whether a control can show the value; numbers out of bounds are shown with an
    error."""
    if spec.kind in ("choice", "bool", "text", "many") or spec.among or spec.step is not None:
        try:
            return bool(spec.check(value) == value)
        except ParameterError:
            return False
    if isinstance(value, str):
        return bool(spec.words)
    if isinstance(value, bool) or not isinstance(
        value, int if spec.kind == "int" else (int, float)
    ):
        return False
    return abs(value) <= (LARGEST if isinstance(value, int) else sys.float_info.max)


def _put(key: str, spec: Spec, value: Any) -> None:
    chosen = visit().chosen
    if value == spec.default:
        chosen.pop(key, None)
    else:
        chosen[key] = value


def _parsed(spec: Spec, word: str) -> Any:
    """Read a value from an address; replace one that no control can show by the default."""
    try:
        value = spec.parse(word)
        if not showable(spec, value):
            spec.check(value)
            raise ParameterError(f"{spec.name} is too large here.")
        return value
    except ParameterError as error:
        if spec.words:  # it is typed into a text field, which shows it
            return word
        visit().refused.append(str(error))
        return spec.default


def spec_of(fields: type[Parameters], name: str) -> Spec:
    """Return the declaration of one field."""
    return next(spec for spec in fields.specs() if spec.name == name)


# The address ----------------------------------------------------------------------------------


def read_address(page: str) -> None:
    """Read the address if the browser opened it; called before a page is drawn.

    On an open page the address may be out of date, because a fast user is ahead of the browser. It
    counts there only after Back or Forward. After these, each value that the page had read and that
    the address does not name is reset to its default.
    """
    context = get_script_run_ctx()
    if context is not None and context.fragment_ids_this_run is not None:
        return
    now: Query = st.query_params.to_dict()
    here = visit()
    here.opened = new = here.page != page
    went = context is not None and context.is_history_navigation
    came = (new and (bool(now) or went)) or (went and now != here.written)
    if new:
        here.page, here.written, here.told = page, {}, {}
    if came:
        here.asked.update(now)
        for key in here.pages.get(page, set()) - set(now) if went else ():
            here.chosen.pop(key, None)
    here.refused.clear()
    here.request = None


# The browser may be on another page by then, and it may redraw a component for other reasons.
_ADDRESS = """
let times = -1;
export default function ({data}) {
  if (data.times === times || !location.pathname.endsWith(`/${data.page}`)) { return; }
  times = data.times;
  const query = new URLSearchParams(data.query), now = new URLSearchParams(location.search);
  for (const word of ["embed", "embed_options"]) {
    for (const value of now.getAll(word)) { query.append(word, value); } }
  const search = query.size ? `?${query}` : "";
  if (search !== location.search) {
    history.replaceState(history.state, "", location.pathname + search + location.hash); }
}
"""


def write_address(page: str = "") -> None:
    """Write the values that the page has read into its address; ``page`` is the address's path."""
    here = visit()
    read = here.words
    if not read:
        return
    here.pages.setdefault(here.page, set()).update(read)
    query = {key: word for key, word in read.items() if word is not None}
    if here.request is not None:
        query = {k: w for k, w in query.items() if "." in k or k in (PRESENT, NAMES)} | here.request
    now = st.query_params.to_dict()
    query |= {word: now[word] for word in ASIDE if word in now and word not in read}
    here.told = dict(read)
    _write("address", query, page)


def write_changes(page: str) -> None:
    """Write the values that a press has changed into the address, before the page is drawn.

    A page that begins long work may take a second to draw, and a reload must find the work.
    """
    here, place = visit(), st.empty()
    changed = {key: word for key, word in here.words.items() if here.told.get(key, word) != word}
    here.words.clear()
    if changed:
        query = {k: w for k, w in {**here.written, **changed}.items() if w is not None}
        with place:
            _write("early_address", query, page)


def _write(name: str, query: Query, page: str) -> None:
    here = visit()
    here.written, here.times = query, here.times + 1
    data = {"query": query, "page": page, "times": here.times}
    listen(name, _ADDRESS, key=f"{name}-state", data=data)


def listen(name: str, script: str, **options: Any) -> None:
    """Mount a component that only runs a script in the browser."""
    component = st.components.v2.component(name, js=script)
    with st.container(key=name.replace("_", "-")):
        component(**options)

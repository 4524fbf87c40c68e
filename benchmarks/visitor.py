"""A visitor without a browser: it speaks to a page's server as Streamlit's front end does.

A websocket of protocol buffers (``streamlit.proto``): the visitor asks for a script run with the
state of its widgets, keeps the elements for each place on the page, follows addresses, refers to
large elements that it already has, and asks again where a page refreshes itself. It draws no
element, so all its cost is the server's.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import TracebackType
from typing import Any
from urllib.parse import urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from engine import load_dataset, run
from pages.draw.links import describe, found_links, weighted

PATIENCE = 150.0  # seconds until a page that does not answer is given up: a first run may compile
DATASETS, ROWS = ("asia", "cancer", "earthquake", "survey"), 20_000
_AGE = 2  # script runs for which the front end keeps a large element (global.maxCachedMessageAge)

Place = tuple[int, ...]  # an element's way through the containers


class Visitor:
    """One session. ``url`` like ``http://127.0.0.1:8501``; used as an asynchronous context."""

    def __init__(
        self,
        url: str,
        page: str,
        query: str = "",
        *,
        headers: Mapping[str, str] | None = None,
        resume: str = "",
    ) -> None:
        """``headers`` are sent as a proxy would; ``resume`` names a session to go on with."""
        self._headers, self._resume, self.session = dict(headers or {}), resume, ""
        self._file = ""  # the address of the file that was asked for
        self._address = f"{url.replace('http', 'ws', 1)}/_stcore/stream"
        self._page, self._query, self._script = page, query, ""
        self._elements: dict[Place, Any] = {}
        self._before: set[Place] = set()  # places of the last run that this run has not drawn
        self._kept: dict[str, tuple[ForwardMsg, int]] = {}  # large elements, when they were seen
        self._runs = self._asked = self._finished = 0
        self._resting = False  # no script runs: a page may also begin one by itself
        self._states: dict[str, WidgetState] = {}
        self._again: dict[str, asyncio.Task[None]] = {}  # fragments that look again by themselves
        self._news = asyncio.Condition()

    async def __aenter__(self) -> Visitor:
        self._socket: ClientConnection = await connect(
            self._address,
            subprotocols=[Subprotocol(p) for p in self._protocols()],
            additional_headers=self._headers,
            open_timeout=PATIENCE,
            ping_interval=None,
            max_size=None,
            proxy=None,
            compression=None,
        )
        self._reader = asyncio.create_task(self._read())
        await self._ask()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        for task in (self._reader, *self._again.values()):
            task.cancel()
        await self._socket.close()

    def _protocols(self) -> list[str]:
        """Streamlit's name, a token that is not checked here, and a session to go on with."""
        return ["streamlit", "none", self._resume] if self._resume else ["streamlit"]

    # Actions of a visitor ------------------------------------------------------------

    async def type(self, key: str, value: float) -> None:
        """Type a number into the field with this key."""
        self._states[key] = WidgetState(id=self._id("number_input", key), double_value=value)
        await self._ask()

    async def press(self, key: str) -> None:
        """Press the button with this key."""
        await self._ask(WidgetState(id=self._id("button", key), trigger_value=True))

    async def fetch(self) -> str:
        """The address of the page's first file to download, which is made for it."""
        found = next(
            e.download_button
            for e in self._elements.values()
            if e.WhichOneof("type") == "download_button" and e.download_button.deferred_file_id
        )
        message = BackMsg()
        asked = message.backend_operation_request
        asked.request_id, asked.session_id = "file", self.session
        asked.deferred_file.file_id = found.deferred_file_id
        await self._socket.send(message.SerializeToString())
        async with asyncio.timeout(PATIENCE), self._news:
            await self._news.wait_for(lambda: self._file)
        return self._file

    async def until(self, shown: Callable[[Visitor], object]) -> float:
        """Wait for the page to rest and to show that; seconds waited. TimeoutError names it."""
        start = time.monotonic()
        async with asyncio.timeout(PATIENCE), self._news:
            while not (self._resting and self._finished >= self._asked and shown(self)):
                if self._reader.done():
                    self._reader.result()
                    raise ConnectionError("the server closed the connection")
                if wrong := self.texts("exception"):
                    raise RuntimeError(f"the page shows an error: {wrong[0]}")
                await self._news.wait()
        return time.monotonic() - start

    # The content of the page ------------------------------------------------------------

    def texts(self, kind: str) -> list[str]:
        """Return the texts of all elements of a kind: ``html``, ``alert``, ``iframe`` …"""
        name = {"iframe": "alt", "exception": "message"}.get(kind, "body")
        found = [getattr(e, kind) for e in self._elements.values() if e.WhichOneof("type") == kind]
        return [str(getattr(one, name)) for one in found]

    def _id(self, kind: str, key: str) -> str:
        for element in self._elements.values():
            if element.WhichOneof("type") == kind and getattr(element, kind).id.endswith(f"-{key}"):
                return str(getattr(element, kind).id)
        raise LookupError(f"no {kind} {key} on the page")

    # The protocol -------------------------------------------------------------------

    async def _ask(self, *pressed: WidgetState, fragment: str = "") -> None:
        """Ask for a script run as the front end does, with its elements and widgets' states."""
        message = BackMsg()
        run = message.rerun_script
        run.query_string, run.page_script_hash = self._query, self._script
        run.page_name = "" if self._script else self._page
        run.fragment_id, run.is_auto_rerun = fragment, bool(fragment)
        run.widget_states.widgets.extend([*self._states.values(), *pressed])
        run.cached_message_hashes.extend(self._kept)
        self._asked += not fragment
        await self._socket.send(message.SerializeToString())

    async def _read(self) -> None:
        try:
            async for data in self._socket:
                assert isinstance(data, bytes)
                message = ForwardMsg.FromString(data)
                async with self._news:
                    self._take(message)
                    self._news.notify_all()
        finally:
            async with self._news:
                self._news.notify_all()

    def _take(self, message: ForwardMsg) -> None:
        kind = message.WhichOneof("type")
        if kind == "ref_hash":
            whole, _ = self._kept[message.ref_hash]
            self._kept[message.ref_hash] = whole, self._runs
            self._draw(tuple(message.metadata.delta_path), whole.delta)
        elif kind == "delta":
            if message.metadata.cacheable:
                self._kept[message.hash] = message, self._runs
            self._draw(tuple(message.metadata.delta_path), message.delta)
        elif kind == "new_session":
            self.session = message.new_session.initialize.session_id or self.session
            self._begin(whole=not message.metadata.run.fragment_ids)
        elif kind == "page_info_changed":
            self._query = message.page_info_changed.query_string
        elif kind == "navigation":
            self._script = message.navigation.page_script_hash
        elif kind == "auto_rerun":
            self._look_again(message.auto_rerun.fragment_id, message.auto_rerun.interval)
        elif kind == "backend_operation_response":
            self._file = message.backend_operation_response.deferred_file.url
        elif kind == "script_finished":
            self._end(message)

    def _draw(self, place: Place, delta: Any) -> None:
        self._before.discard(place)
        if delta.WhichOneof("type") != "new_element":
            return
        self._elements[place] = element = delta.new_element
        if element.bidi_component.component_name == "address":  # which writes the page's
            self._query = urlencode(json.loads(element.bidi_component.json)["query"])

    def _begin(self, whole: bool) -> None:
        self._resting = False
        if whole:
            self._runs += 1
            self._before = set(self._elements)
            for task in self._again.values():
                task.cancel()
            self._again.clear()

    def _end(self, message: ForwardMsg) -> None:
        self._resting = message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN
        if message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
            for place in self._before:
                del self._elements[place]
            self._before = set()
            self._kept = {h: (m, at) for h, (m, at) in self._kept.items() if self._runs - at < _AGE}
            self._finished = self._asked

    def _look_again(self, fragment: str, interval: float) -> None:
        async def look() -> None:
            while True:
                await asyncio.sleep(interval)
                await self._ask(fragment=fragment)

        if fragment in self._again:
            self._again[fragment].cancel()
        self._again[fragment] = asyncio.create_task(look())


# Many of them ---------------------------------------------------------------------------


@dataclass
class Seen:
    """The record of sessions: seconds from each key and press to its answer, and errors.

    ``firsts`` are seconds from the address to the first page, with its result;
    ``results`` are (dataset, epsilon, the sentence about it, the drawn graphs in words).
    """

    firsts: list[float] = field(default_factory=list)
    replies: list[float] = field(default_factory=list)
    answers: list[float] = field(default_factory=list)
    trouble: list[str] = field(default_factory=list)
    results: list[tuple[str, float, str, list[str]]] = field(default_factory=list)
    presses: int = 0  # results that did not come of themselves


async def visitors(
    url: str, people: Sequence[int], seconds: float, rest: float, seen: Seen
) -> None:
    """So many people at once for so long; they do not all begin in the same instant."""
    waits = [rest * k / max(1, len(people)) for k in range(len(people))]
    await asyncio.gather(
        *(_person(url, who, w, seconds, rest, seen) for who, w in zip(people, waits, strict=True))
    )


async def _person(url: str, who: int, wait: float, seconds: float, rest: float, seen: Seen) -> None:
    """Types an epsilon that is this person's alone, presses Run where needed, and looks."""
    dataset, epsilon = DATASETS[who % 4], round(1.0 + 0.29 * who, 2)  # three digits are shown
    await asyncio.sleep(wait)
    try:
        query, start = f"data={dataset}&n={ROWS}&epsilon={epsilon}", time.monotonic()
        async with Visitor(url, "run", query) as visitor:
            await visitor.until(_headline)
            seen.firsts.append(time.monotonic() - start)
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                epsilon = round(epsilon + 0.01, 2)
                ran = partial(_ran, dataset=dataset, epsilon=epsilon)
                await visitor.type("param-epsilon", epsilon)
                # A short run begins by itself; a longer one waits for its button.
                seen.replies.append(await visitor.until(lambda v: _changed(v) or ran(v)))  # noqa: B023
                at_once = ran(visitor)
                if at_once:
                    seen.answers.append(seen.replies[-1])
                else:
                    seen.presses += 1
                    await asyncio.sleep(rest / 2)
                    await visitor.press("run")
                    seen.answers.append(await visitor.until(ran))
                words, graphs = _headline(visitor), visitor.texts("iframe")
                seen.results.append((dataset, epsilon, words, graphs))
                await asyncio.sleep(rest if at_once else rest / 2)
    except Exception as error:  # one session's end is a finding, not the end of the soak
        seen.trouble.append(f"{type(error).__name__}: {error}".partition("\n")[0])


def _headline(visitor: Visitor) -> str:
    return next((t for t in visitor.texts("html") if 'class="headline"' in t), "")


def _changed(visitor: Visitor) -> bool:
    return any("Settings changed" in text for text in visitor.texts("alert"))


def _ran(visitor: Visitor, dataset: str, epsilon: float) -> bool:
    """Whether the strip names this dataset and epsilon, and the result's sentence is there."""
    strip = next((t for t in visitor.texts("html") if "<h1" in t), "")
    return dataset.capitalize() in strip and f">{epsilon:g}<" in strip and bool(_headline(visitor))


def mixed(seen: Seen) -> list[str]:
    """Results that are not those of the same run made alone, here."""
    found = []
    data = {name: load_dataset(name, n=ROWS) for name in DATASETS}
    for name, epsilon, sentence, graphs in seen.results:
        result = run("priv_pc", data[name], epsilon=epsilon, seed=0, trace=False)
        links = weighted(found_links(result, waiting=True), result)
        graph = describe("Learned graph", data[name].names, links)
        if result.summary().headline not in sentence or graph not in graphs:
            found.append(f"a session on {name}, ε {epsilon}, shows another's result")
    return found

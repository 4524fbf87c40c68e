"""The gate before Streamlit, on a running server: two people behind one proxy."""

from __future__ import annotations

import asyncio
import copy
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from starlette.datastructures import Headers
from starlette.formparsers import MultiPartParser
from streamlit.proto.Common_pb2 import FileURLs
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.uploaded_file_manager import UploadedFile, UploadedFileRec

from benchmarks.visitor import Visitor
from engine import Dataset, load_dataset, run
from pages.host import bounds, gate, person, record
from pages.host.person import HEADER, HOME
from pages.shell.runs import noted

ROOT = Path(__file__).resolve().parents[2]
NAME = "X-Forwarded-User"
ANN, BOB = {NAME: "ann"}, {NAME: "bob"}


@contextmanager
def served(folder: Path, **environment: str) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = [sys.executable, str(ROOT / "scripts" / "serve.py"), "--server.headless", "true"]
    log = folder / "log"
    with log.open("wb") as out:
        server = subprocess.Popen(
            [*words, "--server.address", "127.0.0.1", "--server.port", str(port)],
            cwd=folder,
            stdout=out,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        )
    try:
        url = f"http://127.0.0.1:{port}"
        for _ in range(300):
            if status(f"{url}/_stcore/health") == 200:
                break
            time.sleep(0.2)
        yield url
    finally:
        server.terminate()
        server.wait(20)


def status(url: str, method: str = "GET", body: bytes | None = None, **headers: str) -> int:
    request = urllib.request.Request(url, body, headers, method=method)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=30) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


def text(url: str) -> str:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(url, timeout=30) as answer:
        return str(answer.read().decode())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("server")


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[str]:
    with served(folder, **{HEADER: NAME, HOME: str(folder / "home")}) as url:
        yield url


async def a_file_of(url: str, headers: dict[str, str]) -> tuple[str, str, str]:
    """(a file's address, the session's id, the statuses of those who ask for it)."""
    async with Visitor(url, "data", headers=headers) as visitor:
        await visitor.until(lambda v: v.texts("html"))
        place = await visitor.fetch()
        statuses = await asyncio.to_thread(_asked_for, f"{url}{place}")
        return place, visitor.session, statuses


def _asked_for(address: str) -> str:
    """What Ann, Bob and somebody without a name are told."""
    return " ".join(str(status(address, **who)) for who in (ANN, BOB, {}))


def test_a_download_is_its_persons_alone(server: str) -> None:
    place, _, told = asyncio.run(a_file_of(server, ANN))
    assert told == "200 404 404"
    theirs, _, told = asyncio.run(a_file_of(server, BOB))
    assert told == "404 200 404"
    assert place != theirs  # the same file: neither can work out the other's address
    assert re.fullmatch(r"/media/[0-9a-f]{96}\.\w+", place)
    nobodys, _, told = asyncio.run(a_file_of(server, {}))
    assert told == "404 404 200"
    assert nobodys not in (place, theirs)


async def _resumed(url: str, as_whom: dict[str, str]) -> bool:
    """Whether somebody goes on with a session of Ann's whose browser has gone."""
    async with Visitor(url, "data", headers=ANN) as visitor:
        await visitor.until(lambda v: v.texts("html"))
        session = visitor.session
    await asyncio.sleep(0.3)
    async with Visitor(url, "data", headers=as_whom, resume=session) as other:
        await other.until(lambda v: v.texts("html"))
        return other.session == session


def test_a_session_is_resumed_by_its_person_alone(server: str) -> None:
    assert asyncio.run(_resumed(server, ANN))
    assert not asyncio.run(_resumed(server, BOB))
    assert not asyncio.run(_resumed(server, {}))


async def _uploads(url: str) -> dict[str, int]:
    async with Visitor(url, "data", headers=ANN) as visitor:
        await visitor.until(lambda v: v.texts("html"))
        to = f"{url}/_stcore/upload_file/{visitor.session}/f"

        def put(size: int, who: dict[str, str], to: str = to) -> int:
            return status(to, "PUT", b"x" * size, **who)

        return {
            "ann": await asyncio.to_thread(put, 10, ANN),
            "bob": await asyncio.to_thread(put, 10, BOB),
            "nobody": await asyncio.to_thread(put, 10, {}),
            "elsewhere": await asyncio.to_thread(put, 10, ANN, f"{url}/_stcore/upload_file/no/f"),
        }


def test_an_upload_goes_into_ones_own_session(server: str) -> None:
    """403 is Streamlit's answer to a request without its token: the gate let it pass."""
    told = asyncio.run(_uploads(server))
    assert told == {"ann": 403, "bob": 404, "nobody": 404, "elsewhere": 404}


def test_the_metrics_tell_numbers_and_nobodys_name(server: str, folder: Path) -> None:
    asyncio.run(a_file_of(server, ANN))  # a run, and two who were refused
    told = text(f"{server}/metrics")
    pattern = r'(# (HELP|TYPE) \w+ .+|\w+({(\w+="[^"]*",?)*})? [-+.e\d]+)'
    assert all(re.fullmatch(pattern, line) for line in told.splitlines())
    assert 'dpce_refused_total{reason="file"}' in told
    assert "ann" not in told
    assert status(f"{server}/metrics", **{"X-Forwarded-For": "203.0.113.7"}) == 404
    log = (folder / "log").read_text()
    assert "run algorithm=priv_pc data=asia rows=100000" in log
    assert "Traceback" not in log
    assert not re.search(r"\b(ann|bob)\b", log)


# Without a server -------------------------------------------------------------------------


def scope(client: str, *names: str) -> dict[str, object]:
    headers = [(b"x-forwarded-user", name.encode()) for name in names]
    return {"type": "http", "client": (client, 1), "headers": headers, "path": "/", "method": "GET"}


@pytest.mark.parametrize(
    ("client", "names", "proxies", "believed"),
    [
        ("127.0.0.1", ["ann"], "", True),
        ("::1", ["ann"], "", True),
        ("10.0.0.2", ["ann"], "", False),
        ("10.0.0.2", ["ann"], "10.0.0.0/24", True),
        ("10.0.1.2", ["ann"], "10.0.0.0/24, 192.168.0.1", False),
        ("127.0.0.1", ["ann", "bob"], "", False),
        ("127.0.0.1", [], "", False),
        ("", ["ann"], "", False),
    ],
)
def test_a_name_is_believed_from_a_trusted_proxy_that_says_it_once(
    monkeypatch: pytest.MonkeyPatch, client: str, names: list[str], proxies: str, believed: bool
) -> None:
    monkeypatch.setenv(HEADER, NAME)
    monkeypatch.setenv(gate.PROXIES, proxies)
    seen = []

    async def inner(scope: dict[str, object], receive: object, send: object) -> None:
        seen.append(gate.asks(scope))

    asyncio.run(gate.Gate(inner)(scope(client, *names), None, None))  # type: ignore[arg-type]
    assert [found is not None for found in seen] == [believed]


def test_a_wrong_list_of_proxies_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(gate.PROXIES, "10.0.0.1, everybody")
    with pytest.raises(ValueError, match="everybody"):
        gate.trusted()


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({}, 8),
        ({"cpu.max": "250000 100000"}, 2),
        ({"cpu.max": "50000 100000"}, 1),
        ({"cpu.max": "max 100000"}, 8),
        ({"a/b/cpu.max": "300000 100000", "a/cpu.max": "max 100000"}, 3),
        ({"a/b/cpu.max": "800000 100000", "a/cpu.max": "200000 100000"}, 2),
        ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, 8),
        ({"cpu/cpu.cfs_quota_us": "400000", "cpu/cpu.cfs_period_us": "100000"}, 4),
    ],
)
def test_cores_are_those_of_the_quota(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], cores: int
) -> None:
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content + "\n")
    (tmp_path / "cgroup").write_text("0::/a/b\n")
    monkeypatch.setattr(bounds, "GROUPS", tmp_path)
    monkeypatch.setattr(bounds, "MEMBERSHIP", tmp_path / "cgroup")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(8))
    assert bounds.cores() == cores
    (tmp_path / "memory.max").write_text("123456789\n")
    assert bounds.memory() == 123456789


def test_own_data_leave_no_size_time_or_end_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", logger="dp_causal_explorer"):
        record.run("marginal_pc", public=None)
        record.run("pc", public={"data": "asia", "rows": 5, "status": "complete"})
    assert caplog.messages == [
        "run algorithm=marginal_pc data=own",
        "run algorithm=pc data=asia rows=5 status=complete",
    ]


def test_what_a_page_logs_of_a_run_is_that_of_its_kind_of_data(
    caplog: pytest.LogCaptureFixture,
) -> None:
    public = load_dataset("cancer", n=50)
    own = Dataset.from_codes(public.codes, name="mine.csv")
    with caplog.at_level("INFO", logger="dp_causal_explorer"):
        noted(run("marginal_pc", own), own)
        noted(run("marginal_pc", public), public)
    assert caplog.messages[0] == "run algorithm=marginal_pc data=own"
    assert caplog.messages[1].startswith("run algorithm=marginal_pc data=cancer rows=50 seconds=")


def test_nobody_is_known_without_a_header(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(HEADER, raising=False)
    assert person.identity({person.FROM_PROXY: "ann", "is_logged_in": True, "sub": "1"}) is None


def test_a_session_whose_time_is_over_is_let_go_without_another_visitor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended: list[str] = []
    cleared: list[str] = []
    returned: list[int] = []
    storage = MemorySessionStorage(ttl_seconds=1)
    for name in ("a", "b"):
        state = SimpleNamespace(clear=partial(cleared.append, name))
        session = SimpleNamespace(
            id=name, shutdown=partial(ended.append, name), session_state=state
        )
        storage.save(SimpleNamespace(session=session))  # type: ignore[arg-type]
    files = {"a": {"f": SimpleNamespace(data=b"12345")}}
    server = SimpleNamespace(
        _session_mgr=SimpleNamespace(_session_storage=storage),
        uploaded_file_mgr=SimpleNamespace(file_storage=files),
    )
    monkeypatch.setattr(gate.runtime, "get_instance", lambda: server)
    monkeypatch.setattr(bounds, "give_back", lambda: returned.append(len(ended)))

    async def lives() -> None:
        async with gate.tidying(every=0.01):
            for done in (1, 2):  # first the sessions, then a file that was let go
                while len(returned) < done:
                    await asyncio.sleep(0.01)
                files.clear()
            await asyncio.sleep(0.05)

    asyncio.run(asyncio.wait_for(lives(), 20))
    assert sorted(ended) == sorted(cleared) == ["a", "b"]
    assert returned == [2, 2]


@pytest.mark.parametrize(
    ("held", "size", "name", "memory", "told"),
    [
        ({}, 99_000_000, "ann", 10**10, None),
        ({"mine": 200_000_000}, 60_000_000, "ann", 10**10, 413),
        ({}, 20_000_000, None, 10**10, 413),
        ({}, 9_000_000, None, 10**10, None),
        ({"others": 100_000_000}, 30_000_000, "ann", 10**9, 507),
        ({}, None, "ann", 10**10, 411),
    ],
)
def test_uploads_have_bounds(
    monkeypatch: pytest.MonkeyPatch,
    held: dict[str, int],
    size: int | None,
    name: str | None,
    memory: int,
    told: int | None,
) -> None:
    monkeypatch.setenv(HEADER, NAME)
    monkeypatch.setattr(bounds, "memory", lambda: memory)
    files = {s: {"f": SimpleNamespace(data=range(n))} for s, n in held.items()}
    session = SimpleNamespace(_user_info={person.FROM_PROXY: name})
    server = SimpleNamespace(
        get_app_session={"mine": session}.get,
        uploaded_file_mgr=SimpleNamespace(file_storage=files),
    )
    monkeypatch.setattr(gate.runtime, "get_instance", lambda: server)
    asked = scope("127.0.0.1", *([] if name is None else [name]))
    if size is not None:
        asked["headers"] = [*asked["headers"], (b"content-length", str(size).encode())]  # type: ignore[misc]
    asked |= {"path": "/_stcore/upload_file/mine/f", "method": "PUT"}
    answer = gate.refusal(asked)  # type: ignore[arg-type]
    assert told == (None if answer is None else answer.status_code)


@pytest.fixture
def gated(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the gate changes in the libraries, put back afterwards."""
    monkeypatch.setattr(gate.media, "_calculate_file_id", None)
    monkeypatch.setattr(gate.MediaFileManager, "execute_deferred", None)
    monkeypatch.setattr(UploadedFile, "__deepcopy__", None, raising=False)
    monkeypatch.setattr(MultiPartParser, "spool_max_size", MultiPartParser.spool_max_size)
    gate.Gate(lambda *_: None)  # type: ignore[arg-type]


def test_an_upload_touches_no_disk(gated: None) -> None:
    """Of more than 1 MB the parser would write a temporary file."""
    part = b'--b\r\ncontent-disposition: form-data; name="f"; filename="a.csv"\r\n\r\n'
    body = part + b"x" * 3_000_000 + b"\r\n--b--\r\n"

    async def parsed() -> tuple[bool, int]:
        async def parts() -> AsyncIterator[bytes]:
            for start in range(0, len(body), 50_000):
                yield body[start : start + 50_000]

        headers = Headers({"content-type": "multipart/form-data; boundary=b"})
        file = (await MultiPartParser(headers, parts()).parse())["f"]
        seen = file.file._rolled, len(await file.read())
        await file.close()
        return seen

    assert asyncio.run(parsed()) == (False, 3_000_000)


def test_an_upload_is_not_copied_for_every_script(gated: None) -> None:
    """Streamlit copies the value of each widget, a file of 90 MB included."""
    record_ = UploadedFileRec("1", "a.csv", "text/csv", b"a,b\n" * 1_000)
    file = UploadedFile(record_, FileURLs())
    file.read()
    again = copy.deepcopy(file)
    assert again.getvalue() is record_.data
    assert again.read() == record_.data
    assert (again.name, again.file_id, again.size) == ("a.csv", "1", 4_000)
    assert again == file
    assert again is not file

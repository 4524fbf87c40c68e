"""The app as a separate server, for tests that ask it over the network."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

ROOT, STRAIGHT = Path(__file__).resolve().parents[1], urllib.request.ProxyHandler({})
# A fresh server knows every page by its address.
SERVE = """import runpy, sys
sys.path.insert(0, {root!r})
{before}
sys.argv[0] = {root!r} + "/scripts/serve.py"
runpy.run_path(sys.argv[0], run_name="__main__")"""


@contextmanager
def served(
    folder: Path, before: str = "", *words: str, root: Path = ROOT, **environment: str
) -> Iterator[str]:
    """Serve the app on a free port of this machine; its log and its number stand in the folder.

    ``before`` is code that the server runs first, ``words`` are more of its command line, and
    ``root`` is the folder of the app: the repository's or an installed one.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    at = ["--server.address", "127.0.0.1", "--server.port", str(port), "--server.headless", "true"]
    at += ["--server.fileWatcherType", "none"]
    with (folder / "log").open("wb") as log:
        # A session of its own, so that the server and all it started end together.
        server = subprocess.Popen(
            [sys.executable, "-c", SERVE.format(root=str(root), before=before), *at, *words],
            cwd=folder,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    (folder / "pid").write_text(str(server.pid))
    url, end = f"http://127.0.0.1:{port}", time.monotonic() + 60
    try:
        while ask(f"{url}/_stcore/health")[0] != 200:
            if server.poll() is not None or time.monotonic() > end:
                pytest.fail("no server:\n" + (folder / "log").read_text()[-2000:], pytrace=False)
            time.sleep(0.2)
        yield url
    finally:
        os.killpg(server.pid, signal.SIGKILL)  # nothing of it is needed any more
        server.wait(20)


def ask(
    url: str, method: str = "GET", body: bytes | Iterator[bytes] | None = None, **headers: str
) -> tuple[int, bytes]:
    """The status and the answer; status 0 where nobody answers."""
    request = urllib.request.Request(url, body, headers, method=method)  # type: ignore[arg-type]
    try:
        with urllib.request.build_opener(STRAIGHT).open(request, timeout=30) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        with suppress(ConnectionResetError):  # who refuses a body does not wait for its end
            return error.code, error.read()
        return error.code, b""
    except OSError:
        return 0, b""


def knock(url: str, path: str = "/", **headers: str) -> tuple[int, dict[str, str], str]:
    """The status, headers and text of an answer to exactly these headers; 101 opens a WebSocket.

    The Host is the address unless it is given. Names are written with "_" for "-".
    """
    at = urlsplit(url)
    connection = http.client.HTTPConnection(at.hostname or "", at.port, timeout=30)
    connection.putrequest("GET", path, skip_host=True)
    for name, value in ({"Host": at.netloc} | headers).items():
        connection.putheader(name.replace("_", "-"), value)
    connection.endheaders()
    answer = connection.getresponse()
    text = "" if answer.status == 101 else answer.read().decode()
    connection.close()
    return answer.status, {k.lower(): v for k, v in answer.getheaders()}, text


STREAM = {  # what asks for a WebSocket
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec_WebSocket_Version": "13",
    "Sec_WebSocket_Key": "AAAAAAAAAAAAAAAAAAAAAA==",
}

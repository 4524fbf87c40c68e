"""The two modes of serving, and what an attacker finds at each on a live server."""

from __future__ import annotations

import ast
import asyncio
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from benchmarks.visitor import Visitor
from engine.errors import InputError
from pages import mode
from pages.shell.navigation import PAGES
from scripts import serve

ROOT = Path(__file__).resolve().parents[1]


@contextmanager
def served(folder: Path, **environment: str) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    at = ["--server.address", "127.0.0.1", "--server.port", str(port)]
    command = [sys.executable, str(ROOT / "scripts" / "serve.py"), "--server.headless", "true", *at]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            command, cwd=folder, stdout=log, stderr=log, env={**os.environ, **environment}
        )
    try:
        url = f"http://127.0.0.1:{port}"
        for _ in range(300):
            if ask(f"{url}/_stcore/health")[0] == 200:
                break
            time.sleep(0.2)
        yield url
    finally:
        server.terminate()
        server.wait(20)


def ask(
    url: str, method: str = "GET", body: bytes | Iterator[bytes] | None = None, **headers: str
) -> tuple[int, bytes]:
    request = urllib.request.Request(url, body, headers, method=method)  # type: ignore[arg-type]
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=30) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()
    except OSError:
        return 0, b""


FORM = b'--b\r\ncontent-disposition: form-data; name="f"; filename="a.csv"\r\n\r\nx\r\n--b--\r\n'


async def attacked(url: str) -> dict[str, tuple[int, bytes]]:
    """What an attacker, who has a session too, is answered about a visitor's session."""
    async with Visitor(url, "table") as visitor:
        await visitor.until(lambda v: v.texts("html"))
        token = ask(f"{url}/_stcore/health")  # sets the cookie of the token
        assert token[0] == 200
        to = f"{url}/_stcore/upload_file/{visitor.session}/f"
        xsrf = "2|d0a2d4d5|0|1"
        sent = {"Content-Type": "multipart/form-data; boundary=b"}
        known = {**sent, "Cookie": f"_streamlit_xsrf={xsrf}", "X-Xsrftoken": xsrf}

        def all_asked() -> dict[str, tuple[int, bytes]]:
            return {
                "upload": ask(to, "PUT", FORM, **known),
                "chunked": ask(to, "PUT", iter([FORM]), **known),
                "large": ask(to, "PUT", b"x" * 3_000_000, **known),
                "forged": ask(to, "PUT", FORM, **sent),
                "metrics": ask(f"{url}/_stcore/metrics"),
                "ours": ask(f"{url}/metrics"),
                "twice": ask(f"{url}/media/a.%252Fb"),
                "up": ask(f"{url}/app/static/..%2f..%2f.streamlit/config.toml"),
            }

        return await asyncio.to_thread(all_asked)


def test_a_public_server_takes_nothing_and_has_nothing(tmp_path: Path) -> None:
    """No upload, so no packed file; no rows, so no metrics of them; no files but ours."""
    with served(tmp_path, **{mode.PUBLIC: "1"}) as url:
        found = asyncio.run(attacked(url))
    for way in ("upload", "chunked", "large", "forged"):
        assert found[way][0] in (0, 400, 403, 413), (way, found[way])
    assert {found["twice"][0], found["up"][0]} <= {400, 404}
    assert b"algorithm" not in found["metrics"][1]
    assert b"dpce" not in found["ours"][1]  # the first document, as for any address
    assert not list(tmp_path.rglob("*.db"))
    assert "Traceback" not in (tmp_path / "log").read_text()


def test_a_servers_own_user_is_the_only_one_who_uploads(tmp_path: Path) -> None:
    """On this machine alone; another site's page has no token and is none of the origins."""
    with served(tmp_path) as url:
        found = asyncio.run(attacked(url))
        port = url.rpartition(":")[2]
        found_here = socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)
        for host in {str(one[4][0]) for one in found_here} - {"127.0.0.1"}:
            assert ask(f"http://{host}:{port}/_stcore/health")[0] == 0
    assert found["forged"][0] == 403
    assert {found["twice"][0], found["up"][0]} <= {400, 404}
    assert b"dpce" not in found["ours"][1]


# What the server is started as ------------------------------------------------------------


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.168.1.7", "example.org"])
@pytest.mark.parametrize("written", ["{} {}", "{}={}"])
def test_listening_beyond_this_machine_needs_a_word(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], host: str, written: str
) -> None:
    name = "--server.address"
    words = [f"{name}={host}"] if "=" in written else [name, host]
    monkeypatch.setenv(mode.TRUSTED, "0")  # put back afterwards
    with pytest.raises(SystemExit, match="Start it with --trusted"):
        serve.words_for(words)
    assert serve.words_for([*words, "--trusted"]) == words
    assert "Every visitor who reaches" in capfd.readouterr().err
    monkeypatch.setenv(mode.PUBLIC, "1")
    assert serve.words_for(words) == [*words, "--server.maxUploadSize", "-1"]
    assert serve.words_for([*words, "--trusted"]) == [*words, "--server.maxUploadSize", "-1"]


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.3.2.1", "::1"])
def test_this_machine_needs_none(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    monkeypatch.setenv(mode.TRUSTED, "0")
    assert serve.words_for(["--server.address", host]) == ["--server.address", host]


@pytest.mark.parametrize(
    ("headers", "own"),
    [
        ({"Host": "localhost:8501"}, True),
        ({"Host": "127.0.0.1:8501"}, True),
        ({"Host": "[::1]:8501"}, True),
        ({"Host": "app.example.org"}, False),  # another site's name, led here
        ({"Host": "127.0.0.1.example.org"}, False),
        ({"Host": "localhost:8501", "X-Forwarded-For": "10.0.0.9"}, False),
        ({"Host": "localhost", "Forwarded": "for=10.0.0.9"}, False),
    ],
)
def test_under_another_name_or_behind_a_proxy_a_server_is_public(
    monkeypatch: pytest.MonkeyPatch, headers: dict[str, str], own: bool
) -> None:
    assert mode.direct(headers) == own
    monkeypatch.setattr("streamlit.context", SimpleNamespace(headers=headers))
    assert mode.public() != own
    monkeypatch.setenv(mode.TRUSTED, "1")
    assert not mode.public()
    monkeypatch.setenv(mode.PUBLIC, "1")
    assert mode.public()


# What the pages offer ---------------------------------------------------------------------


def visit(page: str, **query: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app._page_hash = calc_hash(page)
    for word, value in query.items():
        app.query_params[word] = value
    return app.run()


@pytest.mark.parametrize("page", [page.name for page in PAGES])
def test_a_public_page_has_no_upload_and_no_budget(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, page: str
) -> None:
    monkeypatch.setenv(mode.PUBLIC, "1")
    monkeypatch.chdir(tmp_path)
    for query in ({}, {"data": "own"}):
        app = visit(page, **query)
        assert not app.exception
        assert not app.get("file_uploader"), (page, query)
        assert not [box.key for box in app.button if box.key in ("new-budget", "release-go")]
        assert not list(tmp_path.iterdir())


def test_a_public_page_says_how_to_have_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(mode.PUBLIC, "1")
    app = visit("table")
    app.selectbox(key="data-network").set_value("own").run()
    assert any("`make app`" in said.value for said in app.info)
    with pytest.raises(InputError, match="public demo"):
        mode.budgets()
    assert mode.studies() is None


def test_nothing_of_streamlit_is_patched() -> None:
    """Of undocumented modules those that docs/decisions/streamlit.md names; none is changed."""
    named = (ROOT / "docs" / "decisions" / "streamlit.md").read_text(encoding="utf-8")
    for path in [*(ROOT / "pages").rglob("*.py"), ROOT / "app.py", ROOT / "scripts" / "serve.py"]:
        tree, text = ast.parse(path.read_text(encoding="utf-8")), path.read_text(encoding="utf-8")
        modules = {
            f"streamlit.{alias.name}" if node.module == "streamlit" else str(node.module)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        modules |= {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
        for name in sorted(m for m in modules if re.match(r"streamlit\.", m)):
            assert f"`{name}`" in named, (path.name, name)
        assert not re.search(r"\b(setattr|PagesManager|_stcore)\b", text), path

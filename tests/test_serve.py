"""The two modes of serving, and attacks on each on a live server."""

import ast
import asyncio
import contextlib
import gzip
import re
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState

from benchmarks.visitor import Seen, Visitor, mixed, visitors
from pages import mode
from pages.gate import Gate
from pages.shell import PAGES
from scripts import serve
from tests.serving import STREAM, ask, knock, served

ROOT = Path(__file__).resolve().parents[1]


TOKEN = "2|00000000|" + "ab" * 16 + "|1"  # anyone makes one up for their own browser
SENT = {"Content-Type": "multipart/form-data; boundary=b"}
KNOWN = {**SENT, "Cookie": f"_streamlit_xsrf={TOKEN}", "X-Xsrftoken": TOKEN}
BOMB = gzip.compress(b"a,b\n") + gzip.compress(b"0" * 100_000_000) * 6
FILES = (  # field of the page, file, what the page says of it
    ("drop-file", "t.csv.gz", BOMB, "Line 2 of t.csv.gz is longer than 2 MB"),
    ("check-file", "deep.json", b"[" * 9_000_000, "is not JSON in UTF-8"),
    ("check-file", "big.json", b"[" * 31_000_000, "too large for a release"),
)
PEOPLE = (0, 4, 1, 5)  # two on Asia, two on Cancer
SERVED, NO, NONE = {200}, {0, 400, 403, 413}, {400, 404}
ATTACKS = {  # answers that are right: on a server of one's own, on a public one
    "upload": ({204}, NO),
    "chunked": ({204}, NO),
    "large": ({204}, NO),
    "forged": ({403}, {403}),
    "delete forged": ({403}, {403}),
    "delete another's": ({204}, {204}),  # of the attacker's own session, which has no such file
    "metrics": (SERVED, SERVED),
    "ours": (SERVED, SERVED),  # the first document, as for any address
    "media": (SERVED, SERVED),  # to those who know its address
    "media, another's mark": (NONE, NONE),
    "media, decoded twice": (NONE, NONE),
    "up": (NONE, NONE),
}


def form(raw, name="a.csv"):
    head = f'--b\r\ncontent-disposition: form-data; name="f"; filename="{name}"\r\n\r\n'
    return head.encode() + raw + b"\r\n--b--\r\n"


async def attacked(url):
    """What an attacker, who has a session too, is answered about a visitor's session."""
    async with Visitor(url, "cause-or-effect") as visitor, Visitor(url, "cause-or-effect") as other:
        for one in (visitor, other):
            await one.until(lambda v: v.texts("html"))
        media = url + await visitor.fetch()
        mark = (await other.fetch()).rpartition("/")[2]
        to, mine = (f"{url}/_stcore/upload_file/{v.session}/f" for v in (visitor, other))
        asked = {
            "upload": (to, "PUT", form(b"x")),
            "chunked": (to, "PUT", iter([form(b"x")])),
            "large": (to, "PUT", form(b"x" * 3_000_000)),
            "delete another's": (mine, "DELETE"),
            "metrics": (f"{url}/_stcore/metrics",),
            "ours": (f"{url}/metrics",),
            "media": (media,),
            "media, another's mark": (f"{media}.%2F{mark}",),
            "media, decoded twice": (f"{media}.%252F{mark}",),
            "up": (f"{url}/app/static/..%2f..%2f.streamlit/config.toml",),
        }
        found = {name: await asyncio.to_thread(ask, *a, **KNOWN) for name, a in asked.items()}
        found["forged"] = await asyncio.to_thread(ask, to, "PUT", form(b"x"), **SENT)
        found["delete forged"] = await asyncio.to_thread(ask, to, "DELETE")
        return found


async def given(url, field, name, raw, said):
    """Upload a file, which another session tries to delete; the page refuses what it holds."""
    async with Visitor(url, "my-data") as visitor, Visitor(url, "cause-or-effect") as other:
        for one in (visitor, other):
            await one.until(lambda v: v.texts("html"))
        to, theirs = (f"{url}/_stcore/upload_file/{v.session}/f" for v in (visitor, other))
        assert (await asyncio.to_thread(ask, to, "PUT", form(raw, name), **KNOWN))[0] == 204
        assert (await asyncio.to_thread(ask, theirs, "DELETE", **KNOWN))[0] == 204
        state = WidgetState(id=visitor._id("file_uploader", field))
        file = state.file_uploader_state_value.uploaded_file_info.add()
        file.file_id, file.name, file.size = "f", name, len(raw)
        await visitor._ask(state)
        await visitor.until(lambda v: any(said in text for text in v.texts("alert")))


# What the server asks of others, a line each: names it looks up, addresses it connects to.
WATCHED = """import sys
def watch(event, args):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        print(event, *args[event != "socket.getaddrinfo":], file=open("asked", "a"))
sys.addaudithook(watch)"""


@pytest.fixture(scope="module", params=["own", "public"])
def server(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    with served(folder, WATCHED, **{mode.PUBLIC: str(int(request.param == "public"))}) as url:
        yield request.param, url, folder


ASKED = (  # Host, Origin, other headers; what a server of one's own says, what a public one does
    ("{at}", "", {}, True, True),
    ("{at}", "http://{at}", {}, True, True),
    ("LOCALHOST:{port}", "http://localhost:{port}", {}, True, True),
    ("[::1]:9", "http://[::1]:9", {}, True, True),  # a tunnel from another port
    ("{at}", "http://127.0.0.1:3000", {}, False, False),
    ("{at}", "http://localhost:{port}", {}, False, False),
    ("{at}", "https://elsewhere.example", {}, False, False),
    ("{at}", "http://{at}.elsewhere.example", {}, False, False),
    ("{at}", "null", {}, False, False),
    ("elsewhere.example", "http://elsewhere.example", {}, False, True),  # led here by its DNS
    ("127.0.0.1.elsewhere.example", "", {}, False, True),
    ("{at}", "", {"X_Forwarded_For": "10.0.0.9"}, False, True),
    ("{at}", "", {"Forwarded": "for=10.0.0.9"}, False, True),
    ("localhost:port", "", {}, False, True),
    ("[", "", {}, False, True),
)


def test_pages_of_other_addresses_are_refused_and_nobody_else_is_asked(server):
    """Before Streamlit, which asks the internet who it is: 20 Origins held every visitor up."""
    kind, url, folder = server
    at = {"at": url.removeprefix("http://"), "port": url.rpartition(":")[2]}
    for host, origin, more, *right in ASKED:
        sent = {"Host": host.format(**at), **more} | (
            {"Origin": origin.format(**at)} if origin else {}
        )
        for path, upgrade, opened in (("/run", {}, 200), ("/_stcore/stream", STREAM, 101)):
            status, _, said = knock(url, path, **sent, **upgrade)
            allowed = right[kind == "public"]
            assert status == (opened if allowed else 403), (host, origin, path, status)
            assert allowed or len(said) > 60, said  # it says why
    assert not (folder / "asked").exists(), (folder / "asked").read_text()


def test_an_old_or_short_address_leads_to_its_page_with_its_words(server):
    """The name of a page's folder is its address of version 0.3."""
    for page in PAGES:
        status, headers, _ = knock(server[1], f"/{page.name}?a.b=c%20d&e=1")
        moved = f"{page.address}?a.b=c%20d&e=1"  # relative to the folder that both are in
        assert status == (200 if page.name == page.address else 303)
        assert headers.get("location", moved) == moved
    assert knock(server[1], "/jABCD")[1]["location"] == "learn?room=ABCD"


async def with_token(url, token, cookie):
    """All that a page tells a browser which came by a link that still had a token."""
    query = f"token={token}&n=1000"
    async with Visitor(url, "run", query, headers={"Cookie": cookie}) as visitor:
        await visitor.until(lambda v: v.texts("html"))
        return f"{visitor._query} {visitor._elements}"


def test_a_start_token_is_asked_of_everything_and_stands_in_no_link(tmp_path):
    with served(tmp_path, "", "--token") as url:
        printed = re.findall(r"http://\S+", (tmp_path / "log").read_text())
        assert len(printed) == 1
        _, _, token = printed[0].partition("/?token=")
        assert len(token) >= 32
        doors = (
            "/",
            "/run",
            "/app/static/vis/vis-network.min.js",
            "/_stcore/stream",
            "/run?token=no",
        )
        for cookie in ({}, {"Cookie": f"dp_causal_explorer_{url.rpartition(':')[2]}=no"}):
            for path in doors:
                status, _, said = knock(url, path, **cookie, **(STREAM if "stream" in path else {}))
                assert (status, "start" in said) == (403, True), (path, status)
        to = f"{url}/_stcore/upload_file/s/f"
        assert ask(to, "PUT", form(b"x"), **KNOWN)[0] == 403
        status, led, _ = knock(url, f"/run?n=1000&token={token}&a=%C3%A9%26")
        assert (status, led["location"]) == (303, "/run?n=1000&a=%C3%A9%26")
        assert knock(url, f"//elsewhere.example/?token={token}")[1]["location"][:2] == "/e"
        cookie, *flags = led["set-cookie"].split("; ")
        assert {"HttpOnly", "SameSite=strict"} <= set(flags)
        for path, right in zip(doors, (200, 200, 200, 101, 200), strict=True):
            more = STREAM if "stream" in path else {}
            assert knock(url, path, Cookie=cookie, **more)[0] == right, path
        jar = {**KNOWN, "Cookie": f"{KNOWN['Cookie']}; {cookie}"}
        assert ask(to, "PUT", form(b"x"), **jar)[0] in (204, 400)  # Streamlit's word, not ours
        assert token not in asyncio.run(with_token(url, token, cookie))


async def passed(host, origin=""):
    """The status at a gate with nothing behind it but 200, and the Origin that was passed on."""
    sent, seen = [], []

    async def behind(scope, receive, send):
        seen.extend(value.decode() for name, value in scope["headers"] if name == b"origin")
        await send({"type": "websocket.accept", "status": 200})

    async def send(message):
        sent.append(message.get("status"))

    headers = [(b"host", host.encode())] + ([(b"origin", origin.encode())] if origin else [])
    await Gate(behind)({"type": "websocket", "path": "/", "headers": headers}, None, send)
    return sent[0], *seen


@pytest.mark.parametrize(
    ("host", "origin", "stated", "right"),
    [
        ("localhost:8502", "http://localhost:8502", {}, 200),
        ("10.0.0.7:8501", "http://10.0.0.7:8501", {}, 200),  # no other site has that address
        ("app.example.org", "https://app.example.org", {}, 403),
        ("app.example.org", "https://app.example.org", {"allowedHosts": ["*.Example.org"]}, 200),
        ("localhost:8501", "https://app.example.org", {}, 403),  # a proxy that changes the Host
        (
            "localhost:8501",
            "https://app.example.org",
            {"corsAllowedOrigins": ["https://app.example.org"]},
            200,
        ),
    ],
)
def test_behind_a_proxy_a_trusted_servers_names_are_stated(
    monkeypatch, host, origin, stated, right
):
    monkeypatch.setenv(mode.TRUSTED, "1")
    stands = {f"server.{name}": value for name, value in stated.items()}
    monkeypatch.setattr("streamlit.get_option", lambda name: stands.get(name, []))
    status, *seen = asyncio.run(passed(host, origin))
    assert status == right
    # Streamlit sees the page's own address, or it would ask the internet who it is.
    assert seen == ([f"http://{host}"] if right == 200 else [])


def test_an_attacker_finds_nothing(server):
    """No upload in public; a token for each; no file but ours, and no metrics of one's rows."""
    kind, url, folder = server
    found = asyncio.run(attacked(url))
    for name, right in ATTACKS.items():
        assert found[name][0] in right[kind == "public"], (name, found[name][0])
    assert b"algorithm" not in found["metrics"][1]
    assert b"dpce" not in found["ours"][1]
    assert not list(folder.rglob("*.db"))
    assert "Traceback" not in (folder / "log").read_text()


def most(folder):
    """Megabytes that the server itself has held at most, without its workers."""
    status = Path(f"/proc/{(folder / 'pid').read_text()}/status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) / 1e3


async def opened(url, *queries):
    """Visitors at once, each until the page has come; nothing is pressed."""
    async with contextlib.AsyncExitStack() as stack:
        come = [stack.enter_async_context(Visitor(url, "run", query)) for query in queries]
        for visitor in await asyncio.gather(*come):
            await visitor.until(lambda v: v.texts("html"))


@pytest.mark.parametrize("server", ["public"], indirect=True)
def test_links_to_large_data_draw_none_in_the_server(server):
    """Three links of 54 MB: a server that draws for each visitor holds 160 MB more."""
    _, url, folder = server
    asyncio.run(opened(url, ""))
    before, model = most(folder), "data=sem&sem_nodes=20&n=300000"
    asyncio.run(opened(url, *(f"{model}&sample={sample}" for sample in range(3))))
    assert most(folder) - before < 60


@pytest.mark.parametrize("server", ["own"], indirect=True)
def test_hostile_files_are_refused_in_little_memory(server):
    """600 MB in a packed file, and 9 and 31 MB of brackets; a public server takes no file."""
    _, url, folder = server
    for field, name, raw, said in FILES:
        asyncio.run(given(url, field, name, raw, said))
    assert most(folder) < 900
    assert "Traceback" not in (folder / "log").read_text()


def test_a_servers_own_user_is_on_this_machine(server):
    port = server[1].rpartition(":")[2]
    found_here = socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)
    for host in {str(one[4][0]) for one in found_here} - {"127.0.0.1"}:
        assert ask(f"http://{host}:{port}/_stcore/health")[0] == 0


@pytest.mark.parametrize("server", ["own"], indirect=True)
def test_sessions_at_once_see_their_own_results(server):
    """Two visitors a dataset, each with seeds of its own; every result is the run's made alone."""
    seen = Seen()
    asyncio.run(visitors(server[1], PEOPLE, 0.5, 0.1, seen))
    assert not seen.trouble
    assert len(seen.results) >= len(PEOPLE)
    assert not mixed(seen)
    # The check would notice: two results of one dataset change places.
    pair = next(
        (a, b)
        for a in seen.results
        for b in seen.results
        if a[0] == b[0] and (a[2], a[3]) != (b[2], b[3])
    )
    (name, seed, *_), (_, _, words, graphs) = pair
    assert mixed(replace(seen, results=[(name, seed, words, graphs)]))


# What the server is started as ------------------------------------------------------------


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.168.1.7", "example.org"])
@pytest.mark.parametrize("written", ["{} {}", "{}={}"])
def test_listening_beyond_this_machine_needs_a_word(monkeypatch, capfd, host, written):
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
def test_this_machine_needs_none(monkeypatch, host):
    monkeypatch.setenv(mode.TRUSTED, "0")
    assert serve.words_for(["--server.address", host]) == ["--server.address", host]


def test_without_an_address_the_server_is_this_machines_in_any_folder(monkeypatch):
    monkeypatch.setenv(mode.TRUSTED, "0")
    monkeypatch.setattr("streamlit.get_option", lambda name: None)  # no settings in the folder
    assert serve.words_for([]) == ["--server.address", "localhost"]
    monkeypatch.setenv("STREAMLIT_SERVER_ADDRESS", "0.0.0.0")  # Streamlit would take it
    with pytest.raises(SystemExit, match="Start it with --trusted"):
        serve.words_for([])


def test_one_command_starts_the_dashboard_and_the_command_line(monkeypatch, capsys):
    monkeypatch.setattr(serve, "main", lambda: print("dashboard"))
    for words, said in (
        ([], "dashboard"),
        (["--server.port", "8502"], "dashboard"),
        (["--version"], "dp-causal-explorer "),
        (["algorithms"], "priv_pc"),
    ):
        monkeypatch.setattr(serve.sys, "argv", ["dp-causal-explorer", *words])
        assert serve.script() == 0
        assert said in capsys.readouterr().out


_FIRST = """
from runpy import run_path
from streamlit.runtime.pages_manager import PagesManager
run_path("app.py")  # as a server imports it
print(PagesManager("app.py").uses_pages_directory)
"""


def test_the_first_link_to_a_page_finds_it_however_the_server_was_started():
    """``streamlit run app.py`` and ``make app`` alike: else the folder ``pages`` hides the page."""
    told = subprocess.run([sys.executable, "-c", _FIRST], cwd=ROOT, capture_output=True, text=True)
    assert (told.stdout, told.stderr) == ("False\n", "")


def test_nothing_of_streamlit_is_patched():
    """Of undocumented modules those that research/decisions/streamlit.md names; none is changed."""
    named = (ROOT / "research" / "decisions" / "streamlit.md").read_text(encoding="utf-8")
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
        assert not re.search(r"\b(setattr|PagesManager)\b", text), path

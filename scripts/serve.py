"""Start the dashboard: ``python scripts/serve.py [streamlit options]``; what ``make app`` runs.

Until app.py has run once, Streamlit takes a folder called ``pages`` for its old-style multi-page
app: the first visitor of a deep link such as /run is told that there is no such page before it is
drawn. Saying beforehand that this is no such app avoids that. And its first document is an empty
one for the second or two in which the browser reads its scripts: ours has the app's name in it.
"""

import atexit
import json
import os
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from threading import Thread

from streamlit import file_util
from streamlit.runtime.pages_manager import PagesManager
from streamlit.web import cli

ROOT = Path(__file__).resolve().parent.parent
# What the first page waits for; each takes a tenth of a second or more. None of our own pages:
# their caches belong to Streamlit's runtime, which is not there yet.
LIBRARIES = ("engine", "pandas", "pyarrow", "plotly.graph_objs._bar", "pyvis.network")

# Ends with the server, however that ends: its end of the pipe closes.
BESIDE = """
import os, sys, threading
os.nice(19)
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
from engine.__main__ import main
main(["warm"])
"""

ROOT_OF_PAGE = '<div id="root"></div>'
# React takes the place of what is in its root with its first drawing.
WAITING = """<div id="root"><style>
.waiting {position: fixed; inset: 0; padding: 6rem 2.5rem; background: #fff; color: #1a2230;
  font: 1.1rem/1.5 system-ui, sans-serif}
.waiting b {display: block; font-size: 2rem}
@media (prefers-color-scheme: dark) {.waiting {background: #10151e; color: #e9edf4}}
</style><div class="waiting" role="status"><b>DP Causal Explorer</b>
What privacy costs a causal graph. The page is being drawn …</div></div>"""


def first_document(html: str) -> str:
    """Streamlit's document with words in its empty root; as it is where it has no such root."""
    return html.replace(ROOT_OF_PAGE, WAITING, 1).replace(
        "<title>Streamlit</title>", "<title>DP Causal Explorer</title>", 1
    )


def link_static(folder: Path) -> None:
    """Fill a folder with links to Streamlit's files, and with the first document."""
    for entry in Path(file_util.get_static_dir()).iterdir():
        if entry.name == "index.html":
            html = entry.read_text(encoding="utf-8")
            (folder / entry.name).write_text(first_document(html), encoding="utf-8")
        else:
            (folder / entry.name).symlink_to(entry)


def prepare() -> None:
    """Import what the first page needs, and load the compiled kernels of its run."""
    for name in LIBRARIES:
        import_module(name)
    from engine import ALGORITHMS, load_dataset, run

    list(ALGORITHMS.values())  # imports them all: forms list them
    run("priv_pc", load_dataset("asia", n=2_000), trace=False)


def begin() -> None:
    """What is done while the server starts, and then beside it."""
    prepare()
    compile_beside()


def compile_beside() -> None:
    """Compile what no page waits for in a process that only takes what others leave of one core."""
    from engine.registry import slow

    if slow("marginal_pc"):
        beside = subprocess.Popen(
            [sys.executable, "-c", BESIDE],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        )
        atexit.register(beside.kill)


def host() -> None:
    """What a server for several people needs before it starts."""
    from pages.host import apart, bounds, gate, person, record

    os.umask(0o077)  # whatever is written here is its owner's alone
    bounds.leave_no_core()
    gate.trusted()  # a wrong list of proxies ends the start, not the first visit
    # The gate judges by who is really at the other end, not by what a header says of that.
    os.environ["FORWARDED_ALLOW_IPS"] = ""
    # To print an address of its own, Streamlit would ask a server of the internet for it.
    os.environ.setdefault("STREAMLIT_BROWSER_SERVER_ADDRESS", "localhost")
    if person.header():
        names = json.dumps({person.header(): person.FROM_PROXY})
        os.environ["STREAMLIT_SERVER_TRUSTED_USER_HEADERS"] = names
    record.listen()
    workers = apart.begin(bounds.cores() + apart.LONG + apart.READERS)
    about = "Processes that ended, or were ended, in the middle of their work."
    record.gauge("dpce_workers_lost", about, lambda: workers.killed)


if __name__ == "__main__":
    PagesManager.uses_pages_directory = False
    sys.path.insert(0, str(ROOT))
    host()
    # While the server starts and the browser fetches its scripts, this core would idle.
    Thread(target=begin, daemon=True, name="prepare").start()
    sys.argv = ["streamlit", "run", str(ROOT / "asgi.py"), *sys.argv[1:]]
    with tempfile.TemporaryDirectory(prefix="dp-causal-explorer-") as static:
        link_static(Path(static))
        file_util.get_static_dir = lambda: static
        cli.main()

"""Start the dashboard: ``python scripts/serve.py [streamlit options]``; what ``make app`` runs.

Until somebody has opened "/", Streamlit takes a folder called ``pages`` for its old-style
multi-page app and serves a deep link such as /run without app.py. Saying so beforehand keeps
links to a page working on a fresh server.
"""

import sys
from importlib import import_module
from pathlib import Path
from threading import Thread

from streamlit.runtime.pages_manager import PagesManager
from streamlit.web import cli

ROOT = Path(__file__).resolve().parent.parent
# What the first page waits for; each takes a tenth of a second or more. None of our own pages:
# their caches belong to Streamlit's runtime, which is not there yet.
LIBRARIES = ("engine", "pandas", "pyarrow", "plotly.graph_objs._bar", "pyvis.network")


def prepare() -> None:
    """Import what the first page needs, and load the compiled kernels of its run."""
    for name in LIBRARIES:
        import_module(name)
    from engine import ALGORITHMS, load_dataset, run

    list(ALGORITHMS.values())  # imports them all: forms list them
    run("priv_pc", load_dataset("asia", n=2_000), trace=False)


if __name__ == "__main__":
    PagesManager.uses_pages_directory = False
    sys.path.insert(0, str(ROOT))
    # While the server starts and the browser fetches its scripts, this core would idle.
    Thread(target=prepare, daemon=True, name="prepare").start()
    sys.argv = ["streamlit", "run", str(ROOT / "app.py"), *sys.argv[1:]]
    cli.main()

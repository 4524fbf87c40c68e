"""Start the dashboard: ``python scripts/serve.py [streamlit options]``; what ``make app`` runs.

Until somebody has opened "/", Streamlit takes a folder called ``pages`` for its old-style
multi-page app and serves a deep link such as /run without app.py. Saying so beforehand keeps
links to a page working on a fresh server.
"""

import sys
from pathlib import Path

from streamlit.runtime.pages_manager import PagesManager
from streamlit.web import cli

APP = Path(__file__).resolve().parent.parent / "app.py"

if __name__ == "__main__":
    PagesManager.uses_pages_directory = False
    sys.argv = ["streamlit", "run", str(APP), *sys.argv[1:]]
    cli.main()

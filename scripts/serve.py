"""Start the dashboard: ``dp-causal-explorer [--trusted] [--token] [streamlit options]``.

In the repository: ``python scripts/serve.py``, with the same options.

A server has one user, on this machine, unless DP_CAUSAL_EXPLORER_PUBLIC=1 makes it public
(docs/guide/host.md). Any other server needs ``--trusted``.
"""

from __future__ import annotations

import logging
import os
import secrets
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from threading import Thread

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from pages import mode  # noqa: E402

# The imports that the first page waits for; each takes a tenth of a second or more. They include no
# page of this project: pages' caches belong to Streamlit's runtime, which is not there yet.
LIBRARIES = ("pandas", "pyarrow", "plotly.graph_objs._bar", "engine")
OURS = ("--trusted", "--token")  # options that are not Streamlit's
HELP = ("-h", "--help", "-V", "--version")  # the command line's
OPEN = "A public server answers everybody: start it without --token."
REFUSED = (
    "Others could reach this server at {}. Every visitor of a server that is not public can use "
    "all budgets, releases and studies of its user. Start it with --trusted if they may, with "
    "DP_CAUSAL_EXPLORER_PUBLIC=1 for a public demo, or with --server.address localhost."
)
WARNING = (
    "Every visitor who reaches {} is trusted: they see and spend all budgets of this server's "
    "user, and read the releases and studies. Allow no other network access to it."
)


def named(words: list[str]) -> str | None:
    """Return the address that the options name; "" means all addresses, None means no such
    option."""
    for k, word in reversed(list(enumerate(words))):  # the last one counts
        name, equals, value = word.partition("=")
        if name == "--server.address":
            return value if equals else "".join(words[k + 1 : k + 2])
    return None


def usual() -> str:
    """Return the address if none is named: the environment's or the settings', else local."""
    import streamlit as st

    stated = os.environ.get("STREAMLIT_SERVER_ADDRESS") or st.get_option("server.address")
    return str(stated or "localhost")


def words_for(words: list[str]) -> list[str]:
    """Streamlit's options for this server's mode; end the program if the mode is unclear."""
    ours, words = {*OURS} & {*words}, [word for word in words if word not in OURS]
    os.environ[mode.TRUSTED] = str(int("--trusted" in ours))
    os.environ[mode.TOKEN] = secrets.token_urlsafe(24) if "--token" in ours else ""
    if (host := named(words)) is None:
        host = usual()
        words = [*words, "--server.address", host]  # set explicitly, independent of the folder
    if mode.public():
        if "--token" in ours:
            raise SystemExit(OPEN)
        # With a limit below zero, every upload is too large.
        return [*words, "--server.maxUploadSize", "-1"]
    if "--token" in ours:  # the address that is printed has it
        words = [*words, "--logger.hideWelcomeMessage", "true"]
    if not mode.local(host):
        if not mode.trusted():
            raise SystemExit(REFUSED.format(host or "all its addresses"))
        print(WARNING.format(host or "any of its addresses"), file=sys.stderr, flush=True)
    return words


def prepare() -> None:
    """Import the first pages' needs while the server starts and the browser loads its scripts."""
    from pages import worker

    for name in LIBRARIES:
        import_module(name)
    worker.begin()
    from engine.registry import slow

    if slow("marginal_pc"):  # compiled once per machine, at low priority
        warm = ["nice", "-n", "19", sys.executable, "-m", "engine", "warm"]
        subprocess.Popen(warm, cwd=ROOT, stdin=subprocess.DEVNULL)


def main() -> None:
    """Serve until the end."""
    import resource

    words = words_for(sys.argv[1:])
    os.umask(0o077)  # only their owner can read files written here
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # there are private rows in memory
    # To print its address, Streamlit would ask a server of the internet for it.
    os.environ.setdefault("STREAMLIT_BROWSER_SERVER_ADDRESS", "localhost")
    from streamlit.web import cli

    # Streamlit reads its settings again with app.py's and would ask for a restart.
    logging.getLogger("streamlit.config").addFilter(lambda told: "[server]" not in str(told.msg))
    Thread(target=prepare, daemon=True, name="prepare").start()
    sys.argv = ["streamlit", "run", str(ROOT / "app.py"), *words]
    cli.main()


def script() -> int:
    """Run the command ``dp-causal-explorer``: the command line if a subcommand follows."""
    first = sys.argv[1:2]
    if first and (first[0] in HELP or not first[0].startswith("-")):
        from engine.__main__ import script as command_line

        return command_line()
    main()
    return 0


if __name__ == "__main__":
    main()

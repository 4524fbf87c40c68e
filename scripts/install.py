"""Make a virtual environment with pinned packages: ``install.py [--editable] FOLDER FILE ...``.

``--editable`` installs this project in it too, by reference to this folder.

uv, on the path or from the index, installs the same pins in a tenth of the time; else pip does.
Only Python's own library is needed, and nothing of this project.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

OLDEST = (3, 11)
UV = "uv==0.13.9"
ROOT = Path(__file__).resolve().parent.parent


def environment() -> dict[str, str]:
    """Return this process's environment, with pip's index settings also for uv."""
    said = {"PIP_INDEX_URL": "UV_DEFAULT_INDEX", "PIP_EXTRA_INDEX_URL": "UV_INDEX"}
    found = dict(os.environ)
    for name, value in configured().items():
        found.setdefault(said.get(name, name), value)
    # Packages from all indexes together, and no compiled files: Python makes those it uses.
    return found | {"UV_INDEX_STRATEGY": "unsafe-best-match", "UV_NO_PROGRESS": "1"}


def configured() -> dict[str, str]:
    """Return the indexes and package folders in pip's settings, by pip's variable."""
    listed = run([sys.executable, "-m", "pip", "config", "list"], quiet=True)
    found = {}
    for line in listed.splitlines():
        name, _, value = line.partition("=")
        key = name.strip(":").rpartition(".")[2].replace("-", "_").upper()
        if key in ("INDEX_URL", "EXTRA_INDEX_URL"):
            found["PIP_" + key] = value.strip("'\"")
    return found


def run(command: list[str], env: dict[str, str] | None = None, quiet: bool = False) -> str:
    """Return a command's output; empty if it fails, without a message if ``quiet``."""
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    if done.returncode and not quiet:
        raise SystemExit(done.stderr.strip() or f"{command[0]} failed.")
    return "" if done.returncode else done.stdout or " "


EDITABLE = ["--no-deps", "--no-build-isolation", "--editable", str(ROOT)]


def with_uv(uv: str, folder: Path, files: list[str]) -> bool:
    """Install with uv; Return False if it fails, so that pip may try."""
    env = environment()
    python = folder / "bin" / "python"
    if not python.exists():
        made = run([uv, "venv", "--seed", "--python", sys.executable, str(folder)], env, quiet=True)
        if not made:
            return False
    wanted = [part for file in files for part in ("-r", file)]
    return bool(run([uv, "pip", "install", "--python", str(python), *wanted], env, quiet=True))


def with_pip(folder: Path, files: list[str]) -> None:
    """Install with pip; end with pip's message if that fails."""
    python = str(folder / "bin" / "python")
    usable = Path(python).exists() and run([python, "-m", "pip", "--version"], quiet=True)
    if not usable and not run([sys.executable, "-m", "venv", "--clear", str(folder)], quiet=True):
        sys.exit("No virtual environment could be made (on Debian: apt-get install python3-venv)")
    wanted = [part for file in files for part in ("-r", file)]
    run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted])


def main(folder: Path, files: list[str], editable: bool = False) -> None:
    """Install the pins of all files, and this project if ``editable``."""
    if sys.version_info < OLDEST:
        sys.exit("Python 3.11 or newer is needed; name one with: make PYTHON=python3.12")
    with tempfile.TemporaryDirectory() as place:
        uv = shutil.which("uv") or fetched(Path(place))
        if not (uv and with_uv(uv, folder, files)):
            with_pip(folder, files)
    if editable:  # the pins contain its build tools
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet"]
        run([*pip, "--disable-pip-version-check", *EDITABLE])


def fetched(place: Path) -> str | None:
    """Return a uv from the index, or None."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(place), UV]
    run(pip, quiet=True)
    found = place / "bin" / "uv"
    return str(found) if found.exists() else None


if __name__ == "__main__":
    given = [word for word in sys.argv[1:] if word != "--editable"]
    main(Path(given[0]), given[1:], editable="--editable" in sys.argv)

"""Imports point one way, by the contracts in pyproject.toml; packages the engine does not load."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def python(code):
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)


def test_the_contracts_of_imports_are_kept():
    """Layers, no user interface in the engine, no algorithm in another, no privacy in the loop."""
    kept = "from importlinter.cli import lint_imports\n"
    kept += "raise SystemExit(lint_imports(no_cache=True, no_logo=True))"
    done = python(kept)
    assert done.returncode == 0, done.stdout
    assert " 0 broken" in done.stdout


def test_importing_the_engine_loads_no_user_interface_and_no_frames():
    """Whoever reads a table, or makes a release, needs no frame: pandas takes .3 s to load."""
    done = python(
        "import sys, engine, engine.__main__, engine.registry, engine.data.reading\n"
        "import engine.release.make, engine.studies.scenes\n"
        "names = {name.split('.')[0] for name in sys.modules}\n"
        "print(names & {'streamlit', 'plotly', 'pyvis', 'pandas'})"
    )
    assert done.stdout.strip() == "set()", done.stderr

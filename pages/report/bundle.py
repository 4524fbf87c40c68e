"""A run as a ZIP that another person can open, check and repeat.

On public data it holds all settings of the run, and a script that repeats it and compares the
results. For the user's data it holds only the released numbers and the settings: no seed (an
attacker who knows it can remove the noise), no fingerprint, no scores, no times, no raw values.
"""

from __future__ import annotations

import io
import json
import platform
import zipfile
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from engine.data.dataset import Dataset
from engine.data.spreadsheets import table_csv
from engine.graphs.formats import FORMATS
from engine.graphs.weighed_colliders import SHOWN
from engine.percent import percent
from engine.request import Request
from engine.result import RunResult
from engine.serialise import plain, result_dict
from engine.version import __version__

LIBRARIES = ("numpy", "scipy", "numba", "networkx", "pandas")
# The fields that stay in a run's JSON for the user's data.
_PAID = ("claimed", "proven", "guaranteed_epsilon", "no_guarantee_reasons", "ledger")
_LONG = ("seconds", "steps", "diagnostics")  # and what public data do not
_DATE = (2020, 1, 1, 0, 0, 0)  # the same run gives the same file

_README = """One run of the DP Causal Explorer, version {made_by}.

settings.json, requirements.txt: the run's settings, and the versions that ran it
edges.csv: the learned graph (a CPDAG). Below a "direction_confidence" of {shown} an edge is
undirected. A pair that was not fully tested is "untested"
graph.*: the fully tested edges, for other tools: {formats}
result.json: every charge to the privacy budget and the guarantee. For public data the whole run,
with scores ("metrics_tested": of the fully tested edges)
{report}: the report
"""

# A path: pip would ask the internet for a bare name.
_SCRIPT = '''"""Repeats the run of settings.json and compares with result.json.

To run it, install the libraries and the folder of the project:
    python -m pip install -r requirements.txt /PATH/TO/dp-causal-explorer
    python reproduce.py
"""

import json
import sys
from pathlib import Path

from engine.request import Request
from engine.serialise import result_dict

here = Path(__file__).parent
settings, expected = (json.loads((here / f"{name}.json").read_text("utf-8"))
                      for name in ("settings", "result"))
found = json.loads(json.dumps(result_dict(Request.from_json(settings).run())))

for a, b in found["skeleton"]:
    print(a, "?" if [a, b] in found["untested"] else "-", b)
for name in ("fingerprint", "cpdag", "untested", "ci_tests_by_order", "counts", "status", "proven"):
    if found[name] != expected[name]:
        sys.exit(f"{name} differs: {found[name]} instead of {expected[name]}")
print("The same edges and numbers as in the file.")
'''


def bundle(
    request: Request, data: Dataset, result: RunResult, report: Mapping[str, str | bytes]
) -> bytes:
    """Return the ZIP of a run that was not stopped, with its report's files, name -> content."""
    record = result_dict(result)
    kept = [name for name in record if name not in _LONG] if data.public else _PAID
    versions = {name: version(name) for name in LIBRARIES}
    ran = {"engine": __version__, "python": platform.python_version(), **versions}
    about = {} if data.public else {"n": data.n, "columns": list(data.names)}
    files: dict[str, str | bytes] = {
        **report,
        "settings.json": _json(request.to_json() | about | {"versions": ran}),
        "result.json": _json({name: record[name] for name in kept}),
        "requirements.txt": "".join(f"{name}=={number}\n" for name, number in versions.items()),
        "edges.csv": table_csv(result.edges),
    }
    for form in FORMATS.values():
        files[f"graph.{form.extension}"] = form.write(result.names, result.displayed_cpdag)
    formats = "; ".join(form.title for form in FORMATS.values())
    readme = _README.format(
        formats=formats, report=", ".join(sorted(report)), shown=percent(SHOWN), made_by=__version__
    )
    if data.public:
        files["reproduce.py"] = _SCRIPT
        readme += f"reproduce.py: repeats the run and compares; it needs version {__version__}\n"
    files["README.txt"] = readme
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(name, _DATE), content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _json(value: Any) -> str:
    return json.dumps(plain(value), ensure_ascii=False, indent=1)

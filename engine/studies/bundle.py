"""A run as a ZIP that somebody else can open, check and repeat.

On public data it holds everything that fixes the run, and a script that repeats it and compares.
Of a person's own data it holds what the run released and its settings alone: no seed (who knows it
can take the noise away), no fingerprint, no scores, no times, no raw values.
"""

from __future__ import annotations

import csv
import io
import json
import platform
import pprint
import zipfile
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from engine.data.dataset import Dataset
from engine.data.spreadsheets import safe
from engine.errors import InputError
from engine.graphs.formats import FORMATS, edges_of
from engine.graphs.weighed_colliders import SHOWN
from engine.marginals.diagnostics import MarginalDiagnostics
from engine.percent import percent
from engine.result import RunResult
from engine.serialise import plain, result_dict
from engine.version import __version__

LIBRARIES = ("numpy", "scipy", "numba", "networkx", "pandas")
Pair = tuple[int, int]
_DATE = (2020, 1, 1, 0, 0, 0)  # the same run gives the same file

_README = """One run of the DP Causal Explorer.

settings.json, versions.json, requirements.txt: what fixes the run, and what ran it
edges.csv: the learned graph (a CPDAG). "->" directed, "--" undirected, "?" a pair that was not
tested to the end; "link", "arrow", "back": how sure it is. One less sure than {shown} is a "--"
graph.*: the links tested to the end, for other tools: {formats}
ledger.json: every charge to the privacy budget, and the guarantee
{more}
{script}
"""

_METRICS = 'metrics.json: scores against the true graph; "tested": of the links tested to the end'

_HEAD = '''"""{title}

To run it, install the libraries and the folder of the project:
    {install}
    python {file}
"""

import json
import sys

from engine import load_dataset, read_csv, run

PARAMETERS = {parameters}
'''

# A path: pip would ask the internet for a bare name.
_INSTALL = "python -m pip install -r requirements.txt /PATH/TO/dp-causal-explorer"
_KNOWN = """
from engine.knowledge import parse_knowledge

PARAMETERS["knowledge"] = parse_knowledge(
    {stated}
)
"""

_REPRODUCE = """
data = load_dataset({dataset!r}, n={n}, seed={sample})
result = run({key!r}, data, seed={seed}, **PARAMETERS)

found = {{
    "fingerprint": result.fingerprint,
    "cpdag": sorted([a, b] for a, b in result.cpdag.edges),
    "ci_tests_by_order": list(result.ci_tests_by_order),
    "metrics": None if result.metrics is None else vars(result.metrics),
    "status": result.status,
    "spent": [str(result.spent.epsilon), str(result.spent.delta)],
}}
EXPECTED = json.loads({expected})

for a, b in sorted(sorted(pair) for pair in result.skeleton):
    print(a, "?" if frozenset((a, b)) in result.untested_pairs else "-", b)
for name in EXPECTED:
    if found[name] != EXPECTED[name]:
        sys.exit(f"{{name}} differs: {{found[name]}} instead of {{EXPECTED[name]}}")
print("The same edges and numbers as in the file.")
"""

_RERUN = """
# The table is not in this file, and no seed fixes a run on a person's own data: every new run draws
# secret noise of its own and spends its budget again. For a guarantee, declare the schema too (see
# read_csv's "schema").
data = read_csv(sys.argv[1])
result = run({key!r}, data, **PARAMETERS)
for a, b in sorted(sorted(pair) for pair in result.skeleton):
    print(a, "?" if frozenset((a, b)) in result.untested_pairs else "-", b)
"""


def settings_of(data: Dataset, result: RunResult, sample: int | None) -> dict[str, Any]:
    """What fixes the run; ``sample`` is the seed that drew the rows of public data."""
    fixed: dict[str, Any] = {"algorithm": result.algorithm, "parameters": plain(result.params)}
    if data.public:
        where = {"dataset": data.name, "n": data.n, "sample": sample}
        fixed |= where | {"seed": result.seed, "fingerprint": result.fingerprint}
    else:
        fixed |= {"dataset": "a person's own data", "n": data.n, "columns": list(data.names)}
    if result.knowledge:
        fixed["knowledge"] = result.knowledge.to_json()
    return fixed


def versions() -> dict[str, str]:
    """The engine, Python and the libraries that numbers depend on."""
    found = {name: version(name) for name in LIBRARIES}
    return {"engine": __version__, "python": platform.python_version(), **found}


def script(data: Dataset, result: RunResult, sample: int | None) -> tuple[str, str]:
    """(file name, Python text) that repeats the run with the public API.

    On public data it ends with status 1 where edges or numbers differ. Raises InputError for a run
    that was stopped by hand: where it stopped cannot be repeated.
    """
    if result.status == "cancelled":
        raise InputError("A run that was stopped cannot be repeated exactly; let it finish first.")
    values = pprint.pformat(result.params.as_dict(), sort_dicts=False)
    name = "reproduce.py" if data.public else "rerun.py FILE.csv SCHEMA.json"
    title = "Repeats the run and compares." if data.public else "Runs the same settings anew."
    head = _HEAD.format(title=title, install=_INSTALL, file=name, parameters=values)
    if result.knowledge:
        stated = pprint.pformat(result.knowledge.to_json(), sort_dicts=False)
        head += _KNOWN.format(stated=stated)
    if not data.public:
        return "rerun.py", head + _RERUN.format(key=result.algorithm)
    if sample is None:
        raise InputError("The script needs the seed that drew the rows.")
    record = result_dict(result)
    same = ("fingerprint", "cpdag", "ci_tests_by_order", "metrics", "status")
    expected = {name: record[name] for name in same}
    expected["spent"] = [str(result.spent.epsilon), str(result.spent.delta)]
    body = _REPRODUCE.format(
        dataset=data.name,
        n=data.n,
        sample=sample,
        key=result.algorithm,
        seed=result.seed,
        expected=repr(json.dumps(expected)),
    )
    return "reproduce.py", head + body


def edges_csv(result: RunResult) -> str:
    """The learned graph, one line an edge; a pair not tested to the end has the mark "?".

    With the link's confidence and either arrow's where they are known, and on public data what
    became of the pair.
    """
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(["from", "mark", "to", "link", "arrow", "back", "class"])
    marks = {"directed": "->", "undirected": "--"}
    edges = [
        (i, "--" if (i, j) in result.low_confidence else marks[kind], j)
        for i, j, kind in edges_of(result.tested)
    ]
    found = result.diagnostics
    links: Mapping[Pair, float] = {}
    arrows: Mapping[Pair, float] = {}
    if isinstance(found, MarginalDiagnostics):
        links, arrows = found.edge_confidence, found.arrow_confidence
    kinds = result.classes if result.public else {}
    for i, mark, j in edges + [(i, "?", j) for i, j in sorted(result.untested)]:
        pair = (min(i, j), max(i, j))
        values = [links.get(pair), arrows.get((i, j)), arrows.get((j, i))]
        words = ["" if p is None else f"{p:.6g}" for p in values]
        kind = kinds[pair].value if pair in kinds else ""
        rows.writerow([safe(result.names[i]), mark, safe(result.names[j]), *words, kind])
    return out.getvalue()


def bundle(
    data: Dataset,
    result: RunResult,
    sample: int | None = None,
    extra: Mapping[str, str | bytes] | None = None,
) -> bytes:
    """The ZIP; ``extra`` adds files (name -> content) made elsewhere, such as pictures."""
    record = result_dict(result)
    ledger = {name: record[name] for name in ("spent", "claimed", "undefended")}
    ledger["charges"] = record["ledger"]
    name, code = script(data, result, sample)
    files: dict[str, str | bytes] = {
        "settings.json": _json(settings_of(data, result, sample)),
        "versions.json": _json(versions()),
        "requirements.txt": "".join(f"{name}=={version(name)}\n" for name in LIBRARIES),
        "edges.csv": edges_csv(result),
        "ledger.json": _json(ledger),
        name: code,
    }
    if data.public:
        files["metrics.json"] = _json(_scores(record))
    for form in FORMATS.values():
        files[f"graph.{form.extension}"] = form.write(result.names, result.displayed_cpdag)
    more = _METRICS if data.public else ""
    what = f"{name:14} {'repeats the run and compares' if data.public else 'the same settings'}"
    formats = "; ".join(form.title for form in FORMATS.values())
    if extra:
        more = "\n".join(filter(None, (more, f"{', '.join(sorted(extra))}: the report")))
    files["README.txt"] = _README.format(
        formats=formats, more=more, script=what, shown=percent(SHOWN)
    )
    return _zipped(files | dict(extra or {}))


def _scores(record: Mapping[str, Any]) -> dict[str, Any] | None:
    """What metrics.json holds of :func:`result_dict`."""
    if record["metrics"] is None:
        return None
    return {**record["metrics"], "tested": record["metrics_tested"], "counts": record["counts"]}


def _json(value: Any) -> str:
    return json.dumps(plain(value), ensure_ascii=False, indent=1)


def _zipped(files: Mapping[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            archive.writestr(
                zipfile.ZipInfo(name, _DATE), files[name], compress_type=zipfile.ZIP_DEFLATED
            )
    return out.getvalue()

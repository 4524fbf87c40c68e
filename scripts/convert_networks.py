"""Convert networks in BIF from the bnlearn repository into our files.

    python -m scripts.convert_networks FOLDER    # FOLDER holds asia.bif.gz, alarm.bif.gz, ...

It was run once; its output is in `sample_data`. It also draws the sample CSV files there.
"""

import gzip
import itertools
import json
import re
import sys
from pathlib import Path
from typing import Any

from engine.data.networks import NETWORKS, load_dataset

SAMPLES = Path(__file__).resolve().parent.parent / "sample_data"
REPOSITORY = "Bayesian Network Repository of bnlearn (M. Scutari, www.bnlearn.com/bnrepository)"
LICENCE = "CC BY-SA 3.0, as stated by the repository; converted from BIF, numbers unchanged"
ORIGINS = {
    "earthquake": "Korb and Nicholson, Bayesian Artificial Intelligence, 2010",
    "cancer": "Korb and Nicholson, Bayesian Artificial Intelligence, 2010",
    "asia": "Lauritzen and Spiegelhalter, JRSS B 50, 1988",
    "survey": "Scutari and Denis, Bayesian Networks: with Examples in R, 2014",
    "sachs": "Sachs et al., Science 308, 2005",
    "child": "Spiegelhalter and Cowell, Bayesian Statistics 4, 1992",
    "alarm": "Beinlich et al., AIME 1989",
    "insurance": "Binder et al., Machine Learning 29, 1997",
    "water": "Jensen et al., 1989",
    "hailfinder": "Abramson et al., International Journal of Forecasting 12, 1996",
    "win95pts": "Microsoft Research, 1995",
}

_VARIABLE = re.compile(r"variable\s+(\S+)\s*\{\s*type\s+discrete\s*\[\s*\d+\s*\]\s*\{([^}]*)\}")
_PROBABILITY = re.compile(r"probability\s*\(\s*([^\s|)]+)\s*(?:\|([^)]*))?\)\s*\{([^}]*)\}")
_ROW = re.compile(r"(?:table|\(([^)]*)\))\s*([^;]*);")


def parse_bif(text: str) -> list[dict[str, Any]]:
    """Return the nodes in file order: name, states, parents, table.

    The table has one row for each configuration of the parents, the last one fastest.
    """
    states = {name: _words(body) for name, body in _VARIABLE.findall(text)}
    tables = {name: (_words(given), body) for name, given, body in _PROBABILITY.findall(text)}
    nodes = []
    for name, labels in states.items():
        parents, body = tables[name]
        rows = {_row_key(key): _floats(row) for key, row in _ROW.findall(body)}
        grid = list(itertools.product(*(states[parent] for parent in parents)))
        if rows.keys() != set(grid) or any(len(row) != len(labels) for row in rows.values()):
            raise ValueError(f"the table of {name} does not fit its parents and states")
        nodes.append(
            {"name": name, "states": labels, "parents": parents, "table": [rows[c] for c in grid]}
        )
    return nodes


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _row_key(text: str) -> tuple[str, ...]:
    return tuple(_words(text))


def _floats(text: str) -> list[float]:
    return [float(word) for word in _words(text)]


def render(name: str, nodes: list[dict[str, Any]]) -> str:
    """Return our file: JSON with one line for each row of a table."""
    heads = []
    for node in nodes:
        rows = ",\n".join(json.dumps(row, separators=(",", ":")) for row in node["table"])
        fields = {key: node[key] for key in ("name", "states", "parents")}
        heads.append(f'{json.dumps(fields)[:-1]}, "table": [\n{rows}]}}')
    about = {"name": name, "source": f"{ORIGINS[name]}; {REPOSITORY}", "licence": LICENCE}
    body = ",\n".join(heads)
    return f'{json.dumps(about, indent=0)[:-2]},\n"nodes": [\n{body}\n]}}\n'


def write_sample(name: str, n: int) -> None:
    """Write n rows of a network and its true edges as CSV files to upload."""
    data = load_dataset(name, n=n, seed=1)
    data.to_frame().to_csv(SAMPLES / f"{name}_{n}.csv", index=False, lineterminator="\n")
    assert data.truth is not None
    edges = "".join(f"{a},{b}\n" for a, b in data.truth.edges)
    (SAMPLES / f"{name}_edges.csv").write_text("from,to\n" + edges, encoding="utf-8")


def main(folder: Path) -> None:
    for name in NETWORKS:
        text = gzip.decompress((folder / f"{name}.bif.gz").read_bytes()).decode("utf-8")
        path = SAMPLES / "networks" / f"{name}.json"
        path.write_text(render(name, parse_bif(text)), encoding="utf-8")
    for name, n in (("asia", 2_000), ("survey", 1_000), ("sachs", 5_000)):
        write_sample(name, n)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""DoWhy and pgmpy read a release's files: ``make readers``.

Both bring far more packages than this project, so they have a separate environment
(requirements/readers.txt). Here a release is made and its files are written; that environment's
Python runs this file again, with their folder, and reads them without the engine.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine import BudgetedRelease


def released(folder: Path) -> BudgetedRelease:
    """Return a release on Asia as its recipient has it: only a file."""
    from engine import Budget, Schema, load_dataset, load_release

    frame = load_dataset("asia", n=20_000, seed=1).to_frame().astype(str)
    schema = Schema.draft(frame).declare(*frame.columns)
    ward = Budget("ward", epsilon=3, delta=1e-5, path=folder / "budgets.db")
    return load_release(ward.release(frame, schema, epsilon=2).save(folder / "ward.json"))


def write(folder: Path) -> None:
    """Write the release's rows, its graph as dagitty and DOT, and the edges to be read."""
    paid = released(folder)
    rows = paid.synthetic(3_000)
    rows.to_frame().apply(lambda column: column.cat.codes).to_csv(folder / "rows.csv", index=False)
    assert rows.truth is not None
    for kind in ("dagitty", "dot"):
        (folder / kind).write_text(paid.to_text(kind, directed=True), encoding="utf-8")
    (folder / "edges.json").write_text(json.dumps(sorted(rows.truth.edges)), encoding="utf-8")


def read(folder: Path) -> None:
    """Read the files with both; raise AssertionError if one reads another graph."""
    import pandas as pd
    from dowhy import CausalModel
    from pgmpy.base import DAG

    edges = {tuple(edge) for edge in json.loads((folder / "edges.json").read_text("utf-8"))}
    assert set(DAG.from_dagitty((folder / "dagitty").read_text("utf-8")).edges) == edges
    model = CausalModel(
        pd.read_csv(folder / "rows.csv"),
        treatment="smoke",
        outcome="dysp",
        graph=(folder / "dot").read_text("utf-8"),
    )
    found = model.identify_effect(proceed_when_unidentifiable=True)
    effect = model.estimate_effect(found, method_name="backdoor.linear_regression").value
    assert -1 <= effect <= 1
    print(f"pgmpy reads {len(edges)} edges; DoWhy's effect of smoke on dysp is {effect:.3f}")


def main(reader: str, folder: str = "") -> None:
    """``reader`` is the Python with both packages; with a folder, it is this one."""
    if folder:
        read(Path(folder))
        return
    with tempfile.TemporaryDirectory() as place:
        write(Path(place))
        subprocess.run([reader, __file__, reader, place], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

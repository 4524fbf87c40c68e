"""What a person takes along of a pair: decision, table, and a script that makes it again."""

from __future__ import annotations

import streamlit as st

from engine import Dataset, RunResult
from engine.teaching.pairwise import Picture
from pages.pairs.scores import score_table
from pages.pairs.state import FILE, SIMULATED
from pages.shell import words as text
from pages.shell.drafts import Draft
from pages.shell.export import as_csv, as_json, download, run_record


def files_view(data: Dataset, result: RunResult, found: Picture, d: Draft) -> None:
    """Downloads and a script; of public data alone."""
    with st.expander("Take along", icon=":material/download:", key="pairs-files"):
        left, right = st.columns(2)
        stem = text.file_stem(data)
        with left:
            record = run_record(data, result, {"pair": data.name})
            download("Decision (JSON)", lambda: as_json(record), f"{stem}.json", key="pairs-json")
        with right:
            table = score_table(data, found, d)
            download("Scores (CSV)", lambda: as_csv(table), f"{stem}.csv", key="pairs-table-csv")
        st.code(script(result, d), language=None)


def script(result: RunResult, d: Draft) -> str:
    """A few lines that give the same decision."""
    values = ", ".join(
        f"{name}={value!r}"
        for name, value in result.params.as_dict().items()
        if value != type(result.params)().as_dict()[name]
    )
    first, data = "", ""
    if d["source"] == SIMULATED:
        first = "from engine.data.simulated_pairs import simulate_pair\n"
        chosen = ", ".join(repr(d[name]) for name in ("mechanism", "noise", "cause"))
        data = f"simulate_pair({chosen}, n={d['n']}, seed={d['sample']})"
    elif d["source"] == FILE:
        first = "from engine.data.pairs import read_tuebingen\n"
        pick = f'next(p for p in pairs if p.name == "{d["chosen"]}")'
        data = f'pairs = read_tuebingen("cdt-0.6.0-py3-none-any.whl")\ndata = {pick}'
    data = data if data.startswith("pairs") else f"data = {data}"
    call = ", ".join(filter(None, [f'run("anm", data, seed={result.seed}', values]))
    return f"from engine import run\n{first}\n{data}\nresult = {call})\nresult.diagnostics\n"

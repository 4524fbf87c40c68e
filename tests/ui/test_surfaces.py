"""One run has the same numbers, names and formats on the page, pins, command line, JSON and ZIP.

The numbers are computed again here, from sets of edges; the names stand here a second time.
"""

import json
import re
import zipfile
from io import BytesIO

import pytest

from engine.__main__ import main
from engine.graphs.cpdag import digraph_of
from pages.report.bundle import bundle
from tests.ui.shown import shown
from tests.ui.steps import metrics, press, told

RUN = {"data": "asia", "n": "20000", "seed": "1"}
KINDS = {
    "strict": {"algorithm": "priv_pc", "epsilon": "1", "guarantee": "strict"},
    "published": {"algorithm": "priv_pc", "epsilon": "1", "guarantee": "published"},
    "oriented": {"algorithm": "marginal_pc", "epsilon": "1", "guarantee": "strict"},
}
WORDS = {
    "correct": "Found, correct",
    "not_identifiable": "Found, not identifiable",
    "undirected": "Found, undirected",
    "reversed": "Found, reversed",
    "false_positives": "False positive",
    "missed": "Missed",
    "untested": "Not fully tested",
}
FORMATS = r"\d[eE][-+]?\d|[<>]=|\d\s*–\s*\d|\binf\b|nothing"  # 10⁻⁶, ≥, "to" and "no bound" instead


def by_sets(result):
    """Count the pairs by class, from the arcs of both graphs."""

    def marks(matrix):
        arcs = list(digraph_of(matrix, result.names).edges)
        return {frozenset(arc): {a for a in arcs if set(a) == set(arc)} for arc in arcs}

    mine, true = marks(result.displayed_cpdag), marks(result.reference_cpdag)
    found, real = dict.fromkeys(WORDS, 0), set(result.truth.edges)
    for pair in mine.keys() | true.keys() | result.untested_pairs:
        a, b = mine.get(pair), true.get(pair)
        if pair in result.untested_pairs:
            kind = "untested"
        elif not (a and b):
            kind = "missed" if b else "false_positives"
        elif a == b:
            kind = "correct"
        elif len(a) == 2:
            kind = "undirected"
        else:
            kind = "not_identifiable" if len(b) == 2 and a <= real else "reversed"
        found[kind] += 1
    counts = {"true": len(true), "found": sum(list(found.values())[:4])} | found
    tested = [mine[pair] == true.get(pair) for pair in mine]
    return counts, len(mine), sum(tested)


def short(value):
    """Write an ε of a screen with three digits, thousands grouped."""
    if value == float("inf"):
        return "no bound"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_is_one_on_all_surfaces(open_app, capsys, kind):
    asked = RUN | KINDS[kind]
    app = press(open_app("run", **asked), "run", "pin")
    app.session_state["run-details"] = "Scores and cost"
    app.run()
    run = app.session_state["shown"][False]
    result, page = run.result, shown(app)
    counts, learned, _ = by_sets(result)

    flags = [word for name, value in asked.items()
             for word in ("--dataset" if name == "data" else f"--{name}", value)]  # fmt: skip
    assert main(["run", *flags]) == 0
    printed = capsys.readouterr().out
    assert main(["run", *flags, "--json"]) == 0
    written = capsys.readouterr().out
    record = json.loads(written)
    with zipfile.ZipFile(BytesIO(bundle(run.request, run.data, result, {}))) as files:
        kept = json.loads(files.read("result.json"))

    # Counts: the legend has the classes that occur, the pins all, the files the codes.
    legend = next(line for line in page.splitlines() if WORDS["missed"] in line)
    named = {WORDS[code]: n for code, n in counts.items() if code in WORDS}
    for word, n in named.items():
        assert (f"{word} {n}" in legend) == bool(n)
        assert f"\n{word}|{n}|{n}" in page
    assert f"\nFound|{counts['found']} of {counts['true']}|" in page
    for files in (record, kept):
        assert files["counts"] == counts
    head = f"{counts['found']} of {counts['true']} true links found, "
    wrong = counts["false_positives"]
    head += f"{wrong or 'no'} false positive{'s' * (wrong != 1)}."
    assert head in told(app, "html")
    assert head in printed

    # Scores: two digits on a tile and three in the terminal, a dash where none is defined.
    scores = {
        "recall": counts["found"] / counts["true"],
        "precision": counts["found"] / learned if learned else None,
        "skeleton F1": 2 * counts["found"] / (learned + counts["true"]),
    }
    tiles = metrics(app)
    for name, value in scores.items():
        assert tiles[name[0].upper() + name[1:]] == ("–" if value is None else f"{value:.2f}")
        assert f"{name} {'–' if value is None else f'{value:.3f}'}" in printed
        for files in (record, kept):
            assert files["metrics_tested"][name.replace(" ", "_").lower()] == (
                value if value is None else pytest.approx(value, rel=1e-4)
            )

    # ε: in the strip, the pill, the pins, the terminal and JSON under its own name.
    strip = page.replace("\n", "|")
    total, delta = float(asked["epsilon"]), 1e-6
    if asked["guarantee"] == "strict":
        assert f"|Guaranteed ε {short(total)} for the whole run, δ = 10⁻⁶|" in strip
        assert f"Guaranteed ε = {short(total)} for the whole run" in told(app, "html")
        assert f"\nGuaranteed ε = {short(total)}, δ = 10⁻⁶\n" in printed
        assert tiles["Guaranteed ε"] == short(total)
        assert record["guaranteed_epsilon"] == total
        assert record["proven"] == kept["proven"] == {"epsilon": total, "delta": delta}
        assert "|Guaranteed ε|1|1|" in strip
    else:
        claimed, proven = result.claimed.epsilon, sum(c.epsilon for c in result.ledger)
        assert f"|ε per round {short(total)} published|" in strip
        for name, value in (("Claimed ε", claimed), ("Proven ε", result.proven.epsilon)):
            assert f"|{name}|{short(value)}|" in strip
            assert f"|{name}|{short(value)}|{short(value)}|" in strip
            assert tiles[name] == short(value)
            assert f"\n{name} = {short(value)}, δ = " in printed
            assert f"{name} = {short(value)}" in told(app, "html")
        assert record["claimed"]["epsilon"] == pytest.approx(claimed, rel=1e-4)
        assert record["guaranteed_epsilon"] is None
        assert result.proven.epsilon <= proven
    assert "≥" not in written
    assert '"delta": 1e-06' in written

    # Formats, in everything but code and fields.
    said = told(app, "html", "caption", "markdown") + " ".join(tiles.values()) + printed
    assert not re.findall(FORMATS, re.sub(r"<style>.*?</style>|<[^>]+>", " ", said, flags=re.S))

"""The documents show the numbers that scripts print and benchmarks measured."""

import json
import re
from pathlib import Path

from benchmarks import calibration, effects, f1, knowledge, null
from benchmarks.kept import lines
from benchmarks.knowledge import FALSE, FALSE_ORIENTS, NONE, summary
from benchmarks.written import between
from engine.data.networks import NETWORKS
from engine.knowledge import FULL, ORIENTS
from pages.forms import known as page
from scripts import counterexamples, form_costs

DOC = Path(__file__).resolve().parents[2] / "research" / "theory" / "privacy_proofs.md"


def test_the_document_states_the_scripts_output(capsys):
    counterexamples.main()
    printed = capsys.readouterr().out
    text = DOC.read_text(encoding="utf-8")
    body, block = text.split("```text\n")
    assert block.removesuffix("```\n") == printed
    # and the text above the block, the guarantees' page and the algorithms' quote from it
    for named in (DOC.with_name("privacy.md"), *DOC.parents[1].glob("algorithms/*.md")):
        body += named.read_text(encoding="utf-8")
    quoted = set(re.findall(r"\d+\.\d+(?:e-\d+)?", printed)) & set(
        re.findall(r"\d+\.\d+(?:e-\d+)?", body)
    )
    assert len(quoted) > 20


def test_the_table_of_what_the_form_costs_is_the_scripts():
    """All networks have a line; those that take seconds are computed again."""
    table = DOC.read_text(encoding="utf-8").split(form_costs.START)[1].split(form_costs.END)[0]
    lines = {row.split("|")[1].strip(): row for row in table.splitlines()[2:]}
    assert set(lines) == set(NETWORKS)
    for network in ("asia", "cancer", "child", "earthquake", "sachs", "survey"):
        assert lines[network] == form_costs.line(network)


def test_the_picture_of_knowledge_is_what_was_measured():
    """The same numbers give the same file."""
    drawn = knowledge.PICTURE.read_text(encoding="utf-8")
    assert drawn == knowledge.picture(knowledge.kept())


def test_the_page_tells_what_a_false_tier_was_measured_to_do():
    means = knowledge.kept()
    table = summary(means[(means["algorithm"] == knowledge.OURS) & (means["epsilon"] == 1.0)])
    rows = table.set_index("knowledge")
    for kind, use in ((NONE, "none"), (FALSE, FULL), (FALSE_ORIENTS, ORIENTS)):
        assert page.WRONG[use] == round(100 * float(rows["wrong arrows"][kind]))
    assert round(100 * float(rows["Δ skeleton"][FALSE].split()[0])) == -page.LOST
    assert float(rows["Δ skeleton"][FALSE_ORIENTS].split()[0]) == 0.0


def test_tables_are_what_was_measured():
    """Those that commands write between two marks, from benchmarks/results."""
    found = null.kept()
    for key, path in null.WRITTEN.items():
        assert between(path, null.MARK) == null.table(found[key])
    measured = json.loads(calibration.KEPT.read_text(encoding="utf-8"))
    assert between(calibration.DOC, calibration.MARK) == calibration.table(measured)
    kept = lines(effects.KEPT)
    for kind, write in (("effects", effects.effects_table), ("combined", effects.combined_table)):
        rows = [row for row in kept if row["kind"] == kind]
        assert between(effects.DOC, f"benchmarks.effects {kind}") == write(rows)
    means = knowledge.kept()
    for mark in knowledge.TABLES:
        assert between(knowledge.DOC, mark) == knowledge.written(mark, means)
    runs = f1.kept()
    for mark, (name, write) in f1.TABLES.items():
        assert between(f1.RESEARCH / name, mark) == write(runs)

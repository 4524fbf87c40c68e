"""docs/privacy.md states what scripts/counterexamples.py prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts import counterexamples

DOC = Path(__file__).resolve().parents[2] / "docs" / "privacy.md"


def test_the_document_states_the_scripts_output(capsys: pytest.CaptureFixture[str]) -> None:
    counterexamples.main()
    printed = capsys.readouterr().out
    text = DOC.read_text(encoding="utf-8")
    body, block = text.split("```text\n")
    assert block.removesuffix("```\n") == printed
    # and the text above the block quotes from it
    quoted = set(re.findall(r"\d+\.\d+(?:e-\d+)?", printed)) & set(
        re.findall(r"\d+\.\d+(?:e-\d+)?", body)
    )
    assert len(quoted) > 20

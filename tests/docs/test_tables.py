"""The table of files and frames is what is read today, whichever way a change goes."""

from __future__ import annotations

from scripts import tables


def test_the_table_of_files_and_frames_is_the_scripts() -> None:
    said = tables.DOC.read_text(encoding="utf-8").split(tables.START)[1].split(tables.END)[0]
    assert said.splitlines() == tables.table().splitlines()
    assert len(said.splitlines()) > 60
    assert "Error" not in said

"""The server that ``make app`` starts: its first document says what is coming."""

from __future__ import annotations

from pathlib import Path

from streamlit import file_util

from scripts.serve import ROOT_OF_PAGE, WAITING, link_static


def test_the_first_document_has_words_and_all_of_streamlits_files(tmp_path: Path) -> None:
    link_static(tmp_path)
    own = Path(file_util.get_static_dir())
    assert {p.name for p in tmp_path.iterdir()} == {p.name for p in own.iterdir()}
    before, after = ((d / "index.html").read_text(encoding="utf-8") for d in (own, tmp_path))
    assert before.count(ROOT_OF_PAGE) == 1
    assert WAITING in after
    assert "<title>DP Causal Explorer</title>" in after
    assert (
        len(after) - len(before) == len(WAITING) - len(ROOT_OF_PAGE) + len("DP Causal Explorer") - 9
    )
    script = before.split('src="./')[1].split('"')[0]
    assert (tmp_path / script).read_bytes() == (own / script).read_bytes()

"""The Containerfile says what its how-to promises; ``scripts.container`` runs its steps."""

from __future__ import annotations

import json
from pathlib import Path

from scripts.container import ROOT, copy, one, stages, steps

TEXT = (ROOT / "Containerfile").read_text(encoding="utf-8")


def test_the_image_is_nobodys_with_a_check_and_places_of_its_own() -> None:
    made, last = stages(steps(TEXT))
    uid, gid = map(int, one(last, "USER").split(":"))
    assert uid > 1000 < gid
    check = json.loads(one(last, "HEALTHCHECK").partition("CMD ")[2])
    assert (ROOT / check[-1]).exists()
    command = json.loads(one(last, "CMD"))
    assert command[command.index("--server.port") + 1] == one(last, "EXPOSE")
    assert f"DP_CAUSAL_EXPLORER_HOME={one(last, 'VOLUME')}" in one(last, "ENV")
    assert any("engine warm" in step.rest for step in made if step.word == "RUN")
    assert not [step for step in last if step.word == "RUN"]  # nothing is written after the warm-up


def test_what_is_copied_is_there_and_what_the_server_needs_is_copied(tmp_path: Path) -> None:
    made, _ = stages(steps(TEXT))
    for step in made:
        if step.word == "COPY":
            copy(step, tmp_path)
    found = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    for needed in (
        *("app.py", "asgi.py", "scripts/serve.py", "scripts/healthy.py", "requirements.txt"),
        *("pages/host/gate.py", "engine/registry.py", ".streamlit/config.toml"),
        *("sample_data/networks/asia.json", "static/vis/vis-network.min.js"),
    ):
        assert needed in found, needed
    assert not [name for name in found if name.endswith((".db", "secrets.toml", ".nbc"))]


def test_variables_are_the_programs_own() -> None:
    """A name that nothing reads would leave people without folders."""
    read = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "pages" / "host").glob("*.py"))
    for place in ("Containerfile", "deploy/dp-causal-explorer.service", "docs/how-to/host.md"):
        text = (ROOT / place).read_text(encoding="utf-8")
        words = text.replace("=", " ").replace("`", " ").split()
        named = {word for word in words if word.startswith("DP_CAUSAL_EXPLORER_")}
        assert named
        assert all(f'"{name}"' in read for name in named), (place, named)

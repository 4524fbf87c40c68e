"""The image and the compose file: the files they copy exist, and their settings are read."""

import json
import re
import subprocess
from pathlib import Path

import yaml

from pages import mode

ROOT = Path(__file__).resolve().parents[1]
IMAGE = (ROOT / "deploy" / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ")
COMPOSE = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text(encoding="utf-8"))


def test_the_image_has_what_the_server_needs_and_is_public():
    listed = subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).splitlines()
    lines = re.findall(r"^COPY (?!--)(.*)", IMAGE, re.M)
    sources = [word for line in lines for word in line.split()[:-1]]
    for source in sources:
        assert any(name == source or name.startswith(f"{source}/") for name in listed), source
    for needed in ("app.py", "scripts/serve.py", "engine", "pages", "static", "sample_data"):
        assert needed in sources
    assert f"{mode.PUBLIC}=1" in IMAGE
    uid, gid = map(int, re.findall(r"^USER (\d+):(\d+)", IMAGE, re.M)[0])
    assert uid > 1000 < gid
    command = json.loads(re.findall(r"^ENTRYPOINT (.*)", IMAGE, re.M)[0])
    assert command[command.index("--server.port") + 1] in re.findall(r"^EXPOSE (\d+)", IMAGE, re.M)


def test_only_the_public_server_is_reached_from_elsewhere():
    """The others are one person's, with a volume and a port of their own."""
    services = dict(COMPOSE["services"])
    public = services.pop("public")
    assert mode.PUBLIC not in public.get("environment", {})  # as the image has it
    ports, volumes = [], []
    for one in services.values():
        assert one["environment"] == {mode.PUBLIC: "0"}
        assert one["command"] == ["--trusted", "--token"]
        ports += [port for port in one["ports"] if port.startswith("127.0.0.1:")]
        volumes += one["volumes"]
    assert len(set(ports)) == len(set(volumes)) == len(services) >= 2
    assert {volume.partition(":")[0] for volume in volumes} == set(COMPOSE["volumes"])


def test_variables_in_documents_are_the_programs_own():
    paths = [*(ROOT / "engine").rglob("*.py"), *(ROOT / "pages").rglob("*.py")]
    code = "".join(path.read_text(encoding="utf-8") for path in paths)
    for place in ("deploy/Containerfile", "deploy/compose.yaml", "docs/guide/host.md"):
        named = set(re.findall(r"DP_CAUSAL_EXPLORER_\w+", (ROOT / place).read_text("utf-8")))
        assert named
        assert all(f'"{name}"' in code for name in named), (place, named)


def test_pins_are_a_name_and_a_version():
    for path in (ROOT / "requirements").glob("*.txt"):
        for line in path.read_text(encoding="utf-8").splitlines():
            assert re.fullmatch(r"#.*|-r app\.txt|[\w.-]+==[\w.]+", line), (path.name, line)

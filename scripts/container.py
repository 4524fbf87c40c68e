"""Run the Containerfile's steps where no container can be built: ``python -m scripts.container``.

Needs root on Linux. The steps are made in a fresh folder that stands at /app in a mount namespace,
from the files that git knows; then the server runs as the image says: its user, its environment, a
root that cannot be written to, /tmp and /data of its own and, unlike a container, no network at
all. Printed: seconds until it is healthy, until a visitor's page is there, memory, and its end.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
APP, PATIENCE = Path("/app"), 180.0
VISIT = """
import asyncio, sys
sys.path.insert(0, {root!r})
from benchmarks.visitor import Visitor
async def main():
    async with Visitor("http://127.0.0.1:8501", "run") as visitor:
        print(await visitor.until(lambda v: "headline" in "".join(v.texts("html"))))
asyncio.run(main())
"""


@dataclass(frozen=True)
class Step:
    """One instruction: its word, and what follows it."""

    word: str
    rest: str


def steps(text: str) -> list[Step]:
    """The instructions of a Containerfile, lines joined."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    return [Step(*line.split(None, 1)) for line in joined.splitlines()]


def stages(found: list[Step]) -> list[list[Step]]:
    """The steps after each FROM."""
    starts = [i for i, step in enumerate(found) if step.word == "FROM"]
    return [found[a + 1 : b] for a, b in zip(starts, [*starts[1:], len(found)], strict=True)]


def one(stage: list[Step], word: str) -> str:
    """What the stage's only instruction of that word says."""
    (found,) = [step.rest for step in stage if step.word == word]
    return found


def copy(step: Step, into: Path) -> None:
    """COPY of files that git knows."""
    *sources, target = shlex.split(step.rest)
    for source in sources:
        place = into / target
        listed = subprocess.check_output(["git", "ls-files", "--", source], cwd=ROOT, text=True)
        if not listed:
            raise SystemExit(f"COPY {source}: git knows no such file.")
        for name in listed.splitlines():
            inner = Path(name).relative_to(source) if Path(ROOT / source).is_dir() else name
            to = place / (inner if (ROOT / source).is_dir() else Path(name).name)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to)


def make(stage: list[Step]) -> None:
    """The first stage's COPY and RUN, at /app."""
    for step in stage:
        start = time.monotonic()
        if step.word == "COPY":
            copy(step, APP)
        elif step.word == "RUN":
            path = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
            subprocess.run(["sh", "-c", step.rest], cwd=APP, check=True, env={**os.environ, **path})
            print(f"{time.monotonic() - start:7.1f} s  RUN {step.rest[:70]}", flush=True)


def serve(stage: list[Step]) -> None:
    """Run the last stage and look at it."""
    uid, _, gid = one(stage, "USER").partition(":")
    _mount_for(int(uid), int(gid))
    said = dict(part.split("=", 1) for part in shlex.split(one(stage, "ENV")))
    env = {"PATH": "/usr/bin:/bin", **said}
    check = json.loads(one(stage, "HEALTHCHECK").partition("CMD ")[2])
    who = ["setpriv", "--reuid", uid, "--regid", gid, "--clear-groups", "--"]
    start = time.monotonic()
    server = subprocess.Popen([*who, *json.loads(one(stage, "CMD"))], cwd=APP, env=env)
    while subprocess.run([*who, *check], cwd=APP, env=env).returncode:
        if server.poll() is not None or time.monotonic() - start > PATIENCE:
            raise SystemExit("The server did not become healthy.")
        time.sleep(0.2)
    print(f"{time.monotonic() - start:7.1f} s  until it was healthy", flush=True)
    visit = [sys.executable, "-c", VISIT.format(root=str(ROOT))]
    seconds = subprocess.check_output(visit, text=True, env={**os.environ, "HOME": "/tmp"}).strip()
    print(f"{float(seconds):7.1f} s  until a visitor had a page with a run on it")
    status = Path(f"/proc/{server.pid}/status").read_text(encoding="ascii").splitlines()
    rss = next(line for line in status if line.startswith("VmRSS")).split()[1]
    print(f"{int(rss) / 1000:7.0f} MB of memory")
    start = time.monotonic()
    server.send_signal(signal.SIGTERM)
    status_at_end = server.wait(60)
    print(f"{time.monotonic() - start:7.1f} s  until it ended, status {status_at_end}")


def _mount_for(uid: int, gid: int) -> None:
    """A root that cannot be written to, with /tmp and /data of the user's own."""
    for place in ("/tmp", "/data", "/dev/shm"):
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"uid={uid},gid={gid},mode=700", "tmpfs", place],
            check=True,
        )
    for place in ("/app", "/"):
        subprocess.run(["mount", "-o", "remount,ro,bind", place], check=True)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=False)


def main() -> None:
    """Everything in a folder that goes away; the second call is inside the namespace."""
    first, *_, last = stages(steps((ROOT / "Containerfile").read_text(encoding="utf-8")))
    if len(sys.argv) > 1:
        APP.chmod(0o755)
        (make(first) if sys.argv[1] == "make" else serve(last))
        return
    places = [place for place in (APP, Path("/data")) if not place.exists()]
    with tempfile.TemporaryDirectory(prefix="container-") as folder:
        for place in places:
            place.mkdir()
        try:
            for word, net in (("make", []), ("serve", ["--net"])):
                again = shlex.join([sys.executable, "-m", "scripts.container", word])
                inside = f"mount --make-rprivate / && mount --bind {folder} {APP} && exec {again}"
                apart = ["unshare", "--mount", *net, "sh", "-c", inside]
                subprocess.run(apart, check=True, cwd=ROOT)
        finally:
            for place in places:
                place.rmdir()


if __name__ == "__main__":
    main()

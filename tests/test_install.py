"""The installer: uv where it can be had, the same pins by pip where it cannot."""

import pytest

from scripts import install


@pytest.fixture
def said(monkeypatch, tmp_path):
    """Commands that would be run; each succeeds unless it begins with what is in ``refuse``."""
    commands = []

    def run(command, *args, **options):
        commands.append([str(part) for part in command])
        return " "

    monkeypatch.setattr(install, "run", run)
    monkeypatch.setattr(install, "fetched", lambda place: None)
    return commands


def test_uv_takes_the_same_pins_and_pips_indexes(said, monkeypatch, tmp_path):
    monkeypatch.setattr(install.shutil, "which", lambda name: "/bin/uv")
    monkeypatch.setattr(install, "configured", lambda: {"PIP_INDEX_URL": "file:///here"})
    assert install.environment()["UV_DEFAULT_INDEX"] == "file:///here"
    install.main(tmp_path / "env", ["requirements.txt"])
    assert [c[:2] for c in said] == [["/bin/uv", "venv"], ["/bin/uv", "pip"]]
    assert said[1][-2:] == ["-r", "requirements.txt"]


def test_pip_takes_over_where_uv_fails_or_is_not_there(said, monkeypatch, tmp_path):
    monkeypatch.setattr(install.shutil, "which", lambda name: None)
    install.main(tmp_path / "env", ["a.txt", "b.txt"])
    assert said[-1][1:4] == ["-m", "pip", "install"]
    assert said[-1][-4:] == ["-r", "a.txt", "-r", "b.txt"]
    monkeypatch.setattr(install.shutil, "which", lambda name: "/bin/uv")
    monkeypatch.setattr(install, "with_uv", lambda *given: False)
    said.clear()
    install.main(tmp_path / "env", ["a.txt"])
    assert said[-1][1:4] == ["-m", "pip", "install"]


def test_pips_own_settings_are_read(monkeypatch):
    listed = "global.index-url='file:///a'\n:env:.extra-index-url='file:///b'\nglobal.cert='c'\n"
    monkeypatch.setattr(install, "run", lambda *given, **options: listed)
    assert install.configured() == {
        "PIP_INDEX_URL": "file:///a",
        "PIP_EXTRA_INDEX_URL": "file:///b",
    }

"""The mutation runner on a small module: which faults it plants, and which are seen."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.mutate import drawn, faults

ROOT = Path(__file__).resolve().parent.parent
TOY = '''"""A toy."""
from dataclasses import dataclass, field

LIMIT = 10
PRICES = {"box": 2}

@dataclass
class Bag:
    size: int = field(default=6, metadata={"most": 8})

class Box:
    most = 3

    @property
    def full(self):
        return self.most >= LIMIT

def clipped(x, low=0.5):
    """At least low."""
    return max(x, low)
'''
TESTS = """from dataclasses import fields
from toy import PRICES, Bag, Box, clipped

def test_bag():
    assert (Bag().size, fields(Bag)[0].metadata["most"]) == (6, 8)

def test_prices():
    assert PRICES == {"box": 2}

def test_box():
    assert not Box().full
    Box.most = 10
    assert Box().full
    Box.most = 3

def test_clipped():
    assert clipped(0.2) == 0.5
"""
PLANTED = {
    ("", "10", "11"),
    ("", "2", "3"),
    ("Bag", "6", "7"),
    ("Bag", "8", "9"),
    ("Box", "3", "4"),
    ("Box.full", "return self.most >= LIMIT", "return None"),
    ("Box.full", "self.most >= LIMIT", "self.most > LIMIT"),
    ("Box.full", "self.most >= LIMIT", "self.most < LIMIT"),
    ("clipped", "0.5", "0.45"),
    ("clipped", "return max(x, low)", "return None"),
    ("clipped", "max", "min"),
}


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    (tmp_path / "test_toy.py").write_text(TESTS)
    path = tmp_path / "toy.py"
    path.write_text(TOY)
    return path


def test_faults_are_changed_nodes_and_no_documentation(toy: Path) -> None:
    assert {(f.function, f.was, f.now) for f in faults(toy)} == PLANTED


def test_faults_are_drawn_in_every_function_by_a_seed(toy: Path) -> None:
    every = list(faults(toy))
    some = [drawn(every, 1, seed) for seed in (0, 0, 1, 2, 3, 4)]
    assert some[0] == some[1]
    assert len({tuple(f.now for f in one) for one in some}) > 1
    assert all(
        [f.function for f in one] == ["", "Bag", "Box", "Box.full", "clipped"] for one in some
    )
    assert drawn(every, 99, 0) == every


def test_what_no_test_sees_is_printed(toy: Path) -> None:
    """Everything is seen but that ``most`` is 3: the tests ask for less than 10 alone."""
    done = subprocess.run(
        [sys.executable, "-m", "scripts.mutate", "toy.py", "--tests", "test_toy.py"],
        cwd=toy.parent,
        env=os.environ | {"PYTHONPATH": f"{ROOT}:{toy.parent}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == ["toy.py: 1 of 11 faults passed"]
    assert done.stderr.splitlines() == ["toy.py:12 Box: 3  ->  4"]

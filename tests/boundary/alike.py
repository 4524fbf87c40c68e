"""What is around a run on own data made the same twice: its answers, its name, a release's noise.

The first of two visits is recorded, and the second is given the recording: whatever still differs
between two files that differ in one record was told by that record.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import sys
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np

from engine import runner
from engine.audit.instrumented import Instrumented
from engine.data import dataset
from engine.data.schema import Column, Schema
from engine.privacy.sources import Hardened, Released, Replay
from engine.randomness import Randomness
from engine.release import budget

YES = ("no", "yes")
SCHEMA = Schema(
    (
        Column(name="smoker", type="ordered", levels=YES, other="no"),
        Column(name="cough", type="ordered", levels=YES, other="no"),
        Column(name="kind", type="unordered", levels=("x", "y", "rest"), other="rest"),
        Column(name="age", type="numeric", bounds=(0, 100), bins=4, other="level"),
    )
)
DECLARED = json.dumps(SCHEMA.to_json())
ODD = ("=1+1", "x" * 10_000, "\u202ey\n", "1e308")  # in the place of the record that is replaced


def table(place: int, record: tuple[str, ...] | None, n: int = 300) -> bytes:
    """A chain of columns as CSV, one record of it replaced where ``record`` is given."""
    rng = np.random.default_rng(1)
    a = rng.integers(0, 2, n)
    b = np.where(rng.random(n) < 0.85, a, 1 - a)
    c = np.where(rng.random(n) < 0.85, b, 1 - b)
    age = np.round(rng.normal(50, 10, n) + 8 * c, 1)
    cells = zip(a, b, c, age, strict=True)
    rows = [(YES[i], YES[j], "xy"[k], str(x)) for i, j, k, x in cells]
    if record is not None:
        rows[place] = record  # type: ignore[assignment]
    out = io.StringIO()
    csv.writer(out).writerows([SCHEMA.names, *rows])
    return out.getvalue().encode()


class Twice:
    """Two visits; ``with twice.visit():`` once for each."""

    def __init__(self) -> None:
        self._runs: dict[str, list[Instrumented]] = defaultdict(list)
        self._tables: list[Released] = []
        self._visits = 0

    @contextmanager
    def visit(self) -> Iterator[None]:
        """What is run or released inside is recorded, or given the answers of the first visit."""
        first, self._visits = self._visits == 0, self._visits + 1
        met, tables, fresh = Counter[str](), iter(self._tables), Hardened.gaussian
        words = map("{:032x}".format, itertools.count(1))
        # The dataset's alone: numba names the files of its cache by uuid4, too, once a kernel.
        names = SimpleNamespace(uuid4=lambda: uuid.UUID(next(words)))
        ids = SimpleNamespace(token_hex=lambda size: next(words)[-2 * size :])  # of charges

        def doors(seed: Any) -> Randomness:
            asked = sys._getframe(1).f_locals  # the runner's: of which data, and of which algorithm
            key, data = asked["key"], asked["data"]
            if data.public:
                return Randomness(seed)
            at = met[key]
            met[key] += 1
            script = None if first else self._runs[key][at].answers
            found = Instrumented(0, script)
            if first:
                self._runs[key].append(found)
            return found

        def drawn(source: Hardened, *asked: Any) -> Any:
            if first:
                found = fresh(source, *asked)
                self._tables.append(source.given_out[-1])
                return found
            source.given_out.append(next(tables))
            return Replay(source.given_out[-1:]).gaussian(*asked)

        with (
            mock.patch.object(runner, "Randomness", doors),
            mock.patch.object(Hardened, "gaussian", drawn),
            mock.patch.object(dataset, "uuid", names),
            mock.patch.object(budget, "secrets", ids),
        ):
            yield

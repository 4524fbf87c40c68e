"""What a study asks for: datasets, algorithms, an ε grid, seeds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine import InputError
from engine.errors import show
from engine.privacy.budget import PUBLISHED, STRICT
from engine.registry import ALGORITHMS, algorithm, declared
from pages.shell.settings import Source, fits

MOST_CELLS = 50_000


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What a study asks for. ``params`` are set for every algorithm that declares them."""

    sources: tuple[Source, ...]
    algorithms: tuple[str, ...]
    epsilons: tuple[float, ...]
    seeds: int
    params: tuple[tuple[str, Any], ...] = ()
    known: str = ""  # a word of pages.shell.settings.said

    @property
    def own(self) -> bool:
        """Whether a person's own data are among the datasets."""
        return any(s.own for s in self.sources)

    def parameters(self) -> dict[str, Any]:
        """The grid, without what none of the algorithms declares."""
        grid: dict[str, Any] = {"epsilon": list(self.epsilons), **dict(self.params)}
        known = declared(self.algorithms)
        return {name: value for name, value in grid.items() if name in known}

    def joined(self, other: Wanted) -> Wanted | None:
        """What asks for all that either asks for; None where parameters or what is known differ."""
        if (dict(self.params), self.known) != (dict(other.params), other.known):
            return None
        return Wanted(
            sources=tuple(dict.fromkeys((*self.sources, *other.sources))),
            algorithms=tuple(dict.fromkeys((*self.algorithms, *other.algorithms))),
            epsilons=tuple(sorted({*self.epsilons, *other.epsilons})),
            seeds=max(self.seeds, other.seeds),
            params=self.params,
            known=self.known,
        )

    def as_json(self) -> dict[str, Any]:
        """What a file keeps of it."""
        return {
            "sources": [[s.name, s.n, s.seed] for s in self.sources],
            "algorithms": list(self.algorithms),
            "epsilons": list(self.epsilons),
            "seeds": self.seeds,
            "params": dict(self.params),
            **({"known": self.known} if self.known else {}),
        }

    @classmethod
    def from_json(cls, spec: Mapping[str, Any]) -> Wanted:
        """Read it back; raises InputError for anything else."""
        try:
            return cls(
                sources=tuple(Source(str(a), int(n), int(s)) for a, n, s in spec["sources"]),
                algorithms=tuple(map(str, spec["algorithms"])),
                epsilons=tuple(map(float, spec["epsilons"])),
                seeds=int(spec["seeds"]),
                params=tuple(dict(spec["params"]).items()),
                known=str(spec.get("known", "")),
            )
        except (KeyError, TypeError, ValueError, OverflowError):
            raise InputError("The file does not say what the study asked for.") from None


def check(wanted: Wanted) -> None:
    """Raise InputError in one sentence for what the engine would say in general terms only."""
    if not wanted.sources:
        raise InputError("Choose at least one dataset.")
    if not wanted.algorithms:
        raise InputError("Choose at least one algorithm.")
    if wanted.seeds < 1:
        raise InputError("Choose at least one seed.")
    guarantee = dict(wanted.params).get("guarantee")
    for key in wanted.algorithms:
        for spec in algorithm(key).params.specs():
            if spec.name == "guarantee" and guarantee and not fits(spec, guarantee):
                form = guarantee if guarantee in (STRICT, PUBLISHED) else show(guarantee)
                raise InputError(
                    f"{ALGORITHMS[key].title} has no {form} form: choose the other guarantee "
                    "or leave it out."
                )
    per_dataset = wanted.seeds * len(wanted.algorithms) * max(1, len(wanted.epsilons))
    if len(wanted.sources) * per_dataset > MOST_CELLS:
        raise InputError(f"A study here has at most {MOST_CELLS:,} runs; ask for fewer.")


def epsilon_range(low: float, high: float, count: int) -> tuple[float, ...]:
    """``count`` values from low to high, equally far apart on a log axis, in three digits."""
    if not 0 < low <= high:
        raise InputError("The range of ε must start above 0 and end no lower than it starts.")
    if count < 1:
        raise InputError("Ask for at least one ε.")
    points = np.geomspace(low, high, count) if count > 1 else [low]
    return tuple(dict.fromkeys(float(f"{p:.3g}") for p in points))


def epsilon_list(typed: str) -> tuple[float, ...]:
    """Numbers with commas between them."""
    try:
        values = tuple(sorted({float(part) for part in typed.replace(";", ",").split(",")}))
    except ValueError:
        raise InputError(f"Write ε as numbers with commas; {typed!r} is not.") from None
    return values


EXAMPLE = Wanted(
    sources=(Source(),),
    algorithms=("pc", "priv_pc", "svt_pc", "em_pc", "marginal_pc"),
    epsilons=(0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0),
    seeds=5,
    params=(("guarantee", "strict"),),
)

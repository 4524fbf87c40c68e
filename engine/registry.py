"""Every algorithm, one line each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import cast

from engine.algorithm import Algorithm
from engine.compiled import kept
from engine.errors import InputError, did_you_mean, show
from engine.params import Spec

# Each is the key of an algorithm and the name of its module in engine.algorithms.
_KEYS = (
    "pc",
    "priv_pc",
    "svt_pc",
    "em_pc",
    "gauss_pc",
    "curate_pc",
    "marginal_pc",
    "notears",
    "noleaks",
    "curate_notears",
    "gram_notears",
    "anm",
    "auto",
)


class _Registry(Mapping[str, Algorithm]):
    """Key -> algorithm, in the order above; a module is imported when its algorithm is wanted."""

    def __getitem__(self, key: str) -> Algorithm:
        if key not in _KEYS:
            raise KeyError(key)
        return _imported(key)

    def __contains__(self, key: object) -> bool:
        return key in _KEYS

    def __iter__(self) -> Iterator[str]:
        return iter(_KEYS)

    def __len__(self) -> int:
        return len(_KEYS)


@cache
def _imported(key: str) -> Algorithm:
    return cast(Algorithm, import_module(f"engine.algorithms.{key}").ALGORITHM)


ALGORITHMS: Mapping[str, Algorithm] = _Registry()


def declared(keys: Iterable[str]) -> dict[str, Spec]:
    """Every parameter of the algorithms by name, the first declaration of each."""
    specs: dict[str, Spec] = {}
    for key in keys:
        for spec in algorithm(key).params.specs():
            specs.setdefault(spec.name, spec)
    return specs


def algorithm(key: str) -> Algorithm:
    """The registered algorithm; an unknown key raises InputError and names a near match."""
    if key not in ALGORITHMS:
        raise InputError(
            f"There is no algorithm {show(key)}; there are {', '.join(ALGORITHMS)}."
            f"{did_you_mean(key, ALGORITHMS)}"
        )
    return ALGORITHMS[key]


def slow(key: str) -> int:
    """Seconds that the algorithm's kernels must first be compiled for, 0 where that is little."""
    if key not in ("marginal_pc", "auto"):
        return 0  # the others' take a few seconds
    from engine.marginals.kernels import tests

    return 0 if kept(tests) else 20

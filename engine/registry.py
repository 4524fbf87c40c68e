"""Every algorithm, one line each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import cast

from engine.algorithm import Algorithm
from engine.compiled import is_compiled
from engine.errors import InputError, did_you_mean, show
from engine.params import Spec

# The key of each algorithm, which is the name of its module in engine.algorithms, and its title:
# a menu shows them all and imports none (tests/contract/test_algorithms.py compares).
TITLES = {
    "pc": "PC (no privacy)",
    "priv_pc": "Priv-PC",
    "svt_pc": "SVT-PC",
    "em_pc": "EM-PC",
    "gauss_pc": "Sub-sampled Gaussian PC",
    "curate_pc": "CURATE",
    "marginal_pc": "Marginal PC",
    "notears": "NOTEARS (no privacy)",
    "noleaks": "NOLEAKS",
    "curate_notears": "CURATE (score-based)",
    "gram_notears": "Gram-NOTEARS",
    "anm": "Additive-noise pairs",
    "auto": "Automatic choice",
}
NON_PRIVATE = ("pc", "notears")
GRAPHS = tuple(key for key in TITLES if key != "anm")  # what takes any number of columns


class _Registry(Mapping[str, Algorithm]):
    """Key -> algorithm, in the order above; a module is imported when its algorithm is wanted.

    Examples:
        >>> from engine import ALGORITHMS
        >>> ALGORITHMS["priv_pc"].params.build({"epsilon": 2.0}).epsilon
        2.0
    """

    def __getitem__(self, key: str) -> Algorithm:
        if key not in TITLES:
            raise KeyError(key)
        return cast(Algorithm, import_module(f"engine.algorithms.{key}").ALGORITHM)

    def __contains__(self, key: object) -> bool:
        return key in TITLES

    def __iter__(self) -> Iterator[str]:
        return iter(TITLES)

    def __len__(self) -> int:
        return len(TITLES)


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
    if not isinstance(key, str) or key not in ALGORITHMS:
        named = key if isinstance(key, str) else type(key)  # a table given first is not shown
        raise InputError(
            f"There is no algorithm {show(named)}; there are {', '.join(ALGORITHMS)}."
            f"{did_you_mean(key, ALGORITHMS)}"
        )
    return ALGORITHMS[key]


def slow(key: str) -> int:
    """Seconds that the algorithm's kernels must first be compiled for, 0 where that is little."""
    if key not in ("marginal_pc", "auto"):
        return 0  # the others' take a few seconds
    from engine.marginals.kernels import tests

    return 0 if is_compiled(tests) else 30

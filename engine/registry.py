"""Every algorithm in one line each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import cast

from engine.algorithm import Algorithm
from engine.compiled import is_compiled
from engine.errors import InputError, did_you_mean, show
from engine.params import Spec

# The key and title of each algorithm; the key is the name of its module in engine.algorithms. Menus
# show all titles without importing the modules (tests/contract/test_algorithms.py compares both).
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
# the algorithms that accept any number of columns
GRAPHS = tuple(key for key in TITLES if key != "anm")


class _Registry(Mapping[str, Algorithm]):
    """Key -> algorithm, in the order above; a module is imported when its algorithm is used.

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
    """Return every parameter of the algorithms by name, with its first declaration."""
    specs: dict[str, Spec] = {}
    for key in keys:
        for spec in algorithm(key).params.specs():
            specs.setdefault(spec.name, spec)
    return specs


def algorithm(key: str) -> Algorithm:
    """Return the registered algorithm, or raise InputError with a near match for an unknown key."""
    if not isinstance(key, str) or key not in ALGORITHMS:
        # a table passed as the first argument is not printed
        named = key if isinstance(key, str) else type(key)
        raise InputError(
            f"There is no algorithm {show(named)}; there are {', '.join(ALGORITHMS)}."
            f"{did_you_mean(key, ALGORITHMS)}"
        )
    return ALGORITHMS[key]


def slow(key: str) -> int:
    """Return the seconds needed to compile the algorithm's kernels first, 0 if that is quick."""
    if key not in ("marginal_pc", "auto"):
        return 0  # the kernels of the others take a few seconds
    from engine.marginals.kernels import tests

    return 0 if is_compiled(tests) else 30

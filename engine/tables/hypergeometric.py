"""Hypergeometric draws, many at a time, in compiled code.

numpy draws the same way (urn for small samples, else Stadlober's 1989 ratio of uniforms HRUA), but
its calls cost more than most draws here. So compiled code calls the generator's own function for
a uniform number, by its address: that call is the one thing numba has no word for, and is written
in its compiler's language (llvmlite, which numba brings and pins).
"""

from __future__ import annotations

import ctypes
import math
from functools import lru_cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from engine.compiled import kernel

Uniforms = tuple[int, int]

# Log-factorials up to here are looked up (8 MB at most); beyond it each is computed.
_LOOKED_UP = 1 << 20


@lru_cache(maxsize=1)  # a run draws thousands of samples from one generator
def uniforms(rng: np.random.Generator) -> Uniforms:
    """Where compiled code finds the generator's uniform numbers: a function's address, its state's.

    To hand numba the generator itself takes 10 microseconds a call, more than most tables' draws.
    The addresses are good as long as the generator lives; its numbers are those of ``rng.random``.
    """
    interface = rng.bit_generator.ctypes
    function = ctypes.cast(interface.next_double, ctypes.c_void_p).value
    assert function is not None
    return function, interface.state_address


def _next_uniform(_: Any, source: Any) -> Any:
    """The call of the function at the first address with the second, for numba's compiler."""

    def call(_: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address, state = (builder.extract_value(arguments[0], i) for i in (0, 1))
        kind = ir.FunctionType(ir.DoubleType(), [address.type])  # double next_double(void *state)
        return builder.call(builder.inttoptr(address, kind.as_pointer()), [state])

    return types.float64(source), call


# The next number between 0 and 1 of `uniforms`, in compiled code.
next_uniform: Any = intrinsic(_next_uniform)


@lru_cache(maxsize=4)
def log_factorials(n: int) -> NDArray[np.float64]:
    """ln(k!) for k = 0..n, or as far as they are looked up."""
    return np.asarray(_log_factorials(min(n, _LOOKED_UP) + 1))


@kernel()
def _log_factorials(size):  # type: ignore[no-untyped-def]
    """By the very function that is called beyond the table: a draw does not depend on its size."""
    out = np.empty(size)
    for k in range(size):
        out[k] = math.lgamma(k + 1.0)
    return out


@kernel()
def split(parts, drawn, source, logs):  # type: ignore[no-untyped-def]
    """Draw ``drawn[i]`` of the items of row i without replacement, for every row.

    ``parts`` (rows, kinds) says how many items of each kind there are; returns how many of each
    were drawn, in the same shape. The kinds are drawn one after the other, each given those before.
    ``source`` is :func:`uniforms`, ``logs`` :func:`log_factorials` of the number of all items.
    """
    out = np.zeros(parts.shape, np.int64)
    for i in range(parts.shape[0]):
        left = drawn[i]
        rest = parts[i].sum()
        for kind in range(parts.shape[1]):
            if left == 0:
                break
            rest -= parts[i, kind]
            out[i, kind] = hypergeometric(parts[i, kind], rest, left, source, logs)
            left -= out[i, kind]
    return out


@kernel()
def hypergeometric(good, bad, sample, source, logs):  # type: ignore[no-untyped-def]
    """How many of ``sample`` items drawn without replacement are good."""
    total = good + bad
    if good == 0 or bad == 0 or sample == total:
        return sample if bad == 0 else good if sample == total else 0
    few, many = min(good, bad), max(good, bad)
    size = min(sample, total - sample)
    if size < 10:
        found = _urn(few, total, size, source)
    else:
        found = _ratio_of_uniforms(few, many, size, source, logs)
    if good > bad:
        found = size - found
    return found if size == sample else good - found


@kernel(inner=True)
def _urn(good, total, size, source):  # type: ignore[no-untyped-def]
    """Item by item."""
    left = good
    for i in range(size):
        if next_uniform(source) * (total - i) < left:
            left -= 1
    return good - left


@kernel(inner=True)
def _ratio_of_uniforms(few, many, size, source, logs):  # type: ignore[no-untyped-def]
    """HRUA with its squeezes; ``few`` <= ``many``, ``size`` at most half of both together."""
    total = few + many
    p = few / total
    mean = size * p
    variance = (total - size) * size * p * (1 - p) / (total - 1)
    width = math.sqrt(variance + 0.5)
    scale = 1.7155277699214135 * width + 0.8989161620588988  # 2 sqrt(2/e), 3 - 2 sqrt(3/e)
    mode = int((size + 1) * (few + 1) / (total + 2))
    top = _log_ways(mode, few, many, size, logs)
    end = min(min(size, few) + 1, math.floor(mean + 0.5 + 16 * width))
    while True:
        u, v = next_uniform(source), next_uniform(source)
        if u == 0.0:
            continue
        x = mean + 0.5 + scale * (v - 0.5) / u
        if x < 0.0 or x >= end:
            continue
        k = int(x)
        t = top - _log_ways(k, few, many, size, logs)
        if u * (4.0 - u) - 3.0 <= t:
            return k
        if u * (u - t) < 1.0 and 2.0 * math.log(u) <= t:
            return k


@kernel(inner=True)
def _log_ways(k, few, many, size, logs):  # type: ignore[no-untyped-def]
    """Minus the log of the probability of k, up to a constant."""
    return (
        _log_factorial(k, logs)
        + _log_factorial(few - k, logs)
        + _log_factorial(size - k, logs)
        + _log_factorial(many - size + k, logs)
    )


@kernel(inner=True)
def _log_factorial(k, logs):  # type: ignore[no-untyped-def]
    return logs[k] if k < logs.size else math.lgamma(k + 1.0)

"""Products, eigenvectors and solutions of small matrices for compiled code.

They call the routines of BLAS and LAPACK that numba's own `@` and `np.linalg` call, with the same
arguments, so the numbers are the same to the last bit. What numba writes around each call (checks
of shapes and layouts with their messages, once a kind of array) takes most of its compiling time,
and is left out: every matrix here is (rows, columns) float64 in C order, and fits.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types

from engine.compiled import kernel

_CHAR, _SIZE, _AT = types.char, types.intp, types.CPointer(types.float64)
_INTEGER = types.CPointer(types.int32)  # LAPACK's own, which numba has checked to be 32 bits wide


def _routine(name: str, *arguments: Any) -> Any:
    """One of numba's routines around BLAS and LAPACK; each returns 0 where all went well."""
    signature: Any = types.intc
    return types.ExternalFunction(name, signature(*arguments))


_dot = _routine("numba_xxdot", _CHAR, _CHAR, _SIZE, _AT, _AT, _AT)
_gemv = _routine(
    "numba_xxgemv", _CHAR, _CHAR, _SIZE, _SIZE, _AT, _AT, _SIZE, _AT, _AT, _AT
)  # fmt: skip
_gemm = _routine(
    "numba_xxgemm", _CHAR, _CHAR, _CHAR, _SIZE, _SIZE, _SIZE, _AT, _AT, _SIZE, _AT, _SIZE, _AT,
    _AT, _SIZE,
)  # fmt: skip
_syevd = _routine("numba_ez_xxxevd", _CHAR, _CHAR, _CHAR, _SIZE, _AT, _SIZE, _AT)
_potrf = _routine("numba_xxpotrf", _CHAR, _CHAR, _SIZE, _AT, _SIZE)
_gesv = _routine("numba_xgesv", _CHAR, _SIZE, _SIZE, _AT, _SIZE, _INTEGER, _AT, _SIZE)
_DOUBLE, _PLAIN, _TURNED, _UPPER, _LOWER, _VECTORS = (ord(c) for c in "dntULV")
_ONE, _ZERO = np.array([1.0]), np.array([0.0])


@kernel("f8[:,::1](i8, i8)")
def blank(rows, columns):  # type: ignore[no-untyped-def]
    """A matrix of zeros."""
    return np.zeros((rows, columns))


@kernel("void(f8[:,::1], f8[::1], f8[::1], b1)")
def apply(a, x, out, turned):  # type: ignore[no-untyped-def]
    """out = a x, or a' x if ``turned``."""
    rows, columns = a.shape
    # BLAS reads columns where the matrix has rows.
    _gemv(
        _DOUBLE, _PLAIN if turned else _TURNED, columns, rows,
        _ONE.ctypes, a.ctypes, columns, x.ctypes, _ZERO.ctypes, out.ctypes,
    )  # fmt: skip


@kernel("f8[:,::1](f8[:,::1], f8[:,::1], b1, b1)")
def product(a, b, turn_a, turn_b):  # type: ignore[no-untyped-def]
    """a b, with a' for a if ``turn_a`` and b' for b if ``turn_b``.

    A single row or column goes to the routine for vectors, as in numba.
    """
    rows, inner = a.shape
    if turn_a:
        rows, inner = inner, rows
    columns = b.shape[0] if turn_b else b.shape[1]
    out = blank(rows, columns)  # which they stay where there is nothing to sum over
    if inner == 0:
        return out
    if columns == 1 and rows == 1:
        _dot(_DOUBLE, 0, inner, a.ctypes, b.ctypes, out.ctypes)
    elif columns == 1:
        apply(a, b.reshape(b.size), out.reshape(out.size), turn_a)
    elif rows == 1:
        apply(b, a.reshape(a.size), out.reshape(out.size), not turn_b)
    else:
        _gemm(
            _DOUBLE, _TURNED if turn_b else _PLAIN, _TURNED if turn_a else _PLAIN,
            columns, rows, inner, _ONE.ctypes, b.ctypes, b.shape[1], a.ctypes, a.shape[1],
            _ZERO.ctypes, out.ctypes, columns,
        )  # fmt: skip
    return out


@kernel("void(f8[:,::1])")
def _finite(a):  # type: ignore[no-untyped-def]
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if not math.isfinite(a[i, j]):
                raise np.linalg.LinAlgError("Array must not contain infs or NaNs.")


@kernel("f8[::1](f8[:,::1])")
def eigen(a):  # type: ignore[no-untyped-def]
    """Eigenvalues of a symmetric matrix, upwards; its rows become their eigenvectors.

    Its lower triangle counts, where rounding has made the two differ.
    """
    _finite(a)
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            a[j, i] = a[i, j]
    w = np.empty(n)
    if n and _syevd(_DOUBLE, _VECTORS, _LOWER, n, a.ctypes, n, w.ctypes):
        raise np.linalg.LinAlgError("The eigenvalues were not found.")
    return w


@kernel("f8[:,::1](f8[:,::1], f8[::1])")
def rebuilt(vectors, w):  # type: ignore[no-untyped-def]
    """The symmetric matrix with the eigenvectors, one a row, and eigenvalues."""
    n = w.size
    scaled = np.empty((n, n))
    for i in range(n):
        for k in range(n):
            scaled[i, k] = vectors[k, i] * w[k]
    return product(scaled, vectors, False, False)


@kernel("void(f8[:,::1])")
def cholesky(a):  # type: ignore[no-untyped-def]
    """A positive definite matrix becomes its upper factor: the transpose of the lower one."""
    n = a.shape[0]
    if _potrf(_DOUBLE, _UPPER, n, a.ctypes, n):
        raise np.linalg.LinAlgError("Matrix is not positive definite.")
    for i in range(n):
        for j in range(i):
            a[j, i], a[i, j] = a[i, j], 0.0


@kernel("void(f8[:,::1], f8[:,::1])")
def solve(upper, b):  # type: ignore[no-untyped-def]
    """Every row r of b becomes x with upper' x = r.

    By the general routine, which pivots: a triangular one would round otherwise.
    """
    _finite(upper)
    _finite(b)
    n = upper.shape[0]
    work, pivots = upper.copy(), np.empty(n, np.int32)
    if _gesv(_DOUBLE, n, b.shape[0], work.ctypes, n, pivots.ctypes, b.ctypes, n):
        raise np.linalg.LinAlgError("Matrix is singular to machine precision.")

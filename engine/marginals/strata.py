"""The evidence for dependence in the whole noisy table of x, y and S, stratum by stratum.

If the tensors of all subsets of {x, y} and S have been released, the covariance of x and y is known
in every cell s of S:

    D_s = E[u_x u_y^T; s] - E[u_x; s] E[u_y; s]^T / P(s).

Under independence every D_s has mean zero, however x and y depend on S. A dependence whose sign
differs between cells does not cancel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.marginals.contrasts import Array, helmert
from engine.marginals.kernels import CLEAR, FLOOR, MANY, log_ratios
from engine.marginals.moments import Moments, subsets

MOST_NUMBERS = 200_000  # in the covariances of the strata
FEWEST = 5.0  # least number of records per stratum


@dataclass(frozen=True)
class Table:
    """Released means of x and y in each of the C cells of S, and the variance of their noise.

    ``value`` (C, r_x, r_y) has the means of 1_s times the constant (index 0) or a contrast of x,
    times the same for y; ``noise`` has the variance of each.
    """

    value: Array
    noise: Array


def table(m: Moments, x: int, y: int, given: Sequence[int]) -> Table:
    """Compute the pair's moments in every cell of the set, from the tensors of all subsets."""
    columns = (x, y, *given)
    shape = [m.cardinalities[i] for i in columns]
    value, noise = np.zeros(shape), np.zeros(shape)
    value[(0,) * len(shape)] = 1.0
    for inside in subsets(columns):
        at = tuple(slice(1, None) if i in inside else 0 for i in columns)
        value[at] = m.tensor_of(*inside)
        noise[at] = m.variance(*inside)
    for axis, i in enumerate(given, start=2):  # from contrasts to levels
        r = m.cardinalities[i]
        basis = np.concatenate([np.full((r, 1), 1 / r), helmert(r)], axis=1)
        value = np.moveaxis(np.tensordot(basis, value, (1, axis)), 0, axis)
        noise = np.moveaxis(np.tensordot(basis**2, noise, (1, axis)), 0, axis)
    return Table(*(np.moveaxis(a.reshape(*shape[:2], -1), 2, 0) for a in (value, noise)))


def fits(levels: Sequence[int]) -> bool:
    """Return True if a test of x, y and S with these numbers of levels is small enough."""
    x, y, *given = levels
    return math.prod(given) * ((x - 1) * (y - 1)) ** 2 <= MOST_NUMBERS


def log_bayes(m: Moments, x: int, y: int, given: Sequence[int], effects: Array) -> float:
    """Return the log Bayes factor of separate dependences in the strata against independence.

    ``effects`` are the prior variances of a partial correlation, equally likely. With ``MANY``
    directions or more, it avoids eigenvectors, which would take most of the time.
    """
    known = table(m, x, y, given)
    p, noise = known.value[:, 0, 0], np.sqrt(known.noise[:, 0, 0])
    kept = p > np.maximum(CLEAR * noise, FEWEST / m.n)
    if not kept.any():
        return 0.0
    strata = Strata(Table(known.value[kept], known.noise[kept]), m.n)
    if strata.found.shape[1] < MANY:
        w, z2 = directions(strata)
        gain = effects[:, None] * w
        logs = 0.5 * (z2 * gain / (1 + gain) - np.log1p(gain)).sum(axis=1)
    else:
        cells = zip(strata.found, strata.covariance, strata.spread, strict=True)
        logs = np.sum([log_ratios(*cell, effects) for cell in cells], axis=0)
    return float(np.logaddexp.reduce(logs)) - math.log(len(effects))


class Strata:
    """The covariances of x and y in C cells, (C, k) with k = (r_x - 1)(r_y - 1).

    ``found`` holds them. ``covariance`` (C, k, k) is their covariance under independence, from
    sampling and from the released noise to first order. ``spread`` is that for a partial
    correlation of variance 1.
    """

    def __init__(self, known: Table, n: int):
        value, noise = known.value, known.noise
        p = value[:, 0, 0]
        mx, my = value[:, 1:, 0] / p[:, None], value[:, 0, 1:] / p[:, None]
        vx, clear_x = _variance(mx, np.sqrt(noise[:, 1, 0]) / p)
        vy, clear_y = _variance(my, np.sqrt(noise[:, 0, 1]) / p)
        joint = value[:, 1:, 1:] - p[:, None, None] * mx[:, :, None] * my[:, None, :]
        self.found = joint.reshape(len(p), -1)
        ix, iy = (np.broadcast_to(np.eye(v.shape[1]), v.shape) for v in (vx, vy))
        xx, yy = mx[:, :, None] * mx[:, None, :], my[:, :, None] * my[:, None, :]
        self.covariance = (
            _kron(p / n, vx, vy)
            + _kron(noise[:, 1, 1], ix, iy)
            + _kron(noise[:, 1, 0], ix, yy)
            + _kron(noise[:, 0, 1], xx, iy)
            + _kron(noise[:, 0, 0], xx, yy)
        )
        self.spread = _kron(p**2, clear_x, clear_y)


def _variance(mean: Array, noise: Array) -> tuple[Array, Array]:
    """Return the covariance (C, k, k) of contrasts with these means, and its part above the noise.

    The means are (C, k). ``noise`` (C,) is the deviation of the noise in a mean.
    """
    r = mean.shape[1] + 1
    h = helmert(r)
    p = np.maximum(1 / r + mean @ h.T, 0.0)
    p /= p.sum(axis=1, keepdims=True)
    m = p @ h
    v = np.einsum("cl,li,lj->cij", p, h, h) - m[:, :, None] * m[:, None, :]
    w, u = np.linalg.eigh(v)
    floor = FLOOR + CLEAR * 2 * noise * np.linalg.norm(m, axis=1)
    clear = np.where(w > floor[:, None], w, 0.0)
    held = np.einsum("cik,ck,cjk->cij", u, np.maximum(w, FLOOR), u)
    return held, np.einsum("cik,ck,cjk->cij", u, clear, u)


def _kron(scale: Array, p: Array, q: Array) -> Array:
    """Return scale * kron(p, q) for every cell; (C, ab, ab)."""
    k = p.shape[1] * q.shape[1]
    out: Array = np.einsum("c,cij,ckl->cikjl", scale, p, q).reshape(len(p), k, k)
    return out


def directions(strata: Strata) -> tuple[Array, Array]:
    """Return the effects' sizes along the null's eigenvectors, and the found values' squares."""
    root = np.linalg.cholesky(strata.covariance)
    half = np.linalg.solve(root, strata.spread)
    inner = np.linalg.solve(root, half.transpose(0, 2, 1))
    w, u = np.linalg.eigh((inner + inner.transpose(0, 2, 1)) / 2)
    found = np.linalg.solve(root, strata.found[:, :, None])[:, :, 0]
    return np.maximum(w, 0.0).ravel(), (np.einsum("cik,ci->ck", u, found) ** 2).ravel()

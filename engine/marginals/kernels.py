"""Compile the test on noisy contrasts: from released tensors to a statistic.

All matrices, including submatrices, are (rows, columns) float64 in C order, so every loop is
compiled for only one set of types. Each function of numpy.linalg and each kind of product is called
in only one place, because numba compiles it for every call.
"""

from __future__ import annotations

import math

import numpy as np

from engine.compiled import kernel

FLOOR = 1e-5  # a smaller variance counts as 0
POSITIVE = 1e-6  # share of the homoscedastic covariance that makes the null's invertible
MANY = 9  # number of directions of R from which a test uses no eigenvectors
CLEAR = 3.0  # deviations of noise within which a variance or a product's effect counts as 0

# Types of values that are passed together; see :func:`tests` and :func:`_gathered`.
_M, _V = "f8[:,::1]", "f8[::1]"
_MOMENTS, _CELLS = f"{_M}, {_M}, {_M}", f"{_M}, {_V}, {_M}, {_M}"
_RELEASED = f"{_V}, {_M}, i8[::1], {_V}, {_M}"
_FEATURES = f"Tuple(({_M}, {_M}, {_M}, i8[::1], {_V}, {_V}, {_M}, f8))"


@kernel("f8[:,::1](i8, i8)")
def _blank(rows, columns):  # type: ignore[no-untyped-def]
    """Return a matrix of zeros."""
    return np.zeros((rows, columns))


@kernel("void(f8[:,::1], f8[::1], f8[::1])")
def _apply(a, x, out):  # type: ignore[no-untyped-def]
    """Write a x to ``out``."""
    np.dot(a, x, out)


@kernel("void(f8[:,::1], f8[::1], f8[::1])")
def _apply_transposed(a, x, out):  # type: ignore[no-untyped-def]
    """Write a' x to ``out``."""
    np.dot(a.T, x, out)


@kernel("f8[:,::1](f8[:,::1], f8[:,::1])")
def _product(a, b):  # type: ignore[no-untyped-def]
    """Return a b."""
    return np.dot(a, b)


@kernel("f8[:,::1](f8[:,::1], f8[:,::1])")
def _crossprod(a, b):  # type: ignore[no-untyped-def]
    """Return a' b."""
    return np.dot(a.T, b)


@kernel("f8[:,::1](f8[:,::1], f8[:,::1])")
def _tcrossprod(a, b):  # type: ignore[no-untyped-def]
    """Return a b'."""
    return np.dot(a, b.T)


@kernel("f8[::1](f8[:,::1])")
def _eigen(a):  # type: ignore[no-untyped-def]
    """Replace a symmetric matrix's rows by its eigenvectors; return its eigenvalues, rising.

    The lower triangle counts if the triangles differ by rounding.
    """
    w, vectors = np.linalg.eigh(a)
    for i in range(w.size):
        for j in range(w.size):
            a[j, i] = vectors[i, j]
    return w


@kernel("f8[:,::1](f8[:,::1], f8[::1])")
def _rebuilt(vectors, w):  # type: ignore[no-untyped-def]
    """Return the symmetric matrix with these eigenvectors, one per row, and eigenvalues."""
    n = w.size
    scaled = np.empty((n, n))
    for i in range(n):
        for k in range(n):
            scaled[i, k] = vectors[k, i] * w[k]
    return _product(scaled, vectors)


@kernel("f8[:,::1](f8[:,::1], f8[:,::1])")
def _solved(lower, b):  # type: ignore[no-untyped-def]
    """Return every row r of ``b`` as x with lower x = r.

    It uses the general routine, which pivots; a triangular solver would round differently.
    """
    return np.linalg.solve(lower, b.T).T.copy()


@kernel("f8[:,::1](f8[:,::1], i8, i8, i8, i8)")
def _piece(matrix, top, bottom, left, right):  # type: ignore[no-untyped-def]
    """Copy some rows and columns."""
    out = _blank(bottom - top, right - left)
    for i in range(bottom - top):
        for j in range(right - left):
            out[i, j] = matrix[top + i, left + j]
    return out


@kernel("void(f8[:,::1], f8[::1], f8[::1])")
def _less_outer(matrix, u, v):  # type: ignore[no-untyped-def]
    """Subtract u v' from the matrix."""
    for i in range(u.size):
        for j in range(v.size):
            matrix[i, j] -= u[i] * v[j]


@kernel("void(f8[:,::1], f8[:,::1])")
def _copy(into, matrix):  # type: ignore[no-untyped-def]
    """Copy entry by entry, because numba's assignment also compiles code for error messages."""
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            into[i, j] = matrix[i, j]


@kernel("void(f8[:,::1], f8[:,::1])")
def _less(matrix, other):  # type: ignore[no-untyped-def]
    """Subtract another matrix."""
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            matrix[i, j] -= other[i, j]


@kernel("void(f8[:,::1], f8, f8[:,::1])")
def _add(matrix, scale, other):  # type: ignore[no-untyped-def]
    """Add scale * other to the matrix."""
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            matrix[i, j] += scale * other[i, j]


@kernel("void(f8[:,::1], f8, f8[:,::1], f8[:,::1])")
def _add_kron(out, scale, p, q):  # type: ignore[no-untyped-def]
    """Add scale * kron(p, q) to ``out``."""
    b, d = q.shape
    for i in range(p.shape[0]):
        for k in range(p.shape[1]):
            for j in range(b):
                for m in range(d):
                    out[i * b + j, k * d + m] += scale * p[i, k] * q[j, m]


@kernel("f8(f8[:,::1], f8)", inline="always")
def _inverted(covariance, ridge):  # type: ignore[no-untyped-def]
    """Invert a covariance in place, its eigenvalues w as w / (w^2 + ridge); return tr(C^-2)."""
    w, second = _eigen(covariance), 0.0
    for i in range(w.size):
        positive = max(w[i], 0.0)
        w[i] = positive / (positive * positive + ridge + 1e-12)
        second += w[i] * w[i]
    _copy(covariance, _rebuilt(covariance, w))
    return second


@kernel("f8[:,::1](f8[:,::1], f8[::1], f8[:,::1], f8[:,::1], f8[:,::1])")
def _regressed(f, g, inverse, b, v):  # type: ignore[no-untyped-def]
    """Return a variable's centred cross moments; fill coefficients b, remove their part from v.

    ``f`` (features, contrasts) holds its cross moments; the first feature is the constant.
    """
    mean, rest = f[0], f[1:].copy()
    _less_outer(rest, g, mean)
    _less_outer(v, mean, mean)
    _copy(b[1:], _product(inverse, rest))
    _apply_transposed(b[1:], g, b[0])
    for i in range(mean.size):
        b[0, i] = mean[i] - b[0, i]
    return rest


@kernel(
    "f8(f8[:,::1], f8[:,::1], f8[:,::1], f8[:,::1], f8[:,::1], f8[:,::1], f8, f8[:,::1],"
    " f8[:,::1], f8[:,::1], f8[:,::1])",
)
def _residual(r, vx, vy, fx, fy, gram, ridge, bx, by, ex, ey):  # type: ignore[no-untyped-def]
    """Turn second moments r, vx, vy into R and both residual covariances; return tr(C^-2).

    Fills both coefficients bx, by and explained covariances ex, ey. The first feature is the
    constant; the others are centred. Directions of their covariance that are mostly noise predict
    nothing (:func:`_inverted`).
    """
    _less_outer(r, fx[0], fy[0])
    if len(fx) == 1:
        _less_outer(vx, fx[0], fx[0])
        _less_outer(vy, fy[0], fy[0])
        _copy(bx, fx)
        _copy(by, fy)
        return 0.0
    g = gram[0, 1:].copy()
    inverse = _piece(gram, 1, len(fx), 1, len(fx))
    _less_outer(inverse, g, g)
    second = _inverted(inverse, ridge)
    cx, cy = _regressed(fx, g, inverse, bx, vx), _regressed(fy, g, inverse, by, vy)
    _copy(ex, _crossprod(cx, bx[1:]))
    _copy(ey, _crossprod(cy, by[1:]))
    _less(r, _crossprod(cx, by[1:]))
    _less(vx, ex)
    _less(vy, ey)
    return second


@kernel("f8[:,::1](f8[:,::1], f8[:,::1], f8[:,::1])")
def _conditional_variances(phi, b, h):  # type: ignore[no-untyped-def]
    """Return the covariance of a variable's contrasts h in every cell, flat; (cells, r * r).

    If their mean is m, the levels have probabilities p = 1/r + h m. The mean is predicted from the
    features of a cell: phi (cells, features) times b.
    """
    levels, size = h.shape
    shares = _tcrossprod(_product(phi, b), h)
    for c in range(len(shares)):
        total = 0.0
        for i in range(levels):
            shares[c, i] = max(1.0 / levels + shares[c, i], 0.0)
            total += shares[c, i]
        for i in range(levels):
            shares[c, i] /= total
    means, out = _product(shares, h), _blank(len(shares), size * size)
    for c in range(len(shares)):
        for i in range(levels):
            for j in range(size):
                weighted = h[i, j] * shares[c, i]
                for k in range(size):
                    out[c, j * size + k] += weighted * h[i, k]
        for j in range(size):
            for k in range(size):
                out[c, j * size + k] -= means[c, j] * means[c, k]
    return out


@kernel("f8[:,::1](f8[:,::1], f8[::1], f8[:,::1], f8[:,::1], f8[:,::1], f8[:,::1])")
def _sampling(phi, p, bx, by, hx, hy):  # type: ignore[no-untyped-def]
    """Return n times R's sampling covariance under independence: E[Var(u_x | S) kron Var(u_y | S)].

    If x and y are rare, both variances are large in the same rare strata, so the product of their
    means would be far too small.
    """
    a, b = bx.shape[1], by.shape[1]
    each_x, each_y = _conditional_variances(phi, bx, hx), _conditional_variances(phi, by, hy)
    for c in range(len(p)):
        for k in range(a * a):
            each_x[c, k] *= p[c]
    products, out = _crossprod(each_x, each_y), _blank(a * b, a * b)
    for i in range(a):
        for k in range(a):
            for j in range(b):
                for m in range(b):
                    out[i * b + j, k * b + m] = products[i * a + k, j * b + m]
    return out


@kernel("f8[:,:,::1](f8[:,::1], i8[::1])")
def _block_grams(b, ends):  # type: ignore[no-untyped-def]
    """Return b_A' b_A for every block A of features."""
    out = np.empty((len(ends), b.shape[1], b.shape[1]))
    start = 0
    for k in range(len(ends)):
        part = b[start : ends[k]]
        _copy(out[k], _crossprod(part, part))
        start = ends[k]
    return out


@kernel("f8[:,::1](f8[:,::1], f8[:,::1], i8[::1], f8, f8[::1], f8[::1], f8, f8, f8[:,::1])")
def _noise(bx, by, ends, direct, noise_x, noise_y, more_x, more_y, cross):  # type: ignore[no-untyped-def]
    """Return R's covariance from the noise of all released tensors in it, to first order.

    R's noise is the sum over features A, B of b_xA' N_AB b_yB, where the contrasts of x and y are
    features with coefficient -1. The N are independent. Their variance is ``noise_x[A]`` for the
    tensor of A and x, ``more_x`` times that along the residual of x, and ``cross[A, B]`` for the
    tensor of A and B.
    """
    a, b = bx.shape[1], by.shape[1]
    gx, gy = _block_grams(bx, ends), _block_grams(by, ends)
    ix, iy, sx, sy = _blank(a, a), _blank(b, b), _blank(a, a), _blank(b, b)
    for i in range(a):
        ix[i, i], sx[i, i] = 1.0, direct
    for j in range(b):
        iy[j, j] = 1.0
    out = _blank(a * b, a * b)
    for k in range(len(ends)):
        _add(sx, more_y * noise_y[k], gx[k])
        _add(sy, more_x * noise_x[k], gy[k])
        row = _blank(b, b)
        for m in range(len(ends)):
            _add(row, cross[k, m], gy[m])
        _add_kron(out, 1.0, gx[k], row)
    _add_kron(out, 1.0, sx, iy)
    _add_kron(out, 1.0, ix, sy)
    return out


@kernel("f8(f8[:,::1], i8[::1], f8[::1], f8[:,::1])")
def _variance_noise(b, ends, noise, cross):  # type: ignore[no-untyped-def]
    """Return the standard deviation of the noise in a residual variance, for its worst contrast.

    V = E[u u^T] - b^T E[phi phi^T] b changes by 2 b_A N_A with the tensor of A and u, and by b_A
    N_AB b_B with that of A and B.
    """
    squares, worst = np.zeros(len(ends)), -np.inf
    for c in range(b.shape[1]):
        start = 0
        for k in range(len(ends)):
            squares[k] = 0.0
            for i in range(start, ends[k]):
                squares[k] += b[i, c] * b[i, c]
            start = ends[k]
        total = 0.0
        for k in range(len(ends)):
            total += 4 * noise[k] * squares[k]
            for m in range(len(ends)):
                total += cross[k, m] * squares[k] * squares[m]
        worst = max(worst, total)
    return math.sqrt(worst)


@kernel("Tuple((f8[:,::1], f8))(f8[:,::1], f8)")
def _positive(v, noise):  # type: ignore[no-untyped-def]
    """Raise v's eigenvalues to a floor; return v with those below it set to 0, and a noise factor.

    A direction without residual variance must not look like evidence, because it cannot be tested.
    The factor says how much larger noise is along the other directions: noisy directions lean
    towards each of the removed ones by up to noise / eigenvalue. It counts twice, because the lean
    of both variables adds up.
    """
    floor = FLOOR + CLEAR * noise
    vectors = v.copy()
    for i in range(len(v)):
        for j in range(len(v)):
            vectors[i, j] = (v[i, j] + v[j, i]) / 2
    w = _eigen(vectors)
    held, left, dropped, least = w.copy(), w.copy(), 0, np.inf
    for i in range(w.size):
        held[i] = max(w[i], floor)
        left[i] = w[i] if w[i] > floor else 0.0
        if w[i] > floor:
            least = min(least, w[i])
        else:
            dropped += 1
    _copy(v, _rebuilt(vectors, held))
    lean = dropped * noise / least
    return _rebuilt(vectors, left), 1.0 + 2.0 * lean * lean


@kernel("f8[:,::1](f8[:,::1])")
def _factor(a):  # type: ignore[no-untyped-def]
    """Return the lower triangular L with L L' = a."""
    return np.linalg.cholesky(a)


@kernel("f8(f8[:,::1], f8[::1])")
def _log_density(covariance, r):  # type: ignore[no-untyped-def]
    """Return the log density of N(0, covariance) at r, up to a constant."""
    lower, total, z = _factor(covariance), 0.0, np.empty(r.size)
    for i in range(r.size):
        left = r[i]
        for j in range(i):
            left -= lower[i, j] * z[j]
        z[i] = left / lower[i, i]
        total -= 0.5 * z[i] * z[i] + math.log(lower[i, i])
    return total


@kernel("f8[::1](f8[::1], f8[:,::1], f8[:,::1], f8[::1])")
def log_ratios(r, covariance, spread, effects):  # type: ignore[no-untyped-def]
    """Return the log likelihood ratio of N(0, C + effect K) to N(0, C) at r; (effects,)."""
    out, null = np.empty(effects.size), _log_density(covariance, r)
    for i in range(effects.size):
        wider = covariance.copy()
        _add(wider, effects[i], spread)
        out[i] = _log_density(wider, r) - null
    return out


@kernel("f8(f8[::1])")
def _log_mean(logs):  # type: ignore[no-untyped-def]
    """Return the log of the mean of exp(logs)."""
    top, total = -np.inf, 0.0
    for i in range(logs.size):
        top = max(top, logs[i])
    for i in range(logs.size):
        total += math.exp(logs[i] - top)
    return top + math.log(total / logs.size)


@kernel("UniTuple(f8, 3)(f8[::1], f8[:,::1], f8[:,::1], f8[::1])")
def _score(r, covariance, spread, effects):  # type: ignore[no-untyped-def]
    """Compute the score statistic for mean 0 against random effects of covariance effect * spread.

    With C the null covariance, K the spread and t_k the trace of (C^-1 K)^k, the statistic Q = r'
    C^-1 K C^-1 r is compared by Satterthwaite's rule: Q t1/t2 with chi-square of t1^2/t2 degrees of
    freedom. The third value is the log Bayes factor of N(0, C + effect K), with equally likely
    effects, against N(0, C). With ``MANY`` directions or more, eigenvectors would take most of the
    time, so the test avoids them.
    """
    t1, t2, q, logs = 0.0, 0.0, 0.0, np.zeros(effects.size)
    if len(r) < MANY:
        w, z2 = _directions(r, covariance, spread)
        for i in range(w.size):
            t1 += w[i]
            t2 += w[i] * w[i]
            q += w[i] * z2[i]
        for k in range(effects.size):
            for i in range(w.size):
                gain = effects[k] * w[i]
                logs[k] += z2[i] * gain / (1 + gain) - math.log1p(gain)
            logs[k] *= 0.5
    else:
        both = _blank(len(r) + 1, len(r))
        _copy(both, spread)
        _copy(both[len(r) :], r.reshape((1, len(r))))
        solved = _solved(covariance, both)  # rows: those of K C^-1, and r' C^-1
        for i in range(len(r)):
            t1 += solved[i, i]
            for j in range(len(r)):
                t2 += solved[i, j] * solved[j, i]
                q += solved[len(r), i] * spread[i, j] * solved[len(r), j]
        logs = log_ratios(r, covariance, spread, effects)
    if t1 <= 0.0:
        return 0.0, 0.0, 0.0
    return q * t1 / t2, t1 * t1 / t2, _log_mean(logs)


@kernel("UniTuple(f8[::1], 2)(f8[::1], f8[:,::1], f8[:,::1])")
def _directions(r, covariance, spread):  # type: ignore[no-untyped-def]
    """Return the spread along the null's eigenvectors, and the squares of r's components there."""
    lower, n = _factor(covariance), len(r)
    half = _solved(lower, _solved(lower, spread.T.copy()).T.copy())
    vectors = _blank(n, n)
    for i in range(n):
        for j in range(n):
            vectors[i, j] = (half[i, j] + half[j, i]) / 2
    w = _eigen(vectors)
    z2 = np.empty(n)
    _apply(vectors, _solved(lower, r.reshape((1, n)))[0], z2)
    for i in range(n):
        w[i], z2[i] = max(w[i], 0.0), z2[i] * z2[i]
    return w, z2


@kernel("f8[:,::1](f8[:,::1], f8[:,::1])")
def _projected(project, matrix):  # type: ignore[no-untyped-def]
    """Return P M P'; if P has no rows, it stands for the identity."""
    if not len(project):
        return matrix
    return _tcrossprod(_product(project, matrix), project)


@kernel("f8[:,::1](f8[:,::1], f8[:,::1])")
def _kron(p, q):  # type: ignore[no-untyped-def]
    out = _blank(p.shape[0] * q.shape[0], p.shape[1] * q.shape[1])
    _add_kron(out, 1.0, p, q)
    return out


@kernel(
    f"void(Tuple(({_MOMENTS})), {_FEATURES}, f8, Tuple(({_CELLS})), f8[:,::1], Tuple((f8, f8, f8)),"
    " f8[::1], f8[::1])",
    inline="always",
)
def _test(moments, features, direct, cells, project, numbers, effects, out):  # type: ignore[no-untyped-def]
    """Fill in statistic, dof, log Bayes factor, and that with the allowance for a leak.

    ``moments`` are E[u_x u_y^T], E[u_x u_x^T], E[u_y u_y^T]; ``features`` come from
    :func:`_gathered`; ``direct`` is the noise variance of the pair's tensor; ``cells`` holds
    features and probability of the cells of S, and both variables' contrasts; ``numbers`` are rows,
    leak and ridge. Products of S are assumed to carry as much from x to y as S carries additively;
    ``leak`` is the share of the products whose triples have not been released.
    """
    r, vx, vy = moments
    fx, fy, gram, ends, noise_x, noise_y, cross, typical = features
    phi, p, hx, hy = cells
    n, leak, ridge = numbers
    bx, by = _blank(len(fx), len(vx)), _blank(len(fx), len(vy))
    ex, ey = _blank(len(vx), len(vx)), _blank(len(vy), len(vy))
    second = _residual(r, vx, vy, fx, fy, gram, ridge * typical, bx, by, ex, ey)
    kx, more_x = _positive(vx, _variance_noise(bx, ends, noise_x, cross))
    ky, more_y = _positive(vy, _variance_noise(by, ends, noise_y, cross))
    # Without a set, a variable with two levels has one direction, whose size does not affect p.
    if len(fx) == 1 and len(vx) == 1:
        _copy(kx, vx)
    if len(fx) == 1 and len(vy) == 1:
        _copy(ky, vy)
    own = direct + typical**2 * second
    covariance = _noise(bx, by, ends, own, noise_x, noise_y, more_x, more_y, cross)
    share = 1.0 / n
    if len(p) > 0:
        sampled = _sampling(phi, p, bx, by, hx, hy)
        for i in range(len(sampled)):
            for j in range(len(sampled)):
                covariance[i, j] += sampled[i, j] / n
        share = POSITIVE / n
    _add_kron(covariance, share, vx, vy)
    flat = r.reshape(r.size)
    if len(project):
        flat = np.empty(len(project))
        _apply(project, r.reshape(r.size), flat)
    spread = _projected(project, _kron(kx, ky))
    found = _score(flat, _projected(project, covariance), spread, effects)
    out[0], out[1], out[2], out[3] = found[0], found[1], found[2], found[2]
    if leak != 0:
        _add_kron(covariance, leak, ex, ey)
        leaking = _projected(project, covariance)
        if len(flat) < MANY:
            out[3] = _score(flat, leaking, spread, effects)[2]
        else:
            out[3] = _log_mean(log_ratios(flat, leaking, spread, effects))


@kernel(f"{_FEATURES}(Tuple(({_RELEASED})), i8, i8, i8[::1])")
def _gathered(released, x, y, given):  # type: ignore[no-untyped-def]
    """Gather the features of a test, including the contrasts of each s in S.

    Returns E[phi u_x^T], E[phi u_y^T], E[phi phi^T], the end of each block of features, the noise
    variances of each block's tensors with x, with y and (blocks, blocks) with each other, and a
    typical one.
    """
    one, two, offsets, noise_one, noise_two = released
    k, size = len(given), 1
    for s in given:
        size += offsets[s + 1] - offsets[s]
    at, ends = np.empty(size, np.int64), np.ones(k + 1, np.int64)  # at: each feature's contrast
    noise_x, noise_y, cross = np.empty(k + 1), np.empty(k + 1), _blank(k + 1, k + 1)
    noise_x[0], noise_y[0], typical = noise_one[x], noise_one[y], 0.0
    end = 1
    for i in range(k):
        s = given[i]
        for column in range(offsets[s], offsets[s + 1]):
            at[end] = column
            end += 1
        ends[i + 1] = end
        noise_x[i + 1], noise_y[i + 1] = noise_two[x, s], noise_two[y, s]
        cross[0, i + 1] = cross[i + 1, 0] = noise_one[s]
        typical += (noise_two[x, s] + noise_two[y, s]) / (2 * k)
        for j in range(k):
            if i != j:
                cross[i + 1, j + 1] = noise_two[s, given[j]]
    fx, fy = _blank(size, offsets[x + 1] - offsets[x]), _blank(size, offsets[y + 1] - offsets[y])
    _rows(one, two, at, offsets[x], fx)
    _rows(one, two, at, offsets[y], fy)
    return fx, fy, _gram(one, two, at), ends, noise_x, noise_y, cross, typical


@kernel("void(f8[::1], f8[:,::1], i8[::1], i8, f8[:,::1])")
def _rows(one, two, at, start, out):  # type: ignore[no-untyped-def]
    """Return the moments of the constant and the contrasts ``at`` with those of a variable."""
    for j in range(out.shape[1]):
        out[0, j] = one[start + j]
        for i in range(1, at.size):
            out[i, j] = two[at[i], start + j]


@kernel("f8[:,::1](f8[::1], f8[:,::1], i8[::1])")
def _gram(one, two, at):  # type: ignore[no-untyped-def]
    """Return the moments of the constant and the contrasts ``at`` with each other."""
    out = _blank(at.size, at.size)
    out[0, 0] = 1.0
    for i in range(1, at.size):
        out[0, i] = out[i, 0] = one[at[i]]
        for j in range(1, at.size):
            out[i, j] = two[at[i], at[j]]
    return out


@kernel(
    f"f8[:,::1](Tuple(({_RELEASED})), Tuple((f8[:,:,::1], i8[::1], f8[:,:,::1])), i8[:,::1],"
    f" i8[::1], f8[:,::1], f8[::1], {_FEATURES}, Tuple((f8, f8, f8)), f8[::1])"
)
def tests(released, variables, pairs, given, phi, p, features, numbers, effects):  # type: ignore[no-untyped-def]
    """Return statistic, dof, and log Bayes factor without and with a leak, given S; (pairs, 4).

    ``released`` holds the contrasts of one and of two variables, the start of each variable, and
    both noise variances. ``variables`` holds scores (d, r, r), how many of them are used (0: all
    contrasts unchanged), and contrasts (d, r + 1, r), padded to the largest number of levels.
    ``phi`` and ``p`` are features and probability of the cells of S. ``features`` are those of all
    pairs; without rows, the contrasts of S are the features. ``numbers`` are rows, leak and ridge.
    """
    _, two, offsets, _, noise_two = released
    scores, rows, contrasts = variables
    out = _blank(len(pairs), 4)
    for i in range(len(pairs)):
        x, y = pairs[i, 0], pairs[i, 1]
        x0, x1, y0, y1 = offsets[x], offsets[x + 1], offsets[y], offsets[y + 1]
        if x0 == x1 or y0 == y1:  # a constant column is independent of all others
            out[i, 2] = out[i, 3] = -np.inf
            continue
        r, vx = _piece(two, x0, x1, y0, y1), _piece(two, x0, x1, x0, x1)
        moments = r, vx, _piece(two, y0, y1, y0, y1)
        a, b = x1 - x0, y1 - y0
        hx, hy = _piece(contrasts[x], 0, a + 1, 0, a), _piece(contrasts[y], 0, b + 1, 0, b)
        sx, sy = _piece(scores[x], 0, rows[x], 0, a), _piece(scores[y], 0, rows[y], 0, b)
        chosen = features if len(features[3]) else _gathered(released, x, y, given)
        cells = (phi, p, hx, hy)
        _test(moments, chosen, noise_two[x, y], cells, _kron(sx, sy), numbers, effects, out[i])
    return out

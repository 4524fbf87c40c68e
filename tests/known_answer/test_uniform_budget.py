"""Eq. 16's bound, and the ε that every test gets under a uniform budget."""

from __future__ import annotations

import pytest

from engine.errors import InputError
from engine.theory import kendall_p_bound, uniform_epsilon


def test_eq_16_at_its_largest() -> None:
    assert kendall_p_bound(1) == pytest.approx(0.5129, abs=5e-5)
    assert kendall_p_bound(10_000) == pytest.approx(kendall_p_bound(1) / 100)


@pytest.mark.parametrize(
    ("quadratic", "linear", "total", "epsilon"),
    [
        (0.0, 50.0, 10.0, 0.2),  # basic composition: total over tests
        (50.0, 0.0, 2.0, 0.2),  # zCDP: 100 tests of e^2 / 2
        (2.0, 1.0, 3.0, 1.0),  # 2 e^2 + e = 3
        (2.0, 1.0, 0.0, 0.0),
    ],
)
def test_uniform_epsilon(quadratic: float, linear: float, total: float, epsilon: float) -> None:
    assert uniform_epsilon(quadratic, linear, total) == pytest.approx(epsilon, abs=1e-12)


@pytest.mark.parametrize("wrong", [(0.0, 0.0, 1.0), (-1.0, 2.0, 1.0), (1.0, 1.0, -1.0)])
def test_a_budget_that_cannot_be_is_one_sentence(wrong: tuple[float, float, float]) -> None:
    with pytest.raises(InputError, match="uniform budget"):
        uniform_epsilon(*wrong)
    with pytest.raises(InputError, match="at least one row"):
        kendall_p_bound(0)

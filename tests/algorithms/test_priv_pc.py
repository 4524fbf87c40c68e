"""Priv-PC: its order of sieve and examine, its tweak, the noise of a plan."""

import pytest

from engine import ALGORITHMS, InputError, load_dataset, run

ASIA = load_dataset("asia", n=20_000)


def test_what_passes_a_sieve_and_nothing_else_is_examined():
    result = run("priv_pc", ASIA, epsilon=20.0)
    for before, step in zip(result.steps, result.steps[1:], strict=False):
        passed = before.kind == "sieve" and before.decision == "passed"
        assert (step.kind == "examine") == passed
        if passed:
            assert (step.x, step.y, step.conditioning_set) == (
                before.x,
                before.y,
                before.conditioning_set,
            )
    gone = [s for s in result.steps if s.kind == "examine" and s.decision == "independent"]
    assert len(gone) == 28 - len(result.skeleton)
    assert result.ci_tests == sum(s.kind in ("sieve", "examine") for s in result.steps)


def test_a_tweak_is_at_most_the_threshold():
    """The sieve compares with T - t, and no score lies below 0."""
    build = ALGORITHMS["priv_pc"].params.build
    assert build({"tweak": 0.05, "threshold": 0.05}) != build({"tweak": 0.02, "threshold": 0.01})
    for values in {"tweak": 0.06, "threshold": 0.05}, {"tweak": 0.5}:
        with pytest.raises(InputError, match="tweak must be at most the threshold"):
            build(values)

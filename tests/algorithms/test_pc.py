"""PC without privacy: what it does where the data cannot tell."""

import numpy as np

from engine import Dataset, run


def test_links_to_a_column_under_two_names_are_both_kept():
    """Given either twin the other does not vary: a test without freedom is no independence.

    causal-learn deletes both (p = 1), and with them the true link (research/performance.md).
    """
    rng = np.random.default_rng(0)
    twin = rng.integers(0, 2, 2_000)
    effect = np.where(rng.random(2_000) < 0.2, 1 - twin, twin)
    data = Dataset.from_codes(np.stack([twin, twin, effect], axis=1), ["a", "twin", "effect"])
    result = run("pc", data, statistic="g2", threshold=0.01)
    assert len(result.skeleton) == 3
    last = [step for step in result.steps if step.order == 1 and step.decision == "untestable"]
    assert len(last) == 2
    # The link between the twins is tested by the effect, which leaves them their freedom.
    assert any(step.order == 1 and step.decision == "dependent" for step in result.steps)

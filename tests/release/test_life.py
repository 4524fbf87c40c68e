"""Budgets under random events, chosen by a state machine."""

from hypothesis import settings

from tests.release.life import Life

# ``python -m scripts.kill_releases --sequences 2000`` runs as many as one likes.
TestLife = Life.TestCase
TestLife.settings = settings(max_examples=20, stateful_step_count=20)

"""Conditional independence statistics of tables of counts, and their sensitivities."""

from engine.statistics.rank import kendall_z, spearman_z
from engine.statistics.score import score

__all__ = ["kendall_z", "score", "spearman_z"]

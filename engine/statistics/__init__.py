"""Conditional independence statistics for tables of counts, with their sensitivities."""

from engine.statistics.base import Score, Statistic
from engine.statistics.kendall import kendall_z
from engine.statistics.registry import STATISTICS
from engine.statistics.spearman import spearman_z

__all__ = ["STATISTICS", "Score", "Statistic", "kendall_z", "spearman_z"]

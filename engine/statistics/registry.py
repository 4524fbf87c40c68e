"""Registry of statistics. A new statistic needs a file and an object here."""

from __future__ import annotations

from engine.statistics.base import Statistic
from engine.statistics.kendall import KENDALL
from engine.statistics.likelihood import CHI2, G2
from engine.statistics.oracle import ORACLE
from engine.statistics.spearman import SPEARMAN

STATISTICS: dict[str, Statistic] = {s.key: s for s in (KENDALL, SPEARMAN, G2, CHI2, ORACLE)}

# Grouped by where a private algorithm adds noise: to the score, or to an aggregate of blocks.
BOUNDED = tuple(key for key, s in STATISTICS.items() if s.bounded)
AGGREGATED = tuple(key for key, s in STATISTICS.items() if s.aggregated)

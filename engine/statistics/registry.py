"""Which statistics there are. A new one is a file, and its object here."""

from __future__ import annotations

from engine.statistics.base import Statistic
from engine.statistics.kendall import KENDALL
from engine.statistics.likelihood import CHI2, G2
from engine.statistics.oracle import ORACLE
from engine.statistics.spearman import SPEARMAN

STATISTICS: dict[str, Statistic] = {s.key: s for s in (KENDALL, SPEARMAN, G2, CHI2, ORACLE)}

# By the place of a private algorithm's noise: on the score, or on an aggregate of blocks.
BOUNDED = tuple(key for key, s in STATISTICS.items() if s.bounded)
AGGREGATED = tuple(key for key, s in STATISTICS.items() if s.aggregated)

"""Cause or effect: the additive-noise model for two columns (Kusner et al. 2016)."""

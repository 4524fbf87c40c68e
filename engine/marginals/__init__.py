"""Noisy low-order marginals, released once: contrasts, their noise, and tests on them."""

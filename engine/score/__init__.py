"""Linear models by continuous optimisation: NOTEARS and its private forms."""

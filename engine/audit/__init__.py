"""Attacks on the algorithms' claims: transcripts replayed on neighbours, and many runs.

The package imports the registry, and no algorithm imports the package.
"""

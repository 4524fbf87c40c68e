"""Attacks on the algorithms' own claims: transcripts replayed on neighbours, and many runs.

It needs the registry, and so stands above it; nothing an algorithm needs is in here.
"""

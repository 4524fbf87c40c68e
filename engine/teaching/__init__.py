"""Material for lessons: a replayed search, one noisy test, a neighbouring dataset, a game."""

"""The lesson: a search played back, one noisy test, a neighbouring dataset, a game."""

"""What the lesson shows: a search played back, one noisy test, a neighbouring dataset, a game."""

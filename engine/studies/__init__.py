"""Trade-off studies: many runs, fast, resumable, readable; forecasts, scenes and figures."""

"""Studies of many runs that can be resumed; forecasts, scenes and figures."""

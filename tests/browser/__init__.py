"""Journeys through the app in a real browser: a package, so that they share one."""

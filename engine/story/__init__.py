"""The story: a folder of pages that shows the scene and the tour without a server."""

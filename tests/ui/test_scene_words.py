"""Names that the scene shows."""

from __future__ import annotations

from engine.story.modules import plainly, words


def test_a_network_without_plain_names_shows_its_own() -> None:
    assert plainly("sprinkler") == {"title": "Sprinkler", "about": "", "nodes": {}}
    assert plainly("cancer") == words()["cancer"]

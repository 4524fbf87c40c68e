"""The graph of a release as edges with their probabilities, for other tools, as a picture."""

from __future__ import annotations

from engine.graphs.cpdag import Adjacency
from engine.graphs.edges import Edge, edges, svg
from engine.graphs.formats import UNDIRECTED
from engine.release.file import Release


def release_edges(release: Release) -> list[Edge]:
    """The edges of a release with the probability of link and arrow."""
    at = {name: i for i, name in enumerate(release.names)}
    link = {(min(at[a], at[b]), max(at[a], at[b])): share for a, b, share in release.confidence}
    arrow = {}
    for a, b, there, back in release.arrows:
        arrow[at[a], at[b]], arrow[at[b], at[a]] = there, back
    return edges(release.names, release.matrix, (), link, arrow)


def release_drawn(release: Release) -> Adjacency:
    """The (d, d) matrix for other tools: an arrow that pictures draw as a line is one there too."""
    matrix, at = release.matrix, {name: i for i, name in enumerate(release.names)}
    for edge in release_edges(release):
        if edge.kind == UNDIRECTED:
            matrix[at[edge.effect], at[edge.cause]] = True
    return matrix


def release_svg(release: Release) -> str:
    """The graph as SVG, the same to the byte on every machine: a page is compared by its bytes."""
    alt = f"The graph of the release {release.name}"
    return svg(release.names, release_edges(release), alt)

"""The graph of a release as a matrix, as edges with their probabilities, as a picture."""

from __future__ import annotations

from typing import Any

import networkx as nx

from engine.graphs.cpdag import matrix_of
from engine.graphs.edges import Edge, edges, svg
from engine.release.file import Release


def release_matrix(release: Release) -> Any:
    """The (d, d) CPDAG matrix of a release."""
    graph = nx.DiGraph()
    graph.add_nodes_from(release.names)
    graph.add_edges_from(release.cpdag)
    return matrix_of(graph, release.names)


def release_edges(release: Release) -> list[Edge]:
    """The edges of a release with the probability of link and arrow."""
    at = {name: i for i, name in enumerate(release.names)}
    link = {(min(at[a], at[b]), max(at[a], at[b])): share for a, b, share in release.confidence}
    arrow = {}
    for a, b, there, back in release.arrows:
        arrow[at[a], at[b]], arrow[at[b], at[a]] = there, back
    return edges(release.names, release_matrix(release), (), link, arrow)


def release_drawn(release: Release) -> Any:
    """The (d, d) matrix for other tools: an arrow that pictures draw as a line is one there too."""
    matrix, at = release_matrix(release), {name: i for i, name in enumerate(release.names)}
    for edge in release_edges(release):
        if not edge.pointed:
            matrix[at[edge.effect], at[edge.cause]] = True
    return matrix


def release_svg(release: Release) -> str:
    """The graph as SVG, the same to the byte on every machine: a page is compared by its bytes."""
    alt = f"The graph of the release {release.name}"
    return svg(release.names, release_edges(release), alt, steady=True)

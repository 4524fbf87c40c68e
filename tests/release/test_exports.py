"""From a release file alone: what other tools read of it is its graph."""

import networkx as nx
import numpy as np
import pydot
import pytest
from causallearn.graph.Endpoint import Endpoint
from causallearn.utils.TXT2GeneralGraph import txt2generalgraph

from engine.release.page import release_drawn
from scripts.readers import released
from tests.graphs.test_formats import read_dagitty


@pytest.fixture(scope="module")
def received(tmp_path_factory):
    """The release that DoWhy and pgmpy read, too."""
    found = released(tmp_path_factory.mktemp("release"))
    both = set(found.release.cpdag)
    assert {pair for pair in both if pair[::-1] in both}  # edges of either kind
    assert {pair for pair in both if pair[::-1] not in both}
    return found


def drawn(paid):
    """Those that other tools get: an arrow in doubt is a line."""
    found = np.argwhere(release_drawn(paid.release)).tolist()
    return {(paid.names[i], paid.names[j]) for i, j in found}


def test_networkx_reads_the_graph_and_its_probabilities(received):
    assert set(nx.parse_graphml(received.to_text("graphml")).edges) == drawn(received)
    graph = received.to_networkx()
    assert set(graph.edges) == drawn(received)
    links = {frozenset((a, b)): share for a, b, share in received.release.confidence}
    assert {frozenset(e): s for *e, s in graph.edges(data="link")} == links


def test_pydot_reads_what_dowhy_is_given(received):
    (graph,) = pydot.graph_from_dot_data(received.to_dot())
    found = set()
    for edge in graph.get_edges():
        a, b = edge.get_source().strip('"'), edge.get_destination().strip('"')
        found |= {(a, b), (b, a)} if edge.get("dir") == "none" else {(a, b)}
    assert found == drawn(received)


def test_causal_learn_reads_the_graph(received, tmp_path):
    place = tmp_path / "graph.txt"
    place.write_text(received.to_text("tetrad"), encoding="utf-8")
    found = set()
    for edge in txt2generalgraph(str(place)).get_graph_edges():
        a, b = edge.get_node1().get_name(), edge.get_node2().get_name()
        if edge.get_endpoint1() == Endpoint.ARROW:
            found.add((b, a))
        elif edge.get_endpoint2() == Endpoint.ARROW:
            found.add((a, b))
        else:
            found |= {(a, b), (b, a)}
    assert found == drawn(received)


def test_dagitty_s_grammar_reads_the_graph(received):
    head, nodes, edges = read_dagitty(received.to_text("dagitty"))
    found = {(a, b) for a, b, _ in edges} | {(b, a) for a, b, mark in edges if mark == "undirected"}
    assert (head, nodes, found) == ("pdag", list(received.names), drawn(received))


def test_every_edge_has_a_direction_where_that_is_asked_for(received):
    head, _, edges = read_dagitty(received.to_text("dagitty", directed=True))
    assert head == "dag"
    assert {(a, b) for a, b, _ in edges} == set(received.synthetic(10).truth.edges)

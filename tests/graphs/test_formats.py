"""Each format is read back by its own reader, names with markup and marks included."""

import re

import networkx as nx
import pydot
import pytest
from causallearn.graph.Endpoint import Endpoint
from causallearn.utils.TXT2GeneralGraph import txt2generalgraph

from engine.errors import portable
from engine.graphs.cpdag import edges_of
from engine.graphs.formats import dagitty, dot, graphml, mermaid, tetrad
from tests.graphs.small import graph

NAMES = ("<b>x</b>", 'say "hi"', "two\nlines", "back\\", "plain", "plain ", "a;b, c")
Edges = set[tuple[str, str, str]]


MATRIX = graph(7, "0>1", "2>1", "2-3", "4-5", "6>0")


def expected(names):
    marks = {(0, 1): "directed", (2, 1): "directed", (6, 0): "directed"}
    marks |= {(2, 3): "undirected", (4, 5): "undirected"}
    return {(names[i], names[j], mark) for (i, j), mark in marks.items()}


@pytest.mark.slow
def test_dot_is_read_by_pydot():
    (read,) = pydot.graph_from_dot_data(dot(NAMES, MATRIX))

    def name(quoted):
        return quoted[1:-1].replace('\\"', '"')

    found = {
        (
            name(e.get_source()),
            name(e.get_destination()),
            "undirected" if e.get("dir") == "none" else "directed",
        )
        for e in read.get_edges()
    }
    names = portable(NAMES, "\\", "/")
    assert found == expected(names)
    assert {name(n.get_name()) for n in read.get_nodes()} == set(names)


def test_graphml_is_read_by_networkx():
    read, names = nx.parse_graphml(graphml(NAMES, MATRIX)), portable(NAMES)
    both = {(b, a, m) for a, b, m in expected(names) if m == "undirected"}
    assert set(read.edges(data="mark")) == expected(names) | both
    assert list(read) == names


def test_tetrads_text_is_read_by_causal_learn(tmp_path):
    path = tmp_path / "graph.txt"
    path.write_text(tetrad(NAMES, MATRIX), encoding="utf-8")
    read = txt2generalgraph(str(path))
    found = set()
    for edge in read.get_graph_edges():
        a, b = edge.get_node1().get_name(), edge.get_node2().get_name()
        ends = edge.get_endpoint1(), edge.get_endpoint2()
        if ends == (Endpoint.ARROW, Endpoint.TAIL):  # it turns some of them round
            a, b, ends = b, a, ends[::-1]
        assert ends[0] == Endpoint.TAIL
        assert ends[1] in (Endpoint.TAIL, Endpoint.ARROW)
        found.add((a, b, "directed" if ends[1] == Endpoint.ARROW else "undirected"))
    names = portable(NAMES, " \u00a0,;")
    assert found == expected(names)
    assert [node.get_name() for node in read.get_nodes()] == names


STRING = r'"((?:[^"\\\x00-\x1f\x7f]|\\"|\\)*?)(?<!\\)"'


def read_dagitty(text):
    """(type, nodes, edges) by dagitty's grammar: jslib/parser/GraphDotParser.pegjs."""
    head, body = re.fullmatch(r"(\w+) \{\n(.*)\}\n", text, re.S).groups()
    nodes = []
    edges = set()
    for line in body.splitlines():
        if found := re.fullmatch(rf"\s*{STRING} (->|--) {STRING}", line):
            a, mark, b = found.groups()
            kind = "directed" if mark == "->" else "undirected"
            edges.add((a.replace('\\"', '"'), b.replace('\\"', '"'), kind))
        else:
            nodes.append(re.fullmatch(rf"\s*{STRING}", line)[1].replace('\\"', '"'))
    return head, nodes, edges


def test_dagittys_text_follows_its_grammar():
    head, nodes, edges = read_dagitty(dagitty(NAMES, MATRIX))
    names = portable(NAMES, "\\", "/")
    assert (head, nodes, edges) == ("pdag", names, expected(names))
    directed = MATRIX & ~MATRIX.T
    assert dagitty(NAMES, directed).startswith("dag {")


def test_names_stay_apart_whatever_is_taken_out():
    assert portable(["a b", "a_b", "a\tb", "a b_2"], " ") == ["a_b", "a_b_2", "a_b_3", "a_b_2_2"]


def test_mermaids_text_names_every_edge_once():
    lines = mermaid(NAMES, MATRIX).splitlines()
    drawn = [re.fullmatch(r"  n(\d+) (---|-->) n(\d+)", line) for line in lines]
    kinds = {"---": "undirected", "-->": "directed"}
    assert lines[0] == "graph LR"
    assert [(int(m[1]), int(m[3]), kinds[m[2]]) for m in drawn if m] == list(edges_of(MATRIX))
    # A quotation mark would end the label.
    assert all(line.count('"') == 2 for line in lines[1 : 1 + len(NAMES)])

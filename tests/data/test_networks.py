"""Bundled networks against published counts, known numbers and exact probabilities."""

import itertools
import json

import networkx as nx
import numpy as np
import pytest

from engine.data import networks
from engine.data.networks import NETWORKS, load_dataset, load_network, normalised
from engine.errors import InputError
from scripts.convert_networks import parse_bif, render

# Nodes, arcs, most levels, and free parameters as the bnlearn repository states them. A network
# from elsewhere needs no line: everything else here goes through the registry.
COUNTS = {
    "earthquake": (5, 4, 2, 10),
    "cancer": (5, 4, 2, 10),
    "asia": (8, 8, 2, 18),
    "survey": (6, 6, 3, 21),
    "sachs": (11, 17, 3, 178),
    "child": (20, 25, 6, 230),
    "alarm": (37, 46, 4, 509),
    "insurance": (27, 52, 5, 1008),
    "water": (32, 66, 4, 10083),
    "hailfinder": (56, 66, 11, 2656),
    "win95pts": (76, 112, 2, 574),
}
N = 100_000


def exact(network, nodes):
    """Return the joint of the nodes by summing the product of their ancestors' tables."""
    dag = network.dag()
    needed = set(nodes).union(*(nx.ancestors(dag, node) for node in nodes))
    axis = {name: k for k, name in enumerate(sorted(needed))}
    operands = []
    for node in needed:
        j = network.names.index(node)
        family = [*network.parents[j], node]
        sizes = [len(network.states[network.names.index(member)]) for member in family]
        operands += [network.tables[j].reshape(sizes), [axis[member] for member in family]]
    return np.einsum(*operands, [axis[node] for node in nodes], optimize="greedy")


def errors(network, codes, nodes):
    """Return each cell's (observed - exact) frequency in standard errors; inf if impossible."""
    table = exact(network, nodes)
    columns = tuple(codes[:, network.names.index(node)] for node in nodes)
    cells = np.ravel_multi_index(columns, table.shape)
    observed = np.bincount(cells, minlength=table.size).reshape(table.shape)
    spread = np.sqrt(len(codes) * table * (1 - table))
    gap = np.abs(observed - len(codes) * table)
    # 9 counts of slack: the normal tail is too thin for cells that expect few counts.
    return np.maximum(gap - 9 * (table > 0), 0) / np.maximum(spread, 1e-9)


@pytest.mark.parametrize("name", NETWORKS)
def test_tables_fit_and_the_dataset_is_public_with_the_true_graph(name):
    network, data = load_network(name), load_dataset(name, n=200)
    assert data.public
    assert set(data.truth.edges) == set(network.dag().edges)
    assert data.levels == network.states
    assert (data.name, data.n, data.codes.dtype) == (name, 200, np.uint8)
    assert len(data.notes) == 1
    for states, parents, table in zip(network.states, network.parents, network.tables, strict=True):
        sizes = [len(network.states[network.names.index(parent)]) for parent in parents]
        assert table.shape == (np.prod(sizes, dtype=int), len(states))
        np.testing.assert_allclose(table.sum(axis=1), 1, rtol=1e-12)
        assert not table.flags.writeable
    assert "CC BY-SA" in network.licence
    assert network.source
    free = sum(table.shape[0] * (table.shape[1] - 1) for table in network.tables)
    counts = (network.dag().number_of_edges(), max(map(len, network.states)), free)
    assert COUNTS.get(name, (len(network.names), *counts)) == (len(network.names), *counts)


# network, node, its parents' states, its state, and the published probability
ENTRIES = (
    "asia dysp bronc=yes,either=no yes 0.8",
    "asia dysp bronc=no,either=yes yes 0.7",
    "alarm CVP LVEDVOLUME=HIGH NORMAL 0.29",
    "survey E A=old,S=M high 0.88",
    "child HypoxiaInO2 CardiacMixing=Transp.,LungParench=Normal Mild 0.02",
    "insurance GoodStudent SocioEcon=UpperMiddle,Age=Adolescent True 0.5",
    "win95pts AppData AppOK=Incorrect_Corrupt,DataFile=Correct Correct 0",
)


@pytest.mark.parametrize("entry", ENTRIES)
def test_single_entries(entry):
    name, node, parents, state, probability = entry.split()
    given = dict(pair.split("=") for pair in parents.split(","))
    network = load_network(name)
    states = dict(zip(network.names, network.states, strict=True))
    j = network.names.index(node)
    assert set(network.parents[j]) == set(given)
    row = 0
    for parent in network.parents[j]:
        row = row * len(states[parent]) + states[parent].index(given[parent])
    table = network.tables[j]
    assert table[row, states[node].index(state)] == pytest.approx(float(probability))


@pytest.mark.parametrize("name", NETWORKS)
def test_samples_follow_the_tables(name):
    """Every node with its parents, wherever its ancestors are few enough to sum exactly.

    A cell fails beyond 6 standard errors and 9 counts: for a right sampler less than
    3e-5 over the 13,827 cells of all networks, and the seed is fixed.
    """
    network = load_network(name)
    codes = load_dataset(name, n=N, seed=3).codes
    checked = 0
    for node, parents in zip(network.names, network.parents, strict=True):
        if len(nx.ancestors(network.dag(), node)) <= 12:
            assert errors(network, codes, [*parents, node]).max() < 6
            checked += 1
    assert checked >= (min(len(network.names), 11) if name in COUNTS else 1)


def test_impossible_states_never_occur():
    rounding = [0.1] * 10 + [0.0]  # its running sum stops short of 1
    rows = [[0.0, 0.3, 0.0, 0.7, *[0.0] * 7], rounding]
    child = {"states": "abcdefghijk", "parents": ["parent"], "table": rows, "name": "child"}
    parent = {"states": "01", "parents": [], "table": [[0.5, 0.5]], "name": "parent"}
    network = networks.network_of("x", [child, parent])
    assert np.cumsum(network.tables[0], axis=1)[1, -2] < 1

    class Extremes:
        """Uniforms at both ends of [0, 1)."""

        def random(self, n):
            ends = [0.0, np.nextafter(1, 0)]
            self.calls = getattr(self, "calls", 0) + 1
            return np.resize(np.repeat(ends, self.calls), n)

    codes = network.sample(1000, Extremes())
    assert (network.tables[0][codes[:, 1], codes[:, 0]] > 0).all()


def test_a_seed_fixes_the_rows():
    """Studies are kept under a fingerprint: a change of the rows must be meant."""
    first = load_dataset("asia", 1000, 0)
    assert first.fingerprint.startswith("48676448933ab6c2")
    same = load_dataset("asia", n=np.int64(1000), seed=np.uint32(0))
    assert first.fingerprint == same.fingerprint != load_dataset("asia", 1000, 1).fingerprint
    # A run with the same seed draws its noise from other numbers.
    assert (load_network("asia").sample(1000, np.random.default_rng(0)) != first.codes).any()


def test_unknown_network_lists_the_known_ones():
    with pytest.raises(InputError, match=r"choose one of .*mean 'alarm'") as caught:
        load_network("Alarmm")
    assert all(name in str(caught.value) for name in NETWORKS)


@pytest.mark.parametrize(
    ("asked", "said"),
    [({"n": n}, "n must be a whole number from 2 to 10,000,000") for n in (1, -5, 10_000_001)]
    + [({"n": n}, "n must be a whole number") for n in (2.0, "100", True, None)]
    + [({"seed": seed}, "seed must be a whole number") for seed in (-1, 0.5, "0", False, None)],
)
def test_bad_n_and_bad_seed(asked, said):
    with pytest.raises(InputError, match=said):
        load_dataset("asia", **{"n": 10, **asked})


def test_rounded_rows_are_normalised_and_rows_further_off_refused():
    assert normalised([[0.3333, 0.3333, 0.3333]]).tolist() == [[pytest.approx(1 / 3)] * 3]
    for row in ([0.5, 0.6], [0.5, 0.498], [1.5, -0.5], [float("nan"), 1]):
        with pytest.raises(InputError, match="does not sum to 1"):
            normalised([row])


# The converter ----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["child", "hailfinder"])
def test_bundled_file_is_what_the_converter_writes(name):
    """Our file, written as BIF with its rows in any order and converted, comes out the same."""
    text = (networks._FOLDER / f"{name}.json").read_text(encoding="utf-8")
    bif = _as_bif(json.loads(text)["nodes"])
    assert render(name, parse_bif(bif)) == text
    a_row = next(line for line in bif.splitlines() if line.startswith("("))
    with pytest.raises(ValueError, match="table of"):
        parse_bif(bif.replace(f"{a_row}\n", "", 1))


def _as_bif(nodes):
    states = {node["name"]: node["states"] for node in nodes}
    blocks = [
        f"variable {name} {{\n type discrete [ {len(s)} ] {{ {', '.join(s)} }};\n}}"
        for name, s in states.items()
    ]
    for node in nodes:
        given = f" | {', '.join(node['parents'])}" if node["parents"] else ""
        keys = itertools.product(*(states[parent] for parent in node["parents"]))
        rows = [
            f"{'(' + ', '.join(key) + ')' if key else 'table'} {', '.join(map(str, row))};"
            for key, row in reversed([*zip(keys, node["table"], strict=True)])
        ]
        blocks.append(f"probability ( {node['name']}{given} ) {{\n" + "\n".join(rows) + "\n}")
    return "\n".join(blocks)

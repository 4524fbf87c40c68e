"""PrivateGraph in scikit-learn's shape: its own checks, clone, pickle of the released output."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from engine import InputError, PrivateGraph, Schema, load_dataset

FRAME = load_dataset("asia", n=3_000, seed=7).to_frame().astype(str)
SCHEMA = Schema.draft(FRAME).declare(*FRAME.columns)

# Checks that scikit-learn leaves out by itself, and why that is right.
LEFT_OUT = {
    "check_pipeline_consistency": "two fits draw two noises: a seed would undo the guarantee",
    "check_array_api_input": "counts are made on the CPU; scikit-learn skips it without its flag",
}


@pytest.mark.filterwarnings("ignore")
def test_it_passes_scikit_learns_own_checks():
    told = check_estimator(PrivateGraph(), on_fail=None, on_skip=None)
    assert {r["check_name"]: r["exception"] for r in told if r["status"] == "failed"} == {}
    assert {r["check_name"] for r in told if r["status"] != "passed"} == set(LEFT_OUT)
    assert sum(r["status"] == "passed" for r in told) > 30


def test_a_fit_gives_a_graph_and_its_guarantee():
    ours = PrivateGraph(epsilon=1, schema=SCHEMA, options={"max_order": 1}).fit(FRAME)
    assert ours.guarantee_.epsilon == 1.0
    assert set(ours.graph_) == set(FRAME.columns)
    assert ours.adjacency_.shape == (8, 8)
    assert list(ours.feature_names_in_) == list(FRAME.columns)
    assert ours.result_.params.max_order == 1
    assert "<svg" in ours._repr_html_()
    assert repr(ours) == "PrivateGraph(options={'max_order': 1}, schema=<8 columns>)"


def test_clone_and_parameters():
    ours = PrivateGraph(epsilon=0.5, schema=SCHEMA).fit(FRAME)
    fresh = clone(ours)
    assert fresh.get_params() == ours.get_params()
    assert not fresh.__sklearn_is_fitted__()
    with pytest.raises(AttributeError, match="not fitted yet"):
        _ = fresh.graph_
    with pytest.raises(InputError, match=r"no parameter 'epsilom'.*Did you mean 'epsilon'"):
        ours.set_params(epsilom=1)


def test_a_pickle_holds_what_was_given_out_and_no_row():
    many = load_dataset("asia", n=50_000).to_frame().astype(str)
    ours = PrivateGraph(epsilon=1, schema=SCHEMA).fit(many)
    raw = pickle.dumps(ours)
    assert set(pickle.loads(raw).graph_.edges) == set(ours.graph_.edges)
    assert len(raw) < 100_000


def test_an_array_of_another_width_than_the_schema_is_one_sentence():
    with pytest.raises(InputError, match="3 columns but the schema has 8"):
        PrivateGraph(schema=SCHEMA).fit(np.zeros((9, 3), int))


def test_an_array_has_the_columns_of_the_schema_in_their_order():
    fitted = PrivateGraph(schema=SCHEMA).fit(FRAME.to_numpy(dtype=str))
    assert set(fitted.graph_) == set(SCHEMA.names)

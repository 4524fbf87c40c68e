"""A release in the form of a run, so that a report can show its graph, guarantee and effects, but
no rows."""

from __future__ import annotations

import math
from dataclasses import replace

import streamlit as st

from engine import RunResult
from engine.algorithms import marginal_pc
from engine.algorithms.marginal_pc import MarginalPCParameters
from engine.release.checking import Request as Asked
from engine.release.checking import checked
from engine.release.file import Release, digest
from engine.request import Request
from pages.shell.runs import Shown


def shown_of(release: Release) -> Shown:
    """Return a release as a run, checked first."""
    return _shown(digest(release), release)


@st.cache_resource(max_entries=4, show_spinner="Reading the released tables …")
def _shown(seal: str, _release: Release) -> Shown:
    release = _release
    outcome = checked(release).outcome
    params = MarginalPCParameters.build(release.params)
    empty = replace(Asked(params, release.rows, release.schema).empty, name=release.name)
    result = RunResult(
        **vars(outcome),
        algorithm=release.algorithm,
        params=params,
        seed=None,
        seed_known=False,
        public=False,
        dataset=release.name,
        fingerprint=seal,
        names=release.names,
        ledger=marginal_pc.ledger(empty, params),
        steps=(),
        seconds=math.nan,
        knowledge=release.knowledge,
    )
    request = Request.of(empty, release.algorithm, release.params, None, release.knowledge)
    return Shown(request, empty, result)

"""Compute the content of each component in the browser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from engine.data.dataset import Dataset
from engine.data.networks import load_dataset, load_network, plain_names, plainly
from engine.story.modules import digested, graph_content, layouts
from engine.teaching.lessons import query
from engine.teaching.money import purses
from engine.teaching.neighbours import moves
from engine.teaching.turning import questions, turning
from engine.words.run import NO_PROMISE, PROMISE, UNPROTECTED

EXAMPLES = 4  # changed answers shown per choice of arrows
DOTS = 1_000  # people in a picture
WAYS = {
    "priv_pc": "for each “perhaps”",
    "curate_pc": "more at the beginning",
    "marginal_pc": "all at once",
}


def scene_content(
    scene: Mapping[str, Any], *, best: str, steps: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a scene's frames, names, places and words; ``best`` is the non-private method."""
    known = plainly(scene["dataset"])
    titles = plain_names(scene["dataset"], scene["names"])
    arrows = tuple((titles[i], titles[j]) for i, j in scene["arrows"])
    content = {
        "scene": {**scene, "best": best},
        "question": "Which causes can data show when every person is hidden?",
        "about": known["about"].format(rows=f"{scene['rows']:,}")
        + " Drag the slider: how much may one record change the result?",
        "titles": titles,
        "layouts": layouts(tuple(titles), arrows),
        "steps": steps,
        "first": "marginal_pc",
        "promise": PROMISE,
        "noPromise": NO_PROMISE.format(why=UNPROTECTED),
    }
    return digested(content)


def arrows_content(data: Dataset) -> dict[str, Any]:
    """Return every choice of a network's arrows, its number of changed answers, and examples."""
    graph = load_network(data.name)
    found = turning(graph.dag(), graph.names)
    every = list(questions(found.d))
    return digested(
        {
            **graph_content(data),
            "arrows": found.arrows,
            "kinds": found.kinds,
            "changed": [len(places) for places in found.changed],
            "examples": [
                [(*every[k], found.independent[k]) for k in places[:EXAMPLES]]
                for places in found.changed
            ],
            "questions": len(every),
        }
    )


def person_content(data: Dataset, x: str, y: str, epsilon: float) -> dict[str, Any]:
    """Return the table of two columns, the statistic after every replacement, and ``DOTS`` people.

    Every non-empty cell of the table is represented.
    """
    asked = query(data, x, y)
    every = moves(data, asked)
    table = every.table[0]
    columns = [asked.x, asked.y]
    codes = data.row_codes()[:, columns]
    cells = codes[:, 0] * table.shape[1] + codes[:, 1]
    first = np.unique(cells, return_index=True)[1]
    shown = np.r_[first, np.setdiff1d(np.arange(len(cells)), first)][:DOTS]
    places = list(np.ndindex(table.shape))
    moved = [
        [every.moved.get(((0, *source), (0, *target))) for target in places] for source in places
    ]
    far = [int(np.ravel_multi_index(cell[1:], table.shape)) for cell in every.farthest]
    return digested(
        {
            "cells": cells[np.sort(shown)].tolist(),
            "people": data.n,
            "table": table.tolist(),
            "levels": [list(data.levels[c]) for c in columns],
            "titles": plain_names(data.name, [data.names[c] for c in columns]),
            "z": every.z,
            "moved": moved,
            "sensitivity": every.sensitivity,
            "epsilon": epsilon,
            "farthest": far,
        }
    )


def money_content(
    given: Mapping[str, Any], keys: Sequence[str], draw: int, *, once: str
) -> dict[str, Any]:
    """Return a scene, and the charge for each algorithm's answers in one draw per ε."""
    scene = given["scene"]
    data = load_dataset(scene["dataset"], n=scene["rows"])
    packed = {
        key: [
            {
                "pairs": p.pairs,
                "decisions": p.decisions,
                "coins": [round(c, 3) for c in p.coins],
                "before": [(label, round(c, 3)) for label, c in p.before],
                "ended": p.ended,
            }
            for p in purses(data, key, scene["epsilons"], draw)
        ]
        for key in keys
    }
    content = {name: given[name] for name in ("scene", "titles", "layouts")}
    return digested({**content, "purses": packed, "ways": WAYS, "once": once, "draw": draw})

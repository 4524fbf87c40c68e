"""The frames of the story: a picture that answers, the same picture at rest, and a few words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from engine.algorithms.marginal_pc import MarginalPCParameters, conclude, known_whole
from engine.context import RunContext
from engine.data.dataset import Dataset
from engine.data.networks import load_dataset
from engine.effects.width import width
from engine.effects.words import of_hundred
from engine.graphs.links import LinkClass
from engine.graphs.picture import Inks, Svg, graph_svg, people_svg, sheet, tag
from engine.graphs.view import Link, view
from engine.marginals.citest import NoisyTests
from engine.privacy.ledger import Ledger
from engine.question import SHARE
from engine.randomness import Randomness
from engine.release.pooling import pooled
from engine.runner import run
from engine.story.content import arrows_content, money_content, person_content, scene_content
from engine.studies.scenes import (
    BACK,
    FORTH,
    LINE,
    States,
    kept_scene,
    pair_states,
    states_in,
    states_of,
)
from engine.teaching.lessons import NoisyTest, noisy_test, query
from engine.words.run import guesses

NETWORK, PEOPLE, ROWS = "asia", 1_000, 20_000
EPSILON, EACH = 1.0, 0.02  # of a run, and of one test
FOUND = (LINE, FORTH, BACK)
EACH_TIME, ONCE = "priv_pc", "marginal_pc"  # how a budget is spent
HOSPITALS, PATIENTS, DRAWS, SHARED = 5, 20_000, 20, 0.3  # and the ε of each hospital
DELTA = 1e-6
Stills = list[tuple[Svg, str]]
WORDS = {  # of each frame its title and what is read next to it
    "scene": (
        "What can still be learned when nobody may be recognised?",
        "The lines are what {rows:,} patients' records say about which things go together. Drag "
        "the dial to the left: each person is hidden better, and lines fade. To the right they "
        "return, and more of the hundred figures fill: that many of a hundred guesses about one "
        "person can be right. At ε = {epsilon:g} it is {right}; a coin gets 50.",
    ),
    "causes": (
        "What we look for: what causes what",
        "An arrow says that one thing acts on another: smoking on lung cancer, not the other way "
        "round. Click an arrow to turn it. If the records would then look different, data can "
        "show its direction. If nothing would change, they cannot.",
    ),
    "noise": (
        "Noise on one answer",
        "Each dot is the same measured number with fresh chance noise on it. Right of the dashed "
        "line the link stays, left of it the link goes; red dots decide wrongly. Drag the number "
        "away from the line: noise changes nothing. Drag it near: noise decides. The noise is "
        "as wide as it must be to hide one person.",
    ),
    "person": (
        "One person in or out: can you tell?",
        "Each dot is a person. Change one answer, and there are two tables, A and B. One of them "
        "gives a noisy number. Guess which. However clever the guess, it is right no more often "
        "than the wall allows: at ε = {epsilon:g} at most {right} times in a hundred. That is the "
        "promise to every single person.",
    ),
    "budget": (
        "Many tests, one budget",
        "Every question put to the records is paid from one purse of a hundred coins, the privacy "
        "budget ε. Press Spend: each answer costs some coins, and what is not paid for stays "
        "unknown. A smaller ε hides each person better, but every answer becomes less certain, "
        "and links are lost.",
    ),
    "once": (
        "Spend once, then ask for free",
        "The same hundred coins, spent in two ways. On one side every doubtful question is paid "
        "for. On the other all coins buy noisy tables of counts at the start, and every later "
        "question reads those tables and costs nothing. Press Spend, then move ε and compare.",
    ),
    "hospitals": (
        "Several hospitals, no shared records",
        "Each hospital adds its own noise to its tables of counts (ε = {shared:g}) and passes on "
        "only those. Added up, the patients count in full, while the noises partly cancel. Of "
        "{true} true links, one hospital of {patients:,} patients finds {seen[0]:.1f} on average, "
        "with {false[0]:.1f} false ones; {many} together find {seen[1]:.1f}, with {false[1]:.1f} "
        "false ones. No record leaves its house, and the promise to each patient is the "
        "hospital's own, if nobody is in two.",
    ),
    "limits": (
        "What it cannot do",
        "The plain lines have no arrowhead: no records, however many, settle which way they "
        "point. Privacy is not the cause, and no budget helps. Two more limits: something that "
        "concerns few people is lost in the noise, and a finding about smokers is about every "
        "smoker, even one whose record was never used. The promise protects a person's record, "
        "not a group's secret. An effect has its price, too: from {rows:,} records at ε = "
        "{epsilon:g} the effect of smoking on bronchitis is known to about ± {half[0]} of 100, and "
        "at ε = {shared:g} to ± {half[1]}.",
    ),
}


@dataclass(frozen=True)
class Frame:
    """One screen: ``stills`` are pictures with their captions; without ``kind`` they are all."""

    key: str
    title: str
    words: str
    stills: Stills
    kind: str = ""
    data: dict[str, Any] = field(default_factory=dict)


def frames() -> Iterator[Frame]:
    """Yield the frames in their order; every number and picture is computed now."""
    kept = kept_scene(NETWORK)
    given = scene_content(kept, best="No privacy", steps={})
    data = load_dataset(NETWORK, n=ROWS)
    right = guesses(EPSILON)
    at = int(np.argmin([abs(math.log(e / EPSILON)) for e in kept["epsilons"]]))

    def shares(key: str) -> Svg:
        found = next(m for m in kept["methods"] if m["key"] == key)
        states = states_in(kept)[key][at]
        return _graph(given, states, f"{found['title']} at ε = {EPSILON:g}, all draws at once")

    people = people_svg(right, "#8592a8", "#1b6ca8", "#8592a8", across=20, alt=f"{right} of 100")
    figures = people, f"At ε = {EPSILON:g} at most {right} of 100 guesses are right."
    arrows = arrows_content(data)
    test = noisy_test(data, query(data, "tub", "dysp"), EACH)
    true, cpdag = np.array([arrows["causal"]]), np.array([given["scene"]["truth"]])
    either = "A line without a head: data cannot say which of the two acts on the other."
    money = money_content(given, (EACH_TIME, ONCE), 0, once=ONCE) | {"epsilon": EPSILON}
    purse = {EACH_TIME: money["purses"][EACH_TIME]}
    hospitals, counted = _hospitals(given)
    stills: dict[str, Stills] = {
        "scene": [(shares(ONCE), "Dark lines are found in most draws."), figures],
        "causes": [(_graph(given, true, "The arrows"), "An arrow: one acts on the other.")],
        "noise": [(_pile(test), "Two hundred noisy answers; the dashed line decides.")],
        "person": [figures],
        "budget": [(shares(EACH_TIME), "What one purse buys, question by question.")],
        "once": [(shares(EACH_TIME), "Question by question"), (shares(ONCE), "Once")],
        "hospitals": hospitals,
        "limits": [(_graph(given, cpdag, "What data can identify"), either)],
    }
    people_asked = load_dataset(NETWORK, n=PEOPLE)
    moving: dict[str, tuple[str, dict[str, Any]]] = {
        "scene": ("scene", given | {"start": {"epsilon": EPSILON, "algorithm": ONCE}}),
        "causes": ("arrows", arrows),
        "noise": (
            "noise",
            {name: getattr(test, name) for name in ("level", "sensitivity", "epsilon")}
            | {"score": test.exact},
        ),
        "person": ("person", person_content(people_asked, "tub", "either", EPSILON)),
        "budget": ("money", money | {"purses": purse, "once": EACH_TIME}),
        "once": ("money", money),
        "limits": ("arrows", arrows | {"either": True, "digest": arrows["digest"] + "-either"}),
    }
    numbers = {"rows": kept["rows"], "epsilon": EPSILON, "right": right} | counted
    numbers["half"] = [_half_width(kept["rows"], epsilon) for epsilon in (EPSILON, SHARED)]
    for key, (title, words) in WORDS.items():
        yield Frame(key, title, words.format(**numbers), stills[key], *moving.get(key, ()))


def _half_width(rows: int, epsilon: float) -> str:
    """Return the half width, of 100, of the answer to a question with one adjustment set."""
    found = width(rows=rows, epsilon=epsilon, delta=DELTA, share=SHARE, levels=2, span=1.0)
    return of_hundred(found.half)


def _hospitals(given: dict[str, Any]) -> tuple[Stills, dict[str, Any]]:
    """One hospital's release against all of them combined, as :func:`engine.combine` does it.

    The pictures of both, and the numbers that the frame's words have.
    """
    data: Dataset = load_dataset(NETWORK, n=HOSPITALS * PATIENTS)
    params = MarginalPCParameters.build({"epsilon": SHARED})
    whole = known_whole(data.cardinalities, PATIENTS, params.total)

    def part(k: int) -> Dataset:
        codes = data.codes[k * PATIENTS : (k + 1) * PATIENTS]
        return Dataset.from_codes(codes, data.names, data.levels, truth=data.truth, public=True)

    def draw(seed: int) -> tuple[States, States]:
        runs = [
            run("marginal_pc", part(k), epsilon=SHARED, seed=HOSPITALS * seed + k)
            for k in range(HOSPITALS)
        ]
        diagnostics: list[Any] = [found.diagnostics for found in runs]
        moments = pooled([each.released for each in diagnostics])
        context = RunContext(Randomness(seed), Ledger(), data.names, trace=False)
        tests = NoisyTests(moments, leaks=False, whole=bool(moments.higher))
        found = conclude(data, tests, params, context, whole)
        return states_of(runs[0]), pair_states(found.matrix)

    alone, together = map(np.array, zip(*map(draw, range(DRAWS)), strict=True))
    true = np.array(given["scene"]["truth"]) > 0
    seen = [float(np.isin(s[:, true], FOUND).sum(axis=1).mean()) for s in (alone, together)]
    false = [float(np.isin(s[:, ~true], FOUND).sum(axis=1).mean()) for s in (alone, together)]
    stills: Stills = [
        (_graph(given, alone, "One hospital alone"), "One hospital alone"),
        (_graph(given, together, "All together"), f"{HOSPITALS} hospitals together"),
    ]
    numbers = {"shared": SHARED, "patients": PATIENTS, "many": HOSPITALS, "true": int(true.sum())}
    return stills, numbers | {"seen": seen, "false": false}


def _graph(given: dict[str, Any], states: np.ndarray[Any, Any], alt: str) -> Svg:
    """Every pair as dark as the share of the draws (rows) that hold it, with its usual arrow."""
    titles, scene = given["titles"], given["scene"]
    links = []
    for p, (i, j) in enumerate(combinations(range(len(titles)), 2)):
        forth, back = (states[:, p] == FORTH).sum(), (states[:, p] == BACK).sum()
        share = float(np.isin(states[:, p], FOUND).mean())
        if not share:
            continue
        a, b = (j, i) if back > forth else (i, j)
        kind = LinkClass.CORRECT if scene["truth"][p] else LinkClass.FALSE_POSITIVE
        arrow = 2 * max(forth, back) > share * len(states)
        links.append(Link(titles[a], titles[b], bool(arrow), kind, opacity=share))
    arrows = [(titles[i], titles[j]) for i, j in scene["arrows"]]
    shown = view(titles, links, arrows)
    return graph_svg(shown, alt=alt, inks=Inks("light", "#1a2230", "#ffffff"))


def _pile(test: NoisyTest) -> Svg:
    """Two hundred equally likely noisy values of one test, piled up along their axis."""
    shares = (np.arange(200) + 0.5) / 200 - 0.5
    values = test.exact - test.scale * np.sign(shares) * np.log(1 - 2 * np.abs(shares))
    far = float(np.max(np.abs([*np.quantile(values, (0.03, 0.97)), test.level]))) * 1.1

    def place(value: float) -> float:
        return 300 + 280 * value / far

    piles: dict[int, int] = {}
    body = ""
    for value in values[np.abs(values) < far]:
        column = round(place(value) / 8)
        piles[column] = high = piles.get(column, 0) + 1
        wrong = (value < test.level) != (test.exact < test.level)
        ink = "#c0392b" if wrong else "#1b6ca8"
        body += tag("circle", cx=column * 8.0, cy=206.0 - 7 * high, r=3.2, fill=ink)
    body += tag("path", d="M10 208H590", stroke="#8592a8", stroke_width=1.5)
    line = f"M{place(test.level):.1f} 20V208"
    body += tag("path", d=line, stroke="#8592a8", stroke_width=2, stroke_dasharray="5 4")
    return sheet(body, (0, 0, 600, 220), alt="Noisy answers on both sides of the threshold")

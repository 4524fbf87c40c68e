"""Steps of the story: titles, short texts, data, and pictures for browsers without scripts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from engine.algorithms.marginal_pc import MarginalPCParameters, conclude, known_whole
from engine.context import RunContext
from engine.data.dataset import Dataset
from engine.data.networks import load_dataset
from engine.effects.width import width
from engine.effects.words import of_hundred
from engine.graphs.links import MARKS, LinkClass
from engine.graphs.picture import Inks, Svg, graph_svg, people_svg, sheet, tag
from engine.graphs.view import Link, view
from engine.marginals.citest import NoisyTests
from engine.privacy.ledger import Ledger
from engine.question import SHARE
from engine.randomness import Randomness
from engine.release.pooling import pooled
from engine.runner import run
from engine.story.content import person_content, scene_content
from engine.story.modules import graph_content
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
from engine.teaching.money import purses
from engine.words.run import guesses

NETWORK, PEOPLE, ROWS = "asia", 1_000, 20_000
EPSILON, EACH = 1.0, 0.005  # ε of a run and of one test
FOUND = (LINE, FORTH, BACK)
EACH_TIME, ONCE = "priv_pc", "marginal_pc"  # methods that pay per test and once per run
HOSPITALS, PATIENTS, DRAWS, SHARED = 5, 20_000, 20, 0.3  # the last is the ε of each hospital
DELTA = 1e-6
Stills = list[tuple[Svg, str]]
ASKED, WEAK = ("smoke", "bronc"), ("tub", "either")  # a strong link and a weaker one
_LINES = {"patient": ASKED, "records": ASKED, "noise": ASKED, "line": WEAK}
_MUTED, _LIT, _PAPER = "var(--st-border-color)", "var(--found)", "var(--st-background-color)"
WORDS = {  # title and text per step; the graph and the dots match them
    "patient": (
        "A question about one patient",
        "Each dot is a simulated patient of a chest clinic. The large dot is one person who smokes "
        "and has bronchitis. Does smoking cause bronchitis? One record cannot answer. Many records "
        "can, but every patient wants to keep the record private. How far can we have both?",
    ),
    "causes": (
        "Cause and effect",
        "An arrow points from cause to effect. Smoking causes bronchitis and lung cancer, and both "
        "lead to breathlessness. The patients are simulated, so we know these {true} arrows. The "
        "task: a program has to find them in the patients' records.",
    ),
    "records": (
        "A thousand answers",
        "Smokers stand on the right, all others on the left. Orange dots have bronchitis: "
        "{shares[1]} of 100 smokers, and {shares[0]} of 100 others. Two facts that go together may "
        "be linked. The program tests every pair of facts for such a link.",
    ),
    "noise": (
        "Noise on one answer",
        "The strength of a link is one number. A private program adds a random number to it "
        "(noise), wide enough to hide any one person. Each dot is the same strength with new "
        "noise. ε says how much privacy: a small ε means much noise. Smoking and bronchitis are "
        "linked strongly, so the dots stay right of the dashed line.",
    ),
    "line": (
        "Near the line, noise decides",
        "A link whose strength falls left of the dashed line is removed. Tuberculosis and “TB or "
        "cancer” are linked in fewer patients, so this strength is near the line. Each orange dot "
        "fell to the left: with that noise the link is lost. Move ε to the left: the dots spread, "
        "and more of them turn orange.",
    ),
    "person": (
        "Replace one person",
        "Tables A and B differ in one record: one patient is replaced by another. Blue dots are "
        "noisy answers from A, orange dots from B. Where both have dots, the answer could come "
        "from either table, so it says little about that patient. A smaller ε makes them more "
        "alike. This is differential privacy.",
    ),
    "guessing": (
        "Can an attacker tell?",
        "An attacker knows all other records and guesses: A or B? By chance 50 of 100 guesses are "
        "right. At ε = {epsilon:g} even the best attacker is right at most {right} times. This "
        "guarantee is the same for every patient. Move ε: a smaller ε brings the number nearer to "
        "50.",
    ),
    "budget": (
        "Many questions, one budget",
        "A search asks many questions, and each answer reveals a little. The budget ε is like 100 "
        "coins for all of them. One method, Priv-PC, pays for each doubtful answer, so every "
        "answer has much noise. A pale link is found in few of {repeats} repetitions.",
    ),
    "once": (
        "Pay once",
        "Another method, Marginal PC, spends all coins before the first question. It measures "
        "small tables of counts with noise, and reads every answer from them. More questions cost "
        "nothing. At every ε of this slider it finds more links: move ε and compare with the step "
        "before.",
    ),
    "hospitals": (
        "Several hospitals",
        "{many} hospitals with {patients:,} patients each add noise to their tables of counts, at "
        "ε = {shared:g}, and share only these. One hospital finds {seen[0]:.1f} of {true} links on "
        "average, and {false[0]:.1f} false ones. All together find {seen[1]:.1f}, and "
        "{false[1]:.1f} false ones. No record leaves its hospital. No patient may be in two "
        "hospitals.",
    ),
    "limits": (
        "Limits",
        "Privacy protects a person's record, not a group's secret: a result about smokers concerns "
        "every smoker. Noise blurs effects: from {asked:,} records, the effect of smoking on "
        "bronchitis is known to ± {half[0]} of 100 at ε = {epsilon:g}, and to ± {half[1]} at "
        "ε = {shared:g}. The two are linked. Without an arrowhead, only other "
        "knowledge tells the cause.",
    ),
    "table": ("Your own table", "You can move ε yourself, teach this in a class, or use it."),
}


@dataclass(frozen=True)
class Step:
    """One step; ``stills`` are pictures with captions for browsers without scripts."""

    key: str
    title: str
    words: str
    stills: Stills


def story() -> tuple[list[Step], dict[str, Any]]:
    """Return the steps in order, and the content of the stage, with newly computed numbers."""
    kept = kept_scene(NETWORK)
    given = scene_content(kept, best="No privacy", steps={})
    data = load_dataset(NETWORK, n=ROWS)
    right, epsilons = guesses(EPSILON), kept["epsilons"]
    at = int(np.argmin([abs(math.log(e / EPSILON)) for e in epsilons]))
    methods = {m["key"]: m for m in kept["methods"] if m["key"] in (EACH_TIME, ONCE)}
    graph = graph_content(data)

    def shares(key: str) -> Svg:
        title = f"{methods[key]['title']} at ε = {EPSILON:g}, all draws at once"
        return _graph(given, states_in(kept)[key][at], title)

    tests = {
        key: noisy_test(data, query(data, *pair), EACH)
        for key, pair in (("noise", ASKED), ("line", WEAK))
    }
    cells = load_dataset(NETWORK, n=PEOPLE).codes[:, [data.names.index(c) for c in ASKED]]
    counts = [cells[cells[:, 0] == smokes, 1] for smokes in (1, 0)]
    percents = [round(100 * float((some == 0).mean())) for some in counts]
    pair = person_content(load_dataset(NETWORK, n=PEOPLE), "tub", "either", EPSILON)
    alone, together, counted = _hospitals(given)
    numbers = {"asked": PEOPLE, "epsilon": EPSILON, "right": right, "shares": percents}
    numbers |= counted | {"repeats": kept["draws"]}
    numbers["half"] = [_half_width(PEOPLE, epsilon) for epsilon in (EPSILON, SHARED)]
    people = people_svg(right, _MUTED, _LIT, _MUTED, across=20, alt=f"{right} of 100")
    stills: dict[str, Stills] = {
        "causes": [(_graph(given, np.array([graph["causal"]]), "The arrows"), "The true graph")],
        "noise": [(_pile(tests["noise"]), "Smoking and bronchitis: noisy strengths")],
        "line": [(_pile(tests["line"]), "Tuberculosis and “TB or cancer”: noisy strengths")],
        "guessing": [(people, f"At ε = {EPSILON:g} at most {right} of 100 guesses are right.")],
        "budget": [(shares(EACH_TIME), "Priv-PC pays for each doubtful answer.")],
        "once": [(shares(ONCE), "Marginal PC pays once.")],
        "hospitals": [
            (_graph(given, alone, "One hospital"), "One hospital"),
            (_graph(given, together, "All together"), f"{HOSPITALS} hospitals together"),
        ],
        "limits": [
            (_graph(given, np.array([graph["truth"]]), "Directions in data"), "Directions in data")
        ],
    }
    steps = [
        Step(k, title, w.format(**numbers), stills.get(k, [])) for k, (title, w) in WORDS.items()
    ]
    spent = [p.paid for p in purses(load_dataset(NETWORK, n=kept["rows"]), EACH_TIME, epsilons)]
    names = {name: k for k, name in enumerate(data.names)}
    lines = {key: sorted(names[c] for c in pair_) for key, pair_ in _LINES.items()}
    stage = {
        **{name: given[name] for name in ("titles", "layouts")},
        "scene": {**given["scene"], "methods": list(methods.values())},
        "methods": {"budget": EACH_TIME, "once": ONCE},
        "smokes": (cells[:, 0] == 0).tolist(),
        "ill": (cells[:, 1] == 0).tolist(),
        "tests": {
            key: {"score": t.exact, "level": t.level, "sensitivity": t.sensitivity, "each": EACH}
            for key, t in tests.items()
        },
        "pair": {
            "scores": [pair["z"], pair["moved"][pair["farthest"][0]][pair["farthest"][1]]],
            "sensitivity": pair["sensitivity"],
        },
        "spent": [round(coins, 1) for coins in spent],
        "together": [
            [float((together[:, p] == s).mean()) for s in FOUND] for p in range(together.shape[1])
        ],
        "lines": lines,
        "hospitals": HOSPITALS,
        "shared": SHARED,
        "patients": PATIENTS,
        "start": at,
    }
    return steps, stage


def _half_width(rows: int, epsilon: float) -> str:
    """Return half the width (in percent) of the answer to a question with one adjustment set."""
    found = width(rows=rows, epsilon=epsilon, delta=DELTA, share=SHARE, levels=2, span=1.0)
    return of_hundred(found.half)


def _hospitals(given: dict[str, Any]) -> tuple[States, States, dict[str, Any]]:
    """Compare one hospital's release with the combination that :func:`engine.combine` makes.

    Returns the states of both, (draws, pairs), and the numbers in the text of the step.
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
    numbers = {"shared": SHARED, "patients": PATIENTS, "many": HOSPITALS, "true": int(true.sum())}
    false = [float(np.isin(s[:, ~true], FOUND).sum(axis=1).mean()) for s in (alone, together)]
    return alone, together, numbers | {"seen": seen, "false": false}


def _graph(given: dict[str, Any], states: np.ndarray[Any, Any], alt: str) -> Svg:
    """Draw each pair as dark as its share of the draws (rows), with its most frequent arrow."""
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
    inks = Inks("light", "currentColor", _PAPER)
    drawn = graph_svg(view(titles, links, arrows), alt=alt, inks=inks)
    for name, mark in MARKS.items():  # the style sheet has the colours of both themes
        drawn = Svg(drawn.replace(f'"{mark.light}"', f'"var(--{name})"')) if name else drawn
    return drawn


def _pile(test: NoisyTest) -> Svg:
    """Draw two hundred equally likely noisy values of one test, stacked along the axis."""
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
        ink = "var(--false_positive)" if wrong else _LIT
        body += tag("circle", cx=column * 8.0, cy=206.0 - 7 * high, r=3.2, fill=ink)
    body += tag("path", d="M10 208H590", stroke=_MUTED, stroke_width=1.5)
    line = f"M{place(test.level):.1f} 20V208"
    body += tag("path", d=line, stroke=_MUTED, stroke_width=2, stroke_dasharray="5 4")
    return sheet(body, (0, 0, 600, 220), alt="Noisy answers on both sides of the threshold")

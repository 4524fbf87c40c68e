"""The guided tour: its steps in order, with the text and the paper's section of each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    """One screen: its name in the address, a short name, a title, plain text, and sources.

    A screen ``under`` another one is an aside, which opens from that one or by its address.
    """

    key: str
    short: str
    title: str
    words: str
    source: str
    under: str = ""


STEPS = (
    Step(
        "cause",
        "Cause",
        "The goal: find which thing causes which",
        "Each box is recorded about every person. An arrow points from cause to effect. Reverse an "
        "arrow: would the data look different? For some arrows they would not.",
        "Priv-PC, section 2.2; Verma and Pearl 1990.",
    ),
    Step(
        "search",
        "Search",
        "The search: begin with every link, then remove links by tests",
        "A test asks: do these two still go together once others are known? If not, the link is "
        "removed. Order 0 tests the pair alone, order 1 conditions on one variable, and so on.",
        "Priv-PC, appendix A, Algorithm 3; Spirtes, Glymour and Scheines.",
    ),
    Step(
        "noise",
        "Noise",
        "Noise on one test",
        "A private run sees the strength of each link with noise. The noise is wide enough to hide "
        "any one person. Far from the threshold nothing changes. Near it, noise decides. Lower ε, "
        "and the dots spread.",
        "Priv-PC, sections 2.1 and 3.3; research/theory/privacy_proofs.md.",
    ),
    Step(
        "draws",
        "Draw again",
        "Same data, new noise: a different graph each time",
        "Each picture is one private run. A real analyst gets one of them, and cannot know which.",
        "Priv-PC, section 4, which repeats every run for the same reason.",
        under="noise",
    ),
    Step(
        "person",
        "One person",
        "The guarantee: replace one person, and the output hardly changes",
        "Change one person's answer. A coin picks one of the two tables, and its noisy output is "
        "released. Guess the table. Differential privacy limits how often anyone can be right.",
        "Priv-PC, section 2.1, Definition 1; the limit e^ε / (1 + e^ε): Wasserman and Zhou 2010.",
    ),
    Step(
        "sieve",
        "Sieve, examine",
        "Sieve cheaply, then examine the few that matter",
        "Most pairs clearly depend on each other. Priv-PC asks every question first with a cheap, "
        "noisy sieve, and spends real budget only on “perhaps independent”. Drag T, T − t and the "
        "size m of the sample.",
        "Priv-PC, section 3.1, Algorithm 1 and Theorem 2; section 3.2 on the sample's size m.",
        under="budget",
    ),
    Step(
        "orders",
        "Later orders",
        "Later orders see weaker links, so the first orders get more budget",
        "Conditioning splits the rows into strata, so a dependence comes closer to the threshold. "
        "CURATE allocates its budget to the orders before it begins.",
        "CURATE, section III-A, Algorithm 1, Lemmas 1 and 2.",
        under="budget",
    ),
    Step(
        "bound",
        "Broken bound",
        "One record that a published bound does not cover",
        "Noise hides a person only if the sensitivity is right. These two tables differ in one "
        "record. The functions that run the tests compute the numbers now.",
        "Priv-PC, section 3.3, Theorem 3 and appendix D; research/theory/privacy_proofs.md.",
    ),
    Step(
        "budget",
        "Budget",
        "The privacy budget: the same total, spent in three ways",
        "The budget ε is 100 coins. Priv-PC pays for each “perhaps independent”. CURATE pays for "
        "every test, and more at the beginning. Marginal PC pays once for noisy tables, and its "
        "tests read only those.",
        "Priv-PC, sections 2.1 and 3.1; CURATE, section III-A; research/theory/marginal_pc.md.",
    ),
    Step(
        "shuffle",
        "Shuffle",
        "Shuffle: no link is left. Who still sees one?",
        "Real data come without their true graph, so false positives cannot be counted. But every "
        "column can be shuffled separately: what does each algorithm find then? Guess first.",
        "research/theory/privacy_audit.md; every ε field shows such a count.",
    ),
    Step(
        "study",
        "Your study",
        "Your study: how many people, and which ε?",
        "Choose the number of people and ε. Ten runs on that many rows of this network show the "
        "result. Then forecast it for your own columns.",
        "docs/guide/my-data.md; the page My data.",
    ),
)
BY_KEY = {step.key: step for step in STEPS}
WAY = tuple(step for step in STEPS if not step.under)
OLD = {"truth": "cause", "once": "budget", "now": "study"}  # steps in addresses of version 0.3

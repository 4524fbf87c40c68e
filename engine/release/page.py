"""A release for people: its graph as edges and as a picture, its words, and one HTML page.

The page has no script and loads nothing from elsewhere.
"""

from __future__ import annotations

import json
from html import escape

import numpy as np

from engine.graphs.cpdag import DIRECTED, Adjacency, matrix_of
from engine.graphs.edges import Edge, annotated, edges, svg
from engine.graphs.known import known_of
from engine.graphs.weighed_colliders import SHOWN
from engine.percent import count, percent, probability
from engine.release.checking import answers, moments_of
from engine.release.file import Release, digest, neighbours
from engine.release.noise import ALARM
from engine.release.pooling import WARN, drift

EDGES = ("Edge", "Link confidence", "Directions")
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse;margin:1rem 0}td,th{border:1px solid #999;padding:.2rem .6rem;"
    "text-align:left}td.n{text-align:right}"
)


def to_html(release: Release) -> str:
    """Write the page; everything on it is in the JSON file or follows from it."""
    parts = [
        f"<h1>{escape(release.name)}: a private release</h1>",
        f"<p>{escape(promise_words(release))}</p>",
        "<p>Noise: discrete Gaussian from the operating system's random bytes (OpenDP); there is "
        "no seed.</p>",
        *(f"<p>{escape(words)}</p>" for words in combined_words(release)),
        f"<p>{_origin(release)}</p>",
        *_answered(release),
        "<h2>Graph</h2>",
        release_svg(release),
        "<h2>Edges</h2>",
        _table(EDGES, edge_words(release)),
        f"<p>{escape(confidence_words(release))}</p>",
        f"<p>{escape(doubt_words(release))}</p>",
        "<h2>One-way tables, with their noise</h2>",
        _table(("Column", "Level", "Share", "±"), _margins(release)),
    ]
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(release.name)}: '
        f"a private release</title><style>{_STYLE}</style><body>{''.join(parts)}</body></html>\n"
    )


def _answered(release: Release) -> list[str]:
    """Return the answers to the questions that the release was made for."""
    parts: list[str] = []
    for found in answers(release):
        title = f"{found.cause} and {found.outcome}"
        words = (f"<b>{escape(found.sentence)}</b>", escape(" ".join(found.notes)))
        parts += [f"<h2>Question: {escape(title)}</h2>", *(f"<p>{each}</p>" for each in words)]
    return parts


def promise_words(release: Release) -> str:
    """Return the guarantee of a release in words."""
    epsilon, delta = release.total.epsilon, release.total.delta
    who = "records" if release.schema.person is None else "persons"
    return (
        f"This graph was learned from {release.rows:,} {who} with (ε, δ) = ({epsilon:g}, "
        f"{delta:g}) differential privacy. Neighbours: {neighbours(release.schema)}. It holds for "
        "this file and for everything that is calculated from it; other releases of the same "
        "records add up."
    )


def signed_words(release: Release) -> str:
    """Whether a release is signed, with the beginning of the key."""
    made = release.signature
    return "not signed" if made is None else f"signed with {made.public_key[:8]}…"


def _origin(release: Release) -> str:
    """How a reader checks the file, and what ties it to its maker."""
    words = (
        "<code>python -m engine check FILE.json</code> tells whether the file is consistent: "
        "whether graph and promise follow from the released numbers. That noise was drawn, and "
        f"from which records, no file can prove. Its digest is <code>{digest(release)}</code>. "
    )
    if release.signature is None:
        return words + "It is not signed: nothing ties it to its maker."
    return words + (
        "File and page are signed with the Ed25519 key "
        f"<code>{escape(release.signature.public_key)}</code>: compare it with the one that the "
        "maker gave you by another way (<code>python -m engine check FILE.json --key KEY --page "
        "THIS.html</code>)."
    )


def check_words(release: Release, p: float, key: str | None, page: bool) -> list[str]:
    """Return the verdict of a check in words, and its assumptions.

    ``p`` is the check's; ``key`` was given by the reader, and so was the page, if it ``page``.
    """
    total, edges = release.total, count(len(release.confidence), "edge")
    who = "Not signed: nothing ties it to a maker."
    if (made := release.signature) is not None:
        given = "the one that you gave" if key else "compare it with one that came by another way"
        who = f"Signed with the key {made.public_key}: {given}."
    facts = release.applied and json.dumps(release.applied.to_json())
    return [
        f"Consistent: {edges}, as derived again from the released numbers, and their stated noise "
        f"is that of (ε, δ) = ({total.epsilon:g}, {total.delta:g}).",
        *([f"Knowledge was applied afterwards: {facts}."] if facts else []),
        "The numbers are not too good for that noise (a bound on the probability of better ones: "
        f"{p:.2g}, alarm below {ALARM:g}). That it was drawn, and from which records, no file can "
        "prove.",
        *combined_words(release),
        f"Digest {digest(release)}. {who}{' The page belongs to it.' * page}",
    ]


def edge_words(release: Release) -> list[tuple[str, ...]]:
    """Every edge as it is drawn, its confidence, and those of its directions, which sum to 1."""
    directions = {(a, b): (p, q) for a, b, p, q in release.arrows}
    found: list[tuple[str, ...]] = []
    for edge, (a, b, confidence) in zip(release_edges(release), release.confidence, strict=True):
        ways = "–"
        mark = "—" if edge.kind != DIRECTED else "→" if edge.source == a else "←"
        if (a, b) in directions:
            there, back = (round(p, 3) for p in directions[a, b])
            neither = max(0.0, 1 - there - back)
            ways = f"→ {percent(there, 1)}, ← {percent(back, 1)}, either {percent(neither, 1)}"
        found.append((f"{a} {mark} {b}", probability(confidence), ways))
    return found


def doubt_words(release: Release) -> str:
    """How many of the links are probably false positives, by their own confidences."""
    wrong = round(sum(1 - confidence for _, _, confidence in release.confidence))
    return f"Links that are probably false: {wrong} of {len(release.confidence)}."


def confidence_words(release: Release) -> str:
    """Explain the two confidences, and count the arrows that are drawn as lines."""
    words = "Link confidence: how often links with such evidence are real on random networks."
    if not release.arrows:
        return f"{words} The directions were voted: their arrows have no confidence of their own."
    lines = int((release_drawn(release) & ~release.matrix).sum())
    some = f" ({lines} of them here; the file's graph keeps them)" if lines else ""
    words = (
        f"{words} Directions: the probability of each if the link is real, and that either fits "
        f"the data alike; an arrow below {percent(SHOWN)} is drawn as a line{some}."
    )
    if (known := known_of(release.knowledge, release.names)) is None:
        return words
    turned, links = known.fixed(release.matrix)
    return (
        f"{words} What was stated as known settles {turned} of {links} directions by itself: those "
        "arrows are no findings."
    )


def _margins(release: Release) -> list[tuple[str, ...]]:
    """Every column's released shares, and one standard deviation of their noise."""
    moments, levels = moments_of(release)
    rows: list[tuple[str, ...]] = []
    for i, (name, labels) in enumerate(zip(release.names, levels, strict=True)):
        # A level's share is 1/r + h m with contrasts of squared length 1 - 1/r.
        noise = np.sqrt(moments.noise_one[i] * (1 - 1 / len(labels)))
        for label, share in zip(labels, moments.margin(i), strict=True):
            rows.append((name, label, f"{share:.4f}", f"{noise:.4f}"))
    return rows


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    cells = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join(f"<tr>{''.join(f'<td>{escape(c)}</td>' for c in row)}</tr>" for row in rows)
    return f"<table><tr>{cells}</tr>{body}</table>"


def drift_words(release: Release) -> str:
    """How far the combined populations differ, by column, in a sentence."""
    overall, columns = drift([moments_of(part)[0] for part in release.parts])
    if overall < WARN:
        return (
            f"The releases' single columns agree within noise and sampling (a standardised "
            f"chi-square of {overall:.1f}; from {WARN:g} on populations differ)."
        )
    worst = sorted(zip(columns.tolist(), release.names, strict=True), reverse=True)[:3]
    most = ", ".join(f"{name} ({value:.0f})" for value, name in worst if value >= WARN)
    return (
        f"The releases are of different populations: their single columns differ by a standardised "
        f"chi-square of {overall:.0f}, where less than {WARN:g} is noise and sampling; most in "
        f"{most or worst[0][1]}. The graph is that of their mixture."
    )


def combined_words(release: Release) -> tuple[str, ...]:
    """Return the combined parts, the assumption and the populations' difference; none for one."""
    if not release.parts:
        return ()
    who = ", ".join(
        f"{part.name} (n = {part.rows:,}, ε = {part.total.epsilon:g}, {signed_words(part)})"
        for part in release.parts
    )
    return (
        f"Combined from {len(release.parts)} releases: {who}. Which release holds how many people "
        "is not hidden.",
        release.rests_on,
        drift_words(release),
    )


def release_edges(release: Release) -> list[Edge]:
    """Return the edges of a release with the probability of link and arrow."""
    at = {name: i for i, name in enumerate(release.names)}
    link = {(at[a], at[b]): share for a, b, share in release.confidence}
    arrow = {(at[a], at[b]): there for a, b, there, _ in release.arrows}
    arrow |= {(at[b], at[a]): back for a, b, _, back in release.arrows}
    return edges(release.names, release.matrix, (), link, arrow)


def release_drawn(release: Release) -> Adjacency:
    """Return the (d, d) matrix for other tools: an arrow that pictures draw as a line is one."""
    return matrix_of(annotated(release.names, release_edges(release)), release.names)


def release_svg(release: Release) -> str:
    """Draw the graph as SVG, the same to the byte on every machine: pages are compared by bytes."""
    alt = f"The graph of the release {release.name}"
    return svg(release.names, release_edges(release), alt)

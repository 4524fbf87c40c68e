"""Run one algorithm on one dataset: ``run()`` -> :class:`RunResult`."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import ThreadpoolController

from engine.algorithm import Algorithm
from engine.context import RunContext, Step
from engine.data.dataset import Dataset
from engine.data.schema import Schema
from engine.errors import InputError
from engine.graphs.known import known_of
from engine.knowledge import Knowledge, check_names
from engine.monitor import Monitor, OnProgress, Stop
from engine.params import Parameters
from engine.privacy.ledger import Ledger
from engine.randomness import Randomness
from engine.registry import algorithm
from engine.result import RunResult

if TYPE_CHECKING:
    from engine.question import Question, Questions


@cache
def _blas() -> ThreadpoolController:
    """Return the linear algebra libraries of this process, looked up once."""
    return ThreadpoolController()


def one_thread() -> AbstractContextManager[Any]:
    """Run linear algebra on one thread.

    The matrices here are so small that threads mostly wait for each other: one is 20 times faster
    for NOTEARS on Alarm.
    """
    limited: AbstractContextManager[Any] = _blas().limit(limits=1, user_api="blas")
    return limited


def check_seed(seed: Any) -> int:
    """Return the seed as an int, or raise InputError unless it is a whole number of at least 0."""
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise InputError(f"seed must be a whole number of at least 0; {seed!r} is not.")
    return int(seed)


def run(
    key: str,
    data: Any,
    *,
    schema: Schema | None = None,
    seed: int | None = None,
    trace: bool = True,
    on_step: Callable[[Step], None] | None = None,
    stop: Stop | None = None,
    on_progress: OnProgress | None = None,
    knowledge: Knowledge | None = None,
    question: Questions | None = None,
    **values: Any,
) -> RunResult:
    """Run an algorithm on a dataset.

    Args:
        key: An algorithm's key, such as "marginal_pc" (:data:`engine.ALGORITHMS`).
        data: A Dataset (:func:`engine.load_dataset`, :func:`engine.read_table`), or a frame, an (n,
            d) array or the path of a file, which are read first.
        schema: The declared public facts for reading a frame, array or file. Without a declared
            schema the run has no guarantee.
        seed: Determines every draw. By default it is 0 for public data, and a secret one for
            private data that is never shown. A seed given for private data makes ``seed_known``
            true, and the run has no guarantee.
        trace: False stores no steps.
        on_step: Called with each step as it happens.
        stop: A ``threading.Event``, or a function that returns whether to stop. The result then
            contains every decision made until the stop.
        on_progress: Called after every 20 steps with None, because the length of a run is unknown,
            and a phrase.
        knowledge: Background knowledge about the causes; by default the schema's. It is public, so
            the guarantee is the same with and without it.
        question: The effect, or several, on which Marginal PC spends a share of its budget; their
            ``known`` is the background knowledge. It is public.
        values: The algorithm's parameters by name, such as ``epsilon=1.0``.

    Returns:
        The graph, its scores if the ground truth is known, the charges and the trace.

    Raises:
        InputError: In one sentence, if any argument does not fit.

    Examples:
        >>> from engine import load_dataset, run
        >>> result = run("marginal_pc", load_dataset("asia", n=20_000), epsilon=1.0)
        >>> len(result.skeleton), result.proven
        (9, Guarantee(epsilon=1.0, delta=1e-06))
        >>> result.edges.columns.tolist()
        ['source', 'target', 'edge_confidence', 'direction_confidence', 'class', 'link', 'arrow']
    """
    chosen = algorithm(key)
    _refuse_guesses(chosen, values)
    params = chosen.params.build(values)
    if schema is not None or not isinstance(data, Dataset):
        from engine.data.reading import as_dataset  # a Dataset needs no reader

        data = as_dataset(data, schema)
    if seed is not None:
        seed = check_seed(seed)
    elif data.public:
        seed = 0
    questions: tuple[Question, ...] = ()
    if question is not None:
        questions, knowledge = check_questions(chosen, question, knowledge)
    elif data.schema is not None and chosen.key == "marginal_pc":
        questions = data.schema.questions
    stated = _stated(chosen, data, knowledge)
    session = RunContext(
        randomness=Randomness(seed),
        ledger=_ledger(chosen, data, params, seed),
        names=data.names,
        reveal=data.public,
        trace=trace,
        known=known_of(stated, data.names) if stated else None,
        questions=questions,
        on_step=on_step,
        monitor=Monitor(on_progress, stop),
    )
    start = time.perf_counter()
    with one_thread():
        outcome = chosen.run(data, params, session)
    seconds = time.perf_counter() - start
    return RunResult(
        **vars(outcome),
        algorithm=key,
        params=params,
        seed=seed,
        seed_known=seed is not None and not data.public,
        public=data.public,
        dataset=data.name,
        fingerprint=data.identity,
        names=data.names,
        ledger=session.ledger,
        steps=tuple(session.steps),
        seconds=seconds if data.public else math.nan,
        truth=data.truth,
        knowledge=stated or None,
    )


def check_questions(
    chosen: Algorithm, question: Questions, knowledge: Knowledge | None
) -> tuple[tuple[Question, ...], Knowledge | None]:
    """Return the questions and background knowledge of a run; InputError if they do not fit."""
    from engine.question import listed, one_knowledge  # most runs have no question

    questions = listed(question)
    if chosen.key != "marginal_pc":
        raise InputError("Marginal PC (marginal_pc) answers questions; other algorithms do not.")
    return questions, one_knowledge(questions, knowledge)


def _refuse_guesses(chosen: Algorithm, values: Mapping[str, Any]) -> None:
    """Raise InputError that names our parameter for a keyword of other libraries."""
    known = {spec.name for spec in chosen.params.specs()}
    for word in {*values} - known:
        if word in ("epsilon", "delta"):
            raise InputError(
                f"{chosen.title} ({chosen.key}) is not private and accepts no {word}; "
                "a private one is marginal_pc."
            )
        if word in ("random_state", "random_seed", "rng"):
            raise InputError(f"A run has no {word}; did you mean seed?")


def _stated(chosen: Algorithm, data: Dataset, knowledge: Knowledge | None) -> Knowledge | None:
    """Return the given knowledge or the schema's; InputError if it would give away the answer."""
    if knowledge is None and data.schema is not None and chosen.columns is None:
        knowledge = data.schema.knowledge
    if knowledge and chosen.columns is not None:
        raise InputError(
            f"{chosen.title} accepts no background knowledge: it would decide the answer."
        )
    if knowledge is not None:
        check_names(knowledge, data.names)
    return knowledge


GIVEN_SEED = "the seed was given, and an attacker who knows it can remove the noise"
FOUND_SCHEMA = (
    "the schema was found in the data and not declared, and one record with a new value would "
    "change it with certainty"
)


def _ledger(chosen: Algorithm, data: Dataset, params: Parameters, seed: int | None) -> Ledger:
    """Return the algorithm's ledger, without guarantee if the run's environment leaks."""
    if chosen.ledger is None:
        return Ledger()
    ledger = chosen.ledger(data, params)
    if not data.public and seed is not None:
        ledger.void(GIVEN_SEED)
    if not (data.public or data.declared):
        ledger.void(FOUND_SCHEMA)
    return ledger

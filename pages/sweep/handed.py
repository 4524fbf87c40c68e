"""Studies that come as files, that leave as files, and two as one."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from engine import InputError
from engine.release.places import private_folder
from engine.studies import CellResult, ResultStore
from engine.studies.sharing import joined, read_study, study_file
from pages import mode
from pages.shell import words as text
from pages.shell.strip import refuse
from pages.sweep import jobs
from pages.sweep.form import draft, fill_draft, wanted_in
from pages.sweep.jobs import SLOT, StudyJob, current
from pages.sweep.state import Wanted

MOST = 50  # megabytes of a file that is handed in; 50,000 runs have fewer
_LONGEST = 60


def of_file(content: bytes, name: str) -> StudyJob:
    """The study that a file holds, kept nowhere yet; raises InputError in one sentence."""
    if len(content) > MOST * 2**20:
        raise InputError(f"This file is larger than {MOST} MB; read it on the command line.")
    found = read_study(content, text.plain(Path(name).name))
    asked = [wanted for wanted in map(_wanted, found.studies.values()) if wanted is not None]
    return _study(_free(Path(name).stem), found.results, asked)


def together(one: StudyJob, other: StudyJob) -> StudyJob:
    """Two studies as one, kept nowhere yet; raises InputError where they do not fit together."""
    for job in (one, other):
        if job.running:
            raise InputError(f"{job.name} is still running; add it when it has ended.")
        if job.own is not None or (job.wanted is not None and job.wanted.own):
            raise InputError("Runs on a person's own data are added to nothing.")
    results = joined((one.name, one.results), (other.name, other.results))
    asked = [job.wanted for job in (one, other) if job.wanted is not None]
    return _study(_free(f"{one.name} + {other.name}"), results, asked if len(asked) == 2 else [])


def file_of(job: StudyJob) -> bytes:
    """The study as a file that somebody else can open."""
    return study_file(job.results, _specs(job))


def keep(job: StudyJob) -> StudyJob:
    """Keep a study among its person's; for somebody unknown it stays in this session."""
    if jobs.folder() is None:
        job.memory = ResultStore(":memory:")
        job.memory.put(job.results)
        return job
    job.path = jobs.path_of(job.name)
    private_folder(job.path.parent)
    job.path.touch(mode=0o600)
    with ResultStore(job.path) as store:
        store.put(job.results)
        for name, spec in _specs(job).items():
            store.save_study(name, spec)
    return job


def _specs(job: StudyJob) -> dict[str, dict[str, Any]]:
    return {} if job.wanted is None else {job.name: job.wanted.as_json()}


def _study(name: str, results: Sequence[CellResult], asked: Sequence[Wanted]) -> StudyJob:
    """A study with these runs; its settings are known if together they ask for all of them."""
    wanted = _of_all(asked)
    if wanted is not None:
        job = jobs.study_from(name, None, {name: wanted.as_json()}, results)
        if job.done == len(results):
            return job
    return jobs.study_from(name, None, {}, results)


def _wanted(spec: Mapping[str, Any]) -> Wanted | None:
    """What a stranger's file says that it asked for; None where no form could ask for it."""
    try:
        return wanted_in(json.dumps(spec))
    except InputError:
        return None


def _of_all(asked: Sequence[Wanted]) -> Wanted | None:
    found = asked[0] if asked else None
    for other in asked[1:]:
        found = None if found is None else found.joined(other)
    try:
        return None if found is None else wanted_in(json.dumps(found.as_json()))
    except InputError:
        return None


def _free(wished: str) -> str:
    """A name like the one wished that a study may have and none has yet."""
    base = re.sub(r"[^\w .+-]", "", wished, flags=re.ASCII).strip(" .+-")[: _LONGEST - 4] or "study"
    taken, name, number = set(jobs.saved()), base, 1
    while name in taken:
        number += 1
        name = f"{base} {number}"
    return name


# On the page ----------------------------------------------------------------------------


def file_view() -> None:
    """Open a study that somebody handed on, or add it to the one on screen."""
    if mode.public():
        return
    file = st.file_uploader("A study's file", type=["db"], key="sweep-file", max_upload_size=MOST)
    if file is None:
        return
    left, right = st.columns(2, gap="small")
    arguments: Any = {"args": (file.getvalue(), file.name), "width": "stretch"}
    left.button("Open file", key="sweep-open-file", on_click=open_file, **arguments)
    right.button("Add to shown", key="sweep-add-file", on_click=add_file, help=ADDED, **arguments)


ADDED = "A new study with the runs of the one on screen and of this one."


def open_file(content: bytes, name: str) -> None:
    """Show the study that a file holds."""
    _show(lambda: keep(of_file(content, name)))


def open_saved(name: str) -> None:
    """Show a kept study and its settings."""
    _show(lambda: jobs.opened(name))


def add_file(content: bytes, name: str) -> None:
    """Show the study on screen together with the one that a file holds."""
    _show(lambda: keep(together(current(), of_file(content, name))))


def add_saved(name: str) -> None:
    """Show the study on screen together with a kept one."""
    _show(lambda: keep(together(current(), jobs.opened(name))))


def _show(make: Callable[[], StudyJob]) -> None:
    """Show a study and its settings; what is wrong with it is said on the page."""
    try:
        job = make()
    except (InputError, OSError) as error:
        refuse("sweep", str(error))
        return
    SLOT.show(job)
    if job.wanted is not None:
        fill_draft(job.wanted)
        draft()["name"] = job.name

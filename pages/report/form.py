"""What a presenter types: the question that the report answers, who answers it, and when."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from engine.params import Parameters, param
from pages.shell import state
from pages.shell.form import parameters
from pages.shell.state import Draft, defaults, kept

PAGE = "report"


@dataclass(frozen=True, kw_only=True)
class Heading(Parameters):
    """The lines above the report's own sentence."""

    question: str = param(
        "", "Question", high=160, help="What the reader wants to know, in their words."
    )
    author: str = param("", "Author", high=80)
    date: str = param("", "Date", high=40, help="As it should be read: 22 November 2026.")

    @property
    def signed(self) -> str:
        """Author and date."""
        return ", ".join(part for part in (self.author, self.date) if part)


def draft(own: bool) -> Draft:
    """What is typed now, or what a link has; a question about a person's own data is theirs."""
    return kept("report_own", defaults(Heading)) if own else state.of(Heading, f"{PAGE}.")


def fields(form: Draft) -> None:
    """The fields, in a row."""
    for column, spec in zip(st.columns([3, 2, 1.4]), Heading.specs(), strict=True):
        with column:
            parameters([spec], form, key=PAGE)

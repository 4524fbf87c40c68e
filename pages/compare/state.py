"""Runs that are pinned beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import parse_qsl, urlencode

from engine import InputError
from pages.shell import address
from pages.shell.data import in_force
from pages.shell.runs import Shown, compute, shown
from pages.shell.session import Place
from pages.shell.settings import Settings, filled
from pages.shell.strip import refuse

MOST = 4
_PINS: Place[list[Shown] | None] = Place("pins")
MOST_COLUMNS = 80  # a larger dataset is not run without being asked for


def pins() -> list[Shown]:
    """The pinned runs of this session; at first the Run page's, beside PC without privacy.

    Runs on a file that another has replaced are no longer among them.
    """
    pinned = _PINS.get()
    if pinned is None:
        run = shown()
        pinned = [run]
        _PINS.put(pinned)
        plain = Settings(run.settings.source, "pc", filled("pc", {}), 0)
        # Own data are never read without noise unless a person asks for it.
        if run.data.public and run.data.d <= MOST_COLUMNS and run.settings != plain:
            pinned.append(compute(plain))
    pinned[:] = [run for run in pinned if in_force(run.data)]
    return pinned


def follow() -> None:
    """After a link, Reload, Back or Forward pin the runs the address names; own data's are not."""
    query = address.arrived("compare")
    named = [query[f"pin{k}"] for k in range(MOST) if f"pin{k}" in query] if query else []
    if not named:
        return
    found: list[Shown] = []
    for words in named:
        try:
            found.append(compute(Settings.from_query(dict(parse_qsl(words)))))
        except InputError as error:
            refuse("compare", str(error))
    _PINS.put(found)


def keep_address() -> None:
    """Write the pinned runs into the address, settings and seed, if they are on public data."""
    public = [run.settings for run in pins() if run.settings.seed is not None]
    named = {f"pin{k}": urlencode(settings.to_query()) for k, settings in enumerate(public)}
    address.write("compare", address.source_query() | named)


def pin(run: Shown) -> None:
    """Add a run, once, while there is room; what is in the way is left for the page to say."""
    pinned = pins()
    if run.settings.seed is not None and any(p.settings == run.settings for p in pinned):
        refuse("compare", "This run is pinned already.")
    elif len(pinned) >= MOST:
        refuse("compare", f"{MOST} runs are the most; unpin one first.")
    elif run not in pinned:
        pinned.append(run)


def pin_only(runs: Sequence[Shown]) -> None:
    """These and no other."""
    _PINS.put(list(runs))


def unpin(index: int) -> None:
    """Remove the pin."""
    del pins()[index]

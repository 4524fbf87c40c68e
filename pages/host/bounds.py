"""What this process may use: cores and memory, as its container or service was given them."""

from __future__ import annotations

import ctypes
import gc
import math
import os
from contextlib import suppress
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")
MEMBERSHIP = Path("/proc/self/cgroup")


def cores() -> int:
    """Whole cores this process may use: its affinity, and the quota of every group it is in."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, math.floor(min([float(allowed or 1), *_quotas()])))


def memory() -> int:
    """Bytes this process may use: the machine's, or the smallest limit of a group it is in."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limits = [
        int(text)
        for name in ("memory.max", "memory.limit_in_bytes")
        for text in _said("memory", name)
        if text.isdecimal()
    ]
    return min([machine, *limits])


def resident() -> int:
    """Bytes of memory this process holds."""
    return _statm(1)


def writable() -> int:
    """Bytes that this process may write to, used or not: what a limit on its data counts."""
    return _statm(5)


def _statm(field: int) -> int:
    """Bytes in a field of what the system says of this process's memory."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[field]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def leave_no_core() -> None:
    """A process that dies, and what it starts, writes no memory to the disk: it has rows in it."""
    with suppress(ImportError, ValueError, OSError):  # where the system can say so
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def give_back() -> None:
    """Return to the system what nothing refers to any more; for moments at which much was let go.

    The C library keeps freed memory for later; a file of 90 MB leaves gaps that it never returns.
    """
    gc.collect()
    with suppress(AttributeError, OSError):  # a C library without it
        ctypes.CDLL(None).malloc_trim(0)


def _quotas() -> list[float]:
    """Cores by quota and period, of every group that has one."""
    found = []
    for text in _said("cpu", "cpu.max"):
        quota, _, period = text.partition(" ")
        if quota.isdecimal() and period.isdecimal():
            found.append(int(quota) / int(period))
    quotas, periods = (_said("cpu", f"cpu.cfs_{name}_us") for name in ("quota", "period"))
    found += [int(q) / int(p) for q, p in zip(quotas, periods, strict=False) if int(q) > 0]
    return found


def _said(controller: str, name: str) -> list[str]:
    """A file's text in the process's group and those above it; in a container the root is its own.

    Version 2 of control groups has one tree, version 1 one for each controller.
    """
    found = []
    for folder in _folders(controller):
        try:
            found.append((folder / name).read_text(encoding="ascii").strip())
        except OSError:
            continue
    return found


def _folders(controller: str) -> list[Path]:
    try:
        lines = MEMBERSHIP.read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    found = [GROUPS, GROUPS / controller]
    for line in lines:
        _, controllers, path = line.split(":", 2)
        root = GROUPS / controller if controllers else GROUPS
        if not controllers or controller in controllers.split(","):
            group = Path(path.lstrip("/"))
            found += [root / one for one in (group, *group.parents) if one.parts]
    return found

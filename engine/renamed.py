"""Keep the names of the previous version readable."""

from __future__ import annotations

import warnings
from typing import Any


class Renamed:
    """An attribute's deprecated name: reading it warns and returns the renamed attribute."""

    def __init__(self, name: str):
        self._name = name

    def __set_name__(self, owner: type, name: str) -> None:
        self._warning = f"{owner.__name__}.{name} is called {self._name}"

    def __get__(self, instance: object, owner: type) -> Any:
        """Warn and return the attribute under its new name."""
        if instance is None:
            return self
        warnings.warn(self._warning, DeprecationWarning, stacklevel=2)
        return getattr(instance, self._name)

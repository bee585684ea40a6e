"""What apps declare of themselves, from `manifests.toml`."""

from __future__ import annotations

from typing import TypeVar

from handrail_sim.resources import table
from handrail_sim.system.activities import App

AppT = TypeVar("AppT", bound=App)
_MANIFESTS = table("apps/manifests.toml")


def declared(cls: type[AppT]) -> type[AppT]:
    """Give a class what stands in the table under its name; lists become tuples, as in a manifest."""
    for name, value in _MANIFESTS[cls.__name__].items():
        setattr(cls, name, tuple(value) if isinstance(value, list) else value)
    return cls

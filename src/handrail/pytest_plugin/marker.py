"""What `@pytest.mark.handrail(…)` says of a test's phone. What it can't mean fails the test, with a hint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any

import pytest


@dataclass(frozen=True, slots=True)
class MarkedPhone:
    """The phone that a test asks for."""

    app: str | None = None
    faults: tuple[str | Mapping[str, Any], ...] = ()
    seed: int = 1
    helper: Any = None
    hosts: tuple[str, ...] = ()

    @property
    def is_simulated_only(self) -> bool:
        """Whether it asks for what only a simulated phone has."""
        return bool(self.faults) or self.seed != 1


NAMES = tuple(one.name for one in fields(MarkedPhone))
_KINDS: dict[str, tuple[type, ...]] = {"app": (str,), "seed": (int,), "helper": (str,)}


def options_of(item: pytest.Item) -> MarkedPhone:
    """The markers of a test, its class and its module; the nearest one wins, word by word."""
    given: dict[str, Any] = {}
    for marker in item.iter_markers("handrail"):
        if marker.args:
            _refuse(f"takes words, not {marker.args!r:.80}", f"Write app={marker.args[0]!r:.80}.")
        for name, value in marker.kwargs.items():
            _check(name, value)
            given.setdefault(name, value)
    for name in ("faults", "hosts"):
        if name in given:
            given[name] = tuple(_listed(name, given[name]))
    return MarkedPhone(**given)


def _check(name: str, value: Any) -> None:
    if name not in NAMES:
        close = get_close_matches(name, NAMES, n=1)
        meant = f"Did you mean {close[0]}? " if close else ""
        _refuse(f"has no {name!r}", f"{meant}It takes {', '.join(NAMES)}.")
    kinds = _KINDS.get(name)
    if kinds and value is not None and (not isinstance(value, kinds) or isinstance(value, bool)):
        _refuse(f"{name}={value!r:.80}: should be {kinds[0].__name__}", "")


def _listed(name: str, value: Any) -> list[Any]:
    listed = [value] if isinstance(value, str | Mapping) else value
    if not isinstance(listed, list | tuple) or not all(isinstance(one, str | Mapping) for one in listed):
        _refuse(f"{name}={value!r:.80}: should be a list of names", "")
    return list(listed)


def _refuse(why: str, hint: str) -> None:
    pytest.fail(f"@pytest.mark.handrail {why}. {hint}".rstrip(), pytrace=False)

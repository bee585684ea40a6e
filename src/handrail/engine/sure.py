"""For values that an earlier step has certainly set, where the type can't tell."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def sure(value: T | None) -> T:
    """The value; a missing one is a mistake in the engine, not in the input."""
    if value is None:
        raise RuntimeError("a step of the engine came before the one it needs")
    return value

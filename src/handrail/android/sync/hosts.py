"""React's host components as the app listed them: what they are called, and where they are in dp.

Reads the list; where it belongs on the screen is decided elsewhere.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

from handrail.android.sync.lost import ChannelLost
from handrail.android.sync.telling import bare, is_telling

SAYING = ("accessibilityLabel", "aria-label", "title", "label", "alt", "name", "icon", "contentDescription")
"""Props that name a thing, the best first."""


@dataclass(frozen=True, slots=True)
class Host:
    """One native view with the components that drew it and nothing else."""

    names: tuple[str, ...]
    """Of the components above it up to the next host, the innermost first."""
    props: dict[str, str]
    test_id: str
    text: str
    depth: int
    box: tuple[float, float, float, float] | None
    """x, y, width, height in dp of the window; None where it could not be measured."""

    @property
    def said(self) -> str:
        """What its props call it."""
        return next((self.props[name] for name in SAYING if self.props.get(name)), "")

    @property
    def label(self) -> str:
        """What it is: by its props, else by the nearest component whose name means something."""
        return self.said or next((name for name in map(bare, self.names) if is_telling(name)), "")


@dataclass(frozen=True, slots=True)
class Listing:
    """One answer: the hosts, and how many of them are still being measured."""

    hosts: tuple[Host, ...]
    left: int


def read_listing(told: Any) -> Listing:
    """`ChannelLost` for what is no list; a host that makes no sense is left out."""
    try:
        found = json.loads(told)
        problem = found.get("problem")
        if problem:
            raise ChannelLost(str(problem)[:200])
        hosts = tuple(host for one in found["hosts"] if (host := _host(one)) is not None)
        return Listing(hosts, int(found["left"]))
    except (TypeError, ValueError, KeyError, AttributeError):
        raise ChannelLost(f"the app lists nonsense: {str(told)[:80]!r}") from None


def _host(told: Any) -> Host | None:
    try:
        props = {str(name): str(value) for name, value in told["props"].items()}
        names = tuple(str(name) for name in told["names"])
        test_id, text, depth = str(told["testID"]), str(told["text"]), int(told["depth"])
        return Host(names, props, test_id, text, depth, _box(told["box"]))
    except (TypeError, ValueError, KeyError, AttributeError):
        return None


def _box(told: Any) -> tuple[float, float, float, float] | None:
    """Views that are not attached measure as undefined, which JSON makes null."""
    if not isinstance(told, list) or len(told) != 4:
        return None
    if not all(isinstance(side, int | float) and math.isfinite(side) for side in told):
        return None
    x, y, width, height = map(float, told)
    return (x, y, width, height) if width > 0 and height > 0 else None

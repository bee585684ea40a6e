"""Numbers on a screen: what a slider says of itself, or what stands beside it. Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

from handrail.tree.element.labels import slider_value
from handrail.tree.match.sketch import scrolls
from handrail.tree.node import Node, Screen

ROW_LEVELS = 4
"""How far up the element that tells a slider's value may be."""
_NUMBER = re.compile(r"(-?\d+(?:[.,]\d+)?)\s*(%|percent)?")


class Amount(NamedTuple):
    """A number, and whether it is one of a hundred."""

    value: float
    percent: bool


def amount(text: str) -> Amount | None:
    """ "40", "40%", "40 percent", "0,5"."""
    found = _NUMBER.fullmatch(text.strip())
    return Amount(float(found[1].replace(",", ".")), bool(found[2])) if found else None


def said_by(screen: Screen, slider: Node) -> str:
    """In its own words, else the only number beside it; "" where nothing tells."""
    own = slider_value(slider)
    if own and amount(own):
        return own
    for around in list(slider.ancestors())[:ROW_LEVELS]:
        inside = screen.inside(around)
        if scrolls(around) or any(node.role == "slider" and node is not slider for node in inside):
            return own
        found = [node.text for node in inside if node is not slider and amount(node.text)]
        if found:
            return found[0] if len(found) == 1 else own
    return own


def reading(screen: Screen, slider: Node) -> Amount | None:
    """The same as a number."""
    return amount(said_by(screen, slider))

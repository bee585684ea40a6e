"""Everything on a screen that can be acted on, each with its kind and its name, and the texts that remain.

An element is what gets a ref. Numbers are given elsewhere (`refs`), lines are written in `compact`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from handrail.tree.element.adopt import adopt
from handrail.tree.element.gather import gather
from handrail.tree.element.kinds import settle_kind
from handrail.tree.element.naming import name
from handrail.tree.element.parts import Element, Elements, Text
from handrail.tree.element.stand_in import stand_in
from handrail.tree.element.wrap import merge_wrappers
from handrail.tree.node import Screen
from handrail.tree.visible import visible

__all__ = ["Element", "Elements", "Text", "elements", "fresh_refs"]


def elements(screen: Screen, external_labels: Mapping[str, str] | None = None) -> Elements:
    """Everything that gets a ref, in document order. `external_labels` are a framework's names by node id."""
    found, texts = gather(screen, visible(screen))
    found = merge_wrappers(found)
    for element in found:
        name(element, external_labels or {}, screen)
    adopt(found, texts, screen)
    for element in found:
        settle_kind(element)
    stand_in(found, texts, screen)
    return Elements(found, [text for text in texts if not text.taken])


def fresh_refs(elements: Sequence[Element]) -> list[str]:
    """Refs for a screen without a session: numbered per letter from 1."""
    counts: dict[str, int] = {}
    refs = []
    for element in elements:
        number = counts[element.kind] = counts.get(element.kind, 0) + 1
        refs.append(f"@{element.kind}{number}")
    return refs

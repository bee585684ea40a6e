"""From the targets of an action to elements of the live screen, and to where a finger reaches them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from handrail.engine.look.conditions import effective_text
from handrail.engine.look.looks import Looks, sure
from handrail.protocol.act import Act
from handrail.protocol.envelope import ResolvedElement
from handrail.protocol.target import Point as PointTarget
from handrail.protocol.target import Selector
from handrail.tree.match.matching import Matching, match
from handrail.tree.mention import mention, name_of
from handrail.tree.node import Node, Screen, ScreenPoint
from handrail.tree.select import FoundElement, find


@dataclass(frozen=True, slots=True)
class Aim:
    """One target, found."""

    target: Selector | PointTarget
    found: FoundElement
    ref: str | None
    element_id: str | None
    label: str
    is_framework_label: bool = False
    """Nothing on the screen says it: only the app's framework knows."""

    @property
    def node(self) -> Node:
        """What was named."""
        return self.found.node

    @property
    def touched(self) -> Node:
        """What a touch reaches: the row that a plain text belongs to."""
        return self.found.receiver

    @property
    def point(self) -> ScreenPoint:
        """Where to touch. Raises `ElementNotInteractable`."""
        return self.found.point

    def __str__(self) -> str:
        return mention(self.touched, self.ref)

    def is_same(self, other: Aim) -> bool:
        """Still the element that a person said yes to."""
        return (
            self.ref == other.ref
            and self.label == other.label
            and self.touched.class_name == other.touched.class_name
        )

    def resolved(self) -> ResolvedElement:
        """As the envelope tells it; a password field keeps its text to itself."""
        node = self.node
        return ResolvedElement(
            element_id=self.element_id,
            ref=self.ref,
            text=node.shown_text or None,
            resource_id=node.resource_id or None,
            accessibility_id=node.description or None,
            class_=node.class_name or None,
            bounds=tuple(node.bounds),
            index=node.order,
            label=self.label if self.is_framework_label else None,
            label_source="framework" if self.is_framework_label else None,
        )


def targets_of(action: Act) -> dict[str, Selector | PointTarget]:
    """The fields of an action that name elements to be found first."""
    given: dict[str, Any] = {name: getattr(action, name) for name in action.traits.aims}
    return {name: target for name, target in given.items() if target is not None}


def aim(looks: Looks, target: Selector | PointTarget) -> Aim:
    """Find one target on the screen that was taken last. Raises the target errors."""
    return _aim(looks, target, find(sure(looks.last).screen, target, looks.registry))


def aim_at(looks: Looks, target: Selector | PointTarget, node: Node) -> Aim:
    """A target that somebody has found already, on the screen that was taken last."""
    return _aim(looks, target, FoundElement(sure(looks.last).screen, node, "exact", looks.registry))


def _aim(looks: Looks, target: Selector | PointTarget, found: FoundElement) -> Aim:
    registry, touched = looks.registry, found.receiver
    ref = registry.ref_of(found.node) or registry.ref_of(touched)
    element = registry.element_of(touched)
    return Aim(
        target=target,
        found=found,
        ref=ref,
        element_id=registry.element_id_of(ref) if ref else None,
        label=registry.label_of(touched)
        or name_of(touched)
        or effective_text(found.screen, found.node, registry),
        is_framework_label=element is not None and element.source == "external",
    )


def follow(looks: Looks, old: Screen, new: Screen, node: Node) -> Node | None:
    """The same element on a later screen; None when it is gone."""
    return node if old is new else _matching_of(looks, old, new).new_of(node)


def partners(looks: Looks, old: Screen, new: Screen) -> Iterable[tuple[Node, Node]]:
    """Every element that is on both."""
    return ((node, node) for node in old.nodes) if old is new else _matching_of(looks, old, new).pairs()


def _matching_of(looks: Looks, old: Screen, new: Screen) -> Matching:
    known = looks.registry.matching
    return known if known is not None and known.old is old and known.new is new else match(old, new)

"""Resolves an action's targets to nodes of the current screen, and to the points that reach them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from handrail.engine.conditions import effective_text
from handrail.engine.snapshot import ScreenTracker, require_present
from handrail.errors import ElementNotFound, ElementNotInteractable, StaleReference, TargetError
from handrail.protocol.act import Act
from handrail.protocol.envelope import ResolvedElement
from handrail.protocol.target import Point as PointTarget
from handrail.protocol.target import Selector
from handrail.screen.elements import elements
from handrail.screen.match import Matching
from handrail.screen.match import match as match_screens
from handrail.screen.node import CLIPPED, Node, Screen, ScreenPoint, receiver
from handrail.screen.reach import tap_point, visible_part
from handrail.screen.select import FoundElement, NoHandles, find
from handrail.screen.text import describe, name_of


@dataclass(frozen=True, slots=True)
class Aim:
    """A target is resolved to an element, or to a bare point."""

    target: Selector | PointTarget
    match: FoundElement
    ref: str | None
    element_id: str | None
    label: str
    is_framework_label: bool = False
    """The label comes from the app's framework; it is not on the screen."""

    @property
    def node(self) -> Node:
        return self.match.node

    @property
    def touched(self) -> Node:
        """The node that receives the touch: the row that a plain text belongs to."""
        return self.match.receiver

    @property
    def point(self) -> ScreenPoint:
        """Raises `ElementNotInteractable`."""
        return self.match.point

    @property
    def caption_point(self) -> ScreenPoint:
        """Of a check box that is called by words beside it, those: two taps leave a box as it was."""
        screen, box = self.match.screen, self.touched
        beside = (
            node
            for node in (screen.nodes if box.checkable and box.text != self.label else ())
            if node.text == self.label and receiver(node) is None
        )
        caption = next(beside, None)
        return self.point if caption is None else tap_point(screen, caption)

    def __str__(self) -> str:
        return describe(self.touched, self.ref)

    def is_same(self, other: Aim) -> bool:
        """Whether it is still the element that a person approved."""
        return (
            self.ref == other.ref
            and self.label == other.label
            and self.touched.class_name == other.touched.class_name
        )

    def resolved(self) -> ResolvedElement:
        """For the envelope: a row without words of its own has its label. No text of a password field."""
        node = self.node
        label = None if self.is_framework_label or node.description or node.password else self.label
        return ResolvedElement(
            element_id=self.element_id,
            ref=self.ref,
            text=node.masked_text or (label if self.ref else None) or None,
            resource_id=node.resource_id or None,
            accessibility_id=node.description or None,
            class_=node.class_name or None,
            bounds=tuple(node.bounds),
            index=node.order,
            label=self.label if self.is_framework_label else None,
            label_source="framework" if self.is_framework_label else None,
        )


def targets_of(action: Act) -> dict[str, Selector | PointTarget]:
    """The fields of an action whose targets must be resolved first."""
    targets: dict[str, Any] = {name: getattr(action, name) for name in action.traits.aims}
    return {name: target for name, target in targets.items() if target is not None}


def aim(screens: ScreenTracker, target: Selector | PointTarget) -> Aim:
    """Resolves a target on the current screen. Raises the target errors."""
    return _aim(screens, target, find(require_present(screens.last).screen, target, screens.registry))


def is_in_view(screens: ScreenTracker, target: Selector | PointTarget) -> bool:
    """False where scrolling may help: nothing or a caption alone is found, or it lies out of reach."""
    try:
        named = aim(screens, target)
        _ = named.point
    except ElementNotFound:
        return False
    except ElementNotInteractable as refusal:
        return refusal.details.get("reason") != "off-screen" and named.touched.covered_by != CLIPPED
    except TargetError:
        return True
    is_caption = named.match.how != "point" and receiver(named.node) is None and not named.node.scrollable
    return not is_caption


def find_out_of_sight(everything: Screen, target: Selector) -> str:
    """The native id of what a selector means, "" for nothing. Raises `AmbiguousTarget`."""
    try:
        return find(everything, target, _Labels(everything)).receiver.native_id
    except (ElementNotFound, StaleReference):
        return ""


def is_shown(screen: Screen, native_id: str) -> bool:
    """Whether a part of this element is on the screen and not cut off."""
    nodes = (node for node in screen.nodes if node.native_id == native_id)
    return any(visible_part(screen, node).area and node.covered_by != CLIPPED for node in nodes)


class _Labels(NoHandles):
    """The screen has no refs, so labels are computed."""

    def __init__(self, screen: Screen) -> None:
        self._labels = {element.node: element.label for element in elements(screen, {})}

    def label_of(self, node: Node) -> str:
        return self._labels.get(node, "")


def aim_at(screens: ScreenTracker, target: Selector | PointTarget, node: Node) -> Aim:
    """Aims at a node of the current screen that was found by other means than the target."""
    return _aim(
        screens, target, FoundElement(require_present(screens.last).screen, node, "exact", screens.registry)
    )


def _aim(screens: ScreenTracker, target: Selector | PointTarget, match: FoundElement) -> Aim:
    registry, touched = screens.registry, match.receiver
    ref = registry.ref_of(match.node) or registry.ref_of(touched)
    element = registry.element_of(touched)
    return Aim(
        target=target,
        match=match,
        ref=ref,
        element_id=registry.element_id_of(ref) if ref else None,
        label=registry.label_of(touched)
        or name_of(touched)
        or effective_text(match.screen, match.node, registry),
        is_framework_label=element is not None and element.source == "external",
    )


def follow(screens: ScreenTracker, old: Screen, new: Screen, node: Node) -> Node | None:
    """The same element on a later screen; None if it is gone."""
    return node if old is new else _matching_of(screens, old, new).new_of(node)


def partners(screens: ScreenTracker, old: Screen, new: Screen) -> Iterable[tuple[Node, Node]]:
    """The nodes that are on both screens."""
    return ((node, node) for node in old.nodes) if old is new else _matching_of(screens, old, new).pairs()


def _matching_of(screens: ScreenTracker, old: Screen, new: Screen) -> Matching:
    matching = screens.registry.matching
    return (
        matching
        if matching is not None and matching.old is old and matching.new is new
        else match_screens(old, new)
    )

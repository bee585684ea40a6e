"""Nodes of an iPhone's screen: WebDriverAgent's by XML or JSON, UIAutomation's, idb's.

All of them tell the same accessibility attributes by other names. Knows no format; `parse` brings the
attributes of one element, and the finished tree once more to find its windows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any

from handrail.screen.node import (
    CHECKABLE,
    CHECKED,
    CLICKABLE,
    ENABLED,
    FOCUSABLE,
    FOCUSED,
    HIDDEN,
    PASSWORD,
    SCROLLABLE,
    SELECTED,
    Bounds,
    Node,
    class_role,
    short_class,
    touchable,
)
from handrail.screen.parse.build import ScreenDraft, WindowDraft, clamp_bounds, small_int
from handrail.screen.windows import IOS_KEYBOARD

PREFIX = "XCUIElementType"
_TRUE, _FALSE = frozenset({"true", "1", "True"}), frozenset({"false", "0", "False"})
_TRAIT_ROLES = {
    "Button": "button", "Link": "button", "SearchField": "text_field", "ToggleButton": "switch",
    "Adjustable": "slider", "Image": "image", "Header": "text_view", "StaticText": "text_view",
}  # fmt: skip
"""What an element without a type of its own is; the first of these that it has."""
_TOUCHED = frozenset(
    {"button", "image_button", "tab", "list_item", "switch", "check_box", "radio_button", "text_field"}
)
_TOGGLED = frozenset({"switch", "check_box", "radio_button"})
_SCROLLED = frozenset({"scroll_view", "list", "web_view"})
_BARS = frozenset({"TabBar", "SegmentedControl"})
_BAR_DEPTH = 3
"""Boxes between a bar and its buttons."""
_TITLED = frozenset({"Alert", "Sheet", "ActionSheet", "Dialog"})
_XCTEST_KEYS = frozenset({"rect", "rawIdentifier", "isEnabled", "isVisible"})
_LAYERS = {"Sheet": 1, "ActionSheet": 1, "Alert": 2, "Dialog": 2, "Keyboard": 3}
"""What is in front of the app, and of each other."""
_FRAME = re.compile(r"\{\{([-\d.e+]+), ([-\d.e+]+)\}, \{([-\d.e+]+), ([-\d.e+]+)\}\}")
SPARSE = "the tree has no element with a name: the app tells nothing, or it could not be read whole"


def is_ios_item(item: Any) -> bool:
    """Whether a JSON object is an element of an iPhone."""
    if not isinstance(item, Mapping):
        return False
    is_xctest = "type" in item and not _XCTEST_KEYS.isdisjoint(item)
    return is_xctest or "AXFrame" in item or "AXLabel" in item


def ios_class(item: Mapping[str, Any]) -> str:
    """XCTest's name of its kind; UIAutomation's and accessibility's names have prefixes of their own."""
    kind = _words(item, "type") or _words(item, "role") or "Other"
    return kind if kind.startswith(("UIA", "AX", PREFIX)) else PREFIX + kind


def ios_node(class_name: str, item: Mapping[str, Any], parent: Node | None) -> Node:
    """Bounds are in points."""
    kind = short_class(class_name)
    traits = frozenset(part.strip() for part in _words(item, "traits").split(","))
    label, value = _words(item, "label", "AXLabel"), _words(item, "value", "AXValue")
    name = _words(item, "name")
    identifier = _words(item, "rawIdentifier", "AXUniqueId") or ("" if name in (label, value) else name)
    role = _role(class_name, traits, parent)
    node = Node(
        class_name, identifier, "", "", _words(item, "bundleId"), _bounds(item),
        _flags(item, kind, role, traits, value), role, small_int(_words(item, "index")), parent=parent,
    )  # fmt: skip
    if role == "text_field":
        node.hint_text = _words(item, "placeholderValue", "placeholder")
        node.text = "" if value == node.hint_text else value
        node.description = "" if label in (node.text, node.hint_text) else label
    elif role == "text_view":
        node.text = label or value or name
        node.state_description = "" if value == node.text else value  # such as a heading's level
    elif kind in _TITLED:
        node.pane_title = label or name
    elif kind not in ("Application", "Window"):  # their names are the app's, which is no text on the screen
        node.description = label
        is_state = value not in ("", label) and not (value in _TRUE | _FALSE and role != "slider")
        node.state_description = value if is_state else ""
    return node


def _role(class_name: str, traits: frozenset[str], parent: Node | None) -> str:
    role = class_role(class_name)
    if role in ("container", "unknown"):
        return next((known for trait, known in _TRAIT_ROLES.items() if trait in traits), role)
    if role == "button" and {"Image", "Button"} <= traits:
        return "image_button"
    if role == "button" and parent is not None:
        around = [parent, *parent.ancestors()][:_BAR_DEPTH]
        return "tab" if any(box.short_class in _BARS for box in around) else role
    return role


def _flags(item: Mapping[str, Any], kind: str, role: str, traits: frozenset[str], value: str) -> int:
    def says(truth: frozenset[str], *names: str) -> bool:
        return any(name in item and str(item[name]) in truth for name in names)

    is_off = says(_FALSE, "enabled", "isEnabled") or "NotEnabled" in traits
    is_touched = role in _TOUCHED and kind != "TabBar"
    is_chosen = "Selected" in traits or says(_TRUE, "selected", "isSelected")
    is_tinted = role in ("button", "tab", "image_button") and value == "1"
    return sum(
        flag
        for flag, holds in (
            (ENABLED, not is_off),
            (CLICKABLE, is_touched or kind == "PickerWheel" or not traits.isdisjoint({"Button", "Link"})),
            (CHECKABLE, role in _TOGGLED),
            (CHECKED, role in _TOGGLED and value in _TRUE),
            (SELECTED, is_chosen or is_tinted),
            (FOCUSABLE, role == "text_field"),
            (FOCUSED, says(_TRUE, "focused", "isFocused")),
            (PASSWORD, "Secure" in kind),
            (SCROLLABLE, role in _SCROLLED and kind != "Menu"),
            (HIDDEN, says(_FALSE, "visible", "isVisible")),
        )
        if holds
    )


def _words(item: Mapping[str, Any], *names: str) -> str:
    """The text of the first of these attributes that has one."""
    texts = (item[name] for name in names if item.get(name) not in (None, ""))
    return next((str(text) for text in texts if isinstance(text, str | int | float)), "")


def _bounds(item: Mapping[str, Any]) -> Bounds:
    """The first of an element's rectangles that has four finite numbers."""
    boxes = (_sides(item.get(name)) for name in ("rect", "frame", "nativeFrame"))
    x, y, width, height = next((box for box in (*boxes, _sides(item)) if box), (0.0, 0.0, 0.0, 0.0))
    return clamp_bounds(round(side) for side in (x, y, x + width, y + height))


def _sides(box: Any) -> tuple[float, float, float, float] | None:
    """x, y, width and height, however they are written; None where there is no size or no place."""
    if isinstance(box, str) and (numbers := _FRAME.fullmatch(box)):
        box = dict(zip(("x", "y", "width", "height"), numbers.groups(), strict=True))
    if not isinstance(box, Mapping):
        return None
    if isinstance(box.get("origin"), Mapping) and isinstance(box.get("size"), Mapping):
        box = {**box["origin"], **box["size"]}
    try:
        x, y, width, height = (float({"x": 0, "y": 0, **box}[side]) for side in ("x", "y", "width", "height"))
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    return (x, y, width, height) if all(map(isfinite, (x, y, x + width, y + height))) else None


def arrange_ios(draft: ScreenDraft, scale: float, package: str) -> None:
    """Alerts, sheets and the keyboard become windows of their own, and points become pixels.

    `package` is the app in front, for trees that do not tell it.
    """
    root = draft.windows[0].root
    draft.package = root.package_name or package
    wheels: list[Node] = []
    for node in draft.nodes:
        node.package_name = draft.package
        if (
            node.role == "button"
            and not node.description
            and [part.role for part in node.children] == ["image"]
        ):
            node.role = "image_button"
        if node.short_class == "PickerWheel":
            node.native_id = f"PickerWheel#{len(wheels)}"
            wheels.append(node)
        if scale != 1:
            node.bounds = Bounds(*(round(side * scale) for side in node.bounds))
    _measure(draft, root)
    for layer, node in _fronts(draft, root):
        parent = node.parent
        assert parent is not None  # noqa: S101 - the root is never taken out
        parent.children.remove(node)
        for position, child in enumerate(parent.children):
            child.position = position
        node.parent = None
        draft.windows.append(WindowDraft(node, layer=100 * layer + len(draft.windows)))
        if node.short_class == "Keyboard":
            for part in draft.nodes[node.order : node.end]:
                part.package_name = IOS_KEYBOARD
    if not any(node.text or node.description or touchable(node) for node in draft.nodes):
        draft.warn(SPARSE)
        draft.is_cut = True


def mark_touchable(node: Node, item: Mapping[str, Any]) -> None:
    """A box that accessibility names as one element may be touched: React Native and Flutter tell no more."""
    says = str(item.get("accessible", item.get("isAccessible", "")))
    if says in _TRUE and node.role == "container" and node.description and not _words(item, "traits"):
        node.flags |= CLICKABLE


def _fronts(draft: ScreenDraft, root: Node) -> Iterator[tuple[int, Node]]:
    """Shown parts that stand in front of the app, outermost ones only."""
    end = 0
    for node in list(draft.nodes):
        layer = _LAYERS.get(node.short_class)
        if layer and node is not root and node.order >= end and node.bounds.area and not node.flags & HIDDEN:
            end = node.end
            yield layer, node


def _measure(draft: ScreenDraft, root: Node) -> None:
    """The largest window tells the size: the app's own frame may stay upright when the phone is turned."""
    frames = [part.bounds for part in root.children if part.short_class == "Window"]
    largest = max(frames, key=lambda box: box.area, default=root.bounds)
    if root.short_class != "Application" or not largest.area:
        return
    draft.width, draft.height = largest.right, largest.bottom
    if (root.bounds.width, root.bounds.height) == (largest.height, largest.width):
        root.bounds = Bounds(0, 0, largest.right, largest.bottom)

"""The page source: the accessibility tree as elements named after their classes, and as XML."""

from __future__ import annotations

import re
from collections.abc import Iterator

from handrail_sim.channels.appium.xpath import Element
from handrail_sim.channels.u2.server import quote
from handrail_sim.handset import Handset
from handrail_sim.screen.accessibility import Node, active_root, roots, tree

HEADER = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>"
TOAST = "android.widget.Toast"
_ILLEGAL = re.compile(r"[$@#&]")
_FLAGS = ("checkable", "checked", "clickable", "enabled", "focusable", "focused")
_BOOL = ("false", "true")


def tag_of(cls: str) -> str:
    """A class as the name of an element: inner classes are joined by a dot."""
    return re.sub(r"\.+", ".", _ILLEGAL.sub(".", cls)) or "android.view.View"


def document(
    phone: Handset, *, all_windows: bool = False, compressed: bool = False, depth: int = 70
) -> Element:
    """The document; its one child is `hierarchy`, below it the active window or every window."""
    active = active_root(phone, compressed=compressed)
    shown = roots(phone, compressed=compressed) if all_windows else [] if active is None else [active]
    display = phone.display
    top = Element("")
    size = {"width": str(display.width), "height": str(display.height - display.navigation_px)}
    hierarchy = _below(top, "hierarchy", {"index": "0", "class": "hierarchy"})
    hierarchy.attributes |= {"rotation": str(display.rotation), **size}
    for number, root in enumerate(shown):
        _add(hierarchy, root, number, depth)
    _toast(phone, hierarchy)
    return top


def _below(parent: Element, tag: str, attributes: dict[str, str], node: Node | None = None) -> Element:
    element = Element(tag, attributes, node, parent)
    parent.children.append(element)
    return element


def _toast(phone: Handset, hierarchy: Element) -> None:
    shown = phone.systemui.toast
    window = next((entry for entry in phone.windows() if entry.type == "toast"), None)
    if shown and window is not None:
        node = next((entry for entry in tree(window) if entry.text), None)
        arguments = {"index": str(len(hierarchy.children)), "class": TOAST, "text": str(shown["text"])}
        _below(hierarchy, TOAST, {**arguments, "displayed": "true"}, node)


def _add(parent: Element, node: Node, index: int, depth: int) -> None:
    element = _below(parent, tag_of(node.cls), attributes(node, index), node)
    if depth > 0:
        for child in node.children:
            _add(element, child, child.index, depth - 1)


def attributes(node: Node, index: int) -> dict[str, str]:
    """As the server writes them; texts that are not there are left out, but for `text`."""
    left, top, right, bottom = node.bounds
    arguments = {"index": str(index), "package": node.package, "class": node.cls, "text": node.text}
    optional = {
        "content-desc": node.desc,
        "resource-id": node.resource_id,
        "hint": node.hint,
        "pane-title": node.pane,
        "tooltip-text": node.tooltip,
        "state-description": node.state,
    }
    arguments |= {name: text for name, text in optional.items() if text}
    arguments |= {name: _BOOL[getattr(node, name)] for name in _FLAGS}
    arguments |= {
        "long-clickable": _BOOL[node.long_clickable],
        "password": _BOOL[node.password],
        "scrollable": _BOOL[node.scrollable],
        "selected": _BOOL[node.selected],
        "bounds": f"[{left},{top}][{right},{bottom}]",
        "displayed": "true",
        "a11y-important": "true",
        "drawing-order": str(node.drawing_order or index + 1),
        "showing-hint": _BOOL[node.view.editable and not node.view.text and bool(node.hint)],
        "editable": _BOOL[node.view.editable],
    }
    return arguments


def write(top: Element) -> str:
    return "\n".join([HEADER, *(line for child in top.children for line in _lines(child, 0))]) + "\n"


def _lines(element: Element, level: int) -> Iterator[str]:
    words = "".join(f" {name}={quote(value)}" for name, value in element.attributes.items())
    indent = "  " * level
    if not element.children:
        yield f"{indent}<{element.tag}{words} />"
        return
    yield f"{indent}<{element.tag}{words}>"
    for child in element.children:
        yield from _lines(child, level + 1)
    yield f"{indent}</{element.tag}>"

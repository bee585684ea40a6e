"""A tree as WDA writes it: XML, JSON, XCTest's own description, and the short accessible form."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any
from xml.sax.saxutils import quoteattr

from handrail_sim.iphone.tree import TEXT_INPUTS, Element

HEADER = '<?xml version="1.0" encoding="UTF-8"?>\n'
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ON_REQUEST = {
    "hittable": "includeHittableInPageSource",
    "nativeFrame": "includeNativeFrameInPageSource",
    "nativeAccessibilityElement": "includeNativeAccessibilityElementInPageSource",
    "minValue": "includeMinMaxValueInPageSource",
    "maxValue": "includeMinMaxValueInPageSource",
}
"""XML attributes that a setting switches on."""


def text_of(value: bool) -> str:
    return "true" if value else "false"


def frame_text(x: float, y: float, width: float, height: float) -> str:
    """As Foundation prints a rectangle."""
    return f"{{{{{x:g}, {y:g}}}, {{{width:g}, {height:g}}}}}"


def xml_attributes(
    element: Element, settings: Mapping[str, Any], excluded: Collection[str] = ()
) -> dict[str, str]:
    """In WDA's order; what is absent is left out."""
    rect = element.rect
    input_field = element.type in TEXT_INPUTS
    slides = element.type == "Slider" and element.view is not None
    pairs: dict[str, str | None] = {
        "type": element.full_type,
        "value": element.wd_value,
        "name": element.name,
        "label": element.wd_label,
        "enabled": text_of(element.enabled),
        "visible": text_of(element.visible),
        "accessible": text_of(element.accessible),
        "nativeAccessibilityElement": text_of(element.native),
        **{name: str(rect[name]) for name in ("x", "y", "width", "height")},
        "index": str(element.index),
        "hittable": text_of(element.visible),
        "placeholderValue": element.placeholder if input_field else None,
        "traits": element.traits,
        "nativeFrame": frame_text(*element.frame),
        "minValue": f"{element.view.low:g}" if slides and element.view else None,
        "maxValue": f"{element.view.high:g}" if slides and element.view else None,
    }
    hidden = {name for name, setting in _ON_REQUEST.items() if not settings.get(setting)} | set(excluded)
    return {name: value for name, value in pairs.items() if value is not None and name not in hidden}


def write_xml(
    root: Element,
    settings: Mapping[str, Any],
    excluded: Collection[str],
    scope: str,
    facts: Mapping[str, str],
) -> str:
    """`facts` stand on the root alone: the bundle identifier and the process."""
    lines: list[str] = []
    _element_xml(root, 1 if scope else 0, lines, settings, excluded, facts)
    if scope:
        lines = [f"<{scope}>", *lines, f"</{scope}>"]
    return HEADER + "\n".join(lines) + "\n"


def _element_xml(
    element: Element,
    level: int,
    lines: list[str],
    settings: Mapping[str, Any],
    excluded: Collection[str],
    facts: Mapping[str, str],
) -> None:
    pairs = {**xml_attributes(element, settings, excluded), **facts}
    words = "".join(f" {name}={quoteattr(_NOT_XML.sub('', value))}" for name, value in pairs.items())
    indent = "  " * level
    if not element.children:
        lines.append(f"{indent}<{element.full_type}{words}/>")
        return
    lines.append(f"{indent}<{element.full_type}{words}>")
    for child in element.children:
        _element_xml(child, level + 1, lines, settings, excluded, {})
    lines.append(f"{indent}</{element.full_type}>")


def to_json(element: Element, excluded: Collection[str] = ()) -> dict[str, Any]:
    """Flags are the words "0" and "1"; `children` is there only where there are some."""
    rect = element.rect
    info: dict[str, Any] = {
        "type": element.type,
        "rawIdentifier": element.identifier or None,
        "name": element.name,
        "value": element.wd_value,
        "label": element.wd_label,
        "rect": rect,
        "customActions": None,
    }
    more: dict[str, Any] = {
        "frame": frame_text(*rect.values()),
        "nativeFrame": frame_text(*element.frame),
        "traits": element.traits,
    }
    flags = {
        "enabled": element.enabled,
        "visible": element.visible,
        "accessible": element.accessible,
        "focused": element.focused,
        "nativeAccessibilityElement": element.native,
    }
    if element.type in TEXT_INPUTS:
        more["placeholderValue"] = element.placeholder
    if element.type == "Slider" and element.view is not None:
        more |= {"minValue": f"{element.view.low:g}", "maxValue": f"{element.view.high:g}"}
    info |= {name: value for name, value in more.items() if name not in excluded}
    info |= {
        f"is{name[0].upper()}{name[1:]}": "1" if value else "0"
        for name, value in flags.items()
        if name not in excluded
    }
    if element.children:
        info["children"] = [to_json(child, excluded) for child in element.children]
    return info


def to_accessible(element: Element) -> dict[str, Any]:
    """What is accessible and visible has a value and a label; the rest is there for its children."""
    info: dict[str, Any] = {}
    if element.accessible:
        if element.visible:
            info = {"value": element.wd_value, "label": element.wd_label}
    else:
        children = [entry for entry in map(to_accessible, element.children) if entry]
        if children:
            info["children"] = children
    if info:
        info |= {"type": element.type, "rawIdentifier": element.identifier or None, "name": element.name}
    return info


def describe(element: Element, level: int = 0) -> str:
    """XCTest's debug text."""
    words = [element.type, frame_text(*element.frame)]
    words += [f"identifier: '{element.identifier}'"] if element.identifier else []
    words += [f"label: '{element.label}'"] if element.label else []
    words += [f"value: {element.value}"] if element.value else []
    words += [f"placeholderValue: '{element.placeholder}'"] if element.placeholder else []
    words += ["Disabled"] if not element.enabled else []
    words += ["Selected"] if element.selected else []
    return "\n".join(
        [" " * level + ", ".join(words), *(describe(child, level + 2) for child in element.children)]
    )


def cut(element: Element, depth: int, most_children: int = 0) -> None:
    """Leave out what lies deeper than so many levels, as a snapshot with a limit does."""
    if depth <= 1:
        element.children.clear()
    if most_children:
        del element.children[most_children:]
    for child in element.children:
        cut(child, depth - 1, most_children)

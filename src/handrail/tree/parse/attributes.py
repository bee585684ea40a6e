"""What the attributes and frames of an XML dump mean.

Attributes are flags, bounds, numbers, and extras that few exporters write. Frames are the tags around the
nodes: `<hierarchy>`, and `<displays>`, `<display>`, `<window>` of `--windows` dumps.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from handrail.tree.node import (
    CHECKABLE,
    CHECKED,
    CLICKABLE,
    ENABLED,
    FOCUSABLE,
    FOCUSED,
    HIDDEN,
    LONG_CLICKABLE,
    PASSWORD,
    SCROLLABLE,
    SELECTED,
    Bounds,
    Node,
)
from handrail.tree.parse.build import ScreenDraft, WindowDraft

MAX_PIXEL = 1_000_000
NO_BOUNDS = Bounds(0, 0, 0, 0)
FLAG_NAMES = {
    "checkable": CHECKABLE,
    "checked": CHECKED,
    "clickable": CLICKABLE,
    "focusable": FOCUSABLE,
    "focused": FOCUSED,
    "scrollable": SCROLLABLE,
    "long-clickable": LONG_CLICKABLE,
    "password": PASSWORD,
    "selected": SELECTED,
}

_FLAGS = tuple(FLAG_NAMES.items())
_TYPABLE = frozenset({"container", "unknown", "text_view", "list_item"})
_NUMBER = re.compile(r"-?\d{1,12}", re.ASCII)


def read_flags(attrs: Mapping[str, str]) -> int:
    """The flag bits; a node without `enabled` is enabled."""
    get = attrs.get
    flags = ENABLED if get("enabled") != "false" else 0
    for name, flag in _FLAGS:
        if get(name) == "true":
            flags |= flag
    return flags


def read_extras(node: Node, attrs: Mapping[str, str]) -> None:
    """Fills what stock dumps do not have."""
    get = attrs.get
    node.hint_text = get("hint") or get("hint-text") or ""
    node.tooltip_text = get("tooltip-text") or ""
    node.state_description = get("state-description") or ""
    node.pane_title = get("pane-title") or ""
    node.drawing_order = small_int(get("drawing-order") or "")
    if get("visible-to-user") == "false" or get("displayed") == "false":
        node.flags |= HIDDEN
    if not node.hint_text and get("showing-hint") == "true":
        node.hint_text = node.text
    if get("editable") == "true" and node.role in _TYPABLE:
        node.role = "text_field"


def read_bounds(text: str) -> Bounds | None:
    """`[left,top][right,bottom]`, inverted and negative ones as they are; None without four numbers."""
    numbers = _NUMBER.findall(text[:80])
    return clamp(map(int, numbers)) if len(numbers) == 4 else None


def clamp(numbers: Iterable[int]) -> Bounds:
    """Bounds without absurd numbers, which no display has and every sum would suffer from."""
    bounds = Bounds(*numbers)
    if min(bounds) >= -MAX_PIXEL and max(bounds) <= MAX_PIXEL:
        return bounds
    return Bounds(*(max(-MAX_PIXEL, min(MAX_PIXEL, number)) for number in bounds))


def small_int(text: str) -> int:
    """A number of at most six digits, else 0."""
    digits = text[1:] if text.startswith("-") else text
    return int(text) if len(digits) < 7 and digits.isdecimal() else 0


FRAMES = frozenset({"hierarchy", "displays", "display", "window"})


class Frames:
    """Follows the frame tags of one dump and enters every root node as a window of the draft."""

    def __init__(self, draft: ScreenDraft) -> None:
        self._draft = draft
        self._display = ""
        self._layer = 0
        self._focused = False

    def open(self, tag: str, attrs: Mapping[str, str]) -> None:
        """`window` has a layer and a focus of its own; a display or hierarchy may tell the size."""
        get = attrs.get
        if tag == "window":
            self._focused = "true" in (get("focused"), get("active"))
            self._layer = small_int(get("layer", ""))
            return
        if tag == "display":
            self._display = get("id", "")
        elif tag == "hierarchy" and "rotation" in attrs:
            self._draft.rotation = small_int(attrs["rotation"]) % 4
        width, height = small_int(get("width", "")), small_int(get("height", ""))
        if width > 0 and height > 0:
            self._draft.width, self._draft.height = width, height

    def add_root(self, node: Node, display: str) -> None:
        windows = self._draft.windows
        node.position = len(windows)
        windows.append(WindowDraft(node, self._focused, self._layer, display or self._display))

"""The tags around the nodes: `<hierarchy>`, and `<displays>`, `<display>`, `<window>` of `--windows` dumps.

Knows size, rotation and windows; never looks into a node.
"""

from __future__ import annotations

from collections.abc import Mapping

from handrail.tree.node import Node
from handrail.tree.parse.attributes import small_int
from handrail.tree.parse.build import Draft, Window

FRAMES = frozenset({"hierarchy", "displays", "display", "window"})


class Frames:
    """Follows the frame tags of one dump and enters every root node as a window of the draft."""

    def __init__(self, draft: Draft) -> None:
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
        windows.append(Window(node, self._focused, self._layer, display or self._display))

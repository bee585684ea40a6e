"""One pass over the visible nodes: what can be acted on, what only speaks, and which is inside which."""

from __future__ import annotations

from handrail.tree.element.kinds import first_kind
from handrail.tree.element.labels import own_label, says
from handrail.tree.element.parts import Element, Text
from handrail.tree.node import SELECTED, Node, Screen
from handrail.tree.packages import is_input_method
from handrail.tree.quote import clean

_BULLETS = "•·-– "


def gather(screen: Screen, shown: bytearray) -> tuple[list[Element], list[Text]]:
    """Elements and texts in document order; each knows the element around it."""
    walk = _Walk(screen.package)
    for node in screen.nodes:
        if shown[node.order]:
            kind = first_kind(node)
            if kind is not None:
                walk.element(node, kind)
            else:
                walk.other(node)
    return walk.found, walk.texts


class _Walk:
    """Where the pass is: inside which elements, list item and labelled box."""

    __slots__ = ("_around", "_item", "_package", "_speaker", "found", "texts")

    def __init__(self, package: str) -> None:
        self.found: list[Element] = []
        self.texts: list[Text] = []
        self._package = package
        self._around: list[Element] = []
        self._item: Node | None = None
        self._speaker: Text | None = None  # a text whose node holds others

    def element(self, node: Node, kind: str) -> None:
        if node.role == "list_item":
            self._item = node
        parent = self._parent(node)
        element = Element(node, kind, parent)
        if node.package_name != self._package:
            element.is_key = is_input_method(node.package_name)
        if parent is not None:
            parent.inner.append(element)
        self._around.append(element)
        self.found.append(element)

    def other(self, node: Node) -> None:
        """A node that can't be acted on: a pane, a text, or only a box."""
        if node.role == "list_item":
            self._item = node
        if node.pane_title and (title := clean(node.pane_title)):
            self.texts.append(Text(node, title, is_pane=True))
        said = _said(node)
        if not said or self._is_said_around(node, said):
            return
        text = Text(node, said, is_selected=_is_selected(node))
        if self._item is not None and node.order < self._item.end:
            text.item = self._item
        if node.children:
            self._speaker = text
        self.texts.append(text)
        parent = self._parent(node)
        if parent is not None:
            parent.texts.append(text)

    def _parent(self, node: Node) -> Element | None:
        around = self._around
        while around and around[-1].node.end <= node.order:
            around.pop()
        return around[-1] if around else None

    def _is_said_around(self, node: Node, said: str) -> bool:
        speaker = self._speaker
        if speaker is None or node.order >= speaker.node.end:
            return False
        return says(speaker.text, said.lstrip(_BULLETS) or said)


def _said(node: Node) -> str:
    """What a node that can't be acted on says, its state included."""
    if not (node.text or node.description or node.hint_text or node.tooltip_text or node.state_description):
        return ""
    said, _ = own_label(node)
    if node.state_description and (state := clean(node.state_description)) and state != said:
        return f"{said}: {state}" if said else state
    return said


def _is_selected(node: Node) -> bool:
    """The current tab is often not tappable, and only the box around its text is marked."""
    return bool((node.flags | (node.parent.flags if node.parent else 0)) & SELECTED)

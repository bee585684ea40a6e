"""Everything on a screen that can be acted on, each with its kind and its states, and the texts that remain.

One pass gathers, a box around exactly one element becomes that element, then each gets the letter of its ref.
Names come from `naming`, numbers are given in `refs`, and lines are written in `compact`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice, pairwise
from statistics import median

from handrail.screen.naming import add_stand_ins, name_element, name_from_neighbours
from handrail.screen.node import (
    ACTIONABLE,
    CHECKABLE,
    CHECKED,
    CLICKABLE,
    ENABLED,
    FOCUSED,
    LONG_CLICKABLE,
    PASSWORD,
    SCROLLABLE,
    SELECTED,
    Bounds,
    Element,
    Elements,
    Node,
    Screen,
    Text,
)
from handrail.screen.reach import doubtful
from handrail.screen.text import clean, contains_words, own_label
from handrail.screen.windows import is_input_method, visible_with_layers


def elements(screen: Screen, external_labels: Mapping[str, str] | None = None) -> Elements:
    """Everything that gets a ref, in document order. `external_labels` are a framework's names by node id."""
    shown, layers = visible_with_layers(screen)
    candidates, texts = gather(screen, shown)
    candidates = merge_wrappers(candidates)
    for element in candidates:
        name_element(element, external_labels or {}, screen)
    name_from_neighbours(candidates, texts, screen)
    doubted = doubtful(screen)
    for element in candidates:
        # Decides the letter of what `first_kind` left open, and the states.
        if not element.kind:
            element.kind = _tappable_kind(element)
        element.states = _states(element, element.outer.order in doubted or element.node.order in doubted)
        if element.node.state_description and element.kind != "v":
            state = clean(element.node.state_description)
            element.state = "" if state.casefold() in _SAID_BY_STATES or state in element.pieces else state
        if element.kind == "s" or element.node.scrolls_to is not None:
            element.arrows = arrows(element.node)
    add_stand_ins(candidates, texts, screen, layers)
    return Elements(candidates, [text for text in texts if not text.taken], layers)


def fresh_refs(elements: Sequence[Element]) -> list[str]:
    """Refs for a screen without a session: numbered per letter from 1."""
    counts: dict[str, int] = {}
    refs = []
    for element in elements:
        number = counts[element.kind] = counts.get(element.kind, 0) + 1
        refs.append(f"@{element.kind}{number}")
    return refs


_BULLETS = "•·-– "


def gather(screen: Screen, shown: bytearray) -> tuple[list[Element], list[Text]]:
    walk = _Walk(screen.package)
    for node in screen.nodes:
        if shown[node.order]:
            kind = first_kind(node)
            if kind is not None:
                walk.element(node, kind)
            else:
                walk.other(node)
    return walk.elements, walk.texts


class _Walk:
    """The state of the pass: the elements, list item and labelled box around the current node."""

    __slots__ = ("_around", "_item", "_package", "_speaker", "elements", "texts")

    def __init__(self, package: str) -> None:
        self.elements: list[Element] = []
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
        self.elements.append(element)

    def other(self, node: Node) -> None:
        """A node that cannot be acted on: a pane, a text, or only a box."""
        if node.role == "list_item":
            self._item = node
        if node.pane_title and (title := clean(node.pane_title)):
            self.texts.append(Text(node, title, is_pane=True))
        label = _spoken(node)
        if not label or self._is_repeated(node, label):
            return
        text = Text(node, label, chosen=_chosen(node))
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

    def _is_repeated(self, node: Node, label: str) -> bool:
        speaker = self._speaker
        if speaker is None or node.order >= speaker.node.end:
            return False
        return contains_words(speaker.text, label.lstrip(_BULLETS) or label)


def _spoken(node: Node) -> str:
    """The label of a node that cannot be acted on, with its state description."""
    if not (node.text or node.description or node.hint_text or node.tooltip_text or node.state_description):
        return ""
    label, _ = own_label(node)
    if node.state_description and (state := clean(node.state_description)) and state != label:
        return f"{label}: {state}" if label else state
    return label


def _chosen(node: Node) -> Node | None:
    """The selected tab or segment that a text belongs to, or None.

    The current tab is often not tappable, and only the box around its text is marked as selected. Android
    marks everything inside it too; where all siblings are selected, the mark means nothing.
    """
    if not (node.flags | (node.parent.flags if node.parent else 0)) & SELECTED:
        return None
    chosen = node if node.flags & SELECTED else node.parent or node
    while chosen.parent is not None and chosen.parent.flags & SELECTED:
        chosen = chosen.parent
    others = [child for child in chosen.parent.children if child is not chosen] if chosen.parent else []
    return chosen if not others or any(not other.flags & SELECTED for other in others) else None


_SAME_SHARE = 0.5  # of the box's area; a smaller button in a box is another target than the box
_WHOLE_SHARE = 0.8  # the same for what does something else than the box when it is tapped
_OTHER_ACTS = frozenset({"c", "v"})


def merge_wrappers(candidates: list[Element]) -> list[Element]:
    """Drops boxes around exactly one element; the element takes over the texts of its box."""
    dropped: set[int] = set()
    for box in reversed(candidates):
        if box.kind or not box.inner:
            continue
        if len(box.inner) == 1 and _is_same_target(box, box.inner[0]):
            element = box.inner[0]
            element.wrapper = box.node
            element.texts = sorted(box.texts + element.texts, key=lambda text: text.node.order)
            if box.parent is not None and len(box.parent.inner) == 1:
                box.parent.inner[0] = element
            dropped.add(box.node.order)
        # A disabled box that says nothing itself only keeps touches from what is behind it.
        elif not box.node.flags & ENABLED and own_label(box.node) == ("", ""):
            dropped.add(box.node.order)
    return _without(candidates, dropped) if dropped else candidates


def _without(candidates: list[Element], dropped: set[int]) -> list[Element]:
    """Parents come before their children, so one step up is enough."""
    for element in candidates:
        if element.parent is not None and element.parent.node.order in dropped:
            element.parent = element.parent.parent
    return [element for element in candidates if element.node.order not in dropped]


def _is_same_target(box: Element, element: Element) -> bool:
    if _scrolls(box) or _scrolls(element) or not element.node.flags & ENABLED:
        return False
    box_label, _ = own_label(box.node)
    element_label, _ = own_label(element.node)
    if element.kind != "f" and box_label and element_label and box_label != element_label:
        return False
    if not (element.node.flags | element.outer.flags) & CLICKABLE:
        return not element.inner  # a tap on it is a tap on the box
    if box.texts and element.kind != "f":
        return False
    common = element.outer.bounds.intersect(box.node.bounds)
    share = _WHOLE_SHARE if element.kind in _OTHER_ACTS else _SAME_SHARE
    return common.area >= box.node.bounds.area * share


def _scrolls(element: Element) -> bool:
    """Scrolling is an action of its own, except in a field, where it belongs to typing."""
    return bool(element.node.flags & SCROLLABLE) and element.kind != "f"


_TAPPABLE = CLICKABLE | LONG_CLICKABLE
_BY_ROLE = {"text_field": "f", "slider": "v"}
_BUTTONS = {"button", "image_button"}
_CHECKS = {"check_box", "switch", "radio_button"}
_PICTURES = {"image", "image_button"}
_ZONES = 3  # boxes around a check in which a tap on it may land
_SCROLLERS = {"list", "scroll_view", "web_view"}
_SAID_BY_STATES = {"on", "off", "checked", "not checked", "unchecked", "selected", "not selected"}
_ROW_SHAPE = 3  # width to height
_SHORT = 80  # characters; a longer label belongs to a card


def first_kind(node: Node) -> str | None:
    """f, v, c, s, b or l where the node alone decides it; '' for another actionable; None for the rest.

    A row with a name that also slides sideways is a row; a list that reports clicks is a list.
    """
    flags, role = node.flags, node.role
    kind = _BY_ROLE.get(role)
    if kind is not None:
        return kind
    if not flags & ACTIONABLE:
        return "b" if role in _BUTTONS and not flags & ENABLED and (node.text or node.description) else None
    if (flags & CHECKABLE and not _is_sign(node)) or role in _CHECKS:
        return "c"
    if flags & SCROLLABLE and (
        not flags & CLICKABLE or role in _SCROLLERS or not (node.text or node.description)
    ):
        return "s"
    if role in _BUTTONS:
        return "b"
    return "l" if role == "text_view" and flags & CLICKABLE else ""


def _is_sign(node: Node) -> bool:
    """A picture that cannot be toggled although its class says so: the error mark next to a field."""
    if node.flags & CLICKABLE or node.role not in _PICTURES:
        return False
    return not any(up.flags & CLICKABLE for up in islice(node.ancestors(), _ZONES))


def _tappable_kind(element: Element) -> str:
    node = element.outer
    if node.role == "list_item" or (node.children and _is_row(element)):
        return "i"
    return "b" if node.flags & CLICKABLE and not element.inner and 0 < len(element.label) <= _SHORT else "g"


def _is_row(element: Element) -> bool:
    """Several texts, or a name and elements inside a box much wider than high."""
    bounds = element.outer.bounds
    return len(element.pieces) > 1 or bool(
        element.pieces and element.inner and bounds.width >= _ROW_SHAPE * bounds.height
    )


DOUBTED = "covered?"
"""The state of an element over or under which something of unknown depth takes touches."""


def _states(element: Element, is_doubted: bool) -> tuple[str, ...]:
    flags, kind = element.node.flags, element.kind
    words = []
    if kind == "c" and flags & (CHECKABLE | CHECKED):
        words.append("on" if flags & CHECKED else "off")
    if kind != "s":
        is_own = flags & SELECTED and not (element.parent and element.parent.node.flags & SELECTED)
        if is_own or any(text.taken and text.chosen for text in element.texts):
            words.append("selected")
        if flags & FOCUSED:
            words.append("focused")
        if flags & PASSWORD:
            words.append("password")
    if not flags & ENABLED:
        words.append("disabled")
    if kind == "g" and not (flags | element.outer.flags) & (CLICKABLE | CHECKABLE):
        words.append("long-press")
    if is_doubted:
        words.append(DOUBTED)
    return tuple(words)


_SLACK = 3  # px
_WRAPPERS = 6  # single boxes between a scroll container and its rows; a bound for degenerate trees
_CLIPPED = 0.9  # of the usual length: a shorter first or last row is cut by the edge


def arrows(node: Node) -> str:
    """Such as "↓", "↑↓", "←"; "↕" or "↔" where the bounds do not tell which way."""
    if node.scrolled is not None and node.scrolls_to is not None:
        marks = (
            ("←", node.scrolled.x > _SLACK), ("→", node.scrolled.x < node.scrolls_to.x - _SLACK),
            ("↑", node.scrolled.y > _SLACK), ("↓", node.scrolled.y < node.scrolls_to.y - _SLACK),
        )  # fmt: skip
        return "".join(mark for mark, more in marks if more)
    content = _content(node)
    sideways = _is_sideways(node, content)
    back, forward = _more(node.bounds, content, sideways)
    if not back and not forward:
        return "↔" if sideways else "↕"
    return ("←" if sideways else "↑") * back + ("→" if sideways else "↓") * forward


def _content(node: Node) -> list[Bounds]:
    for _ in range(_WRAPPERS):
        if len(node.children) == 1:
            node = node.children[0]
    return [child.bounds for child in node.children if child.bounds.area]


def _is_sideways(node: Node, content: list[Bounds]) -> bool:
    name = node.short_class
    if "Horizontal" in name or "Pager" in name or "orkspace" in name or node.id_tail == "workspace":
        return True
    if "ScrollView" in name or len(content) < 2:
        return False
    first = content[0]
    return all(
        abs(box.top - first.top) <= _SLACK and box.left >= before.right - _SLACK
        for before, box in pairwise(content)
    )


def _more(frame: Bounds, content: list[Bounds], sideways: bool) -> tuple[bool, bool]:
    """Content that goes past an edge, is cut by it, or (forward) reaches it."""
    if len(content) < 2:
        return False, bool(content) and not sideways and content[0].bottom >= frame.bottom - _SLACK
    low, high = (0, 2) if sideways else (1, 3)
    start = min(box[low] for box in content)
    end = max(box[high] for box in content)
    usual = median(box[high] - box[low] for box in content)
    first = content[0]
    cut = abs(first[low] - frame[low]) <= _SLACK and first[high] - first[low] < usual * _CLIPPED
    return start < frame[low] - _SLACK or cut, end >= frame[high] - _SLACK

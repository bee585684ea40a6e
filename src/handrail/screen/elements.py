"""Everything on a screen that can be acted on, each with its kind and its states, and the texts that remain.

One pass gathers, a box around exactly one element becomes that element, then each gets the letter of its ref.
Numbers are given in `refs`, and lines are written in `compact`.

An element's name comes from the surest source: what it says itself, then the texts inside it, then those
on or beside it: a switch takes its row's title. What is still nameless gets a stand-in.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice

from handrail.screen.node import (
    ACTIONABLE,
    CHECKABLE,
    CHECKED,
    CLICKABLE,
    ENABLED,
    FOCUSED,
    LABEL,
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
    scroll_arrows,
)
from handrail.screen.reach import possibly_covered
from handrail.screen.text import (
    AGGREGATE,
    GUESSED,
    TALL,
    check_label,
    clean,
    contains_words,
    field_value,
    guessed_name,
    id_name,
    is_name,
    label_beside_value,
    own_label,
    place_in_box,
    place_on_screen,
    quoted,
    slider_label,
    slider_value,
)
from handrail.screen.windows import is_input_method, visible_with_layers


def elements(screen: Screen, external_labels: Mapping[str, str] | None = None) -> Elements:
    """Everything that gets a ref, in document order. `external_labels` are a framework's names by node id."""
    shown, layers = visible_with_layers(screen)
    candidates, texts = collect_elements_and_texts(screen, shown)
    candidates = merge_wrappers(candidates)
    for element in candidates:
        name_element(element, external_labels or {}, screen)
    name_from_neighbours(candidates, texts, screen)
    doubted = possibly_covered(screen)
    for element in candidates:
        # Decides the letter of what `first_kind` left open, and the states.
        if not element.kind:
            element.kind = _tappable_kind(element)
        element.states = _state_words(
            element, element.outer.order in doubted or element.node.order in doubted
        )
        if element.node.state_description and element.kind != "v":
            state = clean(element.node.state_description)
            element.state = "" if state.casefold() in _SAID_BY_STATES or state in element.pieces else state
        if element.kind == "s" or element.node.scrolls_to is not None:
            element.arrows = scroll_arrows(element.node)
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


def collect_elements_and_texts(screen: Screen, shown: bytearray) -> tuple[list[Element], list[Text]]:
    walk = _ElementCollector(screen.package)
    for node in screen.nodes:
        if shown[node.order]:
            kind = first_kind(node)
            if kind is not None:
                walk.add_element(node, kind)
            else:
                walk.add_pane_or_text(node)
    return walk.elements, walk.texts


class _ElementCollector:
    """The state of the pass: the elements, list item and labelled box around the current node."""

    __slots__ = ("_around", "_item", "_package", "_speaker", "elements", "texts")

    def __init__(self, package: str) -> None:
        self.elements: list[Element] = []
        self.texts: list[Text] = []
        self._package = package
        self._around: list[Element] = []
        self._item: Node | None = None
        self._speaker: Text | None = None  # a text whose node holds others

    def add_element(self, node: Node, kind: str) -> None:
        if node.role == "list_item":
            self._item = node
        parent = self._enclosing_element(node)
        element = Element(node, kind, parent)
        if node.package_name != self._package:
            element.is_key = is_input_method(node.package_name)
        if parent is not None:
            parent.inner.append(element)
        self._around.append(element)
        self.elements.append(element)

    def add_pane_or_text(self, node: Node) -> None:
        """A node that cannot be acted on: a pane, a text, or only a box."""
        if node.role == "list_item":
            self._item = node
        if node.pane_title and (title := clean(node.pane_title)):
            self.texts.append(Text(node, title, is_pane=True))
        label = _spoken_label(node)
        if not label or self._repeats_text_around(node, label):
            return
        text = Text(node, label, chosen=_selected_choice(node))
        if self._item is not None and node.order < self._item.end:
            text.item = self._item
        if node.children:
            self._speaker = text
        self.texts.append(text)
        parent = self._enclosing_element(node)
        if parent is not None:
            parent.texts.append(text)

    def _enclosing_element(self, node: Node) -> Element | None:
        around = self._around
        while around and around[-1].node.end <= node.order:
            around.pop()
        return around[-1] if around else None

    def _repeats_text_around(self, node: Node, label: str) -> bool:
        speaker = self._speaker
        if speaker is None or node.order >= speaker.node.end:
            return False
        return contains_words(speaker.text, label.lstrip(_BULLETS) or label)


def _spoken_label(node: Node) -> str:
    """The label of a node that cannot be acted on, with its state description."""
    if not (node.text or node.description or node.hint_text or node.tooltip_text or node.state_description):
        return ""
    label, _ = own_label(node)
    if node.state_description and (state := clean(node.state_description)) and state != label:
        return f"{label}: {state}" if label else state
    return label


def _selected_choice(node: Node) -> Node | None:
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
    for element in candidates if dropped else ():  # parents come first, so one step up is enough
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
    # A picture that cannot be toggled although its class says so: the error mark next to a field.
    is_mark = role in _PICTURES and not any(
        each.flags & CLICKABLE for each in (node, *islice(node.ancestors(), _ZONES))
    )
    if (flags & CHECKABLE and not is_mark) or role in _CHECKS:
        return "c"
    if flags & SCROLLABLE and (
        not flags & CLICKABLE or role in _SCROLLERS or not (node.text or node.description)
    ):
        return "s"
    if role in _BUTTONS:
        return "b"
    return "l" if role == "text_view" and flags & CLICKABLE else ""


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


def _state_words(element: Element, is_doubted: bool) -> tuple[str, ...]:
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


_CROWD = 4  # elements; what holds more is a region of the screen, not a thing with a name
_REGION_SHARE = 0.5  # of the screen's area


def name_element(element: Element, external_labels: Mapping[str, str], screen: Screen) -> None:
    """Fills label, value and hint from the node, its wrapper and the texts inside."""
    node, kind = element.node, element.kind
    external = external_labels.get(node.id, "") if external_labels else ""
    if kind == "f":
        element.value, element.hint = field_value(node)
        label, source = label_beside_value(node, external)
    elif kind == "v":
        element.value = slider_value(node)
        label, source = slider_label(node, external)
    else:
        label, source = (check_label if kind == "c" else own_label)(node, external)
    if not label and element.wrapper is not None:
        label, source = own_label(element.wrapper)
    aggregate = source == "description" and len(label) > AGGREGATE and bool(element.texts or element.inner)
    if label and not aggregate:
        _add_label(element, label, source)
    if kind != "s":
        # A tappable box so large or full that its texts are the screen's, not its name. A card is one that
        # does not scroll and is smaller than a page.
        is_page = element.outer.bounds.area > screen.width * screen.height * _REGION_SHARE
        holds_list = any(child.kind == "s" for child in element.inner)
        if not element.inner or not (is_page or holds_list or len(element.inner) >= _CROWD):
            _take_texts_inside(element)
        elif not (element.pieces or is_page or holds_list):
            # The first text of a card, if it comes before its parts.
            first = element.texts[0] if element.texts else None
            if first and len(first.text) <= LABEL and first.node.order < element.inner[0].outer.order:
                first.taken = True
                element.pieces.append(first.text)
                element.source = "inside"
    if aggregate and not element.pieces:
        _add_label(element, label, source)


def _add_label(element: Element, label: str, source: str) -> None:
    element.pieces.append(label)
    element.source = source
    if label == element.hint:
        element.hint = ""


def _take_texts_inside(element: Element) -> None:
    """Texts inside, and for a row that has none the label of a check that only the row can toggle."""
    if not element.texts and not element.pieces:
        passive = (
            each.node for each in element.inner if each.kind == "c" and not each.node.flags & CLICKABLE
        )
        if label := next(filter(None, (check_label(node)[0] for node in passive)), ""):
            element.source = "inside"
            element.pieces.append(label)
    label = element.label
    room = LABEL - len(label)  # what is more stays below the element as plain lines
    for text in element.texts:
        if contains_words(label, text.text) or text.text == element.value:
            text.taken = True
            continue
        room -= len(text.text)
        if room < 0 and element.pieces:
            return
        text.taken = True
        element.pieces.append(text.text)
        label = element.label
        element.source = element.source or "inside"


_ROW_SHARE = 0.15  # of the screen's height; a taller box is not a row
_PIECES = 4
_SLACK = 4  # px
_CONTROLS = ("c", "f", "v")
_ZONE_SHARE = 8  # a zone that takes more than this part of the screen is a region
_BOXES = 2  # around an element, in which its texts may be
_CROWDED = 16  # texts or elements in a box: more are a list
_CAPTION_GAP = 0.04  # of the screen's width
_CAPTION_WIDTH = 1.6  # of the icon's
_ICON_WIDTH = 0.34  # of the screen's


def name_from_neighbours(elements: list[Element], texts: list[Text], screen: Screen) -> None:
    """Names each nameless element by the texts that a reader would assign to it."""
    if all(element.pieces or element.kind == "s" for element in elements):
        return
    neighbourhood = _Neighbourhood(elements, texts, screen)
    for at, element in enumerate(elements):
        if element.pieces or element.kind == "s":
            continue
        taken = neighbourhood.texts_in_row(element)
        if not taken:
            taken = (
                neighbourhood.texts_beside(at)
                if element.kind in _CONTROLS
                else neighbourhood.texts_on(element)
            )
        for text in taken:
            text.taken = True
            element.pieces.append(text.text)
        if element.pieces:
            element.source = "row"
        elif element.kind in ("c", "v") and (row := element.parent) and row.pieces and len(row.inner) == 1:
            element.pieces.append(row.pieces[0])
            element.source = "echo"


class _Neighbourhood:
    """Elements and texts of one screen, searchable by document order."""

    def __init__(self, elements: list[Element], texts: list[Text], screen: Screen) -> None:
        self._elements, self._screen = elements, screen
        self._texts = [text for text in texts if not text.is_pane]
        self._elements_at = [element.node.order for element in elements]
        self._texts_at = [text.node.order for text in self._texts]

    def texts_in_row(self, element: Element) -> list[Text]:
        """The texts of the smallest box that has some, if the element is alone with them in one row."""
        box: Node | None = element.outer.parent
        limit = element.parent.node.order if element.parent else -1
        tallest = max(self._screen.height * _ROW_SHARE, element.node.bounds.height * 1.5)
        while box is not None and box.order > limit and not box.flags & SCROLLABLE:
            if self._elements_in(box) > 1 or box.bounds.height > tallest:
                return []
            first = bisect_left(self._texts_at, box.order)
            texts = [
                text
                for text in self._texts[
                    first : min(bisect_left(self._texts_at, box.end), first + _PIECES + 1)
                ]
                if not text.taken
                and (element.kind != "f" or text.node.bounds.top < element.node.bounds.bottom - _SLACK)
            ]
            if texts:
                fits = len(texts) <= _PIECES and sum(len(text.text) for text in texts) <= LABEL
                return texts if fits else []
            box = box.parent
        return []

    def _elements_in(self, box: Node) -> int:
        return bisect_left(self._elements_at, box.end) - bisect_left(self._elements_at, box.order)

    def texts_beside(self, at: int) -> list[Text]:
        """The texts just before or after, with no element between, in the same line or just above."""
        element = self._elements[at]
        bounds = element.outer.bounds
        # Up to three free texts since the element before.
        index = bisect_left(self._texts_at, self._elements[at].outer.order)
        floor = self._elements_at[at - 1] if at else -1
        texts = self._texts[max(0, index - 3) : index]
        while texts and (texts[0].taken or texts[0].node.order < floor):
            texts.pop(0)
        before, after = [text for text in texts if not self._is_of_another(at, text)], self._text_after(at)
        on_line = [text for text in before if _same_line(text.node.bounds, bounds)]
        right = after if after and _same_line(after.node.bounds, bounds) else None
        # "○ Yes ○ No" reads to the right, "Wi-Fi ◉" to the left.
        if right and (not on_line or element.node.role in ("radio_button", "check_box")):
            return [right]
        if on_line or element.kind == "c":
            return on_line
        above = [text for text in before[-1:] if _just_above(text.node.bounds, bounds)]
        return above or (self._texts_below_slider(at) if element.kind == "v" else [])

    def _texts_below_slider(self, at: int) -> list[Text]:
        """The texts just below a slider, from end to end: its position and its range."""
        element = self._elements[at]
        left, top, right, bottom = element.outer.bounds
        first = bisect_left(self._texts_at, element.outer.end)
        ceiling = self._elements_at[at + 1] if at + 1 < len(self._elements) else 1 << 60
        low = bottom + max(_SLACK, (bottom - top) // 2)
        return [
            text
            for text in self._texts[first : first + 2]
            if not text.taken and text.node.order < ceiling and left <= text.node.bounds.left
            and text.node.bounds.right <= right and top <= text.node.bounds.top <= low
        ]  # fmt: skip

    def texts_on(self, element: Element) -> list[Text]:
        """Texts that lie on a tappable zone without being inside it, or the caption just below an icon."""
        zone = element.outer.bounds
        if element.inner or zone.area * _ZONE_SHARE > self._screen.bounds.area:
            return []
        near = self._texts_around(element)
        texts = [
            text
            for text in near
            if _zone_holds(zone, text.node.bounds) and self._is_in_no_other(element, text)
        ]
        if texts and len(texts) <= _PIECES and sum(len(text.text) for text in texts) <= LABEL:
            return texts
        below = [text for text in near if _is_caption(zone, text.node.bounds, self._screen.width)]
        return below if len(below) == 1 and self._is_only_icon(element, below[0]) else []

    def _texts_around(self, element: Element) -> list[Text]:
        """Free texts in the boxes around that hold no more than a few."""
        box = element.outer.parent
        for _ in range(_BOXES):
            if box is None or (element.parent and box.order <= element.parent.node.order):
                return []
            first = bisect_left(self._texts_at, box.order)
            last = bisect_left(self._texts_at, box.end)
            if last - first > _CROWDED:
                return []
            if texts := [text for text in self._texts[first:last] if not text.taken]:
                return texts
            box = box.parent
        return []

    def _is_in_no_other(self, element: Element, text: Text) -> bool:
        """No smaller zone claims the text, and it is in no other element."""
        if text in element.texts:
            return True
        place, own_area = text.node.bounds, element.outer.bounds.area
        for other in self._elements_nearby(element):
            if text.node.is_inside(other.outer) and not element.node.is_inside(other.outer):
                return False
            if other.outer.bounds.area < own_area and _zone_holds(other.outer.bounds, place):
                return False
        return True

    def _is_only_icon(self, element: Element, text: Text) -> bool:
        place = text.node.bounds
        others = (other for other in self._elements_nearby(element) if other.kind != "s")
        return not any(
            (text.node.is_inside(other.outer) and not element.node.is_inside(other.outer))
            or other.outer.bounds.intersect(place).area
            or _is_caption(other.outer.bounds, place, self._screen.width)
            for other in others
        )

    def _elements_nearby(self, element: Element) -> list[Element]:
        at = bisect_left(self._elements_at, element.node.order)
        near = self._elements[max(0, at - _CROWDED) : at + _CROWDED]
        return [other for other in near if other is not element]

    def _is_of_another(self, at: int, text: Text) -> bool:
        """True if the text labels another element: one in the same box, or the closer field above."""
        element, box = self._elements[at], text.node.parent
        if box is not None and not element.node.is_inside(box) and self._elements_in(box):
            return True
        before = self._elements[at - 1] if at else None
        if before is None or before.kind != "f":
            return False
        place, above, here = text.node.bounds, before.outer.bounds, element.outer.bounds
        return above.bottom - _SLACK <= place.top and place.top - above.bottom < here.top - place.bottom

    def _text_after(self, at: int) -> Text | None:
        end = self._elements[at].outer.end
        index = bisect_left(self._texts_at, end)
        ceiling = self._elements_at[at + 1] if at + 1 < len(self._elements) else 1 << 60
        if index >= len(self._texts) or self._texts[index].taken or self._texts_at[index] > ceiling:
            return None
        return self._texts[index]


def _zone_holds(zone: Bounds, place: Bounds) -> bool:
    left, top, right, bottom = zone
    return Bounds(left - _SLACK, top - _SLACK, right + _SLACK, bottom + _SLACK).covers(place)


def _is_caption(icon: Bounds, place: Bounds, width: int) -> bool:
    """Just below, in the same column, and not much wider."""
    gap = place.top - icon.bottom
    off = abs(icon.left + icon.right - place.left - place.right)
    return (
        -_SLACK <= gap <= width * _CAPTION_GAP
        and off <= max(2 * _SLACK, icon.width // 4)
        and place.width <= icon.width * _CAPTION_WIDTH
        and icon.width <= width * _ICON_WIDTH
    )


def _same_line(first: Bounds, other: Bounds) -> bool:
    overlap = min(first.bottom, other.bottom) - max(first.top, other.top)
    return overlap * 2 >= min(first.height, other.height)


def _just_above(above: Bounds, below: Bounds) -> bool:
    gap = below.top - above.bottom
    return -below.height // 2 <= gap <= below.height and above.left < below.right and below.left < above.right


_REACH = 8  # labelled things looked at on either side, in document order
_BESIDE_SHARE = 0.7  # of the screen's width
_NEAR_SHARE = 0.2  # of its height
_PARTS = 3  # of a card
_ANCHOR = 20  # characters of a neighbour's label
_BRIEF = 10  # of a label that stands just above
_BESIDE = ("(right of", "(left of")

Anchor = tuple[int, Bounds, str]


def add_stand_ins(
    elements: list[Element], texts: list[Text], screen: Screen, layers: Sequence[Node] = ()
) -> None:
    """Identifies every element that has no label; scroll containers need nothing.

    Neighbours in another layer do not count.
    """
    if layers:
        for is_behind in (True, False):
            same_layer = [element for element in elements if _is_in_layers(layers, element.node) is is_behind]
            add_stand_ins(
                same_layer, [text for text in texts if _is_in_layers(layers, text.node) is is_behind], screen
            )
        return
    nameless = [element for element in elements if not element.pieces and element.kind != "s"]
    if not nameless:
        return
    name_groups(elements, texts, screen)
    anchors = _find_labelled_places(elements, texts)
    starts = [order for order, _, _ in anchors]
    twins: Counter[tuple[Element | None, str]] = Counter()
    ids = Counter(_id_of_element_or_part(element, screen) for element in nameless)
    for element in nameless:
        if element.stand_in:
            continue
        at = bisect_left(starts, element.node.order)
        near = _describe_nearest_label(element, anchors[max(0, at - _REACH) : at + _REACH], screen)
        tail = _id_of_element_or_part(element, screen)
        if tail:
            element.source = "id"
            beside = near if ids[tail] > 1 and near.startswith(_BESIDE) and element.kind != "f" else ""
            element.stand_in = f"#{tail} {beside}".rstrip()
        # A field is known by its value, a slider by its value inside something with a name.
        elif bool(element.value) and (element.kind == "f" or bool(element.parent and element.parent.pieces)):
            element.stand_in = _name_by_box(element, twins)
        elif _is_navigation(element, near, elements, screen):
            _guess(element, NAVIGATION, screen)
        else:
            element.source = "near" if '"' in near else "place"
            place = near or place_on_screen(element.node.bounds, screen)
            twins[element.parent, place] += 1
            element.stand_in = _number_place(place, twins[element.parent, place])


NAVIGATION = "back or menu"
_GROUP = 3  # like elements; fewer are not told apart by a number


def name_groups(elements: list[Element], texts: list[Text], screen: Screen) -> None:
    """Like nameless elements are named by the plain text just before all of them: `~Color 3`."""
    captions = [text for text in texts if not text.taken and not text.is_pane]
    starts = [text.node.order for text in captions]
    groups: list[tuple[int, Node | None, list[Element]]] = []
    for element in elements:
        if element.kind == "s":
            continue
        box, at = element.outer.parent, bisect_left(starts, element.outer.order)
        while box is not None and len(box.children) == 1:
            box = box.parent
        last = groups[-1][2][0] if groups else element
        is_bare = not any(each.pieces or each.value or each.inner for each in (last, element))
        if not groups or not is_bare or groups[-1][:2] != (at, box) or not element.is_like(last):
            groups.append((at, box, []))
        groups[-1][2].append(element)
    for number, (at, _, group) in enumerate(groups):
        if len(group) < _GROUP or not at or (number and groups[number - 1][0] == at):
            continue  # the text names what comes between
        words, first = captions[at - 1].text, group[0].outer
        where, _ = _direction_and_distance(first.bounds, captions[at - 1].node.bounds, screen)
        if where in ("below", "right of") and len(words) <= _ANCHOR and is_name(words):
            for place, element in enumerate(group, 1):
                _guess(element, f"{words} {place}", screen)


def _guess(element: Element, name: str, screen: Screen) -> None:
    """A name that no app has said: it finds the element by its mark, and counts for nothing else."""
    element.source, element.stand_in = "guess", guessed_name(name)
    screen.memo[GUESSED, element.node] = GUESSED + name


_TOP_SHARE, _CORNER_SHARE = 0.12, 0.18  # of the screen's height and width
_ICONS = frozenset({"button", "image_button", "image", "unknown", "container"})


def _is_navigation(element: Element, near: str, elements: list[Element], screen: Screen) -> bool:
    """The icon in the corner before the screen's title leads back or opens the menu, in every toolkit."""
    bounds = element.outer.bounds
    if element.inner or element.node.role not in _ICONS or not near.startswith(_BESIDE[1]):
        return False
    if bounds.bottom > screen.height * _TOP_SHARE or bounds.right > screen.width * _CORNER_SHARE:
        return False
    return not any(
        other is not element
        and other.outer.bounds.bottom <= bounds.bottom + bounds.height // 2
        and other.outer.bounds.right <= bounds.right + bounds.width // 2
        for other in elements
    )


def _id_of_element_or_part(element: Element, screen: Screen) -> str:
    """The readable resource name of its node, its wrapper, or the only one inside."""
    name = id_name(element.node) or (id_name(element.wrapper) if element.wrapper else "")
    if name or element.inner:
        return name
    inside = {name for node in screen.inside(element.node) if (name := id_name(node))}
    return inside.pop() if len(inside) == 1 else ""


def _is_in_layers(layers: Sequence[Node], node: Node) -> bool:
    return any(layer.order <= node.order < layer.end for layer in layers)


def _number_place(place: str, number: int) -> str:
    """`(top right)`, then `(top right, 2nd)`."""
    ending = {2: "nd", 3: "rd"}.get(number, "th")
    return f"{place[:-1]}, {number}{ending})" if number > 1 else place


def _find_labelled_places(elements: list[Element], texts: list[Text]) -> list[Anchor]:
    anchors = [(text.node.order, text.node.bounds, text.text) for text in texts if not text.is_pane]
    anchors.extend(
        (element.node.order, element.node.bounds, element.pieces[0])
        for element in elements
        if element.pieces and element.kind != "s" and element.source not in ("inside", "row")
    )
    anchors.sort()
    return anchors


def _describe_nearest_label(element: Element, anchors: list[Anchor], screen: Screen) -> str:
    """Where it is in the row that holds it, else beside which label."""
    bounds, parent = element.node.bounds, element.parent
    # In a row, or in a card of few parts; a larger box has other neighbours that are nearer.
    if (
        parent is not None
        and parent.pieces
        and (
            parent.node.bounds.height <= TALL * bounds.height
            or (parent.kind != "s" and len(parent.inner) <= _PARTS)
        )
    ):
        return (
            f"{quoted(_shorten_label(parent.pieces[0], _BRIEF))} {place_in_box(bounds, parent.node.bounds)}"
        )
    best, words = 1 << 60, ""
    for _, its, label in anchors:
        where, distance = _direction_and_distance(bounds, its, screen)
        if where and distance < best:
            best, words = distance, f"({where} {quoted(_shorten_label(label))})"
    return words


def _shorten_label(label: str, most: int = _ANCHOR) -> str:
    return label if len(label) <= most else f"{label[:most].rstrip()}…"


def _direction_and_distance(bounds: Bounds, its: Bounds, screen: Screen) -> tuple[str, int]:
    """Where `bounds` is, seen from `its`; beside is nearer than above or below."""
    if min(bounds.bottom, its.bottom) - max(bounds.top, its.top) > min(bounds.height, its.height) // 2:
        reach = int(screen.width * _BESIDE_SHARE)
        if -2 <= bounds.left - its.right <= reach:
            return "right of", bounds.left - its.right
        if -2 <= its.left - bounds.right <= reach:
            return "left of", its.left - bounds.right
    elif min(bounds.right, its.right) > max(bounds.left, its.left):
        reach = int(screen.height * _NEAR_SHARE)
        if 0 <= bounds.top - its.bottom + 2 <= reach:
            return "below", 2 * (bounds.top - its.bottom) + screen.width
        if 0 <= its.top - bounds.bottom + 2 <= reach:
            return "above", 2 * (its.top - bounds.bottom) + screen.width
    return "", 0


def _name_by_box(element: Element, twins: Counter[tuple[Element | None, str]]) -> str:
    """A slider shows its value and the name of its box; the value of a field is enough."""
    box = element.parent
    if element.kind != "v" or box is None or not box.pieces:
        return ""
    twins[box, ""] += 1
    number = f" {_number_place('()', twins[box, ''])}" if twins[box, ""] > 1 else ""
    return f"{quoted(_shorten_label(box.pieces[0], _BRIEF))}{number.replace('(, ', '(')}"

"""An element's name, from the surest source to the weakest.

First what it says itself, then the texts inside it, then those on or beside it: a switch takes its row's
title. What is still nameless gets a stand-in from `stand_ins`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence

from handrail.screen.node import CLICKABLE, LABEL, SCROLLABLE, Bounds, Element, Node, Screen, Text
from handrail.screen.text import (
    AGGREGATE,
    check_label,
    contains_words,
    field_value,
    id_name,
    label_beside_value,
    own_label,
    quoted,
    slider_label,
    slider_value,
)

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
        _call(element, label, source)
    if kind != "s":
        if not _is_region(element, screen):
            _hoist(element)
        elif not element.pieces and _is_card(element, screen):
            # The first text of a card, if it comes before its parts.
            first = element.texts[0] if element.texts else None
            if first and len(first.text) <= LABEL and first.node.order < element.inner[0].outer.order:
                first.taken = True
                element.pieces.append(first.text)
                element.source = "inside"
    if aggregate and not element.pieces:
        _call(element, label, source)


def _call(element: Element, label: str, source: str) -> None:
    element.pieces.append(label)
    element.source = source
    if label == element.hint:
        element.hint = ""


def _is_region(element: Element, screen: Screen) -> bool:
    """A tappable box so large or full that its texts are the screen's, not its name."""
    inner = element.inner
    if not inner:
        return False
    if len(inner) >= _CROWD or any(child.kind == "s" for child in inner):
        return True
    return element.outer.bounds.area > screen.width * screen.height * _REGION_SHARE


def _is_card(element: Element, screen: Screen) -> bool:
    """A region with many parts that is still one element: it does not scroll and is smaller than a page."""
    is_page = element.outer.bounds.area > screen.width * screen.height * _REGION_SHARE
    return not is_page and not any(child.kind == "s" for child in element.inner)


def _hoist(element: Element) -> None:
    """Texts inside, and for a row that has none the label of a check that only the row can toggle."""
    if not element.texts and not element.pieces:
        element.pieces.extend(_passive_check(element))
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


def _passive_check(element: Element) -> list[str]:
    for check in element.inner:
        if check.kind == "c" and not check.node.flags & CLICKABLE and (label := check_label(check.node)[0]):
            element.source = "inside"
            return [label]
    return []


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
        taken = neighbourhood.row(element)
        if not taken:
            taken = neighbourhood.beside(at) if element.kind in _CONTROLS else neighbourhood.on(element)
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

    def row(self, element: Element) -> list[Text]:
        """The texts of the smallest box that has some, if the element is alone with them in one row."""
        box: Node | None = element.outer.parent
        limit = element.parent.node.order if element.parent else -1
        tallest = max(self._screen.height * _ROW_SHARE, element.node.bounds.height * 1.5)
        while box is not None and box.order > limit and not box.flags & SCROLLABLE:
            if self._elements_in(box) > 1 or box.bounds.height > tallest:
                return []
            texts = [
                text
                for text in self._texts_in(box)
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

    def _texts_in(self, box: Node) -> list[Text]:
        first = bisect_left(self._texts_at, box.order)
        return self._texts[first : min(bisect_left(self._texts_at, box.end), first + _PIECES + 1)]

    def beside(self, at: int) -> list[Text]:
        """The texts just before or after, with no element between, in the same line or just above."""
        element = self._elements[at]
        bounds = element.outer.bounds
        # Up to three free texts since the element before.
        index = bisect_left(self._texts_at, self._elements[at].outer.order)
        floor = self._elements_at[at - 1] if at else -1
        texts = self._texts[max(0, index - 3) : index]
        while texts and (texts[0].taken or texts[0].node.order < floor):
            texts.pop(0)
        before, after = [text for text in texts if not self._is_of_another(at, text)], self._after(at)
        on_line = [text for text in before if _same_line(text.node.bounds, bounds)]
        right = after if after and _same_line(after.node.bounds, bounds) else None
        # "○ Yes ○ No" reads to the right, "Wi-Fi ◉" to the left.
        if right and (not on_line or element.node.role in ("radio_button", "check_box")):
            return [right]
        if on_line or element.kind == "c":
            return on_line
        above = [text for text in before[-1:] if _just_above(text.node.bounds, bounds)]
        return above or (self._scale(at) if element.kind == "v" else [])

    def _scale(self, at: int) -> list[Text]:
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

    def on(self, element: Element) -> list[Text]:
        """Texts that lie on a tappable zone without being inside it, or the caption just below an icon."""
        zone = element.outer.bounds
        if element.inner or zone.area * _ZONE_SHARE > self._screen.bounds.area:
            return []
        near = self._around(element)
        texts = [text for text in near if _holds(zone, text.node.bounds) and self._is_alone(element, text)]
        if texts and len(texts) <= _PIECES and sum(len(text.text) for text in texts) <= LABEL:
            return texts
        below = [text for text in near if _is_caption(zone, text.node.bounds, self._screen.width)]
        return below if len(below) == 1 and self._is_only_icon(element, below[0]) else []

    def _around(self, element: Element) -> list[Text]:
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

    def _is_alone(self, element: Element, text: Text) -> bool:
        """No smaller zone claims the text, and it is in no other element."""
        if text in element.texts:
            return True
        place, own_area = text.node.bounds, element.outer.bounds.area
        for other in self._nearby(element):
            if text.node.is_inside(other.outer) and not element.node.is_inside(other.outer):
                return False
            if other.outer.bounds.area < own_area and _holds(other.outer.bounds, place):
                return False
        return True

    def _is_only_icon(self, element: Element, text: Text) -> bool:
        place = text.node.bounds
        others = (other for other in self._nearby(element) if other.kind != "s")
        return not any(
            (text.node.is_inside(other.outer) and not element.node.is_inside(other.outer))
            or other.outer.bounds.intersect(place).area
            or _is_caption(other.outer.bounds, place, self._screen.width)
            for other in others
        )

    def _nearby(self, element: Element) -> list[Element]:
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

    def _after(self, at: int) -> Text | None:
        end = self._elements[at].outer.end
        index = bisect_left(self._texts_at, end)
        ceiling = self._elements_at[at + 1] if at + 1 < len(self._elements) else 1 << 60
        if index >= len(self._texts) or self._texts[index].taken or self._texts_at[index] > ceiling:
            return None
        return self._texts[index]


def _holds(zone: Bounds, place: Bounds) -> bool:
    return (
        zone.left - _SLACK <= place.left
        and zone.top - _SLACK <= place.top
        and place.right <= zone.right + _SLACK
        and place.bottom <= zone.bottom + _SLACK
    )


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
_WHOLE_SHARE = 0.8  # of the screen's area
_PARTS = 3  # of a card
_TALL = 3  # times as high as a part of it: not a row but a card
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
            same_layer = [element for element in elements if _is_in(layers, element.node) is is_behind]
            add_stand_ins(
                same_layer, [text for text in texts if _is_in(layers, text.node) is is_behind], screen
            )
        return
    nameless = [element for element in elements if not element.pieces and element.kind != "s"]
    if not nameless:
        return
    anchors = _anchors(elements, texts)
    starts = [order for order, _, _ in anchors]
    twins: Counter[tuple[Element | None, str]] = Counter()
    ids = Counter(_tail(element) for element in nameless)
    for element in nameless:
        at = bisect_left(starts, element.node.order)
        near = _near(element, anchors[max(0, at - _REACH) : at + _REACH], screen)
        tail = _tail(element)
        if tail:
            element.source = "id"
            beside = near if ids[tail] > 1 and near.startswith(_BESIDE) and element.kind != "f" else ""
            element.stand_in = f"#{tail} {beside}".rstrip()
        # A field is known by its value, a slider by its value inside something with a name.
        elif bool(element.value) and (element.kind == "f" or bool(element.parent and element.parent.pieces)):
            element.stand_in = _of_its_box(element, twins)
        else:
            element.source = "near" if '"' in near else "place"
            place = near or _place(element.node.bounds, screen)
            if _is_navigation(element, near, elements, screen):
                element.stand_in = NAVIGATION
                continue
            twins[element.parent, place] += 1
            element.stand_in = _numbered(place, twins[element.parent, place])


NAVIGATION = "back or menu (top left)"
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


def _tail(element: Element) -> str:
    return id_name(element.node) or (id_name(element.wrapper) if element.wrapper else "")


def _is_in(layers: Sequence[Node], node: Node) -> bool:
    return any(layer.order <= node.order < layer.end for layer in layers)


def _numbered(place: str, number: int) -> str:
    """`(top right)`, then `(top right, 2nd)`."""
    ending = {2: "nd", 3: "rd"}.get(number, "th")
    return f"{place[:-1]}, {number}{ending})" if number > 1 else place


def _anchors(elements: list[Element], texts: list[Text]) -> list[Anchor]:
    anchors = [(text.node.order, text.node.bounds, text.text) for text in texts if not text.is_pane]
    anchors.extend(
        (element.node.order, element.node.bounds, element.pieces[0])
        for element in elements
        if element.pieces and element.kind != "s" and element.source not in ("inside", "row")
    )
    anchors.sort()
    return anchors


def _near(element: Element, anchors: list[Anchor], screen: Screen) -> str:
    """Where it is in the row that holds it, else beside which label."""
    bounds, parent = element.node.bounds, element.parent
    # In a row, or in a card of few parts; a larger box has other neighbours that are nearer.
    if (
        parent is not None
        and parent.pieces
        and (
            parent.node.bounds.height <= _TALL * bounds.height
            or (parent.kind != "s" and len(parent.inner) <= _PARTS)
        )
    ):
        return f"{quoted(_short(parent.pieces[0], _BRIEF))} {_place_in(bounds, parent.node.bounds)}"
    best, words = 1 << 60, ""
    for _, its, label in anchors:
        where, distance = _relation(bounds, its, screen)
        if where and distance < best:
            best, words = distance, f"({where} {quoted(_short(label))})"
    return words


def _short(label: str, most: int = _ANCHOR) -> str:
    return label if len(label) <= most else f"{label[:most].rstrip()}…"


def _relation(bounds: Bounds, its: Bounds, screen: Screen) -> tuple[str, int]:
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


def _place_in(bounds: Bounds, box: Bounds) -> str:
    """In a row from left to right, in a tall card from top to bottom too."""
    x, y = bounds.center
    column = ("left", "middle", "right")[min(2, max(0, 3 * (x - box.left) // max(1, box.width)))]
    if box.height <= _TALL * bounds.height:
        return f"({column})"
    row = ("top", "middle", "bottom")[min(2, max(0, 3 * (y - box.top) // max(1, box.height)))]
    return f"({row})" if column == "middle" else f"({row} {column})"


def _of_its_box(element: Element, twins: Counter[tuple[Element | None, str]]) -> str:
    """A slider shows its value and the name of its box; the value of a field is enough."""
    box = element.parent
    if element.kind != "v" or box is None or not box.pieces:
        return ""
    twins[box, ""] += 1
    number = f" {_numbered('()', twins[box, ''])}" if twins[box, ""] > 1 else ""
    return f"{quoted(_short(box.pieces[0], _BRIEF))}{number.replace('(, ', '(')}"


def _place(bounds: Bounds, screen: Screen) -> str:
    if bounds.area > screen.bounds.area * _WHOLE_SHARE:
        return "(whole screen)"
    x, y = bounds.center
    row = ("top", "middle", "bottom")[min(2, max(0, 3 * y // max(1, screen.height)))]
    column = (" left", "", " right")[min(2, max(0, 3 * x // max(1, screen.width)))]
    return f"({row}{column})"

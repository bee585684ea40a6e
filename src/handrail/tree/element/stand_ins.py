"""What says which one a nameless element is: its id's tail, the row that holds it, a neighbour, a place.

A stand-in is for reading only; no selector finds an element by it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

from handrail.tree.element.labels import id_name
from handrail.tree.element.parts import Element, Text
from handrail.tree.node import Bounds, Node, Screen
from handrail.tree.quote import quoted

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


def stand_in(found: list[Element], texts: list[Text], screen: Screen, layers: Sequence[Node] = ()) -> None:
    """Says which one it is for every element that has no label; scroll containers need none.

    A neighbour in another layer is none.
    """
    if layers:
        for one in (True, False):
            mine = [element for element in found if _is_in(layers, element.node) is one]
            stand_in(mine, [text for text in texts if _is_in(layers, text.node) is one], screen)
        return
    nameless = [element for element in found if not element.pieces and element.kind != "s"]
    if not nameless:
        return
    anchors = _anchors(found, texts)
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
        elif _is_told_by_value(element):
            element.stand_in = _of_its_box(element, twins)
        else:
            element.source = "near" if '"' in near else "place"
            place = near or _place(element.node.bounds, screen)
            if _is_navigation(element, near, found, screen):
                element.stand_in = NAVIGATION
                continue
            twins[element.parent, place] += 1
            element.stand_in = _told_apart(place, twins[element.parent, place])


NAVIGATION = "back or menu (top left)"
_TOP_SHARE, _CORNER_SHARE = 0.12, 0.18  # of the screen's height and width
_ICONS = frozenset({"button", "image_button", "image", "unknown", "container"})


def _is_navigation(element: Element, near: str, found: list[Element], screen: Screen) -> bool:
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
        for other in found
    )


def _tail(element: Element) -> str:
    return id_name(element.node) or (id_name(element.wrapper) if element.wrapper else "")


def _is_in(layers: Sequence[Node], node: Node) -> bool:
    return any(layer.order <= node.order < layer.end for layer in layers)


def _is_told_by_value(element: Element) -> bool:
    """A field is known by its value, a slider by its value inside something with a name."""
    return bool(element.value) and (element.kind == "f" or bool(element.parent and element.parent.pieces))


def _told_apart(place: str, number: int) -> str:
    """`(top right)`, then `(top right, 2nd)`."""
    ending = {2: "nd", 3: "rd"}.get(number, "th")
    return f"{place[:-1]}, {number}{ending})" if number > 1 else place


def _anchors(found: list[Element], texts: list[Text]) -> list[Anchor]:
    anchors = [(text.node.order, text.node.bounds, text.text) for text in texts if not text.is_pane]
    anchors.extend(
        (element.node.order, element.node.bounds, element.pieces[0])
        for element in found
        if element.pieces and element.kind != "s" and element.source not in ("inside", "row")
    )
    anchors.sort()
    return anchors


def _near(element: Element, anchors: list[Anchor], screen: Screen) -> str:
    """Where it is in the row that holds it, else beside which label."""
    bounds, parent = element.node.bounds, element.parent
    if parent is not None and parent.pieces and _is_part_of(bounds, parent):
        return f"{quoted(_short(parent.pieces[0], _BRIEF))} {_place_in(bounds, parent.node.bounds)}"
    best, words = 1 << 60, ""
    for _, its, label in anchors:
        where, distance = _relation(bounds, its, screen)
        if where and distance < best:
            best, words = distance, f"({where} {quoted(_short(label))})"
    return words


def _is_part_of(bounds: Bounds, box: Element) -> bool:
    """In a row, or in a card of few parts; a larger box has other neighbours that are nearer."""
    return box.node.bounds.height <= _TALL * bounds.height or (box.kind != "s" and len(box.inner) <= _PARTS)


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
    """A slider says its value, and whose it is; a field's value is enough."""
    box = element.parent
    if element.kind != "v" or box is None or not box.pieces:
        return ""
    twins[box, ""] += 1
    number = f" {_told_apart('()', twins[box, ''])}" if twins[box, ""] > 1 else ""
    return f"{quoted(_short(box.pieces[0], _BRIEF))}{number.replace('(, ', '(')}"


def _place(bounds: Bounds, screen: Screen) -> str:
    if bounds.area > screen.bounds.area * _WHOLE_SHARE:
        return "(whole screen)"
    x, y = bounds.center
    row = ("top", "middle", "bottom")[min(2, max(0, 3 * y // max(1, screen.height)))]
    column = (" left", "", " right")[min(2, max(0, 3 * x // max(1, screen.width)))]
    return f"({row}{column})"

"""An element's name, from the surest source to the weakest.

First what it says itself, then the texts inside it, then those beside it (a switch takes its row's title).
Last come stand-ins: the tail of its id, a labelled neighbour, or its place on the screen.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence

from handrail.tree.element.labels import (
    AGGREGATE,
    check_label,
    field_value,
    id_name,
    label_beside_value,
    own_label,
    says,
    slider_label,
    slider_value,
)
from handrail.tree.element.parts import LABEL, Element, Text
from handrail.tree.node import CLICKABLE, SCROLLABLE, Bounds, Node, Screen
from handrail.tree.quote import quoted

_CROWD = 4  # elements; what holds more is a region of the screen, not a thing with a name
_REGION_SHARE = 0.5  # of the screen's area


def name(element: Element, external_labels: Mapping[str, str], screen: Screen) -> None:
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
    if kind != "s" and not _is_region(element, screen):
        _hoist(element)
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
    if len(inner) >= _CROWD or any(one.kind == "s" for one in inner):
        return True
    return element.outer.bounds.area > screen.width * screen.height * _REGION_SHARE


def _hoist(element: Element) -> None:
    """Texts inside, and for a row that has none the label of a check that only the row can toggle."""
    if not element.texts and not element.pieces:
        element.pieces.extend(_passive_check(element))
    label = element.label
    room = LABEL - len(label)  # what is more stays below the element as plain lines
    for text in element.texts:
        if says(label, text.text) or text.text == element.value:
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


def adopt(found: list[Element], texts: list[Text], screen: Screen) -> None:
    """Gives each nameless element the texts that are its own in the eyes of a reader."""
    if all(element.pieces or element.kind == "s" for element in found):
        return
    neighbourhood = _Neighbourhood(found, texts, screen)
    for at, element in enumerate(found):
        if element.pieces or element.kind == "s":
            continue
        taken = neighbourhood.row(element)
        if not taken and element.kind in ("c", "f", "v"):
            taken = neighbourhood.beside(at)
        for text in taken:
            text.taken = True
            element.pieces.append(text.text)
        row = element.parent
        if not taken and element.kind in ("c", "v") and row and row.pieces and len(row.inner) == 1:
            element.pieces.append(row.pieces[0])
        if element.pieces:
            element.source = "row"


class _Neighbourhood:
    """Elements and texts of one screen, found by document order."""

    def __init__(self, found: list[Element], texts: list[Text], screen: Screen) -> None:
        self._found, self._screen = found, screen
        self._texts = [text for text in texts if not text.is_pane]
        self._elements_at = [element.node.order for element in found]
        self._texts_at = [text.node.order for text in self._texts]

    def row(self, element: Element) -> list[Text]:
        """The texts of the smallest box that has some, if the element is alone with them in one row."""
        box: Node | None = element.outer.parent
        limit = element.parent.node.order if element.parent else -1
        tallest = max(self._screen.height * _ROW_SHARE, element.node.bounds.height * 1.5)
        while box is not None and box.order > limit and not box.flags & SCROLLABLE:
            if self._elements_in(box) > 1 or box.bounds.height > tallest:
                return []
            texts = [text for text in self._texts_in(box) if not text.taken and _may_name(element, text)]
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
        element = self._found[at]
        bounds = element.outer.bounds
        before, after = self._before(at), self._after(at)
        on_line = [text for text in before if _same_line(text.node.bounds, bounds)]
        right = after if after and _same_line(after.node.bounds, bounds) else None
        # "○ Yes ○ No" reads to the right, "Wi-Fi ◉" to the left.
        if right and (not on_line or element.node.role in ("radio_button", "check_box")):
            return [right]
        if on_line or element.kind == "c":
            return on_line
        return [text for text in before[-1:] if _just_above(text.node.bounds, bounds)]

    def _before(self, at: int) -> list[Text]:
        """Up to three free texts since the element before."""
        index = bisect_left(self._texts_at, self._found[at].outer.order)
        floor = self._elements_at[at - 1] if at else -1
        texts = self._texts[max(0, index - 3) : index]
        while texts and (texts[0].taken or texts[0].node.order < floor):
            texts.pop(0)
        return texts

    def _after(self, at: int) -> Text | None:
        end = self._found[at].outer.end
        index = bisect_left(self._texts_at, end)
        ceiling = self._elements_at[at + 1] if at + 1 < len(self._found) else 1 << 60
        if index >= len(self._texts) or self._texts[index].taken or self._texts_at[index] > ceiling:
            return None
        return self._texts[index]


def _may_name(element: Element, text: Text) -> bool:
    """What stands below a field explains it or complains about it; its name is above, beside or in it."""
    return element.kind != "f" or text.node.bounds.top < element.node.bounds.bottom - _SLACK


def _same_line(one: Bounds, other: Bounds) -> bool:
    overlap = min(one.bottom, other.bottom) - max(one.top, other.top)
    return overlap * 2 >= min(one.height, other.height)


def _just_above(one: Bounds, below: Bounds) -> bool:
    gap = below.top - one.bottom
    return -below.height // 2 <= gap <= below.height and one.left < below.right and below.left < one.right


_REACH = 8  # labelled things looked at on either side, in document order
_BESIDE_SHARE = 0.7  # of the screen's width
_NEAR_SHARE = 0.2  # of its height
_WHOLE_SHARE = 0.8  # of the screen's area
_ANCHOR = 20  # characters of a neighbour's label
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
    for element in nameless:
        at = bisect_left(starts, element.node.order)
        near = _near(element, anchors[max(0, at - _REACH) : at + _REACH], screen)
        tail = id_name(element.node) or (id_name(element.wrapper) if element.wrapper else "")
        if tail:
            element.source = "id"
            beside = near if near.startswith(_BESIDE) and element.kind != "f" else ""
            element.stand_in = f"#{tail} {beside}".rstrip()
        elif not _is_told_by_value(element):
            element.source = "near" if '"' in near else "place"
            place = near or _place(element.node.bounds, screen)
            twins[element.parent, place] += 1
            element.stand_in = _told_apart(place, twins[element.parent, place])


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
    if parent is not None and parent.pieces and parent.node.bounds.height <= 3 * bounds.height:
        return _place_in_row(bounds, parent.node.bounds)
    best, words = 1 << 60, ""
    for _, its, label in anchors:
        where, distance = _relation(bounds, its, screen)
        if where and distance < best:
            best, words = distance, f"({where} {quoted(_short(label))})"
    return words


def _short(label: str) -> str:
    return label if len(label) <= _ANCHOR else f"{label[:_ANCHOR].rstrip()}…"


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


def _place_in_row(bounds: Bounds, row: Bounds) -> str:
    return ("(left)", "(middle)", "(right)")[
        min(2, max(0, 3 * (bounds.center.x - row.left) // max(1, row.width)))
    ]


def _place(bounds: Bounds, screen: Screen) -> str:
    if bounds.area > screen.bounds.area * _WHOLE_SHARE:
        return "(whole screen)"
    x, y = bounds.center
    row = ("top", "middle", "bottom")[min(2, max(0, 3 * y // max(1, screen.height)))]
    column = (" left", "", " right")[min(2, max(0, 3 * x // max(1, screen.width)))]
    return f"({row}{column})"

"""Names for elements that say nothing, from the texts beside them.

A switch takes its row's title, a field the caption above it.
"""

from __future__ import annotations

from bisect import bisect_left

from handrail.tree.element.parts import LABEL, Element, Text
from handrail.tree.node import SCROLLABLE, Bounds, Node, Screen

_ROW_SHARE = 0.15  # of the screen's height; a taller box is not a row
_PIECES = 4


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
            texts = [text for text in self._texts_in(box) if not text.taken]
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


def _same_line(one: Bounds, other: Bounds) -> bool:
    overlap = min(one.bottom, other.bottom) - max(one.top, other.top)
    return overlap * 2 >= min(one.height, other.height)


def _just_above(one: Bounds, below: Bounds) -> bool:
    gap = below.top - one.bottom
    return -below.height // 2 <= gap <= below.height and one.left < below.right and below.left < one.right

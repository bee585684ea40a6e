"""How far rows moved inside a scroll container: its own shift decides who a row is, never its place.

Rows are recycled: what stands where a row stood is often another one.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from handrail.tree.match.sketch import NEIGHBOURHOOD, Pairing, Sketch
from handrail.tree.match.survival import Survival
from handrail.tree.node import SCROLLABLE, Bounds

JITTER_PX = 2
_WHOLE = 0.9  # of the largest row that no edge touches; a row at the edge that is smaller is cut off

Span = tuple[int, int]


class Displacement(NamedTuple):
    """How far the edges moved; an edge cut off by the container tells nothing and is left out."""

    across: tuple[int, ...]
    down: tuple[int, ...]

    def agrees(self, other: Displacement) -> bool:
        """A row that grew for its new words agrees by one of its edges."""
        return _meet(self.across, other.across) and _meet(self.down, other.down)

    @property
    def offset(self) -> tuple[int, int]:
        """In pixels, 0 where nothing is known."""
        return (self.across or (0,))[0], (self.down or (0,))[0]


def _meet(some: tuple[int, ...], others: tuple[int, ...]) -> bool:
    if not some or not others:
        return some == others
    return any(abs(one - other) <= JITTER_PX for one in some for other in others)


def displacement(pairing: Pairing, old: int, new: int) -> Displacement:
    """Of two nodes that may be the same row."""
    return Displacement(*[_edges(*spans) for spans in _by_axis(pairing, old, new)])


def _by_axis(pairing: Pairing, old: int, new: int) -> list[tuple[Span, Span, Span, Span]]:
    """Before, after, and the frames around each; across first, then down."""
    a, b = pairing.old.nodes[old].bounds, pairing.new.nodes[new].bounds
    frames = _frame(pairing.old, old), _frame(pairing.new, new)
    return list(zip(*[_spans(box) for box in (a, b, *frames)], strict=True))


def _spans(box: Bounds) -> tuple[Span, Span]:
    return (box.left, box.right), (box.top, box.bottom)


def _edges(old: Span, new: Span, old_frame: Span, new_frame: Span) -> tuple[int, ...]:
    if old == new:
        return (0,)
    moved = []
    if old[0] > old_frame[0] and new[0] > new_frame[0]:
        moved.append(new[0] - old[0])
    if old[1] < old_frame[1] and new[1] < new_frame[1]:
        moved.append(new[1] - old[1])
    return tuple(moved)


def _frame(sketch: Sketch, order: int) -> Bounds:
    scroller = sketch.scroller[order]
    return sketch.screen.bounds if scroller == -1 else sketch.nodes[scroller].bounds


class Drift:
    """The rows of one scroll container before and after, told by the rows that are certainly the same."""

    __slots__ = ("_after", "_before", "_own", "cut", "scrolled", "sure", "unchanged")

    def __init__(self, pairing: Pairing, survival: Survival, old_scroller: int, new_scroller: int) -> None:
        old_rows = [row.order for row in pairing.old.rows(old_scroller)]
        new_rows = [row.order for row in pairing.new.rows(new_scroller)]
        cut_old = cut_rows(pairing.old, old_rows, old_scroller)
        cut_new = cut_rows(pairing.new, new_rows, new_scroller)
        self.cut = cut_old | {
            row for row in old_rows if pairing.to_new[row] in cut_new or _is_squeezed(pairing, row)
        }
        self.sure = _sure_rows(pairing, survival, old_rows, new_rows, self.cut)
        self._before = _nearest(old_rows, self.sure)
        self._after = _nearest(old_rows[::-1], self.sure)
        # Rows that could not be certain anyway, for they are cut off or nameless, tell nothing of a scroll.
        self.scrolled = _is_scroll(
            [row in self.sure for row in old_rows if row not in cut_old and pairing.old.named[row]],
            [
                pairing.to_old[row] in self.sure
                for row in new_rows
                if row not in cut_new and pairing.new.named[row]
            ],
        )
        self.unchanged = pairing.old.tree[old_scroller] == pairing.new.tree[new_scroller]
        a, b = pairing.old.nodes[old_scroller].bounds, pairing.new.nodes[new_scroller].bounds
        self._own = Displacement((b.left - a.left,), (b.top - a.top,))

    def agrees(self, row: int, moved: Displacement) -> bool:
        """True if the row moved as far as a certain row beside it, or, without one, just as its container.

        A row that an edge cuts off needs a certain one, unless nothing in the container changed.
        """
        near = [side[row] for side in (self._before, self._after) if row in side]
        if not near:
            return (self.unchanged or row not in self.cut) and moved.agrees(self._own)
        return any(moved.agrees(one) for one in near)

    def encloses(self, row: int, moved: Displacement) -> bool:
        """True if certain rows stand on both sides of it, and all moved as one."""
        near = [side[row] for side in (self._before, self._after) if row in side]
        return len(near) == 2 and all(moved.agrees(one) for one in near)

    @property
    def shift(self) -> tuple[int, int]:
        """What most certain rows moved by, in pixels."""
        votes = Counter([moved.offset for moved in self.sure.values()])
        return votes.most_common(1)[0][0] if votes else (0, 0)


def cut_rows(sketch: Sketch, rows: list[int], scroller: int) -> set[int]:
    """Rows that the container's edge may cut off: they touch it and are smaller than those that do not.

    What is left of such a row may be only words that others share.
    """
    node = sketch.nodes[scroller]
    if not node.flags & SCROLLABLE:
        return set()  # all content fits
    boxes = [_spans(sketch.nodes[row].bounds) for row in rows]
    across, down = (_cut([box[axis] for box in boxes], _spans(node.bounds)[axis]) for axis in (0, 1))
    return {row for row, *is_cut in zip(rows, across, down, strict=True) if any(is_cut)}


def _cut(spans: list[Span], frame: Span) -> list[bool]:
    """Along one axis; rows as wide as the container are not cut across it."""
    low, high = frame
    inner = [end - start for start, end in spans if start > low and end < high]
    whole = _WHOLE * max(inner, default=high - low)
    return [(start <= low or end >= high) and end - start < whole for start, end in spans]


def _is_squeezed(pairing: Pairing, row: int) -> bool:
    """The edge hides more or less of the row than before."""
    partner = pairing.to_new[row]
    if partner == -1:
        return False
    return any(
        old[1] - old[0] != new[1] - new[0] and _touches(old, new, old_frame, new_frame)
        for old, new, old_frame, new_frame in _by_axis(pairing, row, partner)
    )


def _touches(old: Span, new: Span, old_frame: Span, new_frame: Span) -> bool:
    """An edge before or after; a row that always reaches from edge to edge hides nothing."""
    touched = old[0] <= old_frame[0], old[1] >= old_frame[1], new[0] <= new_frame[0], new[1] >= new_frame[1]
    return any(touched) and not all(touched)


def _sure_rows(
    pairing: Pairing, survival: Survival, old_rows: list[int], new_rows: list[int], cut: set[int]
) -> dict[int, Displacement]:
    """Rows that look alike in every label and unlike all others; pages that do so in nearly all."""
    old_tree, new_tree, to_new = pairing.old.tree, pairing.new.tree, pairing.to_new
    old_looks = Counter([old_tree[row] for row in old_rows])
    new_looks = Counter([new_tree[row] for row in new_rows])
    theirs = set(new_rows)
    sure = {}
    for row in old_rows:
        partner, look = to_new[row], old_tree[row]
        if partner not in theirs or not pairing.old.named[row]:
            continue
        if look == new_tree[partner]:
            alone = old_looks[look] == new_looks[look] == 1
            certain = alone and (row not in cut or survival.of_row(row, partner)[0] >= NEIGHBOURHOOD)
        else:
            certain = survival.of_page(row, partner)
        if certain:
            sure[row] = displacement(pairing, row, partner)
    return sure


def _nearest(rows: list[int], sure: dict[int, Displacement]) -> dict[int, Displacement]:
    """By row, how the last certain row before it moved."""
    nearest: dict[int, Displacement] = {}
    last = None
    for row in rows:
        if last is not None:
            nearest[row] = last
        last = sure.get(row, last)
    return nearest


def _is_scroll(kept_old: list[bool], kept_new: list[bool]) -> bool:
    """What a scroll leaves is the end of the old rows, now at the beginning, or the other way round."""
    return (_ends(kept_old) and _begins(kept_new)) or (_begins(kept_old) and _ends(kept_new))


def _ends(kept: list[bool]) -> bool:
    return True in kept and all(kept[kept.index(True) :])


def _begins(kept: list[bool]) -> bool:
    return _ends(kept[::-1])

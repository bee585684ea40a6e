"""Whether two linked rows of a list are the same row: its words tell, or the certain rows around it.

A rule says True, False, or None where the row is no case of its own. The first opinion counts.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

from handrail.screen.match.features import (
    NAME,
    NEIGHBOURHOOD,
    NUMBER,
    KeptLabels,
    Links,
    ScreenFeatures,
    is_actionable,
    lasting_words,
)
from handrail.screen.node import JITTER_PX, SCROLLABLE, Bounds, Node, scrolls

_FULL_SIZE = 0.9  # of the largest row that no edge touches; a row at the edge that is smaller is cut off

Span = tuple[int, int]


class Displacement(NamedTuple):
    """How far the edges moved; an edge cut off by the container tells nothing and is left out."""

    across: tuple[int, ...]
    down: tuple[int, ...]

    def agrees(self, other: Displacement) -> bool:
        """A row that grew for its new words agrees by one of its edges."""
        return _any_distance_agrees(self.across, other.across) and _any_distance_agrees(self.down, other.down)

    @property
    def offset(self) -> tuple[int, int]:
        return (self.across or (0,))[0], (self.down or (0,))[0]


def _any_distance_agrees(some: tuple[int, ...], others: tuple[int, ...]) -> bool:
    if not some or not others:
        return some == others
    return any(abs(distance - other_distance) <= JITTER_PX for distance in some for other_distance in others)


def displacement(links: Links, old: int, new: int) -> Displacement:
    return Displacement(*[_moved_edges(*spans) for spans in _spans_by_axis(links, old, new)])


def _spans_by_axis(links: Links, old: int, new: int) -> list[tuple[Span, Span, Span, Span]]:
    """Returns the spans before, after, and of the frames around each; across first, then down."""
    a, b = links.old.nodes[old].bounds, links.new.nodes[new].bounds
    frames = _frame_around(links.old, old), _frame_around(links.new, new)
    return list(zip(*[_spans(box) for box in (a, b, *frames)], strict=True))


def _spans(box: Bounds) -> tuple[Span, Span]:
    return (box.left, box.right), (box.top, box.bottom)


def _moved_edges(old: Span, new: Span, old_frame: Span, new_frame: Span) -> tuple[int, ...]:
    if old == new:
        return (0,)
    moved = []
    if old[0] > old_frame[0] and new[0] > new_frame[0]:
        moved.append(new[0] - old[0])
    if old[1] < old_frame[1] and new[1] < new_frame[1]:
        moved.append(new[1] - old[1])
    return tuple(moved)


def _frame_around(features: ScreenFeatures, order: int) -> Bounds:
    scroller = features.scroller[order]
    return features.screen.bounds if scroller == -1 else features.nodes[scroller].bounds


class RowShift:
    """How the rows of one scroll container moved, judged by the rows that are certainly the same."""

    __slots__ = ("_after", "_before", "_own", "cut", "lost_none", "scrolled", "sure", "unchanged")

    def __init__(self, links: Links, kept_labels: KeptLabels, old_scroller: int, new_scroller: int) -> None:
        old_rows = [row.order for row in links.old.rows(old_scroller)]
        new_rows = [row.order for row in links.new.rows(new_scroller)]
        cut_old = cut_rows(links.old, old_rows, old_scroller)
        cut_new = cut_rows(links.new, new_rows, new_scroller)
        self.cut = cut_old | {
            row for row in old_rows if links.to_new[row] in cut_new or _is_squeezed(links, row)
        }
        # Rows that look alike in every label and unlike all others; pages that do so in nearly all.
        old_tree, new_tree, to_new = links.old.tree, links.new.tree, links.to_new
        old_looks = Counter([old_tree[row] for row in old_rows])
        new_looks = Counter([new_tree[row] for row in new_rows])
        theirs = set(new_rows)
        self.unchanged = links.old.tree[old_scroller] == links.new.tree[new_scroller]
        told_apart = sum(links.old.named[row] and old_looks[old_tree[row]] == 1 for row in old_rows)
        is_all_there = self.unchanged and told_apart >= NEIGHBOURHOOD  # no row came or left
        sure = {}
        for row in old_rows:
            partner, look = to_new[row], old_tree[row]
            if partner not in theirs or not links.old.named[row]:
                continue
            if look == new_tree[partner]:
                alone = old_looks[look] == new_looks[look] == 1
                certain = alone and (
                    row not in self.cut
                    or is_all_there
                    or kept_labels.count_kept_in_row(row, partner)[0] >= NEIGHBOURHOOD
                )
            else:
                certain = kept_labels.kept_nearly_all_names(row, partner)
            if certain:
                sure[row] = displacement(links, row, partner)
        self.sure = sure
        self._before = _last_certain_before(old_rows, self.sure)
        self._after = _last_certain_before(old_rows[::-1], self.sure)
        # Rows that could not be certain anyway, for they are cut off or nameless, tell nothing of a scroll.
        # A scroll leaves the last old rows as the first new rows, or the other way round.
        kept_old = [row in self.sure for row in old_rows if row not in cut_old and links.old.named[row]]
        kept_new = [
            links.to_old[row] in self.sure for row in new_rows if row not in cut_new and links.new.named[row]
        ]
        self.lost_none = all(kept_old) and all(kept_new)
        self.scrolled = (_ends_with_kept(kept_old) and _begins_with_kept(kept_new)) or (
            _begins_with_kept(kept_old) and _ends_with_kept(kept_new)
        )
        a, b = links.old.nodes[old_scroller].bounds, links.new.nodes[new_scroller].bounds
        self._own = Displacement((b.left - a.left,), (b.top - a.top,))

    def agrees(self, row: int, moved: Displacement) -> bool:
        """True if the row moved as far as a certain row beside it, or, without one, just as its container.

        A row that an edge cuts off needs a certain one, unless nothing in the container changed.
        """
        near = [side[row] for side in (self._before, self._after) if row in side]
        if not near:
            return (self.unchanged or row not in self.cut) and moved.agrees(self._own)
        return any(moved.agrees(neighbour) for neighbour in near)

    def encloses(self, row: int, moved: Displacement) -> bool:
        """True if certain rows stand on both sides of it, and all moved as one."""
        near = [side[row] for side in (self._before, self._after) if row in side]
        return len(near) == 2 and all(moved.agrees(neighbour) for neighbour in near)

    @property
    def shift(self) -> tuple[int, int]:
        """What most certain rows moved by, in pixels."""
        votes = Counter([moved.offset for moved in self.sure.values()])
        return votes.most_common(1)[0][0] if votes else (0, 0)


def cut_rows(features: ScreenFeatures, rows: list[int], scroller: int) -> set[int]:
    """Rows that the container's edge may cut off: they touch it and are smaller than those that do not.

    What is left of such a row may be only words that others share.
    """
    node = features.nodes[scroller]
    if not node.flags & SCROLLABLE:
        return set()  # all content fits
    boxes = [_spans(features.nodes[row].bounds) for row in rows]
    across, down = (
        _cut_along_axis([box[axis] for box in boxes], _spans(node.bounds)[axis]) for axis in (0, 1)
    )
    return {row for row, *is_cut in zip(rows, across, down, strict=True) if any(is_cut)}


def _cut_along_axis(spans: list[Span], frame: Span) -> list[bool]:
    """Along one axis; rows as wide as the container are not cut across it."""
    low, high = frame
    inner = [end - start for start, end in spans if start > low and end < high]
    full_size = _FULL_SIZE * max(inner, default=high - low)
    return [(start <= low or end >= high) and end - start < full_size for start, end in spans]


def _is_squeezed(links: Links, row: int) -> bool:
    """The edge hides more or less of the row than before."""
    partner = links.to_new[row]
    if partner == -1:
        return False
    return any(
        old[1] - old[0] != new[1] - new[0] and _is_cut_by_edge(old, new, old_frame, new_frame)
        for old, new, old_frame, new_frame in _spans_by_axis(links, row, partner)
    )


def _is_cut_by_edge(old: Span, new: Span, old_frame: Span, new_frame: Span) -> bool:
    """True if an edge cuts it before or after; a row that always spans the container hides nothing."""
    touched = old[0] <= old_frame[0], old[1] >= old_frame[1], new[0] <= new_frame[0], new[1] >= new_frame[1]
    return any(touched) and not all(touched)


def _last_certain_before(rows: list[int], sure: dict[int, Displacement]) -> dict[int, Displacement]:
    nearest: dict[int, Displacement] = {}
    last = None
    for row in rows:
        if last is not None:
            nearest[row] = last
        last = sure.get(row, last)
    return nearest


def _ends_with_kept(stayed: list[bool]) -> bool:
    return True in stayed and all(stayed[stayed.index(True) :])


def _begins_with_kept(stayed: list[bool]) -> bool:
    return _ends_with_kept(stayed[::-1])


# What changes its words in place ("Follow" becomes "Following"); a text or a row that does is another one.
_RELABELLED = frozenset({"button", "image_button", "check_box", "switch", "radio_button", "spinner", "tab"})


class Row(NamedTuple):
    """Two linked rows and the evidence about them."""

    links: Links
    kept_labels: KeptLabels
    row_shift: RowShift
    old: int
    new: int
    moved: Displacement
    stayed: int  # names that stayed, of those that no other row has
    names: int

    @property
    def is_cut(self) -> bool:
        """The edge of the list hides a part of it, or did."""
        return self.old in self.row_shift.cut

    @property
    def moved_with_the_others(self) -> bool:
        return self.row_shift.agrees(self.old, self.moved)

    @property
    def lost_no_word(self) -> bool:
        """All that the shorter of the two says is in the other one, too."""
        return self.kept_labels.smaller_part_kept_all(self.old, self.new)


def is_same_row(links: Links, kept_labels: KeptLabels, row_shift: RowShift, old: int, new: int) -> bool:
    """The first rule with an opinion decides; without one it is another row."""
    moved = displacement(links, old, new)
    row = Row(links, kept_labels, row_shift, old, new, moved, *kept_labels.count_kept_in_row(old, new))
    for rule in ROWS:
        opinion = rule(row)
        if opinion is not None:
            return opinion
    return False


def certain_row(row: Row) -> bool | None:
    """A letter that looks as before, and like no other letter, is the same wherever it stands now."""
    return True if row.old in row.row_shift.sure else None


def inner_list(row: Row) -> bool | None:
    """A shelf of covers in a shop has no words of its own; most of its covers are still there."""
    is_shelf = row.names == 0 and scrolls(row.links.old.nodes[row.old])
    return True if is_shelf and row.kept_labels.kept_inside(row.old, row.new) else None


def leftover_at_edge(row: Row) -> bool | None:
    """Only the "Yesterday" of a row is left at the edge: another row's "Yesterday" may be there now."""
    if row.is_cut and not row.stayed and row.links.old.named[row.old]:
        return row.row_shift.unchanged and row.moved_with_the_others
    return None


def look_alike(row: Row) -> bool | None:
    """Two rows say "Folder" and nothing else: only their places between other rows tell which is which."""
    links = row.links
    if row.names and links.old.tree[row.old] != links.new.tree[row.new]:
        return None
    return row.lost_no_word and (row.moved_with_the_others or _stands_between_certain(row))


def half_hidden(row: Row) -> bool | None:
    """The title of a letter slid under the edge; the note that is left moved as the other rows did."""
    if row.is_cut and row.row_shift.sure and row.lost_no_word:
        # A remainder without a word may be any row's where others came or went.
        is_told = row.links.old.named[row.old] == row.links.new.named[row.new]
        return row.moved_with_the_others and (is_told or row.row_shift.lost_none)
    return None


def renamed(row: Row) -> bool | None:
    """ "Follow" became "Following" between two rows that did not change. All moved as one."""
    if row.stayed:
        return None
    features = row.links.old
    node, scroller = features.nodes[row.old], features.nodes[features.scroller[row.old]]
    # Rows of a recycling list may not: another row is more likely than a renamed one.
    may = node.role in _RELABELLED or (bool(node.resource_id) and scroller.role != "list")
    return may and row.row_shift.encloses(row.old, row.moved)


def same_title(row: Row) -> bool | None:
    """A letter is no longer "unread". Its title stays, and it moved as the others or says most as before."""
    first = row.links.old.first_name(row.old)  # what follows is often its state
    if first == -1 or not row.kept_labels.stayed[first]:
        return False
    is_first = row.links.to_new[first] == row.links.new.first_name(row.new)
    return is_first and (row.moved_with_the_others or 2 * row.stayed > row.names)


ROWS: tuple[Callable[[Row], bool | None], ...] = (
    certain_row, inner_list, leftover_at_edge, look_alike, half_hidden, renamed, same_title,
)  # fmt: skip


def _stands_between_certain(row: Row) -> bool:
    """Both direct neighbours are certain: nothing came or left here, however far things moved."""
    node, partner = row.links.old.nodes[row.old], row.links.new.nodes[row.new]
    if node.parent is None or partner.parent is None:
        return False
    old_siblings, new_siblings = node.parent.children, partner.parent.children
    for step in (-1, 1):
        i, j = node.position + step, partner.position + step
        if not (0 <= i < len(old_siblings) and 0 <= j < len(new_siblings)):
            return False
        if (
            old_siblings[i].order not in row.row_shift.sure
            or row.links.to_new[old_siblings[i].order] != new_siblings[j].order
        ):
            return False
    return True


_ALIKE = 0.6
"""Share of kinds of parts by which two parts are rows of one list."""
_MOST_WORDS = 60
_COUNT = re.compile(r"\s*[(\[]\d+[)\]]")
_NUMBER = re.compile(r"\s*\d+")
_FEW = 2
"""Parts beside each other that need be no list."""
Shape = frozenset[tuple[str, str]]
Line = tuple[str, tuple[str, ...]]
"""A row by its name, and what it says."""


class Surroundings(NamedTuple):
    """The words by which an element is recognised."""

    around: int
    """The part that has them, by its order."""
    words: list[int]
    is_own: bool
    """It is of the element's own row, not of the list that the row is in."""


@dataclass
class AlikeRows:
    """Neighbouring rows with the same words, and the rows before and after them."""

    lines: list[Line]
    counted: list[tuple[str, ...]]
    """What they say, with their numbers."""
    all: frozenset[Line | None]
    """All rows of the list."""
    before: Line | None = None
    behind: Line | None = None

    def is_same(self, other: AlikeRows) -> bool:
        """The same rows between the same neighbours. One count may change; two changes mean that rows
        swapped.
        """
        if (self.lines, self.before, self.behind) != (other.lines, other.before, other.behind):
            return False
        return (
            sum(
                [label != other_words for label, other_words in zip(self.counted, other.counted, strict=True)]
            )
            < 2
        )

    def is_among(self, other: AlikeRows) -> bool:
        """True if a neighbouring row is still in the list, or was in it before, or if there are no
        neighbours.
        """
        neighbours, other_neighbours = ({run.before, run.behind} - {None} for run in (self, other))
        pairs = [(line, other.all) for line in neighbours] + [(line, self.all) for line in other_neighbours]
        return not pairs or any(_is_listed(*pair) for pair in pairs)


def _is_listed(line: Line | None, lines: frozenset[Line | None]) -> bool:
    """Whether a row is among others; one that unfolded says more behind a title that no other has."""
    if line is None or line in lines:
        return line is not None
    name, words = line
    titled = [each for each in lines if each is not None and each[1][:1] == words[:1]]
    if len(titled) != 1 or titled[0][0] != name or not words:
        return False
    shorter, longer = sorted((words, titled[0][1]), key=len)
    return longer[: len(shorter)] == shorter


@dataclass
class Records:
    """The rows, their words and their shapes on one screen, computed on demand."""

    features: ScreenFeatures
    _shapes: dict[int, Shape] = field(default_factory=dict)
    _beside: dict[tuple[int, Shape], list[int]] = field(default_factory=dict)
    _rows: dict[tuple[int, Shape], list[Node]] = field(default_factory=dict)
    _runs: dict[int, AlikeRows] = field(default_factory=dict)
    _counts: dict[tuple[int, Shape], Counter[tuple[str, ...]]] = field(default_factory=dict)
    _spoken: dict[tuple[int, bool], tuple[str, ...]] = field(default_factory=dict)
    _numbered: dict[tuple[str, str], set[str]] = field(default_factory=dict)

    def words_in(self, order: int) -> list[int]:
        return self._tokens(range(order + 1, self.features.nodes[order].end))

    def surroundings(self, order: int, is_said: Sequence[bool]) -> Surroundings | None:
        """`is_said`: by order, whether the other screen says the same words."""
        nodes, is_own = self.features.nodes, True
        inside = [word for word in self.words_in(order) if not is_actionable(nodes[word])]
        if inside:
            return Surroundings(order, inside, True)
        child = nodes[order]
        while child.parent is not None:
            around = child.parent
            if child.order != order and len(self.rows(child)) > 1:
                is_own = False
            words = self.words_beside(around.order, child)
            plain = [word for word in words if not is_actionable(nodes[word])]
            telling = plain or [
                word for word in words if self.features.token[word] == NAME or not is_said[word]
            ]
            if telling:
                return Surroundings(around.order, telling, is_own)
            if len(self.rows(child)) > 1:
                is_own = False
            child = around
        return None

    def words_beside(self, around: int, child: Node) -> list[int]:
        """The words of a part, without those of children shaped like this row."""
        key = around, self.shape_of(child)
        if key not in self._beside:
            own = (
                [around]
                if self.features.label[around] and not is_actionable(self.features.nodes[around])
                else []
            )
            for sibling in self.features.nodes[around].children:
                if not _have_like_shapes(key[1], self.shape_of(sibling)):
                    own += self._tokens(range(sibling.order, sibling.end))
            self._beside[key] = own[:_MOST_WORDS]
        return self._beside[key]

    def rows(self, row: Node) -> list[Node]:
        """The siblings shaped like this row, itself included."""
        if row.parent is None:
            return [row]
        key = row.parent.order, self.shape_of(row)
        if key not in self._rows:
            self._rows[key] = [
                child for child in row.parent.children if _have_like_shapes(key[1], self.shape_of(child))
            ]
        return self._rows[key]

    def shape_of(self, node: Node) -> Shape:
        parts_in = self._shapes.get(node.order)
        if parts_in is None:
            nodes = self.features.nodes
            parts = [nodes[order] for order in range(node.order, node.end)]
            parts_in = self._shapes[node.order] = frozenset([(part.class_name, part.role) for part in parts])
        return parts_in

    def words_of(self, row: Node, *, with_numbers: bool = False) -> tuple[str, ...]:
        key = row.order, with_numbers
        if key not in self._spoken:
            label, token, span = self.features.label, self.features.token, range(row.order, row.end)
            words = [label[at] for at in span if label[at] and (with_numbers or token[at] != NUMBER)]
            self._spoken[key] = tuple(words)
        return self._spoken[key]

    def has_twin(self, row: Node) -> bool:
        key = row.parent.order if row.parent else -1, self.shape_of(row)
        if key not in self._counts:
            self._counts[key] = Counter([self.words_of(sibling) for sibling in self.rows(row)])
        return self._counts[key][self.words_of(row)] > 1

    def alike_rows_around(self, row: Node) -> AlikeRows:
        if row.order not in self._runs:
            rows, runs = self.rows(row), list[AlikeRows]()
            everything: frozenset[Line | None] = frozenset(
                [(twin.native_id, self.words_of(twin)) for twin in rows]
            )
            for _, same in groupby(rows, self.words_of):
                alike = list(same)
                lines = [(twin.native_id, self.words_of(twin)) for twin in alike]
                counted = [self.words_of(twin, with_numbers=True) for twin in alike]
                run = AlikeRows(lines, counted, everything)
                if runs:
                    run.before, runs[-1].behind = runs[-1].lines[-1], lines[0]
                runs.append(run)
            each = [run for run in runs for _ in run.lines]
            self._runs |= {twin.order: run for twin, run in zip(rows, each, strict=True)}
        return self._runs[row.order]

    def is_numbered(self, order: int) -> bool:
        """True if other elements differ from it only by a number: then the number is a name, not a count."""
        if not self._numbered:
            self._numbered = defaultdict(set)
            for node in self.features.nodes:
                if is_actionable(node) and (label := self.features.label[node.order]):
                    self._numbered[node.class_name, lasting_words(label)].add(label)
        called = self.features.nodes[order].class_name, lasting_words(self.features.label[order])
        return len(self._numbered.get(called, ())) > 1

    def is_in_row(self, node: Node) -> bool:
        """True if it or an ancestor has siblings of the same shape."""
        return any(len(self.rows(part)) > 1 for part in (node, *node.ancestors()))

    def _tokens(self, span: range) -> list[int]:
        token, orders = self.features.token, []
        for order in span:
            if token[order] and token[order] != NUMBER:
                orders.append(order)
                if len(orders) >= _MOST_WORDS:
                    break
        return orders


class RecordComparison:
    """Compares the records around elements of two screens that are linked by native id."""

    def __init__(self, links: Links, linked: list[int]) -> None:
        """`linked`: old order to new order, as the elements are called, before anything was doubted."""
        self._pairing = links
        self._old, self._new = Records(links.old), Records(links.new)
        self._linked = linked
        self._same: dict[tuple[int, int, bool], bool] = {}
        self._same_label = [
            partner != -1 and links.old.label[order] == links.new.label[partner]
            for order, partner in enumerate(self._linked)
        ]
        self._is_unchanged = _is_unchanged(links, linked)
        self._in_row: dict[tuple[int, int], bool] = {}
        self._same_label_new = [False] * len(links.new.nodes)
        for order, partner in enumerate(self._linked):
            if partner != -1:
                self._same_label_new[partner] = self._same_label[order]

    def is_same_record(self, old: int, new: int) -> bool | None:
        """Whether the record is the same; None where nothing around has words."""
        if self._is_unchanged:
            return True
        surroundings = self._old.surroundings(old, self._same_label)
        its = self._new.surroundings(new, self._same_label_new)
        if (
            not self._same_label[old]
            and not self._is_titled(surroundings, old, new)
            and self._is_numbered(old, new)
        ):
            return False
        if surroundings is None or its is None:
            return None if surroundings is its else False
        if self._linked[surroundings.around] != its.around or not self._words_stay(surroundings, its):
            return False
        if surroundings.is_own:
            return self._in_same_row(surroundings.around)
        # Beside parts like it, it may be one of the rows, or one of the buttons of a row.
        return self._in_same_row(old) and self._in_same_row(surroundings.around, _FEW)

    def is_in_same_list(self, old: int) -> bool:
        """For an element with unique words: only a refilled list around it can show the same words for
        another record.
        """
        node: Node | None = self._old.features.nodes[old]
        if self._is_unchanged or node is None:
            return True
        # True if siblings of the same shape have unique names: it is a row itself, not a part of one.
        token = self._old.features.token
        if not any(token[row.order] == NAME for row in self._old.rows(node) if row is not node):
            node = node.parent
        return node is None or self._in_same_row(node.order)

    def _in_same_row(self, start: int, few: int = 1) -> bool:
        if (start, few) not in self._in_row:
            self._in_row[start, few] = self._is_row_same(start, few)
        return self._in_row[start, few]

    def _is_titled(self, surroundings: Surroundings | None, old: int, new: int) -> bool:
        """True if its own row has other words to recognise it by."""
        if surroundings is None or not surroundings.is_own or surroundings.around == old:
            return False
        nodes, its = self._pairing.old.nodes, self._pairing.new.nodes
        return max(len(self._old.rows(nodes[old])), len(self._new.rows(its[new]))) == 1

    def _is_numbered(self, old: int, new: int) -> bool:
        """Whether the changed number is a name: a row's is, unless its brackets say that it counts."""
        links = self._pairing
        was, is_now = links.old.label[old], links.new.label[new]
        if _COUNT.sub("", was) == _COUNT.sub("", is_now):
            return False
        if _NUMBER.sub("", was) == _NUMBER.sub("", is_now):
            nodes = links.old.nodes[old], links.new.nodes[new]
            if self._old.is_in_row(nodes[0]) or self._new.is_in_row(nodes[1]):
                return True
        return self._old.is_numbered(old) or self._new.is_numbered(new)

    def _words_stay(self, surroundings: Surroundings, its: Surroundings) -> bool:
        """The title and most other words stay: insertions keep the old words, removals the new ones."""
        if not self._same_label[surroundings.words[0]]:
            return False
        old = sum([self._same_label[word] for word in surroundings.words])
        new = sum([self._same_label_new[word] for word in its.words])
        return 2 * old > len(surroundings.words) or 2 * new > len(its.words)

    def _is_row_same(self, start: int, few: int) -> bool:
        """A list that was filled anew may say the same by chance: a neighbour must be the same.

        Where several rows say the same, both must, and none of these may have come or gone.
        """
        row_pair = self._rows(start, few)
        if row_pair is None:
            return True
        row, its = row_pair
        old_run, new_run = self._old.alike_rows_around(row), self._new.alike_rows_around(its)
        is_strict = self._old.has_twin(row) or self._new.has_twin(its)
        key = id(old_run), id(new_run), is_strict
        if key not in self._same:
            self._same[key] = old_run.is_same(new_run) if is_strict else old_run.is_among(new_run)
        return self._same[key]

    def _rows(self, start: int, few: int) -> tuple[Node, Node] | None:
        """The nearest part, before and now, that has others like it beside it. Around the first, only one
        of many that says what it said: two columns of a page are no list."""
        node: Node | None = self._old.features.nodes[start]
        while node is not None and self._linked[node.order] != -1:
            its = self._new.features.nodes[self._linked[node.order]]
            count = max(len(self._old.rows(node)), len(self._new.rows(its)))
            is_first = node.order == start
            if count > (few if is_first else _FEW) and (
                is_first or self._old.words_of(node) == self._new.words_of(its)
            ):
                return node, its
            node = node.parent
        return None


def _is_unchanged(links: Links, linked: list[int]) -> bool:
    """True if every node is where it was with the same labels; the root may have another title."""
    old, new = links.old, links.new
    if linked != list(range(len(new.nodes))):
        return False
    return [old.tree[child.order] for child in old.nodes[0].children] == [
        new.tree[child.order] for child in new.nodes[0].children
    ]


def _have_like_shapes(first: Shape, other: Shape) -> bool:
    return first == other or len(first & other) > _ALIKE * len(first | other)


def place_in_content(node: Node) -> tuple[int, int]:
    """Position within the scrolled content around it, in steps of twice the jitter."""
    x, y = node.bounds.left, node.bounds.top
    for around in node.ancestors():
        if around.scrolled is not None:
            x, y = x + around.scrolled.x, y + around.scrolled.y
    return x // (2 * JITTER_PX), y // (2 * JITTER_PX)

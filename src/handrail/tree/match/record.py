"""Whether an element is still about the same record, where the surface knows elements by name.

A page that is drawn anew uses its elements for other records: "Delete" stays what it is, but beside another
person. So an element is known by its company: the words of the nearest part around it that are not a row
like its own. Their first one is the record's title.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

from handrail.tree.match.drift import JITTER_PX
from handrail.tree.match.sketch import NAME, NUMBER, Pairing, Sketch, acts, skeleton
from handrail.tree.node import Node

_LIKE = 0.6
"""Share of kinds of parts by which two parts are rows of one list."""
_MOST_WORDS = 60
_COUNT = re.compile(r"\s*[(\[]\d+[)\]]")
_NUMBER = re.compile(r"\s*\d+")
_FEW = 2
"""Parts beside each other that need be no list."""
Shape = frozenset[tuple[str, str]]
Line = tuple[str, tuple[str, ...]]
"""A row by its name, and what it says."""


class Company(NamedTuple):
    """The words by which an element is known."""

    around: int
    """The part that has them, by its order."""
    words: list[int]
    is_own: bool
    """It is of the element's own row, not of the list that the row is in."""


@dataclass
class AlikeRows:
    """Rows beside each other that say the same, and what is before and behind them."""

    lines: list[Line]
    counted: list[tuple[str, ...]]
    """What they say, with their numbers."""
    all: frozenset[Line | None]
    """All rows of the list."""
    before: Line | None = None
    behind: Line | None = None

    def is_same(self, other: AlikeRows) -> bool:
        """The same rows between the same neighbours. One may count on: two have changed their places."""
        if (self.lines, self.before, self.behind) != (other.lines, other.before, other.behind):
            return False
        return sum([one != its for one, its in zip(self.counted, other.counted, strict=True)]) < 2

    def is_among(self, other: AlikeRows) -> bool:
        """A row that is or was beside them is in the list still, or was in it before; or there is none."""
        mine, its = ({one.before, one.behind} - {None} for one in (self, other))
        return bool(mine & other.all or its & self.all) or not (mine or its)


@dataclass
class Records:
    """One screen's."""

    sketch: Sketch
    _shapes: dict[int, Shape] = field(default_factory=dict)
    _beside: dict[tuple[int, Shape], list[int]] = field(default_factory=dict)
    _rows: dict[tuple[int, Shape], list[Node]] = field(default_factory=dict)
    _runs: dict[int, AlikeRows] = field(default_factory=dict)
    _counts: dict[tuple[int, Shape], Counter[tuple[str, ...]]] = field(default_factory=dict)
    _said: dict[tuple[int, bool], tuple[str, ...]] = field(default_factory=dict)
    _numbered: dict[tuple[str, str], set[str]] = field(default_factory=dict)

    def words_in(self, order: int) -> list[int]:
        """Those of the parts inside an element."""
        return self._tokens(range(order + 1, self.sketch.nodes[order].end))

    def company(self, order: int, is_said: Sequence[bool]) -> Company | None:
        """`is_said`: of which words the other screen says the same, by order."""
        nodes, is_own = self.sketch.nodes, True
        inside = [word for word in self.words_in(order) if not acts(nodes[word])]
        if inside:
            return Company(order, inside, True)
        child = nodes[order]
        while child.parent is not None:
            around = child.parent
            if child.order != order and len(self.rows(child)) > 1:
                is_own = False
            words = self.beside(around.order, child)
            plain = [word for word in words if not acts(nodes[word])]
            told = plain or [word for word in words if self.sketch.token[word] == NAME or not is_said[word]]
            if told:
                return Company(around.order, told, is_own)
            if len(self.rows(child)) > 1:
                is_own = False
            child = around
        return None

    def beside(self, around: int, child: Node) -> list[int]:
        """The words of a part, without those of its children that are rows like this one."""
        key = around, self.shape(child)
        if key not in self._beside:
            own = [around] if self.sketch.label[around] and not acts(self.sketch.nodes[around]) else []
            for one in self.sketch.nodes[around].children:
                if not _alike(key[1], self.shape(one)):
                    own += self._tokens(range(one.order, one.end))
            self._beside[key] = own[:_MOST_WORDS]
        return self._beside[key]

    def rows(self, row: Node) -> list[Node]:
        """The children of the same part that are like this one, itself among them."""
        if row.parent is None:
            return [row]
        key = row.parent.order, self.shape(row)
        if key not in self._rows:
            self._rows[key] = [one for one in row.parent.children if _alike(key[1], self.shape(one))]
        return self._rows[key]

    def shape(self, node: Node) -> Shape:
        """The kinds of parts that are in it."""
        found = self._shapes.get(node.order)
        if found is None:
            nodes = self.sketch.nodes
            parts = [nodes[order] for order in range(node.order, node.end)]
            found = self._shapes[node.order] = frozenset([(one.class_name, one.role) for one in parts])
        return found

    def says(self, row: Node, *, with_numbers: bool = False) -> tuple[str, ...]:
        """All words of a row."""
        key = row.order, with_numbers
        if key not in self._said:
            label, token, span = self.sketch.label, self.sketch.token, range(row.order, row.end)
            words = [label[at] for at in span if label[at] and (with_numbers or token[at] != NUMBER)]
            self._said[key] = tuple(words)
        return self._said[key]

    def has_twin(self, row: Node) -> bool:
        """Whether another row says the same."""
        key = row.parent.order if row.parent else -1, self.shape(row)
        if key not in self._counts:
            self._counts[key] = Counter([self.says(one) for one in self.rows(row)])
        return self._counts[key][self.says(row)] > 1

    def run(self, row: Node) -> AlikeRows:
        """The rows beside it that say the same."""
        if row.order not in self._runs:
            rows, made = self.rows(row), list[AlikeRows]()
            everything: frozenset[Line | None] = frozenset([(one.native_id, self.says(one)) for one in rows])
            for _, same in groupby(rows, self.says):
                alike = list(same)
                lines = [(one.native_id, self.says(one)) for one in alike]
                counted = [self.says(one, with_numbers=True) for one in alike]
                run = AlikeRows(lines, counted, everything)
                if made:
                    run.before, made[-1].behind = made[-1].lines[-1], lines[0]
                made.append(run)
            each = [run for run in made for _ in run.lines]
            self._runs |= {one.order: run for one, run in zip(rows, each, strict=True)}
        return self._runs[row.order]

    def is_numbered(self, order: int) -> bool:
        """Whether others are called the same but for a number: then the number is a name, and no count."""
        if not self._numbered:
            self._numbered = defaultdict(set)
            for node in self.sketch.nodes:
                if acts(node) and (said := self.sketch.label[node.order]):
                    self._numbered[node.class_name, skeleton(said)].add(said)
        called = self.sketch.nodes[order].class_name, skeleton(self.sketch.label[order])
        return len(self._numbered.get(called, ())) > 1

    def is_in_row(self, node: Node) -> bool:
        """It, or a part that it is in, is beside others like it."""
        return any(len(self.rows(one)) > 1 for one in (node, *node.ancestors()))

    def _tokens(self, span: range) -> list[int]:
        token, found = self.sketch.token, []
        for order in span:
            if token[order] and token[order] != NUMBER:
                found.append(order)
                if len(found) >= _MOST_WORDS:
                    break
        return found


class SameRecord:
    """Of two screens whose elements are linked by their names."""

    def __init__(self, pairing: Pairing, linked: list[int]) -> None:
        """`linked`: old order to new order, as the elements are called, before anything was doubted."""
        self._pairing = pairing
        self._old, self._new = Records(pairing.old), Records(pairing.new)
        self._linked = linked
        self._same: dict[tuple[int, int, bool], bool] = {}
        self._said = [
            partner != -1 and pairing.old.label[order] == pairing.new.label[partner]
            for order, partner in enumerate(self._linked)
        ]
        self._is_unchanged = _is_unchanged(pairing, linked)
        self._in_row: dict[tuple[int, int], bool] = {}
        self._said_new = [False] * len(pairing.new.nodes)
        for order, partner in enumerate(self._linked):
            if partner != -1:
                self._said_new[partner] = self._said[order]

    def holds(self, old: int, new: int) -> bool | None:
        """None where nothing around has words."""
        if self._is_unchanged:
            return True
        company = self._old.company(old, self._said)
        its = self._new.company(new, self._said_new)
        if not self._said[old] and not self._is_titled(company, old, new) and self._is_numbered(old, new):
            return False
        if company is None or its is None:
            return None if company is its else False
        if self._linked[company.around] != its.around or not self._is_said(company, its):
            return False
        if company.is_own:
            return self._in_same_row(company.around)
        # Beside parts like it, it may be one of the rows, or one of the buttons of a row.
        return self._in_same_row(old) and self._in_same_row(company.around, _FEW)

    def is_in_same_list(self, old: int) -> bool:
        """Of an element that says what nothing else says: only a list around it that was filled anew can
        say the same of another."""
        node: Node | None = self._old.sketch.nodes[old]
        if self._is_unchanged or node is None:
            return True
        if not self._is_among_names(node):
            node = node.parent
        return node is None or self._in_same_row(node.order)

    def _is_among_names(self, node: Node) -> bool:
        """Beside others like it that say what nothing else says: a row by itself, no part of one."""
        token = self._old.sketch.token
        return any(token[one.order] == NAME for one in self._old.rows(node) if one is not node)

    def _in_same_row(self, start: int, few: int = 1) -> bool:
        if (start, few) not in self._in_row:
            self._in_row[start, few] = self._is_row_same(start, few)
        return self._in_row[start, few]

    def _is_titled(self, company: Company | None, old: int, new: int) -> bool:
        """Its own row has other words to know it by. Beside others like it, it may be a row itself."""
        if company is None or not company.is_own or company.around == old:
            return False
        nodes, its = self._pairing.old.nodes, self._pairing.new.nodes
        return max(len(self._old.rows(nodes[old])), len(self._new.rows(its[new]))) == 1

    def _is_numbered(self, old: int, new: int) -> bool:
        """Whether the changed number is a name: a row's is, unless its brackets say that it counts."""
        pairing = self._pairing
        was, is_now = pairing.old.label[old], pairing.new.label[new]
        if _COUNT.sub("", was) == _COUNT.sub("", is_now):
            return False
        if _NUMBER.sub("", was) == _NUMBER.sub("", is_now):
            nodes = pairing.old.nodes[old], pairing.new.nodes[new]
            if self._old.is_in_row(nodes[0]) or self._new.is_in_row(nodes[1]):
                return True
        return self._old.is_numbered(old) or self._new.is_numbered(new)

    def _is_said(self, company: Company, its: Company) -> bool:
        """The title and most others: an insertion leaves the old words whole, a removal the new ones."""
        if not self._said[company.words[0]]:
            return False
        old = sum([self._said[word] for word in company.words])
        new = sum([self._said_new[word] for word in its.words])
        return 2 * old > len(company.words) or 2 * new > len(its.words)

    def _is_row_same(self, start: int, few: int) -> bool:
        """A list that was filled anew may say the same by chance: a neighbour must be the same.

        Where several rows say the same, both must, and none of these may have come or gone.
        """
        found = self._rows(start, few)
        if found is None:
            return True
        row, its = found
        mine, now = self._old.run(row), self._new.run(its)
        is_strict = self._old.has_twin(row) or self._new.has_twin(its)
        key = id(mine), id(now), is_strict
        if key not in self._same:
            self._same[key] = mine.is_same(now) if is_strict else mine.is_among(now)
        return self._same[key]

    def _rows(self, start: int, few: int) -> tuple[Node, Node] | None:
        """The nearest part, before and now, that has others like it beside it. Around the first, only one
        of many that says what it said: two columns of a page are no list."""
        node: Node | None = self._old.sketch.nodes[start]
        while node is not None and self._linked[node.order] != -1:
            its = self._new.sketch.nodes[self._linked[node.order]]
            count = max(len(self._old.rows(node)), len(self._new.rows(its)))
            is_first = node.order == start
            if count > (few if is_first else _FEW) and (
                is_first or self._old.says(node) == self._new.says(its)
            ):
                return node, its
            node = node.parent
        return None


def _is_unchanged(pairing: Pairing, linked: list[int]) -> bool:
    """All is where it was and says what it said; but a page may call itself otherwise."""
    old, new = pairing.old, pairing.new
    if linked != list(range(len(new.nodes))):
        return False
    return [old.tree[one.order] for one in old.nodes[0].children] == [
        new.tree[one.order] for one in new.nodes[0].children
    ]


def _alike(one: Shape, other: Shape) -> bool:
    return one == other or len(one & other) > _LIKE * len(one | other)


def place(node: Node) -> tuple[int, int]:
    """Where it is in the content of everything that scrolls around it, in steps of the usual jitter."""
    x, y = node.bounds.left, node.bounds.top
    for around in node.ancestors():
        if around.scrolled is not None:
            x, y = x + around.scrolled.x, y + around.scrolled.y
    return x // (2 * JITTER_PX), y // (2 * JITTER_PX)

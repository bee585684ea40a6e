"""Edits of real screens whose outcome is known: who of the old nodes is who of the new ones.

Used by a test and by the bench; texts are changed, never shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from handrail.errors import TreeParseError
from handrail.screen.elements import elements
from handrail.screen.match import match
from handrail.screen.node import CLICKABLE, ENABLED, SCROLLABLE, Bounds, Node, Screen
from handrail.screen.parse import parse

STEP = 120  # pixels that an inserted banner takes


@dataclass(frozen=True)
class Edited:
    """Two screens and the truth: old order to the order in the new one, for what is still there."""

    kind: str
    old: Screen
    new: Screen
    truth: dict[int, int]
    open: frozenset[int] = frozenset()
    """Old nodes of which nobody can say whether they are the same: their words are others now."""


Copies = dict[Node, Node]
Edit = Callable[[Screen, Copies, Random], bool]


def edit(kind: str, old: Screen, rng: Random) -> Edited | None:
    """The screen after an edit; None if it has no place for one."""
    copies = {node: replace(node, parent=None, children=[]) for node in old.nodes}
    for node, copy in copies.items():
        copy.children = [copies[child] for child in node.children]
    root = copies[old.root]
    if kind == "dialog":
        root = Node("", "", "", "", old.package, old.bounds, 0, "container", 0, children=[root, _dialog(old)])
    elif not EDITS[kind](old, copies, rng):
        return None
    nodes = _number(root)
    new = Screen(root, nodes, old.width, old.height, old.package)
    alive = set(nodes)
    truth = {node.order: copy.order for node, copy in copies.items() if copy in alive}
    return Edited(kind, old, new, truth, frozenset(_renamed(copies)))


def _renamed(copies: Copies) -> Iterator[int]:
    """What says something else, and the rows and cards that it is a part of."""
    for node, copy in copies.items():
        if node.text != copy.text or node.description != copy.description:
            yield node.order
            for around in node.ancestors():
                if around.flags & SCROLLABLE:
                    break
                yield around.order


def _number(root: Node) -> list[Node]:
    nodes: list[Node] = []
    stack = [root]
    while stack:
        node = stack.pop()
        node.order = len(nodes)
        nodes.append(node)
        for position, child in enumerate(node.children):
            child.parent, child.position = node, position
        stack.extend(reversed(node.children))
    for node in reversed(nodes):
        node.end = node.children[-1].end if node.children else node.order + 1
    return nodes


def _text(words: str, box: Bounds, package: str, flags: int = ENABLED) -> Node:
    role, kind = ("button", "Button") if flags & CLICKABLE else ("text_view", "TextView")
    return Node(f"android.widget.{kind}", "", words, "", package, box, flags, role, 0)


def _dialog(old: Screen) -> Node:
    left, top, right, bottom = old.width // 10, old.height // 3, old.width * 9 // 10, old.height * 2 // 3
    rows = [Bounds(left, top + STEP * number, right, top + STEP * (number + 1)) for number in range(4)]
    children = [
        _text("Invented title", rows[0], old.package),
        _text("Invented question, to be answered", rows[1], old.package),
        _text("Invented no", rows[2], old.package, ENABLED | CLICKABLE),
        _text("Invented yes", rows[3], old.package, ENABLED | CLICKABLE),
    ]
    box = Bounds(left, top, right, bottom)
    return Node(
        "android.widget.FrameLayout", "", "", "", old.package, box, ENABLED, "container", 0, children=children
    )


def _shift(node: Node, dy: int, frame: Bounds | None = None) -> None:
    stack = [node]
    while stack:
        one = stack.pop()
        moved = one.bounds._replace(top=one.bounds.top + dy, bottom=one.bounds.bottom + dy)
        one.bounds = moved.intersect(frame) if frame else moved
        stack.extend(one.children)


def _insert(old: Screen, copies: Copies, rng: Random) -> bool:
    """A banner above some of the children of a container; what follows moves down."""
    parents = [node for node in old.nodes if len(node.children) > 1 and node.bounds.height > 2 * STEP]
    if not parents:
        return False
    parent = rng.choice(parents)
    at = rng.randrange(len(parent.children))
    below = parent.children[at].bounds.top
    for child in parent.children[at:]:
        if child.bounds.top >= below:
            _shift(copies[child], STEP)
    box = Bounds(parent.bounds.left, below, parent.bounds.right, below + STEP)
    copies[parent].children.insert(at, _text("Invented banner", box, old.package))
    return True


def _relabel(old: Screen, copies: Copies, rng: Random) -> bool:
    """Other words on one node."""
    speaking = [node for node in old.nodes if (node.text or node.description) and node.role != "text_field"]
    if not speaking:
        return False
    copy = copies[rng.choice(speaking)]
    copy.text, copy.description = (
        ("Invented words", copy.description) if copy.text else ("", "Invented words")
    )
    return True


def _scroll(old: Screen, copies: Copies, rng: Random) -> bool:
    """Rows move up; what leaves at the top comes back at the bottom as another row, in the same views."""
    lists = [node for node in old.nodes if node.flags & SCROLLABLE and len(_rows(node)) > 3]
    if not lists:
        return False
    scroller = rng.choice(lists)
    frame, rows = scroller.bounds, _rows(scroller)
    distance = rng.randrange(20, max(21, frame.height // 2))
    holder = copies[rows[0].parent or scroller]
    last = max(row.bounds.bottom for row in rows)
    kept: list[Node] = []
    recycled: list[Node] = []
    for row in rows:
        copy = copies[row]
        away = row.bounds.bottom - distance <= frame.top
        recycled += [_another(copy)] if away else []
        if not away:
            _shift(copy, -distance, frame)
            kept.append(_visible(copy))
    for number, row_copy in enumerate(recycled):
        _shift(row_copy, last - distance - row_copy.bounds.top + number * row_copy.bounds.height, frame)
    holder.children = [*kept, *[row for row in map(_visible, recycled) if row.bounds.area]]
    return True


def _rows(scroller: Node) -> list[Node]:
    """Rows in one column that the user can see: a grid or a page would need a layout of its own."""
    node = scroller
    while len(node.children) == 1:
        node = node.children[0]
    rows = [child for child in node.children if child.bounds.area]
    tops = [row.bounds.top for row in rows]
    one_column = tops == sorted(set(tops)) and len(rows) == len(node.children)
    return rows if one_column else []


def _visible(row: Node) -> Node:
    """Without what the container's edge cuts off, as Android dumps it."""
    for node in _tree(row):
        node.children = [child for child in node.children if child.bounds.area]
    return row


def _tree(node: Node) -> Iterator[Node]:
    yield node
    for child in list(node.children):
        yield from _tree(child)


_serial = iter(range(10**9))


def _another(row: Node) -> Node:
    """A new row in the shape of an old one, with words of its own."""
    fresh = replace(row, children=[_another(child) for child in row.children])
    number = next(_serial)
    if fresh.text:
        fresh.text = f"Invented {number}"
    if fresh.description:
        fresh.description = f"Invented {number}"
    return fresh


EDITS: dict[str, Edit] = {"insert": _insert, "relabel": _relabel, "scroll": _scroll}
KINDS = ("insert", "scroll", "relabel", "dialog")


@dataclass
class Score:
    """How matching did on edits of one kind."""

    edits: int = 0
    survivors: int = 0
    kept: int = 0
    wrong: int = 0

    @property
    def share(self) -> float:
        return self.kept / self.survivors if self.survivors else 1.0

    def __str__(self) -> str:
        share = f"{self.kept} of {self.survivors} survivors kept ({self.share:.1%})"
        return f"{share}, {self.wrong} wrong, {self.edits} edits"


def measure(corpus: Path, *, per_screen: int = 1, every: int = 1, seed: int = 0) -> dict[str, Score]:
    """Edits real screens and counts the elements that were recognised, by kind of edit."""
    rng = Random(seed)
    scores = {kind: Score() for kind in KINDS}
    for screen in screens(corpus, every):
        acting = [element.node.order for element in elements(screen)]
        for kind in KINDS * per_screen:
            edited = edit(kind, screen, rng)
            if edited is not None:
                _count(scores[kind], edited, acting)
    return scores


def _count(score: Score, edited: Edited, acting: list[int]) -> None:
    matching = match(edited.old, edited.new)
    score.edits += 1
    for order in acting:
        if order in edited.open:
            continue
        found, true = matching.to_new[order], edited.truth.get(order, -1)
        score.survivors += true >= 0
        score.kept += found == true >= 0
        score.wrong += found >= 0 and found != true


def screens(corpus: Path, every: int = 1) -> Iterator[Screen]:
    """The real screens with at least three elements."""
    paths = [
        path for folder in ("uiautomator", "appium", "pairs") for path in (corpus / folder).glob("*.xml")
    ]
    for path in sorted(paths)[::every]:
        try:
            screen = parse(path.read_bytes())
        except TreeParseError:
            continue
        if len(elements(screen)) >= 3:
            yield screen

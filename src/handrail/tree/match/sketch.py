"""What a screen's nodes can be recognised by: label, key, subtree hash, and where each stands in a list.

Text that a user types is no part of an identity, nor is a clock. Holds no opinion on what matches what.
`Pairing` holds two sketches and who is linked to whom, one-to-one by construction.
"""

from __future__ import annotations

import re
from itertools import accumulate

from handrail.tree.node import CHECKABLE, CLICKABLE, ENABLED, LONG_CLICKABLE, SCROLLABLE, Node, Screen
from handrail.tree.windows import SYSTEM_UI
from handrail.tree.words import is_clock_like

NEIGHBOURHOOD = 3  # labels that make a place recognisable
NAME, NUMBER, REPEATED = 1, 2, 3
_SWITCH_WORDS = frozenset(
    {
        "on",
        "off",
        "an",
        "ein",
        "aus",
        "oui",
        "non",
        "sí",
        "no",
        "开",
        "关",
        "开启",
        "关闭",
        "オン",
        "オフ",
        "вкл",
        "выкл",
    }
)  # what a switch says of its state, not of itself
STATE_WORDS = _SWITCH_WORDS | frozenset(
    {"checked", "unchecked", "selected", "unselected", "expanded", "collapsed", "loading", "not"}
)  # in a longer label

ACTS = CLICKABLE | LONG_CLICKABLE | CHECKABLE | SCROLLABLE
_ACTING = frozenset({"text_field", "slider"})
_BUTTONS = frozenset({"button", "image_button"})
MAY_ACT = _ACTING | _BUTTONS
_WORDS = re.compile(r"[^\W\d_]+")
_STEM = re.compile(r"(?<=\w{3})(?:ing|ed|e)$")


class Sketch:
    """Parallel lists by `Node.order`; what is not there is -1."""

    __slots__ = (
        "_titles",
        "fixed_place",  # nearest node around with NEIGHBOURHOOD fixed tokens, or the root
        "holder",  # node whose children are rows -> its scroll container
        "key",  # hash of class, id and label
        "label",
        "named",  # 1 where a label is in the subtree
        "nodes",
        "place",  # nearest node around with NEIGHBOURHOOD tokens, or the root
        "screen",
        "scroller",  # nearest scroll container around
        "token",  # NAME, NUMBER or REPEATED, for a label with no label below that says it again
        "tree",  # hash of the subtree's keys
        "unit",  # the row of `scroller` that a node is in
    )

    def __init__(self, screen: Screen) -> None:
        self._titles: list[int] = []
        self.screen = screen
        self.nodes = screen.nodes
        self.label = [label_of(node) for node in self.nodes]
        self.key = [
            hash((node.class_name, node.resource_id, label))
            for node, label in zip(self.nodes, self.label, strict=True)
        ]
        self._hash_subtrees()
        self._sort_tokens()
        self._find_rows()
        self._find_places()

    def _hash_subtrees(self) -> None:
        label = self.label
        tree = self.tree = self.key.copy()
        token = self.token = bytearray(len(tree))
        named = self.named = bytearray(len(tree))
        for order in reversed(range(len(tree))):
            children = self.nodes[order].children
            if children:
                tree[order] = hash((tree[order], *[tree[child.order] for child in children]))
                named[order] = any([named[child.order] for child in children])  # noqa: C419
            if label[order] and not named[order]:
                named[order] = True
                token[order] = NAME if any(map(str.isalpha, label[order])) else NUMBER

    def _sort_tokens(self) -> None:
        """Tells repeated names from unique ones; leaves out the system bars, whose names are everywhere."""
        token, key = self.token, self.key
        bars = self.screen.package != SYSTEM_UI
        seen: dict[int, int] = {}
        for order, kind in enumerate(token):
            if bars and self.nodes[order].package_name == SYSTEM_UI:
                token[order] = 0
            elif kind == NAME:
                first = seen.setdefault(key[order], order)
                if first != order:
                    token[first] = token[order] = REPEATED

    def _find_rows(self) -> None:
        size = len(self.nodes)
        self.scroller = scroller = [-1] * size
        self.unit = unit = [-1] * size
        self.holder: dict[int, int] = {}
        holder = self.holder
        for order, node in enumerate(self.nodes):
            if node.parent is not None:
                above = node.parent.order
                if above in holder:
                    scroller[order] = holder[above]
                    unit[order] = order
                elif scrolls(node.parent):
                    scroller[order] = above
                else:
                    scroller[order] = scroller[above]
                    unit[order] = unit[above]
            if scrolls(node):
                holder[_row_holder(node).order] = order

    def _find_places(self) -> None:
        labels = [token > 0 for token in self.token]
        outside = [is_label and each == -1 for is_label, each in zip(labels, self.scroller, strict=True)]
        self.place = self._places(labels)
        self.fixed_place = self._places(outside)

    def _places(self, tokens: list[bool]) -> list[int]:
        counted = running(tokens)
        place = [0] * len(self.nodes)
        for order, node in enumerate(self.nodes):
            if node.parent is not None:
                is_place = counted[node.end] - counted[order] >= NEIGHBOURHOOD
                place[order] = order if is_place else place[node.parent.order]
        return place

    def window(self, order: int) -> int:
        """The root of the window that a node is in; the root of all where there are several is in none."""
        for root in reversed(self.screen.windows):
            if root.order <= order:
                return root.order
        return 0

    def first_name(self, order: int) -> int:
        """The first name in a subtree that no other part of the screen has, or -1."""
        return self.token.find(NAME, order, self.nodes[order].end)

    def title(self, order: int) -> int:
        """The topmost label of a place that is no button's and no count ("3 selected"), or -1."""
        if not self._titles:
            self._titles = self._find_titles()
        return self._titles[order]

    def _find_titles(self) -> list[int]:
        """Bottom-up: the title of a place is its own or the topmost of its children's."""
        titles = [node.order if self._may_be_title(node) else -1 for node in self.nodes]
        for node in reversed(self.nodes):
            if node.parent is not None and titles[node.order] != -1:
                above = node.parent.order
                held = titles[above]
                if held == -1 or self._height(titles[node.order]) <= self._height(held):
                    titles[above] = titles[node.order]
        return titles

    def _may_be_title(self, node: Node) -> bool:
        return (
            self.token[node.order] in (NAME, REPEATED)
            and not node.flags & CLICKABLE
            and not (node.parent and node.parent.flags & CLICKABLE)
            and not self.label[node.order][:1].isdigit()
        )

    def _height(self, order: int) -> tuple[int, int]:
        bounds = self.nodes[order].bounds
        return bounds.top, bounds.left

    def rows(self, scroller: int) -> list[Node]:
        """The rows of a scroll container, in document order."""
        return _row_holder(self.nodes[scroller]).children


def label_of(node: Node) -> str:
    """What names a node as the same one later: no typed text, no clock, no password."""
    if node.role == "text_field":
        return node.description or node.hint_text
    if node.flags & CHECKABLE and node.text.casefold() in _SWITCH_WORDS:
        return node.description
    label = node.text or node.description or node.hint_text or node.tooltip_text or node.pane_title
    return "" if ":" in label and is_clock_like(label) else label


def acts(node: Node) -> bool:
    """Something can be done with it, now or when it is enabled: it is an element, not a text or a frame."""
    if node.flags & ACTS or node.role in _ACTING:
        return True
    return node.role in _BUTTONS and not node.flags & ENABLED


def skeleton(said: str) -> str:
    """A label without what an element changes itself: numbers, states, and the ending of "Following"."""
    words = [word for word in _WORDS.findall(said.casefold()) if word not in STATE_WORDS]
    if len(words) == 1:
        words = [_STEM.sub("", words[0])]
    return " ".join(words)


def scrolls(node: Node) -> bool:
    """A list counts also while its content fits; a scroll view around a dialog's buttons just holds them."""
    return node.flags & SCROLLABLE != 0 or node.role == "list"


def _row_holder(scroller: Node) -> Node:
    """The node whose children are the rows: often one child of a scroll view that holds them all."""
    node = scroller
    if node.role == "list":
        return node
    while len(node.children) == 1:
        child = node.children[0]
        if not child.children or child.flags & CLICKABLE:
            break
        node = child
    return node


def running(flags: list[bool]) -> list[int]:
    """How many so far: one number more than flags, so that a span is a difference."""
    return [0, *accumulate(flags)]


class Pairing:
    """`to_new[old order]` and `to_old[new order]`, -1 where there is no partner."""

    __slots__ = ("new", "old", "to_new", "to_old")

    def __init__(self, old: Sketch, new: Sketch) -> None:
        self.old, self.new = old, new
        self.to_new = [-1] * len(old.nodes)
        self.to_old = [-1] * len(new.nodes)

    def link(self, old: int, new: int) -> None:
        """Links two nodes unless one has a partner already."""
        if self.to_new[old] == self.to_old[new] == -1 and self.may_be_one(old, new):
            self.to_new[old] = new
            self.to_old[new] = old

    def link_subtrees(self, old: int, new: int) -> None:
        """Links two subtrees of equal hash node by node: equal shape, so equal offsets."""
        for offset in range(self.old.nodes[old].end - old):
            self.link(old + offset, new + offset)

    def unlink(self, old: int) -> None:
        self.to_old[self.to_new[old]] = -1
        self.to_new[old] = -1

    def may_be_one(self, old: int, new: int) -> bool:
        """False where the surface itself calls them by different names."""
        return self.old.nodes[old].native_id == self.new.nodes[new].native_id

    def alike(self, old: int, new: int) -> bool:
        """Same class and resource id."""
        if not self.may_be_one(old, new):
            return False
        a, b = self.old.nodes[old], self.new.nodes[new]
        return a.class_name == b.class_name and a.resource_id == b.resource_id

"""What a screen's nodes can be recognised by: label, key, subtree hash, and where each stands in a list.

Text that a user types is no part of an identity, nor is a clock. Holds no opinion on what matches what.
`Pairing` holds two sketches and who is linked to whom, one-to-one by construction.
"""

from __future__ import annotations

import re
from itertools import accumulate

from handrail.screen.node import ACTIONABLE, CHECKABLE, CLICKABLE, ENABLED, Node, Screen, scrolls
from handrail.screen.text import is_clock_like
from handrail.screen.windows import SYSTEM_UI

NEIGHBOURHOOD = 3  # labels that make a place recognisable
NAME, NUMBER, REPEATED = 1, 2, 3
_SWITCH_WORDS = frozenset(
    "on off an ein aus oui non sí no 开 关 开启 关闭 オン オフ вкл выкл".split()  # noqa: SIM905 (a table)
)  # what a switch says of its state, not of itself
STATE_WORDS = _SWITCH_WORDS | frozenset(
    {"checked", "unchecked", "selected", "unselected", "expanded", "collapsed", "loading", "not"}
)  # in a longer label

_ACTING = frozenset({"text_field", "slider"})
_BUTTONS = frozenset({"button", "image_button"})
MAY_ACT = _ACTING | _BUTTONS
_WORDS = re.compile(r"[^\W\d_]+")
_STEM = re.compile(r"(?<=\w{3})(?:ing|ed|e)$")


class ScreenFeatures:
    """Parallel lists by `Node.order`; -1 stands for none."""

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
        # Tells repeated names from unique ones; leaves out the system bars, whose names are everywhere.
        token, key = self.token, self.key
        bars = self.screen.package != SYSTEM_UI
        first_with: dict[int, int] = {}
        for order, kind in enumerate(token):
            if bars and self.nodes[order].package_name == SYSTEM_UI:
                token[order] = 0
            elif kind == NAME:
                first = first_with.setdefault(key[order], order)
                if first != order:
                    token[first] = token[order] = REPEATED
        self._find_rows()
        labels = [token > 0 for token in self.token]
        outside = [is_label and each == -1 for is_label, each in zip(labels, self.scroller, strict=True)]
        self.place = self._places(labels)
        self.fixed_place = self._places(outside)

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

    def _places(self, tokens: list[bool]) -> list[int]:
        counted = running_counts(tokens)
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
        """The topmost label of a place that is neither on a button nor a count ("3 selected"), or -1."""
        if not self._titles:
            # Bottom-up: the title of a place is its own or the topmost of its children's.
            titles = [node.order if self._may_be_title(node) else -1 for node in self.nodes]
            for node in reversed(self.nodes):
                if node.parent is not None and titles[node.order] != -1:
                    above = node.parent.order
                    held = titles[above]
                    if held == -1 or self._height(titles[node.order]) <= self._height(held):
                        titles[above] = titles[node.order]
            self._titles = titles
        return self._titles[order]

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
        return _row_holder(self.nodes[scroller]).children


def label_of(node: Node) -> str:
    """The label by which a node is recognised later: never typed text, a clock or a password."""
    if node.role == "text_field":
        return node.description or node.hint_text
    if node.flags & CHECKABLE and node.text.casefold() in _SWITCH_WORDS:
        return node.description
    label = node.text or node.description or node.hint_text or node.tooltip_text or node.pane_title
    return "" if ":" in label and is_clock_like(label) else label


def is_actionable(node: Node) -> bool:
    """True for an element that can be acted on, now or once it is enabled; False for texts and frames."""
    if node.flags & ACTIONABLE or node.role in _ACTING:
        return True
    return node.role in _BUTTONS and not node.flags & ENABLED


def lasting_words(label: str) -> str:
    """A label without the parts that an element changes itself: numbers, states, and the ending of
    "Following".
    """
    words = [word for word in _WORDS.findall(label.casefold()) if word not in STATE_WORDS]
    if len(words) == 1:
        words = [_STEM.sub("", words[0])]
    return " ".join(words)


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


def running_counts(flags: list[bool]) -> list[int]:
    """Prefix sums with a leading 0, so that the count in a span is a difference."""
    return [0, *accumulate(flags)]


class Links:
    """`to_new[old order]` and `to_old[new order]`, -1 where there is no partner."""

    __slots__ = ("new", "old", "to_new", "to_old")

    def __init__(self, old: ScreenFeatures, new: ScreenFeatures) -> None:
        self.old, self.new = old, new
        self.to_new = [-1] * len(old.nodes)
        self.to_old = [-1] * len(new.nodes)

    def link(self, old: int, new: int) -> None:
        if self.to_new[old] == self.to_old[new] == -1 and self.may_match(old, new):
            self.to_new[old] = new
            self.to_old[new] = old

    def link_subtrees(self, old: int, new: int) -> None:
        """Links two subtrees of equal hash node by node: equal shape, so equal offsets."""
        for offset in range(self.old.nodes[old].end - old):
            self.link(old + offset, new + offset)

    def unlink(self, old: int) -> None:
        self.to_old[self.to_new[old]] = -1
        self.to_new[old] = -1

    def may_match(self, old: int, new: int) -> bool:
        """False where the surface gives them different native ids."""
        return self.old.nodes[old].native_id == self.new.nodes[new].native_id

    def alike(self, old: int, new: int) -> bool:
        if not self.may_match(old, new):
            return False
        a, b = self.old.nodes[old], self.new.nodes[new]
        return a.class_name == b.class_name and a.resource_id == b.resource_id


_NAMES = (NAME, REPEATED)
_FULL_SHARE = 0.8  # share of the screen's area; what is smaller is a dialog, a sheet or a bar
_MANY = 5

Count = tuple[int, int]
"""Labels that stayed, and labels."""


class KeptLabels:
    """Counts over the links as they were when this was made."""

    __slots__ = ("_new", "_old", "stayed")

    def __init__(self, links: Links) -> None:
        old, new = links.old, links.new
        new_key = new.key
        self.stayed = [
            bool(token) and partner != -1 and key == new_key[partner]
            for token, partner, key in zip(old.token, links.to_new, old.key, strict=True)
        ]
        kept_new = [
            bool(token) and partner != -1 and self.stayed[partner]
            for token, partner in zip(new.token, links.to_old, strict=True)
        ]
        self._old, self._new = _LabelCounts(old, self.stayed), _LabelCounts(new, kept_new)

    def is_same_place(self, old: int, new: int) -> bool | None:
        """Whether the surroundings are still the same place; None if there are too few labels to tell.

        People know a place by its title. Where it has none, most of the labels must have stayed.
        """
        places = self._old.features.fixed_place[old], self._new.features.fixed_place[new]
        sides = [side.fixed_in(place) for side, place in zip((self._old, self._new), places, strict=True)]
        counts = [count for count in sides if count[1] >= NEIGHBOURHOOD]
        if not counts:
            return None
        if self._is_recognised_place(counts, places, old, new) or self._only_title_changed(old, new):
            return True
        # A drawer opened over a feed around which nothing is written: nothing was lost.
        stayed, names = sides[0]
        return None if names < NEIGHBOURHOOD and stayed == names else False

    def _is_recognised_place(self, counts: list[Count], places: tuple[int, int], old: int, new: int) -> bool:
        title = self.title_stays(*places)
        if title is None:
            return any(map(_most, counts))
        if title:
            # A section unfolded: a third of the labels is enough, but most for what was renamed itself.
            return any(map(_most, counts)) or (
                not self.renamed(old, new) and any(3 * stayed >= names for stayed, names in counts)
            )
        return self._under_another_title(counts, places[0])

    def _under_another_title(self, counts: list[Count], place: int) -> bool:
        """Another tab was chosen: the bars around a page that fills the screen are nearly all its labels."""
        return not self._floats(place) and any(map(_nearly_all, counts))

    def _only_title_changed(self, old: int, new: int) -> bool:
        """The title was "Loading" a moment ago. In a dialog it tells the next question from the last one."""
        windows = self._old.features.window(old), self._new.features.window(new)
        counts = self._old.all_in(windows[0]), self._new.all_in(windows[1])
        is_only = all(names - stayed <= 1 and stayed >= NEIGHBOURHOOD for stayed, names in counts)
        return is_only and not self._floats(windows[0])

    def title_stays(self, old_place: int, new_place: int) -> bool | None:
        """Whether the old title is still shown, or the new one was shown before; None if neither has one."""
        old, new = self._old.features.title(old_place), self._new.features.title(new_place)
        if old == new == -1:
            return None
        return self._old.stays(old) or self._new.stays(new)

    def _floats(self, place: int) -> bool:
        screen, bounds = self._old.features.screen, self._old.features.nodes[place].bounds
        return bounds.area < _FULL_SHARE * screen.width * screen.height

    def renamed(self, old: int, new: int) -> bool:
        """None of its labels stayed. A text field never counts: its hint comes and goes while typing."""
        if self._old.features.nodes[old].role == "text_field":
            return False
        (stayed, names), (_, new_names) = self._old.all_in(old), self._new.all_in(new)
        return stayed == 0 < names + new_names

    def kept_within_row(self, old: int, new: int, old_row: int, new_row: int) -> bool:
        """Whether most labels around stayed inside one row, for rows as large as a page."""
        verdict = True
        for side, order, row in ((self._old, old, old_row), (self._new, new, new_row)):
            place = side.features.place[order]
            if place >= row:
                if _most(side.all_in(place)):
                    return True
                verdict = False
        return verdict

    def kept_around(self, old: int, new: int) -> bool | None:
        """Whether most unique names stayed in the nearest named part around it; None if there is none."""
        sides = ((self._old, old), (self._new, new))
        counts = [side.names_in(place) for side, order in sides if (place := side.nearest_named(order)) > 0]
        return None if not counts or any(map(_most, counts)) else False

    def kept_names_inside(self, old: int, new: int) -> bool:
        """Whether most unique names inside stayed, on the screen that shows fewer of them."""
        return _most(self._old.names_in(old)) or _most(self._new.names_in(new))

    def nearest_named_parts(self, old: int, new: int) -> tuple[int, int]:
        """The nearest parts around with a unique name; -1 for none."""
        return self._old.nearest_named(old), self._new.nearest_named(new)

    def has_no_words(self) -> bool:
        return self._old.all_in(0)[1] + self._new.all_in(0)[1] == 0

    def kept_on_screen(self) -> bool:
        """Whether most labels stayed, with the title; nearly all of them, without it."""
        sides = [self._old.all_in(0), self._new.all_in(0)]
        if self.title_stays(0, 0) is False:
            return self._under_another_title(sides, 0)
        return all(map(_most, sides))

    def kept_outside_lists(self) -> bool:
        """Whether most labels outside scroll containers stayed; true if there are none."""
        sides = (self._old.fixed_in(0), self._new.fixed_in(0))
        return all(side[1] == 0 or _most(side) for side in sides)

    def kept_all_outside_lists(self) -> bool:
        """Whether all labels outside scroll containers stayed, and the title."""
        sides = (self._old.fixed_in(0), self._new.fixed_in(0))
        return all(0 < stayed == names for stayed, names in sides) and bool(self.title_stays(0, 0))

    def kept_inside(self, old: int, new: int) -> bool:
        """Whether most labels inside stayed, on the screen that shows fewer of them."""
        return _most(self._old.all_in(old)) or _most(self._new.all_in(new))

    def kept_nearly_all_names(self, old: int, new: int) -> bool:
        """Whether a row has so many names, and kept so many, that it is recognised without its place."""
        return _nearly_all(self._old.names_in(old)) and _nearly_all(self._new.names_in(new))

    def smaller_part_kept_all(self, old: int, new: int) -> bool:
        """Whether the row with fewer labels lost none: the list's edge may hide the others' labels."""
        (kept_old, names_old), (kept_new, names_new) = self._old.own_in(old), self._new.own_in(new)
        return min(kept_old, kept_new) >= min(names_old, names_new)

    def count_kept_in_row(self, old: int, new: int) -> tuple[int, int]:
        """(names kept, names) of a row, on the worse side; names that other rows share do not count."""
        kept_old, names_old = self._old.unique_in(old)
        kept_new, names_new = self._new.unique_in(new)
        return min(kept_old, kept_new), max(names_old, names_new)


class _LabelCounts:
    __slots__ = ("_fixed_kept", "_fixed_names", "_flags", "_names", "_stayed", "features")

    def __init__(self, features: ScreenFeatures, stayed: list[bool]) -> None:
        self.features = features
        self._flags = stayed
        # A number that changed is a value, not a name: it counts only if it stayed.
        names = [stays or token in _NAMES for token, stays in zip(features.token, stayed, strict=True)]
        outside = [scroller == -1 for scroller in features.scroller]
        self._stayed, self._names = running_counts(stayed), running_counts(names)
        self._fixed_kept = running_counts([k and o for k, o in zip(stayed, outside, strict=True)])
        self._fixed_names = running_counts([n and o for n, o in zip(names, outside, strict=True)])

    def all_in(self, order: int) -> tuple[int, int]:
        end = self.features.nodes[order].end
        return self._stayed[end] - self._stayed[order], self._names[end] - self._names[order]

    def fixed_in(self, order: int) -> tuple[int, int]:
        end = self.features.nodes[order].end
        stayed, names = self._fixed_kept, self._fixed_names
        return stayed[end] - stayed[order], names[end] - names[order]

    def nearest_named(self, order: int) -> int:
        """The nearest ancestor with a name that is unique on the screen, or -1."""
        features = self.features
        node = features.nodes[order].parent
        while node is not None and features.first_name(node.order) == -1:
            node = node.parent
        return node.order if node is not None else -1

    def names_in(self, order: int) -> tuple[int, int]:
        """Names that are unique on the screen."""
        return self._count([each for each in self._span(order) if self.features.token[each] == NAME])

    def unique_in(self, order: int) -> tuple[int, int]:
        """Counts as `names_in` does, without the rows of a list inside it."""
        token, unit = self.features.token, self.features.unit
        return self._count(
            [each for each in self._span(order) if token[each] == NAME and unit[each] == order]
        )

    def own_in(self, order: int) -> tuple[int, int]:
        """Counts as `all_in` does, without the rows of a list inside it."""
        token, unit = self.features.token, self.features.unit
        own = [each for each in self._span(order) if token[each] in _NAMES and unit[each] == order]
        return self._count(own)

    def _span(self, order: int) -> range:
        return range(order, self.features.nodes[order].end)

    def _count(self, orders: list[int]) -> tuple[int, int]:
        return sum([self._flags[order] for order in orders]), len(orders)

    def stays(self, order: int) -> bool:
        return order != -1 and self._flags[order]


def _most(count: Count) -> bool:
    stayed, names = count
    return 2 * stayed > names


def _nearly_all(count: Count) -> bool:
    stayed, names = count
    return stayed >= _MANY and 4 * stayed >= 3 * names

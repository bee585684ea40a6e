"""Whether an element survives: the last word on every link, and the only one that a ref's life hangs on.

It asks for evidence. An element is the same if a person would still call it the same, or if what changed is
what the element changes itself: its state, its value, its count. Whatever else was proposed is stale.
A rule says True, False, or None where a link is no case of its own. The first opinion counts; without one the
element does not survive.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cached_property

from handrail.tree.match.drift import JITTER_PX, displacement
from handrail.tree.match.evidence import LinkEvidence
from handrail.tree.match.sketch import ACTS, MAY_ACT, NEIGHBOURHOOD, REPEATED, Sketch, acts, scrolls, skeleton
from handrail.tree.node import (
    CHECKABLE,
    CHECKED,
    Bounds,
    Node,
)

_VALUED = frozenset({"slider", "spinner", "progress_bar"})  # what they say is what they are set to
_CAPTIONED = frozenset({"text_field", "check_box", "switch", "radio_button", "slider", "spinner"})
_GROWN = 3  # times its area, and then at least a quarter of the screen: no row grows so


def survives(evidence: LinkEvidence, old: int, new: int) -> bool:
    """Of two nodes whose places are believed to be the same. Nodes that nobody can act on have no say."""
    before, after = evidence.pairing.old, evidence.pairing.new
    a, b = before.nodes[old], after.nodes[new]
    if (a.package_name != b.package_name or not a.package_name) and _app(before, old) != _app(after, new):
        return False
    if not (a.flags | b.flags) & ACTS and a.role not in MAY_ACT:
        return True
    is_named = before.named[old] and before.token[old] != REPEATED
    is_unchanged = before.tree[old] == after.tree[new] and a.bounds == b.bounds and a.flags == b.flags
    if is_unchanged and is_named:
        return True  # as most are; saves time
    claim = Claim(evidence, old, new)
    if is_unchanged and not before.named[old]:
        return part_of_another(claim) is None and another_caption(claim) is None
    for rule in RULES:
        opinion = rule(claim)
        if opinion is not None:
            return opinion
    return False


def _app(sketch: Sketch, order: int) -> str:
    return sketch.nodes[order].package_name or sketch.screen.package


class Claim:
    """That two nodes are one element, with what speaks for it."""

    def __init__(self, evidence: LinkEvidence, old: int, new: int) -> None:
        self.evidence = evidence
        self.pairing = evidence.pairing
        self.old, self.new = old, new
        self.before, self.after = self.pairing.old.nodes[old], self.pairing.new.nodes[new]

    @cached_property
    def labels(self) -> tuple[list[str], list[str]]:
        """Of the nodes and of all inside them."""
        return _labels(self.pairing.old, self.old), _labels(self.pairing.new, self.new)

    @cached_property
    def skeletons(self) -> tuple[list[str], list[str]]:
        """Of the labels that have one."""
        old, new = ([bare for said in labels if (bare := skeleton(said))] for labels in self.labels)
        return old, new

    @property
    def own(self) -> tuple[str, str]:
        return skeleton(self.pairing.old.label[self.old]), skeleton(self.pairing.new.label[self.new])

    @property
    def contradicts(self) -> bool:
        """Both call themselves something, and not the same."""
        mine, its = self.own
        return bool(mine and its) and mine != its

    @property
    def is_put(self) -> bool:
        """It is where it was, and as large."""
        return all(
            abs(a - b) <= JITTER_PX for a, b in zip(self.before.bounds, self.after.bounds, strict=True)
        )

    @property
    def in_place(self) -> bool:
        """One of its corners is where it was: on the screen, in what holds it, or in a list that moved."""
        a, b = self.before.bounds, self.after.bounds
        if _same_corner(a, b):
            return True
        holder, new_holder = self.before.parent, self.after.parent
        if holder and new_holder and self.pairing.to_new[holder.order] == new_holder.order:
            dx = new_holder.bounds.left - holder.bounds.left
            dy = new_holder.bounds.top - holder.bounds.top
            if _same_corner(Bounds(a.left + dx, a.top + dy, a.right + dx, a.bottom + dy), b):
                return True
        return self.moved_with_its_list

    @property
    def moved_with_its_list(self) -> bool:
        sketch = self.pairing.old
        if sketch.unit[self.old] != self.old or sketch.scroller[self.old] not in self.evidence.drifts:
            return False
        drift = self.evidence.drift(sketch.scroller[self.old])
        return drift.agrees(self.old, displacement(self.pairing, self.old, self.new))


def _labels(sketch: Sketch, order: int) -> list[str]:
    return [said for said in sketch.label[order : sketch.nodes[order].end] if said]


def _same_corner(a: Bounds, b: Bounds) -> bool:
    """Its size may follow its words, to the left or to the right, up or down."""
    across = min(abs(a.left - b.left), abs(a.right - b.right))
    down = min(abs(a.top - b.top), abs(a.bottom - b.bottom))
    return max(across, down) <= JITTER_PX


def no_use_any_more(link: Claim) -> bool | None:
    """A row's words are the title of the page it opened: the title takes no taps. A chosen tab stays put."""
    return None if acts(link.before) == acts(link.after) or link.is_put else False


def many_times_its_size(link: Claim) -> bool | None:
    """A row that fills the screen all at once is the page that it opened."""
    if scrolls(link.before) or link.before.role == "text_field":
        return None
    area, screen = link.after.bounds.area, link.pairing.new.screen
    is_grown = area > _GROWN * link.before.bounds.area > 0 and 4 * area > screen.width * screen.height
    return False if is_grown else None


def scroll_container(link: Claim) -> bool | None:
    """What it shows comes and goes, also all at once; who it is was told by what is around it."""
    ways = scrolls(link.before), scrolls(link.after)
    is_one = any(ways) and (all(ways) or link.is_put) and not link.before.flags & CHECKABLE
    return not link.contradicts if is_one else None


def part_of_another(link: Claim) -> bool | None:
    """The box beside "Red": nameless itself, it belongs to a row that says "Blue" now."""
    sketch = link.pairing.old
    if sketch.named[link.old] and sketch.token[link.old] != REPEATED:
        return None
    around, now = _acting_around(link.before), _acting_around(link.after)
    if around is None and now is None:
        return None
    if around is None or now is None or link.pairing.to_new[around.order] != now.order:
        return False
    return None


def another_caption(link: Claim) -> bool | None:
    """The one field of a form asks for a name, and then for a number: the words before it are its name."""
    if link.before.role not in _CAPTIONED or any(link.labels):
        return None
    old, new = _caption(link.pairing.old, link.before), _caption(link.pairing.new, link.after)
    return False if old and new and old != new else None


def _caption(sketch: Sketch, node: Node) -> str:
    """What is written before a control, else behind it, in the box that holds both."""
    parent = node.parent
    while parent is not None and len(parent.children) == 1 and not acts(parent):
        node, parent = parent, parent.parent
    if parent is None or acts(parent):
        return ""
    at = node.position
    for one in parent.children[max(0, at - 1) : at] + parent.children[at + 1 : at + 2]:
        if not acts(one) and (said := skeleton(sketch.label[one.order])):
            return said
    return ""


def typed_into(link: Claim) -> bool | None:
    """A field shows its hint, or hides it, as it is typed into; what else is written in it names it."""
    if link.before.role != "text_field":
        return None
    old, new = map(set, link.skeletons)
    return not link.contradicts and not (old and new and old.isdisjoint(new))


def _acting_around(node: Node) -> Node | None:
    """The nearest row or card around it that is an element, too."""
    for around in node.ancestors():
        if scrolls(around):
            return None
        if acts(around):
            return around
    return None


def look_alike_elsewhere(link: Claim) -> bool | None:
    """One of many that say "Delete" belongs to what stands around it; that must still be the same."""
    sketch = link.pairing.old
    if sketch.token[link.old] != REPEATED or sketch.unit[link.old] != -1 or link.before.native_id:
        return None  # in a row, or known by name: it was asked before
    return link.evidence.survival.of_group(link.old, link.new)


def same_words(link: Claim) -> bool | None:
    """All that it says, and in the same number of pieces."""
    if not link.pairing.old.named[link.old]:
        return None
    if link.pairing.old.tree[link.old] == link.pairing.new.tree[link.new]:
        return True
    old, new = link.labels
    return True if Counter(old) == Counter(new) else None


def better_known_elsewhere(link: Claim) -> bool | None:
    """ "Inbox 3" is still there and the other one says "Inbox 4": what looks as before is the element."""
    trees = link.pairing.old.tree[link.old], link.pairing.new.tree[link.new]
    if trees[0] == trees[1]:
        return None
    old_looks, new_looks = link.evidence.looks
    explained = (link.labels[0] and trees[0] in new_looks) or (link.labels[1] and trees[1] in old_looks)
    return False if explained else None


def half_hidden(link: Claim) -> bool | None:
    """The edge of a list cuts words off a row; what is left was there before, and it moved with the list."""
    sketch = link.pairing.old
    if (
        sketch.unit[link.old] != link.old
        or link.old not in link.evidence.drift(sketch.scroller[link.old]).cut
    ):
        return None
    old, new = (Counter(words) for words in link.skeletons)
    a, b = link.before.bounds.area, link.after.bounds.area
    lost_none = (new <= old and b < a) or (old <= new and a < b)
    return True if lost_none and link.moved_with_its_list else None


def state_in_words(link: Claim) -> bool | None:
    """A switch that says "开启" where it said "关闭", a spinner that shows what was chosen."""
    is_flipped = link.before.role == "switch" and bool((link.before.flags ^ link.after.flags) & CHECKED)
    if not (is_flipped or link.before.role in _VALUED):
        return None
    return True if link.in_place and not link.before.children else None


def own_change(link: Claim) -> bool | None:
    """Its name stays and it stays where it is; a count, a state or the line below the name is another."""
    old, new = (Counter(words) for words in link.skeletons)
    if not old or not new:
        return None
    shared = (old & new).total()
    most = max(old.total(), new.total())
    if link.contradicts or 2 * shared < most:
        return False
    if link.skeletons[0][0] != link.skeletons[1][0]:
        return shared >= NEIGHBOURHOOD and (old <= new or new <= old)  # a banner came above all else in it
    return link.in_place or (shared > 1 and 2 * shared > most)


def counter(link: Claim) -> bool | None:
    """It says nothing but a number or a state, and has an id that no other has."""
    if not any(link.labels) or any(link.skeletons):
        return None
    return link.in_place and link.evidence.has_own_id(link.old)


def loading(link: Claim) -> bool | None:
    """A box gets its words while a page is being built: it has an id of its own and stays put."""
    old, new = (_is_silent(node) for node in (link.before, link.after))
    if old == new:
        return None
    return link.is_put and link.evidence.has_own_id(link.old)


def _is_silent(node: Node) -> bool:
    """Nothing is written in it, not even the time."""
    return not (node.text or node.description) and all(map(_is_silent, node.children))


def nameless(link: Claim) -> bool | None:
    """An icon is known by its id, else by standing where it stood, as large as it was."""
    if any(link.labels):
        return None
    a, b = link.before.bounds, link.after.bounds
    is_as_large = abs(a.width - b.width) <= JITTER_PX or abs(a.height - b.height) <= JITTER_PX
    return is_as_large or link.evidence.has_own_id(link.old) or _is_alone_in_its_row(link.before)


def _is_alone_in_its_row(node: Node) -> bool:
    """The one heart of a card; that the card is the same was asked before."""
    row = _acting_around(node)
    if row is None or not node.resource_id:
        return False
    stack, found = [row], 0
    while stack:
        one = stack.pop()
        found += one.resource_id == node.resource_id
        stack.extend(one.children)
    return found == 1


RULES: tuple[Callable[[Claim], bool | None], ...] = (
    no_use_any_more, many_times_its_size, scroll_container, part_of_another, another_caption, typed_into,
    look_alike_elsewhere, same_words, better_known_elsewhere, half_hidden, state_in_words,
    own_change, counter, loading, nameless,
)  # fmt: skip

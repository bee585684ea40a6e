"""Who is who on two screens: a one-to-one matching of nodes, with no partner where identity is in doubt.

Unmistakable nodes are linked first (`link_unmistakable`), then the children of linked parents
(`link_children`). Both only propose links: `rows` takes back what the labels around do not support, and the
rules below what is no longer the same element. Nodes of different class or resource id are never matched.

`RULES` say whether an element survives. They are the last word on every link, and the only one that a ref's
life hangs on. They ask for evidence. An element is the same if a person would still call it the same, or if
what changed is what the element changes itself: its state, its value, its count. Whatever else was proposed
is stale. A rule says True, False, or None where a link is no case of its own. The first opinion counts;
without one the element does not survive.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import TypeVar

from handrail.screen.match.features import (
    MAY_ACT,
    NAME,
    NEIGHBOURHOOD,
    REPEATED,
    KeptLabels,
    Links,
    ScreenFeatures,
    is_actionable,
    lasting_words,
)
from handrail.screen.match.rows import RecordComparison, RowShift, displacement, is_same_row, place_in_content
from handrail.screen.node import ACTIONABLE, CHECKABLE, CHECKED, JITTER_PX, Bounds, Node, Screen, scrolls


@dataclass(frozen=True, slots=True)
class Scroll:
    """The rows of a scroll container moved; positive is right and down, in pixels."""

    old: Node
    new: Node
    dx: int
    dy: int


@dataclass(frozen=True, slots=True, eq=False)
class Matching:
    """One-to-one between the nodes of two screens."""

    old: Screen
    new: Screen
    to_new: list[int]  # old order -> new order, or -1
    to_old: list[int]
    scrolls: list[Scroll]

    def new_of(self, node: Node) -> Node | None:
        partner = self.to_new[node.order]
        return None if partner == -1 else self.new.nodes[partner]

    def old_of(self, node: Node) -> Node | None:
        partner = self.to_old[node.order]
        return None if partner == -1 else self.old.nodes[partner]

    def pairs(self) -> Iterator[tuple[Node, Node]]:
        for order, partner in enumerate(self.to_new):
            if partner != -1:
                yield self.old.nodes[order], self.new.nodes[partner]


def match(old: Screen | ScreenFeatures, new: Screen | ScreenFeatures) -> Matching:
    """Matches two screens; `ScreenFeatures` of a screen that were computed before are used as they are."""
    links = Links(_features(old), _features(new))
    if link_native_ids(links):
        pass  # a name says more than any place
    elif links.old.tree[0] == links.new.tree[0]:
        links.link_subtrees(0, 0)
    else:
        link_unmistakable(links)
        link_children(links)
    row_shifts = drop_unsupported_links(links)
    scrolls = []
    for order, row_shift in row_shifts.items():
        dx, dy = row_shift.shift
        if dx or dy:
            scrolls.append(Scroll(links.old.nodes[order], links.new.nodes[links.to_new[order]], dx, dy))
    return Matching(links.old.screen, links.new.screen, links.to_new, links.to_old, scrolls)


def _features(screen: Screen | ScreenFeatures) -> ScreenFeatures:
    return screen if isinstance(screen, ScreenFeatures) else ScreenFeatures(screen)


def link_children(links: Links) -> None:
    """Links children of linked parents, in document order, so a parent is done before its children."""
    old, new = links.old.nodes, links.new.nodes
    if links.alike(0, 0):
        links.link(0, 0)
    for node in old:
        partner = links.to_new[node.order]
        if partner != -1:
            if links.old.tree[node.order] == links.new.tree[partner]:
                links.link_subtrees(node.order, partner)
            else:
                _link_children_of(links, node.children, new[partner].children)


def _link_children_of(links: Links, old: Sequence[Node], new: Sequence[Node]) -> None:
    """Links children that look unlike all their siblings first, then the runs between linked siblings."""
    old_looks, new_looks = (
        _unlinked_subtrees(links.old, old, links.to_new),
        _unlinked_subtrees(links.new, new, links.to_old),
    )
    if not old_looks or not new_looks:
        return  # saves time: most are linked already
    _link_unique(links, old_looks, new_looks)
    new_gaps = _unlinked_runs(new, links.to_old, range(len(links.to_old)))
    for gap, orders in _unlinked_runs(old, links.to_new, links.to_new).items():
        if gap in new_gaps:
            _link_runs(links, gap, orders, new_gaps[gap])


def _unlinked_subtrees(
    features: ScreenFeatures, children: Sequence[Node], linked: Sequence[int]
) -> list[tuple[int, int]]:
    return [(features.tree[node.order], node.order) for node in children if linked[node.order] == -1]


Gap = tuple[int | None, int | None]


def _unlinked_runs(
    children: Sequence[Node], linked: Sequence[int], names: Sequence[int]
) -> dict[Gap, list[int]]:
    """Runs of unlinked siblings, keyed by the linked siblings around them (as orders in the new screen)."""
    gaps: dict[Gap, list[int]] = {}
    before, run = None, list[int]()
    for child in children:
        if linked[child.order] == -1:
            run.append(child.order)
        else:
            gaps[before, names[child.order]] = run
            before, run = names[child.order], []
    gaps[before, None] = run
    return gaps


def _link_runs(links: Links, gap: Gap, old: list[int], new: list[int]) -> None:
    """Runs of equal length and kinds are linked in order; otherwise only what is alone of its kind."""
    if len(old) == len(new) and all(map(links.alike, old, new)):
        for pair in zip(old, new, strict=True):
            links.link(*pair)
        return
    if old and links.old.unit[old[0]] == old[0]:
        _link_rows_beside_linked(links, gap, old, new)
    free_old = [order for order in old if links.to_new[order] == -1]
    free_new = [order for order in new if links.to_old[order] == -1]
    _link_unique(links, _class_id_and_label(links.old, free_old), _class_id_and_label(links.new, free_new))


def _class_id_and_label(
    features: ScreenFeatures, orders: Sequence[int]
) -> list[tuple[tuple[str, str, str], int]]:
    """Class and id; the label counts where there is no id."""
    nodes, label = features.nodes, features.label
    return [
        ((nodes[order].class_name, nodes[order].resource_id, nodes[order].resource_id or label[order]), order)
        for order in orders
    ]


def _link_rows_beside_linked(links: Links, gap: Gap, old: list[int], new: list[int]) -> None:
    """In a list, a row next to a linked row is the same one if it moved just as far.

    Walked from both ends; a row that both ends claim for different partners is linked to neither.
    """
    claims = {
        *_rows_that_moved_along(links, gap[0], old, new),
        *_rows_that_moved_along(links, gap[1], old[::-1], new[::-1]),
    }
    new_once = keys_that_occur_once([(n, o) for o, n in claims])
    for order, partner in keys_that_occur_once(claims).items():
        if partner in new_once:
            links.link(order, partner)


def _rows_that_moved_along(
    links: Links, anchor: int | None, old: list[int], new: list[int]
) -> list[tuple[int, int]]:
    if anchor is None:
        return []
    row_shift = displacement(links, links.to_old[anchor], anchor)
    claims = []
    for o, n in zip(old, new, strict=False):
        if links.old.key[o] != links.new.key[n] or not displacement(links, o, n).agrees(row_shift):
            break
        claims.append((o, n))
    return claims


Key = TypeVar("Key", bound=Hashable)


def link_unmistakable(links: Links) -> None:
    # Largest first: document order meets a subtree before its parts.
    new_once = keys_that_occur_once(_named_subtrees(links.new))
    for tree, order in keys_that_occur_once(_named_subtrees(links.old)).items():
        if links.to_new[order] == -1 and tree in new_once:
            links.link_subtrees(order, new_once[tree])
    _link_unique(links, _labelled_keys(links.old), _labelled_keys(links.new))
    _link_unique(links, _classes_and_ids(links.old), _classes_and_ids(links.new))
    _link_parents_of_linked(links)


def keys_that_occur_once(keyed: Collection[tuple[Key, int]]) -> dict[Key, int]:
    """Key to order, for the keys that occur exactly once."""
    counts = Counter(map(itemgetter(0), keyed))
    return {key: order for key, order in keyed if counts[key] == 1}


def _named_subtrees(features: ScreenFeatures) -> list[tuple[int, int]]:
    named = features.named
    return [(tree, order) for order, tree in enumerate(features.tree) if named[order]]


def _labelled_keys(features: ScreenFeatures) -> list[tuple[int, int]]:
    label = features.label
    return [(key, order) for order, key in enumerate(features.key) if label[order]]


def _classes_and_ids(features: ScreenFeatures) -> list[tuple[tuple[str, str], int]]:
    return [((node.class_name, node.resource_id), node.order) for node in features.nodes if node.resource_id]


def _link_unique(links: Links, old: Collection[tuple[Key, int]], new: Collection[tuple[Key, int]]) -> None:
    new_once = keys_that_occur_once(new)
    for key, order in keys_that_occur_once(old).items():
        if key in new_once:
            links.link(order, new_once[key])


def _link_parents_of_linked(links: Links) -> None:
    """Links parents whose children are linked, bottom-up, so that a chain of containers follows its
    content.
    """
    new_nodes, to_new = links.new.nodes, links.to_new
    free = [node for node in links.old.nodes if node.children and to_new[node.order] == -1]
    for node in reversed(free):
        votes: dict[int, int] = {}
        for child in node.children:
            partner = to_new[child.order]
            parent = None if partner == -1 else new_nodes[partner].parent
            if parent is not None:
                votes[parent.order] = votes.get(parent.order, 0) + 1
        if votes:
            best = max(votes, key=votes.__getitem__)
            if links.alike(node.order, best):
                links.link(node.order, best)


class LinkEvidence:
    """The evidence for the rules; costly parts are computed when a rule first asks."""

    def __init__(self, links: Links) -> None:
        self.links = links
        self.kept_labels = KeptLabels(links)
        self.row_shifts: dict[int, RowShift] = {}
        self._linked = list(links.to_new)

    @cached_property
    def record(self) -> RecordComparison:
        return RecordComparison(self.links, self._linked)

    def row_shift(self, scroller: int) -> RowShift:
        if scroller not in self.row_shifts:
            partner = self.links.to_new[scroller]
            self.row_shifts[scroller] = RowShift(self.links, self.kept_labels, scroller, partner)
        return self.row_shifts[scroller]

    @cached_property
    def keeps_words(self) -> bool:
        return self.kept_labels.kept_on_screen()

    @cached_property
    def keeps_words_around_lists(self) -> bool:
        return self.kept_labels.kept_all_outside_lists()

    @cached_property
    def has_scrolled(self) -> bool:
        links = self.links
        new_scrollers = set(links.new.holder.values())
        scrollers = [order for order in links.old.holder.values() if links.to_new[order] in new_scrollers]
        return self.kept_labels.kept_outside_lists() and any(
            self.row_shift(order).scrolled for order in scrollers
        )

    @cached_property
    def looks(self) -> tuple[frozenset[int], frozenset[int]]:
        """Subtree hashes of the old screen and of the new one."""
        old, new = self.links.old, self.links.new
        return frozenset(old.tree), frozenset(new.tree)

    @cached_property
    def _ids(self) -> tuple[Counter[str], Counter[str]]:
        old, new = self.links.old, self.links.new
        return Counter([node.resource_id for node in old.nodes]), Counter(
            [node.resource_id for node in new.nodes]
        )

    def has_own_id(self, order: int) -> bool:
        """True if the resource id of this old node is unique on both screens."""
        name = self.links.old.nodes[order].resource_id
        return bool(name) and all(ids[name] == 1 for ids in self._ids)


def link_native_ids(links: Links) -> bool:
    """Links nodes with the same native id; False where some nodes of the new screen have none."""
    new = {node.native_id: node.order for node in links.new.nodes if node.native_id}
    if not new:
        return False
    for node in links.old.nodes:
        partner = new.get(node.native_id, -1) if node.native_id else -1
        if partner != -1 and links.new.nodes[partner].role == node.role:
            links.link(node.order, partner)
    return len(new) == len(links.new.nodes)


def is_still_there(evidence: LinkEvidence, old: int, new: int) -> bool:
    """Whether two nodes with one native id show the same record; a recycled row shows another one.

    An element with unique words is recognised by them, which `survives` checks, unless it is in a list.
    Others are recognised by their surroundings, and without any by their position in the content.
    """
    links = evidence.links
    is_said = links.old.token[old] == NAME and links.old.label[old] == links.new.label[new]
    if is_said and links.old.unit[old] == -1:
        return not is_actionable(links.old.nodes[old]) or evidence.record.is_in_same_list(old)
    if scrolls(links.old.nodes[old]) and scrolls(links.new.nodes[new]):
        return True  # what it shows comes and goes
    if not is_actionable(links.old.nodes[old]):
        return _is_text_there(evidence, old, new)
    is_same = evidence.record.is_same_record(old, new)
    if is_same is not None:
        return is_same
    return is_said or not _has_rows(links.old, old) or _is_at_same_place_in_content(links, old, new)


def _is_text_there(evidence: LinkEvidence, old: int, new: int) -> bool:
    """Texts cannot be tapped, so a mistake here costs a wrong line in a diff, not a wrong tap."""
    links = evidence.links
    if links.old.first_name(old) != -1 and links.new.first_name(new) != -1:
        return evidence.kept_labels.kept_names_inside(old, new)  # a box with words is what they are about
    old_group, new_group = evidence.kept_labels.nearest_named_parts(old, new)
    if old_group > 0 and new_group > 0:
        is_said = evidence.kept_labels.kept_around(old, new) is not False
        return is_said and links.to_new[old_group] == new_group
    return not _has_rows(links.old, old) or _is_at_same_place_in_content(links, old, new)


def _has_rows(features: ScreenFeatures, order: int) -> bool:
    return features.scroller[order] != -1


def _is_at_same_place_in_content(links: Links, old: int, new: int) -> bool:
    return place_in_content(links.old.nodes[old]) == place_in_content(links.new.nodes[new])


def drop_unsupported_links(links: Links) -> dict[int, RowShift]:
    """Removes doubtful links; returns how rows moved, by the old scroll container's order.

    Ancestors are judged before descendants, so a link that was removed above counts below.
    """
    evidence = LinkEvidence(links)
    for order, partner in enumerate(links.to_new):
        if partner == -1:
            continue
        if not _is_in_place(evidence, order, partner) or not survives(evidence, order, partner):
            links.unlink(order)
    return {order: row_shift for order, row_shift in evidence.row_shifts.items() if links.to_new[order] != -1}


def _is_in_place(evidence: LinkEvidence, old: int, new: int) -> bool:
    """A native id is stronger evidence than a place; without one the labels around decide."""
    if evidence.links.old.nodes[old].native_id:
        return is_still_there(evidence, old, new)
    links = evidence.links
    for rule in OUTSIDE if -1 in (links.old.scroller[old], links.new.scroller[new]) else INSIDE:
        opinion = rule(evidence, old, new)
        if opinion is not None:
            return opinion
    return False


Rule = Callable[[LinkEvidence, int, int], bool | None]


def another_list(evidence: LinkEvidence, old: int, new: int) -> bool | None:
    """A network went from "Available" to "Saved" without moving: a row of another list is another row."""
    links = evidence.links
    is_same = links.to_new[links.old.scroller[old]] == links.new.scroller[new]
    return None if is_same else False


def frame_around_rows(evidence: LinkEvidence, old: int, new: int) -> bool | None:
    """The one frame of a scroll view that holds all its rows belongs to the scroll view."""
    links = evidence.links
    return True if links.old.unit[old] == links.new.unit[new] == -1 else None


def row_itself(evidence: LinkEvidence, old: int, new: int) -> bool | None:
    """Rows have rules of their own, because their views are recycled for other rows."""
    links = evidence.links
    if links.old.unit[old] != old or links.new.unit[new] != new:
        return None
    return is_same_row(links, evidence.kept_labels, evidence.row_shift(links.old.scroller[old]), old, new)


def another_row(evidence: LinkEvidence, old: int, new: int) -> bool | None:
    """The "Delete" of the next row stands where that of the removed row stood."""
    links = evidence.links
    old_row, new_row = links.old.unit[old], links.new.unit[new]
    if -1 in (old_row, new_row) or links.to_new[old_row] != new_row:
        return False
    return None


def part_of_a_page(evidence: LinkEvidence, old: int, new: int) -> bool | None:
    """A pager's page is one row. A card in it counts as the same only if most of its labels stayed."""
    links, kept_labels = evidence.links, evidence.kept_labels
    rows = links.old.unit[old], links.new.unit[new]
    if evidence.has_own_id(old) and kept_labels.smaller_part_kept_all(*rows):
        return True  # an error came below a field, or went
    return kept_labels.kept_within_row(old, new, *rows)


INSIDE: tuple[Rule, ...] = (another_list, frame_around_rows, row_itself, another_row, part_of_a_page)


def unchanged_window(evidence: LinkEvidence, old: int, new: int) -> bool | None:
    """A dialog came up or went; the page behind it looks as before, in the same place."""
    before, after = evidence.links.old, evidence.links.new
    old_window, new_window = before.window(old), after.window(new)
    is_same = (
        before.tree[old_window] == after.tree[new_window]
        and before.nodes[old_window].bounds == after.nodes[new_window].bounds
    )
    return True if is_same else None


def refilled_list(evidence: LinkEvidence, old: int, new: int) -> bool | None:
    """False for a list view that shows another folder now: no old row is left, and the title differs."""
    before, after, kept_labels = evidence.links.old, evidence.links.new, evidence.kept_labels
    if not (scrolls(before.nodes[old]) and scrolls(after.nodes[new])) or before.label[old]:
        return None
    if not (before.named[old] and after.named[new]):
        return None
    if (
        kept_labels.title_stays(before.fixed_place[old], after.fixed_place[new])
        or evidence.row_shift(old).sure
    ):
        return None
    return False


def renamed_elsewhere(evidence: LinkEvidence, old: int, new: int) -> bool | None:
    """The "Skip" below went and a "Help" came above: a button with other words at another place is new."""
    if not evidence.kept_labels.renamed(old, new):
        return None
    old_bounds, new_bounds = evidence.links.old.nodes[old].bounds, evidence.links.new.nodes[new].bounds
    # Its size may follow its words, to the left or to the right.
    across = min(abs(new_bounds.left - old_bounds.left), abs(new_bounds.right - old_bounds.right))
    down = min(abs(new_bounds.top - old_bounds.top), abs(new_bounds.bottom - old_bounds.bottom))
    return None if max(across, down) <= JITTER_PX else False


def same_surroundings(evidence: LinkEvidence, old: int, new: int) -> bool | None:
    """The "OK" of another dialog: what is around it decides, where enough is written there."""
    return evidence.kept_labels.is_same_place(old, new)


def wordless_screen(evidence: LinkEvidence, _old: int, _new: int) -> bool | None:
    """A drawing app has nothing but icons: only the structure can tell, and that was matched."""
    return True if evidence.kept_labels.has_no_words() else None


def same_words_on_screen(evidence: LinkEvidence, _old: int, _new: int) -> bool | None:
    """The arrow beside "three unread", which says "four" now: most of what the screen says stayed."""
    return True if evidence.keeps_words else None


def list_under_title(evidence: LinkEvidence, _old: int, _new: int) -> bool | None:
    """A list was scrolled to quite other rows; its title and all else around it stayed."""
    return True if evidence.keeps_words_around_lists else None


def scrolled_list(evidence: LinkEvidence, _old: int, _new: int) -> bool | None:
    """A node outside lists that nothing around it identifies, such as a button over a feed that scrolled."""
    return True if evidence.has_scrolled else None


OUTSIDE: tuple[Rule, ...] = (
    unchanged_window, refilled_list, renamed_elsewhere, same_surroundings, wordless_screen,
    same_words_on_screen, list_under_title, scrolled_list,
)  # fmt: skip

_VALUED = frozenset({"slider", "spinner", "progress_bar"})  # what they say is what they are set to
_CAPTIONED = frozenset({"text_field", "check_box", "switch", "radio_button", "slider", "spinner"})
_GROWN = 3  # times its area, and then at least a quarter of the screen: no row grows so


def survives(evidence: LinkEvidence, old: int, new: int) -> bool:
    """Judges two nodes whose places match. Nodes that cannot be acted on always survive."""
    before, after = evidence.links.old, evidence.links.new
    a, b = before.nodes[old], after.nodes[new]
    if (a.package_name != b.package_name or not a.package_name) and _package_of(before, old) != _package_of(
        after, new
    ):
        return False
    if not (a.flags | b.flags) & ACTIONABLE and a.role not in MAY_ACT:
        return True
    is_named = before.named[old] and before.token[old] != REPEATED
    is_unchanged = before.tree[old] == after.tree[new] and a.bounds == b.bounds and a.flags == b.flags
    if is_unchanged and is_named:
        return True  # as most are; saves time
    claim = ProposedLink(evidence, old, new)
    if is_unchanged and not before.named[old]:
        return part_of_another(claim) is None and another_caption(claim) is None
    for rule in RULES:
        opinion = rule(claim)
        if opinion is not None:
            return opinion
    return False


def _package_of(features: ScreenFeatures, order: int) -> str:
    return features.nodes[order].package_name or features.screen.package


class ProposedLink:
    """The claim that two nodes are one element, with its evidence."""

    def __init__(self, evidence: LinkEvidence, old: int, new: int) -> None:
        self.evidence = evidence
        self.links = evidence.links
        self.old, self.new = old, new
        self.before, self.after = self.links.old.nodes[old], self.links.new.nodes[new]

    @cached_property
    def labels(self) -> tuple[list[str], list[str]]:
        return _labels_inside(self.links.old, self.old), _labels_inside(self.links.new, self.new)

    @cached_property
    def skeletons(self) -> tuple[list[str], list[str]]:
        old, new = ([bare for label in labels if (bare := lasting_words(label))] for labels in self.labels)
        return old, new

    @property
    def own(self) -> tuple[str, str]:
        return lasting_words(self.links.old.label[self.old]), lasting_words(self.links.new.label[self.new])

    @property
    def contradicts(self) -> bool:
        """Both nodes have a label of their own, and they differ."""
        old, new = self.own
        return bool(old and new) and old != new

    @property
    def is_put(self) -> bool:
        """It has the same position and size."""
        return all(
            abs(a - b) <= JITTER_PX for a, b in zip(self.before.bounds, self.after.bounds, strict=True)
        )

    @property
    def in_place(self) -> bool:
        """One corner is where it was: on the screen, in its parent, or in a list that moved."""
        a, b = self.before.bounds, self.after.bounds
        if _same_corner(a, b):
            return True
        holder, new_holder = self.before.parent, self.after.parent
        if holder and new_holder and self.links.to_new[holder.order] == new_holder.order:
            dx = new_holder.bounds.left - holder.bounds.left
            dy = new_holder.bounds.top - holder.bounds.top
            if _same_corner(Bounds(a.left + dx, a.top + dy, a.right + dx, a.bottom + dy), b):
                return True
        return self.moved_with_its_list

    @property
    def moved_with_its_list(self) -> bool:
        features = self.links.old
        if features.unit[self.old] != self.old or features.scroller[self.old] not in self.evidence.row_shifts:
            return False
        row_shift = self.evidence.row_shift(features.scroller[self.old])
        return row_shift.agrees(self.old, displacement(self.links, self.old, self.new))


def _labels_inside(features: ScreenFeatures, order: int) -> list[str]:
    return [label for label in features.label[order : features.nodes[order].end] if label]


def _same_corner(a: Bounds, b: Bounds) -> bool:
    """An element may grow with its words, so one unchanged corner is enough."""
    across = min(abs(a.left - b.left), abs(a.right - b.right))
    down = min(abs(a.top - b.top), abs(a.bottom - b.bottom))
    return max(across, down) <= JITTER_PX


def no_use_any_more(link: ProposedLink) -> bool | None:
    """A row's words are the title of the page it opened: the title takes no taps. A chosen tab stays put."""
    return None if is_actionable(link.before) == is_actionable(link.after) or link.is_put else False


def many_times_its_size(link: ProposedLink) -> bool | None:
    """A row that fills the screen all at once is the page that it opened."""
    if scrolls(link.before) or link.before.role == "text_field":
        return None
    area, screen = link.after.bounds.area, link.links.new.screen
    is_grown = area > _GROWN * link.before.bounds.area > 0 and 4 * area > screen.width * screen.height
    return False if is_grown else None


def scroll_container(link: ProposedLink) -> bool | None:
    """Its content comes and goes; its surroundings have identified it already."""
    ways = scrolls(link.before), scrolls(link.after)
    is_one = any(ways) and (all(ways) or link.is_put) and not link.before.flags & CHECKABLE
    return not link.contradicts if is_one else None


def part_of_another(link: ProposedLink) -> bool | None:
    """The box beside "Red": nameless itself, it belongs to a row that says "Blue" now."""
    features = link.links.old
    if features.named[link.old] and features.token[link.old] != REPEATED:
        return None
    around, now = _actionable_around(link.before), _actionable_around(link.after)
    if around is None and now is None:
        return None
    if around is None or now is None or link.links.to_new[around.order] != now.order:
        return False
    return None


def another_caption(link: ProposedLink) -> bool | None:
    """The one field of a form asks for a name, and then for a number: the words before it are its name."""
    if link.before.role not in _CAPTIONED or any(link.labels):
        return None
    old, new = _caption_beside(link.links.old, link.before), _caption_beside(link.links.new, link.after)
    return False if old and new and old != new else None


def _caption_beside(features: ScreenFeatures, node: Node) -> str:
    """What is written before a control, else behind it, in the box that holds both."""
    parent = node.parent
    while parent is not None and len(parent.children) == 1 and not is_actionable(parent):
        node, parent = parent, parent.parent
    if parent is None or is_actionable(parent):
        return ""
    at = node.position
    for sibling in parent.children[max(0, at - 1) : at] + parent.children[at + 1 : at + 2]:
        if not is_actionable(sibling) and (caption := lasting_words(features.label[sibling.order])):
            return caption
    return ""


def field_typed_into(link: ProposedLink) -> bool | None:
    """A field shows its hint, or hides it, as it is typed into; what else is written in it names it."""
    if link.before.role != "text_field":
        return None
    old, new = map(set, link.skeletons)
    return not link.contradicts and not (old and new and old.isdisjoint(new))


def _actionable_around(node: Node) -> Node | None:
    """The nearest row or card around it that is an element, too."""
    for around in node.ancestors():
        if scrolls(around):
            return None
        if is_actionable(around):
            return around
    return None


def look_alike_elsewhere(link: ProposedLink) -> bool | None:
    """One of many that say "Delete" belongs to what stands around it; that must still be the same."""
    features = link.links.old
    if features.token[link.old] != REPEATED or features.unit[link.old] != -1 or link.before.native_id:
        return None  # in a row, or known by name: it was asked before
    return link.evidence.kept_labels.kept_around(link.old, link.new)


def same_words(link: ProposedLink) -> bool | None:
    """All labels are the same, in the same number of pieces."""
    if not link.links.old.named[link.old]:
        return None
    if link.links.old.tree[link.old] == link.links.new.tree[link.new]:
        return True
    old, new = link.labels
    return True if Counter(old) == Counter(new) else None


def better_match_elsewhere(link: ProposedLink) -> bool | None:
    """ "Inbox 3" is still there and the other one says "Inbox 4": what looks as before is the element."""
    trees = link.links.old.tree[link.old], link.links.new.tree[link.new]
    if trees[0] == trees[1]:
        return None
    old_looks, new_looks = link.evidence.looks
    explained = (link.labels[0] and trees[0] in new_looks) or (link.labels[1] and trees[1] in old_looks)
    return False if explained else None


def half_hidden(link: ProposedLink) -> bool | None:
    """The edge of a list cuts words off a row; what is left was there before, and it moved with the list."""
    features = link.links.old
    if (
        features.unit[link.old] != link.old
        or link.old not in link.evidence.row_shift(features.scroller[link.old]).cut
    ):
        return None
    old, new = (Counter(words) for words in link.skeletons)
    a, b = link.before.bounds.area, link.after.bounds.area
    lost_none = (new <= old and b < a) or (old <= new and a < b)
    return True if lost_none and link.moved_with_its_list else None


def same_if_text_is_state(link: ProposedLink) -> bool | None:
    """A switch that says "开启" where it said "关闭", a spinner that shows what was chosen."""
    is_flipped = link.before.role == "switch" and bool((link.before.flags ^ link.after.flags) & CHECKED)
    if not (is_flipped or link.before.role in _VALUED):
        return None
    return True if link.in_place and not link.before.children else None


def changed_itself(link: ProposedLink) -> bool | None:
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


def changed_counter(link: ProposedLink) -> bool | None:
    """It says nothing but a number or a state, and has an id that no other has."""
    if not any(link.labels) or any(link.skeletons):
        return None
    return link.in_place and link.evidence.has_own_id(link.old)


def text_came_while_loading(link: ProposedLink) -> bool | None:
    """True for an element with its own id that stays in its place and got its text while the page loaded."""
    old, new = (_is_silent(node) for node in (link.before, link.after))
    if old == new:
        return None
    return link.is_put and link.evidence.has_own_id(link.old)


def _is_silent(node: Node) -> bool:
    """True where nothing is written inside a node, not even a clock."""
    return not (node.text or node.description) and all(map(_is_silent, node.children))


def nameless_icon(link: ProposedLink) -> bool | None:
    """An icon is known by its id, else by standing where it stood, as large as it was."""
    if any(link.labels):
        return None
    a, b = link.before.bounds, link.after.bounds
    is_as_large = abs(a.width - b.width) <= JITTER_PX or abs(a.height - b.height) <= JITTER_PX
    return is_as_large or link.evidence.has_own_id(link.old) or _is_alone_in_its_row(link.before)


def _is_alone_in_its_row(node: Node) -> bool:
    """The only heart of a card; the card itself was judged before."""
    row = _actionable_around(node)
    if row is None or not node.resource_id:
        return False
    stack, same_id = [row], 0
    while stack:
        part = stack.pop()
        same_id += part.resource_id == node.resource_id
        stack.extend(part.children)
    return same_id == 1


RULES: tuple[Callable[[ProposedLink], bool | None], ...] = (
    no_use_any_more, many_times_its_size, scroll_container, part_of_another, another_caption,
    field_typed_into, look_alike_elsewhere, same_words, better_match_elsewhere, half_hidden,
    same_if_text_is_state,
    changed_itself, changed_counter, text_came_while_loading, nameless_icon,
)  # fmt: skip

"""Whether two linked rows of a list are the same row: its words tell, or the certain rows around it.

A rule says True, False, or None where the row is no case of its own. The first opinion counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from handrail.tree.match.drift import Displacement, Drift, displacement
from handrail.tree.match.sketch import Pairing, scrolls
from handrail.tree.match.survival import Survival

# What changes its words in place ("Follow" becomes "Following"); a text or a row that does is another one.
_RELABELLED = frozenset({"button", "image_button", "check_box", "switch", "radio_button", "spinner", "tab"})


class Row(NamedTuple):
    """Two rows that are linked, and what is known of them."""

    pairing: Pairing
    survival: Survival
    drift: Drift
    old: int
    new: int
    moved: Displacement
    kept: int  # names that stayed, of those that no other row has
    names: int

    @property
    def is_cut(self) -> bool:
        """The edge of the list hides a part of it, or did."""
        return self.old in self.drift.cut

    @property
    def moved_with_the_others(self) -> bool:
        return self.drift.agrees(self.old, self.moved)

    @property
    def lost_no_word(self) -> bool:
        """All that the shorter of the two says is in the other one, too."""
        return self.survival.of_part(self.old, self.new)


def is_same_row(pairing: Pairing, survival: Survival, drift: Drift, old: int, new: int) -> bool:
    """The first opinion of a rule; a row that is nobody's case is another one."""
    moved = displacement(pairing, old, new)
    row = Row(pairing, survival, drift, old, new, moved, *survival.of_row(old, new))
    for rule in ROWS:
        opinion = rule(row)
        if opinion is not None:
            return opinion
    return False


def certain(row: Row) -> bool | None:
    """A letter that looks as before, and like no other letter, is the same wherever it stands now."""
    return True if row.old in row.drift.sure else None


def inner_list(row: Row) -> bool | None:
    """A shelf of covers in a shop has no words of its own; most of its covers are still there."""
    is_shelf = row.names == 0 and scrolls(row.pairing.old.nodes[row.old])
    return True if is_shelf and row.survival.of_content(row.old, row.new) else None


def leftover(row: Row) -> bool | None:
    """Only the "Yesterday" of a row is left at the edge: another row's "Yesterday" may be there now."""
    if row.is_cut and not row.kept and row.pairing.old.named[row.old]:
        return row.drift.unchanged and row.moved_with_the_others
    return None


def look_alike(row: Row) -> bool | None:
    """Two rows say "Folder" and nothing else: only their places between other rows tell which is which."""
    pairing = row.pairing
    if row.names and pairing.old.tree[row.old] != pairing.new.tree[row.new]:
        return None
    return row.lost_no_word and (row.moved_with_the_others or _stands_between_certain(row))


def half_hidden(row: Row) -> bool | None:
    """The title of a letter slid under the edge; the note that is left moved as the other rows did."""
    if row.is_cut and row.drift.sure and row.lost_no_word:
        return row.moved_with_the_others
    return None


def renamed(row: Row) -> bool | None:
    """ "Follow" became "Following" between two rows that did not change. All moved as one."""
    if row.kept:
        return None
    return _may_change_words(row) and row.drift.encloses(row.old, row.moved)


def same_title(row: Row) -> bool | None:
    """A letter is no longer "unread". Its title stays, and it moved as the others or says most as before."""
    most = 2 * row.kept > row.names
    return _first_name_stays(row) and (row.moved_with_the_others or most)


ROWS: tuple[Callable[[Row], bool | None], ...] = (
    certain, inner_list, leftover, look_alike, half_hidden, renamed, same_title,
)  # fmt: skip


def _stands_between_certain(row: Row) -> bool:
    """Both direct neighbours are certain: nothing came or left here, however far things moved."""
    node, partner = row.pairing.old.nodes[row.old], row.pairing.new.nodes[row.new]
    if node.parent is None or partner.parent is None:
        return False
    mine, theirs = node.parent.children, partner.parent.children
    for step in (-1, 1):
        i, j = node.position + step, partner.position + step
        if not (0 <= i < len(mine) and 0 <= j < len(theirs)):
            return False
        if mine[i].order not in row.drift.sure or row.pairing.to_new[mine[i].order] != theirs[j].order:
            return False
    return True


def _may_change_words(row: Row) -> bool:
    """Not in a recycling list, where another row with other words is the likelier story."""
    sketch = row.pairing.old
    node, scroller = sketch.nodes[row.old], sketch.nodes[sketch.scroller[row.old]]
    return node.role in _RELABELLED or (bool(node.resource_id) and scroller.role != "list")


def _first_name_stays(row: Row) -> bool:
    """A row is called by its first name; what follows is often its state."""
    first = row.pairing.old.first_name(row.old)
    return (
        first != -1
        and row.survival.kept[first]
        and row.pairing.to_new[first] == row.pairing.new.first_name(row.new)
    )

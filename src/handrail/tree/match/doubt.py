"""Takes back the links that the labels around do not support: no link is better than a wrong one.

A place whose labels were mostly replaced is another place, even if the same "OK" stands in it; a row of a
list is the same row only if its labels say so or it moved exactly with certain neighbours.
"""

from __future__ import annotations

from handrail.tree.match.drift import JITTER_PX, Drift, displacement
from handrail.tree.match.sketch import Pairing, scrolls
from handrail.tree.match.survival import Survival
from handrail.tree.node import CHECKABLE, Bounds

# What changes its words in place ("Follow" becomes "Following"); a text or a row that does is another one.
_RELABELLED = frozenset({"button", "image_button", "check_box", "switch", "radio_button", "spinner", "tab"})


def doubt(pairing: Pairing) -> dict[int, Drift]:
    """Unlinks what is doubtful; returns how the rows moved, by the old scroll container's order."""
    judge = _Judge(pairing)
    for order, partner in enumerate(pairing.to_new):
        if partner >= 0 and not judge.believes(order, partner):
            pairing.unlink(order)
    return {order: drift for order, drift in judge.drifts.items() if pairing.to_new[order] >= 0}


class _Judge:
    def __init__(self, pairing: Pairing) -> None:
        self.pairing = pairing
        self.survival = Survival(pairing)
        self.drifts: dict[int, Drift] = {}
        self._known: bool | None = None

    def believes(self, old: int, new: int) -> bool:
        """Ancestors are judged before descendants, so a link above that was taken back counts here."""
        old_scroller, new_scroller = self.pairing.old.scroller[old], self.pairing.new.scroller[new]
        if old_scroller < 0 or new_scroller < 0:
            return self._believes_fixed(old, new)
        if self.pairing.to_new[old_scroller] != new_scroller:
            return False
        old_row, new_row = self.pairing.old.unit[old], self.pairing.new.unit[new]
        if old_row < 0 and new_row < 0:
            return True  # a wrapper between the container and its rows
        if old == old_row and new == new_row:
            return self._believes_row(old, new)
        if old_row < 0 or self.pairing.to_new[old_row] != new_row:
            return False
        return self.survival.within(old, new, old_row, new_row)

    def _believes_fixed(self, old: int, new: int) -> bool:
        """Outside scroll containers, on one of the screens at least."""
        if self._in_same_window(old, new):
            return True
        if self._is_refilled(old, new):
            return False
        if self.survival.renamed(old, new) and not self._keeps_place(old, new):
            return False
        known = self.survival.around(old, new)
        return self._screen_is_known() if known is None else known

    def _in_same_window(self, old: int, new: int) -> bool:
        """The window looks as before, in the same place; another one came or left."""
        one, other = self.pairing.old.window(old), self.pairing.new.window(new)
        return self.pairing.old.tree[one] == self.pairing.new.tree[other] and (
            self.pairing.old.nodes[one].bounds == self.pairing.new.nodes[other].bounds
        )

    def _keeps_place(self, old: int, new: int) -> bool:
        """Stands where it stood or moved as what is around or beside it; its size may follow its words."""
        a, b = self.pairing.old.nodes[old], self.pairing.new.nodes[new]
        if _aligned(a.bounds, b.bounds, 0, 0) or a.parent is None:
            return True
        around = [a.parent, *a.parent.children[max(0, a.position - 1) : a.position + 2]]
        for one in around:
            partner = self.pairing.to_new[one.order]
            if one is not a and partner >= 0:
                before, after = one.bounds, self.pairing.new.nodes[partner].bounds
                if _aligned(a.bounds, b.bounds, after.left - before.left, after.top - before.top):
                    return True
        return False

    def _is_refilled(self, old: int, new: int) -> bool:
        """A scroll container without one row that was there before, under another title, is another one."""
        if not (scrolls(self.pairing.old.nodes[old]) and scrolls(self.pairing.new.nodes[new])):
            return False
        if self.pairing.old.label[old] or self.pairing.old.tree[old] == self.pairing.new.tree[new]:
            return False
        named = self.pairing.old.named[old] and self.pairing.new.named[new]
        places = self.pairing.old.fixed_place[old], self.pairing.new.fixed_place[new]
        return bool(named) and not self.survival.title_stays(*places) and not self._drift(old).sure

    def _screen_is_known(self) -> bool:
        """For screens with few labels outside their scroll containers: judged once, as a whole."""
        if self._known is None:
            survival = self.survival
            self._known = (
                survival.of_screen()
                or survival.of_every_fixed()
                or (survival.of_fixed() and self._scrolled())
            )
        return self._known

    def _scrolled(self) -> bool:
        theirs = set(self.pairing.new.holder.values())
        mine = [order for order in self.pairing.old.holder.values() if self.pairing.to_new[order] in theirs]
        return any(self._drift(order).scrolled for order in mine)

    def _drift(self, scroller: int) -> Drift:
        if scroller not in self.drifts:
            partner = self.pairing.to_new[scroller]
            self.drifts[scroller] = Drift(self.pairing, self.survival, scroller, partner)
        return self.drifts[scroller]

    def _believes_row(self, old: int, new: int) -> bool:
        drift = self._drift(self.pairing.old.scroller[old])
        if old in drift.sure:
            return True
        moved = displacement(self.pairing, old, new)
        kept, names = self.survival.of_row(old, new)
        if names == 0 and scrolls(self.pairing.old.nodes[old]) and self.survival.of_content(old, new):
            return True
        if old in drift.cut and not kept and self.pairing.old.named[old]:
            # What an edge left of it only says what other rows say too: another may stand there now.
            return drift.unchanged and drift.agrees(old, moved)
        if self.pairing.old.tree[old] == self.pairing.new.tree[new] or names == 0:
            same = drift.agrees(old, moved) or self._stands_between_sure(old, new, drift)
            return same and self.survival.of_part(old, new)
        if old in drift.cut and drift.sure and self.survival.of_part(old, new):
            return drift.agrees(old, moved)
        if kept == 0:
            return self._may_change_words(old) and (
                drift.encloses(old, moved) or self._stands_between_sure(old, new, drift)
            )
        return self._first_name_stays(old, new) and (
            drift.agrees(old, moved) or (not drift.sure and 2 * kept > names)
        )

    def _may_change_words(self, old: int) -> bool:
        """Not in a recycling list, where another row with other words is the likelier story."""
        node = self.pairing.old.nodes[old]
        if node.role in _RELABELLED or node.flags & CHECKABLE:
            return True
        scroller = self.pairing.old.nodes[self.pairing.old.scroller[old]]
        return bool(node.resource_id) and scroller.role != "list"

    def _stands_between_sure(self, old: int, new: int, drift: Drift) -> bool:
        """Both direct neighbours are certain: nothing came or left here, however far things moved."""
        node, partner = self.pairing.old.nodes[old], self.pairing.new.nodes[new]
        if node.parent is None or partner.parent is None:
            return False
        mine, theirs = node.parent.children, partner.parent.children
        for step in (-1, 1):
            i, j = node.position + step, partner.position + step
            if not (0 <= i < len(mine) and 0 <= j < len(theirs)):
                return False
            if mine[i].order not in drift.sure or self.pairing.to_new[mine[i].order] != theirs[j].order:
                return False
        return True

    def _first_name_stays(self, old: int, new: int) -> bool:
        """A row is called by its first name; what follows is often its state."""
        first = self.pairing.old.first_name(old)
        return (
            first >= 0
            and self.survival.kept[first]
            and (self.pairing.to_new[first] == self.pairing.new.first_name(new))
        )


def _aligned(old: Bounds, new: Bounds, dx: int, dy: int) -> bool:
    """One edge of each pair moved by just that much."""
    across = min(abs(new.left - old.left - dx), abs(new.right - old.right - dx))
    down = min(abs(new.top - old.top - dy), abs(new.bottom - old.bottom - dy))
    return across <= JITTER_PX and down <= JITTER_PX

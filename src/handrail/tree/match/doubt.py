"""Takes back the links that the labels around do not support: no link is better than a wrong one.

A place whose labels were mostly replaced is another place, even if the same "OK" stands in it; a row of a
list is the same row only if its labels say so or it moved exactly with certain neighbours.
A rule says True, False, or None where a link is no case of its own. The first opinion counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from handrail.tree.match.drift import JITTER_PX, Drift
from handrail.tree.match.evidence import LinkEvidence
from handrail.tree.match.native import is_still_there
from handrail.tree.match.rows import is_same_row
from handrail.tree.match.sketch import Pairing, scrolls
from handrail.tree.match.verdict import survives


def doubt(pairing: Pairing) -> dict[int, Drift]:
    """Unlinks what is doubtful; returns how the rows moved, by the old scroll container's order.

    Ancestors are judged before descendants, so a link above that was taken back counts below.
    """
    evidence = LinkEvidence(pairing)
    for order, partner in enumerate(pairing.to_new):
        if partner == -1:
            continue
        if not _is_in_place(evidence, order, partner) or not survives(evidence, order, partner):
            pairing.unlink(order)
    return {order: drift for order, drift in evidence.drifts.items() if pairing.to_new[order] != -1}


def _is_in_place(evidence: LinkEvidence, old: int, new: int) -> bool:
    """A name of the surface's own says more than any place; without one the labels around decide."""
    if evidence.pairing.old.nodes[old].native_id:
        return is_still_there(evidence, old, new)
    return _is_believed(evidence, old, new)


Rule = Callable[[LinkEvidence, int, int], bool | None]


def _is_believed(evidence: LinkEvidence, old: int, new: int) -> bool:
    for rule in _rules_for(evidence.pairing, old, new):
        opinion = rule(evidence, old, new)
        if opinion is not None:
            return opinion
    return False


def _rules_for(pairing: Pairing, old: int, new: int) -> Sequence[Rule]:
    if -1 in (pairing.old.scroller[old], pairing.new.scroller[new]):
        return OUTSIDE
    return INSIDE


def another_list(evidence: LinkEvidence, old: int, new: int) -> bool | None:
    """A network went from "Available" to "Saved" without moving: a row of another list is another row."""
    pairing = evidence.pairing
    is_same = pairing.to_new[pairing.old.scroller[old]] == pairing.new.scroller[new]
    return None if is_same else False


def around_rows(evidence: LinkEvidence, old: int, new: int) -> bool | None:
    """The one frame of a scroll view that holds all its rows belongs to the scroll view."""
    pairing = evidence.pairing
    return True if pairing.old.unit[old] == pairing.new.unit[new] == -1 else None


def row_itself(evidence: LinkEvidence, old: int, new: int) -> bool | None:
    """Rows have rules of their own, for their views are used again for other rows."""
    pairing = evidence.pairing
    if pairing.old.unit[old] != old or pairing.new.unit[new] != new:
        return None
    return is_same_row(pairing, evidence.survival, evidence.drift(pairing.old.scroller[old]), old, new)


def another_row(evidence: LinkEvidence, old: int, new: int) -> bool | None:
    """The "Delete" of the next row stands where that of the removed row stood."""
    pairing = evidence.pairing
    old_row, new_row = pairing.old.unit[old], pairing.new.unit[new]
    if -1 in (old_row, new_row) or pairing.to_new[old_row] != new_row:
        return False
    return None


def part_of_a_page(evidence: LinkEvidence, old: int, new: int) -> bool | None:
    """A pager's page is one row. A card in it counts as the same only if most of its labels stayed."""
    pairing = evidence.pairing
    return evidence.survival.within(old, new, pairing.old.unit[old], pairing.new.unit[new])


INSIDE: tuple[Rule, ...] = (another_list, around_rows, row_itself, another_row, part_of_a_page)


def unchanged_window(evidence: LinkEvidence, old: int, new: int) -> bool | None:
    """A dialog came up or went; the page behind it looks as before, in the same place."""
    before, after = evidence.pairing.old, evidence.pairing.new
    one, other = before.window(old), after.window(new)
    is_same = before.tree[one] == after.tree[other] and before.nodes[one].bounds == after.nodes[other].bounds
    return True if is_same else None


def refilled_list(evidence: LinkEvidence, old: int, new: int) -> bool | None:
    """The next folder is shown by the same view: no row of the last one is left, and the title is another."""
    before, after, survival = evidence.pairing.old, evidence.pairing.new, evidence.survival
    if not (scrolls(before.nodes[old]) and scrolls(after.nodes[new])) or before.label[old]:
        return None
    if not (before.named[old] and after.named[new]):
        return None
    if survival.title_stays(before.fixed_place[old], after.fixed_place[new]) or evidence.drift(old).sure:
        return None
    return False


def renamed_elsewhere(evidence: LinkEvidence, old: int, new: int) -> bool | None:
    """The "Skip" below went and a "Help" came above: a button with other words at another place is new."""
    if not evidence.survival.renamed(old, new):
        return None
    one, other = evidence.pairing.old.nodes[old].bounds, evidence.pairing.new.nodes[new].bounds
    # Its size may follow its words, to the left or to the right.
    across = min(abs(other.left - one.left), abs(other.right - one.right))
    down = min(abs(other.top - one.top), abs(other.bottom - one.bottom))
    return None if max(across, down) <= JITTER_PX else False


def known_place(evidence: LinkEvidence, old: int, new: int) -> bool | None:
    """The "OK" of another dialog: what is around it decides, where enough is written there."""
    return evidence.survival.around(old, new)


def wordless_screen(evidence: LinkEvidence, _old: int, _new: int) -> bool | None:
    """A drawing app has nothing but icons: only the structure can tell, and that was matched."""
    return True if evidence.survival.has_no_words() else None


def known_screen(evidence: LinkEvidence, _old: int, _new: int) -> bool | None:
    """The arrow beside "three unread", which says "four" now: most of what the screen says stayed."""
    return True if evidence.keeps_words else None


def list_under_title(evidence: LinkEvidence, _old: int, _new: int) -> bool | None:
    """A list was scrolled to quite other rows; its title and all else around it stayed."""
    return True if evidence.keeps_words_around_lists else None


def scrolled_list(evidence: LinkEvidence, _old: int, _new: int) -> bool | None:
    """The pencil above a feed around which nothing is written: its last rows are its first ones now."""
    return True if evidence.has_scrolled else None


OUTSIDE: tuple[Rule, ...] = (
    unchanged_window, refilled_list, renamed_elsewhere, known_place, wordless_screen, known_screen,
    list_under_title, scrolled_list,
)  # fmt: skip

"""Elements that the surface itself calls by name: another name is another element.

The same name is not always the same thing: a list that is drawn anew uses its elements for other rows. So a
name only proposes. What the element says, and what is written around it, must still be the same.
"""

from __future__ import annotations

from handrail.tree.match.drift import JITTER_PX
from handrail.tree.match.evidence import LinkEvidence
from handrail.tree.match.sketch import NAME, Pairing, Sketch, scrolls
from handrail.tree.match.verdict import acts


def link_named(pairing: Pairing) -> bool:
    """Links all nodes that have one name on both screens; False where the screens have no names."""
    new = {node.native_id: node.order for node in pairing.new.nodes if node.native_id}
    if not new:
        return False
    for node in pairing.old.nodes:
        partner = new.get(node.native_id, -1) if node.native_id else -1
        if partner != -1 and pairing.new.nodes[partner].role == node.role:
            pairing.link(node.order, partner)
    return True


def is_still_there(evidence: LinkEvidence, old: int, new: int) -> bool:
    """Whether two nodes of one name are in the same record: a row that is used again says something else.

    What no other element says is known by its own words, which `survives` asks for. The rest is known by the
    nearest part around it that has words of its own; where there is none, by its place in the whole content.
    """
    pairing = evidence.pairing
    if pairing.old.token[old] == NAME and pairing.old.label[old] == pairing.new.label[new]:
        return True
    if scrolls(pairing.old.nodes[old]) and scrolls(pairing.new.nodes[new]):
        return True  # what it shows comes and goes
    if _is_frame(pairing, old, new):
        return evidence.survival.of_names(old, new)
    one, other = evidence.survival.groups(old, new)
    if one > 0 and other > 0:
        is_said = evidence.survival.of_group(old, new) is not False
        return is_said and pairing.to_new[one] == other
    return not _has_rows(pairing.old, old) or _place(pairing.old, old) == _place(pairing.new, new)


def _is_frame(pairing: Pairing, old: int, new: int) -> bool:
    """A box that nobody can act on, with words of its own: it is what they are about."""
    has_words = pairing.old.first_name(old) != -1 and pairing.new.first_name(new) != -1
    return has_words and not acts(pairing.old.nodes[old])


def _has_rows(sketch: Sketch, order: int) -> bool:
    return sketch.scroller[order] != -1


def _place(sketch: Sketch, order: int) -> tuple[int, int]:
    """Where it is in the content of everything that scrolls around it, in steps of the usual jitter."""
    node = sketch.nodes[order]
    x, y = node.bounds.left, node.bounds.top
    for around in node.ancestors():
        if around.scrolled is not None:
            x, y = x + around.scrolled.x, y + around.scrolled.y
    return x // (2 * JITTER_PX), y // (2 * JITTER_PX)

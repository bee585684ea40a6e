"""Elements that the surface itself calls by name: another name is another element.

The same name is not always the same thing: a list that is drawn anew uses its elements for other rows. So a
name only proposes. What the element says, and what is written around it, must still be the same.
"""

from __future__ import annotations

from handrail.tree.match.evidence import LinkEvidence
from handrail.tree.match.record import place
from handrail.tree.match.sketch import NAME, Pairing, Sketch, acts, scrolls


def link_named(pairing: Pairing) -> bool:
    """Links all nodes that have one name on both screens; False where some nodes have no name."""
    new = {node.native_id: node.order for node in pairing.new.nodes if node.native_id}
    if not new:
        return False
    for node in pairing.old.nodes:
        partner = new.get(node.native_id, -1) if node.native_id else -1
        if partner != -1 and pairing.new.nodes[partner].role == node.role:
            pairing.link(node.order, partner)
    return len(new) == len(pairing.new.nodes)


def is_still_there(evidence: LinkEvidence, old: int, new: int) -> bool:
    """Whether two nodes of one name are in the same record: a row that is used again says something else.

    What no other element says is known by its own words, which `survives` asks for, unless it is in a list.
    The rest is known by its company; where it has none, by its place in the whole content.
    """
    pairing = evidence.pairing
    is_said = pairing.old.token[old] == NAME and pairing.old.label[old] == pairing.new.label[new]
    if is_said and pairing.old.unit[old] == -1:
        return not acts(pairing.old.nodes[old]) or evidence.record.is_in_same_list(old)
    if scrolls(pairing.old.nodes[old]) and scrolls(pairing.new.nodes[new]):
        return True  # what it shows comes and goes
    if not acts(pairing.old.nodes[old]):
        return _is_text_there(evidence, old, new)
    is_same = evidence.record.holds(old, new)
    if is_same is not None:
        return is_same
    return is_said or not _has_rows(pairing.old, old) or _is_put(pairing, old, new)


def _is_text_there(evidence: LinkEvidence, old: int, new: int) -> bool:
    """Nobody acts on it: that it was another one costs a wrong line of a diff, not a wrong press."""
    pairing = evidence.pairing
    if pairing.old.first_name(old) != -1 and pairing.new.first_name(new) != -1:
        return evidence.survival.of_names(old, new)  # a box with words is what they are about
    one, other = evidence.survival.groups(old, new)
    if one > 0 and other > 0:
        is_said = evidence.survival.of_group(old, new) is not False
        return is_said and pairing.to_new[one] == other
    return not _has_rows(pairing.old, old) or _is_put(pairing, old, new)


def _has_rows(sketch: Sketch, order: int) -> bool:
    return sketch.scroller[order] != -1


def _is_put(pairing: Pairing, old: int, new: int) -> bool:
    return place(pairing.old.nodes[old]) == place(pairing.new.nodes[new])

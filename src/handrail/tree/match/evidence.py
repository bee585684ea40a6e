"""What is known of two screens whose nodes are linked: asked by the rules of places and of elements alike."""

from __future__ import annotations

from collections import Counter
from functools import cached_property

from handrail.tree.match.drift import Drift
from handrail.tree.match.record import SameRecord
from handrail.tree.match.sketch import Pairing
from handrail.tree.match.survival import Survival


class LinkEvidence:
    """What the rules look at; the costly parts are found out once, when a rule first asks."""

    def __init__(self, pairing: Pairing) -> None:
        self.pairing = pairing
        self.survival = Survival(pairing)
        self.drifts: dict[int, Drift] = {}
        self._linked = list(pairing.to_new)

    @cached_property
    def record(self) -> SameRecord:
        """By the links as they were proposed."""
        return SameRecord(self.pairing, self._linked)

    def drift(self, scroller: int) -> Drift:
        """How the rows of this container of the old screen moved."""
        if scroller not in self.drifts:
            partner = self.pairing.to_new[scroller]
            self.drifts[scroller] = Drift(self.pairing, self.survival, scroller, partner)
        return self.drifts[scroller]

    @cached_property
    def keeps_words(self) -> bool:
        return self.survival.of_screen()

    @cached_property
    def keeps_words_around_lists(self) -> bool:
        return self.survival.of_every_fixed()

    @cached_property
    def has_scrolled(self) -> bool:
        pairing = self.pairing
        theirs = set(pairing.new.holder.values())
        mine = [order for order in pairing.old.holder.values() if pairing.to_new[order] in theirs]
        return self.survival.of_fixed() and any(self.drift(order).scrolled for order in mine)

    @cached_property
    def looks(self) -> tuple[frozenset[int], frozenset[int]]:
        """Hashes of all that is on the old screen, and on the new one."""
        old, new = self.pairing.old, self.pairing.new
        return frozenset(old.tree), frozenset(new.tree)

    @cached_property
    def _ids(self) -> tuple[Counter[str], Counter[str]]:
        old, new = self.pairing.old, self.pairing.new
        return Counter([node.resource_id for node in old.nodes]), Counter(
            [node.resource_id for node in new.nodes]
        )

    def has_own_id(self, order: int) -> bool:
        """No other node of either screen has the id of this node of the old one."""
        name = self.pairing.old.nodes[order].resource_id
        return bool(name) and all(ids[name] == 1 for ids in self._ids)

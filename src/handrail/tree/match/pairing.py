"""A matching in the making: two sketches and who is linked to whom. One-to-one by construction."""

from __future__ import annotations

from handrail.tree.match.sketch import Sketch


class Pairing:
    """`to_new[old order]` and `to_old[new order]`, -1 where there is no partner."""

    __slots__ = ("new", "old", "to_new", "to_old")

    def __init__(self, old: Sketch, new: Sketch) -> None:
        self.old, self.new = old, new
        self.to_new = [-1] * len(old.nodes)
        self.to_old = [-1] * len(new.nodes)

    def link(self, old: int, new: int) -> None:
        """Links two nodes unless one has a partner already."""
        if self.to_new[old] < 0 and self.to_old[new] < 0:
            self.to_new[old] = new
            self.to_old[new] = old

    def link_subtrees(self, old: int, new: int) -> None:
        """Links two subtrees of equal hash node by node: equal shape, so equal offsets."""
        for offset in range(self.old.nodes[old].end - old):
            self.link(old + offset, new + offset)

    def unlink(self, old: int) -> None:
        self.to_old[self.to_new[old]] = -1
        self.to_new[old] = -1

    def alike(self, old: int, new: int) -> bool:
        """Same class and resource id."""
        a, b = self.old.nodes[old], self.new.nodes[new]
        return a.class_name == b.class_name and a.resource_id == b.resource_id

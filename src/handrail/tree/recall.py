"""What is remembered of earlier screens: those of this session, whose old refs come back, and one as JSON.

An element gets its old ref back only where its identity is certain; `Recall` says when that is. The JSON lets
a later process go on with the refs of an earlier one. It has no typed text, no passwords and no clocks.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, NamedTuple

from handrail.tree.match.drift import JITTER_PX, cut_rows
from handrail.tree.match.sketch import NAME, Sketch, label_of
from handrail.tree.node import Bounds, Node, Screen

SCREENS = 12  # kept; the one not seen for longest is forgotten first


class Trait(NamedTuple):
    """What an element is recognised by when its screen comes back."""

    ref: str
    class_name: str
    resource_id: str
    label: str
    native_id: str
    left: int
    top: int
    right: int
    bottom: int


class Recall:
    """From a screen's seal (fingerprint and content of its fields) to its elements' traits by node order.

    Going back, closing a dialog or scrolling to the top again brings back old refs, where identity is
    certain: the whole screen has the fingerprint of the earlier one, its fields hold the same, and the
    element stands at the same node of the tree with the same class, id and label. One that is nameless, or
    named like another, must have the same bounds as well. In a row that an edge cuts off it gets none: what
    is left of the row may look like what was left of another. One that the surface itself calls by the same
    name needs neither.
    """

    __slots__ = ("_screens",)

    def __init__(self) -> None:
        self._screens: dict[str, dict[int, Trait]] = {}

    def keep(self, seal: str, sketch: Sketch, refs: Mapping[int, str]) -> None:
        """Remembers a screen that is being left; `refs` by node order."""
        self._screens.pop(seal, None)
        self._screens[seal] = {order: _trait(sketch, order, ref) for order, ref in refs.items()}
        while len(self._screens) > SCREENS:
            del self._screens[next(iter(self._screens))]

    def find(self, seal: str, sketch: Sketch, node: Node) -> str | None:
        """The ref that this very element had when the screen was shown before."""
        trait = self._screens.get(seal, {}).get(node.order)
        if trait is None:
            return None
        now = _trait(sketch, node.order, trait.ref)
        if now[:5] != trait[:5]:
            return None
        if node.native_id:
            return trait.ref
        if _in_cut_row(sketch, node.order):
            return None
        certain = sketch.token[node.order] == NAME or _same_place(now, trait)
        return trait.ref if certain else None

    def clear(self) -> None:
        self._screens.clear()

    def dump(self) -> dict[str, Any]:
        return {
            seal: [[order, *trait] for order, trait in traits.items()]
            for seal, traits in self._screens.items()
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self._screens = {
            seal: {int(order): Trait(*trait) for order, *trait in rows} for seal, rows in state.items()
        }


def typed_digest(screen: Screen) -> str:
    """Tells forms with different contents apart, which share a fingerprint; too short to tell the content."""
    typed = [node.text for node in screen.nodes if node.role == "text_field"]
    return blake2b(repr(typed).encode(), digest_size=3).hexdigest()


def _trait(sketch: Sketch, order: int, ref: str) -> Trait:
    node = sketch.nodes[order]
    return Trait(ref, node.class_name, node.resource_id, sketch.label[order], node.native_id, *node.bounds)


def _in_cut_row(sketch: Sketch, order: int) -> bool:
    """What an edge leaves of a row may look like what it leaves of another."""
    scroller, row = sketch.scroller[order], sketch.unit[order]
    return row >= 0 and row in cut_rows(sketch, [each.order for each in sketch.rows(scroller)], scroller)


def _same_place(one: Trait, other: Trait) -> bool:
    return all(abs(a - b) <= JITTER_PX for a, b in zip(one[5:], other[5:], strict=True))


def pack_screen(screen: Screen) -> dict[str, Any]:
    """Strings are kept once and named by number; nodes are rows in document order."""
    table: dict[str, int] = {}

    def number(text: str) -> int:
        return table.setdefault(text, len(table))

    nodes = [
        [
            node.parent.order if node.parent else -1,
            number(node.class_name),
            number(node.resource_id),
            number(label_of(node)),
            number(node.package_name),
            number(node.role),
            number(node.native_id),
            node.flags,
            *node.bounds,
        ]
        for node in screen.nodes
    ]
    return {
        "size": [screen.width, screen.height],
        "rotation": screen.rotation,
        "package": screen.package,
        "strings": list(table),
        "nodes": nodes,
    }


def unpack_screen(packed: dict[str, Any]) -> Screen:
    """A screen that matches as the packed one did. Raises `ValueError` on anything else."""
    try:
        nodes = [_node(row, packed["strings"]) for row in packed["nodes"]]
        parents = [int(row[0]) for row in packed["nodes"]]
        width, height = packed["size"]
        _connect(nodes, parents)
        return Screen(nodes[0], nodes, width, height, packed["package"], packed["rotation"])
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise ValueError(f"not a stored screen: {error!r}") from None


def _node(row: list[int], strings: list[str]) -> Node:
    _, class_name, resource_id, label, package, role, native_id, flags, *box = row
    label_text = strings[label]
    is_field = strings[role] == "text_field"
    return Node(
        class_name=strings[class_name],
        resource_id=strings[resource_id],
        text="" if is_field else label_text,
        description=label_text if is_field else "",
        package_name=strings[package],
        bounds=Bounds(*box),
        flags=flags,
        role=strings[role],
        index=0,
        native_id=strings[native_id],
    )


def _connect(nodes: list[Node], parents: list[int]) -> None:
    for order, (node, parent) in enumerate(zip(nodes, parents, strict=True)):
        node.order = order
        if order == 0:
            continue
        if not 0 <= parent < order:
            raise ValueError(f"node {order} has parent {parent}")
        node.parent = nodes[parent]
        node.position = node.index = len(node.parent.children)
        node.parent.children.append(node)
    for node in reversed(nodes):
        node.end = node.children[-1].end if node.children else node.order + 1

"""A screen as JSON, with just what matching needs: no typed text, no passwords, no clocks.

Lets a later process go on with the refs of an earlier one.
"""

from __future__ import annotations

from typing import Any

from handrail.tree.match.sketch import label_of
from handrail.tree.node import Bounds, Node, Screen


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
    except (KeyError, IndexError, TypeError) as error:
        raise ValueError(f"not a stored screen: {error!r}") from None


def _node(row: list[int], strings: list[str]) -> Node:
    _, class_name, resource_id, label, package, role, flags, *box = row
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
    )


def _connect(nodes: list[Node], parents: list[int]) -> None:
    for order, (node, parent) in enumerate(zip(nodes, parents, strict=True)):
        node.order = order
        if order and not 0 <= parent < order:
            raise ValueError(f"not a stored screen: node {order} has parent {parent}")
        if order:
            node.parent = nodes[parent]
            node.position = node.index = len(node.parent.children)
            node.parent.children.append(node)
    for node in reversed(nodes):
        node.end = node.children[-1].end if node.children else node.order + 1

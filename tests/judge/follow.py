"""Runs Handrail's refs over two dumps and says which views they meant: the judge's one bridge to it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from handrail.screen.node import Node, Screen
from handrail.screen.parse import parse
from handrail.screen.refs import Registry
from tests.judge.dumps import View


@dataclass
class Followed:
    """Who had a ref before, and who has it now; `lost` got stale."""

    kept: list[tuple[str, View, View]]
    lost: list[tuple[str, View]]


def views_of(screen: Screen, roots: list[View]) -> dict[Node, View]:
    """The judge's view of each node: by number, by what it is where the parser left some out."""
    seen = [view for root in roots for view in root.walk()]
    nodes = [node for node in screen.nodes if node.class_name or node.package_name]
    if len(seen) == len(nodes) and all(
        node.class_name == view.kind for node, view in zip(nodes, seen, strict=True)
    ):
        return dict(zip(nodes, seen, strict=True))
    by_look: dict[tuple[object, ...], View] = {}
    counts: Counter[tuple[object, ...]] = Counter()
    for view in seen:
        look = (view.kind, view.id, view.box)
        by_look[*look, counts[look]] = view
        counts[look] += 1
    counts.clear()
    found = {}
    for node in nodes:
        look = (node.class_name, node.resource_id, tuple(node.bounds))
        if (view := by_look.get((*look, counts[look]))) is not None:
            found[node] = view
        counts[look] += 1
    return found


def follow(before: tuple[bytes, list[View]], after: tuple[bytes, list[View]]) -> Followed:
    """Reads one screen after the other in one session."""
    registry = Registry()
    old = parse(before[0])
    given = registry.rebuild(old).ref_map
    olds = views_of(old, before[1])
    new = parse(after[0])
    registry.rebuild(new)
    live, news = registry.refs, views_of(new, after[1])
    followed = Followed([], [])
    for ref, node in given.items():
        if node not in olds:
            continue
        if ref not in live:
            followed.lost.append((ref, olds[node]))
        elif live[ref] in news:
            followed.kept.append((ref, olds[node], news[live[ref]]))
    return followed

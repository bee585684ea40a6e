"""An element as it was: what it is, what it says, where it stands and beside what. To know it again."""

from __future__ import annotations

from typing import Any

from handrail.tree.mention import touchable
from handrail.tree.node import Node, Screen
from handrail.tree.portrait.own import own_nodes, thing_of
from handrail.tree.portrait.words import (
    lasting_description,
    lasting_hint,
    lasting_id,
    lasting_text,
)
from handrail.tree.quote import cut
from handrail.tree.select import NO_HANDLES, Handles
from handrail.tree.select.relate import distance

_NEIGHBOURS = 5
_LONGEST = 60


def identity(screen: Screen, node: Node, handles: Handles = NO_HANDLES) -> dict[str, Any]:
    """Plain data; what does not apply is left out. Never what a field holds."""
    thing = thing_of(node)
    name = _name(thing, handles)
    beside = {lasting_description(thing), lasting_hint(thing)} - {name}
    facts = {
        "package": thing.package_name or screen.package,
        "class": thing.short_class,
        "role": thing.role if thing.role != "unknown" else "",
        "id": lasting_id(thing) or lasting_id(node),
        "text": name,
        "description": cut(" · ".join(sorted(beside - {""})), _LONGEST),
        "path": thing.id,
        "bounds": list(thing.bounds),
        "screen": [screen.width, screen.height],
        "neighbours": _neighbours(screen, thing),
    }
    return {key: value for key, value in facts.items() if value}


def _name(thing: Node, handles: Handles) -> str:
    """What a person would call it: its first text, else its label; for a field, what stands beside."""
    said = lasting_text(thing) or lasting_description(thing) or lasting_hint(thing)
    if not said and thing.role != "text_field":
        said = next((text for one in _plain_inside(thing) if (text := lasting_text(one))), "")
    return cut(said or handles.label_of(thing).replace("${", "$ {"), _LONGEST)


def _neighbours(screen: Screen, thing: Node) -> list[str]:
    """The names of what stands nearest; rows of a list, which come and go, only for want of others."""
    lists = [one for one in screen.nodes if one.role == "list"]
    near: dict[str, tuple[bool, tuple[int, int]]] = {}
    for one in own_nodes(screen):
        if not (one.text or one.description) or one is thing or one.is_inside(thing) or thing.is_inside(one):
            continue
        if said := lasting_text(one) or lasting_description(one):
            rank = (any(map(one.is_inside, lists)), distance(one.bounds, thing.bounds))
            near[said] = min(rank, near.get(said, rank))
    return [cut(said, _LONGEST) for said in sorted(near, key=near.__getitem__)[:_NEIGHBOURS]]


def _plain_inside(thing: Node) -> list[Node]:
    found, stack = [], list(reversed(thing.children))
    while stack:
        one = stack.pop()
        if not touchable(one):
            found.append(one)
            stack.extend(reversed(one.children))
    return found

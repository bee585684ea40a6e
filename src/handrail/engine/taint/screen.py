"""A copy of a screen without what may not be seen on it, which still knows the screen that it hides."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from handrail.engine.redaction import RUN
from handrail.tree.node import Bounds, Node, Screen

WORDS = ("text", "description", "hint_text", "state_description", "tooltip_text", "pane_title")
"""Where apps put words."""

RedactNode = Callable[[Node, str], str]
"""What is left of one text of a node."""


@dataclass(slots=True, eq=False)
class RedactedScreen(Screen):
    """What everybody sees; `raw` is for policy alone, whose rules are about what is really there."""

    raw: Screen | None = field(default=None, init=False)
    boxes: tuple[Bounds, ...] = field(default=(), init=False)
    """What has to be painted over in a picture."""


def judged(screen: Screen) -> Screen:
    """The screen that policy judges: no secret blinds a rule. Nothing of it may be told."""
    return screen.raw if isinstance(screen, RedactedScreen) and screen.raw is not None else screen


def boxes_of(screen: Screen) -> tuple[Bounds, ...]:
    """Where something is hidden on it."""
    return screen.boxes if isinstance(screen, RedactedScreen) else ()


def redacted(raw: Screen, hidden: Mapping[int, str], redact: RedactNode) -> Screen:
    """`hidden` has the nodes whose text goes as a whole, by order. Unchanged where nothing is to hide."""
    changes: dict[int, dict[str, Any]] = {}
    for node in raw.nodes:
        if changed := _changed(node, hidden.get(node.order), redact):
            changes[node.order] = changed
    if not changes:
        return raw
    shown = RedactedScreen(
        raw.root,
        [],
        raw.width,
        raw.height,
        raw.package,
        raw.rotation,
        list(raw.warnings),
        is_exact=raw.is_exact,
    )
    shown.nodes = _copies(raw, changes)
    shown.root = shown.nodes[raw.root.order]
    shown.active = shown.nodes[raw.active.order] if raw.active is not None else None
    shown.raw = raw
    shown.boxes = tuple(dict.fromkeys(raw.nodes[order].bounds for order in changes))
    return shown


def _changed(node: Node, whole: str | None, redact: RedactNode) -> dict[str, str]:
    found = {name: said for name in WORDS if (said := getattr(node, name))}
    changed = {name: new for name, said in found.items() if (new := redact(node, said)) != said}
    if whole is not None and node.text:
        changed["text"] = whole
    return changed


def _copies(raw: Screen, changes: Mapping[int, dict[str, Any]]) -> list[Node]:
    nodes = [replace(node, children=[], parent=None, **changes.get(node.order, {})) for node in raw.nodes]
    for old, new in zip(raw.nodes, nodes, strict=True):
        if old.parent is not None:
            new.parent = nodes[old.parent.order]
            new.parent.children.append(new)
    return nodes


def spelled_out(raw: Screen, name_in: Callable[[str], str | None]) -> dict[int, str]:
    """A secret in pieces of one to three characters, one element each: its pieces, by order."""
    hidden: dict[int, str] = {}
    chain: list[Node] = []
    for node in [*(one for one in raw.nodes if one.text and not _is_key(one)), None]:
        if node is not None and len(node.text) < RUN:
            chain.append(node)
            continue
        hidden |= _spelled(chain, name_in)
        chain = []
    return hidden


def _is_key(node: Node) -> bool:
    """A key of a keypad says its letter, and is no copy of anything."""
    return node.clickable and node.role != "text_field"


def _spelled(chain: list[Node], name_in: Callable[[str], str | None]) -> dict[int, str]:
    found: dict[int, str] = {}
    for start, first in enumerate(chain):
        text, piece = "", [first]
        for node in chain[start:]:
            text, piece = text + node.text, [*piece, node]
            if len(text) >= RUN:
                break
        if len(text) >= RUN and (name := name_in(text)):
            found |= {node.order: name for node in piece}
    return found

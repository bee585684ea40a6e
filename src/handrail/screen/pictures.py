"""Elements that only the picture of a screen shows: where a tree is silent, and what was read there.

The reader of pictures is elsewhere. Here is the one rule that says which parts of a screen it is asked about,
and how its answer becomes nodes: they are children of the silent node, and everything else treats them alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace

from handrail.screen.node import (
    CLICKABLE,
    ENABLED,
    HIDDEN,
    UNCLEAR,
    Bounds,
    DrawnMark,
    DrawnPart,
    Node,
    Screen,
    once_per_screen,
)
from handrail.screen.windows import is_input_method, is_system_bar

SMALLEST_PART = 0.03
"""Share of the display; a smaller silent box is an icon, or the space between others."""
BLIND_SHARE = 0.2
"""Share of the display from which its silent boxes are read from the picture."""
FEW_LABELS = 3
"""With fewer labels the tree tells so little that plain images and empty boxes are read as well."""
_DRAWN = re.compile(
    r"canvas|(?:Surface|Texture|GLSurface|Map|Web|Flutter|Unity\w*|Game\w*)(?:View|Player)(?:\w*)",
    re.IGNORECASE,
)
"""Classes of what an app draws by itself: their own label names them, and says nothing of what they show."""
_TELLING = frozenset(
    {"text_field", "slider", "switch", "check_box", "radio_button", "spinner", "progress_bar"}
)
_CELLS = 32


@once_per_screen
def blind_parts(screen: Screen) -> list[Node]:
    """The nodes whose content only the picture tells; empty where the tree tells enough.

    A part is the largest box in which nothing says a word and nothing has a value. It counts if apps draw on
    its kind by themselves, or if the rest of the screen has fewer than `FEW_LABELS` labels. All of them
    together, without what labelled nodes cover, must be `BLIND_SHARE` of the display.
    """
    if not screen.bounds.area:
        return []
    says = [
        bool(
            node.hint_text or node.state_description or node.role in _TELLING or node.text or node.description
        )
        for node in screen.nodes
    ]
    labels = sum(says)
    counts = [0]
    for is_said in says:
        counts.append(counts[-1] + is_said)
    parts: list[Node] = []
    skipped = 0
    for node in screen.nodes:
        if node.order < skipped:
            continue
        if (
            node.flags & HIDDEN
            or is_input_method(node.package_name)
            or (node.parent in (None, screen.root) and is_system_bar(screen, node))
        ):
            skipped = node.end
            continue
        is_drawn = _is_drawn(node)
        inside = counts[node.end] - counts[node.order + (1 if is_drawn else 0)]
        if inside or (not node.class_name and node.children):
            continue
        skipped = node.end
        surfaces = [part for part in (node, *screen.inside(node)) if _is_drawn(part)]
        if not surfaces and labels < FEW_LABELS:
            surfaces = [_innermost(node)]
        least = SMALLEST_PART * screen.bounds.area
        parts += [part for part in surfaces if _shown(screen, part).area >= least]
    return parts if parts and _blind_share(screen, parts, says) >= BLIND_SHARE else []


def _innermost(node: Node) -> Node:
    """Skips the boxes that only hold one other."""
    while len(node.children) == 1 and node.children[0].bounds.area * 2 > node.bounds.area:
        node = node.children[0]
    return node


def _is_drawn(node: Node) -> bool:
    return _DRAWN.fullmatch(node.short_class) is not None


def _shown(screen: Screen, node: Node) -> Bounds:
    box = node.bounds.intersect(screen.bounds)
    return box if box.area else Bounds(0, 0, 0, 0)


def _blind_share(screen: Screen, parts: Sequence[Node], says: Sequence[bool]) -> float:
    """Of a grid over the display: cells in a part, without those that a labelled node lies over."""
    boxes = [_shown(screen, part) for part in parts]
    spoken = [
        node.bounds
        for node in screen.nodes
        if says[node.order] and not node.children and not node.flags & HIDDEN and node not in parts
    ]
    blind = 0
    for row in range(_CELLS):
        y = (2 * row + 1) * screen.height // (2 * _CELLS)
        for column in range(_CELLS):
            x = (2 * column + 1) * screen.width // (2 * _CELLS)
            blind += any(box.holds(x, y) for box in boxes) and not any(box.holds(x, y) for box in spoken)
    return blind / (_CELLS * _CELLS)


def with_drawn_parts(screen: Screen, drawn: Mapping[Node, Sequence[DrawnPart]]) -> Screen:
    """The same screen with what was read in its silent nodes as their children."""
    clones = [copy(node) for node in screen.nodes]
    for node, clone in zip(screen.nodes, clones, strict=True):
        clone.children = [clones[child.order] for child in node.children]
        clone.parent = None if node.parent is None else clones[node.parent.order]
    for node, parts in drawn.items():
        _append(clones[node.order], parts)
    nodes: list[Node] = []
    stack = [clones[0]]
    while stack:
        node = stack.pop()
        node.order = len(nodes)
        nodes.append(node)
        stack.extend(reversed(node.children))
    for node in reversed(nodes):
        node.end = node.children[-1].end if node.children else node.order + 1
    active = None if screen.active is None else clones[screen.active.order]
    return replace(screen, root=clones[0], nodes=nodes, active=active)


def _append(box: Node, parts: Iterable[DrawnPart]) -> None:
    for part in parts:
        is_inner = box.drawn is not None
        role = {"text": "unknown", "button": "button", "shape": UNCLEAR, "code": UNCLEAR}[part.kind]
        node = Node(
            class_name=f"picture.{part.kind.title()}",
            resource_id="",
            text=part.text,
            description="",
            package_name=box.package_name,
            bounds=part.bounds,
            flags=ENABLED if is_inner else ENABLED | CLICKABLE,
            role=role,
            index=len(box.children),
            place=box.place,
            parent=box,
            position=len(box.children),
            drawn=DrawnMark(part.confidence, part.pixels, part.look),
        )
        box.children.append(node)
        _append(node, part.inside)


def picture_around(node: Node) -> Node | None:
    """The node of the tree on which this drawn node was read, or which itself holds drawn ones."""
    at: Node | None = node
    while at is not None and at.drawn is not None:
        at = at.parent
    return at if at is not None and any(child.drawn is not None for child in at.children) else None


_TIGHT = 0.8
"""Of a line's height: drawn lines so near to each other may be one button."""


def drawn_beside(node: Node) -> list[Node]:
    """Drawn texts so near that nobody can tell whether a press on this one is a press on them."""
    if node.parent is None or node.role == "button":  # a box of its own
        return []
    left, top, right, bottom = node.bounds
    beside = []
    for other in node.parent.children:
        if other is node or other.drawn is None or not other.text or other.role == "button":
            continue
        gap = _TIGHT * min(bottom - top, other.bounds.height)
        box = other.bounds
        if (
            box.left < right + gap
            and left - gap < box.right
            and box.top < bottom + gap
            and top - gap < box.bottom
        ):
            beside.append(other)
    return beside

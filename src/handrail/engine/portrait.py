"""What the journal keeps of the elements that an action touches, so that a recording can name them later."""

from __future__ import annotations

from typing import Any

from handrail.engine.resolve import Aim
from handrail.engine.run import Run
from handrail.protocol.device import TypeText
from handrail.protocol.target import Point
from handrail.tree.node import Node, Screen
from handrail.tree.portrait import identity, robust
from handrail.tree.portrait import landmark as landmark_of
from handrail.tree.refs import Registry

_CANVAS_SHARE = 8
"""A silent view that takes more than this part of the screen is a surface: the place on it is what counts."""
_BY_PLACE = frozenset({"slider", "web_view", "progress_bar"})


def portraits(run: Run, registry: Registry) -> dict[str, Any]:
    """By the action's field: a robust selector and the element's identity; for typing, the focused field."""
    named = {name.rstrip("_"): _portrait(one, registry) for name, one in run.aims.items()}
    if isinstance(run.action, TypeText) and not named and run.before is not None:
        screen = run.before.screen
        field = next((n for n in screen.nodes if n.focused and n.role == "text_field"), None)
        named["target"] = _drawn(screen, field, registry) if field else None
    return {name: drawn for name, drawn in named.items() if drawn}


def landmark(run: Run) -> dict[str, str] | None:
    """How the screen that an action led to is known; None where it is still the same one."""
    before, after = run.before, run.after
    if before is None or after is None or before.fingerprint == after.fingerprint:
        return None
    return landmark_of(before.screen, after.screen)


def _portrait(aim: Aim, registry: Registry) -> dict[str, Any] | None:
    screen, thing = aim.found.screen, aim.touched
    if isinstance(aim.target, Point) and _is_surface(screen, thing):
        return None
    return _drawn(screen, aim.node, registry)


def _drawn(screen: Screen, node: Node, registry: Registry) -> dict[str, Any]:
    selector = robust(screen, node, registry)
    return {
        "selector": selector.model_dump(exclude_none=True),
        "element": identity(screen, node, registry),
    }


def _is_surface(screen: Screen, thing: Node) -> bool:
    if thing.role in _BY_PLACE:
        return True
    is_silent = not (thing.text or thing.description or thing.children)
    return is_silent and thing.bounds.area * _CANVAS_SHARE > screen.width * screen.height

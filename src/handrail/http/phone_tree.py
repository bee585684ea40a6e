"""The refs of a session's present screen with their boxes, exactly those of the compact text. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from handrail.engine.look.looks import Looks
from handrail.tree.reach import visible_part

_REF = re.compile(r"^\s*(@[a-z]\d+)\b", re.MULTILINE)


def tree_of(sight: Looks, redact: Callable[[str], str]) -> dict[str, Any]:
    """What agents are told of the screen, and where it is; boxes are left, top, right, bottom in pixels."""
    seen, registry = sight.last, sight.registry
    if seen is None:
        return {"revision": None, "text": "", "width": 0, "height": 0, "refs": []}
    screen = seen.screen
    boxes = []
    for ref in dict.fromkeys(_REF.findall(registry.text)):
        node = registry.refs.get(ref)
        if node is not None:
            boxes.append(
                {
                    "ref": ref,
                    "label": redact(registry.label_of(node)),
                    "role": node.role,
                    "bounds": list(node.bounds),
                    "visible": list(visible_part(screen, node)),
                }
            )
    return {
        "revision": sight.revision_name,
        "text": redact(registry.text),
        "width": screen.width,
        "height": screen.height,
        "package": screen.package,
        "refs": boxes,
    }

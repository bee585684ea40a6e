"""The header's flags as far as the tree alone tells: keyboard, dialog, loading.

`secure` is known to the device only.
"""

from __future__ import annotations

from handrail.tree.dialogs import system_dialogs
from handrail.tree.loading import loading_indicators
from handrail.tree.node import Node, Screen
from handrail.tree.packages import is_backdrop
from handrail.tree.windows import has_keyboard

_DIALOG_IDS = {"alertTitle", "parentPanel", "design_bottom_sheet"}
_INSET = 8  # px on both sides; what is narrower than the screen floats over something


def flags_of(screen: Screen, *, secure: bool = False) -> tuple[str, ...]:
    """The words that hold, in the header's order."""
    words = {
        "keyboard": has_keyboard(screen),
        "dialog": bool(system_dialogs(screen)) or _has_dialog(screen),
        "secure": secure,
        "loading": bool(loading_indicators(screen)),
    }
    return tuple(word for word, holds in words.items() if holds)


def _has_dialog(screen: Screen) -> bool:
    apps = [
        window for window in screen.windows if not is_backdrop(window.package_name) and window.bounds.area
    ]
    if apps and _floats(apps[-1], screen):
        return True
    return any(node.resource_id and node.id_tail in _DIALOG_IDS and node.bounds.area for node in screen.nodes)


def _floats(window: Node, screen: Screen) -> bool:
    left, top, right, bottom = window.bounds
    return (
        left >= _INSET
        and top >= _INSET
        and screen.width - right >= _INSET
        and screen.height - bottom >= _INSET
    )

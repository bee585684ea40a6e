"""Which windows of a screen are the system's: the keyboard, and the bars at its edges."""

from __future__ import annotations

from handrail.tree.node import Node, Screen
from handrail.tree.packages import SYSTEM_UI, is_input_method

_STRIP = 4  # a system bar takes at most this part of the screen; a shade or a system dialog takes more


def has_keyboard(screen: Screen) -> bool:
    """An input method shows itself beside the app."""
    return any(
        is_input_method(window.package_name) and window.package_name != screen.package and window.bounds.area
        for window in screen.windows
    )


def is_system_bar(screen: Screen, window: Node) -> bool:
    """A status or navigation bar beside an app; a pulled-down shade is larger."""
    if window.package_name != SYSTEM_UI or screen.package == SYSTEM_UI:
        return False
    bounds = window.bounds
    return bounds.height * _STRIP <= screen.height or bounds.width * _STRIP <= screen.width

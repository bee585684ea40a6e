"""Which windows are apps', and which of them is in front: there a finger and a scroll belong. Pure."""

from __future__ import annotations

from handrail.tree.node import Node, Screen
from handrail.tree.packages import SYSTEM_UI, is_input_method
from handrail.tree.windows import is_toast


def front(screen: Screen) -> Node:
    """The topmost window of the app in front; overlays of others float above it and do not count."""
    windows = app_windows(screen)
    own = [window for window in windows if window.package_name == screen.package]
    return (own or windows or screen.windows)[-1]


def app_windows(screen: Screen) -> list[Node]:
    """Without keyboards, toasts and what the system lays over the screen."""
    return [
        window
        for window in screen.windows
        if not is_input_method(window.package_name)
        and window.package_name != SYSTEM_UI
        and not is_toast(screen, window)
    ]

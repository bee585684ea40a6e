"""What windows are to each other: the keyboard, the bars at the edges, the dialog above an app."""

from __future__ import annotations

from handrail.tree.node import CLICKABLE, Node, Screen
from handrail.tree.packages import SYSTEM_UI, is_input_method

_SYSTEM_DIALOGS = frozenset(
    {
        "android",
        "com.android.permissioncontroller",
        "com.google.android.permissioncontroller",
        "com.android.packageinstaller",
        "com.google.android.packageinstaller",
        "com.android.intentresolver",
    }
)
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


def modal_above(screen: Screen, node: Node) -> Node | None:
    """The dialog or pop-up that takes every touch while it is up, also those beside it.

    Dumps do not tell which windows are modal. Taken for one is a window above the node's own that lies within
    it, has something to touch, and belongs to the same app or to the system's dialogs; a picture in a picture
    belongs to another app, a toast has nothing to touch.
    """
    windows = screen.windows
    own = [at for at, window in enumerate(windows) if window is node or node.is_inside(window)]
    if not own:
        return None
    at, below = own[0], windows[own[0]]
    for window in reversed(windows[at + 1 :]):
        is_its_own = window.package_name == below.package_name or window.package_name in _SYSTEM_DIALOGS
        smaller = below.bounds.covers(window.bounds) and window.bounds != below.bounds
        if is_its_own and smaller and any(one.flags & CLICKABLE for one in (window, *screen.inside(window))):
            return window
    return None

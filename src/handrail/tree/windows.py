"""What windows are to each other, and which packages are not the app in front.

Knows the keyboard, the bars at the edges, the toast and the dialog above an app.
"""

from __future__ import annotations

from functools import lru_cache

from handrail.tree.node import CHECKABLE, CLICKABLE, LONG_CLICKABLE, SCROLLABLE, Node, Screen

_BAR = 10  # of the screen's height: what is lower is a bar, not a dialog
_NEAR_PX = 24
_TOAST = 6  # a toast takes at most this part of the screen
_TOUCHED = CLICKABLE | LONG_CLICKABLE | CHECKABLE | SCROLLABLE
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


def is_toast(screen: Screen, window: Node) -> bool:
    """A few words above everything that nothing can be done with and that go by themselves."""
    if window is screen.windows[0] or window.bounds.area * _TOAST > screen.bounds.area:
        return False
    parts = (window, *screen.inside(window))
    return any(one.text for one in parts) and not any(one.flags & _TOUCHED for one in parts)


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
    above = (window for window in reversed(windows[at + 1 :]) if _may_be_modal(screen, window, below))
    return next(above, None)


def _may_be_modal(screen: Screen, window: Node, below: Node) -> bool:
    if window.package_name != below.package_name and window.package_name not in SYSTEM_DIALOGS:
        return False
    if not below.bounds.covers(window.bounds) or window.bounds == below.bounds:
        return False
    if not any(one.flags & CLICKABLE for one in (window, *screen.inside(window))):
        return False
    return not _is_low(screen, window) and not _hangs_on_field(screen, window)


def _is_low(screen: Screen, window: Node) -> bool:
    """The bar with Cut and Copy; touches beside it go on."""
    return window.bounds.height * _BAR < screen.height


def _hangs_on_field(screen: Screen, window: Node) -> bool:
    """Suggestions under or over the field that has the focus; typing goes on beside them."""
    field = next((one for one in screen.nodes if one.focused and one.role == "text_field"), None)
    if field is None or field.is_inside(window):
        return False
    one, other = field.bounds, window.bounds
    meets = min(abs(other.top - one.bottom), abs(one.top - other.bottom)) <= _NEAR_PX
    return meets and other.left < one.right and one.left < other.right


SYSTEM_UI = "com.android.systemui"
SYSTEM_DIALOGS = frozenset(
    {
        "android",
        "com.android.permissioncontroller",
        "com.google.android.permissioncontroller",
        "com.android.packageinstaller",
        "com.google.android.packageinstaller",
        "com.android.intentresolver",
        "com.google.android.intentresolver",
    }
)
"""Who draws prompts, crash reports, choosers and the installer above an app."""

_INPUT_METHOD_PARTS = ("inputmethod", "keyboard", "honeyboard", "swiftkey")
_INPUT_METHOD_TAILS = (".ime", ".input", ".sogou", "adbkeyboard", "droidbotime")


@lru_cache(maxsize=1024)
def is_input_method(package: str) -> bool:
    """True for keyboards, as far as their package names tell."""
    name = package.lower()
    return any(part in name for part in _INPUT_METHOD_PARTS) or name.endswith(_INPUT_METHOD_TAILS)


def is_backdrop(package: str) -> bool:
    """True for what stands around an app and is never the app itself."""
    return package == SYSTEM_UI or is_input_method(package)


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

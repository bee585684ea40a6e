"""What windows are to each other, which packages are not the app in front, and what a person can see.

Knows the keyboard, the bars at the edges, the toast and the dialog above an app.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from handrail.tree.layers import behind
from handrail.tree.node import (
    CHECKABLE,
    CLICKABLE,
    FOCUSED,
    HIDDEN,
    LONG_CLICKABLE,
    SCROLLABLE,
    Bounds,
    Node,
    Screen,
)

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
    field = _field_in_use(screen, window)
    if field is None:
        return False
    one, other = field.bounds, window.bounds
    meets = min(abs(other.top - one.bottom), abs(one.top - other.bottom)) <= _NEAR_PX
    return meets and other.left < one.right and one.left < other.right


def _field_in_use(screen: Screen, window: Node) -> Node | None:
    """The field that somebody types into, if it is in another window."""
    field = next((one for one in screen.nodes if one.focused and one.role == "text_field"), None)
    return None if field is None or field.is_inside(window) else field


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


_DIALOG_IDS = frozenset({"alertTitle", "parentPanel", "design_bottom_sheet", "touch_outside"})
_STAGE = 3  # an app's own window takes more than this part of the screen; a picture in a picture takes less


def height_of(screen: Screen, window: Node) -> tuple[int, int, bool, bool]:
    """What tells how high a window is drawn where no layer does; ascending.

    Apps are below the keyboard, and that is below what the system draws. Among apps the smaller window is
    above: a dialog over its activity, a menu over the dialog. Of two that are equally large the one that is
    built as a dialog or holds the focus is above.
    """
    package = window.package_name
    rank = 2 if package == SYSTEM_UI else int(is_input_method(package))
    parts = (window, *screen.inside(window))
    is_dialog = any(one.resource_id and one.id_tail in _DIALOG_IDS for one in parts)
    return rank, -window.bounds.area, is_dialog, any(one.flags & FOCUSED for one in parts)


def front(screen: Screen) -> Node:
    """The window that a person works in, and that alone a helper can see: the active one.

    Where the dump does not tell it, it is the topmost that takes touches and is no guest: no toast, no
    picture in a picture, no suggestions under a field, no bar with Cut and Copy.
    """
    if screen.active is not None:
        return screen.active
    windows = screen.windows
    if len(windows) == 1:
        return windows[0]
    hosts = [window for window in windows if not is_input_method(window.package_name)]
    for window in reversed(hosts):
        if window.package_name == SYSTEM_UI:
            if not is_system_bar(screen, window) and _has_content(screen, window):
                return window
        elif not _is_guest(screen, window, hosts[0]):
            return window
    return (hosts or windows)[0]


def _is_guest(screen: Screen, window: Node, ground: Node) -> bool:
    """Floats above the window that a person works in."""
    if window is ground:
        return False
    if is_toast(screen, window) or _hangs_on_field(screen, window):
        return True
    if _is_low(screen, window) and _field_in_use(screen, window):
        return True
    own = window.package_name == ground.package_name or window.package_name in SYSTEM_DIALOGS
    return not own and window.bounds.area * _STAGE < screen.bounds.area


def _has_content(screen: Screen, window: Node) -> bool:
    """A shade or a lock screen; the system also lays empty windows over everything."""
    parts = (window, *screen.inside(window))
    return any(one.flags & _TOUCHED or one.text or one.description for one in parts)


def app_windows(screen: Screen) -> list[Node]:
    """Without keyboards, toasts and what the system lays over the screen."""
    return [
        window
        for window in screen.windows
        if not is_input_method(window.package_name)
        and window.package_name != SYSTEM_UI
        and not is_toast(screen, window)
    ]


_TAKES_TOUCH = CLICKABLE | LONG_CLICKABLE | CHECKABLE | SCROLLABLE
_ENDLESS = 1 << 30

_BAND_SHIFT = 7  # bands of 128 px
_MANY_BANDS = 40  # what spans more, taller than any phone, is kept in one list
_CROWD = 64  # coverers looked at per band; keeps 10,000 stacked nodes linear


def visible(screen: Screen) -> bytearray:
    """One byte per node by `order`: 1 for what is on the screen, has a size and is not covered."""
    return seen(screen)[0]


def seen(screen: Screen) -> tuple[bytearray, list[Node]]:
    """What is visible, and the parts of it that lie behind another layer of their window."""
    shown = on_screen(screen)
    layers = behind(screen, shown)
    _drop_covered(screen, shown, layers)
    return shown, [layer for layer in layers if any(shown[layer.order : layer.end])]


def on_screen(screen: Screen) -> bytearray:
    """As `visible`, before occlusion: what has a part inside the screen and its scroll containers."""
    nodes = screen.nodes
    shown = bytearray(len(nodes))
    system = False
    end, clip = len(nodes), Bounds(0, 0, screen.width or _ENDLESS, screen.height or _ENDLESS)
    clips = [(end, clip)]
    for order, node in enumerate(nodes):
        if order >= end:
            while clips[-1][0] <= order:
                clips.pop()
            end, clip = clips[-1]
        left, top, right, bottom = bounds = node.bounds
        if clip[0] < right > left < clip[2] and clip[1] < bottom > top < clip[3] and not node.flags & HIDDEN:
            shown[order] = 1
            system = system or node.package_name == SYSTEM_UI
            if node.flags & SCROLLABLE:
                end, clip = node.end, clip.intersect(bounds)
                clips.append((end, clip))
    if not nodes[0].class_name and nodes[0].children:
        shown[0] = 0
    if system and screen.package != SYSTEM_UI:
        _drop_system_bars(screen, shown)
    return shown


def _drop_system_bars(screen: Screen, shown: bytearray) -> None:
    """Status and navigation bar, unless they are all there is; a pulled-down shade is larger and stays."""
    bars = [window for window in screen.windows if is_system_bar(screen, window)]
    hidden = [order for bar in bars for order in range(bar.order, bar.end) if shown[order]]
    if len(hidden) < sum(shown):
        for order in hidden:
            shown[order] = 0


def _drop_covered(screen: Screen, shown: bytearray, layers: Sequence[Node]) -> None:
    """Clears what lies fully under a clickable of another branch that is drawn later.

    A layer counts as a whole: what covers only a part of it covers nothing.
    """
    cover = Cover()
    has_web = "web_view" in [node.role for node in screen.nodes]
    layer_at = {order: layer for layer in layers for order in range(layer.order, layer.end)}
    for node in reversed(paint_order(screen)):
        if not shown[node.order]:
            continue
        if node.covered_by or (node.covered_by is not None and screen.is_exact):
            if node.covered_by:
                shown[node.order] = 0
            continue
        over = cover.over(node, layer_at.get(node.order) if layer_at else None)
        if over is not None:
            if node.flags & _TAKES_TOUCH or not _is_glass(over, screen):
                shown[node.order] = 0
        elif (
            node.covered_by is None
            and node.flags & CLICKABLE
            and not node.flags & SCROLLABLE
            and not (has_web and is_web_veil(screen, node))
        ):
            cover.add(node)


def is_web_veil(screen: Screen, node: Node) -> bool:
    """A part of a web page that says nothing: a backdrop. In a web page later in the tree is not above."""
    if node.text or node.description or not any(up.role == "web_view" for up in node.ancestors()):
        return False
    return not any(one.text or one.description for one in screen.inside(node))


def _is_glass(over: Node, screen: Screen) -> bool:
    """An empty tappable layer over a part of the screen takes the touches and shows the text behind it."""
    silent = not (over.children or over.text or over.description)
    return silent and over.bounds.area * 2 < screen.width * screen.height


def paint_order(screen: Screen) -> list[Node]:
    """Document order, except where the dump tells another drawing order among siblings."""
    if not any(node.drawing_order for node in screen.nodes):
        return screen.nodes
    painted: list[Node] = []
    stack = [screen.root]
    while stack:
        node = stack.pop()
        painted.append(node)
        # The sort is stable: siblings without a drawing order stay as they are.
        stack.extend(sorted(node.children, key=_drawing_order)[::-1])
    return painted


def _drawing_order(node: Node) -> int:
    return node.drawing_order


class Cover:
    """The clickables drawn later than the node in hand, kept by horizontal bands of the screen."""

    __slots__ = ("_bands", "_tall")

    def __init__(self) -> None:
        self._bands: dict[int, list[tuple[Bounds, int, Node]]] = {}
        self._tall: list[tuple[Bounds, int, Node]] = []

    def add(self, node: Node) -> None:
        first, last = node.bounds.top >> _BAND_SHIFT, node.bounds.bottom >> _BAND_SHIFT
        entry = (node.bounds, node.order, node)
        if last - first > _MANY_BANDS:
            if len(self._tall) < _CROWD:
                self._tall.append(entry)
            return
        for number in range(first, last + 1):
            band = self._bands.setdefault(number, [])
            if len(band) < _CROWD:
                band.append(entry)

    def over(self, node: Node, layer: Node | None = None) -> Node | None:
        """A clickable that hides the whole of `node`, or the whole of its layer, and is not inside it."""
        left, top, right, bottom = node.bounds
        band = self._bands.get(top >> _BAND_SHIFT, self._tall)
        for entries in (band, self._tall) if self._tall and band is not self._tall else (band,):
            for (its_left, its_top, its_right, its_bottom), order, over in entries:
                if (
                    its_top <= top
                    and its_bottom >= bottom
                    and its_left <= left
                    and its_right >= right
                    and not node.order < order < node.end
                    and (
                        layer is None or layer.order <= order < layer.end or over.bounds.covers(layer.bounds)
                    )
                ):
                    return over
        return None

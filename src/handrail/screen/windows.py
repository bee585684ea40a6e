"""What windows are to each other, which packages are not the app in front, and what a person can see.

Knows the keyboard, the bars at the edges, the toast and the dialog above an app.

It also reads what a screen says of its own state: the system's dialogs (prompts, crashes, choosers), and
loading. They are recognised by who draws them and by the framework's resource ids, so an app can't fake one
with words alone.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from handrail.screen.node import (
    ACTIONABLE,
    CLICKABLE,
    FOCUSED,
    HIDDEN,
    SCROLLABLE,
    Bounds,
    Node,
    Screen,
    once_per_screen,
)

_LARGE = 4  # a layer takes more than this part of the screen
_FEW = 3  # what says less is no page: a picture under its caption
_CLASHES = 2  # places where two layers write over each other
_CLASH_SHARE = 0.1  # of what the lower one says; a list under its bar has fewer
_BANDS = 8  # in which the lower one is divided from top to bottom
_FILLED = 6  # of them have something of the upper one: bars and a floating button fill fewer
_PANE = 0.6  # of the lower one: what covers more is a pane, not a piece of writing
_OVERLAP = 0.2  # of the smaller of two; fonts and touch targets reach a little beyond their box
_MOST_PIECES = 120  # pieces that are compared


@once_per_screen
def layers_behind(screen: Screen) -> list[Node]:
    """The outermost parts of a screen over which another layer is drawn, in document order."""
    large = screen.width * screen.height // _LARGE
    behind: list[Node] = []
    writing: _ReadablePieces | None = None
    end = 0
    for node in screen.nodes:
        children = node.children
        if not children or node.order < end:
            continue
        if node.role == "web_view":
            end = node.end
            continue
        if len(children) < 2 or not node.class_name:
            continue
        for page in children:
            if page.end - page.order <= _FEW or page.bounds.area < large:
                continue
            # Siblings that are drawn later and overlap it.
            left, top, right, bottom = page.bounds
            later = [
                child
                for child in children
                if child.bounds[0] < right
                and child.bounds[2] > left
                and child.bounds[1] < bottom
                and child.bounds[3] > top
                and is_drawn_over(screen, child, page)
            ]
            if later and _may_write_over(page, later):
                writing = writing or _ReadablePieces(screen, on_screen(screen))
                if writing.writes_over(page, later):
                    behind.append(page)
                    end = max(end, page.end)
    return behind


def _may_write_over(page: Node, later: list[Node]) -> bool:
    """A quick check by bounds alone: bars and buttons are too small to write over a page."""
    if sum(layer.end - layer.order for layer in later) < _FEW:
        return False
    return (
        _count_filled_bands(page.bounds, [layer.bounds.intersect(page.bounds) for layer in later]) >= _FILLED
    )


class _ReadablePieces:
    """The innermost nodes of a screen that can be read or touched."""

    def __init__(self, screen: Screen, shown: bytearray) -> None:
        self._at: list[int] = []
        self._bounds: list[Bounds] = []
        last = len(screen.nodes)
        for node in reversed(screen.nodes):
            if not shown[node.order] or not (node.text or node.description or node.flags & ACTIONABLE):
                continue
            if node.end <= last:  # nothing inside it speaks
                self._at.append(node.order)
                self._bounds.append(node.bounds)
                last = node.order
        self._at.reverse()
        self._bounds.reverse()

    def writes_over(self, page: Node, later: list[Node]) -> bool:
        below = self._inside(page)
        if not _FEW <= len(below) <= _MOST_PIECES:
            return False
        frame, pane = page.bounds, page.bounds.area * _PANE
        above = [box.intersect(frame) for layer in later for box in self._inside(layer)]
        above = [box for box in above if 0 < box.area < pane]
        if not _FEW <= len(above) <= _MOST_PIECES or _count_filled_bands(frame, above) < _FILLED:
            return False
        clashes = sum(any(_overlap(box, other) for other in above) for box in below)
        return clashes >= max(_CLASHES, len(below) * _CLASH_SHARE)

    def _inside(self, node: Node) -> list[Bounds]:
        return self._bounds[bisect_left(self._at, node.order) : bisect_left(self._at, node.end)]


def _count_filled_bands(frame: Bounds, boxes: list[Bounds]) -> int:
    tall = max(1, frame.height)
    filled: set[int] = set()
    for box in boxes:
        filled.update(
            range(_BANDS * (box.top - frame.top) // tall, _BANDS * (box.bottom - 1 - frame.top) // tall + 1)
        )
    return len(filled)


def _overlap(first: Bounds, other: Bounds) -> bool:
    wide = min(first[2], other[2]) - max(first[0], other[0])
    if wide <= 0:
        return False
    tall = min(first[3], other[3]) - max(first[1], other[1])
    return tall > 0 and wide * tall > min(first.area, other.area) * _OVERLAP


_BAR = 10  # of the screen's height: what is lower is a bar, not a dialog
_NEAR_PX = 24
_TOAST = 6  # a toast takes at most this part of the screen
_STRIP = 4  # a system bar takes at most this part of the screen; a shade or a system dialog takes more


@once_per_screen
def has_keyboard(screen: Screen) -> bool:
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
    """A short text above everything that cannot be touched and disappears by itself."""
    if window is screen.windows[0] or window.bounds.area * _TOAST > screen.bounds.area:
        return False
    parts = (window, *screen.inside(window))
    return any(part.text for part in parts) and not any(part.flags & ACTIONABLE for part in parts)


def modal_above(screen: Screen, node: Node) -> Node | None:
    """The dialog or pop-up that takes every touch while it is up, also those beside it.

    Dumps do not say which windows are modal. A window counts as modal if it lies within the node's own
    window and above it, has something to touch, and belongs to the same app or to the system's dialogs. A
    picture in picture belongs to another app, and a toast has nothing to touch.
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
    if not any(part.flags & CLICKABLE for part in (window, *screen.inside(window))):
        return False
    return not _is_flat_bar(screen, window) and not _hangs_on_field(screen, window)


def _is_flat_bar(screen: Screen, window: Node) -> bool:
    """The bar with Cut and Copy; touches beside it reach the app."""
    return window.bounds.height * _BAR < screen.height


def _hangs_on_field(screen: Screen, window: Node) -> bool:
    """Suggestions under or over the focused field; typing continues beside them."""
    field = _field_in_use(screen, window)
    if field is None:
        return False
    at, popup = field.bounds, window.bounds
    meets = min(abs(popup.top - at.bottom), abs(at.top - popup.bottom)) <= _NEAR_PX
    return meets and popup.left < at.right and at.left < popup.right


def _field_in_use(screen: Screen, window: Node) -> Node | None:
    """The focused text field, if it is in another window."""
    field = next((node for node in screen.nodes if node.focused and node.role == "text_field"), None)
    return None if field is None or field.is_inside(window) else field


SYSTEM_UI = "com.android.systemui"
_DIALOG_OWNERS = ("permissioncontroller", "packageinstaller", "intentresolver")
SYSTEM_DIALOGS = frozenset(
    {"android"} | {f"com.{maker}android.{owner}" for maker in ("", "google.") for owner in _DIALOG_OWNERS}
)
"""Who draws prompts, crash reports, choosers and the installer above an app."""

IOS_KEYBOARD = "com.apple.keyboard"
"""Whose the keys of an iPhone's keyboard count as: the tree of an app holds them as if they were its own."""
SPRINGBOARD = "com.apple.springboard"
"""An iPhone's home screen, which also draws the system's alerts."""
_INPUT_METHOD_PARTS = ("inputmethod", "keyboard", "honeyboard", "swiftkey")
_INPUT_METHOD_TAILS = (".ime", ".input", ".sogou", "adbkeyboard", "droidbotime")


@lru_cache(maxsize=1024)
def is_input_method(package: str) -> bool:
    """True for keyboards, as far as their package names tell."""
    name = package.lower()
    return any(part in name for part in _INPUT_METHOD_PARTS) or name.endswith(_INPUT_METHOD_TAILS)


def is_backdrop(package: str) -> bool:
    """True for system UI and keyboards, which are never the app itself."""
    return package == SYSTEM_UI or is_input_method(package)


_DIALOG_IDS = frozenset({"alertTitle", "parentPanel", "design_bottom_sheet", "touch_outside"})
_STAGE = 3  # an app's own window takes more than this part of the screen; a picture in a picture takes less


def stacking_rank(screen: Screen, window: Node) -> tuple[int, int, bool, bool]:
    """Sort key for the drawing order of windows without layers, lowest first.

    Apps are below the keyboard, and the keyboard is below what the system draws. Among apps the smaller
    window is above: a dialog over its activity, a menu over the dialog. Of two equally large windows, the
    one that is built as a dialog or holds the focus is above.
    """
    package = window.package_name
    rank = 2 if package == SYSTEM_UI else int(is_input_method(package))
    parts = (window, *screen.inside(window))
    is_dialog = any(part.resource_id and part.id_tail in _DIALOG_IDS for part in parts)
    return rank, -window.bounds.area, is_dialog, any(part.flags & FOCUSED for part in parts)


def front_window(screen: Screen) -> Node:
    """The window that a person works in, which is the only one a helper can see: the active one.

    Where the dump does not say, it is the topmost window that takes touches and is not a guest: not a toast,
    picture in picture, suggestions under a field, or the bar with Cut and Copy.
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
    """True for a window that floats above the one a person works in."""
    if window is ground:
        return False
    if is_toast(screen, window) or _hangs_on_field(screen, window):
        return True
    if _is_flat_bar(screen, window) and _field_in_use(screen, window):
        return True
    own = window.package_name == ground.package_name or window.package_name in SYSTEM_DIALOGS
    return not own and window.bounds.area * _STAGE < screen.bounds.area


def _has_content(screen: Screen, window: Node) -> bool:
    """True for a shade or a lock screen; the system also lays empty windows over everything."""
    parts = (window, *screen.inside(window))
    return any(part.flags & ACTIONABLE or part.text or part.description for part in parts)


@once_per_screen
def app_windows(screen: Screen) -> list[Node]:
    """Leaves out keyboards, toasts and what the system lays over the screen."""
    return [
        window
        for window in screen.windows
        if not is_input_method(window.package_name)
        and window.package_name != SYSTEM_UI
        and not is_toast(screen, window)
    ]


_ENDLESS = 1 << 30

_BAND_SHIFT = 7  # bands of 128 px
_MANY_BANDS = 40  # what spans more, taller than any phone, is kept in one list
_CROWD = 64  # coverers looked at per band; keeps 10,000 stacked nodes linear


def visible(screen: Screen) -> bytearray:
    """One byte per node by `order`: 1 for what is on the screen, has a size and is not covered."""
    return visible_with_layers(screen)[0]


@once_per_screen
def visible_with_layers(screen: Screen) -> tuple[bytearray, list[Node]]:
    """What is visible, and the parts of it that lie behind another layer of their window."""
    shown = on_screen(screen).copy()
    layers = layers_behind(screen)
    _drop_covered(screen, shown, layers)
    return shown, [layer for layer in layers if any(shown[layer.order : layer.end])]


@once_per_screen
def on_screen(screen: Screen) -> bytearray:
    """As `visible`, before occlusion: nodes with a part inside the screen and their scroll containers."""
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
        # Hides status and navigation bar unless nothing else is visible; a pulled-down shade is larger
        # and stays.
        bars = [window for window in screen.windows if is_system_bar(screen, window)]
        hidden = [order for bar in bars for order in range(bar.order, bar.end) if shown[order]]
        if len(hidden) < sum(shown):
            for order in hidden:
                shown[order] = 0
    return shown


def is_drawn_over(screen: Screen, upper: Node, lower: Node) -> bool | None:
    """Whether a node is drawn over one of another branch; None where the dump does not tell.

    The order of siblings tells nothing: Android hands children to accessibility ordered by their place on
    the screen. Windows were sorted when the screen was read, `drawing-order` tells it inside a window, and a
    web page lists its parts in the order in which it draws them.
    """
    if upper is lower or upper.is_inside(lower) or lower.is_inside(upper):
        return upper.is_inside(lower)
    over, under = upper, lower
    while over.parent is not None and not over.parent.order <= lower.order < over.parent.end:
        over = over.parent
    while under.parent is not over.parent and under.parent is not None:
        under = under.parent
    if screen.is_exact or (upper.native_id and lower.native_id) or is_window(over):
        return over.position > under.position
    drawn, other = over.drawing_order, under.drawing_order
    return drawn > other if drawn and other and drawn != other else None


def is_window(node: Node) -> bool:
    return node.parent is not None and node.parent.parent is None and not node.parent.class_name


def _drop_covered(screen: Screen, shown: bytearray, layers: Sequence[Node]) -> None:
    """Clears what lies fully under a clickable that is known to be drawn over it.

    A layer counts as a whole: what covers only a part of it covers nothing.
    """
    cover = ClickablesAbove()
    layer_at = {order: layer for layer in layers for order in range(layer.order, layer.end)}
    for node in reversed(paint_order(screen)):
        if not shown[node.order]:
            continue
        if node.covered_by or (node.covered_by is not None and screen.is_exact):
            if node.covered_by:
                shown[node.order] = 0
            continue
        over = cover.find_over(screen, node, layer_at.get(node.order) if layer_at else None)
        if over is not None:
            if node.flags & ACTIONABLE or not _is_transparent(over, screen):
                shown[node.order] = 0
        elif (
            node.covered_by is None
            and node.flags & CLICKABLE
            and not node.flags & SCROLLABLE
            and not is_web_veil(screen, node)
        ):
            cover.add(node)


@once_per_screen
def has_web_view(screen: Screen) -> bool:
    return "web_view" in [node.role for node in screen.nodes]


def is_web_veil(screen: Screen, node: Node) -> bool:
    """A silent part of a web page: a backdrop. In a web page, later in the tree does not mean above."""
    if node.text or node.description or not has_web_view(screen):
        return False
    if not any(up.role == "web_view" for up in node.ancestors()):
        return False
    return not any(part.text or part.description for part in screen.inside(node))


def _is_transparent(over: Node, screen: Screen) -> bool:
    """An empty tappable layer over a part of the screen takes the touches and shows the text behind it."""
    silent = not (over.children or over.text or over.description)
    return silent and over.bounds.area * 2 < screen.width * screen.height


@once_per_screen
def paint_order(screen: Screen) -> list[Node]:
    """Document order, except where the dump tells another drawing order among siblings.

    Where nothing is told the order is a guess: `is_drawn_over` says what is known.
    """
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


class ClickablesAbove:
    """The clickables that may be drawn over the node in hand, kept by horizontal bands of the screen."""

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

    def find_over(self, screen: Screen, node: Node, layer: Node | None = None) -> Node | None:
        """A clickable outside `node` that is known to hide it, or its layer, as a whole."""
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
                    and is_drawn_over(screen, over, node)
                ):
                    return over
        return None


Kind = Literal["permission", "crash", "anr", "chooser", "installer"]

_PERMISSION_PACKAGES = re.compile(
    r"permissioncontroller$|packageinstaller$|securitypermission$|^com\.lbe\.security\.miui$"
)
_PERMISSION_IDS = frozenset({"grant_dialog", "grant_singleton", "permission_message", "desc_container"})
_PERMISSION_BUTTON = re.compile(r"permission_(?:allow|deny|no_upgrade).*button|.*location_accuracy.*")
_INSTALLER_PACKAGES = re.compile(r"packageinstaller$")
_CHOOSER_PACKAGES = frozenset({"com.android.intentresolver", "com.google.android.intentresolver"})
_CHOOSER_IDS = frozenset(
    {"resolver_list", "resolver_tab_divider", "chooser_header",
     "button_always", "button_once", "profile_pager"}
)  # fmt: skip
_SYSTEM = frozenset({"android", "com.android.systemui"})
_CRASH_IDS = frozenset({"aerr_close", "aerr_restart", "aerr_app_info", "aerr_report", "aerr_mute"})
_ANR_WORDS = re.compile(
    r"n['’]t responding|not responding|没有响应|無回應|无响应|応答していません|응답하지 않"
    r"|no responde|não está respondendo|ne répond pas|reagiert nicht|non risponde|не отвечает|yanıt vermiyor",
    re.IGNORECASE,
)
_CRASH_WORDS = re.compile(
    r"keeps? stopping|has stopped|停止运行|停止運作|停止しま|停止しています|중지됨|중단"
    r"|se ha detenido|se detiene|parou"
    r"|s['’]est arrêté|cessé de fonctionner|wurde beendet|angehalten|si è (?:arrestat|interrott|bloccat)"
    r"|приложение .* (?:остановлено|снова дало сбой)|durdu",
    re.IGNORECASE,
)
_TITLE_IDS = ("permission_message", "alertTitle", "install_confirm_question", "title", "message")
_IOS_PROMPTERS = frozenset({SPRINGBOARD, "com.apple.ContactsUI.LimitedAccessPromptView"})
_BUTTON_ROLES = frozenset({"button", "image_button"})


@dataclass(frozen=True, slots=True)
class ScreenDialog:
    """One dialog; `nodes[i]` is the node of `buttons[i]`."""

    kind: Kind
    package: str
    title: str
    buttons: tuple[str, ...]
    nodes: tuple[Node, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "package": self.package,
            "title": self.title,
            "buttons": list(self.buttons),
        }


@once_per_screen
def system_dialogs(screen: Screen) -> list[ScreenDialog]:
    """The system dialogs that are up, the topmost last."""
    return [dialog for window in screen.windows if (dialog := _read_dialog(screen, window))]


def _read_dialog(screen: Screen, window: Node) -> ScreenDialog | None:
    nodes = [window, *screen.inside(window)]
    package = window.package_name or screen.package  # some exporters leave it out at a window's root
    kind = _dialog_kind(package, nodes)
    if kind is None:
        return None
    buttons = [(label, node) for node, label in _dialog_buttons(screen, nodes)]
    return ScreenDialog(
        kind,
        package,
        _dialog_title(nodes),
        tuple(label for label, _ in buttons),
        tuple(node for _, node in buttons),
    )


def _dialog_kind(package: str, nodes: list[Node]) -> Kind | None:
    if package in _IOS_PROMPTERS:
        return "permission" if nodes[0].short_class == "Alert" else None
    ids = {node.id_tail for node in nodes if node.resource_id}
    # The prompt itself, not the permission manager's pages, which the same package draws.
    if _PERMISSION_PACKAGES.search(package) and (
        bool(ids & _PERMISSION_IDS) or any(_PERMISSION_BUTTON.fullmatch(name) for name in ids)
    ):
        return "permission"
    if package in _SYSTEM and (failure := _crash_or_hang(ids, nodes)):
        return failure
    if package in _CHOOSER_PACKAGES or (package == "android" and ids & _CHOOSER_IDS):
        return "chooser"
    return "installer" if _INSTALLER_PACKAGES.search(package) else None


def _crash_or_hang(ids: set[str], nodes: list[Node]) -> Kind | None:
    if "aerr_wait" in ids:
        return "anr"
    words = " ".join(node.text for node in nodes if node.id_tail in _TITLE_IDS)
    if ids & _CRASH_IDS:
        return "anr" if _ANR_WORDS.search(words) else "crash"
    if "button1" not in ids:  # the framework's alert, as crash dialogs were before Android 7
        return None
    if _ANR_WORDS.search(words):
        return "anr"
    return "crash" if _CRASH_WORDS.search(words) else None


def _dialog_title(nodes: list[Node]) -> str:
    """The text under the best-known id, else the first text that is not on a button."""
    if nodes[0].pane_title:
        return nodes[0].pane_title
    by_id = {node.id_tail: node.text for node in reversed(nodes) if node.text and node.resource_id}
    for name in _TITLE_IDS:
        if name in by_id:
            return by_id[name]
    plain = (node.text for node in nodes if node.text and node.role not in _BUTTON_ROLES)
    return next(plain, "")


def _dialog_buttons(screen: Screen, nodes: list[Node]) -> Iterator[tuple[Node, str]]:
    for node in nodes:
        if node.flags & CLICKABLE and (node.role in _BUTTON_ROLES or "button" in node.id_tail):
            label = (
                node.text
                or node.description
                or next((inner.text for inner in screen.inside(node) if inner.text), "")
            )
            if label:
                yield node, label


_MIN_PX = 5
_LONG = 3  # a bar this many times as wide as high is no spinner
_PLACEHOLDER = re.compile(r"shimmer|skeleton", re.IGNORECASE)
_SPINNER = re.compile(
    r"ProgressBar|ProgressIndicator|LoadingIndicator|LoadingView|LoadingSpinner|SpinKit|ActivityIndicator"
)
_DOTS = r"\s*(?:…|\.{1,3}|。{1,3})"
_BUSY = (
    r"loading|please wait|just a moment|one moment(?: please)?"
    r"|fetching|connecting|refreshing|syncing|processing"
)
_ENGLISH = re.compile(rf"(?:{_BUSY})(?:{_DOTS})?|(?:{_BUSY})\s[^.…\n]{{1,40}}(?:…|\.{{3}})", re.IGNORECASE)
_FOREIGN_WORDS = frozenset(
    word.replace("_", " ")
    for word in """
    正在加载 加载中 载入中 正在载入 请稍候 请稍等 请稍后 正在連接 正在连接 讀取中 載入中 読み込み中 接続中
    お待ちください 로드_중 로딩_중 불러오는_중 연결_중 잠시만_기다려_주세요 chargement
    chargement_en_cours veuillez_patienter wird_geladen laden lädt bitte_warten cargando espere
    por_favor_espere conectando carregando aguarde caricamento caricamento_in_corso attendere загрузка
    подождите пожалуйста,_подождите подключение yükleniyor lütfen_bekleyin ładowanie proszę_czekać
    memuat mohon_tunggu đang_tải vui_lòng_chờ กำลังโหลด جارٍ_التحميل लोड_हो_रहा_है
    """.split()  # noqa: SIM905 (a table, not a list)
)
_BUSY_STATE = re.compile(r"in progress|busy|loading", re.IGNORECASE)
_VALUE = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class LoadingIndicator:
    """One sign of loading; `why` is for people: "spinner", "placeholder", or the words on the screen."""

    node: Node
    why: str

    def __str__(self) -> str:
        return f"{self.why} {self.node.bounds}"


@once_per_screen
def loading_indicators(screen: Screen) -> list[LoadingIndicator]:
    """Every visible sign that something is still being loaded, in document order."""
    visible = [node for node in screen.nodes if _may_show_loading(screen, node)]
    has_bar = any(_is_progress(node) and not _shows_number(node) for node in visible)
    reasons = ((node, _loading_reason(node, has_bar=has_bar)) for node in visible)
    return [LoadingIndicator(node, why) for node, why in reasons if why]


@lru_cache(maxsize=4096)
def _is_loading_kind(class_name: str, resource_id: str) -> bool:
    names = class_name.rpartition(".")[2], resource_id.rpartition(":id/")[2]
    return _SPINNER.search(class_name) is not None or any(map(_PLACEHOLDER.search, names))


def _may_show_loading(screen: Screen, node: Node) -> bool:
    """A visible node of the app that says something or looks like a spinner or placeholder."""
    speaks = node.text or node.description or node.state_description or node.role == "progress_bar"
    if not speaks and not _is_loading_kind(node.class_name, node.resource_id):
        return False
    if node.flags & HIDDEN or is_backdrop(node.package_name):
        return False
    shown = node.bounds.intersect(screen.bounds)
    return shown.width >= _MIN_PX and shown.height >= _MIN_PX


def _is_progress(node: Node) -> bool:
    return node.role == "progress_bar" or _SPINNER.search(node.class_name) is not None


def _shows_number(node: Node) -> bool:
    return any(_VALUE.search(text) for text in (node.text, node.description, node.state_description))


def _loading_reason(node: Node, *, has_bar: bool) -> str:
    if _is_progress(node) and _is_indeterminate(node):
        return "spinner"
    if _PLACEHOLDER.search(node.short_class) or _PLACEHOLDER.search(node.id_tail):
        return "placeholder"
    for text in (node.text, node.description):
        if _says_busy(node, text.strip(), has_bar=has_bar):
            return f'"{text.strip()}"'
    return ""


def _is_indeterminate(node: Node) -> bool:
    if _shows_number(node):
        return False
    is_long = node.bounds.width >= _LONG * node.bounds.height
    return not is_long or _BUSY_STATE.search(f"{node.state_description} {node.class_name}") is not None


def _says_busy(node: Node, text: str, *, has_bar: bool) -> bool:
    """English words count alone; words of other languages only next to a progress bar."""
    if not text or node.role == "text_field":
        return False
    if _ENGLISH.fullmatch(text):
        # "Loading" on something to tap is a name; "Loading…" is a state.
        return not node.flags & CLICKABLE or text[-1] in ".…"
    return has_bar and text.rstrip(" .…。").lower() in _FOREIGN_WORDS

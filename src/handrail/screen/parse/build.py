"""Puts parsed nodes together to a `Screen`: attributes, links, display size, package, limits."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from handrail.errors import TreeParseError
from handrail.screen.node import (
    CHECKABLE,
    CHECKED,
    CLICKABLE,
    ENABLED,
    FOCUSABLE,
    FOCUSED,
    HIDDEN,
    LONG_CLICKABLE,
    PASSWORD,
    ROWLIKE,
    SCROLLABLE,
    SELECTED,
    Bounds,
    Node,
    Screen,
)
from handrail.screen.windows import front_window, is_backdrop, stacking_rank

MAX_BYTES = 8 * 1024 * 1024  # a screen of 10,000 nodes takes about 4 MB of XML
MAX_NODES = 50_000
MAX_DEPTH = 400  # real screens stay below 100

_COMMON_WIDTHS = (480, 540, 600, 720, 768, 800, 1080, 1200, 1440, 1600, 2160)  # portrait, in pixels


STACK_GUESSED = "which of two equally large windows is in front is a guess"


@dataclass(slots=True)
class WindowDraft:
    """One window of a dump. The highest layer is on top; the position in the list means nothing."""

    root: Node
    focused: bool = False
    layer: int = 0
    display: str = ""


@dataclass(slots=True)
class ScreenDraft:
    """What a reader found. `complete` turns it into a screen."""

    windows: list[WindowDraft] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)  # in document order; `complete` renumbers if need be
    width: int = 0
    height: int = 0
    rotation: int = 0
    package: str = ""
    warnings: list[str] = field(default_factory=list)

    def warn(self, message: str) -> None:
        if message not in self.warnings:
            self.warnings.append(message)


def attach(node: Node, nodes: list[Node], stack: list[Node]) -> bool:
    """Puts a node in document order below the innermost open one; False for a root."""
    node.order = len(nodes)
    nodes.append(node)
    if not stack:
        return False
    parent = stack[-1]
    node.parent = parent
    node.position = len(parent.children)
    parent.children.append(node)
    if parent.role == "list" and node.role in ROWLIKE:
        node.role = "list_item"
    return True


def complete(draft: ScreenDraft) -> Screen:
    """The screen of a draft; a dump without a single node is an error, not an empty screen."""
    # The windows of the main display, the topmost last where layers tell it.
    windows = draft.windows
    displays = {window.display for window in windows}
    if len(displays) > 1:
        main = "0" if "0" in displays else windows[0].display
        others = [window for window in windows if window.display not in ("", main)]
        windows = [window for window in windows if window.display in ("", main)]
        draft.warn(f"windows left out, on another display: {len(others)}")
    windows = sorted(windows, key=lambda window: window.layer)
    if not windows:
        raise TreeParseError("The dump holds no UI node", offset=0)
    width, height = _display_size(draft, [window.root for window in windows])
    if len(windows) > 1 and len({window.layer for window in windows}) < len(windows):
        _stack(draft, windows, Screen(windows[0].root, draft.nodes, width, height, ""))
    screen = _assemble(draft, windows, width, height)
    active = [window.root for window in windows if window.focused]
    screen.active = active[0] if len(active) == 1 else None
    screen.package = draft.package or _package(draft, screen)
    if not screen.root.class_name and not screen.root.package_name:
        screen.root.package_name = screen.package
    return screen


def _assemble(draft: ScreenDraft, windows: list[WindowDraft], width: int, height: int) -> Screen:
    roots = [window.root for window in windows]
    for position, root in enumerate(roots):
        root.position = position
    root = roots[0] if len(roots) == 1 else _virtual_root(roots, Bounds(0, 0, width, height))
    is_whole = len(roots) == len(draft.windows) == 1
    nodes = draft.nodes if is_whole else _number(root)
    return Screen(root, nodes, width, height, "", draft.rotation, draft.warnings)


def _stack(draft: ScreenDraft, windows: list[WindowDraft], screen: Screen) -> None:
    """Sorts the windows into drawing order, derived from what they are.

    Without layers the order of a dump means nothing: some servers collect windows in a hash set.
    """
    heights = {id(window): (window.layer, *stacking_rank(screen, window.root)) for window in windows}
    windows.sort(key=lambda window: (heights[id(window)], _face(screen, window.root)))
    for below, above in pairwise(windows):
        if heights[id(below)] == heights[id(above)] and below.root.bounds.intersect(above.root.bounds).area:
            draft.warn(STACK_GUESSED)


def _face(screen: Screen, root: Node) -> tuple[object, ...]:
    """Sorts windows of equal rank the same way in every dump."""
    labels = [node.text or node.description for node in screen.inside(root) if node.text or node.description]
    return root.package_name, root.bounds, root.class_name, labels


def put_in_front(screen: Screen, window: Node) -> Screen:
    """The same screen with this window marked as active and drawn above what is as large."""
    others = [other for other in screen.windows if other is not window]
    above = [
        other for other in others if stacking_rank(screen, other)[:2] > stacking_rank(screen, window)[:2]
    ]
    below = [other for other in others if other not in above]
    draft = ScreenDraft(nodes=screen.nodes[1:], rotation=screen.rotation, warnings=screen.warnings)
    draft.windows = [WindowDraft(other) for other in (*below, window, *above)]
    draft.warnings = [warning for warning in screen.warnings if warning != STACK_GUESSED]
    stacked = _assemble(draft, draft.windows, screen.width, screen.height)
    stacked.active = window
    stacked.package = _package(draft, stacked)
    return stacked


def _virtual_root(roots: list[Node], bounds: Bounds) -> Node:
    root = Node("", "", "", "", "", bounds, 0, "container", 0, children=roots)
    for child in roots:
        child.parent = root
    return root


def _number(root: Node) -> list[Node]:
    """Document order, and `order` and `end` of every node, without recursion."""
    nodes: list[Node] = []
    stack = [root]
    while stack:
        node = stack.pop()
        node.order = len(nodes)
        nodes.append(node)
        stack.extend(reversed(node.children))
    for node in reversed(nodes):
        node.end = node.children[-1].end if node.children else node.order + 1
    return nodes


def _display_size(draft: ScreenDraft, roots: list[Node]) -> tuple[int, int]:
    boxes = [root.bounds for root in roots if root.bounds.area]
    if draft.width > 0 and draft.height > 0:
        return _true_size(draft, boxes)
    if not boxes:
        boxes = [node.bounds for node in draft.nodes if node.bounds.area] or [Bounds(0, 0, 0, 0)]
    left, top = min(box.left for box in boxes), min(box.top for box in boxes)
    right, bottom = max(box.right for box in boxes), max(box.bottom for box in boxes)
    if left <= 0 or top <= 0 or right <= 0:
        return max(right, 0), max(bottom, 0)
    # Only a floating window: dialogs are centred, menus are not.
    draft.warn("the display size is a guess: only a dialog or menu was dumped")
    width = next((common for common in _COMMON_WIDTHS if common >= right), right)
    centred = abs(left + right - width) <= 8
    return width, top + bottom if centred else bottom


def _true_size(draft: ScreenDraft, boxes: list[Bounds]) -> tuple[int, int]:
    """What the header says, unless a window that begins in the corner goes beyond it.

    Some exporters swap the sides of a turned phone, leave out a bar, or count in other units.
    """
    width, height = draft.width, draft.height
    full = [box for box in boxes if box.left <= 0 and box.top <= 0]
    right, bottom = (
        max((box.right for box in full), default=0),
        max((box.bottom for box in full), default=0),
    )
    if right <= width and bottom <= height:
        return width, height
    if right <= height and bottom <= width:
        size = height, width
    else:
        size = max(width, right), max(height, bottom)
    draft.warn(f"the header says {width}x{height}, and the windows {size[0]}x{size[1]}")
    return size


def _package(draft: ScreenDraft, screen: Screen) -> str:
    """The app in front: the active window's, else that of most nodes; bars and keyboards only if alone."""
    windows = screen.windows
    if len(windows) > 1:
        front_package = front_window(screen).package_name
        if not is_backdrop(front_package) and front_package:
            return front_package
        hosts = [window.package_name for window in windows if not is_backdrop(window.package_name)]
        if hosts and hosts[-1]:
            return hosts[-1]
    counts = Counter(node.package_name for node in draft.nodes)
    counts.pop("", None)
    ranked = [name for name, _ in counts.most_common()]
    if not ranked:
        # Some exporters leave `package` out; resource ids still begin with it.
        owners = Counter(
            node.resource_id.partition(":")[0] for node in draft.nodes if ":id/" in node.resource_id
        )
        return next((name for name, _ in owners.most_common() if name != "android"), "")
    return next((name for name in ranked if not is_backdrop(name)), ranked[0])


MAX_PIXEL = 1_000_000
NO_BOUNDS = Bounds(0, 0, 0, 0)
FLAG_NAMES = {
    "checkable": CHECKABLE,
    "checked": CHECKED,
    "clickable": CLICKABLE,
    "focusable": FOCUSABLE,
    "focused": FOCUSED,
    "scrollable": SCROLLABLE,
    "long-clickable": LONG_CLICKABLE,
    "password": PASSWORD,
    "selected": SELECTED,
}

_FLAGS = tuple(FLAG_NAMES.items())
TYPABLE = frozenset({"container", "unknown", "text_view", "list_item"})
_NUMBER = re.compile(r"-?\d{1,12}", re.ASCII)


def read_flags(attrs: Mapping[str, str]) -> int:
    """The flag bits; a node without `enabled` is enabled."""
    get = attrs.get
    flags = ENABLED if get("enabled") != "false" else 0
    for name, flag in _FLAGS:
        if get(name) == "true":
            flags |= flag
    return flags


def read_extras(node: Node, attrs: Mapping[str, str]) -> None:
    get = attrs.get
    node.hint_text = get("hint") or get("hint-text") or ""
    node.tooltip_text = get("tooltip-text") or ""
    node.state_description = get("state-description") or ""
    node.pane_title = get("pane-title") or ""
    node.drawing_order = small_int(get("drawing-order") or "")
    if get("visible-to-user") == "false" or get("displayed") == "false":
        node.flags |= HIDDEN
    if not node.hint_text and get("showing-hint") == "true":
        node.hint_text = node.text
    if get("editable") == "true" and node.role in TYPABLE:
        node.role = "text_field"


def read_bounds(text: str) -> Bounds | None:
    """`[left,top][right,bottom]`, inverted and negative ones as they are; None without four numbers."""
    numbers = _NUMBER.findall(text[:80])
    return clamp(map(int, numbers)) if len(numbers) == 4 else None


def clamp(numbers: Iterable[int]) -> Bounds:
    """Limits coordinates to a range that any display could have."""
    bounds = Bounds(*numbers)
    if min(bounds) >= -MAX_PIXEL and max(bounds) <= MAX_PIXEL:
        return bounds
    return Bounds(*(max(-MAX_PIXEL, min(MAX_PIXEL, number)) for number in bounds))


def small_int(text: str) -> int:
    """A number of at most six digits, else 0."""
    digits = text[1:] if text.startswith("-") else text
    return int(text) if len(digits) < 7 and digits.isdecimal() else 0


FRAMES = frozenset({"hierarchy", "displays", "display", "window"})


class Frames:
    """Follows the frame tags of one dump and enters every root node as a window of the draft."""

    def __init__(self, draft: ScreenDraft) -> None:
        self._draft = draft
        self._display = ""
        self._layer = 0
        self._focused = False

    def open(self, tag: str, attrs: Mapping[str, str]) -> None:
        """A `window` has its own layer and focus; a display or hierarchy may have the size."""
        get = attrs.get
        if tag == "window":
            self._focused = "true" in (get("focused"), get("active"))
            self._layer = small_int(get("layer", ""))
            return
        if tag == "display":
            self._display = get("id", "")
        elif tag == "hierarchy" and "rotation" in attrs:
            self._draft.rotation = small_int(attrs["rotation"]) % 4
        width, height = small_int(get("width", "")), small_int(get("height", ""))
        if width > 0 and height > 0:
            self._draft.width, self._draft.height = width, height

    def add_root(self, node: Node, display: str) -> None:
        windows = self._draft.windows
        node.position = len(windows)
        windows.append(WindowDraft(node, self._focused, self._layer, display or self._display))

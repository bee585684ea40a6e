"""Puts parsed nodes together to a `Screen`: attributes, links, display size, package, limits."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
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
    """What a reader found. `complete_screen` turns it into a screen."""

    windows: list[WindowDraft] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)  # in document order; `complete_screen` renumbers them
    width: int = 0
    height: int = 0
    rotation: int = 0
    package: str = ""
    is_cut: bool = False
    warnings: list[str] = field(default_factory=list)

    def warn(self, message: str) -> None:
        if message not in self.warnings:
            self.warnings.append(message)


def complete_screen(draft: ScreenDraft) -> Screen:
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
        _sort_windows_without_layers(draft, windows, Screen(windows[0].root, draft.nodes, width, height, ""))
    screen = _assemble_screen(draft, windows, width, height)
    active = [window.root for window in windows if window.focused]
    screen.active = active[0] if len(active) == 1 else None
    screen.package = draft.package or _package_in_front(draft, screen)
    screen.is_cut = draft.is_cut
    if not screen.root.class_name and not screen.root.package_name:
        screen.root.package_name = screen.package
    return screen


def _assemble_screen(draft: ScreenDraft, windows: list[WindowDraft], width: int, height: int) -> Screen:
    roots = [window.root for window in windows]
    for position, root in enumerate(roots):
        root.position = position
    if len(roots) == 1:
        root = roots[0]
    else:
        root = Node("", "", "", "", "", Bounds(0, 0, width, height), 0, "container", 0, children=roots)
        for child in roots:
            child.parent = root
    is_whole = len(roots) == len(draft.windows) == 1
    nodes = draft.nodes if is_whole else _number_nodes(root)
    return Screen(root, nodes, width, height, "", draft.rotation, draft.warnings)


def _sort_windows_without_layers(draft: ScreenDraft, windows: list[WindowDraft], screen: Screen) -> None:
    """Sorts the windows into drawing order, derived from what they are.

    Without layers the order of a dump means nothing: some servers collect windows in a hash set.
    """
    heights = {id(window): (window.layer, *stacking_rank(screen, window.root)) for window in windows}
    windows.sort(key=lambda window: (heights[id(window)], _steady_sort_key(screen, window.root)))
    for below, above in pairwise(windows):
        if heights[id(below)] == heights[id(above)] and below.root.bounds.intersect(above.root.bounds).area:
            draft.warn(STACK_GUESSED)


def _steady_sort_key(screen: Screen, root: Node) -> tuple[object, ...]:
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
    stacked = _assemble_screen(draft, draft.windows, screen.width, screen.height)
    stacked.active = window
    stacked.package = _package_in_front(draft, stacked)
    return stacked


def _number_nodes(root: Node) -> list[Node]:
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
        return _correct_header_size(draft, boxes)
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


def _correct_header_size(draft: ScreenDraft, boxes: list[Bounds]) -> tuple[int, int]:
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


def _package_in_front(draft: ScreenDraft, screen: Screen) -> str:
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
_FLAGS = {
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

_EXTRAS = frozenset(
    """
    hint hint-text tooltip-text state-description pane-title drawing-order visible-to-user displayed
    showing-hint editable
    """.split()  # noqa: SIM905 (a table, not a list)
)
TYPABLE = frozenset({"container", "unknown", "text_view", "list_item"})
_NUMBER = re.compile(r"-?\d{1,12}", re.ASCII)


def read_flags(attrs: Mapping[str, str]) -> int:
    """The flag bits; a node without `enabled` is enabled."""
    flags = ENABLED if attrs.get("enabled") != "false" else 0
    for name, value in attrs.items():
        if value == "true":
            flags |= _FLAGS.get(name, 0)
    return flags


def read_extras(node: Node, attrs: Mapping[str, str]) -> None:
    """Attributes that Android's own dumper leaves out, so that most nodes have none of them."""
    if _EXTRAS.isdisjoint(attrs):
        return
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


@lru_cache(maxsize=8192)
def read_bounds(text: str) -> Bounds | None:
    """`[left,top][right,bottom]`, inverted and negative ones as they are; None without four numbers."""
    numbers = _NUMBER.findall(text[:80])
    return clamp_bounds(map(int, numbers)) if len(numbers) == 4 else None


def clamp_bounds(numbers: Iterable[int]) -> Bounds:
    """Limits coordinates to a range that any display could have."""
    bounds = Bounds(*numbers)
    if min(bounds) >= -MAX_PIXEL and max(bounds) <= MAX_PIXEL:
        return bounds
    return Bounds(*(max(-MAX_PIXEL, min(MAX_PIXEL, number)) for number in bounds))


def small_int(text: str) -> int:
    """A number of at most six digits, else 0."""
    digits = text[1:] if text.startswith("-") else text
    return int(text) if len(digits) < 7 and digits.isdecimal() else 0

"""Short hashes that tell whether two screens are the same: while waiting, after navigation, in every detail.

No function of one screen can ignore every 2 px move and still see every longer one, for small moves add up
to long ones; a grid only hides that, and flips at its borders. So positions are left out of the hashes: what
counts is which elements are shown, in which order and state. Two borders remain, where screens at rest rarely
are: an element that an edge cuts counts as shown from 8 visible pixels on, and content that begins above or
left of its scroll container counts by steps of 256 px, from 48 px on. Shorter moves in which nothing comes or
goes are for `at_rest`, which compares two screens node by node.

One screen has one `screen_fingerprint` and one `content_fingerprint`, whoever read it. Plain adb, u2 and the
HTTP helper see the active window alike; only some of them see the windows around it, hints, states, tooltips,
titles of panes and the values of sliders. So these two take what all of them tell.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from hashlib import blake2b
from operator import attrgetter

from handrail.screen.node import (
    ACTIONABLE,
    CHECKABLE,
    CHECKED,
    CLICKABLE,
    ENABLED,
    HIDDEN,
    JITTER_PX,
    LONG_CLICKABLE,
    PASSWORD,
    SCROLLABLE,
    SELECTED,
    Bounds,
    Node,
    Screen,
    once_per_screen,
)
from handrail.screen.text import is_clock_like
from handrail.screen.windows import front_window, is_system_bar

_SLIVER_PX = 8
_FIRST_STEP_PX = 48
_STEP_PX = 256
_STATES = ENABLED | SELECTED | CHECKED | CHECKABLE | CLICKABLE | SCROLLABLE | LONG_CLICKABLE | PASSWORD
_SCROLLERS = frozenset({"list", "scroll_view"})
_TELLING = frozenset({"text_field", "slider", "progress_bar"})
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_NOTHING: frozenset[Node] = frozenset()


@once_per_screen
def idle_fingerprint(screen: Screen, ignore: Collection[Node] = _NOTHING) -> str:
    """Equal while nothing but cursor, focus, clocks and 2 px jitter changes; typing changes it."""
    return _digest(map(_idle_part, _distinguishing_nodes(screen, ignore))).hexdigest()


@once_per_screen
def screen_fingerprint(screen: Screen, ignore: Collection[Node] = _NOTHING) -> str:
    """Six characters for the window in front: as the idle fingerprint, but blind to what fields hold."""
    number = int.from_bytes(
        _digest(map(_screen_part, _distinguishing_nodes_in_front(screen, ignore))).digest(), "big"
    )
    characters = []
    for _ in range(6):
        number, digit = divmod(number, 36)
        characters.append(_DIGITS[digit])
    return "".join(characters)


@once_per_screen
def content_fingerprint(screen: Screen, ignore: Collection[Node] = _NOTHING) -> str:
    """As the screen fingerprint, with what fields hold: what a person was asked to approve."""
    return _digest(map(_content_part, _distinguishing_nodes_in_front(screen, ignore))).hexdigest()


@once_per_screen
def state_signature(screen: Screen) -> str:
    """Changes with anything: every node, every attribute, every pixel."""
    head = f"{screen.width}x{screen.height} {screen.rotation}"
    return _digest([head, *map(_every_part, screen.nodes)]).hexdigest()


def at_rest(before: Screen, after: Screen, ignore: Collection[Node] = _NOTHING) -> bool:
    """True if nothing changed and nothing shown moved by more than 2 px; `ignore` may name nodes of both."""
    old, new = _distinguishing_nodes(before, ignore), _distinguishing_nodes(after, ignore)
    if len(old) != len(new):
        return False
    return all(
        _is_within_jitter(before_node.bounds, after_node.bounds)
        and (
            before_node.scrolled == after_node.scrolled
            or _is_within_jitter(before_node.scrolled or (), after_node.scrolled or ())
        )
        and _idle_part(before_node) == _idle_part(after_node)
        for before_node, after_node in zip(old, new, strict=True)
    )


def _is_within_jitter(first: Sequence[int], second: Sequence[int]) -> bool:
    if first == second:
        return True
    return len(first) == len(second) and all(
        abs(a - b) <= JITTER_PX for a, b in zip(first, second, strict=True)
    )


def _digest(parts: Iterable[str]) -> blake2b:
    return blake2b("\x1e".join(parts).encode("utf-8", "surrogatepass"), digest_size=8)


@once_per_screen
def _distinguishing_nodes(screen: Screen, ignore: Collection[Node] = _NOTHING) -> list[Node]:
    """The nodes that distinguish this screen: visible, and labelled, active or with an id."""
    shown: list[Node] = []
    for window in screen.windows:
        if not is_system_bar(screen, window):
            _collect_distinguishing_nodes(screen, window, ignore, shown)
    return shown or [node for node in screen.nodes if not node.flags & HIDDEN and node not in ignore]


@once_per_screen
def _distinguishing_nodes_in_front(screen: Screen, ignore: Collection[Node] = _NOTHING) -> list[Node]:
    """As `_distinguishing_nodes`, of the window in front alone."""
    window = front_window(screen)
    shown: list[Node] = []
    _collect_distinguishing_nodes(screen, window, ignore, shown, told_by_all=True)
    inside = (window, *screen.inside(window))
    return shown or [node for node in inside if not node.flags & HIDDEN and node not in ignore]


def _collect_distinguishing_nodes(
    screen: Screen, window: Node, ignore: Collection[Node], shown: list[Node], *, told_by_all: bool = False
) -> None:
    says = _says_something_on_every_channel if told_by_all else _says_something
    nodes = screen.nodes
    end, clip = window.end, screen.bounds
    clips = [(end, clip)]
    at = window.order
    while at < window.end:
        node = nodes[at]
        if ignore and node in ignore:
            at = node.end
            continue
        if end <= at:
            while clips[-1][0] <= at:
                clips.pop()
            end, clip = clips[-1]
        at += 1
        scrolls = node.flags & SCROLLABLE or node.role in _SCROLLERS
        if not node.flags & HIDDEN:
            speaks = says(node)
            # Known by its id and nothing else: an icon, a pane, a divider. Counts wherever it is.
            is_named = node.resource_id and not speaks
            if is_named or ((scrolls or speaks) and _is_visible_inside(node.bounds, clip)):
                shown.append(node)
        if scrolls and node.end > at:
            end, clip = node.end, node.bounds.intersect(clip)
            clips.append((end, clip))


def _says_something(node: Node) -> bool:
    return bool(
        _says_something_on_every_channel(node) or node.state_description or node.hint_text or node.pane_title
    )


def _says_something_on_every_channel(node: Node) -> bool:
    return bool(node.text or node.description or node.flags & ACTIONABLE or node.role in _TELLING)


def _is_visible_inside(bounds: Bounds, clip: Bounds) -> bool:
    """True if at least 8 px each way are visible, or if it is small and no edge could have cut it."""
    left, top, right, bottom = bounds.intersect(clip)
    if right - left >= _SLIVER_PX <= bottom - top:
        return True
    return all(
        min(high, end) - max(low, start) >= _SLIVER_PX
        or (low - start >= _SLIVER_PX and end - high >= _SLIVER_PX and high - low > -_SLIVER_PX)
        for low, high, start, end in zip(bounds[:2], bounds[2:], clip[:2], clip[2:], strict=True)
    )


def _idle_part(node: Node) -> str:
    return (
        f"{_common_part(node)}\x1f{_text_unless_clock(node.text)}\x1f{node.hint_text}"
        f"\x1f{_text_unless_clock(node.state_description)}\x1f{node.pane_title}\x1f{node.tooltip_text}"
    )


def _screen_part(node: Node) -> str:
    if node.role in _TELLING or node.flags & PASSWORD:
        return _common_part(node)
    return f"{_common_part(node)}\x1f{_text_unless_clock(node.text)}"


def _content_part(node: Node) -> str:
    if node.role == "slider":
        return _common_part(node)
    return f"{_common_part(node)}\x1f{_text_unless_clock(node.text)}"


def _common_part(node: Node) -> str:
    description, flags = _text_unless_clock(node.description), node.flags & _STATES
    look = node.drawn.look if node.drawn is not None else ""
    return f"{node.role}\x1f{node.resource_id}\x1f{description}\x1f{flags}{_scroll_part(node)}{look}"


def _text_unless_clock(text: str) -> str:
    return "" if not text or is_clock_like(text) else text


def _scroll_part(node: Node) -> str:
    """The scroll offset in steps; where the surface does not report it, how far the content begins above or
    left of the container.
    """
    if node.scrolled is not None:
        return f"\x1f{_count_scroll_steps(node.scrolled.x)},{_count_scroll_steps(node.scrolled.y)}"
    if not node.children or not (node.flags & SCROLLABLE or node.role in _SCROLLERS):
        return ""
    first = node.children[0].bounds
    across, down = node.bounds.left - first.left, node.bounds.top - first.top
    return f"\x1f{_count_scroll_steps(across)},{_count_scroll_steps(down)}"


def _count_scroll_steps(distance: int) -> int:
    return 0 if distance < _FIRST_STEP_PX else 1 + (distance - _FIRST_STEP_PX) // _STEP_PX


_EVERY_TEXT = attrgetter(
    "class_name", "role", "resource_id", "package_name", "text", "description", "hint_text",
    "state_description", "pane_title", "tooltip_text",
)  # fmt: skip


def _every_part(node: Node) -> str:
    numbers = f"{node.end - node.order} {node.bounds} {node.flags} {node.index} {node.drawing_order}"
    look = node.drawn.look if node.drawn is not None else ""
    return "\x1f".join((numbers, f"{node.scrolled}", look, *_EVERY_TEXT(node)))

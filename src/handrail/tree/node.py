"""The values everything in `tree/` works on: `Node`, one UI element with its role, and `Screen`, one dump.

Nodes are slots objects, not pydantic models: a screen has hundreds of them and is read on the hot path.
A parsed tree is never changed; `Node` holds what the dump said, `roles` and `parse` decide the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

ENABLED = 1 << 0
FOCUSED = 1 << 1
SELECTED = 1 << 2
CHECKED = 1 << 3
CHECKABLE = 1 << 4
CLICKABLE = 1 << 5
SCROLLABLE = 1 << 6
LONG_CLICKABLE = 1 << 7
PASSWORD = 1 << 8
FOCUSABLE = 1 << 9
HIDDEN = 1 << 10  # visible-to-user="false" or displayed="false"
ACTIONABLE = CLICKABLE | LONG_CLICKABLE | CHECKABLE | SCROLLABLE

CLIPPED = "clipped"
"""Covers an element that is cut off by what is around it."""
MASK = "••••"
"""Stands for what a password field holds; its length says nothing."""


class ScreenPoint(NamedTuple):
    """Absolute device pixels."""

    x: int
    y: int


class Bounds(NamedTuple):
    """Absolute device pixels; right and bottom are outside."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        return self.right - self.left

    @property
    def height(self) -> int:
        return self.bottom - self.top

    @property
    def area(self) -> int:
        """0 for what has no visible size, inverted bounds included."""
        return max(0, self.right - self.left) * max(0, self.bottom - self.top)

    @property
    def center(self) -> ScreenPoint:
        return ScreenPoint((self.left + self.right) // 2, (self.top + self.bottom) // 2)

    def intersect(self, other: Bounds) -> Bounds:
        """The common part; its area is 0 when there is none."""
        return Bounds(
            max(self.left, other.left),
            max(self.top, other.top),
            min(self.right, other.right),
            min(self.bottom, other.bottom),
        )

    def holds(self, x: int, y: int) -> bool:
        return self.left <= x < self.right and self.top <= y < self.bottom

    def covers(self, other: Bounds) -> bool:
        return (
            self.left <= other.left
            and self.top <= other.top
            and self.right >= other.right
            and self.bottom >= other.bottom
        )

    def __str__(self) -> str:
        return f"[{self.left},{self.top}][{self.right},{self.bottom}]"


@dataclass(slots=True, eq=False, repr=False)
class Node:
    """One element: AgenTest's UnifiedUINode, snake_case, with the tree's links added."""

    class_name: str
    resource_id: str
    text: str
    description: str
    package_name: str
    bounds: Bounds
    flags: int
    role: str
    index: int
    hint_text: str = ""
    state_description: str = ""
    pane_title: str = ""
    tooltip_text: str = ""
    drawing_order: int = 0
    native_id: str = ""
    """The surface's own name for this very element; "" where it has none. Two names are two elements."""
    covered_by: str | None = None
    """What a touch reaches instead, by native id, or CLIPPED; "" for nothing, None where nobody was asked."""
    touch_at: ScreenPoint | None = None
    """Where a touch was found to reach it."""
    scrolled: ScreenPoint | None = None
    """How far its content is scrolled, where the surface tells."""
    scrolls_to: ScreenPoint | None = None
    """How far it can be scrolled, where the surface tells."""
    place: str = ""
    """The address of the page that it is a part of, where its app is not known by that itself."""
    parent: Node | None = None
    children: list[Node] = field(default_factory=list)
    position: int = 0  # among its siblings
    order: int = 0  # in the screen's pre-order list
    end: int = 0  # the order just past its last descendant

    @property
    def id(self) -> str:
        """Dotted path by position, such as "0.1.3"."""
        path: list[str] = []
        node: Node | None = self
        while node is not None:
            path.append(str(node.position))
            node = node.parent
        return ".".join(reversed(path))

    @property
    def center(self) -> ScreenPoint:
        return self.bounds.center

    @property
    def enabled(self) -> bool:
        return self.flags & ENABLED != 0

    @property
    def focused(self) -> bool:
        return self.flags & FOCUSED != 0

    @property
    def selected(self) -> bool:
        return self.flags & SELECTED != 0

    @property
    def checked(self) -> bool:
        return self.flags & CHECKED != 0

    @property
    def checkable(self) -> bool:
        return self.flags & CHECKABLE != 0

    @property
    def clickable(self) -> bool:
        return self.flags & CLICKABLE != 0

    @property
    def scrollable(self) -> bool:
        return self.flags & SCROLLABLE != 0

    @property
    def long_clickable(self) -> bool:
        return self.flags & LONG_CLICKABLE != 0

    @property
    def password(self) -> bool:
        return self.flags & PASSWORD != 0

    @property
    def shown_text(self) -> str:
        """The text as it may be shown: what a password field holds is masked, whatever it is."""
        return MASK if self.text and self.flags & PASSWORD else self.text

    @property
    def short_class(self) -> str:
        return self.class_name.rpartition(".")[2]

    @property
    def id_tail(self) -> str:
        """The resource id after `:id/`, or the whole where there is none."""
        return self.resource_id.rpartition(":id/")[2]

    def ancestors(self) -> Iterator[Node]:
        """From the parent up to the root."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    def is_inside(self, other: Node) -> bool:
        """True for a descendant of `other` in the same screen."""
        return other.order < self.order < other.end

    def __repr__(self) -> str:
        return f"<{self.short_class} {self.id} {self.text or self.description!r} {self.bounds}>"


@dataclass(slots=True, eq=False)
class Screen:
    """One parsed dump. `nodes` is in document order; `nodes[n.order + 1 : n.end]` is what n holds.

    Several windows or roots become children of a virtual root (class "", zero flags) that spans the display.
    """

    root: Node
    nodes: list[Node]
    width: int
    height: int
    package: str
    rotation: int = 0
    warnings: list[str] = field(default_factory=list)
    active: Node | None = None
    """The root of the window that has the input focus, where the dump tells it."""
    is_exact: bool = False
    """Touched by a pointer that hits one point, with a keyboard that is no part of the screen."""

    def _repr_html_(self) -> str:
        """For notebooks."""
        from handrail.protocol.notebook import screen_html  # noqa: PLC0415 - only those need it
        from handrail.tree.refs import Registry  # noqa: PLC0415

        return screen_html(Registry().rebuild(self).text)

    @property
    def bounds(self) -> Bounds:
        return Bounds(0, 0, self.width, self.height)

    @property
    def windows(self) -> list[Node]:
        """The windows' root nodes, the topmost last."""
        root = self.root
        return root.children if not root.class_name and not root.flags and root.children else [root]

    def inside(self, node: Node) -> list[Node]:
        """The descendants of `node`, in document order."""
        return self.nodes[node.order + 1 : node.end]


ROLES = (
    "button", "text_field", "text_view", "check_box", "switch", "radio_button", "slider", "scroll_view",
    "image", "image_button", "container", "list", "list_item", "tab", "toolbar", "progress_bar", "spinner",
    "web_view", "unknown",
)  # fmt: skip

_EXACT = {
    "android.widget.Button": "button",
    "android.widget.ImageButton": "image_button",
    "android.widget.EditText": "text_field",
    "android.widget.CheckBox": "check_box",
    "android.widget.Switch": "switch",
    "android.widget.ToggleButton": "switch",
    "android.widget.RadioButton": "radio_button",
    "android.widget.SeekBar": "slider",
    "android.widget.Spinner": "spinner",
    "android.widget.TextView": "text_view",
    "android.widget.ImageView": "image",
    "android.widget.ProgressBar": "progress_bar",
    "android.widget.ScrollView": "scroll_view",
    "android.widget.HorizontalScrollView": "scroll_view",
    "android.widget.ListView": "list",
    "androidx.recyclerview.widget.RecyclerView": "list",
    "android.webkit.WebView": "web_view",
    "android.widget.TabWidget": "tab",
    "android.widget.Toolbar": "toolbar",
    "androidx.appcompat.widget.Toolbar": "toolbar",
}

# Tested in this order, so the narrower ending stands before the wider one.
_SUFFIXES = (
    ("AutoCompleteTextView", "text_field"),
    ("SearchAutoComplete", "text_field"),
    ("EditText", "text_field"),
    ("TextField", "text_field"),
    ("RadioButton", "radio_button"),
    ("ToggleButton", "switch"),
    ("ExtendedFloatingActionButton", "button"),
    ("FloatingActionButton", "image_button"),
    ("ImageButton", "image_button"),
    ("Button", "button"),
    ("Chip", "button"),
    ("CheckBox", "check_box"),
    ("Switch", "switch"),
    ("SwitchCompat", "switch"),
    ("SwitchMaterial", "switch"),
    ("ProgressBar", "progress_bar"),
    ("ProgressIndicator", "progress_bar"),
    ("SeekBar", "slider"),
    ("RatingBar", "slider"),
    ("Slider", "slider"),
    ("Spinner", "spinner"),
    ("HorizontalScrollView", "scroll_view"),
    ("ScrollView", "scroll_view"),
    ("ViewPager", "scroll_view"),
    ("ViewPager2", "scroll_view"),
    ("RecyclerView", "list"),
    ("ListView", "list"),
    ("GridView", "list"),
    ("WebView", "web_view"),
    ("TabLayout", "tab"),
    ("TabView", "tab"),
    ("TabWidget", "tab"),
    ("ActionBar$Tab", "tab"),
    ("ActionBar.Tab", "tab"),
    ("Toolbar", "toolbar"),
    ("ImageView", "image"),
    (".Image", "image"),
    ("TextView", "text_view"),
    ("TextClock", "text_view"),
    ("Chronometer", "text_view"),
)
_CONTAINER_PARTS = ("Layout", "ViewGroup", "CardView", "ComposeView")
_ROWLIKE = frozenset({"container", "unknown"})

_FLAG_ACTIONS = (
    (CLICKABLE, "tap"),
    (LONG_CLICKABLE, "long_press"),
    (SCROLLABLE, "scroll"),
    (CHECKABLE, "check"),
)
_ROLE_ACTIONS = {"text_field": ("type",), "slider": ("adjust",)}
_ACTION_FLAGS = CLICKABLE | LONG_CLICKABLE | SCROLLABLE | CHECKABLE


@lru_cache(maxsize=4096)
def class_role(class_name: str) -> str:
    """The role that a class has wherever it stands."""
    if exact := _EXACT.get(class_name):
        return exact
    for suffix, role in _SUFFIXES:
        if class_name.endswith(suffix):
            return role
    if any(part in class_name for part in _CONTAINER_PARTS):
        return "container"
    return "unknown"


def role_of(class_name: str, parent_role: str) -> str:
    """The role of a node: by class, and a list's nondescript child is a list item."""
    role = class_role(class_name)
    if parent_role == "list" and role in _ROWLIKE:
        return "list_item"
    return role


@lru_cache(maxsize=1024)
def _actions(flags: int, role: str) -> tuple[str, ...]:
    by_flag = tuple(action for flag, action in _FLAG_ACTIONS if flags & flag)
    return by_flag + _ROLE_ACTIONS.get(role, ())


def actions_of(node: Node) -> tuple[str, ...]:
    """What the node offers, in AgenTest's words: tap, long_press, scroll, check, type, adjust."""
    return _actions(node.flags & _ACTION_FLAGS, node.role)

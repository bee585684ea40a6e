"""The values everything in `screen/` works on: `Node`, one UI element with its role, and `Screen`, one dump.

Nodes are slots objects, not pydantic models: a screen has hundreds of them and is read on the hot path.
A parsed tree is never changed; `Node` holds what the dump said, `roles` and `parse` decide the rest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, wraps
from itertools import pairwise
from typing import Any, Concatenate, Literal, NamedTuple, ParamSpec, TypeVar

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
JITTER_PX = 2
"""Bounds that differ by no more are the same place: layouts round differently from dump to dump."""
UNCLEAR = "unclear"
"""The role of what stands for an input of which nobody can tell what it presses. No dump has it."""
MASK = "••••"
"""Stands for what a password field holds; its length says nothing."""


class ScreenPoint(NamedTuple):
    """Coordinates are absolute device pixels."""

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
        x, y, right, bottom = other
        return Bounds(max(self.left, x), max(self.top, y), min(self.right, right), min(self.bottom, bottom))

    def holds(self, x: int, y: int) -> bool:
        return self.left <= x < self.right and self.top <= y < self.bottom

    def covers(self, other: Bounds) -> bool:
        x, y, right, bottom = other
        return self.left <= x and self.top <= y and self.right >= right and self.bottom >= bottom

    def __str__(self) -> str:
        return f"[{self.left},{self.top}][{self.right},{self.bottom}]"


class DrawnMark(NamedTuple):
    """What marks a node that was read from the picture of the screen: no tree has it."""

    confidence: float
    """0 to 1; 0 for a shape in which nothing could be read."""
    pixels: str
    """A digest of the pixels in its box, every one of them; "" for a clock."""
    look: str
    """Another word only where a person would see a change: a cursor or a clock is none."""


@dataclass(frozen=True, slots=True)
class DrawnPart:
    """Something that the reader of pictures found, in the screen's pixels."""

    kind: Literal["text", "button", "shape", "code"]
    bounds: Bounds
    text: str = ""
    confidence: float = 0.0
    pixels: str = ""
    look: str = ""
    inside: tuple[DrawnPart, ...] = ()


class NodeFlag:
    """An attribute of a node that is true where `flags` has this bit."""

    def __init__(self, bit: int) -> None:
        self._bit = bit

    def __get__(self, node: Node, _: type[Node]) -> bool:
        return node.flags & self._bit != 0


ANYWHERE = Bounds(-(1 << 30), -(1 << 30), 1 << 30, 1 << 30)


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
    drawn: DrawnMark | None = None
    """Set where it was read from the picture; None for a node of the tree."""
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

    enabled = NodeFlag(ENABLED)
    focused = NodeFlag(FOCUSED)
    selected = NodeFlag(SELECTED)
    checked = NodeFlag(CHECKED)
    checkable = NodeFlag(CHECKABLE)
    clickable = NodeFlag(CLICKABLE)
    scrollable = NodeFlag(SCROLLABLE)
    long_clickable = NodeFlag(LONG_CLICKABLE)
    password = NodeFlag(PASSWORD)

    @property
    def masked_text(self) -> str:
        """The text as it may be shown: what a password field holds is masked, whatever it is."""
        return MASK if self.text and self.flags & PASSWORD else self.text

    @property
    def short_class(self) -> str:
        return short_class(self.class_name)

    @property
    def id_tail(self) -> str:
        """The resource id after `:id/`, or all of it where there is no such part."""
        return self.resource_id.rpartition(":id/")[2]

    def ancestors(self) -> Iterator[Node]:
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
    is_cut: bool = False
    """Elements were left out because there were too many, or too many inside each other."""
    is_exact: bool = False
    """Touched by a pointer that hits one point, with a keyboard that is no part of the screen."""
    memo: dict[object, Any] = field(default_factory=dict, init=False, repr=False)
    """Answers of functions marked `once_per_screen`. Whoever changes a screen after parsing clears it."""

    def _repr_html_(self) -> str:
        from handrail.protocol.notebook import screen_html  # noqa: PLC0415 - only those need it
        from handrail.screen.refs import Registry  # noqa: PLC0415

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
        return self.nodes[node.order + 1 : node.end]


Answer = TypeVar("Answer")
More = ParamSpec("More")


def once_per_screen(
    compute: Callable[Concatenate[Screen, More], Answer],
) -> Callable[Concatenate[Screen, More], Answer]:
    """Keeps the answer with the screen: policy, settling and rendering all ask for it. Do not change it.

    Only an answer about the screen alone is kept: one for which all further arguments are empty.
    """

    @wraps(compute)
    def remembered(screen: Screen, /, *more: More.args, **options: More.kwargs) -> Answer:
        if options or (more and any(more)):
            return compute(screen, *more, **options)
        if compute not in screen.memo:
            screen.memo[compute] = compute(screen, *more, **options)
        answer: Answer = screen.memo[compute]
        return answer

    return remembered


# Tested in this order, so a narrower ending comes before a wider one.
_ROLE_BY_ENDING = (
    ("text_field", ("AutoCompleteTextView", "SearchAutoComplete", "EditText", "TextField")),
    ("radio_button", ("RadioButton",)),
    ("switch", ("ToggleButton", "Switch", "SwitchCompat", "SwitchMaterial")),
    ("button", ("ExtendedFloatingActionButton",)),
    ("image_button", ("FloatingActionButton", "ImageButton")),
    ("button", ("Button", "Chip")),
    ("check_box", ("CheckBox",)),
    ("progress_bar", ("ProgressBar", "ProgressIndicator")),
    ("slider", ("SeekBar", "RatingBar", "Slider")),
    ("spinner", ("Spinner",)),
    ("scroll_view", ("ScrollView", "ViewPager", "ViewPager2")),
    ("list", ("RecyclerView", "ListView", "GridView")),
    ("web_view", ("WebView",)),
    ("tab", ("TabLayout", "TabView", "TabWidget", "ActionBar$Tab", "ActionBar.Tab")),
    ("toolbar", ("Toolbar",)),
    ("image", ("ImageView", ".Image")),
    ("text_view", ("TextView", "TextClock", "Chronometer")),
)
_IOS_KINDS = {
    "button": "Button ToolbarButton MenuItem MenuBarItem Link DisclosureTriangle Icon Key IncrementArrow "
    "DecrementArrow BackButton",
    "text_field": "TextField SecureTextField SearchField TextView ComboBox TextArea SearchBar",
    "text_view": "StaticText HelpTag Heading",
    "check_box": "CheckBox",
    "switch": "Switch Toggle",
    "radio_button": "RadioButton",
    "slider": "Slider RatingIndicator Stepper",
    "scroll_view": "ScrollView ScrollArea",
    "image": "Image Map",
    "container": "Other Group Window Application Sheet Alert Dialog Popover Drawer SegmentedControl "
    "SplitGroup Keyboard StatusBar RadioGroup TabGroup LayoutArea LayoutItem Element ActionSheet "
    "GenericElement",
    "list": "Table CollectionView Outline Grid Menu TableView",
    "list_item": "Cell TableRow OutlineRow TableCell CollectionCell",
    "tab": "Tab TabBar",
    "toolbar": "NavigationBar Toolbar MenuBar TouchBar",
    "progress_bar": "ProgressIndicator ActivityIndicator LevelIndicator RelevanceIndicator ValueIndicator "
    "PageIndicator",
    "spinner": "Picker PickerWheel DatePicker PopUpButton MenuButton ColorWell",
    "web_view": "WebView Browser WebArea",
}
_IOS_ROLES = {kind: role for role, kinds in _IOS_KINDS.items() for kind in kinds.split()}
_IOS_CLASS = re.compile(r"(?:XCUIElementType|UIA|AX)(?=[A-Z])(\w+)")
"""XCTest's, UIAutomation's (before Xcode 8) and the accessibility framework's names for the same kinds."""
_CONTAINER_PARTS = ("Layout", "ViewGroup", "CardView", "ComposeView")
ROWLIKE = frozenset({"container", "unknown"})

_FLAG_ACTIONS = (
    (CLICKABLE, "tap"),
    (LONG_CLICKABLE, "long_press"),
    (SCROLLABLE, "scroll"),
    (CHECKABLE, "check"),
)
_ROLE_ACTIONS = {"text_field": ("type",), "slider": ("adjust",)}


@lru_cache(maxsize=4096)
def short_class(class_name: str) -> str:
    """Drops package and prefix: `Switch` of `XCUIElementTypeSwitch`, `Button` of `android.widget.Button`."""
    apple = _IOS_CLASS.fullmatch(class_name)
    return apple[1] if apple else class_name.rpartition(".")[2]


@lru_cache(maxsize=4096)
def class_role(class_name: str) -> str:
    if apple := _IOS_CLASS.fullmatch(class_name):
        return _IOS_ROLES.get(apple[1], "unknown")
    for role, endings in _ROLE_BY_ENDING:
        if class_name.endswith(endings):
            return role
    if any(part in class_name for part in _CONTAINER_PARTS):
        return "container"
    return "unknown"


def role_of(class_name: str, parent_role: str) -> str:
    """Goes by class; a plain child of a list is a list item."""
    role = class_role(class_name)
    if parent_role == "list" and role in ROWLIKE:
        return "list_item"
    return role


@lru_cache(maxsize=1024)
def _actions(flags: int, role: str) -> tuple[str, ...]:
    by_flag = tuple(action for flag, action in _FLAG_ACTIONS if flags & flag)
    return by_flag + _ROLE_ACTIONS.get(role, ())


def actions_of(node: Node) -> tuple[str, ...]:
    """What the node offers, in AgenTest's words: tap, long_press, scroll, check, type, adjust."""
    return _actions(node.flags & ACTIONABLE, node.role)


JOIN = " · "
LABEL = 160  # characters of a label made of several texts, and of one that is shown whole


@dataclass(slots=True, eq=False)
class Text:
    """A visible text that is not an element itself. `taken` when an element's label says it."""

    node: Node
    text: str
    is_pane: bool = False
    """The title of a pane: a heading for what is inside its node."""
    chosen: Node | None = None
    """The box around it that is the selected one of several."""
    item: Node | None = None
    """The list item that holds it."""
    taken: bool = False


FOLD_SLACK_PX = 8
"""By which like elements may differ, because grids are rounded."""


@dataclass(slots=True, eq=False)
class Element:
    """Something that can be acted on, as a person would call it."""

    node: Node
    kind: str = ""
    """b button, f field, c check, l link, v slider, s scroll, i item or row, g other tappable."""
    parent: Element | None = None
    """The element around it."""
    wrapper: Node | None = None
    """The outermost tappable node that is this element to a person, too."""
    pieces: list[str] = field(default_factory=list)
    """The parts of the label: the own one, then what was hoisted or adopted."""
    source: str = ""
    """text, description, hint, tooltip, external, pane, inside or row; echo of its row's name; for a stand-in
    guess, id, near or place."""
    value: str = ""
    """What a field or a slider holds."""
    hint: str = ""
    states: tuple[str, ...] = ()
    """Words such as "off", "disabled", "focused"."""
    state: str = ""
    """The state description, where the states do not say it already."""
    stand_in: str = ""
    """What identifies a nameless element: `#top_right_arrow (right of "August")`."""
    arrows: str = ""
    """Directions in which a scroll container has more."""
    is_key: bool = False
    """A key of the on-screen keyboard."""
    inner: list[Element] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)

    @property
    def label(self) -> str:
        """The full name, never cut; '' for a nameless element."""
        return JOIN.join(self.pieces)

    @property
    def outer(self) -> Node:
        return self.wrapper or self.node

    def is_like(self, other: Element) -> bool:
        """The same kind and class, and about the same size."""
        box, its = self.outer.bounds, other.outer.bounds
        sizes = max(abs(box.width - its.width), abs(box.height - its.height)) <= FOLD_SLACK_PX
        return sizes and self.kind == other.kind and self.node.class_name == other.node.class_name


class Elements(list[Element]):
    """The elements of one screen in document order; `texts` are the visible texts that none of them says.

    `behind` are the parts of the screen over which another layer is drawn.
    """

    __slots__ = ("behind", "texts")

    def __init__(
        self, elements: Sequence[Element] = (), texts: Sequence[Text] = (), behind: Sequence[Node] = ()
    ) -> None:
        super().__init__(elements)
        self.texts = list(texts)
        self.behind = list(behind)


RefOf = Callable[[Node], str | None]
_TOUCHED = CLICKABLE | LONG_CLICKABLE | CHECKABLE


def no_refs(_: Node) -> str | None:
    return None


def touchable(node: Node) -> bool:
    """True for a node that takes a touch itself instead of passing it to what is around or below."""
    return node.flags & _TOUCHED != 0 or node.role == "text_field"


def receiver(node: Node) -> Node | None:
    """What a tap on this node reaches: itself, else the touchable around it."""
    if touchable(node):
        return node
    return next(filter(touchable, node.ancestors()), None)


def scrolls(node: Node) -> bool:
    """True for a list even while its content fits; a scroll view that fits only holds its content."""
    return node.flags & SCROLLABLE != 0 or node.role == "list"


_SLACK = 3  # px
_WRAPPERS = 6  # single boxes between a scroll container and its rows; a bound for degenerate trees
_CLIPPED = 0.9  # of the usual length: a shorter first or last row is cut by the edge


def scroll_arrows(node: Node) -> str:
    """Such as "↓", "↑↓", "←"; "↕" or "↔" where the bounds do not tell which way."""
    if node.scrolled is not None and node.scrolls_to is not None:
        marks = (
            ("←", node.scrolled.x > _SLACK), ("→", node.scrolled.x < node.scrolls_to.x - _SLACK),
            ("↑", node.scrolled.y > _SLACK), ("↓", node.scrolled.y < node.scrolls_to.y - _SLACK),
        )  # fmt: skip
        return "".join(mark for mark, more in marks if more)
    inner = node
    for _ in range(_WRAPPERS):
        inner = inner.children[0] if len(inner.children) == 1 else inner
    content = [child.bounds for child in inner.children if child.bounds.area]
    sideways = _is_sideways(node, content)
    back, forward = _content_beyond_edges(node.bounds, content, sideways)
    if not back and not forward:
        return "↔" if sideways else "↕"
    return ("←" if sideways else "↑") * back + ("→" if sideways else "↓") * forward


def _is_sideways(node: Node, content: list[Bounds]) -> bool:
    name = node.short_class
    if "Horizontal" in name or "Pager" in name or "orkspace" in name or node.id_tail == "workspace":
        return True
    if "ScrollView" in name or len(content) < 2:
        return False
    first = content[0]
    return all(
        abs(box.top - first.top) <= _SLACK and box.left >= before.right - _SLACK
        for before, box in pairwise(content)
    )


def _content_beyond_edges(frame: Bounds, content: list[Bounds], sideways: bool) -> tuple[bool, bool]:
    """Content that goes past an edge, is cut by it, or (forward) reaches it."""
    if len(content) < 2:
        return False, bool(content) and not sideways and content[0].bottom >= frame.bottom - _SLACK
    low, high = (0, 2) if sideways else (1, 3)
    start = min(box[low] for box in content)
    end = max(box[high] for box in content)
    lengths = sorted(box[high] - box[low] for box in content)
    usual = (lengths[len(lengths) // 2] + lengths[(len(lengths) - 1) // 2]) / 2  # the median
    first = content[0]
    cut = abs(first[low] - frame[low]) <= _SLACK and first[high] - first[low] < usual * _CLIPPED
    return start < frame[low] - _SLACK or cut, end >= frame[high] - _SLACK

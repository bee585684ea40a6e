"""What one view is: its words, its behaviour, its wishes for layout, and where layout put it.

Owns no window and no app; a tree is thrown away and built anew after every change.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeAlias

Length: TypeAlias = "float | str"  # dp, or "fill" / "wrap"
Edges: TypeAlias = (
    "float | tuple[float, float] | tuple[float, float, float, float]"  # all, (h, v), (l, t, r, b)
)
Rect: TypeAlias = "tuple[int, int, int, int]"  # left, top, right, bottom in px
Handler: TypeAlias = "Callable[[], object]"


@dataclass(frozen=True, slots=True)
class Style:
    """What painting needs to know and layout does not, except for the size of text."""

    # text button icon image avatar field checkbox switch radio slider spinner progress tab chip card fab
    # divider toolbar item key toast dialog sheet status nav badge snackbar …; "": only the background
    kind: str = ""
    role: str = ""  # filled, tonal, outlined, text, headline, title, body, label, caption, error, …
    size: float = 14.0  # sp
    bold: bool = False
    color: str = ""  # a name of the theme (primary, on_surface, error, …) or #rrggbb
    background: str = ""  # the same; "" paints nothing
    radius: float = 0.0  # dp
    elevation: float = 0.0  # dp
    icon: str = ""  # name of a vector icon
    image: str = ""  # seed of a drawn picture, e.g. "landscape:12", "product:kettle", "avatar:Ada"
    align: str = "start"  # of text inside its view: start, center, end
    max_lines: int = 0  # 0: as many as needed
    error: str = ""  # a field's error line
    label: str = ""  # a field's floating label
    rotation: float = 0.0  # degrees, for pictures
    scale: float = 1.0  # for pictures inside their view
    alpha: float = 1.0


PLAIN = Style()


class ExternalView(Protocol):
    """Something outside of the phone that draws the inside of a view and takes its fingers and keys."""

    def touch(self, action: str, x: float, y: float, finger: int) -> None:
        """A finger, in px of the view; actions as `Touch` has them."""

    def insert(self, text: str) -> None:
        """Typed at its cursor."""

    def key(self, code: int, meta: int) -> bool:
        """False for a key that it has no use for."""

    def set_text(self, view: View, text: str) -> bool:
        """ACTION_SET_TEXT of a view inside; false if that is not a field."""


class View:
    """One view. `id` without a colon belongs to the app's package; "=tag" is written as it is.

    Defaults stand in the class: a view holds only what it was options, since trees are built at every change.
    """

    cls: str = "android.view.View"
    id: str = ""
    text: str = ""
    desc: str = ""
    hint: str = ""
    state: str = ""  # state description
    tooltip: str = ""
    pane: str = ""
    children: Sequence[View] = ()
    style: Style = PLAIN
    key: str | None = None  # names the view's memory (scroll, text, focus) when the id can't
    package: str | None = None

    on_click: Handler | None = None
    on_long_click: Handler | None = None
    on_change: Callable[[Any], object] | None = None  # field: str, slider: float, pager: int
    on_submit: Handler | None = None  # the IME's action key in a field
    on_focus: Callable[[bool], object] | None = None
    on_scale: Callable[[float, float, float], object] | None = None  # factor since last time, centre x, y
    on_rotate: Callable[[float], object] | None = None  # degrees since the last call
    on_drag: Callable[[float, float], object] | None = None  # px since the last call
    on_drop: Callable[[float, float], object] | None = None  # where a drag ended, screen px
    on_swipe: Callable[[str], object] | None = None  # left, right, up, down: a whole swipe over the view
    on_touch: Callable[[str, float, float], object] | None = None  # raw: action, x, y inside the view
    on_double_tap: Handler | None = None
    on_end: Handler | None = None  # a list showed its last row

    enabled: bool = True
    checked: bool | None = None  # None: not checkable
    selected: bool = False
    password: bool = False
    visible: bool = True
    accessible: bool = True  # False: painted and touched, but absent from dumps with everything in it
    painted: bool = True  # False: in the dump and touchable, but not to be seen
    animating: bool = False  # keeps the phone from being idle while it is in sight
    editable: bool = False
    app_text: str | None = None  # a field's text as the app says; None: the phone keeps what was typed
    multiline: bool = False
    input_type: str = "text"  # text, number, phone, email, uri, password
    ime_action: str = "done"  # done, next, search, send, go, none
    important: bool | None = None  # for accessibility; None: as Android guesses
    clickable: bool | None = None  # None: has on_click or is a field
    long_clickable: bool | None = None
    focusable: bool | None = None
    scrollable: bool | None = None

    layout: str = "leaf"  # leaf, column, row, frame, grid, scroll, hscroll, list, absolute, pager
    width: Length = "wrap"
    height: Length = "wrap"
    min_width: float = 0.0
    min_height: float = 0.0
    weight: float = 0.0
    padding: Edges = 0.0
    margin: Edges = 0.0
    gap: float = 0.0  # dp between children
    gravity: str = ""  # of the children; words: start center end top bottom center_h center_v
    align: str = ""  # of this view in its parent, same words
    columns: int = 1
    rect: Rect | None = None  # px on the screen, for children of a frame or an absolute layout
    index: int | None = None  # the dump's index attribute when it is not the place among the siblings
    attrs: dict[str, str] | None = None  # dump attributes written as they are here

    items: Sequence[Any] = ()  # a list's rows, built when they come into sight
    build_item: Callable[[Any], View] | None = None
    item_key: Callable[[Any], str] | None = None
    from_end: bool = False  # opens at the last row and stays there while it is in sight
    value: float = 0.0  # slider, progress, pager's page
    low: float = 0.0
    high: float = 100.0
    step: float = 0.0  # 0: continuous
    tag: Any = None  # the app's own
    drawn: ExternalView | None = None  # who draws its inside, where that is not the phone
    pixels: Any = None  # what was drawn: an object with a `png`
    loose: bool = False  # what it holds may lie beyond its own box

    # what layout and memory found; px on the screen
    x: int = 0
    y: int = 0
    w: int = 0
    h: int = 0
    clip: Rect = (0, 0, 0, 0)  # what is visible of it
    lines: Sequence[str] = ()  # the text as it was broken
    parent: View | None = None
    row_key: str | None = None  # a list's row: what it is called in memory
    memory: dict[str, Any] | None = None  # the kept state of a stateful view
    shelf: dict[str, dict[str, Any]] | None = None  # a list's: the window's memory
    content: int = 0  # length of what scrolls, px
    focused: bool = False
    pressed: bool = False
    selection: tuple[int, int] = (0, 0)
    born: dict[str, Any] = {}  # as it was built, for comparison with the next one
    still: bool = False  # no field and no scroller in it: looks the same while it has the same room
    measured_for: tuple[float, float] | None = None  # the room it was measured for
    placed: tuple[int, int, Rect] | None = None  # where it was placed; None: its parts were not placed yet
    written: tuple[int, str, str] | None = None  # index, package and text of its dump
    rows_before: dict[str | None, View] | None = None  # a list's rows of the tree before, until it is filled
    rows_kept: dict[str | None, View] = {}  # a list's: rows that were in sight some time before

    def __init__(self, **options: Any) -> None:
        self.__dict__ = _checked(options)

    @classmethod
    def built(cls, options: dict[str, Any]) -> Self:
        """The same from a dict that the caller gives away: views are built by the hundred."""
        view = cls.__new__(cls)
        view.__dict__ = _checked(options)
        return view

    @property
    def bounds(self) -> Rect:
        return (self.x, self.y, self.x + self.w, self.y + self.h)

    @property
    def is_clickable(self) -> bool:
        if self.clickable is not None:
            return self.clickable
        return self.on_click is not None or self.editable

    @property
    def is_long_clickable(self) -> bool:
        if self.long_clickable is not None:
            return self.long_clickable
        return self.on_long_click is not None or self.editable

    @property
    def is_focusable(self) -> bool:
        if self.focusable is not None:
            return self.focusable
        return self.is_clickable or self.layout in SCROLLING

    @property
    def on_screen(self) -> bool:
        left, top, right, bottom = self.clip
        return left < right and top < bottom


FIELDS = frozenset(View.__annotations__)
SCROLLING = frozenset({"scroll", "hscroll", "list", "pager"})


def _checked(options: dict[str, Any]) -> dict[str, Any]:
    """The same, unless it names what no view has."""
    if not FIELDS.issuperset(options):
        raise TypeError(f"a view has no {', '.join(sorted(options.keys() - FIELDS))}")
    return options

"""What the script in a page tells, as nodes of a screen. Pure: JSON in, a `Screen` out.

A page that is drawn inside another one, and can't be read together with it, is grafted where its frame is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any, NamedTuple

from handrail.errors import TreeParseError
from handrail.tree.node import CLICKABLE, CLIPPED, ENABLED, SCROLLABLE, Bounds, Node, Screen, ScreenPoint

SCRIPT = files("handrail.page").joinpath("look.js").read_text(encoding="utf-8")
"""Defines `handrail` in the world in which it is run; run again there, it changes nothing."""
MOST_ROWS = 4_000

_ROLES = {
    "page": "web_view", "frame": "web_view", "button": "button", "link": "text_view", "checkbox": "check_box",
    "menuitemcheckbox": "check_box", "radio": "radio_button", "menuitemradio": "radio_button",
    "switch": "switch", "slider": "slider", "textbox": "text_field", "searchbox": "text_field",
    "spinbutton": "text_field", "date": "text_field", "select": "spinner", "tab": "tab",
    "menuitem": "button", "option": "list_item", "treeitem": "list_item", "listitem": "list_item",
    "row": "list_item", "img": "image", "progressbar": "progress_bar", "heading": "text_view",
    "toolbar": "toolbar", "video": "image", "canvas": "image",
}  # fmt: skip
"""From the roles of the web to ours; what is not here is a text if it says something, else a container."""


class OwnPage(Exception):
    """The page is Handrail's own, and is not read."""


class Frame(NamedTuple):
    """Where another document is drawn: the corner of its content, its scale and size, in the outer pixels."""

    x: float
    y: float
    scale: float
    width: float
    height: float


OWN_PAGE = "handrail.isOwn()"
"""Whether the page is Handrail's own."""


@dataclass(frozen=True, slots=True)
class PageViewport:
    """What of a page is shown, in CSS pixels, and how many device pixels one of them is."""

    width: int
    height: int
    device_scale: float = 1.0
    zoom: float = 1.0
    left: float = 0.0
    top: float = 0.0
    shown_width: float = 0.0
    """Of what a person sees: a part of a page that is zoomed."""


@dataclass(frozen=True, slots=True)
class PageLook:
    """One answer of the script."""

    token: str
    """Names the world that told it: ids of two worlds have nothing to do with each other."""
    viewport: PageViewport
    origins: tuple[str, ...]
    rows: list[list[Any]]
    truncated: int
    unasked: int
    """Elements of which the page was too slow to tell what covers them."""
    suspects: int
    """Elements that may have a closed shadow root and were not asked about yet."""

    @classmethod
    def read(cls, text: str) -> PageLook:
        """Raises `OwnPage`, and `TreeParseError` for anything that is no look."""
        try:
            told = json.loads(text)
            if isinstance(told, dict) and told.get("own"):
                raise OwnPage("The page is Handrail's own, and not shown to an agent")
            width, height, device_scale, zoom, left, top, shown = told["view"]
            return cls(
                str(told["token"]),
                PageViewport(
                    int(width),
                    int(height),
                    float(device_scale),
                    float(zoom),
                    float(left),
                    float(top),
                    float(shown),
                ),
                tuple(map(str, told["docs"])),
                told["rows"][:MOST_ROWS],
                int(told["truncated"]),
                int(told["unasked"]),
                int(told["suspects"]),
            )
        except (ValueError, KeyError, TypeError) as error:
            raise TreeParseError(f"The page told what can't be read: {error!r}") from None

    @property
    def origin(self) -> str:
        return self.origins[0] if self.origins else ""

    @property
    def title(self) -> str:
        return str(self.rows[0][_PANE]) if self.rows else ""

    def points(self, frame: Frame) -> list[tuple[float, float]]:
        """Where its elements are touched, in the pixels of the document that its frame is in."""
        return [
            (frame.x + (point[0] + 0.5) * frame.scale, frame.y + (point[1] + 0.5) * frame.scale)
            for row in self.rows
            if (point := row[_POINT])
        ]

    def covered(self, told: Sequence[Any], outer: PageLook) -> PageLook:
        """With what the outer document has over each of `points`."""
        covers = iter(told)
        rows = [
            _under_outer(row, next(covers), outer.token) if row[_POINT] else _in_view(row, self.viewport)
            for row in self.rows
        ]
        return replace(self, rows=rows)

    def foreign_frames(self) -> dict[str, Frame]:
        """Frames that tell nothing of their inside here, by the native id of their element."""
        return {f"{self.token}.{row[0]}": Frame(*row[_FOREIGN]) for row in self.rows if row[_FOREIGN]}


(
    _ID, _PARENT, _TAG, _ROLE, _FLAGS, _LEFT, _TOP, _RIGHT, _BOTTOM, _TEXT, _DESC, _HINT, _STATE, _PANE, _TIP,
    _RID, _DOC, _COVER, _POINT, _SCROLL, _FOREIGN,
) = range(21)  # fmt: skip


def _under_outer(row: list[Any], cover: Any, token: str) -> list[Any]:
    if cover == "":
        return row
    said = CLIPPED if cover == CLIPPED else f"{token}.{cover}"
    return [*row[:_COVER], said, None, *row[_POINT + 1 :]]


def _in_view(row: list[Any], view: PageViewport) -> list[Any]:
    """What its own frame does not show is clipped, whatever of the page is there instead."""
    is_seen = row[_LEFT] < view.width and row[_TOP] < view.height and row[_RIGHT] > 0 and row[_BOTTOM] > 0
    return row if is_seen or row[_COVER] is not None else [*row[:_COVER], CLIPPED, *row[_POINT:]]


WHOLE = Frame(0.0, 0.0, 1.0, 0.0, 0.0)
"""The page is all that is shown, pixel by pixel."""


def nodes_of(look: PageLook, inner: Mapping[str, PageLook] | None = None, at: Frame = WHOLE) -> list[Node]:
    """All nodes in document order, with their links; `inner` has the looks at foreign frames by native id,
    `at` is where the page is drawn."""
    nodes: list[Node] = []
    _put(look, inner or {}, nodes, None, at)
    return nodes


def _put(
    look: PageLook, inner: Mapping[str, PageLook], nodes: list[Node], holder: Node | None, at: Frame
) -> None:
    made: list[Node] = []
    waiting: list[tuple[Node, PageLook, Frame]] = []
    for row in look.rows:
        node = _node(look, row, at)
        parent = made[row[_PARENT]] if row[_PARENT] >= 0 else holder
        made.append(node)
        if parent is not None:
            node.parent = parent
            node.position = node.index = len(parent.children)
            parent.children.append(node)
        if row[_FOREIGN] and (told := inner.get(node.native_id)) is not None:
            frame = Frame(*row[_FOREIGN])
            place = Frame(at.x + frame.x * at.scale, at.y + frame.y * at.scale, at.scale * frame.scale, 0, 0)
            waiting.append((node, told, place))
    for node, told, place in waiting:
        _put(told, {key: one for key, one in inner.items() if one is not told}, [], node, place)
    if holder is None and made:
        _number(made[0], nodes)


def _number(root: Node, nodes: list[Node]) -> None:
    """In document order; iteratively, for a page may be deep."""
    stack = [root]
    while stack:
        node = stack.pop()
        node.order = len(nodes)
        nodes.append(node)
        stack.extend(reversed(node.children))
    for node in reversed(nodes):
        node.end = node.children[-1].end if node.children else node.order + 1


def _node(look: PageLook, row: Sequence[Any], at: Frame) -> Node:
    role, flags = row[_ROLE], row[_FLAGS]
    says = bool(row[_TEXT] or row[_DESC])
    own = _ROLES.get(role) or ("text_view" if says and not flags & (CLICKABLE | SCROLLABLE) else "container")
    if flags & SCROLLABLE and own in ("container", "list_item"):
        own = "scroll_view"
    if own == "image" and flags & CLICKABLE:
        own = "image_button"
    cover = row[_COVER]
    return Node(
        class_name=row[_TAG],
        resource_id=row[_RID],
        text=row[_TEXT],
        description=row[_DESC],
        package_name=look.origins[row[_DOC]] if row[_DOC] < len(look.origins) else look.origin,
        bounds=_bounds(row, at),
        flags=flags,
        role=own,
        index=0,
        hint_text=row[_HINT],
        state_description=row[_STATE],
        pane_title=row[_PANE],
        tooltip_text=row[_TIP],
        native_id=f"{look.token}.{row[_ID]}",
        covered_by=f"{look.token}.{cover}" if isinstance(cover, int) else cover,
        touch_at=_point(row[_POINT], at),
        scrolled=ScreenPoint(*map(round, row[_SCROLL][:2])) if row[_SCROLL] else None,
        scrolls_to=ScreenPoint(*map(round, row[_SCROLL][2:])) if row[_SCROLL] else None,
    )


def _bounds(row: Sequence[Any], at: Frame) -> Bounds:
    left, top, right, bottom = row[_LEFT], row[_TOP], row[_RIGHT], row[_BOTTOM]
    if at.scale == 1.0 and not at.x and not at.y:
        return Bounds(left, top, right, bottom)
    k = at.scale
    return Bounds(
        round(at.x + left * k), round(at.y + top * k), round(at.x + right * k), round(at.y + bottom * k)
    )


def _point(told: Sequence[float] | None, at: Frame) -> ScreenPoint | None:
    if not told:
        return None
    return ScreenPoint(int(at.x + (told[0] + 0.5) * at.scale), int(at.y + (told[1] + 0.5) * at.scale))


def screen_of(nodes: list[Node], viewport: PageViewport, origin: str, warnings: Sequence[str] = ()) -> Screen:
    """A screen of one page, in CSS pixels of its viewport."""
    root = nodes[0] if nodes else _empty(viewport, origin)
    return Screen(
        root=root,
        nodes=nodes or [root],
        width=viewport.width,
        height=viewport.height,
        package=origin,
        warnings=list(warnings),
        active=root,
        is_exact=True,
    )


def _empty(viewport: PageViewport, origin: str) -> Node:
    box = Bounds(0, 0, viewport.width, viewport.height)
    return Node("html", "", "", "", origin, box, ENABLED, "web_view", 0, order=0, end=1)

"""Reads a web page by `look.js` in each of its documents and turns the rows into nodes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import Any, NamedTuple

from handrail.cdp.connection import Answer, CdpSession
from handrail.errors import BrowserCommandError, TreeParseError
from handrail.screen.node import CLICKABLE, CLIPPED, ENABLED, SCROLLABLE, Bounds, Node, Screen, ScreenPoint

WORLD = "handrail"
LOOK_MS = 5_000.0
"""Time for one reading of a page; a longer one means that the page is busy."""
TRIES = 3
"""Attempts if the page changes its document meanwhile."""
DEEPEST = 5
"""Nesting of frames of other sites."""
MOST_WORLDS = 256
"""Documents that are cached."""


@dataclass(slots=True)
class FrameWorld:
    """Our isolated world in one document."""

    context: int
    token: str


@dataclass(slots=True, eq=False)
class PagePart:
    """The part of a page in one renderer: the page itself, or frames of another site."""

    session: CdpSession
    frame: str
    """The frame at its root."""
    worlds: dict[str, FrameWorld] = field(default_factory=dict)
    """By frame."""


Place = tuple[PagePart, str]
"""A document: its part and its frame."""


class PageReader:
    """Reads one page, including the parts in other renderers."""

    def __init__(self, session: CdpSession, frame: str) -> None:
        self.main = PagePart(session, frame)
        self.parts: dict[str, PagePart] = {session.id: self.main}
        self.looked: dict[str, Place] = {}
        """The document of each world, by its token."""
        self.dots = False
        """Whether a secret is shown by as many dots as it has characters, as on phones."""
        self._owners: dict[tuple[str, str], str] = {}
        self.follow(self.main)

    def follow(self, part: PagePart) -> None:
        """Worlds end with their documents."""

        def forget(event: Answer) -> None:
            part.worlds.pop(str(event["frame"]["id"]), None)
            if "parentId" not in event["frame"]:
                part.worlds.clear()

        part.session.on("Page.frameNavigated", forget)
        part.session.on("Page.frameDetached", lambda event: part.worlds.pop(str(event.get("frameId")), None))

    async def read(self, ask: str = "look") -> list[tuple[str, PageLook]]:
        """The page's own look first, then those of frames that it can't see into, by their frame's id."""
        main = await self._look_at_frame(self.main, self.main.frame, ask)
        looks = [("", main)]
        pending = [(self.main, main)]
        for _ in range(DEEPEST):
            inner = [await self._foreign(part, look, ask) for part, look in pending if look.foreign_frames()]
            pending = []
            for part, native_id, look in (entry for some in inner for entry in some):
                looks.append((native_id, look))
                pending.append((part, look))
            if not pending:
                break
        return looks

    async def _look_at_frame(self, part: PagePart, frame: str, ask: str) -> PageLook:
        look = await self.look(part, frame, ask)
        self.looked.pop(look.token, None)
        self.looked[look.token] = (part, frame)
        for token in list(self.looked)[:-MOST_WORLDS]:
            del self.looked[token]
            self._owners = {key: owner for key, owner in self._owners.items() if key[0] != token}
        return look

    async def _foreign(
        self, part: PagePart, look: PageLook, ask: str
    ) -> list[tuple[PagePart, str, PageLook]]:
        """Looks at the frames that this document can't see into."""
        wanted = look.foreign_frames()
        looks = []
        for inner_part, frame in await self._frames(part):
            owner = await self._owner(part, look, frame)
            if owner in wanted:
                try:
                    inner = await self._look_at_frame(inner_part, frame, ask)
                    number = int(owner.rpartition(".")[2])
                    script = f"handrail.over({number}, {json.dumps(inner.points(wanted[owner]))})"
                    covers = await self.evaluate(script, *self.looked[look.token])
                    looks.append((inner_part, owner, inner.covered(covers, look)))
                except (BrowserCommandError, TreeParseError, OwnPage):
                    continue  # removed while it was read
        return looks

    async def _frames(self, part: PagePart) -> list[Place]:
        """Frames inside the documents of this CDP target: its own, and the root frames of other targets."""
        tree = (await part.session.call("Page.getFrameTree"))["frameTree"]
        inner_frames: list[Place] = []
        stack = list(tree.get("childFrames", ()))
        while stack:
            node = stack.pop()
            inner_frames.append((part, str(node["frame"]["id"])))
            stack.extend(node.get("childFrames", ()))
        others = [
            (node, node.frame) for node in self.parts.values() if node is not part and node is not self.main
        ]
        foreign = {frame for _, frame in others}
        return others + [node for node in inner_frames if node[1] not in foreign]

    async def _owner(self, part: PagePart, look: PageLook, frame: str) -> str:
        """The native id of the element that shows a frame; "" if it is another document's."""
        key = (look.token, frame)
        if key in self._owners:
            return self._owners[key]
        world = await self.world(*self.looked[look.token])
        call = part.session.call
        try:
            owner = await call("DOM.getFrameOwner", {"frameId": frame})
            resolved = await call(
                "DOM.resolveNode",
                {"backendNodeId": owner["backendNodeId"], "executionContextId": world.context},
            )
            number = await call(
                "Runtime.callFunctionOn",
                {
                    "objectId": resolved["object"]["objectId"],
                    "functionDeclaration": "function () { return handrail.idOf(this); }",
                    "returnByValue": True,
                },
            )
        except BrowserCommandError:
            return ""
        native_id = self._owners[key] = f"{look.token}.{number['result'].get('value')}"
        return native_id

    # one document

    async def evaluate(
        self, expression: str, part: PagePart | None = None, frame: str = "", *, timeout_ms: float = LOOK_MS
    ) -> Any:
        """Evaluates in our world of a frame, by default the page's own. Raises what calls raise."""
        part = part or self.main
        for last in range(TRIES):
            world = await self.world(part, frame or part.frame)
            try:
                return value_of(
                    await part.session.call(
                        "Runtime.evaluate",
                        {"expression": expression, "contextId": world.context, "returnByValue": True},
                        timeout_ms=timeout_ms,
                    )
                )
            except BrowserCommandError:
                part.worlds.pop(frame or part.frame, None)  # its document was replaced
                if last == TRIES - 1:
                    raise
        raise AssertionError("unreachable")

    def documents(self) -> list[Place]:
        """Every document that was read, the page's own first."""
        return [(self.main, self.main.frame)] + [
            (part, frame)
            for part in self.parts.values()
            for frame in part.worlds
            if (part, frame) != (self.main, self.main.frame)
        ]

    def document_in(self, native_id: str) -> Place | None:
        """The document in the frame of another site that this element is, if it was read."""
        frames = {frame for (_, frame), owner in self._owners.items() if owner == native_id}
        return next((place for place in self.looked.values() if place[1] in frames), None)

    async def event_types(self, place: Place, count: int, *, up_to_window: bool) -> set[str]:
        """Types of events that the page listens to on the elements that the last answer counted."""
        part, world = place[0], await self.world(*place)
        wanted = [f"handrail.listenerAt({index})" for index in range(count)]
        if count and up_to_window:
            wanted.append("document")
        try:
            types = await asyncio.gather(*(self._listened(part, world, each) for each in wanted))
            await part.session.call("Runtime.releaseObjectGroup", {"objectGroup": WORLD})
        except BrowserCommandError:
            return {"keydown", "change"}  # its document was replaced: nobody can tell
        return set().union(*types)

    async def _listened(self, part: PagePart, world: FrameWorld, node: str) -> set[str]:
        """By the page's own object for our node, because listeners are told to their own world alone."""
        call, group = part.session.call, {"objectGroup": WORLD}
        evaluated = await call("Runtime.evaluate", {"expression": node, "contextId": world.context, **group})
        if "objectId" not in evaluated["result"]:
            return {"keydown", "change"}  # it may not be described, so nobody can tell
        described = (await call("DOM.describeNode", {"objectId": evaluated["result"]["objectId"]}))["node"]
        theirs = await call("DOM.resolveNode", {"backendNodeId": described["backendNodeId"], **group})
        objects = [theirs["object"]["objectId"]]
        if node == "document":
            view = {"objectId": objects[0], "functionDeclaration": "function () { return this.defaultView; }"}
            objects.append((await call("Runtime.callFunctionOn", {**view, **group}))["result"]["objectId"])
        answers = [await call("DOMDebugger.getEventListeners", {"objectId": each}) for each in objects]
        return {str(listener["type"]) for each in answers for listener in each["listeners"]}

    async def world(self, part: PagePart, frame: str) -> FrameWorld:
        """Our world in the current document of a frame, with the script loaded."""
        existing = part.worlds.get(frame)
        if existing is not None:
            return existing
        created = await part.session.call("Page.createIsolatedWorld", {"frameId": frame, "worldName": WORLD})
        context = int(created["executionContextId"])
        evaluated = await part.session.call(
            "Runtime.evaluate",
            {"expression": SCRIPT, "contextId": context, "returnByValue": True},
            timeout_ms=LOOK_MS,
        )
        world = part.worlds[frame] = FrameWorld(context, str(value_of(evaluated)))
        return world

    async def look(self, part: PagePart, frame: str, ask: str = "look") -> PageLook:
        """One document and what it can reach, including closed shadow roots."""
        look = await self._look(part, frame, ask)
        if look.suspects and await self._hand_in_roots(part, frame):
            look = await self._look(part, frame, ask)
        return look

    async def _look(self, part: PagePart, frame: str, ask: str) -> PageLook:
        return PageLook.read(await self.evaluate(f"handrail.{ask}({json.dumps(self.dots)})", part, frame))

    async def open_roots(self, place: Place, points: str) -> bool:
        """True if there is a closed root that no look knew of at these points, or with the focus ("").

        It is known from now on.
        """
        if not await self.evaluate(f"handrail.hosts({points})", *place) or not await self._hand_in_roots(
            *place
        ):
            return False
        await self.look(*place)
        return True

    async def _hand_in_roots(self, part: PagePart, frame: str) -> bool:
        """Only the browser knows closed shadow roots; the script receives those of its suspects."""
        call, world = part.session.call, await self.world(part, frame)
        request = {"expression": "handrail.suspects()", "contextId": world.context, "objectGroup": WORLD}
        try:
            listed = await call("Runtime.evaluate", request)
            properties = {"objectId": listed["result"]["objectId"], "ownProperties": True}
            hosts = [
                property_["value"]["objectId"]
                for property_ in (await call("Runtime.getProperties", properties))["result"]
                if property_["name"].isdigit() and "objectId" in property_.get("value", {})
            ]
            handed_in = await asyncio.gather(*(self._hand_in(part, world, host) for host in hosts))
            await call("Runtime.releaseObjectGroup", {"objectGroup": WORLD})
        except BrowserCommandError:
            return False  # its document was replaced; the next look asks again
        return any(handed_in)

    async def _hand_in(self, part: PagePart, world: FrameWorld, host: str) -> bool:
        call = part.session.call
        node = (await call("DOM.describeNode", {"objectId": host, "depth": 1}))["node"]
        roots = [shadow for shadow in node.get("shadowRoots", ()) if shadow.get("shadowRootType") == "closed"]
        if not roots:
            return False
        closed_root = {"backendNodeId": roots[0]["backendNodeId"], "executionContextId": world.context}
        root = (await call("DOM.resolveNode", {**closed_root, "objectGroup": WORLD}))["object"]["objectId"]
        take = "function (root) { handrail.take(this, root); }"
        await call(
            "Runtime.callFunctionOn",
            {"objectId": host, "functionDeclaration": take, "arguments": [{"objectId": root}]},
        )
        return True


def value_of(answer: Mapping[str, Any]) -> Any:
    """Raises `TreeParseError` if the expression threw."""
    if "exceptionDetails" in answer:
        details = answer["exceptionDetails"]
        reason = details.get("exception", {}).get("description") or details.get("text", "")
        raise TreeParseError(f"The page could not be read: {reason[:300]}")
    return answer["result"].get("value")


_BODY = (files("handrail.page").joinpath(f"{name}.js") for name in ("look", "controls", "activation"))
SCRIPT = "\n".join(
    ("(() => {", *(part.read_text(encoding="utf-8") for part in _BODY), "return api.token; })()")
)
"""Defines `handrail` in its world; running it again changes nothing."""
MOST_ROWS = 16_000

_ROLES = {
    "page": "web_view", "frame": "web_view", "button": "button", "link": "text_view", "checkbox": "check_box",
    "menuitemcheckbox": "check_box", "radio": "radio_button", "menuitemradio": "radio_button",
    "switch": "switch", "slider": "slider", "textbox": "text_field", "searchbox": "text_field",
    "spinbutton": "text_field", "date": "text_field", "select": "spinner", "tab": "tab",
    "menuitem": "button", "option": "list_item", "treeitem": "list_item", "listitem": "list_item",
    "row": "list_item", "img": "image", "progressbar": "progress_bar", "heading": "text_view",
    "toolbar": "toolbar", "video": "image", "canvas": "image",
}  # fmt: skip
"""From web roles to ours; others are a text if they have one, else a container."""


class OwnPage(Exception):
    """The page is Handrail's own and is not read."""


class FramePlacement(NamedTuple):
    """Where another document is drawn: the corner of its content, its scale and size, in outer pixels."""

    x: float
    y: float
    scale: float
    width: float
    height: float

    def place(self, point: Sequence[float]) -> tuple[float, float]:
        """The middle of this CSS pixel of the document, in outer pixels."""
        return self.x + (point[0] + 0.5) * self.scale, self.y + (point[1] + 0.5) * self.scale


OWN_PAGE = "handrail.isOwn()"
"""Whether the page is Handrail's own."""


@dataclass(frozen=True, slots=True)
class PageViewport:
    """The visible part of a page in CSS pixels, and the device pixels of one of them."""

    width: int
    height: int
    device_scale: float = 1.0
    zoom: float = 1.0
    left: float = 0.0
    top: float = 0.0
    shown_width: float = 0.0
    """Of the visible part of a zoomed page."""


@dataclass(frozen=True, slots=True)
class PageLook:
    """One answer of the script."""

    token: str
    """Identifies the world: ids of two worlds are unrelated."""
    viewport: PageViewport
    origins: tuple[str, ...]
    rows: list[list[Any]]
    truncated: int
    unasked: int
    """Elements for which the page was too slow to report what covers them."""
    cut: int
    """Elements that were left out because there were too many, or too many inside each other."""
    suspects: int
    """Elements that may have a closed shadow root and were not yet examined."""

    @classmethod
    def read(cls, text: str) -> PageLook:
        """Raises `OwnPage`, or `TreeParseError` if it does not parse."""
        try:
            answer = json.loads(text)
            if isinstance(answer, dict) and answer.get("own"):
                raise OwnPage("The page is Handrail's own, and not shown to an agent")
            width, height, device_scale, zoom, left, top, shown = answer["view"]
            return cls(
                str(answer["token"]),
                PageViewport(
                    int(width),
                    int(height),
                    float(device_scale),
                    float(zoom),
                    float(left),
                    float(top),
                    float(shown),
                ),
                tuple(map(str, answer["docs"])),
                answer["rows"][:MOST_ROWS],
                int(answer["truncated"]),
                int(answer["unasked"]),
                int(answer["cut"]),
                int(answer["suspects"]),
            )
        except (ValueError, KeyError, TypeError) as error:
            raise TreeParseError(f"The page's answer does not parse: {error!r}") from None

    @property
    def origin(self) -> str:
        return self.origins[0] if self.origins else ""

    @property
    def title(self) -> str:
        return str(self.rows[0][_PANE]) if self.rows else ""

    def points(self, frame: FramePlacement) -> list[tuple[float, float]]:
        """Where its elements are touched, in pixels of the document that contains its frame."""
        return [frame.place(row[_POINT]) for row in self.rows if row[_POINT]]

    def covered(self, outer_covers: Sequence[Any], outer: PageLook) -> PageLook:
        """Adds what the outer document has over each of `points`."""
        covers = iter(outer_covers)
        rows = [
            _with_outer_cover(row, next(covers), outer.token) if row[_POINT] else _in_view(row, self.viewport)
            for row in self.rows
        ]
        return replace(self, rows=rows)

    def foreign_frames(self) -> dict[str, FramePlacement]:
        """Frames whose content is not visible here, by the native id of their element."""
        return {
            f"{self.token}.{row[0]}": FramePlacement(*row[_FOREIGN]) for row in self.rows if row[_FOREIGN]
        }


(
    _ID, _PARENT, _TAG, _ROLE, _FLAGS, _LEFT, _TOP, _RIGHT, _BOTTOM, _TEXT, _DESC, _HINT, _STATE, _PANE, _TIP,
    _RID, _DOC, _COVER, _POINT, _SCROLL, _FOREIGN,
) = range(21)  # fmt: skip


def _with_outer_cover(row: list[Any], cover: Any, token: str) -> list[Any]:
    if cover == "":
        return row
    covered_by = CLIPPED if cover == CLIPPED else f"{token}.{cover}"
    return [*row[:_COVER], covered_by, None, *row[_POINT + 1 :]]


def _in_view(row: list[Any], view: PageViewport) -> list[Any]:
    """What its own frame does not show is clipped, whatever the page has there."""
    is_seen = row[_LEFT] < view.width and row[_TOP] < view.height and row[_RIGHT] > 0 and row[_BOTTOM] > 0
    return row if is_seen or row[_COVER] is not None else [*row[:_COVER], CLIPPED, *row[_POINT:]]


FULL_FRAME = FramePlacement(0.0, 0.0, 1.0, 0.0, 0.0)
"""The page fills the screen pixel by pixel."""


def nodes_of(
    look: PageLook, inner: Mapping[str, PageLook] | None = None, at: FramePlacement = FULL_FRAME
) -> list[Node]:
    """All nodes in document order, with their links; `inner` has the looks at foreign frames by native id,
    `at` is where the page is drawn."""
    nodes: list[Node] = []
    _put(look, inner or {}, nodes, None, at)
    return nodes


def _put(
    look: PageLook, inner: Mapping[str, PageLook], nodes: list[Node], holder: Node | None, at: FramePlacement
) -> None:
    placed: list[Node] = []
    waiting: list[tuple[Node, PageLook, FramePlacement]] = []
    for row in look.rows:
        node = _node(look, row, at)
        parent = placed[row[_PARENT]] if row[_PARENT] >= 0 else holder
        placed.append(node)
        if parent is not None:
            node.parent = parent
            node.position = node.index = len(parent.children)
            parent.children.append(node)
        if row[_FOREIGN] and (inner_look := inner.get(node.native_id)) is not None:
            frame = FramePlacement(*row[_FOREIGN])
            place = FramePlacement(
                at.x + frame.x * at.scale, at.y + frame.y * at.scale, at.scale * frame.scale, 0, 0
            )
            waiting.append((node, inner_look, place))
    for node, inner_look, place in waiting:
        _put(
            inner_look,
            {key: other for key, other in inner.items() if other is not inner_look},
            [],
            node,
            place,
        )
    if holder is None and placed:
        _assign_order(placed[0], nodes)


def _assign_order(root: Node, nodes: list[Node]) -> None:
    """Iterative, because a page may be deep."""
    stack = [root]
    while stack:
        node = stack.pop()
        node.order = len(nodes)
        nodes.append(node)
        stack.extend(reversed(node.children))
    for node in reversed(nodes):
        node.end = node.children[-1].end if node.children else node.order + 1


def _node(look: PageLook, row: Sequence[Any], at: FramePlacement) -> Node:
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
        touch_at=ScreenPoint(*map(int, at.place(row[_POINT]))) if row[_POINT] else None,
        scrolled=ScreenPoint(*map(round, row[_SCROLL][:2])) if row[_SCROLL] else None,
        scrolls_to=ScreenPoint(*map(round, row[_SCROLL][2:])) if row[_SCROLL] else None,
    )


def _bounds(row: Sequence[Any], at: FramePlacement) -> Bounds:
    left, top, right, bottom = row[_LEFT], row[_TOP], row[_RIGHT], row[_BOTTOM]
    if at.scale == 1.0 and not at.x and not at.y:
        return Bounds(left, top, right, bottom)
    k = at.scale
    return Bounds(
        round(at.x + left * k), round(at.y + top * k), round(at.x + right * k), round(at.y + bottom * k)
    )


def screen_of(nodes: list[Node], viewport: PageViewport, origin: str, warnings: Sequence[str] = ()) -> Screen:
    """Measures in CSS pixels of the viewport."""
    box = Bounds(0, 0, viewport.width, viewport.height)
    empty = Node("html", "", "", "", origin, box, ENABLED, "web_view", 0, order=0, end=1)
    root = nodes[0] if nodes else empty
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

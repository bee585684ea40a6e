"""Reading a page by its sessions: our world in each document, closed shadow roots, frames of other sites.

Knows no browser and no phone. Whoever has the sessions enables `Page` on them.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from handrail.cdp.connection import Answer, CdpSession
from handrail.errors import BrowserCommandError, TreeParseError
from handrail.page.rows import SCRIPT, OwnPage, PageLook

WORLD = "handrail"
LOOK_MS = 5_000.0
"""For one reading of a page. One that is busy for longer is said to be."""
TRIES = 3
"""Readings of a page that changes its document meanwhile."""
DEEPEST = 5
"""Frames of other sites inside each other."""
MOST_WORLDS = 256
"""Documents that are remembered."""


@dataclass(slots=True)
class FrameWorld:
    """Our world in one document."""

    context: int
    token: str


@dataclass(slots=True)
class PagePart:
    """One renderer's share of the page: the page itself, or frames of another site."""

    session: CdpSession
    frame: str
    """The frame at its root."""
    worlds: dict[str, FrameWorld] = field(default_factory=dict)
    """By frame."""


Place = tuple[PagePart, str]
"""A document: whose part it is in, and its frame."""


class PageReader:
    """One page, and the parts of it that other renderers draw."""

    def __init__(self, session: CdpSession, frame: str) -> None:
        self.main = PagePart(session, frame)
        self.parts: dict[str, PagePart] = {session.id: self.main}
        self.looked: dict[str, Place] = {}
        """Which document a world is in, by its token."""
        self.dots = False
        """Whether a secret is told by as many dots as it has characters, as phones do."""
        self._owners: dict[tuple[str, str], str] = {}
        self.follow(self.main)

    def follow(self, part: PagePart) -> None:
        """Worlds die with their documents."""
        part.session.on("Page.frameNavigated", lambda told: self._forget(part, told["frame"]))
        part.session.on("Page.frameDetached", lambda told: self._gone(part, str(told.get("frameId"))))

    def _forget(self, part: PagePart, frame: Answer) -> None:
        self._gone(part, str(frame["id"]))
        if "parentId" not in frame:
            part.worlds.clear()

    def _gone(self, part: PagePart, frame: str) -> None:
        part.worlds.pop(frame, None)

    async def read(self) -> list[tuple[str, PageLook]]:
        """The page's own look first, then those of frames that it can't see into, by their frame's id."""
        main = await self._one(self.main, self.main.frame)
        found = [("", main)]
        pending = [(self.main, main)]
        for _ in range(DEEPEST):
            inner = [await self._foreign(part, look) for part, look in pending if look.foreign_frames()]
            pending = []
            for part, native_id, look in (one for some in inner for one in some):
                found.append((native_id, look))
                pending.append((part, look))
            if not pending:
                break
        return found

    async def _one(self, part: PagePart, frame: str) -> PageLook:
        look = await self.look(part, frame)
        self.looked.pop(look.token, None)
        self.looked[look.token] = (part, frame)
        for token in list(self.looked)[:-MOST_WORLDS]:
            del self.looked[token]
            self._owners = {key: owner for key, owner in self._owners.items() if key[0] != token}
        return look

    async def _foreign(self, part: PagePart, look: PageLook) -> list[tuple[PagePart, str, PageLook]]:
        """The looks at the frames that this document can't see into."""
        wanted = look.foreign_frames()
        found = []
        for inner_part, frame in await self._frames(part):
            owner = await self._owner(part, look, frame)
            if owner in wanted:
                try:
                    inner = await self._one(inner_part, frame)
                    number = int(owner.rpartition(".")[2])
                    asked = f"handrail.over({number}, {json.dumps(inner.points(wanted[owner]))})"
                    told = await self.evaluate(asked, *self.looked[look.token])
                    found.append((inner_part, owner, inner.covered(told, look)))
                except (BrowserCommandError, TreeParseError, OwnPage):
                    continue  # it went while it was read
        return found

    async def _frames(self, part: PagePart) -> list[Place]:
        """Every frame that may be drawn in a document of this part: its own, and the roots of other parts."""
        tree = (await part.session.call("Page.getFrameTree"))["frameTree"]
        found: list[Place] = []
        stack = list(tree.get("childFrames", ()))
        while stack:
            one = stack.pop()
            found.append((part, str(one["frame"]["id"])))
            stack.extend(one.get("childFrames", ()))
        others = [(one, one.frame) for one in self.parts.values() if one is not part and one is not self.main]
        known = {frame for _, frame in others}
        return others + [one for one in found if one[1] not in known]

    async def _owner(self, part: PagePart, look: PageLook, frame: str) -> str:
        """The native id of the element that a frame is drawn in; "" where it is another document's."""
        key = (look.token, frame)
        if key in self._owners:
            return self._owners[key]
        world = await self.world(*self.looked[look.token])
        call = part.session.call
        try:
            owner = await call("DOM.getFrameOwner", {"frameId": frame})
            told = await call(
                "DOM.resolveNode",
                {"backendNodeId": owner["backendNodeId"], "executionContextId": world.context},
            )
            number = await call(
                "Runtime.callFunctionOn",
                {
                    "objectId": told["object"]["objectId"],
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
        """A value of our own world in a frame, the page's own if none is named. Raises what calls raise."""
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
                part.worlds.pop(frame or part.frame, None)  # its document is gone
                if last == TRIES - 1:
                    raise
        raise AssertionError("unreachable")

    async def world(self, part: PagePart, frame: str) -> FrameWorld:
        """Ours in the present document of a frame, with the script in it."""
        known = part.worlds.get(frame)
        if known is not None:
            return known
        made = await part.session.call("Page.createIsolatedWorld", {"frameId": frame, "worldName": WORLD})
        context = int(made["executionContextId"])
        told = await part.session.call(
            "Runtime.evaluate",
            {"expression": SCRIPT, "contextId": context, "returnByValue": True},
            timeout_ms=LOOK_MS,
        )
        world = part.worlds[frame] = FrameWorld(context, str(value_of(told)))
        return world

    async def look(self, part: PagePart, frame: str) -> PageLook:
        """One document and what it can reach, closed shadow roots too."""
        look = await self._look(part, frame)
        if look.suspects and await self._hand_in_roots(part, frame):
            look = await self._look(part, frame)
        return look

    async def _look(self, part: PagePart, frame: str) -> PageLook:
        return PageLook.read(await self.evaluate(f"handrail.look({json.dumps(self.dots)})", part, frame))

    async def _hand_in_roots(self, part: PagePart, frame: str) -> bool:
        """Only the browser knows closed shadow roots; the script is given those of its suspects."""
        call, world = part.session.call, await self.world(part, frame)
        asked = {"expression": "handrail.suspects()", "contextId": world.context, "objectGroup": WORLD}
        try:
            listed = await call("Runtime.evaluate", asked)
            told = {"objectId": listed["result"]["objectId"], "ownProperties": True}
            hosts = [
                one["value"]["objectId"]
                for one in (await call("Runtime.getProperties", told))["result"]
                if one["name"].isdigit() and "objectId" in one.get("value", {})
            ]
            given = await asyncio.gather(*(self._hand_in(part, world, host) for host in hosts))
            await call("Runtime.releaseObjectGroup", {"objectGroup": WORLD})
        except BrowserCommandError:
            return False  # its document went meanwhile; the next look asks again
        return any(given)

    async def _hand_in(self, part: PagePart, world: FrameWorld, host: str) -> bool:
        call = part.session.call
        node = (await call("DOM.describeNode", {"objectId": host, "depth": 1}))["node"]
        roots = [one for one in node.get("shadowRoots", ()) if one.get("shadowRootType") == "closed"]
        if not roots:
            return False
        told = {"backendNodeId": roots[0]["backendNodeId"], "executionContextId": world.context}
        root = (await call("DOM.resolveNode", {**told, "objectGroup": WORLD}))["object"]["objectId"]
        take = "function (root) { handrail.take(this, root); }"
        await call(
            "Runtime.callFunctionOn",
            {"objectId": host, "functionDeclaration": take, "arguments": [{"objectId": root}]},
        )
        return True


def value_of(answer: Mapping[str, Any]) -> Any:
    """What an expression gave. Raises `TreeParseError` where it threw."""
    if "exceptionDetails" in answer:
        told = answer["exceptionDetails"]
        said = told.get("exception", {}).get("description") or told.get("text", "")
        raise TreeParseError(f"The page could not be read: {said[:300]}")
    return answer["result"].get("value")

"""Profiles whose tools are rows of a dialect's table: OpenPocket's ten, mobile-mcp, agent-device.

Answers are our own words, with what they need in front: the list of phones, the size of the screen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from handrail.dialects import agent_device, mobile_mcp
from handrail.dialects.frame import CoordinateFrame
from handrail.dialects.openpocket import SHAPES
from handrail.dialects.parts import Conversation
from handrail.dialects.registry import dialect
from handrail.mcp.answer import ToolAnswer, failure_text, tell
from handrail.mcp.tools import Tool, annotations_of, seed_tool
from handrail.protocol.describe import object_of

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from handrail.errors import HandrailError
    from handrail.mcp.calls import Call

_KINDS: dict[type, str] = {int: "integer", str: "string"}


@dataclass(frozen=True, slots=True)
class TableProfile:
    """One dialect as a list of tools; `own` are those that are no action."""

    name: str
    listed: Callable[[], list[Tool]]
    own: Mapping[str, Callable[[Call], Awaitable[ToolAnswer]]] = field(default_factory=dict)

    def tools(self) -> list[Tool]:
        return self.listed()

    def failure(self, _: str, error: HandrailError) -> str:
        """In our own words: these servers have none."""
        return failure_text(error)

    async def answer(self, call: Call) -> ToolAnswer:
        """All actions of a word in order; the last of them is told, or the first that failed."""
        if call.name in self.own:
            return await self.own[call.name](call)
        wanted = call.arguments.get("device")
        session = await call.session(wanted if isinstance(wanted, str) else None)
        display = await session.looks.eyes.display()
        talk = Conversation(CoordinateFrame("device", (display.width, display.height)))
        given = {name: value for name, value in call.arguments.items() if value is not None}
        reading = dialect(self.name).read({"name": call.name, "arguments": given}, talk)
        said = [f"Note: {note}." for note in reading.notes]
        answer = ToolAnswer("\n".join([reading.reply or "Nothing was done.", *said]))
        for action in reading.actions:
            envelope = await call.perform(action, session)
            answer = tell(call.state.runtime, session, call.known, action, envelope)
            if not envelope.success:
                break
        text = "\n".join([answer.text, *said]) if said and reading.actions else answer.text
        return ToolAnswer(
            text, answer.images, answer.is_error, answer.envelope, answer.structured, answer.more
        )


async def _devices(call: Call) -> ToolAnswer:
    from handrail.mcp.calls import listed_devices  # noqa: PLC0415  (it knows the profiles, too)

    return await listed_devices(call)


async def _screen_size(call: Call) -> ToolAnswer:
    """In pixels, as all coordinates are."""
    wanted = call.arguments.get("device")
    session = await call.session(wanted if isinstance(wanted, str) else None)
    display = await session.looks.eyes.display()
    return ToolAnswer(f"The screen has {display.width}x{display.height} pixels.")


def _phones(name: str) -> Tool:
    return Tool(name, "List phones.", object_of({}), annotations_of("read"))


def _mobile_mcp() -> list[Tool]:
    prefix, rows = mobile_mcp.PREFIX, mobile_mcp.ROWS
    listed = _phones(f"{prefix}list_available_devices")
    made = [
        seed_tool(prefix + name, row, getattr(rows[name], "native", ""), mobile_mcp.KINDS)
        for name, row in mobile_mcp.TOOLS.items()
    ]
    return [listed, *made]


def _agent_device() -> list[Tool]:
    rows = agent_device.ROWS
    made = [
        seed_tool(name, row, getattr(rows[name], "native", ""), agent_device.KINDS)
        for name, row in agent_device.TOOLS.items()
    ]
    return [_phones("devices"), *made]


def _openpocket() -> list[Tool]:
    """The seed's ten actions, each a tool; every one takes a reason."""
    made = []
    for kind, shape in SHAPES.items():
        fields: dict[str, Any] = {
            name: {"type": _KINDS[one.kind]} | ({"enum": list(one.choices)} if one.choices else {})
            for name, one in shape.fields.items()
        }
        needed = [name for name, one in shape.fields.items() if one.default in (0, "")]
        effect = seed_tool(kind, ("", ""), shape.native).annotations
        words = f"OpenPocket's {kind}."
        made.append(Tool(kind, words, object_of({**fields, "reason": {"type": "string"}}, needed), effect))
    return made


PROFILES = {
    "openpocket": TableProfile("openpocket", _openpocket),
    "mobile_mcp": TableProfile(
        "mobile_mcp",
        _mobile_mcp,
        {"mobile_list_available_devices": _devices, "mobile_get_screen_size": _screen_size},
    ),
    "agent_device": TableProfile("agent_device", _agent_device, {"devices": _devices}),
}

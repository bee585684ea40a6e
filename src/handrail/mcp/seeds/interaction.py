"""Seed 001: five tools that act and say why, four that look. Answers are a sentence and what changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from handrail.dialects import interaction as dialect
from handrail.engine.answer import answer_text
from handrail.mcp.answer import PICTURE, ToolAnswer, data_of, failure_text
from handrail.mcp.tools import seed_tool
from handrail.protocol.observe import WhatChanged
from handrail.tree.diff import Diff, diff_text
from handrail.tree.element.find import elements
from handrail.tree.exports import elements_text

if TYPE_CHECKING:
    from handrail.engine.session import Session
    from handrail.errors import HandrailError
    from handrail.mcp.calls import Call
    from handrail.mcp.tools import Tool
    from handrail.protocol.actions import AnyAction
    from handrail.protocol.envelope import Envelope


def tools() -> list[Tool]:
    """As the seed lists them."""
    return [seed_tool(name, row, dialect.TOOLS[name].native) for name, row in dialect.ROWS.items()]


def failure(_: Call, error: HandrailError) -> str:
    """In our own words: the seed has none."""
    return failure_text(error)


def _screen(session: Session) -> str:
    """After a navigation. Its tools aim at points, so every element has its bounds."""
    looks = session.looks
    return elements_text(elements(looks.last.screen, looks.last.reading.labels)) if looks.last else ""


def _told(action: AnyAction, envelope: Envelope, screen: str) -> str:
    navigated = [one for one in envelope.changes or () if one["type"] == "navigated"]
    if isinstance(action, WhatChanged) and envelope.success and navigated:
        return diff_text(Diff(navigated), screen_text=screen)
    return answer_text(action, envelope, screen, refs=False)


async def answer(call: Call) -> ToolAnswer:
    """The sentence, a blank line, the diff."""
    action = dialect.read_tool(call.name, call.arguments)
    session = await call.session()
    envelope = await call.perform(action, session)
    picture = (envelope.details or {}).get(PICTURE)
    screen = "" if picture else call.state.runtime.secrets.redact(_screen(session))
    text = "" if picture else _told(action, envelope, screen)
    images = (picture,) if picture else ()
    return ToolAnswer(text, images, not envelope.success, envelope, data_of(envelope))

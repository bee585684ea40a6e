"""Seed 001: five tools that act and say why, four that look. Answers are a sentence and what changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from handrail.dialects import interaction as dialect
from handrail.engine.answer import answer_text
from handrail.mcp.answer import PICTURE, ToolAnswer, data_of, failure_text
from handrail.mcp.tools import seed_tool

if TYPE_CHECKING:
    from handrail.errors import HandrailError
    from handrail.mcp.calls import Call
    from handrail.mcp.tools import Tool


def tools() -> list[Tool]:
    """As the seed lists them."""
    return [seed_tool(name, row, dialect.TOOLS[name].native) for name, row in dialect.ROWS.items()]


def failure(_: Call, error: HandrailError) -> str:
    """In our own words: the seed has none."""
    return failure_text(error)


async def answer(call: Call) -> ToolAnswer:
    """The sentence, a blank line, the diff."""
    action = dialect.read_tool(call.name, call.arguments)
    session = await call.session()
    envelope = await call.perform(action, session)
    picture = (envelope.details or {}).get(PICTURE)
    screen = call.state.runtime.secrets.redact(session.looks.registry.text)
    text = "" if picture else answer_text(action, envelope, screen)
    images = (picture,) if picture else ()
    return ToolAnswer(text, images, not envelope.success, envelope, data_of(envelope))

"""`POST /api/actions?dialect=…`: a maker's words in, the maker's answer and our envelopes out.

What was said before in a dialect (where a mouse stood, which picture was sent) is kept for each caller.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from handrail.dialects.carry_out import CarriedOut, carry_out
from handrail.dialects.frame import CoordinateFrame, size_from, unit_from
from handrail.dialects.parts import Conversation
from handrail.dialects.registry import dialect
from handrail.engine.answer import answer_text
from handrail.errors import InvalidAction
from handrail.protocol.act import DeskAct

if TYPE_CHECKING:
    from handrail.engine.events import Caller
    from handrail.engine.session import Session
    from handrail.protocol.actions import AnyAction
    from handrail.runtime import Runtime

MOST = 200
"""Conversations that are kept; the one that was silent longest is forgotten first."""
PARAMETERS = ("dialect", "frame", "screen", "picture", "device")


class Conversations:
    """By caller, device and dialect."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str, str], Conversation] = {}

    def of(self, caller: str, device: str, asked: Mapping[str, str]) -> Conversation:
        """What the request says of its numbers counts from now on."""
        name = asked["dialect"]
        key = (caller, device, name)
        talk = self._kept.pop(key, None) or Conversation(CoordinateFrame(dialect(name).unit))
        self._kept[key] = talk
        while len(self._kept) > MOST:
            del self._kept[next(iter(self._kept))]
        screen = size_from(asked.get("screen"), "screen") or talk.frame.screen
        picture = size_from(asked.get("picture"), "picture") or talk.frame.picture
        talk.frame = CoordinateFrame(unit_from(asked.get("frame"), talk.frame.unit), screen, picture)
        return talk


def check_parameters(asked: Mapping[str, str]) -> None:
    """Before a phone is opened for them."""
    dialect(asked["dialect"])
    for name in asked:
        if name not in PARAMETERS:
            raise InvalidAction(
                f"{name}: is not known here", path=name, hint=f"Parameters: {', '.join(PARAMETERS)}."
            )


def words_in(body: bytes) -> Any:
    """JSON where it is some, else a model's text."""
    text = body.decode("utf-8-sig", "replace")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


async def run_words(
    runtime: Runtime, session: Session | None, words: Any, talk: Conversation, caller: Caller, name: str
) -> CarriedOut:
    """Raises `InvalidAction` and `Unsupported` for what can't be read."""

    async def do(action: AnyAction) -> tuple[Mapping[str, Any], str]:
        if isinstance(action, DeskAct) or session is None:
            on_desk = await runtime.desk_session().run(action, caller=caller)
            return on_desk.to_dict(), answer_text(action, on_desk, refs=False)
        envelope = await session.run(action, caller=caller)
        screen = runtime.secrets.redact(session.looks.registry.text)
        return envelope.to_dict(), answer_text(action, envelope, screen, refs=False)

    return await carry_out(dialect(name), words, talk, do)

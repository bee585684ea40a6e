"""A run in a dialect: the model is told its maker's form, and what it prints is read by the maker's rules.

An answer may hold several actions. They are done one after another, and the model is asked again when the
last of them is done or one has failed.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import from_json

from handrail.agent.model import Reply
from handrail.agent.phone import ScreenLook
from handrail.agent.read_answer import Choice, nowhere, read_reply
from handrail.agent.run_data import StepOutcome
from handrail.dialects.frame import Conversation, CoordinateFrame, Unit
from handrail.dialects.registry import dialect
from handrail.dialects.table import Dialect
from handrail.engine.actions.observations import picture_size
from handrail.errors import InvalidAction, Unsupported
from handrail.protocol.actions import AnyAction
from handrail.protocol.observe import Wait

BAD: frozenset[StepOutcome] = frozenset({"failed", "refused", "malformed", "blocked", "unfinished"})
_REF = re.compile(r"^\s*(@[a-z]\d+)\b", re.M | re.ASCII)


@dataclass(slots=True)
class Speech:
    """One run's conversation in one dialect."""

    own: Dialect
    talk: Conversation
    waiting: deque[AnyAction] = field(default_factory=deque)
    """Actions of the last answer that are still to be done."""
    notes: list[str] = field(default_factory=list)
    """What the model is told of how its last words were understood."""

    @classmethod
    def of(cls, name: str, unit: Unit | None = None) -> Speech:
        own = dialect(name)
        return cls(own, Conversation(CoordinateFrame(unit or own.unit)))

    @property
    def guide(self) -> str:
        if self.own.guide:
            return self.own.guide
        return f"Answer with one action of {self.own.title}, in its maker's own form and nothing else."

    def look(self, view: ScreenLook) -> None:
        """What the model sees now: its numbers are about this screen and this picture."""
        if view.look is None:
            return
        size = (view.look.screen.width, view.look.screen.height)
        self.talk.frame = CoordinateFrame(self.talk.frame.unit, size, picture_size(*size))
        self.talk.elements = list(dict.fromkeys(_REF.findall(view.text)))

    def elements(self) -> str:
        if not self.own.numbers:
            return ""
        return "\n".join(f"{number}: {ref}" for number, ref in enumerate(self.talk.elements))

    def read(self, reply: Reply) -> Choice:
        """The first action; what follows it waits."""
        if not reply.raw and reply.action is not None:  # a model that is a program ends in our own words
            return read_reply(reply)
        try:
            reading = self.own.read(_parsed(reply.raw, self.own), self.talk)
        except (InvalidAction, Unsupported) as error:
            return Choice(None, f"{error.message}. {error.hint}")
        self.notes = [*reading.notes, *([reading.reply] if reading.reply else [])]
        # A word that does nothing on a phone is a step all the same.
        first, *rest = reading.actions or (Wait(duration_ms=0),)
        if why := next((why for action in reading.actions if (why := nowhere(action))), ""):
            return Choice(None, why)
        self.waiting = deque(rest)
        return Choice(first, thought=reading.thought)

    def came(self, outcome: StepOutcome, line: str, image: bytes | None) -> None:
        """After a failure the queued actions are dropped: they were meant for another screen."""
        del line, image
        if outcome in BAD:
            self.waiting.clear()


def _parsed(raw: str, own: Dialect) -> Any:
    """JSON where a dialect is some, else the text as it is."""
    if own.is_text:
        return raw
    try:
        return from_json(raw)
    except (ValueError, TypeError):
        return raw

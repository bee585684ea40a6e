"""A run in a dialect, or by the maker's own computer tool: what was said so far, and what came of it.

`Speech` tells the model its maker's form, and reads what it prints by the maker's rules. An answer may hold
several actions. They are done one after another, and the model is asked again when the last of them is done
or one has failed. `ComputerSpeech` is the talk with a model and its maker's computer.

The talk only grows, because makers refuse an answer's thinking in another context than its own. After `KEPT`
answers it begins anew with a first message that tells the steps in words: old pictures are never sent again.
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic_core import from_json

from handrail.dialects.frame import Conversation, CoordinateFrame, Size, Unit
from handrail.dialects.registry import dialect
from handrail.dialects.table import Dialect
from handrail.engine.actions.observations import picture_size
from handrail.errors import HandrailError, InvalidAction, Unsupported
from handrail.protocol.actions import ACTIONS, AnyAction
from handrail.protocol.observe import Wait
from handrail.protocol.traits import Capability, Pressed
from handrail.surface.picture import size_of
from handrail_agent.model import CallResult, Exchange, ModelCall, Prompt, PromptTurn, Reply
from handrail_agent.phone import ScreenLook
from handrail_agent.read_answer import Choice, nowhere, read_reply
from handrail_agent.run_data import StepOutcome
from handrail_agent.tools import DEFAULT, Tool, kind_of, tool_schemas

MAX_EXCHANGES = 8
"""Answers of the model that one talk holds, each with a picture."""
_PLACE = re.compile(r"\((\d{1,5}), (\d{1,5})\)", re.ASCII)
_QUOTED = re.compile(r'("(?:[^"\\]|\\.)*")')
NOT_DONE = "Not done: what you wanted before it did not succeed, or the screen has turned since."
UNCONFIRMED = "Not done: the model's maker wants a person to confirm it, and no one did."
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
            words: Any = reply.raw
            if not self.own.is_text:
                with suppress(ValueError, TypeError):  # a dialect in JSON that is none is read as it is
                    words = from_json(reply.raw)
            reading = self.own.read(words, self.talk)
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


@dataclass(frozen=True, slots=True)
class PictureRule:
    """How large a picture may be. Its maker makes a larger one smaller, and then its numbers would be off."""

    long_side: int
    short_side: int
    pixels: int

    def factor(self, size: Size) -> float:
        """The scale for a picture of this size, at most 1."""
        width, height = max(1, size[0]), max(1, size[1])
        sides = self.long_side / max(width, height), self.short_side / min(width, height)
        return min(1.0, *sides, math.sqrt(self.pixels / (width * height)))


RULES = {
    "anthropic_computer": PictureRule(1568, 1568, 1_150_000),
    "openai_computer": PictureRule(2048, 768, 2048 * 768),
}


def _tools() -> tuple[Tool, ...]:
    """What needs neither a place nor a look: to open an app, to ask a person, to end."""
    traits = {kind: ACTIONS[kind].traits for kind in DEFAULT}
    return tool_schemas(
        kind
        for kind, trait in traits.items()
        if trait.presses is Pressed.NOTHING and not trait.aims and trait.needs is not Capability.LOOK
    )


@dataclass(slots=True)
class _OpenCall:
    """A call of the last answer, and what is known of it."""

    call: ModelCall
    left: int
    """Actions of it that are still to be done, or parts of which nobody knows yet what they are."""
    lines: list[str] = field(default_factory=list)
    problem: str = ""
    """Why the next part of it can't be read."""
    failed: bool = False
    image: bytes | None = None
    acknowledged: bool = False

    @property
    def result(self) -> CallResult:
        undone = ""
        if self.left > 0:
            undone = f"Not done: {self.problem}" if self.problem and not self.failed else NOT_DONE
        return CallResult(
            self.call.id,
            "\n".join([*self.lines, *([undone] if undone else [])]) or "Done.",
            failed=self.failed or bool(undone),
            image=self.image,
            acknowledged=self.call.checks if self.acknowledged else (),
            tool=self.call.tool,
        )


@dataclass(slots=True)
class ComputerSpeech(Speech):
    """One run's talk with a model and its maker's computer."""

    opening: PromptTurn | None = None
    exchanges: list[Exchange] = field(default_factory=list)
    _sees: bool = True
    _blocks: tuple[Mapping[str, Any], ...] = ()
    _open: list[_OpenCall] = field(default_factory=list)
    _owners: deque[_OpenCall] = field(default_factory=deque)
    """To which call each action belongs that was read and is not done yet, the current one first."""
    _read_notes: int = 0
    """Notes of the person that the model has heard."""

    @classmethod
    def of_maker(cls, name: str) -> ComputerSpeech:
        return cls(dialect(name), Conversation(CoordinateFrame("picture")))

    # what the model is shown

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Beside the computer; without a picture there is nothing to point at, and elements have names."""
        return _tools() if self._sees else tool_schemas()

    def scale(self, size: Size) -> float:
        return RULES[self.own.name].factor(size)

    def look(self, view: ScreenLook) -> None:
        """Coordinates refer to the picture that was shown last; a rotated screen makes them meaningless."""
        size = (view.look.screen.width, view.look.screen.height) if view.look else self.talk.frame.screen
        if size != self.talk.frame.screen:
            self._owners.clear()
            self.waiting.clear()

    def shown(self, view: ScreenLook) -> None:
        """From now on numbers are about this picture; without one, about what its size would be."""
        if view.look is None:
            return
        size = (view.look.screen.width, view.look.screen.height)
        factor = self.scale(size)
        would = (max(1, round(size[0] * factor)), max(1, round(size[1] * factor)))
        picture = would if view.picture is None else size_of(view.picture)
        sees = view.picture is not None
        if (picture, sees) != (self.talk.frame.picture, self._sees):
            self.opening = None  # another display, other tools: what was said of the old ones is past
        self._sees = sees
        self.talk.frame = replace(self.talk.frame, screen=size, picture=picture)

    @property
    def begins(self) -> bool:
        return self.opening is None or len(self.exchanges) >= MAX_EXCHANGES

    def open(self, words: str, image: bytes | None) -> None:
        """Start a new conversation; the old one survives only in `words`."""
        self.opening = PromptTurn("user", words, image)
        self.exchanges.clear()
        self._forget()

    def answer(self, words: str, image: bytes | None) -> None:
        """What came of the last answer, and the screen after it.

        A call whose checks nobody has confirmed is not sent back: that would have to acknowledge them.
        """
        results = [open_call.result for open_call in self._open]
        if any(open_call.call.checks and not open_call.acknowledged for open_call in self._open):
            lines = [UNCONFIRMED, *(result.text for result in results)]
            self.exchanges.append(Exchange((), (), "\n".join([*lines, words]), image))
        else:
            self.exchanges.append(Exchange(self._blocks, tuple(results), words, image))
        self._forget()

    def _forget(self) -> None:
        self._blocks, self._open = (), []
        self._owners.clear()
        self.waiting.clear()

    def after_problem(self, prompt: Prompt, reply: Reply, problem: str) -> Prompt:
        del reply
        image = self.exchanges[-1].image if self.exchanges else prompt.turns[0].image
        self.answer(f"That could not be run. {problem}", image)
        return replace(prompt, exchanges=tuple(self.exchanges))

    def new_notes(self, notes: tuple[str, ...]) -> tuple[str, ...]:
        new, self._read_notes = notes[self._read_notes :], len(notes)
        return new

    def in_picture(self, words: str) -> str:
        """Places that we tell are pixels of the screen; the model knows those of its picture. Quotes stay."""
        frame = self.talk.frame
        if frame.screen is None or frame.picture is None:
            return words

        def moved(place: re.Match[str]) -> str:
            x, y = frame.from_device(int(place[1]), int(place[2]))
            return f"({x:.0f}, {y:.0f})"

        parts = _QUOTED.split(words)
        return "".join(part if at % 2 else _PLACE.sub(moved, part) for at, part in enumerate(parts))

    # what it answers

    def read(self, reply: Reply) -> Choice:
        """The first action; the others wait. What follows a call that can't be read is not done."""
        self._forget()
        self._blocks = reply.blocks
        self._open = [_OpenCall(call, left=len(call.parts)) for call in reply.calls]
        if not reply.calls:
            return read_reply(reply)
        self.notes = []
        actions, problem = self._read_all()
        if problem and not actions:
            return Choice(None, problem, reply.thought)
        self.waiting = deque(actions or [Wait(duration_ms=0)])
        if not actions:  # a word that does nothing on a phone is a step all the same
            self._owners.append(_OpenCall(ModelCall("", ()), 1))
        return Choice(self.waiting.popleft(), thought=reply.thought)

    def _read_all(self) -> tuple[list[AnyAction], str]:
        actions: list[AnyAction] = []
        for open_call in self._open:
            for part in open_call.call.parts:
                try:
                    part_actions = self._read_part(open_call, part)
                except HandrailError as error:
                    open_call.problem = f"{error.message}. {error.hint}"
                    return actions, open_call.problem
                open_call.left += len(part_actions) - 1
                actions += part_actions
                self._owners.extend([open_call] * len(part_actions))
        return actions, ""

    def _read_part(self, open_call: _OpenCall, part: Any) -> list[AnyAction]:
        if open_call.call.tool:
            if not isinstance(part, Mapping):
                raise InvalidAction(
                    f"The arguments of {open_call.call.tool[:60]} are not a JSON object", path=""
                )
            # Many models write null for what they leave out.
            fields = {key: value for key, value in part.items() if key != "type" and value is not None}
            choice = read_reply(Reply("", {"type": kind_of(open_call.call.tool), **fields}, ""))
            if choice.action is None:
                raise InvalidAction(choice.problem.rstrip("."), path="", hint="Correct it and call it again.")
            return [choice.action]
        reading = self.own.read(part, self.talk)
        if any(map(nowhere, reading.actions)):
            raise InvalidAction("(0, 0) is not a place to touch", path="", hint="Point at what you see.")
        self.notes += reading.notes
        open_call.lines += [reading.reply] if reading.reply else []
        return list(reading.actions)

    # what came of it

    def came(self, outcome: StepOutcome, line: str, image: bytes | None) -> None:
        if not self._owners:
            return
        open_call = self._owners.popleft()
        open_call.left -= 1
        open_call.lines.append(self.in_picture(line))
        if outcome not in BAD:
            open_call.acknowledged = True
            open_call.image = image or open_call.image
            return
        open_call.failed = True
        self._owners.clear()
        self.waiting.clear()

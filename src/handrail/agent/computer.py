"""A run by the maker's own computer tool: what was said and shown so far, and what came of each call.

The talk only grows, because makers refuse an answer's thinking in another context than its own. After `KEPT`
answers it begins anew with a first message that tells the steps in words: old pictures are never sent again.
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from handrail.agent.model import CallResult, Exchange, ModelCall, Prompt, PromptTurn, Reply
from handrail.agent.phone import ScreenLook
from handrail.agent.read_answer import Choice, nowhere, read_reply
from handrail.agent.run_data import StepOutcome
from handrail.agent.speech import BAD, Speech
from handrail.agent.tools import DEFAULT, Tool, kind_of, tool_schemas
from handrail.dialects.frame import CoordinateFrame, Size
from handrail.dialects.parts import Conversation
from handrail.dialects.registry import dialect
from handrail.errors import HandrailError, InvalidAction
from handrail.protocol.actions import ACTIONS, AnyAction
from handrail.protocol.observe import Wait
from handrail.protocol.traits import Capability, Pressed
from handrail.surface.picture import size_of

KEPT = 8
"""Answers of the model that one talk holds, each with a picture."""
_PLACE = re.compile(r"\((\d{1,5}), (\d{1,5})\)", re.ASCII)
_QUOTED = re.compile(r'("(?:[^"\\]|\\.)*")')
NOT_DONE = "Not done: what you wanted before it did not succeed, or the screen has turned since."
UNCONFIRMED = "Not done: the model's maker wants a person to confirm it, and nobody did."


@dataclass(frozen=True, slots=True)
class PictureRule:
    """How large a picture may be. Its maker makes a larger one smaller, and then its numbers would be off."""

    long_side: int
    short_side: int
    pixels: int

    def factor(self, size: Size) -> float:
        """By what a picture of this size has to be multiplied; at most 1."""
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
        for kind, one in traits.items()
        if one.presses is Pressed.NOTHING and not one.aims and one.needs is not Capability.LOOK
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
    _said: tuple[Mapping[str, Any], ...] = ()
    _open: list[_OpenCall] = field(default_factory=list)
    _owners: deque[_OpenCall] = field(default_factory=deque)
    """To which call each action belongs that was read and is not done yet, the current one first."""
    _told: int = 0
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
        """Numbers stay about the picture that was shown; on a screen that has turned they mean nothing."""
        size = (view.seen.screen.width, view.seen.screen.height) if view.seen else self.talk.frame.screen
        if size != self.talk.frame.screen:
            self._owners.clear()
            self.waiting.clear()

    def shown(self, view: ScreenLook) -> None:
        """From now on numbers are about this picture; without one, about what its size would be."""
        if view.seen is None:
            return
        size = (view.seen.screen.width, view.seen.screen.height)
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
        return self.opening is None or len(self.exchanges) >= KEPT

    def open(self, words: str, image: bytes | None) -> None:
        """A new talk; of the old one only the words tell."""
        self.opening = PromptTurn("user", words, image)
        self.exchanges.clear()
        self._forget()

    def answer(self, words: str, image: bytes | None) -> None:
        """What came of the last answer, and the screen after it.

        A call whose checks nobody has confirmed is not sent back: that would have to acknowledge them.
        """
        results = [one.result for one in self._open]
        if any(one.call.checks and not one.acknowledged for one in self._open):
            told = [UNCONFIRMED, *(result.text for result in results)]
            self.exchanges.append(Exchange((), (), "\n".join([*told, words]), image))
        else:
            self.exchanges.append(Exchange(self._said, tuple(results), words, image))
        self._forget()

    def _forget(self) -> None:
        self._said, self._open = (), []
        self._owners.clear()
        self.waiting.clear()

    def asked_again(self, prompt: Prompt, reply: Reply, problem: str) -> Prompt:
        """The same question after an answer that could not be run."""
        del reply
        image = self.exchanges[-1].image if self.exchanges else prompt.turns[0].image
        self.answer(f"That could not be run. {problem}", image)
        return replace(prompt, exchanges=tuple(self.exchanges))

    def new_notes(self, notes: tuple[str, ...]) -> tuple[str, ...]:
        """What the person has said since the model was asked last."""
        new, self._told = notes[self._told :], len(notes)
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
        self._said = reply.said
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
        for one in self._open:
            for part in one.call.parts:
                try:
                    made = self._read_part(one, part)
                except HandrailError as error:
                    one.problem = f"{error.message}. {error.hint}"
                    return actions, one.problem
                one.left += len(made) - 1
                actions += made
                self._owners.extend([one] * len(made))
        return actions, ""

    def _read_part(self, one: _OpenCall, part: Any) -> list[AnyAction]:
        if one.call.tool:
            return [_function(one.call.tool, part)]
        reading = self.own.read(part, self.talk)
        if any(map(nowhere, reading.actions)):
            raise InvalidAction("(0, 0) is no place to touch", path="", hint="Point at what you see.")
        self.notes += reading.notes
        one.lines += [reading.reply] if reading.reply else []
        return list(reading.actions)

    # what came of it

    def came(self, outcome: StepOutcome, told: str, image: bytes | None) -> None:
        """The action that was chosen last has ended."""
        if not self._owners:
            return
        one = self._owners.popleft()
        one.left -= 1
        one.lines.append(self.in_picture(told))
        if outcome not in BAD:
            one.acknowledged = True
            one.image = image or one.image
            return
        one.failed = True
        self._owners.clear()
        self.waiting.clear()


def _function(tool: str, given: Any) -> AnyAction:
    """A call of a tool of ours. Raises `InvalidAction` with what is wrong."""
    if not isinstance(given, Mapping):
        raise InvalidAction(f"The arguments of {tool[:60]} are not a JSON object", path="")
    # Many models write null for what they leave out.
    fields = {key: value for key, value in given.items() if key != "type" and value is not None}
    choice = read_reply(Reply("", {"type": kind_of(tool), **fields}, ""))
    if choice.action is None:
        raise InvalidAction(choice.problem.rstrip("."), path="", hint="Correct it and call it again.")
    return choice.action

"""A dialect as a table: one row for each of its words, read in both directions, and what is between rows.

Reading raises `InvalidAction` or `Unsupported` and nothing else, whatever comes in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from handrail.dialects.frame import (
    Conversation,
    Fields,
    Unit,
    number_from,
    place_from,
    refuse_other_fields,
    without_zero_fraction,
)
from handrail.dialects.rules import (
    FurtherField,
    Row,
    ToolRule,
    from_native_with_places,
    to_native,
    unknown_name,
)
from handrail.errors import HandrailError, InvalidAction, Unsupported
from handrail.protocol.act import Act
from handrail.protocol.actions import AnyAction
from handrail.protocol.read import action_from


@dataclass(frozen=True, slots=True)
class WordCall:
    """One word of a dialect with its fields, as its maker's form holds it."""

    word: str
    fields: Fields
    id: str = ""
    checks: tuple[Mapping[str, Any], ...] = ()
    """What a person has to acknowledge first."""


@dataclass(frozen=True, slots=True)
class ParsedOutput:
    """All that was found in one answer of a model."""

    calls: tuple[WordCall, ...]
    thought: str = ""
    repairs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadActions:
    """What is to be done, in order, and what is worth telling about it."""

    actions: tuple[AnyAction, ...]
    thought: str = ""
    repairs: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """Where a phone does something else than the word says."""
    reply: str = ""
    """What is answered without doing anything."""
    ids: tuple[str, ...] = ()
    checks: tuple[Mapping[str, Any], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        native = [action.to_dict() for action in self.actions]
        described: dict[str, Any] = {"native": native[0] if len(native) == 1 else native}
        return described | self.remarks("thought", "reply", "notes", "repairs")

    def remarks(self, *names: str) -> dict[str, Any]:
        """These of its fields as JSON data, without those that say nothing."""
        present = {name: value for name in names if (value := getattr(self, name))}
        return {name: value if isinstance(value, str) else list(value) for name, value in present.items()}


@dataclass(frozen=True, slots=True)
class WordMeaning:
    """The actions that a word of the dialect stands for, or what is replied instead."""

    actions: tuple[Mapping[str, Any], ...] = ()
    note: str = ""
    reply: str = ""


class TableRow(Protocol):
    """One line of the table. `says` is its meaning for people."""

    @property
    def says(self) -> str: ...

    def read(self, word: str, arguments: Fields, talk: Conversation) -> WordMeaning: ...

    def write(self, action: Act, talk: Conversation) -> Fields | None:
        """The fields that say the same; None where this word does not."""


@dataclass(frozen=True, slots=True)
class WordRule:
    """A word that is one action: its fields by where they go, and those that mean nothing on a phone."""

    native: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Foreign names to native paths, or to a `Part` that reads and writes."""
    required: str = ""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    ignored: str = ""
    refused: Mapping[str, str] = field(default_factory=dict)
    """Fields that are refused when they are there, and why."""
    pairs: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Two numbers that are one place: native path to both names."""
    points: str = ""
    """The field that is a place of the mouse: left out, the last place counts; given, it is the next one."""
    note: str = ""

    @property
    def says(self) -> str:
        fixed = ", ".join(f"{key}: {value}" for key, value in self.fixed.items())
        return f"`{self.native}`" + (f" ({fixed})" if fixed else "") + (f"; {self.note}" if self.note else "")

    def read(self, word: str, arguments: Fields, talk: Conversation) -> WordMeaning:
        present = {key: value for key, value in arguments.items() if value is not None}
        for name, why in self.refused.items():
            if present.pop(name, None) not in (None, "", [], False):
                raise Unsupported.at(name, f"{why}", hint=f"Send {word} without {name}.")
        if self.points and self.points in present:
            talk.cursor = place_from(present[self.points], self.points, talk)
        elif self.points:
            if talk.cursor is None:
                problem = "is required: nothing was pointed at before"
                raise InvalidAction.at(self.points, problem, hint="Say where.")
            present[self.points] = list(talk.frame.from_device(talk.cursor["x"], talk.cursor["y"]))
        placed: dict[str, Any] = {}
        for path, (x, y) in self.pairs.items():
            if (x in present) != (y in present):
                missing = y if x in present else x
                raise InvalidAction.at(missing, "is required", hint=f"{word} needs {x} and {y}.")
            if x in present:
                placed[path] = talk.place(number_from(present[x], x), number_from(present[y], y), x)
        plain = {key: value for key, value in present.items() if key not in self._paired}
        action = to_native(word, self._tool_rule(), plain, placed, talk)
        return WordMeaning((action.to_dict(),), self.note)

    def write(self, action: Act, talk: Conversation) -> Fields | None:
        converted = from_native_with_places(self._tool_rule(), action, tuple(self.pairs), talk)
        if converted is None:
            return None
        fields, places = converted
        for path, (x, y) in self.pairs.items():
            if path not in places:
                continue
            if "x" not in places[path]:
                return None
            fields[x], fields[y] = map(
                without_zero_fraction, talk.frame.from_device(places[path]["x"], places[path]["y"])
            )
        needed = self._paired.intersection(self.required.split())
        return fields if needed <= fields.keys() else None

    @property
    def _paired(self) -> set[str]:
        return {name for pair in self.pairs.values() for name in pair}

    def _tool_rule(self) -> ToolRule:
        required = tuple(name for name in self.required.split() if name not in self._paired)
        return ToolRule(self.native, self.fields, required, self.fixed, tuple(self.ignored.split()))


@dataclass(frozen=True, slots=True)
class RefusedWord:
    """A word that means nothing on a phone."""

    why: str
    hint: str

    @property
    def says(self) -> str:
        return f"refused: {self.why}"

    def read(self, word: str, _: Fields, __: Conversation) -> WordMeaning:
        raise Unsupported(f"{word}: {self.why}", hint=self.hint, path="")

    def write(self, _: Act, __: Conversation) -> Fields | None:
        return None


@dataclass(frozen=True, slots=True)
class SpecialWord:
    """A word whose meaning is more than where its fields go."""

    says: str
    reads: Callable[[Fields, Conversation], WordMeaning]
    writes: Callable[[Act, Conversation], Fields | None] = lambda _, __: None
    takes: str | None = None
    """Its fields; None where `reads` checks them."""

    def read(self, word: str, arguments: Fields, talk: Conversation) -> WordMeaning:
        present = {key: value for key, value in arguments.items() if value is not None}
        if self.takes is not None:
            refuse_other_fields(present, self.takes.split(), word)
        return self.reads(present, talk)

    def write(self, action: Act, talk: Conversation) -> Fields | None:
        return self.writes(action, talk)


@dataclass(frozen=True, slots=True)
class ActionOutcome:
    """What came of a reading, for the dialect's own answer."""

    success: bool
    text: str
    code: str | None = None
    hint: str | None = None
    picture: str = ""
    """PNG in base64."""
    app: str = ""
    elements: Sequence[Mapping[str, Any]] = ()
    """What can be named by number: text, ref, bounds."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """A maker's models or programs speak it: its words, and what each means."""

    name: str
    title: str
    unit: Unit
    rows: Mapping[str, TableRow]
    parse: Callable[[Any], ParsedOutput]
    """From the maker's form, or text, to words and fields. Raises `InvalidAction`."""
    form: Callable[[str, Fields], Any]
    """One word with its fields in the maker's form."""
    answer: Callable[[ReadActions, ActionOutcome], Any]
    guide: str = ""
    """What a model is told of how to answer, where its maker tells it so."""
    is_text: bool = False
    """Its form is text: JSON alone is none."""
    reads_text: bool = False
    """A text with the form in it is understood, too."""
    shows: bool = False
    """Its callers work by pictures: each answer has one."""
    numbers: bool = False
    """It names elements by their numbers in a list that each answer has."""
    tools: Mapping[str, Row] = field(default_factory=dict)
    """The words that a server of this maker offers as tools, described for a model."""
    kinds: Mapping[str, Any] = field(default_factory=dict)
    """JSON Schemas of those tools' parameters that are not plain, by name."""

    def read(self, output: Any, talk: Conversation) -> ReadActions:
        """What a model wrote, as actions. Never fails in any other way than by these two errors."""
        try:
            return self._read_calls(self.parse(output), talk)
        except RecursionError:
            raise InvalidAction("it is nested too deeply", path="") from None

    def write_answer(
        self,
        output: Any,  # noqa: ARG002 - for makers whose answer quotes the question
        reading: ReadActions,
        outcome: ActionOutcome,
        envelopes: Sequence[Mapping[str, Any]],  # noqa: ARG002 - for makers whose answer is an envelope
        texts: Sequence[str],  # noqa: ARG002 - for makers whose answer tells what changed
    ) -> Any:
        """What the maker's program gets for its output."""
        return self.answer(reading, outcome)

    def _read_calls(self, parsed: ParsedOutput, talk: Conversation) -> ReadActions:
        actions: list[AnyAction] = []
        notes: list[str] = []
        replies: list[str] = []
        for call in parsed.calls:
            row = self.rows.get(call.word)
            if row is None:
                raise unknown_name(call.word, self.rows, path="action")
            if call.checks:  # a maker's own safety check is a question to a person
                checks = (
                    str(check.get("message") or check.get("code") or "a check") for check in call.checks
                )
                why = f"The model's maker wants a person to confirm: {'; '.join(checks)[:900]}"
                ask = {"type": "request_human_auth", "capability": "permission", "instruction": why}
                actions.append(action_from(ask))
            meaning = _read_known_fields(row, call, talk, notes)
            actions += [action_from(dict(action)) for action in meaning.actions]
            notes += [meaning.note] if meaning.note else []
            notes += talk.notes
            talk.notes = []
            replies += [meaning.reply] if meaning.reply else []
        return ReadActions(
            tuple(actions),
            parsed.thought,
            parsed.repairs,
            tuple(dict.fromkeys(notes)),
            "\n".join(replies),
            tuple(call.id for call in parsed.calls if call.id),
            tuple(check for call in parsed.calls for check in call.checks),
        )

    def write(self, action: Act, talk: Conversation) -> Any:
        """The action in the maker's form; `Unsupported` where it has no words for it."""
        bare = action.model_copy(update={"reason": None})
        for variant in (bare, bare.model_copy(update={"device": None})):  # most have no word for a device
            for word, row in self.rows.items():
                fields = row.write(variant, talk)
                if fields is not None and self._is_read_back_as(
                    written := self.form(word, fields), variant, talk
                ):
                    return written
        raise Unsupported(
            f"{action.type} with these fields has no form in {self.name}",
            hint="Resolve it to a point first, or say it with the vocabulary's own action.",
        )

    def _is_read_back_as(self, form: Any, action: Act, talk: Conversation) -> bool:
        """Whether it would be read as what was meant: a text can look like another word."""
        try:
            read = self.read(form, replace(talk, cursor=None, held=None))
        except HandrailError:
            return False
        return bool(read.actions) and read.actions[0] == action


def _read_known_fields(row: TableRow, call: WordCall, talk: Conversation, notes: list[str]) -> WordMeaning:
    """Leaves a maker's further fields out, and notes each."""
    fields = dict(call.fields)
    while True:
        talk.notes = []
        try:
            return row.read(call.word, fields, talk)
        except FurtherField as error:
            name = str(error.details["path"])
            if fields.pop(name, None) is None:
                raise
            notes.append(f"{name} of {call.word} means nothing here and was left out")


def outcome_text(reading: ReadActions, outcome: ActionOutcome) -> str:
    """What was done or why not, and where a phone did something else than was said."""
    text = outcome.text if outcome.success else f"{outcome.code}: {outcome.text} {outcome.hint or ''}".strip()
    notes = [f"Note: {note}." for note in reading.notes]
    mended = [f"Repaired: {', '.join(reading.repairs)}."] if reading.repairs else []
    return "\n".join(part for part in (reading.reply, text, *notes, *mended) if part)


def plain_answer(reading: ReadActions, outcome: ActionOutcome) -> dict[str, Any]:
    """Answers in data-set formats, which have no answers of their own."""
    answer: dict[str, Any] = {"success": outcome.success, "text": outcome_text(reading, outcome)}
    if not outcome.success:
        answer |= {"code": outcome.code, "hint": outcome.hint}
    return answer


def text_answer(reading: ReadActions, outcome: ActionOutcome) -> dict[str, Any]:
    """The next message to a model that prints text: the words, and the picture it looks at."""
    return user_message(outcome_text(reading, outcome), outcome)


def tool_answer(reading: ReadActions, outcome: ActionOutcome) -> dict[str, Any]:
    """The same for models that were trained on calls in tags."""
    return user_message(f"<tool_response>\n{outcome_text(reading, outcome)}\n</tool_response>", outcome)


def user_message(words: str, outcome: ActionOutcome) -> dict[str, Any]:
    """Has the form that servers of open models take."""
    content: list[dict[str, Any]] = [{"type": "text", "text": words}]
    if outcome.picture:
        address = f"data:image/png;base64,{outcome.picture}"
        content.append({"type": "image_url", "image_url": {"url": address}})
    return {"role": "user", "content": content}

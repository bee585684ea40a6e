"""Every dialect by its name, the seeds among them. A module is imported when its dialect is asked for.

`carry_out` leads from a maker's words to their effect and the maker's own answer, whoever does the actions. A
door gives `do`: one action in, its envelope as data and its text out. What a reader lacks (how large the
screen is, which elements there are) is asked for in the same way.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from handrail.dialects.frame import Conversation, Size
from handrail.dialects.rules import unknown_name
from handrail.dialects.table import ActionOutcome, Dialect, ParsedOutput, ReadActions, plain_answer
from handrail.errors import InvalidAction
from handrail.protocol.act import Act
from handrail.protocol.actions import DESK_ACTIONS, AnyAction
from handrail.protocol.envelope import Envelope
from handrail.protocol.flow import Step
from handrail.protocol.observe import GetUiTree, Screenshot
from handrail.protocol.read import action_from
from handrail.satellites import DIALECTS, load_plugin

TABLES = ("ui_tars", "autoglm", "mobile_use")
"""Each a module of this name with its table."""
SEEDS = ("native", "openpocket", "agentest", "interaction", "mobile_debug", "desk")
NAMES = (*SEEDS, *TABLES, *DIALECTS)


@cache
def dialect(name: str) -> Dialect:
    """Raises `InvalidAction` for a name that nobody has."""
    if name in TABLES:
        loaded: Dialect = _module(name).DIALECT
        return loaded
    if name in DIALECTS:
        read: Dialect = load_plugin("handrail.dialects", name, DIALECTS[name], f"the dialect {name}")
        return read
    if name not in SEEDS:
        raise InvalidAction.at("dialect", f"{name[:60]!r} is not known", hint=f"Known: {', '.join(NAMES)}.")
    return SeedDialect(
        name,
        name,
        "device",
        {},
        parse=lambda _: ParsedOutput(()),
        form=lambda word, fields: {"type": word, **fields},
        answer=plain_answer,
    )


class SeedDialect(Dialect):
    """A seed's reader with the same face. Its numbers are pixels of the screen."""

    def read(self, output: Any, _: Conversation) -> ReadActions:
        match self.name:
            case "openpocket":
                return _read_openpocket(output)
            case "agentest":
                return ReadActions(tuple(step.action for step in read_agentest(output)))
            case "interaction" | "mobile_debug":
                return ReadActions((_module(self.name).read_tool(*name_and_arguments(output)),))
            case "desk" if isinstance(output, Mapping):
                kind = output.get("type")
                if not isinstance(kind, str) or kind not in DESK_ACTIONS:
                    raise unknown_name(kind, DESK_ACTIONS)
        return ReadActions((action_from(output),))

    def write(self, action: Act, _: Conversation) -> Any:
        match self.name:
            case "openpocket":
                return _module(self.name).write_action(action)
            case "agentest":
                return _module(self.name).write_step(Step(action=action))
            case "interaction" | "mobile_debug":
                name, arguments = _module(self.name).write_tool(action)
                return {"name": name, "arguments": arguments}
        return action.to_dict()

    def write_answer(
        self,
        output: Any,
        reading: ReadActions,
        outcome: ActionOutcome,
        envelopes: Sequence[Mapping[str, Any]],
        texts: Sequence[str],
    ) -> Any:
        if self.name == "interaction":
            return self.answer(reading, replace(outcome, text="\n".join(texts)))
        read = [Envelope.model_validate(envelope) for envelope in envelopes]
        if self.name == "mobile_debug":
            name, arguments = name_and_arguments(output)
            secret = "${secret:" in str(arguments.get("text", ""))
            return _module(self.name).write_envelope(read[-1], name, arguments, secret=secret)
        if self.name == "agentest":
            name, arguments = _agentest_call(output)
            if name.removeprefix("agentest_") == "run_flow":
                return _module(self.name).write_trace(arguments["steps"], read, texts[-1])
        return self.answer(reading, outcome)


def _module(name: str) -> Any:
    return importlib.import_module(f"handrail.dialects.{name}")


def require_object(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidAction("should be an object", path="")
    return value


def name_and_arguments(value: Any) -> tuple[str, Mapping[str, Any]]:
    """`{name, arguments}` as tools are called, or one flat object whose `type` is the tool."""
    call = require_object(value)
    key = next((key for key in ("name", "tool", "type") if isinstance(call.get(key), str)), None)
    if key is None:
        raise InvalidAction.at("type", "is required", hint='Name the tool: {"type": "tap", …}.')
    arguments = call.get("arguments")
    if isinstance(arguments, Mapping):
        return call[key], arguments
    return call[key], {name: item for name, item in call.items() if name != key}


def read_agentest(output: Any) -> list[Step]:
    """AgenTest's step, its list of steps, `{steps}`, or a call of a tool."""
    agentest = _module("agentest")
    if isinstance(output, Mapping) and "action" in output and "steps" not in output:
        return [agentest.read_step(output)]  # its errors name fields of the step
    steps: list[Step] = agentest.read_tool(*_agentest_call(output))
    return steps


def _agentest_call(output: Any) -> tuple[str, Mapping[str, Any]]:
    if isinstance(output, list):
        return "run_flow", {"steps": output}
    call = require_object(output)
    if "steps" in call:
        return "run_flow", call
    return ("run_flow", {"steps": [call]}) if "action" in call else name_and_arguments(call)


def _read_openpocket(value: Any) -> ReadActions:
    """What can't be executed as it was written is refused; `handrail check` shows the seed's own form."""
    step = _module("openpocket").parse_step(value if isinstance(value, str | Mapping) else json.dumps(value))
    normalised = step.normalised
    if normalised.native is None:
        raise InvalidAction(f"{normalised.action['type']}: {normalised.not_executable}", path="")
    defaults = [f"{name} was missing" for name in normalised.defaulted if name != "type"]
    if "type" in normalised.defaulted:
        defaults.append("there is no action of OpenPocket in it, so it waits, as OpenPocket does")
    return ReadActions((normalised.native,), step.thought, (*step.repairs, *defaults))


Do = Callable[[AnyAction], Awaitable[tuple[Mapping[str, Any], str]]]
PICTURE = "screenshotBase64"
_LINE = re.compile(r"^\s*(?P<ref>@[a-z]\d+)\b[ \t]*(?P<text>.*?)\s*$", re.MULTILINE)
_SMALLEST = 0.05


@dataclass(frozen=True, slots=True)
class CarriedOut:
    """What was read, what came of each action, and what the caller is told."""

    reading: ReadActions
    envelopes: tuple[Mapping[str, Any], ...]
    outcome: ActionOutcome
    answer: Any

    def to_dict(self) -> dict[str, Any]:
        described = {"answer": self.answer, "envelopes": [dict(envelope) for envelope in self.envelopes]}
        return described | self.reading.remarks("thought", "notes", "repairs")


async def carry_out(own: Dialect, output: Any, talk: Conversation, do: Do) -> CarriedOut:
    """All actions of one answer, in order, up to the first that fails. Raises what `read` raises."""
    if own.numbers and not talk.elements:
        talk.elements = [element["ref"] for element in await elements_now(do)]
    saved = (talk.cursor, list(talk.held) if talk.held is not None else None, talk.answer)
    try:
        reading = own.read(output, talk)
    except InvalidAction as error:
        if error.details.get("path") != "screen" or talk.frame.screen is not None:
            raise
        # What is missing is asked for once, and only where it is needed.
        talk.cursor, talk.held, talk.answer = saved
        talk.frame = replace(talk.frame, screen=await screen_now(do))
        reading = own.read(output, talk)
    envelopes: list[Mapping[str, Any]] = []
    texts: list[str] = []
    for action in reading.actions:
        envelope, text = await do(action)
        envelopes.append(envelope)
        texts.append(text)
        if not envelope["success"]:
            break
    pairs = zip(reading.actions, texts, strict=False)
    short = [text if action.effect == "read" else text.partition("\n")[0] for action, text in pairs]
    outcome = await _outcome_of_actions(own, talk, do, envelopes, short)
    answer = own.write_answer(output, reading, outcome, envelopes, texts)
    return CarriedOut(reading, tuple(envelopes), outcome, answer)


async def _outcome_of_actions(
    own: Dialect, talk: Conversation, do: Do, envelopes: list[Mapping[str, Any]], texts: list[str]
) -> ActionOutcome:
    last: Mapping[str, Any] = envelopes[-1] if envelopes else {"success": True}
    picture = str((last.get("details") or {}).get(PICTURE, "")) if last["success"] else ""
    if own.shows and not picture:
        shot, _ = await do(Screenshot())
        picture = str((shot.get("details") or {}).get(PICTURE, "")) if shot["success"] else ""
        if picture:
            talk.frame = _frame_of_picture(talk, shot["details"])
    elif picture and "region" not in last["details"]:
        talk.frame = _frame_of_picture(talk, last["details"])
    elements = await elements_now(do) if own.numbers else []
    if own.numbers:
        talk.elements = [element["ref"] for element in elements]
    return ActionOutcome(
        bool(last["success"]),
        "\n".join(texts) if last["success"] else str(last.get("message") or texts[-1]),
        last.get("failure_code"),
        last.get("hint"),
        picture,
        elements=elements,
    )


def _frame_of_picture(talk: Conversation, details: Mapping[str, Any]) -> Any:
    """What was sent last is what the next numbers are about."""
    width, height, scale = details["width"], details["height"], details["scale"]
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    return replace(talk.frame, screen=(width, height), picture=size)


async def screen_now(do: Do) -> Size:
    """Measures the screen in pixels. Raises `InvalidAction` where nobody can tell."""
    envelope, text = await do(Screenshot(scale=_SMALLEST))
    details = envelope.get("details") or {}
    if not envelope["success"] or "width" not in details:
        raise InvalidAction.at("screen", f"its size could not be read: {text[:300]}", hint="Give its size.")
    return int(details["width"]), int(details["height"])


async def elements_now(do: Do) -> list[dict[str, Any]]:
    """What can be named, in the order of the screen; a number in a dialect is a place in this list."""
    envelope, _ = await do(GetUiTree(max_lines=1_000))
    text = str((envelope.get("details") or {}).get("text", ""))
    elements = {match["ref"]: {"ref": match["ref"], "text": match["text"]} for match in _LINE.finditer(text)}
    return list(elements.values())

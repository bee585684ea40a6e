"""Seed 000: OpenPocket's `ModelStepOutput` from anything a model can print, with a note of every repair.

Tried in this order: a tool-call object, JSON, JSON in a fence or in prose, `name(a=b)`, nothing at all.
What the ten actions and their defaults are is in `openpocket_actions`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic_core import from_json

from handrail.dialects.lenient import Lenient
from handrail.dialects.openpocket_actions import SHAPES, TOOL_NAMES, Normalised, normalise, write_action

__all__ = [
    "MAX_CHARS",
    "SHAPES",
    "TOOL_NAMES",
    "ModelStep",
    "Normalised",
    "find_action",
    "normalise",
    "parse_step",
    "unwrap",
    "write_action",
]

MAX_CHARS = 200_000
"""More than this no model says in one step; the rest is not read."""

_CANDIDATES = 40
_FENCE = re.compile(r"```[\w-]*\s*\n?")
_MARKUP = re.compile(r"(\[|`{3}[\w-]*|<[\w|:/-]{1,40}>)\s*$")
_CALL = re.compile(r"\b(" + "|".join([*SHAPES, *TOOL_NAMES]) + r")\s*\(")
RawAction = tuple[dict[str, Any], str, list[str]]  # payload, thought, repairs

_LAYERS = (
    "tool_calls", "tool_call", "function_call", "functionCall", "function", "action", "choices", "message",
    "candidates", "content", "parts", "output",
)  # fmt: skip
"""Where the wire formats of the model makers put a call, from the nearest to the farthest."""
_NAMES = ("name", "tool", "function")
_SPOKEN = ("text", "thinking", "reasoning")
_THOUGHTS = ("thought", "thinking", "reasoning", "rationale")


@dataclass(frozen=True, slots=True)
class ModelStep:
    """What a model wants to do, and what had to be mended to read it."""

    thought: str
    normalised: Normalised
    raw: str
    repairs: list[str]

    def to_dict(self) -> dict[str, Any]:
        """The seed's ModelStepOutput."""
        return {"thought": self.thought, "action": self.normalised.action, "raw": self.raw}


def parse_step(output: str | Mapping[str, Any], thought: str = "") -> ModelStep:
    """One step from a model's text or tool call. Never fails."""
    if isinstance(output, Mapping):
        payload, said, repairs = unwrap(dict(output))
        return ModelStep(said or thought, normalise(payload), _raw_of(output), repairs)
    text = output[:MAX_CHARS]
    cut = ["the answer was cut"] if len(output) > MAX_CHARS else []
    found = find_action(text)
    if found is None:
        return ModelStep(thought or text.strip(), normalise(None), output, [*cut, "no action was found"])
    payload, said, repairs = found
    return ModelStep(said or thought, normalise(payload), output, [*cut, *repairs])


def _raw_of(output: Mapping[str, Any]) -> str:
    if isinstance(output.get("raw"), str):
        return str(output["raw"])
    try:
        return repr(dict(output))[:MAX_CHARS]
    except (RecursionError, ValueError):  # deeper than Python goes, or a number with thousands of digits
        return "…"


def find_action(text: str, kinds: Collection[str] = SHAPES.keys()) -> RawAction | None:
    """The first object that is an action of these kinds, else the first that could be one, else a call."""
    found = [unwrap(value, kinds, repairs) for value, repairs in _objects(text)]
    actions = [one for one in found if _kind_of(one[0]) in kinds]
    if actions:
        payload, said, repairs = actions[0]
        several = [f"{len(actions)} actions, the first was taken"] if len(actions) > 1 else []
        return payload, said or _prose(text), [*repairs, *several]
    call = _read_call(text)
    if call:
        return call[0], _prose(text), call[1]
    named = [one for one in found if one[0]]
    if named:
        return named[0][0], named[0][1] or _prose(text), named[0][2]
    return None


def _kind_of(payload: Mapping[str, Any]) -> Any:
    kind = payload.get("type")
    return TOOL_NAMES.get(kind, kind) if isinstance(kind, str) else None


def _objects(text: str) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """Every outermost `{…}` of the text, strict JSON first, leniently where that fails."""
    strict = _strict(text)
    if strict is not None:
        yield from ((one, []) for one in strict[:_CANDIDATES])
        return
    prose = ["the action was inside other text"] if not text.lstrip().startswith("{") else []
    at = 0
    for _ in range(_CANDIDATES):
        at = text.find("{", at)
        if at < 0:
            return
        reader = Lenient(text, at)
        value = reader.value()
        at = max(reader.at, at + 1)
        if isinstance(value, dict) and value:
            yield value, [*prose, *reader.repairs]


def _strict(text: str) -> list[dict[str, Any]] | None:
    """The objects of a text that is JSON as a whole; None where it is not."""
    try:
        value = from_json(
            _FENCE.sub("", text, count=1).removesuffix("```") if text.startswith("```") else text
        )
    except (ValueError, TypeError):
        return None
    values = value if isinstance(value, list) else [value]
    return [one for one in values if isinstance(one, dict)]


def unwrap(
    value: dict[str, Any], kinds: Collection[str] = SHAPES.keys(), repairs: list[str] | None = None
) -> RawAction:
    """Peel tool calls and `{thought, action}` off; the payload, the thought, the repairs."""
    notes = list(repairs or [])
    said = ""
    for _ in range(8):
        said = said or next((value[key] for key in _THOUGHTS if isinstance(value.get(key), str)), "")
        inner = _inner(value, kinds, notes)
        if inner is None:
            return value, said, notes
        value = inner
    return value, said, notes


def _inner(value: dict[str, Any], kinds: Collection[str], notes: list[str]) -> dict[str, Any] | None:
    """One layer down, or None at the action itself."""
    if _kind_of(value) in kinds:
        return None
    for layer in _LAYERS:
        calls = _calls(value.get(layer))
        if len(calls) > 1:
            notes.append(f"{len(calls)} tool calls, the first was taken")
        if calls:
            return calls[0]
    name = next((value[key] for key in _NAMES if isinstance(value.get(key), str)), None)
    return {"type": name, **_arguments(value)} if name else _named_otherwise(value, kinds, notes)


def _calls(layer: Any) -> list[dict[str, Any]]:
    """What a layer holds besides text: an object, or several."""
    several = layer if isinstance(layer, list) else [layer]
    return [one for one in several if isinstance(one, dict) and one.get("type") not in _SPOKEN]


def _named_otherwise(
    value: dict[str, Any], kinds: Collection[str], notes: list[str]
) -> dict[str, Any] | None:
    """`{"action": "tap", "x": 1}` and `{"tap": {"x": 1}}`."""
    action = value.get("action")
    if isinstance(action, str) and "type" not in value:
        notes.append("the action was named by `action`")
        return {**{key: item for key, item in value.items() if key != "action"}, "type": action}
    key = next(iter(value), "")
    if len(value) == 1 and key in kinds and isinstance(value[key], dict):
        notes.append("the action was named by its key")
        return {**value[key], "type": key}
    return None


def _arguments(call: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a tool call: an object, or JSON in a string."""
    for key in ("arguments", "input", "args", "parameters", "params"):
        found = call.get(key)
        if isinstance(found, str):
            found = Lenient(found[:MAX_CHARS]).value()
        if isinstance(found, dict):
            return {name: value for name, value in found.items() if name != "type"}
    return {}


def _read_call(text: str) -> tuple[dict[str, Any], list[str]] | None:
    """`tap(x=540, y=750)` or `tap(540, 750)`, by the seed's order of fields."""
    call = _CALL.search(text)
    if not call:
        return None
    kind = TOOL_NAMES.get(call[1], call[1])
    reader = Lenient(text, call.end() - 1)
    arguments = reader.value()
    if isinstance(arguments, list):
        arguments = dict(zip(SHAPES[kind].fields, arguments, strict=False))
    lost = [repair for repair in reader.repairs if repair.startswith("a missing")]  # names are bare in a call
    return {**arguments, "type": kind}, ["the action was written as a call", *lost]


def _prose(text: str) -> str:
    """What was said before the action."""
    start = min((at for at in (text.find("{"), text.find("```")) if at >= 0), default=0)
    call = _CALL.search(text)
    end = start or (call.start() if call else 0)
    said = re.sub(r"^\s*(thought|reasoning)\s*:\s*", "", text[:end], flags=re.IGNORECASE)
    return _MARKUP.sub("", said).strip()

"""A maker's response as a `Reply`: the first action in it, or in what way there is none. Never raises."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from pydantic_ai.messages import FinishReason, ModelResponse, TextPart, ThinkingPart, ToolCallPart
from pydantic_core import from_json

from handrail.agent.model import Mode, Reply, Usage
from handrail.agent.models.text import Reading, read_text
from handrail.agent.tools import kind_of

RAW_CHARS = 20_000
"""What a run's record keeps of one answer."""
THOUGHT_CHARS = 2_000
_CALLS = "Answer with one tool call."
_WRITES = "Answer with one JSON object."


def reply_of(response: ModelResponse, mode: Mode, redact: Callable[[str], str], usage: Usage) -> Reply:
    """Text beside a call is its thought; where a model writes its call as text, it is read all the same."""

    def told(text: str) -> str:
        """Lone surrogates, which JSON can hold, can't be written to any file."""
        return redact(text.encode(errors="replace").decode()).strip()

    parts = response.parts
    said = told("\n".join(part.content for part in parts if isinstance(part, TextPart)))
    mused = told("\n".join(part.content for part in parts if isinstance(part, ThinkingPart)))
    calls = [(told(one.tool_name), told(_arguments(one))) for one in parts if isinstance(one, ToolCallPart)]
    refusal = told(str((response.provider_details or {}).get("refusal") or said or "it gave no reason"))
    reading = _called(calls, said) if calls else _spoken(response.finish_reason, said, refusal, mode)
    written = [f'{{"name": {json.dumps(name)}, "arguments": {given}}}' for name, given in calls]
    raw = "\n".join(filter(None, [said, *written]))[:RAW_CHARS]
    thought = (reading.thought or mused or _reason(reading.action))[:THOUGHT_CHARS]
    return Reply(thought, reading.action, raw, usage, reading.problem)


def _arguments(call: ToolCallPart) -> str:
    """As JSON, the way they came."""
    given = call.args
    return given if isinstance(given, str) else json.dumps(given or {}, ensure_ascii=False)


def _called(calls: list[tuple[str, str]], said: str) -> Reading:
    name, given = calls[0][0][:60], calls[0][1]
    try:
        arguments = from_json(given.strip() or "{}", allow_inf_nan=False)
    except (ValueError, TypeError) as error:
        return Reading(said, None, f"The arguments of {name} are not valid JSON: {error}. {_CALLS}")
    if not isinstance(arguments, dict):
        return Reading(said, None, f"The arguments of {name} are not a JSON object. {_CALLS}")
    # Many models write null for what they leave out.
    fields = {key: value for key, value in arguments.items() if key != "type" and value is not None}
    action = {"type": kind_of(name), **fields}
    several = f"{len(calls)} tools were called; only the first, {name}, was taken." if len(calls) > 1 else ""
    return Reading(said, action, several)


def _spoken(finish: FinishReason | None, said: str, refusal: str, mode: Mode) -> Reading:
    again = _CALLS if mode == "tools" else _WRITES
    cut = finish == "length"
    if finish == "content_filter":
        return Reading(said, None, f"The model refused: {refusal[:500]}")
    if not said:
        why = "The answer was cut off before it said anything." if cut else "The answer was empty."
        return Reading("", None, f"{why} {again}")
    reading = read_text(said)
    if reading.action is None and cut:
        return Reading(
            reading.thought, None, f"The answer was cut off before its action was complete. {again}"
        )
    if reading.action is None:
        return Reading(reading.thought, None, f"{reading.problem} {again}")
    return reading


def _reason(action: Any) -> str:
    reason = (action or {}).get("reason")
    return reason if isinstance(reason, str) else ""

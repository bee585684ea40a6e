"""What an OpenAI-compatible server sends: whole completions, streams of their pieces, and errors."""

from __future__ import annotations

import json
from typing import Any

from packages.agent.tests.hosted.server import Answer

USAGE = {"prompt_tokens": 1200, "completion_tokens": 30, "total_tokens": 1230}


def calls(*named: tuple[str, Any], content: str | None = None) -> Answer:
    """Tool calls; arguments that are no text are written as JSON."""
    return completion(
        {"role": "assistant", "content": content, "tool_calls": _tool_calls(named)}, "tool_calls"
    )


def says(text: str | None, finish: str = "stop") -> Answer:
    return completion({"role": "assistant", "content": text}, finish)


def refuses(why: str) -> Answer:
    return completion({"role": "assistant", "content": None, "refusal": why}, "stop")


def completion(message: dict[str, Any], finish: str) -> Answer:
    return body(
        {
            **_frame("chat.completion"),
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": USAGE,
        }
    )


def body(value: Any, status: int = 200, **headers: str) -> Answer:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return Answer(status, (data,), {name.replace("_", "-"): value for name, value in headers.items()})


def error(status: int, message: str, code: str = "", **headers: str) -> Answer:
    return body(
        {"error": {"message": message, "type": code or "error", "code": code or None}}, status, **headers
    )


def streamed(*deltas: dict[str, Any], finish: str = "stop") -> Answer:
    """Server-sent events, the usage in a last one of its own."""
    pieces = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    pieces.append({"index": 0, "delta": {}, "finish_reason": finish})
    events = [{**_frame("chat.completion.chunk"), "choices": [piece]} for piece in pieces]
    events.append({**_frame("chat.completion.chunk"), "choices": [], "usage": USAGE})
    lines = [f"data: {json.dumps(event)}\n\n".encode() for event in events]
    return Answer(200, [*lines, b"data: [DONE]\n\n"], content_type="text/event-stream")


def call_deltas(name: str, arguments: str) -> list[dict[str, Any]]:
    """A call as it is streamed: its name, then its arguments in two halves."""
    half = len(arguments) // 2
    first = {"index": 0, "id": "call_0", "type": "function", "function": {"name": name, "arguments": ""}}
    halves = [{"index": 0, "function": {"arguments": part}} for part in (arguments[:half], arguments[half:])]
    return [{"role": "assistant", "tool_calls": [first]}, *({"tool_calls": [part]} for part in halves)]


def _tool_calls(named: tuple[tuple[str, Any], ...]) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)},
        }
        for number, (name, given) in enumerate(named)
    ]


def _frame(kind: str) -> dict[str, Any]:
    return {"id": "one", "object": kind, "created": 1_710_000_000, "model": "tiny"}

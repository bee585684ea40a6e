"""What a server of Anthropic's messages API sends: whole messages, streams of events, and errors."""

from __future__ import annotations

import json
from typing import Any

from packages.agent.tests.hosted.server import Answer

USAGE = {"input_tokens": 900, "output_tokens": 40}


def message(*content: dict[str, Any], stop: str = "tool_use") -> Answer:
    return _json({**_frame(), "content": list(content), "stop_reason": stop})


def refused(why: str) -> Answer:
    """A refusal with its reason, and nothing said."""
    details = {"type": "refusal", "category": "general_harms", "explanation": why}
    return _json({**_frame(), "content": [], "stop_reason": "refusal", "stop_details": details})


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def use(name: str, given: dict[str, Any], number: int = 0) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": given}


def error(status: int, kind: str, message: str, **headers: str) -> Answer:
    made = _json({"type": "error", "error": {"type": kind, "message": message}}, status)
    return Answer(status, made.chunks, {name.replace("_", "-"): value for name, value in headers.items()})


def streamed(said: str, name: str, arguments: str) -> Answer:
    """One text block and one tool use, whose arguments come in two halves."""
    half = len(arguments) // 2
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**_frame(), "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": said}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": use(name, {})},
        *(
            {
                "type": "content_block_delta",
                "index": 1,
                "delta": {"type": "input_json_delta", "partial_json": part},
            }
            for part in (arguments[:half], arguments[half:])
        ),
        {"type": "content_block_stop", "index": 1},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": USAGE},
        {"type": "message_stop"},
    ]
    lines = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events]
    return Answer(200, lines, content_type="text/event-stream")


def _json(value: Any, status: int = 200) -> Answer:
    return Answer(status, (json.dumps(value).encode(),))


def _frame() -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-haiku-4-5",
        "usage": USAGE,
    }

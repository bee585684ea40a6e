"""What a server of OpenAI's responses API sends: computer calls, functions, words, refusals, errors."""

from __future__ import annotations

import json
from typing import Any

from packages.agent.tests.hosted.openai_wire import body
from packages.agent.tests.hosted.server import Answer

USAGE = {
    "input_tokens": 700,
    "output_tokens": 50,
    "total_tokens": 750,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens_details": {"reasoning_tokens": 0},
}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "sealed", "status": None}


def response(*output: dict[str, Any], status: str = "completed", reason: str = "") -> Answer:
    why = {"reason": reason} if reason else None
    return body({**_frame(), "status": status, "output": list(output), "incomplete_details": why})


def computer(*actions: dict[str, Any], number: int = 0, checks: Any = ()) -> dict[str, Any]:
    """One call with a batch, as the general tool sends it."""
    return {**_call(number, checks), "action": None, "actions": list(actions)}


def preview(action: dict[str, Any], number: int = 0, checks: Any = ()) -> dict[str, Any]:
    """One call with one action, as the preview's tool sends it."""
    return {**_call(number, checks), "action": action, "actions": None}


def function(name: str, given: Any, number: int = 0) -> dict[str, Any]:
    arguments = given if isinstance(given, str) else json.dumps(given)
    named = {"call_id": f"call_{number}", "name": name, "arguments": arguments}
    return {"type": "function_call", "id": f"fc_{number}", "status": "completed", **named}


def says(text: str) -> dict[str, Any]:
    return _message({"type": "output_text", "text": text, "annotations": [], "logprobs": []})


def refuses(why: str) -> dict[str, Any]:
    return _message({"type": "refusal", "refusal": why})


def _message(part: dict[str, Any]) -> dict[str, Any]:
    told = {"id": "msg_1", "status": "completed", "role": "assistant"}
    return {"type": "message", **told, "content": [part]}


def _call(number: int, checks: Any) -> dict[str, Any]:
    named = {"id": f"cu_{number}", "call_id": f"call_{number}", "status": "completed"}
    listed = list(checks) if isinstance(checks, tuple | list) else checks
    return {"type": "computer_call", **named, "pending_safety_checks": listed}


def _frame() -> dict[str, Any]:
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_790_000_000,
        "model": "gpt-5.6",
        "error": None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": USAGE,
    }

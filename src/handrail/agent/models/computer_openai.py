"""OpenAI's responses with its computer tool. The server keeps nothing: each request has the whole talk."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic_ai.exceptions import UnexpectedModelBehavior
from pydantic_core import from_json

from handrail.agent.model import CallResult, Exchange, ModelCall, Prompt
from handrail.agent.models.computer import HeardAnswer

GENERAL, PREVIEW = "computer", "computer_use_preview"
LEAST_TOKENS = 16
"""The server takes no lower limit."""
Item = dict[str, Any]


class OpenAIForm:
    """`POST /responses`."""

    dialect = "openai_computer"
    path = "/responses"

    def __init__(self, model: str) -> None:
        is_preview = model.startswith("computer-use-preview")
        self.versions: Sequence[str] = (PREVIEW,) if is_preview else (GENERAL, PREVIEW)

    def headers(self, key: str, version: str) -> dict[str, str]:
        del version
        return {"authorization": f"Bearer {key or 'none'}"}

    def body(self, model: str, prompt: Prompt, version: str, tokens: int) -> dict[str, Any]:
        truncation = {"truncation": "auto"} if version == PREVIEW else {}
        return {
            "model": model,
            "instructions": prompt.system,
            "input": list(_input(prompt)),
            "tools": [_computer(version, prompt), *map(_function, prompt.tools)],
            "max_output_tokens": max(LEAST_TOKENS, tokens),
            "store": False,
            "include": ["reasoning.encrypted_content"],
            **truncation,
        }

    def heard(self, data: Mapping[str, Any]) -> HeardAnswer:
        if data.get("error"):
            raise UnexpectedModelBehavior(f"the server failed: {str(data['error'])[:200]}")
        items = [{key: value for key, value in item.items() if value is not None} for item in data["output"]]
        parts = [part for item in items if item["type"] == "message" for part in item["content"]]
        text = "\n".join(str(part["text"]) for part in parts if part["type"] == "output_text")
        mused = [part for item in items if item["type"] == "reasoning" for part in item.get("summary") or ()]
        why = (data.get("incomplete_details") or {}).get("reason")
        refused = [str(part.get("refusal")) for part in parts if part["type"] == "refusal"]
        if why == "content_filter":
            refused.append(text or "it gave no reason")
        return HeardAnswer(
            said=tuple(items),
            text=text,
            thought="\n".join(str(part.get("text", "")) for part in mused),
            calls=tuple(_call(item) for item in items if item["type"] in ("computer_call", "function_call")),
            refusal="\n".join(refused),
            is_cut=why == "max_output_tokens",
        )


def _computer(version: str, prompt: Prompt) -> Item:
    if version == GENERAL:
        return {"type": GENERAL}
    width, height = prompt.display or (1, 1)
    return {"type": PREVIEW, "display_width": width, "display_height": height, "environment": "linux"}


def _function(tool: Mapping[str, Any]) -> Item:
    named = {"name": tool["name"], "description": tool["description"]}
    return {"type": "function", **named, "parameters": dict(tool["input_schema"]), "strict": False}


def _input(prompt: Prompt) -> Iterator[Item]:
    for turn in prompt.turns:
        yield {"role": turn.role, "content": [_text(turn.text), *_picture(turn.image)]}
    for exchange in prompt.exchanges:
        yield from map(dict, exchange.said)
        yield from _answers(exchange, prompt)


def _answers(exchange: Exchange, prompt: Prompt) -> Iterator[Item]:
    """A computer's result is a picture and nothing else: what is to be said is said in a message after it."""
    computer = [one for one in exchange.results if not one.tool]
    for one in exchange.results:
        if one.tool:
            yield {"type": "function_call_output", "call_id": one.id, "output": one.text}
        else:
            yield _screenshot(one, exchange.image or _blank(prompt))
    told = [one.text for one in computer]
    shown = [picture for one in computer for picture in _picture(one.image)]
    if not computer:
        shown += _picture(exchange.image)
    words = "\n\n".join(part for part in (*told, exchange.words) if part)
    yield {"role": "user", "content": [_text(words), *shown]}


def _screenshot(result: CallResult, png: bytes) -> Item:
    output = {"type": "computer_screenshot", "image_url": _data_url(png)}
    checks = [dict(check) for check in result.acknowledged]
    acknowledged = {"acknowledged_safety_checks": checks} if checks else {}
    return {"type": "computer_call_output", "call_id": result.id, "output": output, **acknowledged}


def _blank(prompt: Prompt) -> bytes:
    """A grey picture where none may be shown: the protocol has no result without one."""
    import io  # noqa: PLC0415

    from PIL import Image  # noqa: PLC0415

    written = io.BytesIO()
    Image.new("L", prompt.display or (1, 1), 128).save(written, "PNG")
    return written.getvalue()


def _text(text: str) -> Item:
    return {"type": "input_text", "text": text or "Nothing to say."}


def _picture(png: bytes | None) -> list[Item]:
    return [] if png is None else [{"type": "input_image", "image_url": _data_url(png), "detail": "high"}]


def _data_url(png: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"


def _call(item: Item) -> ModelCall:
    id_ = str(item["call_id"])
    if item["type"] == "function_call":
        return ModelCall(id_, (_arguments(item.get("arguments")),), str(item["name"]))
    checks = tuple(map(_check, _listed(item.get("pending_safety_checks") or ())))
    batch = item.get("actions") or [item.get("action")]
    first, *rest = batch if isinstance(batch, list) else [None]
    plain = {"type": "computer_call", "call_id": id_}
    asked = {**plain, "action": first, "pending_safety_checks": list(checks)}
    return ModelCall(id_, (asked, *({**plain, "action": one} for one in rest)), checks=checks)


def _check(given: Any) -> Item:
    """A check that nobody can read is one all the same."""
    return dict(given) if isinstance(given, Mapping) else {"id": "", "message": str(given)}


def _listed(given: Any) -> list[Any]:
    return list(given) if isinstance(given, list | tuple) else [given]


def _arguments(given: Any) -> Any:
    """As an object where it is one; what it is else is told to the model."""
    try:
        return from_json(str(given).strip() or "{}", allow_inf_nan=False)
    except ValueError:
        return given

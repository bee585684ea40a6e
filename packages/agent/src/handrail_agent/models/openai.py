"""OpenAI, and every server that speaks its chat completions: local ones need no key."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, cast

from httpx2 import AsyncClient
from openai import APIConnectionError, APIStatusError, AsyncOpenAI
from PIL import Image
from pydantic_ai.exceptions import UnexpectedModelBehavior
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
from pydantic_ai.settings import ModelSettings
from pydantic_core import from_json

from handrail_agent.model import ModelCall, Prompt
from handrail_agent.models.computer import MakersAnswer
from handrail_agent.models.hosted import Maker
from handrail_agent.models.http_client import account_of

GENERAL, PREVIEW = "computer", "computer_use_preview"

_NO_KEY = "none"  # the SDK wants something to send
_NEWER, _OLDER = "max_completion_tokens", "max_tokens"
ANSWER_TOKENS = 4_096
HOME_TOKENS = 8_192
"""OpenAI's own models think within the limit."""
_CONSTRAINS = ModelProfile(supports_json_schema_output=True)
"""The library asks a list of names; the server itself knows better."""


def make(name: str, base_url: str | None, env: Mapping[str, str], client: AsyncClient) -> Maker:
    """At another address neither the model's talents nor its prices are those of its namesake at OpenAI."""
    account = account_of("openai", base_url, env)
    provider: OpenAIProvider | OpenAICompatibleProvider
    if account.is_home:
        provider = OpenAIProvider(base_url=account.place, api_key=account.key, http_client=client)
    else:
        provider = OpenAICompatibleProvider(
            "compatible", base_url=account.place, api_key=account.key or _NO_KEY, http_client=client
        )
    model = OpenAIChatModel(name, provider=provider, profile=_CONSTRAINS)
    names = _MaxTokensParameter(_NEWER) if account.is_home else _MaxTokensParameter(_NEWER, _OLDER)
    return Maker(
        model,
        account,
        sees=account.is_home,
        answer_tokens=HOME_TOKENS if account.is_home else ANSWER_TOKENS,
        limited=names.limited,
        spells=names.spells,
        constrains=True,
    )


class _MaxTokensParameter:
    """What the limit of an answer is called: by its older name alone some servers know it, and would write
    without an end; others refuse one of the two."""

    def __init__(self, *names: str) -> None:
        self._names = names

    def limited(self, tokens: int) -> ModelSettings:
        older = {"extra_body": {_OLDER: tokens}} if _OLDER in self._names else {}
        newer = {"max_tokens": tokens} if _NEWER in self._names else {}
        return cast("ModelSettings", {"max_retries": 0, **older, **newer})

    def spells(self, refusal: str) -> bool:
        """A refusal that names one of two leaves the other; the one that it names first is the culprit."""
        named = sorted((refusal.find(name), name) for name in self._names if name in refusal)
        if len(self._names) < 2 or not named:
            return False
        self._names = tuple(name for name in self._names if name != named[0][1])
        return True


LEAST_TOKENS = 16
"""The server takes no lower limit."""
Item = dict[str, Any]


class OpenAIForm:
    """`POST /responses`."""

    dialect = "openai_computer"
    path = "/responses"
    sdk: Callable[..., Any] = AsyncOpenAI
    status_error: type[Exception] = APIStatusError
    connection_error: type[Exception] = APIConnectionError

    def __init__(self, model: str) -> None:
        is_preview = model.startswith("computer-use-preview")
        self.versions: Sequence[str] = (PREVIEW,) if is_preview else (GENERAL, PREVIEW)

    def headers(self, version: str) -> dict[str, str]:
        del version
        return {}

    def body(self, model: str, prompt: Prompt, version: str, tokens: int) -> dict[str, Any]:
        truncation = {"truncation": "auto"} if version == PREVIEW else {}
        functions = [
            {
                "type": "function",
                "name": tool["name"],
                "description": tool["description"],
                "parameters": dict(tool["input_schema"]),
                "strict": False,
            }
            for tool in prompt.tools
        ]
        return {
            "model": model,
            "instructions": prompt.system,
            "input": list(_input(prompt)),
            "tools": [_computer(version, prompt), *functions],
            "max_output_tokens": max(LEAST_TOKENS, tokens),
            "store": False,
            "include": ["reasoning.encrypted_content"],
            **truncation,
        }

    def read(self, data: Mapping[str, Any]) -> MakersAnswer:
        if data.get("error"):
            raise UnexpectedModelBehavior(f"the server failed: {str(data['error'])[:200]}")
        items = [{key: value for key, value in item.items() if value is not None} for item in data["output"]]
        parts = [part for item in items if item["type"] == "message" for part in item["content"]]
        text = "\n".join(str(part["text"]) for part in parts if part["type"] == "output_text")
        thinking = [
            part for item in items if item["type"] == "reasoning" for part in item.get("summary") or ()
        ]
        why = (data.get("incomplete_details") or {}).get("reason")
        refused = [str(part.get("refusal")) for part in parts if part["type"] == "refusal"]
        if why == "content_filter":
            refused.append(text or "it gave no reason")
        return MakersAnswer(
            blocks=tuple(items),
            text=text,
            thought="\n".join(str(part.get("text", "")) for part in thinking),
            calls=tuple(_call(item) for item in items if item["type"] in ("computer_call", "function_call")),
            refusal="\n".join(refused),
            is_cut=why == "max_output_tokens",
        )


def _computer(version: str, prompt: Prompt) -> Item:
    if version == GENERAL:
        return {"type": GENERAL}
    width, height = prompt.display or (1, 1)
    return {"type": PREVIEW, "display_width": width, "display_height": height, "environment": "linux"}


def _input(prompt: Prompt) -> Iterator[Item]:
    for turn in prompt.turns:
        yield {"role": turn.role, "content": [_text(turn.text), *_picture(turn.image)]}
    for exchange in prompt.exchanges:
        yield from map(dict, exchange.blocks)
        # A computer result holds a picture and nothing else; texts go into a message after it.
        computer = [result for result in exchange.results if not result.tool]
        for result in exchange.results:
            if result.tool:
                yield {"type": "function_call_output", "call_id": result.id, "output": result.text}
            else:
                png = exchange.image or _blank(prompt)
                output = {"type": "computer_screenshot", "image_url": _data_url(png)}
                checks = [dict(check) for check in result.acknowledged]
                acknowledged = {"acknowledged_safety_checks": checks} if checks else {}
                yield {"type": "computer_call_output", "call_id": result.id, "output": output, **acknowledged}
        texts = [result.text for result in computer]
        shown = [picture for result in computer for picture in _picture(result.image)]
        if not computer:
            shown += _picture(exchange.image)
        words = "\n\n".join(part for part in (*texts, exchange.words) if part)
        yield {"role": "user", "content": [_text(words), *shown]}


def _blank(prompt: Prompt) -> bytes:
    """A grey picture where none may be shown: the protocol has no result without one."""
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
        arguments = item.get("arguments")
        with suppress(ValueError):  # what is no object is told to the model
            arguments = from_json(str(arguments).strip() or "{}", allow_inf_nan=False)
        return ModelCall(id_, (arguments,), str(item["name"]))
    pending = item.get("pending_safety_checks") or ()
    checks = tuple(  # one that cannot be read is kept as a check all the same
        dict(check) if isinstance(check, Mapping) else {"id": "", "message": str(check)}
        for check in (pending if isinstance(pending, list | tuple) else [pending])
    )
    batch = item.get("actions") or [item.get("action")]
    first, *rest = batch if isinstance(batch, list) else [None]
    plain = {"type": "computer_call", "call_id": id_}
    first_call = {**plain, "action": first, "pending_safety_checks": list(checks)}
    return ModelCall(id_, (first_call, *({**plain, "action": action} for action in rest)), checks=checks)

"""Anthropic's messages API, at its own address or at another one that speaks it."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from anthropic import APIConnectionError, APIStatusError, AsyncAnthropic
from httpx2 import AsyncClient
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.settings import ModelSettings

from handrail.dialects.table import RefusedWord
from handrail_agent.dialects.anthropic_computer import ROWS
from handrail_agent.model import Exchange, ModelCall, Prompt
from handrail_agent.models.computer import MakersAnswer
from handrail_agent.models.hosted import Maker
from handrail_agent.models.http_client import account_of

_NO_KEY = "none"  # the SDK wants something to send
ANSWER_TOKENS = 4_096
_SETTINGS = ModelSettings(max_retries=0, parallel_tool_calls=False, cache={"messages": False})
"""System text and tools are the same in every step: the server is asked to keep them, and nothing else."""


def make(name: str, base_url: str | None, env: Mapping[str, str], client: AsyncClient) -> Maker:
    """A key is needed at home only; elsewhere the prices are not Anthropic's."""
    account = account_of("anthropic", base_url, env)
    provider = AnthropicProvider(base_url=account.place, api_key=account.key or _NO_KEY, http_client=client)
    model = AnthropicModel(name, provider=provider)
    return Maker(
        model, account, True, ANSWER_TOKENS, limited=lambda tokens: {**_SETTINGS, "max_tokens": tokens}
    )


TOOLSET = "computer_toolset_20260801"
BETAS = {"computer_20251124": "computer-use-2025-11-24", "computer_20250124": "computer-use-2025-01-24"}
"""Tools that are taken with a header only. The toolset needs none."""
API = "2026-10-21"
API_BEFORE = "2023-06-01"
"""Versions of the protocol: what knows only an older tool may know only this one."""
_CACHED = {"type": "ephemeral"}
Block = dict[str, Any]


class AnthropicForm:
    """`POST /v1/messages`."""

    dialect = "anthropic_computer"
    path = "/v1/messages"
    versions: Sequence[str] = (TOOLSET, *BETAS)

    sdk: Callable[..., Any] = AsyncAnthropic
    status_error: type[Exception] = APIStatusError
    connection_error: type[Exception] = APIConnectionError

    def headers(self, version: str) -> dict[str, str]:
        if beta := BETAS.get(version):
            return {"anthropic-beta": beta, "anthropic-version": API_BEFORE}
        return {"anthropic-version": API}

    def body(self, model: str, prompt: Prompt, version: str, tokens: int) -> dict[str, Any]:
        messages: list[dict[str, Any]] = [
            {"role": turn.role, "content": [_text(turn.text), *_picture(turn.image)]} for turn in prompt.turns
        ]
        for exchange in prompt.exchanges:
            if exchange.blocks:
                messages.append({"role": "assistant", "content": list(exchange.blocks)})
            messages.append({"role": "user", "content": _answers(exchange)})
        messages[-1]["content"][-1]["cache_control"] = _CACHED
        return {
            "model": model,
            "max_tokens": tokens,
            "system": [{"type": "text", "text": prompt.system, "cache_control": _CACHED}],
            "tools": [_computer(version, prompt), *map(dict, prompt.tools)],
            "messages": messages,
        }

    def read(self, data: Mapping[str, Any]) -> MakersAnswer:
        blocks = [dict(block) for block in data["content"]]
        text = "\n".join(str(block["text"]) for block in blocks if block["type"] == "text")
        thinking = [str(block.get("thinking") or "") for block in blocks if block["type"] == "thinking"]
        stop, details, refusal = data.get("stop_reason"), data.get("stop_details"), ""
        if stop == "refusal":
            explained = details.get("explanation") if isinstance(details, Mapping) else None
            refusal = str(explained or text or "it gave no reason")
        return MakersAnswer(
            blocks=tuple(block for block in blocks if block["type"] != "text" or block["text"]),
            text=text,
            thought="\n".join(thinking),
            calls=tuple(_call(block) for block in blocks if block["type"] == "tool_use"),
            refusal=refusal,
            is_cut=stop in ("max_tokens", "model_context_window_exceeded"),
        )


def _computer(version: str, prompt: Prompt) -> Block:
    """What means nothing on a phone is not offered where that can be said."""
    if version == TOOLSET:
        no = {word: {"enabled": False} for word, row in ROWS.items() if isinstance(row, RefusedWord)}
        return {"type": TOOLSET, "configs": no}
    width, height = prompt.display or (1, 1)
    size = {"display_width_px": width, "display_height_px": height}
    zoom = {"enable_zoom": True} if version == "computer_20251124" else {}
    return {"type": version, "name": "computer", **size, **zoom}


def _answers(exchange: Exchange) -> list[Block]:
    """Results first, as the protocol wants them; the screen as it is now stands last."""
    sets = {str(block.get("id")): block.get("toolset_name") for block in exchange.blocks}
    results: list[Block] = [
        {
            "type": "tool_result",
            "tool_use_id": result.id,
            "content": [_text(result.text), *_picture(result.image)],
            **({"toolset_name": sets[result.id]} if sets.get(result.id) else {}),
            **({"is_error": True} if result.failed else {}),
        }
        for result in exchange.results
    ]
    words = [_text(exchange.words)] if exchange.words else []
    if results:
        results[-1]["content"] += _picture(exchange.image)
        return [*results, *words]
    return [*words, *_picture(exchange.image)]


def _text(text: str) -> Block:
    return {"type": "text", "text": text or "Nothing to say."}


def _picture(png: bytes | None) -> list[Block]:
    if png is None:
        return []
    data = base64.b64encode(png).decode()
    return [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}]


def _call(block: Block) -> ModelCall:
    if "computer" in (block.get("toolset_name"), block["name"]):
        return ModelCall(str(block["id"]), (block,))
    return ModelCall(str(block["id"]), (block.get("input"),), str(block["name"]))

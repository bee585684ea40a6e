"""Anthropic's messages API, at its own address or at another one that speaks it."""

from __future__ import annotations

from collections.abc import Mapping

from httpx2 import AsyncClient
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.settings import ModelSettings

from handrail.agent.models.account import account_of
from handrail.agent.models.hosted import Maker

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
        model,
        account.place,
        account.key,
        sees=True,
        is_priced=account.is_home,
        answer_tokens=ANSWER_TOKENS,
        limited=lambda tokens: {**_SETTINGS, "max_tokens": tokens},
    )

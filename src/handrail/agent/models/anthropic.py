"""Anthropic's messages API, at its own address or at another one that speaks it."""

from __future__ import annotations

from collections.abc import Mapping

from httpx2 import AsyncClient
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.settings import ModelSettings

from handrail.agent.models.hosted import Maker, checked
from handrail.errors import InvalidAction

KEY = "ANTHROPIC_API_KEY"
HOME = "https://api.anthropic.com"
_NO_KEY = "none"  # the SDK wants something to send
_SETTINGS = ModelSettings(
    max_retries=0, max_tokens=4_096, parallel_tool_calls=False, cache={"messages": False}
)
"""System text and tools are the same in every step: the server is asked to keep them, and nothing else."""


def make(name: str, base_url: str | None, env: Mapping[str, str], client: AsyncClient) -> Maker:
    """A key is needed at home only; elsewhere the prices are not Anthropic's."""
    key = env.get(KEY, "").strip()
    place = checked(base_url or env.get("ANTHROPIC_BASE_URL", "").strip() or HOME)
    is_home = place.rstrip("/") == HOME
    if is_home and not key:
        raise InvalidAction(f"{KEY} is not set", path=KEY, hint=f"Set {KEY}.")
    provider = AnthropicProvider(base_url=place, api_key=key or _NO_KEY, http_client=client)
    model = AnthropicModel(name, provider=provider)
    return Maker(model, place, key, _SETTINGS, sees=True, is_priced=is_home)

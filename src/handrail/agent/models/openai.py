"""OpenAI, and every server that speaks its chat completions: local ones need no key."""

from __future__ import annotations

from collections.abc import Mapping

from httpx2 import AsyncClient
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
from pydantic_ai.settings import ModelSettings

from handrail.agent.models.hosted import Maker, checked
from handrail.errors import InvalidAction

KEY = "OPENAI_API_KEY"
HOME = "https://api.openai.com/v1"
_NO_KEY = "none"  # the SDK wants something to send
_SETTINGS = ModelSettings(max_retries=0)


def make(name: str, base_url: str | None, env: Mapping[str, str], client: AsyncClient) -> Maker:
    """At another address neither the model's talents nor its prices are those of its namesake at OpenAI."""
    key = env.get(KEY, "").strip()
    place = checked(base_url or env.get("OPENAI_BASE_URL", "").strip() or HOME)
    if place.rstrip("/") != HOME:
        other = OpenAICompatibleProvider(
            "compatible", base_url=place, api_key=key or _NO_KEY, http_client=client
        )
        model = OpenAIChatModel(name, provider=other)
        return Maker(model, place, key, _SETTINGS, sees=False, is_priced=True)
    if not key:
        raise InvalidAction(
            f"{KEY} is not set", path=KEY, hint=f"Set {KEY}, or give a local server with --base-url."
        )
    hosted = OpenAIChatModel(name, provider=OpenAIProvider(base_url=HOME, api_key=key, http_client=client))
    return Maker(hosted, HOME, key, _SETTINGS, sees=True, is_priced=True)

"""OpenAI, and every server that speaks its chat completions: local ones need no key."""

from __future__ import annotations

from collections.abc import Mapping

from httpx2 import AsyncClient
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
from pydantic_ai.settings import ModelSettings

from handrail.agent.models.account import account_of
from handrail.agent.models.hosted import Maker

_NO_KEY = "none"  # the SDK wants something to send
_SETTINGS = ModelSettings(max_retries=0)
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
    return Maker(
        model, account.place, account.key, _SETTINGS, sees=account.is_home, is_priced=True, constrains=True
    )

"""OpenAI, and every server that speaks its chat completions: local ones need no key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from httpx2 import AsyncClient
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
from pydantic_ai.settings import ModelSettings

from handrail.agent.models.account import account_of
from handrail.agent.models.hosted import Maker

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
    names = _LimitNames(_NEWER) if account.is_home else _LimitNames(_NEWER, _OLDER)
    return Maker(
        model,
        account.place,
        account.key,
        sees=account.is_home,
        is_priced=account.is_home,
        answer_tokens=HOME_TOKENS if account.is_home else ANSWER_TOKENS,
        limited=names.limited,
        spells=names.spells,
        constrains=True,
    )


class _LimitNames:
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

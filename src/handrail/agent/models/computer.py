"""A model that works by its maker's own computer tool: one conversation in the maker's own messages, by HTTP.

Owns sending, errors and which version of the tool the server takes. The makers' forms are in
`computer_anthropic.py` and `computer_openai.py`; neither imports a maker's package.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from httpx2 import HTTPError, Response
from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelAuthenticationError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRequestRejectedError,
    UnexpectedModelBehavior,
)
from pydantic_core import from_json

from handrail.agent.model import TRY_MS, Mode, ModelCall, ModelOptions, Prompt, Reply, Usage
from handrail.agent.models.account import Account, account_of, place_of
from handrail.agent.models.hosted import RAW_CHARS, THOUGHT_CHARS, priced, unheard
from handrail.agent.models.http_client import ModelClient, NothingLeft, TooLong, open_client
from handrail.agent.models.retries import RetryPolicy
from handrail.clock import Clock
from handrail.errors import InvalidAction, ModelUnavailable
from handrail.protocol.observe import Finish

ANSWER_TOKENS = 8_192
"""Of one answer, its thinking included."""
_QUOTA = ("insufficient_quota", "billing_error", "billing_hard_limit_reached")


@dataclass(frozen=True, slots=True)
class HeardAnswer:
    """What a maker's response says."""

    said: tuple[Mapping[str, Any], ...]
    text: str
    thought: str
    calls: tuple[ModelCall, ...]
    refusal: str = ""
    is_cut: bool = False


class MakersForm(Protocol):
    """How one maker's server is spoken to."""

    dialect: str
    path: str
    versions: Sequence[str]
    """Of its tool, the newest first."""

    def headers(self, key: str, version: str) -> dict[str, str]: ...

    def body(self, model: str, prompt: Prompt, version: str, tokens: int) -> dict[str, Any]: ...

    def heard(self, data: Mapping[str, Any]) -> HeardAnswer:
        """Raises `UnexpectedModelBehavior` for what is no answer."""
        ...


class ComputerModel:
    """One model of one maker, with its computer tool."""

    mode: Mode = "tools"
    sees = True

    def __init__(
        self,
        kind: str,
        name: str,
        form: MakersForm,
        account: Account,
        clock: Clock,
        client: ModelClient,
        try_ms: float = TRY_MS,
    ) -> None:
        self.name = f"{kind}:{name}"
        self.dialect = form.dialect
        self.is_computer = True
        self._kind, self._model, self._form = kind, name, form
        self._account, self._client = account, client
        self._patience = RetryPolicy(self.name, place_of(account.place), account.key, clock, try_ms)
        self._versions = list(form.versions)

    async def step(self, prompt: Prompt) -> Reply:
        self._client.begin()
        notice = ""
        while True:
            try:
                heard = await self._patience.ask(lambda: self._once(prompt))
            except (TooLong, NothingLeft) as error:
                return replace(unheard(error), usage=self.bill()[-1], notice=notice)
            except ModelUnavailable as error:
                if not self._is_about_the_tool(error):
                    raise
                old = self._versions.pop(0)
                notice = f"{self.name} does not take {old}; {self._versions[0]} is used."
                continue
            return replace(self.reply_of(heard), usage=self.bill()[-1], notice=notice)

    def bill(self) -> list[Usage]:
        is_priced = self._account.is_home
        return [priced(one, self._kind, self._model, is_priced=is_priced) for one in self._client.tries]

    def _is_about_the_tool(self, error: ModelUnavailable) -> bool:
        """An older model or server names what it does not know; there may be an older tool for it."""
        status, said = error.details.get("status"), error.message.lower()
        return status == 400 and "computer" in said and len(self._versions) > 1

    async def _once(self, prompt: Prompt) -> HeardAnswer:
        tokens = self._client.room(ANSWER_TOKENS, prompt.max_tokens)
        version = self._versions[0]
        try:
            response = await self._client.post(
                self._account.place.rstrip("/") + self._form.path,
                json=self._form.body(self._model, prompt, version, tokens),
                headers=self._form.headers(self._account.key, version),
            )
        except HTTPError as error:
            raise ModelAPIError(self.name, str(error) or type(error).__name__) from error
        data = _json(self._patience.redact(response.text))
        if not response.is_success:
            raise _failure(self.name, response, data)
        return heard_by(self._form, data)

    def reply_of(self, heard: HeardAnswer) -> Reply:
        """Words without a call are the end of the task."""

        def told(text: str) -> str:
            """Lone surrogates, which JSON can hold, can't be written to any file."""
            return self._patience.redact(text.encode(errors="replace").decode()).strip()

        text = told(heard.text)
        calls = () if heard.is_cut else heard.calls
        parts = [json.dumps(part, ensure_ascii=False) for call in calls for part in call.parts]
        action = None if calls or heard.is_cut or not text else {**Finish().to_dict(), "message": text}
        return Reply(
            thought=(text if calls else told(heard.thought))[:THOUGHT_CHARS],
            action=action,
            raw=told("\n".join([heard.text, *parts]))[:RAW_CHARS],
            problem="" if calls or action else _problem(heard),
            said=() if heard.is_cut else heard.said,  # half an answer can't be sent back
            calls=calls,
            refusal=told(heard.refusal),
        )

    async def close(self) -> None:
        await self._client.aclose()


def heard_by(form: MakersForm, data: Any) -> HeardAnswer:
    """Raises `UnexpectedModelBehavior` and nothing else, whatever a server has sent."""
    if not isinstance(data, dict):
        raise UnexpectedModelBehavior("the answer is not a JSON object")
    try:
        return form.heard(data)
    except (TypeError, AttributeError, LookupError, ValueError, OverflowError) as error:
        raise UnexpectedModelBehavior(f"the answer has not the agreed form ({error})") from error


def _problem(heard: HeardAnswer) -> str:
    why = "The answer was cut off: it was too long." if heard.is_cut else "The answer was empty."
    return f"{why} Call a tool, or say what was achieved."


def _json(text: str) -> Any:
    """None for what is no JSON; errors of proxies are pages."""
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError:
        return None


def _failure(name: str, response: Response, data: Any) -> ModelHTTPError:
    """As the library sorts them for other models, so that all are repeated and told by the same rules."""
    inner = data.get("error") if isinstance(data, dict) else None
    kinds = [inner.get(key) for key in ("code", "type")] if isinstance(inner, dict) else []
    status = response.status_code
    category: type[ModelRequestRejectedError | ModelQuotaExceededError] | None = None
    if status == 402 or any(kind in _QUOTA for kind in kinds):
        category = ModelQuotaExceededError
    elif status in (401, 403):
        category = ModelAuthenticationError
    elif status == 404:
        category = ModelNotFoundError
    elif status in (400, 413, 422):
        category = ModelRequestRejectedError
    body = data if data is not None else response.text[:2_000]
    return ModelHTTPError.for_category(
        category, status_code=status, model_name=name, body=body, headers=dict(response.headers)
    )


def open_computer(
    kind: str, name: str, wishes: ModelOptions, *, env: Mapping[str, str], clock: Clock
) -> ComputerModel:
    """Raises `InvalidAction` for wishes that can't go together."""
    wanted = {"text": wishes.mode == "text", "no-see": wishes.sees is False, "stream": wishes.stream}
    for word, is_wanted in wanted.items():
        if is_wanted:
            raise InvalidAction(
                f"tools: computer works by pictures and calls; --{word} does not go with it",
                path="tools",
                hint=f"Leave --{word} or --tools out.",
            )
    account = account_of(kind, wishes.base_url, env)
    client = open_client(wishes.try_ms / 1000)
    return ComputerModel(kind, name, _form(kind, name), account, clock, client, wishes.try_ms)


def _form(kind: str, name: str) -> MakersForm:
    if kind == "openai":
        from handrail.agent.models.computer_openai import OpenAIForm  # noqa: PLC0415

        return OpenAIForm(name)
    from handrail.agent.models.computer_anthropic import AnthropicForm  # noqa: PLC0415

    return AnthropicForm()

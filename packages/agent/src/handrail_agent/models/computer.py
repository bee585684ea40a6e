"""A model that works by its maker's own computer tool: one conversation in the maker's own messages.

Sends with the maker's SDK, sorts its errors and finds the version of the tool that the server takes. The
makers' forms are in `anthropic.py` and `openai.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from httpx2 import Response
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

from handrail.clock import Clock
from handrail.errors import InvalidAction, ModelUnavailable
from handrail.protocol.observe import Finish
from handrail_agent.model import TRY_MS, Mode, ModelCall, ModelOptions, Prompt, Reply
from handrail_agent.models.hosted import RAW_CHARS, THOUGHT_CHARS, RemoteModel
from handrail_agent.models.http_client import (
    Account,
    ModelClient,
    NothingLeft,
    TooLong,
    account_of,
    open_client,
)

ANSWER_TOKENS = 8_192
"""Of one answer, its thinking included."""
_QUOTA = ("insufficient_quota", "billing_error", "billing_hard_limit_reached")


@dataclass(frozen=True, slots=True)
class MakersAnswer:
    """What a maker's response says."""

    blocks: tuple[Mapping[str, Any], ...]
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
    sdk: Callable[..., Any]
    """Opens the maker's client. Both makers' have the same `post`."""
    status_error: type[Exception]
    connection_error: type[Exception]

    def headers(self, version: str) -> dict[str, str]: ...

    def body(self, model: str, prompt: Prompt, version: str, tokens: int) -> dict[str, Any]: ...

    def read(self, data: Mapping[str, Any]) -> MakersAnswer:
        """Raises `UnexpectedModelBehavior` for what is no answer."""
        ...


class ComputerModel(RemoteModel):
    """A model with its maker's computer tool."""

    mode: Mode = "tools"
    sees = True
    is_computer = True

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
        super().__init__(kind, name, account, clock, client, try_ms)
        self.dialect = form.dialect
        self._form = form
        key = account.key or "none"  # the SDKs want something to send
        self._sdk = form.sdk(api_key=key, base_url=account.place, http_client=client, max_retries=0)
        self._versions = list(form.versions)

    async def step(self, prompt: Prompt) -> Reply:
        self._client.begin()
        notice = ""
        while True:
            try:
                answer = await self._retries.ask(lambda: self._once(prompt))
            except (TooLong, NothingLeft) as error:
                return replace(self.without_answer(error), notice=notice)
            except ModelUnavailable as error:
                # An older model or server names what it does not know; there may be an older tool for it.
                status, refusal = error.details.get("status"), error.message.lower()
                if status != 400 or "computer" not in refusal or len(self._versions) == 1:
                    raise
                old = self._versions.pop(0)
                notice = f"{self.name} does not take {old}; {self._versions[0]} is used."
                continue
            return replace(self.reply_of(answer), usage=self.bill()[-1], notice=notice)

    async def _once(self, prompt: Prompt) -> MakersAnswer:
        tokens = self._client.room(ANSWER_TOKENS, prompt.max_tokens)
        version = self._versions[0]
        try:
            response = await self._sdk.post(
                self._form.path,
                cast_to=Response,  # unread: blocks that the SDK does not know are sent back as they came
                body=self._form.body(self._model, prompt, version, tokens),
                options={"headers": self._form.headers(version)},
            )
        except self._form.status_error as error:
            raise _failure(self.name, error) from error
        except self._form.connection_error as error:
            raise ModelAPIError(self.name, str(error.__cause__ or error)) from error
        try:
            answer = from_json(self._retries.redact(response.text), allow_inf_nan=False)
        except ValueError as error:
            raise UnexpectedModelBehavior("the answer is not JSON") from error
        return read_answer(self._form, answer)

    def reply_of(self, answer: MakersAnswer) -> Reply:
        """Words without a call are the end of the task."""
        text = self.clean(answer.text)
        calls = () if answer.is_cut else answer.calls
        parts = [json.dumps(part, ensure_ascii=False) for call in calls for part in call.parts]
        action = None if calls or answer.is_cut or not text else {**Finish().to_dict(), "message": text}
        why = "The answer was cut off: it was too long." if answer.is_cut else "The answer was empty."
        problem = "" if calls or action else f"{why} Call a tool, or say what was achieved."
        return Reply(
            thought=(text if calls else self.clean(answer.thought))[:THOUGHT_CHARS],
            action=action,
            raw=self.clean("\n".join([answer.text, *parts]))[:RAW_CHARS],
            problem=problem,
            blocks=() if answer.is_cut else answer.blocks,  # half an answer can't be sent back
            calls=calls,
            refusal=self.clean(answer.refusal),
        )


def read_answer(form: MakersForm, data: Any) -> MakersAnswer:
    """Raises `UnexpectedModelBehavior` and nothing else, whatever a server has sent."""
    if not isinstance(data, dict):
        raise UnexpectedModelBehavior("the answer is not a JSON object")
    try:
        return form.read(data)
    except (TypeError, AttributeError, LookupError, ValueError, OverflowError) as error:
        raise UnexpectedModelBehavior(f"the answer has not the agreed form ({error})") from error


def _failure(name: str, error: Any) -> ModelHTTPError:
    """Sorts the SDK's error as pydantic-ai does for other models, so that the same are retried."""
    body, status = error.body, error.status_code
    inner = body.get("error", body) if isinstance(body, dict) else None
    kinds = [inner.get(key) for key in ("code", "type")] if isinstance(inner, dict) else []
    category: type[ModelRequestRejectedError | ModelQuotaExceededError] | None = None
    if status == 402 or any(kind in _QUOTA for kind in kinds):
        category = ModelQuotaExceededError
    elif status in (401, 403):
        category = ModelAuthenticationError
    elif status == 404:
        category = ModelNotFoundError
    elif status in (400, 413, 422):
        category = ModelRequestRejectedError
    return ModelHTTPError.for_category(
        category, status_code=status, model_name=name, body=body, headers=dict(error.response.headers)
    )


def open_computer(
    kind: str, name: str, options: ModelOptions, *, env: Mapping[str, str], clock: Clock
) -> ComputerModel:
    """Raises `InvalidAction` for options that can't go together."""
    wanted = {"text": options.mode == "text", "no-see": options.sees is False, "stream": options.stream}
    for word, is_wanted in wanted.items():
        if is_wanted:
            raise InvalidAction(
                f"tools: computer works by pictures and calls; --{word} does not go with it",
                path="tools",
                hint=f"Leave --{word} or --tools out.",
            )
    form: MakersForm
    if kind == "openai":
        from handrail_agent.models.openai import OpenAIForm  # noqa: PLC0415

        form = OpenAIForm(name)
    else:
        from handrail_agent.models.anthropic import AnthropicForm  # noqa: PLC0415

        form = AnthropicForm()
    account = account_of(kind, options.base_url, env)
    client = open_client(options.try_ms / 1000)
    return ComputerModel(kind, name, form, account, clock, client, options.try_ms)

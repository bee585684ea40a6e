"""A model behind HTTP: a prompt as the maker's messages, one request at a time, its response as a `Reply`.

Owns the base URL, the reading of a response and its price. What differs by maker is in `openai.py` and
`anthropic.py`, which are two files so that only the chosen maker's package is imported.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.exceptions import UnexpectedModelBehavior
from pydantic_ai.messages import (
    BinaryContent,
    FinishReason,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    UserContent,
    UserPromptPart,
)
from pydantic_ai.models import Model as MakersModel
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.usage import RequestUsage
from pydantic_core import from_json

from handrail.clock import Clock
from handrail.errors import ModelUnavailable
from handrail_agent.model import Mode, ModelOptions, Prompt, PromptTurn, Reply, Usage
from handrail_agent.models.http_client import (
    Account,
    HttpTry,
    ModelClient,
    NothingLeft,
    RetryPolicy,
    TooLong,
    open_client,
    place_of,
)
from handrail_agent.read_answer import FoundAction, read_text
from handrail_agent.tools import kind_of

_JPEG = b"\xff\xd8"


class RemoteModel:
    """One model of one maker: its requests, what they cost, and its words without the key."""

    def __init__(
        self, kind: str, name: str, account: Account, clock: Clock, client: ModelClient, try_ms: float
    ) -> None:
        self.name = f"{kind}:{name}"
        self._kind, self._model = kind, name
        self._account, self._client = account, client
        self._retries = RetryPolicy(self.name, place_of(account.place), account.key, clock, try_ms)

    def bill(self) -> list[Usage]:
        is_priced = self._account.is_home
        return [priced(sent, self._kind, self._model, is_priced=is_priced) for sent in self._client.tries]

    def clean(self, text: str) -> str:
        """Lone surrogates, which JSON can hold, can't be written to any file."""
        return self._retries.redact(text.encode(errors="replace").decode()).strip()

    def without_answer(self, error: TooLong | NothingLeft) -> Reply:
        """The reply for an answer that was too long, or that was not requested for lack of tokens."""
        problem = "The answer was longer than it may be. Be brief."
        if isinstance(error, NothingLeft):
            problem = "The tokens that were left were used up by answers that broke off."
        return Reply("", None, "", self.bill()[-1], problem)

    async def close(self) -> None:
        await self._client.aclose()


@dataclass(frozen=True, slots=True)
class Maker:
    """What a maker's module has made ready."""

    model: MakersModel
    account: Account
    sees: bool
    answer_tokens: int
    """Of one answer, at most, its thinking included."""
    limited: Callable[[int], ModelSettings]
    """The settings with this limit, by all the names that the server may know."""
    spells: Callable[[str], bool] | None = None
    """Hears why a server refused; True when the limit has another name from now on."""
    constrains: bool = False
    """The protocol can hold an answer to a schema; whether this server does is seen when it is asked."""


class HostedModel(RemoteModel):
    """A model that is asked by pydantic-ai."""

    def __init__(
        self, kind: str, name: str, maker: Maker, options: ModelOptions, clock: Clock, client: ModelClient
    ) -> None:
        super().__init__(kind, name, maker.account, clock, client, options.try_ms)
        self.mode: Mode = options.mode or "tools"
        self.sees = maker.sees if options.sees is None else options.sees
        self._maker = maker
        self._stream = options.stream
        self._constrains = maker.constrains

    async def step(self, prompt: Prompt) -> Reply:
        self._client.begin()
        try:
            response, notice = await self._taken(prompt)
        except (TooLong, NothingLeft) as error:
            return self.without_answer(error)
        return replace(self._reply_of(response), notice=notice)

    async def _taken(self, prompt: Prompt) -> tuple[ModelResponse, str]:
        """A server that does not take all of a question is asked without, which the notice says."""
        try:
            return await self._ask(prompt), ""
        except ModelUnavailable as error:
            if self._maker.spells is not None and self._maker.spells(error.message):
                return await self._taken(prompt)
            if not self._is_constrained(prompt) or error.details.get("status") != 400:
                raise
        response = await self._ask(replace(prompt, schema=None))
        self._constrains = False
        return response, f"{self.name} does not take a schema for its answers; they are read as they come."

    def _is_constrained(self, prompt: Prompt) -> bool:
        return self._constrains and self.mode == "text" and prompt.schema is not None

    async def _ask(self, prompt: Prompt) -> ModelResponse:
        messages = [_message(turn, prompt.system, with_image=self.sees) for turn in prompt.turns]
        if self._is_constrained(prompt):
            form = OutputObjectDefinition(dict(prompt.schema or {}), name="answer", strict=False)
            parameters = ModelRequestParameters(output_mode="native", output_object=form)
        else:
            tools = [
                ToolDefinition(
                    name=tool["name"],
                    description=tool["description"],
                    parameters_json_schema=dict(tool["input_schema"]),
                    strict=False,  # the strict kind wants every field required, which doubles a call's tokens
                )
                for tool in (prompt.tools if self.mode == "tools" else ())
            ]
            parameters = ModelRequestParameters(function_tools=tools)
        return await self._retries.ask(lambda: self._once(messages, parameters, prompt.max_tokens))

    async def _once(
        self, messages: list[ModelMessage], parameters: ModelRequestParameters, left: int | None
    ) -> ModelResponse:
        """The libraries trust an answer to have the agreed form; what they trip over is told as one error."""
        room = self._client.room(self._maker.answer_tokens, left)
        settings = self._maker.limited(room)
        try:
            # Libraries warn of what a server wrote. A filter for one call alone would be another call's, too.
            warnings.filterwarnings("ignore", module="pydantic|openai|anthropic")
            model = self._maker.model
            if not self._stream:
                return await model_request(
                    model, messages, model_settings=settings, model_request_parameters=parameters
                )
            async with model_request_stream(
                model, messages, model_settings=settings, model_request_parameters=parameters
            ) as stream:
                async for _ in stream:
                    pass
                return stream.get()
        except IndexError:  # the first of the choices is taken, also where there is none
            return ModelResponse(parts=[])
        except (TypeError, AttributeError, LookupError, ValueError) as error:
            raise UnexpectedModelBehavior(f"the answer has not the agreed form ({error})") from error

    def _reply_of(self, response: ModelResponse) -> Reply:
        """Text beside a call is its thought; a call that a model writes as text is read all the same."""
        text, thinking, calls = "", "", []
        for part in response.parts:
            if isinstance(part, TextPart):
                text += f"\n{part.content}"
            elif isinstance(part, ThinkingPart):
                thinking += f"\n{part.content}"
            elif isinstance(part, ToolCallPart):
                args = part.args
                written = args if isinstance(args, str) else json.dumps(args or {}, ensure_ascii=False)
                calls.append((self.clean(part.tool_name), self.clean(written)))
        text = self.clean(text)
        details = response.provider_details or {}
        refusal = self.clean(str(details.get("refusal") or text or "it gave no reason"))
        reading = _called(calls, text) if calls else _spoken(response.finish_reason, text, refusal, self.mode)
        calls_written = [f'{{"name": {json.dumps(name)}, "arguments": {written}}}' for name, written in calls]
        raw = "\n".join(filter(None, [text, *calls_written]))[:RAW_CHARS]
        reason = (reading.action or {}).get("reason")
        reason = reason if isinstance(reason, str) else ""
        thought = (reading.thought or self.clean(thinking) or reason)[:THOUGHT_CHARS]
        return Reply(thought, reading.action, raw, self.bill()[-1], reading.problem)


def open_hosted(
    kind: str, name: str, options: ModelOptions, *, env: Mapping[str, str], clock: Clock
) -> HostedModel:
    """Raises `ImportError` where the maker's package is not installed."""
    client = open_client(options.try_ms / 1000)
    # Importing a maker takes a second.
    if kind == "openai":
        from handrail_agent.models.openai import make  # noqa: PLC0415
    else:
        from handrail_agent.models.anthropic import make  # noqa: PLC0415
    maker = make(name, options.base_url, env, client)
    return HostedModel(kind, name, maker, options, clock, client)


def _message(turn: PromptTurn, system: str, *, with_image: bool) -> ModelMessage:
    if turn.role == "assistant":
        return ModelResponse(parts=[TextPart(turn.text)])
    content: list[UserContent] = [turn.text]
    if turn.image is not None and with_image:
        kind = "image/jpeg" if turn.image.startswith(_JPEG) else "image/png"
        content.append(BinaryContent(turn.image, media_type=kind))
    return ModelRequest(parts=[UserPromptPart(content)], instructions=system)


RAW_CHARS = 20_000
"""What a run's record keeps of one answer."""
THOUGHT_CHARS = 2_000
_CALLS = "Answer with one tool call."
_WRITES = "Answer with one JSON object."


def _called(calls: list[tuple[str, str]], text: str) -> FoundAction:
    name, written = calls[0][0][:60], calls[0][1]
    try:
        arguments = from_json(written.strip() or "{}", allow_inf_nan=False)
    except (ValueError, TypeError) as error:
        return FoundAction(text, None, f"The arguments of {name} are not valid JSON: {error}. {_CALLS}")
    if not isinstance(arguments, dict):
        return FoundAction(text, None, f"The arguments of {name} are not a JSON object. {_CALLS}")
    # Many models write null for what they leave out.
    fields = {key: value for key, value in arguments.items() if key != "type" and value is not None}
    action = {"type": kind_of(name), **fields}
    several = f"{len(calls)} tools were called; only the first, {name}, was taken." if len(calls) > 1 else ""
    return FoundAction(text, action, several)


def _spoken(finish: FinishReason | None, text: str, refusal: str, mode: Mode) -> FoundAction:
    again = _CALLS if mode == "tools" else _WRITES
    cut = finish == "length"
    if finish == "content_filter":
        return FoundAction(text, None, f"The model refused: {refusal[:500]}")
    if not text:
        why = "The answer was cut off before it said anything." if cut else "The answer was empty."
        return FoundAction("", None, f"{why} {again}")
    reading = read_text(text)
    if reading.action is None and cut:
        return FoundAction(
            reading.thought, None, f"The answer was cut off before its action was complete. {again}"
        )
    if reading.action is None:
        return FoundAction(reading.thought, None, f"{reading.problem} {again}")
    return reading


def usage_of(response: ModelResponse, *, is_priced: bool) -> Usage:
    """`is_priced` is false for a server whose prices are its own."""
    used, dollars = response.usage, None
    if is_priced and response.model_name and used.has_values():
        with suppress(LookupError, ValueError):  # no such model in the list, or an answer without its usage
            dollars = float(response.cost().total_price)
    return Usage(used.input_tokens, used.output_tokens, dollars)


def priced(sent: HttpTry, kind: str, name: str, *, is_priced: bool) -> Usage:
    """The bill of one request, also of one that broke off."""
    count = sent.counted()
    used = RequestUsage(
        input_tokens=count.read,
        output_tokens=count.written,
        cache_read_tokens=count.from_cache,
        cache_write_tokens=count.to_cache,
    )
    answer = ModelResponse(parts=[], usage=used, model_name=count.model or name, provider_name=kind)
    return replace(usage_of(answer, is_priced=is_priced), is_estimate=count.is_estimate)

"""A model behind HTTP: a prompt as the maker's messages, one request at a time, its response as a `Reply`.

Which maker it is, is the business of `openai.py` and `anthropic.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from httpx2 import AsyncClient
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.exceptions import UnexpectedModelBehavior
from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    UserContent,
    UserPromptPart,
)
from pydantic_ai.models import Model as MakersModel
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from handrail.agent.model import Mode, Prompt, Reply, Turn
from handrail.agent.models.address import place_of
from handrail.agent.models.answer import reply_of
from handrail.agent.models.pricing import usage_of
from handrail.agent.models.tries import TRY_MS, Patience
from handrail.agent.models.wire import MAX_BYTES, TooLong, open_client
from handrail.agent.models.wishes import Wishes
from handrail.clock import Clock

_JPEG = b"\xff\xd8"


@dataclass(frozen=True, slots=True)
class Maker:
    """What a maker's module has made ready."""

    model: MakersModel
    base_url: str
    key: str = field(repr=False)
    settings: ModelSettings
    sees: bool
    is_priced: bool


Make = Callable[[str, str | None, Mapping[str, str], AsyncClient], Maker]
"""Of a model's name, the base URL that was asked for, the environment and the client."""


class HostedModel:
    """One model of one maker."""

    def __init__(
        self, name: str, maker: Maker, wishes: Wishes, patience: Patience, client: AsyncClient
    ) -> None:
        self.name = name
        self.mode: Mode = wishes.mode or "tools"
        self.sees = maker.sees if wishes.sees is None else wishes.sees
        self._maker = maker
        self._stream = wishes.stream
        self._patience = patience
        self._client = client

    async def step(self, prompt: Prompt) -> Reply:
        messages = [_message(turn, prompt.system, with_image=self.sees) for turn in prompt.turns]
        parameters = ModelRequestParameters(function_tools=_tools(prompt) if self.mode == "tools" else [])
        try:
            response = await self._patience.ask(lambda: self._once(messages, parameters))
        except TooLong:
            return Reply("", None, "", problem=f"The answer was longer than {MAX_BYTES:,} bytes. Be brief.")
        usage = usage_of(response, is_priced=self._maker.is_priced)
        return reply_of(response, self.mode, self._patience.redact, usage)

    async def _once(self, messages: list[ModelMessage], parameters: ModelRequestParameters) -> ModelResponse:
        """The libraries trust an answer to have the agreed form; what they trip over is told as one error."""
        try:
            return await self._request(messages, parameters)
        except IndexError:  # the first of the choices is taken, also where there is none
            return ModelResponse(parts=[])
        except (TypeError, AttributeError, LookupError, ValueError) as error:
            raise UnexpectedModelBehavior(f"the answer has not the agreed form ({error})") from error

    async def _request(
        self, messages: list[ModelMessage], parameters: ModelRequestParameters
    ) -> ModelResponse:
        model, settings = self._maker.model, self._maker.settings
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

    async def close(self) -> None:
        await self._client.aclose()


def open_hosted(kind: str, name: str, wishes: Wishes, *, env: Mapping[str, str], clock: Clock) -> HostedModel:
    """Raises `ImportError` where the maker's package is not installed."""
    client = open_client(TRY_MS / 1000)
    maker = _make(kind)(name, wishes.base_url, env, client)
    full_name = f"{kind}:{name}"
    patience = Patience(full_name, place_of(maker.base_url), maker.key, clock)
    return HostedModel(full_name, maker, wishes, patience, client)


def _make(kind: str) -> Make:
    """Each of them is a second of imports."""
    if kind == "openai":
        from handrail.agent.models.openai import make  # noqa: PLC0415
    else:
        from handrail.agent.models.anthropic import make  # noqa: PLC0415
    return make


def _tools(prompt: Prompt) -> list[ToolDefinition]:
    return [
        ToolDefinition(
            name=tool["name"],
            description=tool["description"],
            parameters_json_schema=dict(tool["input_schema"]),
            strict=False,  # the strict kind wants every field required, which doubles the tokens of a call
        )
        for tool in prompt.tools
    ]


def _message(turn: Turn, system: str, *, with_image: bool) -> ModelMessage:
    if turn.role == "assistant":
        return ModelResponse(parts=[TextPart(turn.text)])
    content: list[UserContent] = [turn.text]
    if turn.image is not None and with_image:
        kind = "image/jpeg" if turn.image.startswith(_JPEG) else "image/png"
        content.append(BinaryContent(turn.image, media_type=kind))
    return ModelRequest(parts=[UserPromptPart(content)], instructions=system)

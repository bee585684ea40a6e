"""One question to a server that may be busy, broken or silent: how often, after which pauses, or why not.

Time is the `Clock`'s. What the server says is told shortly and without the key.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

from pydantic_ai.exceptions import (
    AgentRunError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRequestRejectedError,
)

from handrail.agent.models.http_client import TooLong
from handrail.clock import Clock
from handrail.errors import ModelUnavailable, Timeout
from handrail.waiting import within

T = TypeVar("T")

TRIES = 4
FIRST_PAUSE_MS = 1_000.0
"""Before the second try; doubled before every further one."""
LONGEST_WAIT_MS = 120_000.0
"""A server that asks for more patience than this is not waited for."""
JITTER = 0.25
"""The share of a pause that chance adds, so that many agents do not come back at the same moment."""
_MESSAGE_CHARS = 300
_SECRET_CHARS = 12
"""Shorter keys are words that local servers are content with, such as "none"."""


@dataclass(slots=True)
class RetryPolicy:
    """How questions to one model are repeated. Its key is never told."""

    name: str
    place: str
    key: str = field(repr=False)
    clock: Clock
    try_ms: float
    chance: random.Random = field(default_factory=random.Random)

    async def ask(self, once: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Raises `TooLong`, which asking the model again may help, or `ModelUnavailable`."""
        for number in range(1, TRIES + 1):
            try:
                return await within(self.clock, self.try_ms, once())
            except (AgentRunError, Timeout, TooLong) as error:
                pause_ms = self._pause(error, number)
            await self.clock.sleep_ms(pause_ms)
        raise AssertionError("the last try ends in an answer or an error")

    def _pause(self, error: Exception, number: int) -> float:
        """Milliseconds until the next try; raises where there is none."""
        if _is_too_long(error):
            raise TooLong from None
        asked_ms = retry_after_ms(error, self.clock.now_ms())
        if not is_passing(error) or number == TRIES or (asked_ms or 0) > LONGEST_WAIT_MS:
            status = _status(error)
            what = self._what(error, status)
            often = f" ({number} tries)" if number > 1 else ""
            details: dict[str, Any] = {"model": self.name, "tries": number}
            details |= {"status": status} if status else {}
            details |= {"retry_after_ms": round(asked_ms)} if asked_ms else {}
            raise ModelUnavailable(
                f"{self.name} at {self.place} {what}{often}",
                hint=_hint(error),
                retryable=is_passing(error),
                **details,
            ) from None
        pause_ms = FIRST_PAUSE_MS * 2 ** (number - 1) if asked_ms is None else asked_ms
        return pause_ms * (1 + JITTER * self.chance.random())

    def _what(self, error: Exception, status: int | None) -> str:
        if isinstance(error, Timeout):
            return f"did not answer within {self.try_ms / 1000:g} s"
        body = error.body if isinstance(error, ModelAPIError) else None
        if isinstance(body, dict):
            inner = body.get("error", body)
            body = inner.get("message") if isinstance(inner, dict) else inner
        text = body if isinstance(body, str) and body.strip() else str(error).partition("\n")[0]
        message = self.redact(" ".join(text.split()) or type(error).__name__)[:_MESSAGE_CHARS]
        return f"answered {status}: {message}" if status else f"gave no answer: {message}"

    def redact(self, text: str) -> str:
        """Servers repeat a wrong key in their error, and could in an answer."""
        return text.replace(self.key, "•••") if len(self.key) >= _SECRET_CHARS else text


def is_passing(error: Exception) -> bool:
    """What a later try may not meet: a busy or broken server, a lost connection, a body that is no answer."""
    if isinstance(error, ModelQuotaExceededError | ModelRequestRejectedError):
        return False
    status = _status(error)
    return status is None or status in (408, 409, 425, 429) or status >= 500


def retry_after_ms(error: Exception, now_ms: int) -> float | None:
    """What the server asked for, in seconds or as a date; None where it asked for nothing readable."""
    headers = (error.headers if isinstance(error, ModelHTTPError) else None) or {}
    header = headers.get("retry-after", "").strip()
    exactly = _number(headers.get("retry-after-ms", ""))  # OpenAI's own
    seconds = _number(header)
    if exactly is not None or seconds is None:
        return _until(header, now_ms) if exactly is None else exactly
    return seconds * 1000


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return max(0.0, number) if math.isfinite(number) else None


def _until(date: str, now_ms: int) -> float | None:
    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() * 1000 - now_ms)
    except (ValueError, OverflowError):
        return None


def _status(error: Exception) -> int | None:
    """The library has no class for redirects; the SDK's own error below it has the number."""
    status = getattr(error if isinstance(error, ModelHTTPError) else error.__cause__, "status_code", None)
    return status if isinstance(status, int) else None


def _is_too_long(error: BaseException | None) -> bool:
    """The SDKs wrap what happens while they read."""
    while error is not None and not isinstance(error, TooLong):
        error = error.__cause__ or error.__context__
    return error is not None


def _hint(error: Exception) -> str | None:
    if isinstance(error, ModelQuotaExceededError):
        return "The account's quota is used up: top it up or use another model, then resume the run."
    if isinstance(error, ModelAuthenticationError):
        return "Check the key in OPENAI_API_KEY or ANTHROPIC_API_KEY, then resume the run."
    if isinstance(error, ModelNotFoundError):
        return "Check the model's name and the base URL; most end in /v1."
    if isinstance(error, ModelContextWindowExceededError):
        return "The model's context is too small for this screen: use another model."
    if isinstance(error, ModelRequestRejectedError) and "tool" in str(error).lower():
        return "The model may not take tools: use --text."
    if _status(error) in range(300, 400):
        return "Nothing is sent on to another address: give the one that it redirects to."
    if is_passing(error):
        return "See that the server runs and is not too busy, then resume the run."
    return None

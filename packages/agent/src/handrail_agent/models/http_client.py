"""The HTTP client of hosted models: it follows no redirect, keeps a tally of what was sent and came back, and
stops reading an answer that is longer than it may be. `RetryPolicy` says how often a server that is busy,
broken or silent is asked, after which pauses, or why not.

A redirect would carry the key to a host that nobody chose. What the server says is told shortly and without
the key.
"""

from __future__ import annotations

import json
import math
import random
import re
import ssl
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any, TypeVar
from urllib.parse import urlsplit

from httpx2 import (
    AsyncByteStream,
    AsyncClient,
    ConnectError,
    ConnectTimeout,
    Request,
    Response,
    Timeout,
    create_ssl_context,
)
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
from pydantic_core import from_json

from handrail.clock import Clock
from handrail.errors import InvalidAction, ModelUnavailable
from handrail.errors import Timeout as TriedTooLong
from handrail.waiting import within
from handrail_agent.model import LETTERS, PICTURE_TOKENS

T = TypeVar("T")

_MIN_LETTERS_OUT, _MIN_LETTERS_IN = 16, 64
"""A server that counts fewer tokens than one for so many letters has not counted. Its template may cut what
it is sent, so the second is less strict."""

MAX_BYTES = 2_000_000
"""Of one answer, its wrapping included. One action with its thought is a few thousand."""
CONNECT_SEC = 10.0
_UNPACKED = 30
"""What a compressed byte may stand for. None was asked for, but a server may compress all the same."""
_TRY = "handrail_try"


class TooLong(Exception):
    """The answer is longer than it may be."""


class NothingLeft(Exception):
    """The budget was used up by the tries before."""


class ModelClient(AsyncClient):
    """Every request of every maker goes through `send`. One question is asked at a time."""

    def __init__(self, **how: Any) -> None:
        super().__init__(**how)
        self.tries: list[HttpTry] = []
        """Since the question was begun."""
        self.most_tokens = 0
        """What the next answer may use."""

    def begin(self) -> None:
        self.tries = []

    def room(self, most: int, left: int | None) -> int:
        """What the next answer may use; `left` is what the whole question may cost. Raises `NothingLeft`."""
        spent = sum(count.read + count.written for count in (attempt.counted() for attempt in self.tries))
        self.most_tokens = most if left is None else min(most, left - spent)
        if self.most_tokens <= 0:
            raise NothingLeft
        return self.most_tokens

    async def send(self, request: Request, **how: Any) -> Response:
        sent = HttpTry(request.content, self.most_tokens)
        request.extensions[_TRY] = sent
        self.tries.append(sent)
        try:
            return await super().send(request, **how)
        except (ConnectError, ConnectTimeout):  # nobody has heard it
            self.tries.remove(sent)
            raise


class _Bounded(AsyncByteStream):
    """A body that ends in `TooLong`; `left` bytes may come at most."""

    def __init__(self, body: AsyncByteStream, left: int, sent: HttpTry) -> None:
        self._body = body
        self._left = left
        self._sent = sent

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._body:
            self._left -= len(chunk)
            self._sent.body += chunk
            if self._left < 0 or self._sent.is_too_long():
                raise TooLong(f"{len(self._sent.body):,} bytes came for {self._sent.most_tokens:,} tokens")
            yield chunk

    async def aclose(self) -> None:
        await self._body.aclose()


async def _bound(response: Response) -> None:
    packed = response.headers.get("content-encoding", "identity").lower() != "identity"
    sent: HttpTry = response.request.extensions[_TRY]
    sent.status = response.status_code
    sent.is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
    if isinstance(response.stream, AsyncByteStream):
        response.stream = _Bounded(response.stream, MAX_BYTES // (_UNPACKED if packed else 1), sent)


def open_client(timeout_sec: float) -> ModelClient:
    """A hook bounds the body: a transport of our own would switch off the user's proxies."""
    return ModelClient(
        verify=_certificates(),
        timeout=Timeout(timeout_sec, connect=CONNECT_SEC),
        headers={"Accept-Encoding": "identity"},
        event_hooks={"response": [_bound]},
    )


@cache
def _certificates() -> ssl.SSLContext:
    """Reading them takes 40 ms, and an evaluation opens a model for every task."""
    return create_ssl_context()


HOMES = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}
_LOCAL = {"openai": ", or give a local server with --base-url", "anthropic": ""}


@dataclass(frozen=True, slots=True)
class Account:
    """An address and what opens it. The key is never told."""

    place: str
    key: str = field(repr=False)
    is_home: bool
    """False: neither the model's talents nor its prices are those of its namesake at the maker's."""


def account_of(kind: str, base_url: str | None, env: Mapping[str, str]) -> Account:
    """Raises `InvalidAction` for an address that is none, and at home without a key."""
    name = f"{kind.upper()}_API_KEY"
    key = env.get(name, "").strip()
    place = checked(base_url or env.get(f"{kind.upper()}_BASE_URL", "").strip() or HOMES[kind])
    is_home = place.rstrip("/") == HOMES[kind]
    if is_home and not key:
        raise InvalidAction(f"{name} is not set", path=name, hint=f"Set {name}{_LOCAL[kind]}.")
    return Account(place, key, is_home)


def checked(url: str) -> str:
    """The same URL; `InvalidAction` for what is none. It is not repeated: a password may stand in it."""
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address:
        raise InvalidAction(
            "base_url: is not an address", path="base_url", hint="Such as http://127.0.0.1:11434/v1."
        )
    return url


def place_of(url: str) -> str:
    """Without a user, a password or a query."""
    parts = urlsplit(url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{host}{port}{parts.path.rstrip('/')}"


FRAME_BYTES = 8_192
"""What an answer has around its words; what it repeats of the question comes on top."""
TOKEN_BYTES = 24
"""The most that a token's share of an answer takes: four letters, each written as `\\uXXXX`."""
EVENT_BYTES = 1_000
"""The same in a stream, where every token has an event of its own."""
TOKEN_LETTERS = 8
"""A stream that has said more letters for each token that it may use does not keep to its limit."""
SLACK_LETTERS = 500
_TEMPLATE_TOKENS = 2_000
_PICTURE_MOST = 20_000
_WORDS = frozenset(("arguments", "content", "delta", "partial_json", "refusal", "text", "thinking")) | {
    "reasoning",
    "reasoning_content",
}
_CALLS = frozenset(("input", "action", "actions"))
_IN = ("prompt_tokens", "input_tokens")
_OUT = ("completion_tokens", "output_tokens")
_CACHE = ("cache_creation_input_tokens", "cache_read_input_tokens")
"""Anthropic's alone: what its `input_tokens` leaves out."""
_FRAMING = (b"", b"data", b"event", b"id", b"retry")
"""What lines of a stream begin with; a comment has no name."""
_PICTURE = re.compile(rb'"(?:data:image/[^"]*|[A-Za-z0-9+/=]{1000,})"')


@dataclass(frozen=True, slots=True)
class TokenCount:
    """Tokens of one request."""

    read: int = 0
    written: int = 0
    from_cache: int = 0
    to_cache: int = 0
    is_estimate: bool = False
    model: str = ""
    """Who answered, where that is reported."""


@dataclass(slots=True)
class _Content:
    letters: int = 0
    reported: dict[str, int] = field(default_factory=dict)
    model: str = ""

    def add(self, more: _Content) -> None:
        """A later event of the same answer: its counts are sums so far."""
        self.letters += more.letters
        self.model = self.model or more.model
        for name, count in more.reported.items():
            self.reported[name] = max(count, self.reported.get(name, 0))


@dataclass(slots=True)
class HttpTry:
    """One request that was sent, and what has come back so far."""

    sent: bytes
    most_tokens: int
    """What the answer may use."""
    status: int | None = None
    is_stream: bool = False
    body: bytearray = field(default_factory=bytearray)
    _letters: int = 0
    _pictures: int = 0
    _read: int = 0
    _content: _Content = field(default_factory=_Content)

    def __post_init__(self) -> None:
        plain, self._pictures = _PICTURE.subn(b"", self.sent)
        self._letters = len(plain)

    def is_too_long(self) -> bool:
        """Whether more has come than a server sends that keeps to its limit."""
        each = EVENT_BYTES if self.is_stream else TOKEN_BYTES
        if len(self.body) > FRAME_BYTES + 2 * self._letters + each * self.most_tokens:
            return True
        return (
            self.is_stream and self._read_content().letters > SLACK_LETTERS + TOKEN_LETTERS * self.most_tokens
        )

    def counted(self) -> TokenCount:
        """The server's count, or an estimate. A refused request costs what the refusal says."""
        content, refused = self._read_content(), self.status is not None and self.status >= 300
        counts = content.reported
        most_in = self._letters + self._pictures * _PICTURE_MOST + _TEMPLATE_TOKENS
        is_in = 0 < counts.get("in", 0) <= most_in and counts["in"] * _MIN_LETTERS_IN >= self._letters
        most_out = max(self.most_tokens, content.letters)
        is_out = (
            0 <= counts.get("out", -1) <= most_out and counts["out"] * _MIN_LETTERS_OUT >= content.letters
        )
        about_in = 0 if refused else self._letters // LETTERS + self._pictures * PICTURE_TOKENS
        about_out = 0 if refused else -(-content.letters // LETTERS)
        return TokenCount(
            counts["in"] if is_in else about_in,
            counts["out"] if is_out else about_out,
            counts.get("read", 0) if is_in else 0,
            counts.get("written", 0) if is_in else 0,
            is_estimate=not refused and not (is_in and is_out),
            model=content.model,
        )

    def _read_content(self) -> _Content:
        """All that the body says so far; a stream's finished lines are read once."""
        if not self.is_stream:
            return _json_content(bytes(self.body)) if self.body else _Content()
        end = self.body.rfind(b"\n") + 1
        for line in bytes(self.body[self._read : end]).splitlines():
            self._content.add(_line_content(line))
        self._read = end
        content = _line_content(bytes(self.body[end:]))
        content.add(self._content)
        return content


def _line_content(line: bytes) -> _Content:
    """One line of a stream, or the beginning of one."""
    name, _, value = line.partition(b":")
    if name == b"data" and value.strip() != b"[DONE]":
        return _json_content(value)
    return _Content() if name in _FRAMING else _Content(letters=len(line))


def _json_content(data: bytes) -> _Content:
    """The words and the bill in one JSON value, also in the beginning of one; of anything else its size."""
    try:
        value = from_json(data, allow_partial="trailing-strings")
    except ValueError:
        return _Content(letters=len(data))
    content = _Content()
    for name, inner in _fields(value):
        if name == "usage" and isinstance(inner, dict):
            content.add(_Content(reported=_reported(inner)))
        elif name == "model" and isinstance(inner, str):
            content.model = content.model or inner
        elif isinstance(inner, str) and name in _WORDS:
            content.letters += len(inner.encode(errors="replace"))
        elif name in _CALLS and inner:
            content.letters += len(json.dumps(inner, ensure_ascii=False, default=str))
    is_answer = isinstance(value, dict) and bool(content.letters or content.reported or "choices" in value)
    # Anthropic's streams have events that say nothing.
    is_event = isinstance(value, dict) and isinstance(value.get("type"), str) and "error" not in value
    return content if is_answer or is_event else _Content(letters=len(data))


def _fields(value: Any) -> Iterator[tuple[str, Any]]:
    """Of every object in it. Usage is a leaf: its parts are told apart by whoever reads it."""
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting += node
        elif isinstance(node, dict):
            yield from node.items()
            waiting += [inner for name, inner in node.items() if name != "usage" and name not in _CALLS]


def _reported(usage: dict[str, Any]) -> dict[str, int]:
    """Fractions, texts and negative numbers are left out."""

    def number(*names: str) -> int | None:
        counts = [usage[name] for name in names if isinstance(usage.get(name), int)]
        return next((count for count in counts if not isinstance(count, bool) and count >= 0), None)

    written, read = (number(name) or 0 for name in _CACHE)
    details = usage.get("prompt_tokens_details") or usage.get("input_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    counts = {"in": number(*_IN), "out": number(*_OUT)}
    reported = {name: count for name, count in counts.items() if count is not None}
    if "in" in reported:
        reported["in"] += written + read
        reported["read"] = cached if isinstance(cached, int) and cached > 0 else read
        reported["written"] = written
    return reported


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
            except (AgentRunError, TriedTooLong, TooLong) as error:
                pause_ms = self._pause(error, number)
            await self.clock.sleep_ms(pause_ms)
        raise AssertionError("the last try ends in an answer or an error")

    def _pause(self, error: Exception, number: int) -> float:
        """Milliseconds until the next try; raises where there is none."""
        cause: BaseException | None = error
        while cause is not None:  # the SDKs wrap what happens while they read
            if isinstance(cause, TooLong):
                raise TooLong from None
            cause = cause.__cause__ or cause.__context__
        asked_ms = retry_after_ms(error, self.clock.now_ms())
        if not is_passing(error) or number == TRIES or (asked_ms or 0) > LONGEST_WAIT_MS:
            status = _status(error)
            what = self._failure_text(error, status)
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

    def _failure_text(self, error: Exception, status: int | None) -> str:
        if isinstance(error, TriedTooLong):
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
    if exactly is not None:
        return exactly
    if (seconds := _number(header)) is not None:
        return seconds * 1000
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() * 1000 - now_ms)
    except (ValueError, OverflowError):
        return None


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return max(0.0, number) if math.isfinite(number) else None


def _status(error: Exception) -> int | None:
    """The library has no class for redirects; the SDK's own error below it has the number."""
    status = getattr(error if isinstance(error, ModelHTTPError) else error.__cause__, "status_code", None)
    return status if isinstance(status, int) else None


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

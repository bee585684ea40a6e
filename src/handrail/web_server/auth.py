"""Who may send a request: Host and Origin rules, page logins, tokens of programs, the owner's key, tickets.

A login link becomes a token that the page itself keeps and sends. Nothing that a browser adds by itself is
read: no cookie, no basic authentication, no query. Logins live in this process and end with it. Secrets are
compared in constant time, and an address that guesses often has to wait. `HttpGuard` applies all of it
before any route.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import math
import re
import secrets
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from ipaddress import ip_address
from typing import Any, Literal
from urllib.parse import unquote

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from handrail.bind import host_headers_at, is_loopback
from handrail.clock import Clock
from handrail.engine.events import read_traceparent, within_trace
from handrail.errors import ActionRejected
from handrail.protocol.read import MAX_BYTES
from handrail.safety.caller import LONGEST_PATIENCE_MS, PATIENCE_MS, Caller, Door
from handrail.web_server.responses import HttpRefusal, add_security_headers, refusal_response

OPEN = frozenset({"/", "/login", "/approve", "/worker.js", "/api/login", "/healthz", "/favicon.ico"})
"""Paths that need no login; the page tells strangers how to get one."""
OPEN_UNDER = "/static/"
SAFE = frozenset({"GET", "HEAD"})
"""Methods that change nothing. A WebSocket counts as one that does."""
MOST_LINKS = 20
"""Unused login links, unused tickets, pages that are logged in, addresses with wrong guesses: the oldest of
each is forgotten first."""
MOST_TICKETS = 200
MOST_LOGINS = 1_000
MOST_ADDRESSES = 1_000
MOST_GUESSES = 10  # wrong secrets of one address in one window
GUESS_WINDOW_MS = 60_000.0
TICKET_PATH = "/ticket/"
TICKET_LIFE_MS = 60_000.0
PAGE_HEADER = "handrail-page"
"""Carries a page's token. A browser sends it only if a script of our own page asks it to."""
AGENT_HEADER = "handrail-agent"
WAIT_HEADER = "handrail-wait"
"""Milliseconds that a program waits in line for a phone that a person has taken over."""
LONGEST_NAME = 60
PROGRAM = "http"
APP_NAME = r"[a-z0-9][a-z0-9_-]{0,39}"
_SEALED_PATH = re.compile(rf"(/apps/({APP_NAME})~[\w-]{{43}})/.+", re.ASCII)
_HOST = re.compile(r"[\w.-]+(:\d{1,5})?|\[[\da-fA-F:.]+\](:\d{1,5})?", re.ASCII)

NOBODY = HttpRefusal(
    401, "NOT_LOGGED_IN", "This needs a login or a token.", "`handrail desk link` prints a link that logs in."
)
_WRONG_TOKEN = HttpRefusal(401, "WRONG_TOKEN", "This token is not known here.", NOBODY.hint)
LOGIN_OVER = HttpRefusal(
    401, "LOGIN_OVER", "This page's login is not known here: the server was started anew.", NOBODY.hint
)
_USED_LINK = HttpRefusal(
    401, "LINK_NOT_VALID", "This link was used already, is too old, or is of an earlier run.", NOBODY.hint
)
_USED_TICKET = HttpRefusal(
    410, "ADDRESS_USED", "This address worked once, and for a minute at most.", "Open it from the desk again."
)
_FOREIGN_HOST = HttpRefusal(
    421, "HOST_NOT_SERVED", "This host is not served here.", "Use the address that `handrail serve` printed."
)
_FOREIGN_ORIGIN = HttpRefusal(
    403, "ORIGIN_NOT_ALLOWED", "Pages of other sites may not come in.", "Open the desk's own page."
)
_NO_ORIGIN = HttpRefusal(
    403, "ORIGIN_NOT_ALLOWED", "A page's request has to say its Origin.", "Programs send a bearer token."
)
_NOT_JSON = HttpRefusal(
    415, "NOT_JSON", "Only application/json is read.", "Set Content-Type: application/json."
)
_COMPRESSED = HttpRefusal(415, "NOT_JSON", "Compressed bodies are not read.", "Send the JSON as it is.")
_TOO_LARGE = HttpRefusal(
    413, "TOO_LARGE", f"At most {MAX_BYTES:,} bytes are read.", "Send less, or in several requests."
)


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who sends a request: a logged-in person, or a program with a token."""

    role: Literal["person", "program"]
    name: str
    is_remote: bool = False
    page: str = ""
    """Hash of the token of the page that a person uses; '' for the owner's own programs."""
    patience_ms: float = PATIENCE_MS
    """How long a program waits in line for a phone that a person has taken over."""

    @classmethod
    def person(cls, is_remote: bool, page: str = "") -> Visitor:
        """The owner of this home, under their login name: only the owner can log in."""
        return cls("person", _owner_as_caller().id, is_remote, page)

    @property
    def is_person(self) -> bool:
        return self.role == "person"

    def caller(self, door: Door = "http") -> Caller:
        if self.is_person:
            return replace(_owner_as_caller(), is_remote=self.is_remote, page=self.page)
        return Caller(self.name, "agent", door, is_remote=self.is_remote, patience_ms=self.patience_ms)

    def must_be_person(self, what: str) -> None:
        """Raises `ActionRejected` for a program: no agent may approve its own action."""
        if not self.is_person:
            raise ActionRejected(
                f"{what} is for people; {self.name!r} came with a program's token",
                hint="Open the desk in a browser, or use `handrail approve` in a terminal.",
            )


def _owner_as_caller() -> Caller:
    return replace(Caller.at_terminal(), door="desk", terminal=None)


def clean_agent_name(text: str | None) -> str | None:
    """The name that a program gives itself, without control characters; it proves nothing."""
    return "".join(char for char in text or "" if char.isprintable()).strip()[:LONGEST_NAME] or None


def read_patience_ms(text: str | None) -> float:
    """The header's number of milliseconds, bounded; the default where it is not a number."""
    if text is None or not text.isascii() or not text.isdecimal() or len(text) > 9:
        return PATIENCE_MS
    return min(float(text), LONGEST_PATIENCE_MS)


def token_hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "backslashreplace")).hexdigest()


def sealed_app_path(name: str, seal_key: bytes) -> str:
    """The path of a user's app, with the seal that opens it."""
    digest = hmac.digest(seal_key, f"app {name}".encode(), hashlib.sha256)
    return f"/apps/{name}~{base64.urlsafe_b64encode(digest).decode().rstrip('=')}"


def is_app_file(path: str, seal_key: bytes) -> bool:
    match = _SEALED_PATH.fullmatch(path)
    return match is not None and hmac.compare_digest(match[1], sealed_app_path(match[2], seal_key))


def _is_same_secret(secret: str, other: str) -> bool:
    return hmac.compare_digest(secret.encode("utf-8", "backslashreplace"), other.encode())


def _keep_newest(entries: dict[str, Any], most: int) -> None:
    while len(entries) > most:
        del entries[next(iter(entries))]


class HttpAuth:
    """Checks the secrets that requests bring. Random ones are made where they are left out."""

    def __init__(self, clock: Clock, token: str | None = None, key: str | None = None) -> None:
        self.token = token or secrets.token_urlsafe(32)
        """Lets a program act."""
        self.key = key or secrets.token_urlsafe(32)
        """The owner's: allows what a person may do."""
        self.logins = Logins()
        self.tickets = Tickets(clock)
        self.seal_key = secrets.token_bytes(32)
        """Seals paths of desk apps; another process has another one."""
        self.tunnel: str | None = None
        """The host of a tunnel: its requests come from another machine, whatever their address."""
        self._clock = clock
        self._guesses = WrongGuesses(clock)
        self._codes: dict[str, float] = {}
        """Unused login codes, each with the moment at which it expires."""

    def link_code(self, life_ms: float = math.inf) -> str:
        """For `/login#code=…`: good for one page, once. No browser sends it to any server by itself."""
        code = secrets.token_urlsafe(32)
        self._codes[code] = self._clock.monotonic_ms() + life_ms
        _keep_newest(self._codes, MOST_LINKS)
        return code

    def log_in(self, code: str, host: str, address: str) -> str | HttpRefusal:
        """A page's token for an unused code; good at this host only."""
        now = self._clock.monotonic_ms()
        self._codes = {waiting: until for waiting, until in self._codes.items() if until > now}
        matches = [waiting for waiting in self._codes if _is_same_secret(waiting, code)]
        if not matches:
            return self._wrong(address, _USED_LINK)
        del self._codes[matches[0]]
        return self.logins.begin(host)

    def visitor(self, headers: Headers, address: str) -> Visitor | HttpRefusal | None:
        """Returns None if the request has no credentials. A wrong bearer token counts as a guess; an
        expired page token does not."""
        authorization = headers.get("authorization")
        if authorization is not None:
            return self._visitor_by_bearer(authorization, headers, address)
        token = headers.get(PAGE_HEADER)
        return None if token is None else self.visitor_of_page(token, headers, address)

    def visitor_of_page(self, token: str, headers: Headers, address: str) -> Visitor | HttpRefusal:
        if self.logins.knows(token, headers.get("host", "")):
            return Visitor.person(self._is_remote(headers, address), token_hash(token))
        return LOGIN_OVER

    def _is_remote(self, headers: Headers, address: str) -> bool:
        """A proxy's requests come from this machine only by their address. An unknown address is remote."""
        if "x-forwarded-for" in headers or "forwarded" in headers:
            return True
        if self.tunnel is not None and headers.get("host") == self.tunnel:
            return True
        try:
            return not ip_address(address).is_loopback
        except ValueError:
            return True

    def _visitor_by_bearer(self, authorization: str, headers: Headers, address: str) -> Visitor | HttpRefusal:
        scheme, _, token = authorization.partition(" ")
        is_owner = _is_same_secret(token.strip(), self.key)
        is_program = _is_same_secret(token.strip(), self.token)
        if scheme.lower() != "bearer" or not (is_owner or is_program):
            return self._wrong(address, _WRONG_TOKEN)
        name, is_remote = clean_agent_name(headers.get(AGENT_HEADER)), self._is_remote(headers, address)
        if is_owner and name is None:
            return Visitor.person(is_remote)
        patience_ms = read_patience_ms(headers.get(WAIT_HEADER))
        return Visitor("program", name or PROGRAM, is_remote, patience_ms=patience_ms)

    def _wrong(self, address: str, refusal: HttpRefusal) -> HttpRefusal:
        """Counts a wrong secret of an address. Only wrong secrets are refused after too many of them: the
        accounts of a machine share its address, and whoever has the right secret is let in."""
        wait_ms = self._guesses.wait_ms(address)
        if wait_ms <= 0:
            self._guesses.add(address)
            return refusal
        hint = f"Try again in {wait_ms / 1000:.0f} seconds."
        return HttpRefusal(429, "TOO_MANY_GUESSES", "Too many wrong tokens came from this address.", hint)


class WrongGuesses:
    """Counts wrong secrets of each client address."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._wrong: dict[str, deque[float]] = {}

    def wait_ms(self, address: str) -> float:
        """How long wrong secrets of this address are answered with 429; 0 or less: not at all."""
        recent = self._recent(address)
        if len(recent) < MOST_GUESSES:
            return 0.0
        return recent[0] + GUESS_WINDOW_MS - self._clock.monotonic_ms()

    def add(self, address: str) -> None:
        recent = self._recent(address)
        recent.append(self._clock.monotonic_ms())
        self._wrong.pop(address, None)
        self._wrong[address] = recent
        _keep_newest(self._wrong, MOST_ADDRESSES)

    def _recent(self, address: str) -> deque[float]:
        recent = self._wrong.get(address) or deque(maxlen=MOST_GUESSES)
        while recent and recent[0] + GUESS_WINDOW_MS <= self._clock.monotonic_ms():
            recent.popleft()
        return recent


class Logins:
    """Hashes of pages' tokens, each with the host that it was given to. Nothing of them is ever stored."""

    def __init__(self) -> None:
        self._hosts: dict[str, str] = {}
        self.is_permanent: Callable[[str, str], bool] = lambda login, host: False  # noqa: ARG005
        """Whether this login, by its hash, lasts at this host: devices with push notifications stay in."""

    def begin(self, host: str) -> str:
        token = secrets.token_urlsafe(32)
        self._hosts[token_hash(token)] = host
        _keep_newest(self._hosts, MOST_LOGINS)
        return token

    def knows(self, token: str, host: str) -> bool:
        """Whether this page is logged in at this host. Tokens are looked up by hash, so that timing reveals
        nothing."""
        login = token_hash(token)
        return bool(host) and (self._hosts.get(login) == host or self.is_permanent(login, host))

    def end(self, login: str) -> None:
        self._hosts.pop(login, None)


@dataclass(frozen=True, slots=True)
class Ticket:
    """Permission to read `target`, a path with its query, once, as `visitor`."""

    target: str
    visitor: Visitor
    until_ms: float


class Tickets:
    """Single-use addresses of files, for what can't send a header, such as a tab of its own."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._tickets: dict[str, Ticket] = {}

    def make(self, target: str, visitor: Visitor) -> str:
        code = secrets.token_urlsafe(32)
        until_ms = self._clock.monotonic_ms() + TICKET_LIFE_MS
        self._tickets[token_hash(code)] = Ticket(target, visitor, until_ms)
        _keep_newest(self._tickets, MOST_TICKETS)
        return f"{TICKET_PATH}{code}"

    def forget(self, page: str) -> None:
        """Ends the tickets of a page whose login has ended."""
        tickets = self._tickets.items()
        self._tickets = {code: ticket for code, ticket in tickets if ticket.visitor.page != page}

    def take(self, path: str) -> Ticket | None:
        """Returns None for an address that was used, is too old or was never made."""
        ticket = self._tickets.pop(token_hash(path.removeprefix(TICKET_PATH)), None)
        return ticket if ticket is not None and ticket.until_ms > self._clock.monotonic_ms() else None


def served_hosts(host: str, port: int) -> frozenset[str] | None:
    """The Host headers that are served; None on an address that others can reach, where names are many.

    There a rebound name gains nothing: no browser sends anything by itself that would log it in.
    """
    return host_headers_at(host, port) if is_loopback(host) else None


@dataclass(frozen=True, slots=True)
class HostRules:
    """Refuses a Host or an Origin that is not ours, by headers that a browser can't forge."""

    hosts: frozenset[str] | None = None

    def wrong_host(self, headers: Mapping[str, str]) -> HttpRefusal | None:
        host = headers.get("host", "")
        is_served = host in self.hosts if self.hosts is not None else _HOST.fullmatch(host)
        return None if is_served else _FOREIGN_HOST

    def wrong_origin(self, method: str, headers: Mapping[str, str]) -> HttpRefusal | None:
        """A link that a person followed is fine: no page of another site can read the answer."""
        host, origin = headers.get("host", ""), headers.get("origin")
        if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
            return _FOREIGN_ORIGIN
        is_document = headers.get("sec-fetch-dest") == "document"
        is_visit = method == "GET" and headers.get("sec-fetch-mode") == "navigate" and is_document
        is_foreign = headers.get("sec-fetch-site") in ("cross-site", "same-site")
        return _FOREIGN_ORIGIN if is_foreign and not is_visit else None


class HttpGuard:
    """Middleware before every request and WebSocket: Host and Origin, then who it is, then the body."""

    def __init__(self, app: ASGIApp, auth: HttpAuth, rules: HostRules) -> None:
        self._app = app
        self._auth = auth
        self._rules = rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        send = add_security_headers(send)
        headers = Headers(scope=scope)
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await refusal_response(refusal)(scope, receive, send)
        else:
            with within_trace(read_traceparent(headers.get("traceparent"))):
                await self._app(scope, _bound_body(receive), send)

    def _refusal(self, scope: Scope, headers: Headers) -> HttpRefusal | None:
        """Returns None where the request may go on; `scope["state"]["visitor"]` then says who sends it."""
        method, path = scope.get("method", "WEBSOCKET"), scope["path"]
        if refusal := self._rules.wrong_host(headers):
            return refusal
        if method in SAFE and is_app_file(path, self._auth.seal_key):
            return None  # the path itself is the secret; its page has no origin that could be checked
        if refusal := self._rules.wrong_origin(method, headers):
            return refusal
        if path.startswith(TICKET_PATH):
            return self._apply_ticket(scope, method)
        visitor = self._auth.visitor(headers, client_address(scope))
        if isinstance(visitor, HttpRefusal):
            return visitor
        # A page's WebSocket says who it is in its first frame; nothing is told before that.
        is_open = method == "WEBSOCKET" or path in OPEN or path.startswith(OPEN_UNDER)
        if visitor is None and not is_open:
            return NOBODY
        # A browser sends Origin with everything that may change something.
        if "authorization" not in headers and method not in SAFE and "origin" not in headers:
            return _NO_ORIGIN
        scope.setdefault("state", {})["visitor"] = visitor
        return _refuse_body(method, headers)

    def _apply_ticket(self, scope: Scope, method: str) -> HttpRefusal | None:
        """The request becomes the one that the ticket stands for, by the visitor who asked for the ticket."""
        ticket = self._auth.tickets.take(scope["path"]) if method == "GET" else None
        if ticket is None:
            return _USED_TICKET
        path, _, query = ticket.target.partition("?")
        scope["path"], scope["raw_path"] = unquote(path), path.encode()
        scope["query_string"] = query.encode()
        scope.setdefault("state", {})["visitor"] = ticket.visitor
        return None


def client_address(scope: Scope) -> str:
    """Where a request comes from, '' where that is not known."""
    client = scope.get("client")
    return client[0] if client else ""


def _refuse_body(method: str, headers: Headers) -> HttpRefusal | None:
    """Refuses bodies that are not plain JSON: forms of other sites can't send JSON."""
    if method in SAFE or method == "WEBSOCKET":
        return None
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if method == "POST" and kind != "application/json":
        return _NOT_JSON
    if headers.get("content-encoding", "identity") != "identity":
        return _COMPRESSED
    length = headers.get("content-length", "0")
    return _TOO_LARGE if not length.isdecimal() or int(length) > MAX_BYTES else None


def _bound_body(receive: Receive) -> Receive:
    """`receive`, which refuses a body above the limit also if it does not state its size."""
    size = 0

    async def receive_bounded() -> Message:
        nonlocal size
        message = await receive()
        if message["type"] == "http.request":
            size += len(message.get("body", b""))
            if size > MAX_BYTES:
                raise HTTPException(413, _TOO_LARGE.message)
        return message

    return receive_bounded

"""Who is behind a request: one-time links and logins for pages, tokens for programs, the owner's key.

A link becomes a token that the page itself keeps and sends. Nothing that a browser adds by itself is read:
no cookie, no basic authentication, no query. Logins live in this process and end with it. Everything is
compared in constant time, and whoever guesses often has to wait.
"""

from __future__ import annotations

import hashlib
import hmac
import math
import secrets
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from ipaddress import ip_address
from typing import Literal

from starlette.datastructures import Headers

from handrail.clock import Clock
from handrail.engine.events import LONGEST_PATIENCE_MS, PATIENCE_MS, Caller, Door
from handrail.errors import ActionRejected
from handrail.http.origin import HttpRefusal

MOST_LINKS = 20
"""Links that wait to be used; the oldest is forgotten first."""
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
MOST_GUESSES = 10
"""Wrong secrets in one window."""
GUESS_WINDOW_MS = 60_000.0
MOST_ADDRESSES = 1_000
"""Whoever was wrong longest ago is forgotten first."""
MOST_LOGINS = 1_000
"""Pages that are logged in; the oldest is forgotten first."""
PAGE_HEADER = "handrail-page"
"""Brings a page's token. A browser sends such a header only if a script of our own page asks it to."""
TICKET_PATH = "/ticket/"
TICKET_LIFE_MS = 60_000.0
MOST_TICKETS = 200
"""Tickets that wait to be used; the oldest is forgotten first."""
AGENT_HEADER = "handrail-agent"
WAIT_HEADER = "handrail-wait"
"""Milliseconds that a program waits in line for a phone that a person has taken over."""
LONGEST_NAME = 60
PROGRAM = "http"


@dataclass(frozen=True, slots=True)
class Keys:
    """`token` lets a program act; `key` is its owner's and lets do what a person may."""

    token: str
    key: str

    @classmethod
    def make(cls, token: str | None = None, key: str | None = None) -> Keys:
        return cls(token or secrets.token_urlsafe(32), key or secrets.token_urlsafe(32))


class HttpAuth:
    """Everybody who may come in, and how they are known again."""

    def __init__(self, clock: Clock, keys: Keys) -> None:
        self.keys = keys
        self.logins = Logins()
        self.tickets = Tickets(clock)
        self.seal_key = secrets.token_bytes(32)
        """Seals paths of desk apps; another process has another one."""
        self.tunnel: str | None = None
        """The host of a tunnel: whoever comes by it comes from another machine, whatever their address."""
        self._clock = clock
        self._guesses = Guesses(clock)
        self._codes: dict[str, float] = {}
        """Until when each counts."""

    def link_code(self, life_ms: float = math.inf) -> str:
        """For `/login#code=…`: good for one page, once. No browser sends it to any server by itself."""
        code = secrets.token_urlsafe(32)
        self._codes[code] = self._clock.monotonic_ms() + life_ms
        while len(self._codes) > MOST_LINKS:
            del self._codes[next(iter(self._codes))]
        return code

    def log_in(self, code: str, host: str, address: str) -> str | HttpRefusal:
        """A page's token for a code that was not used yet; good at this host only.

        A code that counts can't be a guess: whoever guesses beside them keeps nobody from logging in.
        """
        now = self._clock.monotonic_ms()
        self._codes = {one: until for one, until in self._codes.items() if until > now}
        known = [one for one in self._codes if _same(one, code)]
        if not known:
            if refusal := self._too_many(address):
                return refusal
            self._guesses.was_wrong(address)
            return _USED_LINK
        del self._codes[known[0]]
        return self.logins.begin(host)

    def visitor(self, headers: Headers, address: str) -> Visitor | HttpRefusal | None:
        """None: they brought nothing. A wrong bearer is a guess; an old page's token is only old."""
        authorization = headers.get("authorization")
        if authorization is not None:
            return self._too_many(address) or self._bearer(authorization, headers, address)
        token = headers.get(PAGE_HEADER)
        return None if token is None else self.page(token, headers, address)

    def page(self, token: str, headers: Headers, address: str) -> Visitor | HttpRefusal:
        """Whoever sits before the page that has this token."""
        if self.logins.knows(token, headers.get("host", "")):
            return Visitor.person(self._is_remote(headers, address), hash_of(token))
        return LOGIN_OVER

    def _is_remote(self, headers: Headers, address: str) -> bool:
        """What a proxy passes on comes from this machine only by its address."""
        is_passed_on = "x-forwarded-for" in headers or "forwarded" in headers
        is_tunnel = self.tunnel is not None and headers.get("host") == self.tunnel
        return is_passed_on or is_tunnel or not _is_near(address)

    def _bearer(self, authorization: str, headers: Headers, address: str) -> Visitor | HttpRefusal:
        scheme, _, given = authorization.partition(" ")
        is_owner, is_program = _same(given.strip(), self.keys.key), _same(given.strip(), self.keys.token)
        if scheme.lower() != "bearer" or not (is_owner or is_program):
            self._guesses.was_wrong(address)
            return _WRONG_TOKEN
        name, is_remote = agent_name(headers.get(AGENT_HEADER)), self._is_remote(headers, address)
        if is_owner and name is None:
            return Visitor.person(is_remote)
        patience_ms = patience_of(headers.get(WAIT_HEADER))
        return Visitor("program", name or PROGRAM, is_remote, patience_ms=patience_ms)

    def _too_many(self, address: str) -> HttpRefusal | None:
        wait_ms = self._guesses.wait_ms(address)
        if wait_ms <= 0:
            return None
        return HttpRefusal(
            429,
            "TOO_MANY_GUESSES",
            "Too many wrong tokens came from this address.",
            f"Try again in {wait_ms / 1000:.0f} seconds.",
        )


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "backslashreplace"), other.encode())


def _is_near(address: str) -> bool:
    """From this machine; an address that is not known is far."""
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False


class Guesses:
    """Who was wrong lately."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._wrong: dict[str, deque[float]] = {}

    def wait_ms(self, address: str) -> float:
        """How long this address has to wait before it is heard again; 0: it is heard."""
        recent = self._recent(address)
        return (
            recent[0] + GUESS_WINDOW_MS - self._clock.monotonic_ms() if len(recent) >= MOST_GUESSES else 0.0
        )

    def was_wrong(self, address: str) -> None:
        recent = self._recent(address)
        recent.append(self._clock.monotonic_ms())
        self._wrong.pop(address, None)
        self._wrong[address] = recent
        while len(self._wrong) > MOST_ADDRESSES:
            del self._wrong[next(iter(self._wrong))]

    def _recent(self, address: str) -> deque[float]:
        recent = self._wrong.get(address) or deque(maxlen=MOST_GUESSES)
        while recent and recent[0] + GUESS_WINDOW_MS <= self._clock.monotonic_ms():
            recent.popleft()
        return recent


class Logins:
    """The tokens of pages, each with the host that it was given to. Nothing of them is ever stored."""

    def __init__(self) -> None:
        self._hosts: dict[str, str] = {}
        self.kept: Callable[[str, str], bool] = lambda login, host: False  # noqa: ARG005
        """Whether this login, by its hash, lasts at this host: devices that are told of questions stay in."""

    def begin(self, host: str) -> str:
        """A new page's token."""
        token = secrets.token_urlsafe(32)
        self._hosts[hash_of(token)] = host
        while len(self._hosts) > MOST_LOGINS:
            del self._hosts[next(iter(self._hosts))]
        return token

    def knows(self, token: str, host: str) -> bool:
        """Looked up by its hash: how long that takes says nothing about the token."""
        login = hash_of(token)
        return bool(host) and (self._hosts.get(login) == host or self.kept(login, host))

    def end(self, login: str) -> None:
        self._hosts.pop(login, None)


def hash_of(value: str) -> str:
    """What is kept of a token."""
    return hashlib.sha256(value.encode("utf-8", "backslashreplace")).hexdigest()


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody who was let in."""

    role: Literal["person", "program"]
    name: str
    is_remote: bool = False
    page: str = ""
    """Which page of the desk a person sits before; the owner's own programs sit before none."""
    patience_ms: float = PATIENCE_MS
    """How long a program waits in line for a phone that a person has taken over."""

    @classmethod
    def person(cls, is_remote: bool, page: str = "") -> Visitor:
        """Whoever can log in is the owner of this home, under the name that they have on this machine."""
        return cls("person", _owner().id, is_remote, page)

    @property
    def is_person(self) -> bool:
        return self.role == "person"

    def caller(self, door: Door = "http") -> Caller:
        """What the engine and the journal call them."""
        if self.is_person:
            return replace(_owner(), is_remote=self.is_remote, page=self.page)
        return Caller(self.name, "agent", door, is_remote=self.is_remote, patience_ms=self.patience_ms)

    def must_be_person(self, what: str) -> None:
        """No agent may say yes to itself: a program's token is not enough for what a person decides."""
        if not self.is_person:
            raise ActionRejected(
                f"{what} is for people; {self.name!r} came with a program's token",
                hint="Open the desk in a browser, or use `handrail approve` in a terminal.",
            )


class Tickets:
    """Addresses of single files for what can't send a header, such as a tab of its own: each opens once."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._made: dict[str, Ticket] = {}

    def make(self, target: str, visitor: Visitor) -> str:
        """The address."""
        code = secrets.token_urlsafe(32)
        self._made[hash_of(code)] = Ticket(target, visitor, self._clock.monotonic_ms() + TICKET_LIFE_MS)
        while len(self._made) > MOST_TICKETS:
            del self._made[next(iter(self._made))]
        return f"{TICKET_PATH}{code}"

    def forget(self, page: str) -> None:
        """Nothing more is read by a page whose login has ended."""
        self._made = {code: one for code, one in self._made.items() if one.visitor.page != page}

    def take(self, path: str) -> Ticket | None:
        """What an address stands for; None for one that was used, is too old or was never made."""
        found = self._made.pop(hash_of(path.removeprefix(TICKET_PATH)), None)
        return found if found is not None and found.until_ms > self._clock.monotonic_ms() else None


@dataclass(frozen=True, slots=True)
class Ticket:
    """One reading of `target`, a path with its query, as `visitor`."""

    target: str
    visitor: Visitor
    until_ms: float


def agent_name(given: str | None) -> str | None:
    """The name that a program gives itself, which proves nothing and must not steer a terminal."""
    shown = "".join(char for char in given or "" if char.isprintable()).strip()[:LONGEST_NAME]
    return shown or None


def patience_of(given: str | None) -> float:
    """What a program says of its patience; the usual where that is no number."""
    if given is None or not given.isascii() or not given.isdecimal() or len(given) > 9:
        return PATIENCE_MS
    return min(float(given), LONGEST_PATIENCE_MS)


def _owner() -> Caller:
    return replace(Caller.at_terminal(), door="desk", terminal=None)

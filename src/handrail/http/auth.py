"""Who is behind a request: one-time links and logins for browsers, tokens for programs, the owner's key.

A link becomes a cookie that only this server's own pages send. Everything is compared in constant time, and
whoever guesses often has to wait. The store keeps only hashes of logins.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import sqlite3
from collections import deque
from dataclasses import dataclass, replace
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from typing import Literal

from starlette.datastructures import Headers

from handrail.clock import Clock
from handrail.engine.events import Caller, Door
from handrail.errors import ActionRejected
from handrail.http.origin import HttpRefusal
from handrail.store import Store

MOST_LINKS = 20
"""Links that wait to be used; the oldest is forgotten first."""
NOBODY = HttpRefusal(
    401, "NOT_LOGGED_IN", "This needs a login or a token.", "`handrail desk link` prints a link that logs in."
)
_WRONG_TOKEN = HttpRefusal(401, "WRONG_TOKEN", "This token is not known here.", NOBODY.hint)
_USED_LINK = HttpRefusal(
    401, "LINK_NOT_VALID", "This link was used already, or is of an earlier run.", NOBODY.hint
)
MOST_GUESSES = 10
"""Wrong secrets in one window."""
GUESS_WINDOW_MS = 60_000.0
MOST_ADDRESSES = 1_000
"""Whoever was wrong longest ago is forgotten first."""
LOGIN_LIFE_MS = 30 * 24 * 3_600_000
"""A browser that stays away longer has to come by a link again."""
LOGIN_TABLES = ("CREATE TABLE logins (hash TEXT PRIMARY KEY, until_ms INTEGER NOT NULL) STRICT",)
AGENT_HEADER = "handrail-agent"
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

    def __init__(self, store: Store, clock: Clock, keys: Keys) -> None:
        self.keys = keys
        self.logins = Logins(store, clock)
        self._guesses = Guesses(clock)
        self._codes: dict[str, None] = {}

    def link_code(self) -> str:
        """For `/login?code=…`: good for one browser, once."""
        code = secrets.token_urlsafe(32)
        self._codes[code] = None
        while len(self._codes) > MOST_LINKS:
            del self._codes[next(iter(self._codes))]
        return code

    async def log_in(self, code: str, address: str) -> str | HttpRefusal:
        """The cookie's value for a code that was not used yet."""
        if refusal := self._too_many(address):
            return refusal
        known = [one for one in self._codes if _same(one, code)]
        if not known:
            self._guesses.was_wrong(address)
            return _USED_LINK
        del self._codes[known[0]]
        return await self.logins.begin()

    def visitor(self, headers: Headers, address: str) -> Visitor | HttpRefusal | None:
        """None: they brought nothing. A wrong bearer is a guess; an old cookie is only old."""
        authorization = headers.get("authorization")
        if authorization is not None:
            return self._too_many(address) or self._bearer(authorization, headers, address)
        if self.logins.knows(cookie_of(headers)):
            return Visitor.person(is_remote=not _is_near(address))
        return None

    def _bearer(self, authorization: str, headers: Headers, address: str) -> Visitor | HttpRefusal:
        scheme, _, given = authorization.partition(" ")
        is_owner, is_program = _same(given.strip(), self.keys.key), _same(given.strip(), self.keys.token)
        if scheme.lower() != "bearer" or not (is_owner or is_program):
            self._guesses.was_wrong(address)
            return _WRONG_TOKEN
        name, is_remote = agent_name(headers.get(AGENT_HEADER)), not _is_near(address)
        if is_owner and name is None:
            return Visitor.person(is_remote)
        return Visitor("program", name or PROGRAM, is_remote)

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


def cookie_of(headers: Headers) -> str:
    """The value that this browser sent, '' for none."""
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(_cookie_name(headers))
    except CookieError:
        return ""
    return found.value if found is not None else ""


def set_cookie(headers: Headers, value: str) -> str:
    """The header's value: not readable by scripts, never sent for another site's page."""
    name = _cookie_name(headers)
    return f"{name}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={LOGIN_LIFE_MS // 1000}"


def _cookie_name(headers: Headers) -> str:
    """Browsers keep cookies by host and not by port: two desks on one machine would log each other out."""
    port = headers.get("host", "").rpartition(":")[2]
    return f"handrail-{port}" if port.isdecimal() else "handrail"


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
    """The cookies that count."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._until: dict[str, int] = {}

    async def load(self) -> None:
        """Those that are known from before."""
        self._store.prepare("logins", LOGIN_TABLES)
        now = self._clock.now_ms()

        def read(db: sqlite3.Connection) -> dict[str, int]:
            db.execute("DELETE FROM logins WHERE until_ms <= ?", (now,))
            return {str(row[0]): int(row[1]) for row in db.execute("SELECT hash, until_ms FROM logins")}

        self._until = await self._store.write(read)

    async def begin(self) -> str:
        """A new cookie's value."""
        value = secrets.token_urlsafe(32)
        row = (_hash(value), self._clock.now_ms() + LOGIN_LIFE_MS)
        await self._store.write(lambda db: db.execute("INSERT INTO logins VALUES (?, ?)", row))
        self._until[row[0]] = row[1]
        return value

    def knows(self, value: str) -> bool:
        """Looked up by its hash: how long that takes says nothing about the value."""
        return self._until.get(_hash(value), 0) > self._clock.now_ms()


def _hash(value: str) -> str:
    return hashlib.sha256(value.encode("utf-8", "backslashreplace")).hexdigest()


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody who was let in."""

    role: Literal["person", "program"]
    name: str
    is_remote: bool = False

    @classmethod
    def person(cls, is_remote: bool) -> Visitor:
        """Whoever can log in is the owner of this home, under the name that they have on this machine."""
        return cls("person", _owner().id, is_remote)

    @property
    def is_person(self) -> bool:
        return self.role == "person"

    def caller(self, door: Door = "http") -> Caller:
        """What the engine and the journal call them."""
        if self.is_person:
            return replace(_owner(), is_remote=self.is_remote)
        return Caller(self.name, "agent", door, is_remote=self.is_remote)

    def must_be_person(self, what: str) -> None:
        """No agent may say yes to itself: a program's token is not enough for what a person decides."""
        if not self.is_person:
            raise ActionRejected(
                f"{what} is for people; {self.name!r} came with a program's token",
                hint="Open the desk in a browser, or use `handrail approve` in a terminal.",
            )


def agent_name(given: str | None) -> str | None:
    """The name that a program gives itself, which proves nothing and must not steer a terminal."""
    shown = "".join(char for char in given or "" if char.isprintable()).strip()[:LONGEST_NAME]
    return shown or None


def _owner() -> Caller:
    return replace(Caller.at_terminal(), door="desk", terminal=None)

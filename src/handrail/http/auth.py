"""Secrets at the door: one-time links for browsers, bearer tokens for programs, the owner's key.

A link becomes a cookie that only this server's own pages send. Everything is compared in constant time.
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address

from starlette.datastructures import Headers

from handrail.clock import Clock
from handrail.http.guesses import Guesses
from handrail.http.logins import LIFE_MS, Logins
from handrail.http.origin import Refusal
from handrail.http.who import AGENT_HEADER, PROGRAM, Visitor, agent_name
from handrail.store import Store

MOST_LINKS = 20
"""Links that wait to be used; the oldest is forgotten first."""


@dataclass(frozen=True, slots=True)
class Keys:
    """`token` lets a program act; `key` is its owner's and lets do what a person may."""

    token: str
    key: str

    @classmethod
    def make(cls, token: str | None = None, key: str | None = None) -> Keys:
        return cls(token or secrets.token_urlsafe(32), key or secrets.token_urlsafe(32))


class Auth:
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

    async def log_in(self, code: str, address: str) -> str | Refusal:
        """The cookie's value for a code that was not used yet."""
        if refusal := self._too_many(address):
            return refusal
        known = [one for one in self._codes if _same(one, code)]
        if not known:
            self._guesses.was_wrong(address)
            return _USED_LINK
        del self._codes[known[0]]
        return await self.logins.begin()

    def visitor(self, headers: Headers, address: str) -> Visitor | Refusal | None:
        """None: they brought nothing. A wrong bearer is a guess; an old cookie is only old."""
        authorization = headers.get("authorization")
        if authorization is not None:
            return self._too_many(address) or self._bearer(authorization, headers, address)
        if self.logins.knows(cookie_of(headers)):
            return Visitor.person(is_remote=not _is_near(address))
        return None

    def _bearer(self, authorization: str, headers: Headers, address: str) -> Visitor | Refusal:
        scheme, _, given = authorization.partition(" ")
        is_owner, is_program = _same(given.strip(), self.keys.key), _same(given.strip(), self.keys.token)
        if scheme.lower() != "bearer" or not (is_owner or is_program):
            self._guesses.was_wrong(address)
            return _WRONG_TOKEN
        name, is_remote = agent_name(headers.get(AGENT_HEADER)), not _is_near(address)
        if is_owner and name is None:
            return Visitor.person(is_remote)
        return Visitor("program", name or PROGRAM, is_remote)

    def _too_many(self, address: str) -> Refusal | None:
        wait_ms = self._guesses.wait_ms(address)
        if wait_ms <= 0:
            return None
        return Refusal(
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
    return f"{name}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={LIFE_MS // 1000}"


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


NOBODY = Refusal(
    401, "NOT_LOGGED_IN", "This needs a login or a token.", "`handrail desk link` prints a link that logs in."
)
_WRONG_TOKEN = Refusal(401, "WRONG_TOKEN", "This token is not known here.", NOBODY.hint)
_USED_LINK = Refusal(
    401, "LINK_NOT_VALID", "This link was used already, or is of an earlier run.", NOBODY.hint
)

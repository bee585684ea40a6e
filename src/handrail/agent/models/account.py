"""Where a maker's models are asked, and with which key: home by its key, elsewhere also without one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from handrail.errors import InvalidAction

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

"""A server's base URL: checked before it is used, and told without what may be secret in it. Pure."""

from __future__ import annotations

from urllib.parse import urlsplit

from handrail.errors import InvalidAction


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

"""Where a server may listen: on this machine, or for others with a token that can't be guessed."""

from __future__ import annotations

import socket
from ipaddress import ip_address

from handrail.errors import InvalidAction

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
SHORTEST_TOKEN = 16
"""Characters; whoever can reach the port can guess."""


def is_loopback(host: str) -> bool:
    """Only this machine can reach it."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def hosts_at(host: str, port: int) -> frozenset[str]:
    """The Host headers of whoever comes by this machine's own names, or by the name that was given."""
    shown = f"[{host}]" if ":" in host and not host.startswith("[") else host
    return frozenset(f"{name}:{port}" for name in (*LOOPBACK, shown))


def check_bind(host: str, token: str | None) -> None:
    """Another address than this machine's own needs a token, and a token has to be long."""
    if token is not None and len(token) < SHORTEST_TOKEN:
        raise InvalidAction(
            f"--token has {len(token)} characters; at least {SHORTEST_TOKEN} are needed",
            path="token",
            hint='python -c "import secrets; print(secrets.token_urlsafe())" makes one.',
        )
    if token is None and not is_loopback(host):
        raise InvalidAction(
            f"--host {host} can be reached by others, and there is no token",
            path="token",
            hint="Give --token, or leave --host out.",
        )


def listen(host: str, port: int) -> socket.socket:
    """The port, bound; 0 is any free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host.strip("[]"), port), family=family)
    except OSError as error:
        raise InvalidAction(
            f"{host}:{port} can't be listened on: {error.strerror or error}",
            path="port",
            hint="Choose another --port, or stop the other server.",
        ) from None

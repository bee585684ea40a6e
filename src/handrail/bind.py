"""Where a server may listen: on this machine, or for others with a token that can't be guessed.

And under which name its pages live, so that no other process was ever, or is, of the same origin.
"""

from __future__ import annotations

import errno
import secrets
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


def literal_host(host: str, server: tuple[str, int | None] | None) -> str:
    """A Host header; where it is `localhost`, the number and port that really answered."""
    name, _, port = host.rpartition(":")
    if name.lower().rstrip(".") != "localhost" or server is None or server[1] is None:
        return host
    number = f"[{server[0]}]" if ":" in server[0] else server[0]
    return f"{number}:{port}"


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


def pages_apart(host: str, bound: socket.socket) -> tuple[str | None, list[socket.socket]]:
    """The host for pages of a server on `localhost`, and all sockets to serve: a new name for each process.

    What another server on the same port has left in a browser, a service worker above all, belongs to
    another origin then. Browsers look such a name up by themselves and may dial either loopback, so both
    have to be ours. None: pages live at the number, because that was asked for or [::1] is another's.
    """
    if host != "localhost":
        return None, [bound]
    port = bound.getsockname()[1]
    try:
        second = [socket.create_server(("::1", port), family=socket.AF_INET6)]
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            return None, [bound]
        second = []  # a machine without that address: nobody else can have it either
    return f"desk-{secrets.token_hex(8)}.localhost:{port}", [bound, *second]

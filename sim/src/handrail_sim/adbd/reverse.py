"""Reverse forwards: ports of the phone that lead back to the host. One table per connection.

A host kills its adb server over an OPEN to a target it did not register, so targets only come from the table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from handrail_sim.stream import Stream, join

if TYPE_CHECKING:
    from handrail_sim.adbd.connection import Connection

FIRST_FREE_PORT = 40000


class Reverse:
    """What one host has registered, and the answers to its `reverse:` requests."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._ports = connection.phone.ports
        self.table: dict[str, str] = {}

    def request(self, command: str) -> bytes:
        """The answer to what follows `reverse:`."""
        verb, _, rest = command.partition(":")
        if verb == "list-forward":
            return _text("".join(f"(reverse) {here} {there}\n" for here, there in self.table.items()))
        if verb == "killforward-all":
            self.clear()
            return b"OKAY"
        if verb == "killforward":
            return self._remove(rest)
        if verb == "forward":
            rebind = not rest.startswith("norebind:")
            here, _, there = rest.removeprefix("norebind:").partition(";")
            return self._add(here, there, rebind)
        return _failure(f"unknown command '{command}'")

    def clear(self) -> None:
        """The connection is over, or wants none of them any more."""
        for here in list(self.table):
            self._remove(here)

    async def connect(self, here: str, stream: Stream) -> None:
        """Something in the phone connects to a registered port: carry it to the host."""
        there = self.table.get(here)
        if there is None:
            stream.close()
            return
        channel = self._connection.open(there)
        try:
            if await channel.opened():
                await join(stream, channel)
        finally:
            channel.close()
            stream.close()

    def _add(self, here: str, there: str, rebind: bool) -> bytes:
        if not _is_socket(here) or not there:
            return _failure(f"bad forward: {here};{there}")
        if here in self.table and not rebind:
            return _failure("cannot rebind existing socket")
        if here not in self.table and here in self._ports:
            return _failure(f"cannot bind listener: Address already in use ({here})")
        chosen = here == "tcp:0"
        if chosen:
            here = self._free_port()
        self.table[here] = there
        self._ports[here] = lambda stream: self.connect(here, stream)
        return b"OKAY" + (_text(here.removeprefix("tcp:")) if chosen else b"")

    def _remove(self, here: str) -> bytes:
        if self.table.pop(here, None) is None:
            return _failure(f"listener '{here}' not found")
        self._ports.pop(here, None)
        return b"OKAY"

    def _free_port(self) -> str:
        port = FIRST_FREE_PORT
        while f"tcp:{port}" in self._ports:
            port += 1
        return f"tcp:{port}"


def _is_socket(name: str) -> bool:
    kind, _, rest = name.partition(":")
    if kind == "tcp":
        return rest.isdecimal() and int(rest) <= 65535
    return kind in ("local", "localabstract", "localreserved", "localfilesystem") and bool(rest)


def _text(text: str) -> bytes:
    data = text.encode()
    return b"%04x" % len(data) + data


def _failure(text: str) -> bytes:
    return b"FAIL" + _text(text)

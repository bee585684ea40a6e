"""Hosts of web addresses as browsers read them: 0x7f.1, 2130706433 and １２７.0.0.1 are all this machine.

Pure. Also how an answer of Handrail's own server is known, whatever name it was asked by.
"""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from urllib.parse import unquote_to_bytes, urlsplit

OWN_HEADER = "x-handrail"
"""On every answer of our server: a browser that an agent drives shows none of them."""
_PORTS = {"http": 80, "https": 443}
_HOUSE_NAMES = frozenset(
    {"localhost", "local", "localdomain", "lan", "home", "internal", "intranet", "corp", "private"}
    | {"arpa", "test", "invalid", "example"}
)
"""Last parts of names that no public server has."""
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]*|[0-9]+", re.ASCII)
_HOLDS_IPV4 = tuple(IPv6Network(net) for net in ("::/96", "::ffff:0:0:0/96", "64:ff9b::/96"))
"""IPv6 addresses whose last four bytes are an IPv4 address, beside those that `ipaddress` knows."""


def host_of(url: str) -> str | None:
    """The host of an http(s) address as a browser would dial it; None for anything else."""
    read = read_address(url)
    return read[0] if read else None


def read_address(url: str) -> tuple[str, int] | None:
    """Host and port of an http(s) address as a browser would dial it; None for anything else."""
    if re.search(r"[\x00-\x20\\\x7f]", url):
        return None
    try:
        parts = urlsplit(url)
        port = parts.port
        host = host_as_dialled(parts.hostname or "") if "@" not in parts.netloc else None
    except ValueError:
        return None
    if parts.scheme not in _PORTS or host is None:
        return None
    return host, port or _PORTS[parts.scheme]


def host_as_dialled(host: str) -> str | None:
    """Resolves escapes, wide letters, and numbers in any base. None for what is not a host."""
    if ":" in host:
        return str(IPv6Address(host)) if "%" not in host else None
    try:
        name = unquote_to_bytes(host).decode().encode("idna").decode().lower().removesuffix(".")
    except UnicodeError:
        return None
    if not name or re.search(r"[\x00-\x20\x7f#/:<>?@\[\\\]^|%]", name):
        return None
    last = name.rpartition(".")[2]
    return name if not _NUMBER.fullmatch(last) else _number(name.split("."))


def _number(parts: list[str]) -> str | None:
    """One to four numbers, decimal, octal or hexadecimal; the last fills the remaining bytes."""
    if len(parts) > 4 or not all(_NUMBER.fullmatch(part) for part in parts):
        return None
    try:
        values = [
            int(part[2:] or "0", 16)
            if part[:2] in ("0x", "0X")
            else int(part, 8 if part[0] == "0" and len(part) > 1 else 10)
            for part in parts
        ]
    except ValueError:  # 08 is no octal number
        return None
    *firsts, last = values
    if any(value > 255 for value in firsts) or last >= 256 ** (4 - len(firsts)):
        return None
    return str(IPv4Address(last + sum(value << (8 * (3 - at)) for at, value in enumerate(firsts))))


def why_private(host: str) -> str | None:
    """Why a host, as dialled, may belong to this machine or a private network; None for a public one.

    A name with a dot can still lead anywhere: whoever looks it up asks again about the numbers.
    """
    try:
        number = ip_address(host)
    except ValueError:
        last = host.rpartition(".")[2]
        if last == host or last in _HOUSE_NAMES:
            return f"{host} is a name of this machine or of a private network."
        return None
    return None if _is_public(number) else f"{host} is on this machine or in a private network."


def _is_public(number: IPv4Address | IPv6Address) -> bool:
    if isinstance(number, IPv6Address):
        inner = number.ipv4_mapped or number.sixtofour or (number.teredo[1] if number.teredo else None)
        if any(number in net for net in _HOLDS_IPV4):
            inner = IPv4Address(number.packed[-4:])
        if inner:
            return _is_public(inner)
    return number.is_global and not number.is_multicast and not number.is_reserved

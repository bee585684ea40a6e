"""Which addresses an agent may put on the desk: pages in frames, pictures, shortcuts. Pure rules.

Hosts are read as browsers read them: 0x7f.1, 2130706433 and １２７.0.0.1 are all this machine.
"""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from urllib.parse import unquote_to_bytes, urlsplit

from handrail.errors import InvalidAction

SANDBOX = ("allow-scripts", "allow-forms")
"""What a frame may do at most: on an opaque origin, without popups, downloads or navigation of the page."""
_APP = re.compile(r"app:[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_PICTURE = re.compile(r"data:image/(png|jpeg|gif|webp|svg\+xml)[;,]")
OWN_PICTURES = ("/api/storage/", "/static/")
"""The desk's own places for pictures; nothing is ever loaded from elsewhere."""
_PORTS = {"http": 80, "https": 443}
_HOUSE_NAMES = frozenset(
    {"localhost", "local", "localdomain", "lan", "home", "internal", "intranet", "corp", "private"}
    | {"arpa", "test", "invalid", "example"}
)
"""Last parts of names that no public server has."""
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]*|[0-9]+", re.ASCII)
_HOLDS_IPV4 = tuple(IPv6Network(net) for net in ("::/96", "::ffff:0:0:0/96", "64:ff9b::/96"))
"""IPv6 addresses whose last four bytes are an IPv4 address, beside those that `ipaddress` knows."""


def narrowed(sandbox: str) -> str:
    """The words of an agent's `sandbox` that are ours too: it can only take away."""
    words = sandbox.lower().split()
    return " ".join(word for word in SANDBOX if word in words)


def check_page(url: str, path: str, own_hosts: frozenset[str] = frozenset()) -> None:
    """Raises `InvalidAction` unless it is `app:NAME` or http(s) elsewhere than on the desk itself."""
    if _APP.fullmatch(url):
        return
    host = _host(url)
    if host is None:
        raise _refused(path, url, "is no page: app:NAME or an http(s) address")
    if host in own_hosts:
        raise _refused(path, url, "is the desk itself, which no frame may show")


def check_link(url: str, path: str) -> None:
    """Raises `InvalidAction` unless it is http(s)."""
    if _host(url) is None:
        raise _refused(path, url, "is no http(s) address")


def check_picture(src: str, path: str) -> None:
    """Raises `InvalidAction` for a picture from elsewhere."""
    if not is_own_picture(src):
        raise _refused(path, src, "is neither a data: picture nor a file of /api/storage/")


def is_own_picture(src: str) -> bool:
    """True for a data: picture and for a file of the desk."""
    if _PICTURE.match(src):
        return True
    return src.startswith(OWN_PICTURES) and not _climbs(src)


def check_file(target: str, path: str) -> None:
    """Raises `InvalidAction` for a path that leads out of the storage."""
    if not target or target.startswith("/") or _climbs(target):
        raise _refused(path, target, "is no path inside the storage")


def _climbs(path: str) -> bool:
    """`..` in any spelling, or a character that browsers read as a slash or skip."""
    return re.search(r"\.\.|%2e|%2f|%5c|\\|[\x00-\x20]", path, re.IGNORECASE) is not None


def host_of(url: str) -> str | None:
    """The host of an http(s) address as a browser would dial it; None for what is none."""
    read = _read(url)
    return read[0] if read else None


def _host(url: str) -> str | None:
    """`host:port` of an http(s) address, None for everything else."""
    read = _read(url)
    if read is None:
        return None
    host, port = read
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _read(url: str) -> tuple[str, int] | None:
    if re.search(r"[\x00-\x20\\\x7f]", url):
        return None
    try:
        parts = urlsplit(url)
        port = parts.port
        host = dialled(parts.hostname or "") if "@" not in parts.netloc else None
    except ValueError:
        return None
    if parts.scheme not in _PORTS or host is None:
        return None
    return host, port or _PORTS[parts.scheme]


def dialled(host: str) -> str | None:
    """A host without its spelling: escapes, wide letters, and numbers in whatever base. None: it is none."""
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
    """One to four numbers, decimal, octal or hexadecimal; the last fills the bytes that are left."""
    if len(parts) > 4 or not all(_NUMBER.fullmatch(part) for part in parts):
        return None
    try:
        values = [_whole(part) for part in parts]
    except ValueError:  # 08 is no octal number
        return None
    *firsts, last = values
    if any(value > 255 for value in firsts) or last >= 256 ** (4 - len(firsts)):
        return None
    return str(IPv4Address(last + sum(value << (8 * (3 - at)) for at, value in enumerate(firsts))))


def _whole(part: str) -> int:
    if part[:2] in ("0x", "0X"):
        return int(part[2:] or "0", 16)
    return int(part, 8 if part[0] == "0" and len(part) > 1 else 10)


def why_private(host: str) -> str | None:
    """Why a host, as dialled, may be of this machine or of a private network; None for a public one.

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
    if isinstance(number, IPv6Address) and (inner := _inner(number)):
        return _is_public(inner)
    return number.is_global and not number.is_multicast and not number.is_reserved


def _inner(number: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that this one stands for."""
    if any(number in net for net in _HOLDS_IPV4):
        return IPv4Address(number.packed[-4:])
    return number.ipv4_mapped or number.sixtofour or (number.teredo[1] if number.teredo else None)


def _refused(path: str, value: str, why: str) -> InvalidAction:
    return InvalidAction(
        f"{path}: {value!r:.120} {why}",
        hint="Frames take app:NAME, http and https; pictures take data: and /api/storage/ addresses.",
        path=path,
    )

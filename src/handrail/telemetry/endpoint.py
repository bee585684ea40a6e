"""Where a collector listens, read from the variable that names it, and one POST to it within a deadline.

Of an answer only its status is read: at most a few hundred bytes, however much is sent.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Literal, NamedTuple, NoReturn
from urllib.parse import unquote, urlsplit

from handrail import __version__
from handrail.config import LOOPBACK, PORTS
from handrail.errors import InvalidAction

ENDPOINT, HEADERS = "HANDRAIL_OTLP_ENDPOINT", "HANDRAIL_OTLP_HEADERS"
_NAME = frozenset("!#$%&'*+.^_`|~-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
_OURS = frozenset({"host", "content-length", "content-type", "connection", "transfer-encoding", "user-agent"})
_LONGEST_STATUS = 512
"""Bytes of the first line of an answer."""


class CollectorPlace(NamedTuple):
    """An OTLP receiver over HTTP; `path` is what comes before `/v1/traces`."""

    host: str
    port: int
    path: str = ""
    is_tls: bool = False
    headers: tuple[tuple[str, str], ...] = ()
    """May be keys: told to nobody but the collector."""

    def __repr__(self) -> str:
        return f"{self.host}:{self.port}"

    def head(self, path: str, length: int) -> bytes:
        name = f"[{self.host}]" if ":" in self.host else self.host
        lines = [
            f"POST {self.path}{path} HTTP/1.1",
            f"Host: {name}:{self.port}",
            f"User-Agent: handrail/{__version__}",
            "Content-Type: application/x-protobuf",
            f"Content-Length: {length}",
            "Connection: close",
            *(f"{header}: {value}" for header, value in self.headers),
        ]
        return "\r\n".join([*lines, "", ""]).encode("ascii")


def read_place(env: Mapping[str, str]) -> CollectorPlace | None:
    """None where no collector is named. Raises `InvalidAction` for what is no address of one."""
    text = env.get(ENDPOINT, "").strip()
    if not text:
        return None
    headers = tuple(_headers(env.get(HEADERS, "")))
    try:
        place = urlsplit(text)
        usual = 443 if place.scheme == "https" else 80
        port = usual if place.port is None else place.port
    except ValueError:
        _bad(ENDPOINT, "an address such as http://127.0.0.1:4318")
    if place.scheme not in ("http", "https") or not place.hostname or port not in PORTS:
        _bad(ENDPOINT, "an address such as http://127.0.0.1:4318")
    if "@" in place.netloc or place.query or place.fragment or not _is_plain(text) or " " in text:
        _bad(ENDPOINT, f"an address alone; keys go into {HEADERS}")
    if headers and place.scheme == "http" and place.hostname not in LOOPBACK:
        _bad(ENDPOINT, f"an https address where {HEADERS} is set: keys do not travel in plain text")
    host = place.hostname.encode("idna").decode() if not place.hostname.isascii() else place.hostname
    return CollectorPlace(host, port, place.path.rstrip("/"), place.scheme == "https", headers)


def _headers(text: str) -> list[tuple[str, str]]:
    found = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = part.partition("=")
        name, value = name.strip(), unquote(value.strip())
        is_good = bool(equals and name and value) and _NAME.issuperset(name) and _is_plain(value)
        if not is_good or name.lower() in _OURS:
            _bad(HEADERS, "NAME=VALUE, separated by commas")
        found.append((name, value))
    return found


def _is_plain(text: str) -> bool:
    return text.isascii() and text.isprintable()


def _bad(name: str, wanted: str) -> NoReturn:
    """Without the value: it may be a key."""
    raise InvalidAction(f"{name} takes {wanted}", hint=f"Correct or unset {name}.", path=name)


def post(place: CollectorPlace, path: str, body: bytes, seconds: float) -> int:
    """The status of the answer. Raises `OSError` where none came in time."""
    deadline = time.monotonic() + seconds
    with ExitStack() as ends:
        line = ends.enter_context(socket.create_connection((place.host, place.port), seconds))
        if place.is_tls:
            import ssl  # noqa: PLC0415  (40 ms that a collector on this machine does not cost)

            context = ssl.create_default_context()
            line = ends.enter_context(context.wrap_socket(line, server_hostname=place.host))
        _until(line, deadline)
        line.sendall(place.head(path, len(body)) + body)
        got = b""
        while b"\n" not in got and len(got) < _LONGEST_STATUS:
            _until(line, deadline)
            if not (more := line.recv(_LONGEST_STATUS)):
                break
            got += more
    words = got.split(maxsplit=2)
    if len(words) < 2 or not words[0].startswith(b"HTTP/1.") or not words[1].isdigit():
        raise OSError("the collector's answer is no HTTP")
    return int(words[1])


def _until(line: socket.socket, deadline: float) -> None:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("the collector does not answer")
    line.settimeout(left)


def ask_collector(env: Mapping[str, str], seconds: float) -> tuple[Literal["ok", "warning", "error"], str]:
    """Whether the collector that is named takes an empty request, and who it is, in words."""
    place = None
    try:
        place = read_place(env)
        status = post(place, "/v1/traces", b"", seconds) if place else 0
    except InvalidAction as error:
        return "error", error.message
    except OSError as error:
        return "warning", f"{place} can't be reached: {error}"
    if status // 100 != 2:
        return "warning", f"{place} answers {status}"
    return "ok", f"counts and times of what is done go to {place}"

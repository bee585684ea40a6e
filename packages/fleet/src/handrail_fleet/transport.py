"""How a host speaks to its head: calls with data, and bytes of files. Any way that carries both will do."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import secrets
import select
import ssl
import sys
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from handrail import __version__
from handrail.errors import ERRORS, HandrailError, InvalidAction

HOST_HEADER = "Handrail-Fleet-Host"
"""Brings the token of hosts; a program's own token is not enough to be one."""
CHUNK = 512 * 1024
THREADS = 6
PATIENCE_S = 3.0
"""For one call; one that may wait for news gets its time on top."""


def secret_file(path: Path) -> str:
    """A token that is made once; its file is its owner's only, from the first byte on."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        _must_be_own(path)
        return path.read_text(encoding="ascii").strip()
    made = secrets.token_hex(32)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(made)
    return made


def _must_be_own(path: Path) -> None:
    if path.stat().st_mode & 0o077:
        raise InvalidAction(f"{path} can be read by others", hint=f"chmod 600 {path}")


def join_token(path: str | Path) -> tuple[str, str]:
    """A program's token and the secret of hosts, from the file that a head has written."""
    try:
        _must_be_own(Path(path))
        token, dot, secret = Path(path).read_text(encoding="utf-8").strip().rpartition(".")
    except OSError as error:
        raise InvalidAction(f"{path}: {error.strerror or error}", path="token") from None
    if not dot or not token:
        raise InvalidAction(
            f"{path} is not a token of hosts", path="token", hint="Copy config/fleet-host.token."
        )
    return token, secret


def versions() -> dict[str, str]:
    """What head and hosts must agree on: Ray sends Python objects, and journals have to be read alike."""
    try:
        ray = metadata.version("ray")
    except metadata.PackageNotFoundError:
        ray = ""
    return {"handrail": __version__, "python": ".".join(map(str, sys.version_info[:2])), "ray": ray}


def check_versions(given: Mapping[str, Any]) -> None:
    """Raises `InvalidAction` that says what differs. Who has no Ray came without it."""
    own = versions()
    for name, version in own.items():
        other = str(given.get(name, ""))
        if other != version and ((other and version) or name != "ray"):
            raise InvalidAction(
                f"the host has {name} {other or 'of no version'}, and the head has {version}",
                path="versions",
                hint=f"Install the same {name} on both.",
            )


class HeadAway(HandrailError):
    """The head did not answer. Whether it heard is not known: every call may be repeated."""

    family = "device"
    retryable = True
    hint = "Is the head running, and can this machine reach it?"


class FleetTransport(Protocol):
    """Raises `HeadAway`, or the failure that the head told."""

    async def call(self, name: str, data: Mapping[str, Any], *, wait_ms: float = 0.0) -> Any: ...

    async def put(self, name: str, offset: int, total: int, chunk: bytes) -> int:
        """A part of a file, named by its hash; how much of it the head has now."""

    async def close(self) -> None: ...


class HttpLine:
    """One address, by threads that each keep a line open. Used by hosts, by commands and by tests."""

    def __init__(
        self, address: str, headers: Mapping[str, str], context: ssl.SSLContext | None = None
    ) -> None:
        place = urlsplit(address)
        if place.scheme not in ("http", "https") or not place.hostname:
            hint = "For example http://127.0.0.1:8430."
            raise InvalidAction(f"{address!r:.80} is not the address of a head", path="fleet", hint=hint)
        self._is_tls = place.scheme == "https"
        self._host, self._port = place.hostname, place.port or (443 if self._is_tls else 80)
        self._headers = dict(headers)
        self._context = context
        self._lines = threading.local()

    def ask(
        self, method: str, path: str, body: bytes | None = None, *, timeout_s: float = PATIENCE_S
    ) -> bytes:
        """The body of the answer. Raises `HeadAway`, or what the answer says went wrong."""
        headers = {**self._headers, "Content-Type": "application/json" if method == "POST" else "x/bytes"}
        try:
            line = self._line(timeout_s)
            if _has_ended(line):  # the head closes lines that were idle for some seconds
                line.close()
            line.request(method, path, body, headers)
            response = line.getresponse()
            data = response.read()
        except (OSError, http.client.HTTPException) as error:
            self._drop()
            raise HeadAway(
                f"{self._host}:{self._port} did not answer: {str(error) or type(error).__name__}"
            ) from None
        except BaseException:  # Ctrl-C in the middle: what would come next on this line is not our answer
            self._drop()
            raise
        if response.status >= 400:
            raise _told(response.status, data)
        return data

    def _line(self, timeout_s: float) -> http.client.HTTPConnection:
        line: http.client.HTTPConnection | None = getattr(self._lines, "line", None)
        if line is None:
            if self._is_tls:
                line = http.client.HTTPSConnection(self._host, self._port, context=self._context)
            else:
                line = http.client.HTTPConnection(self._host, self._port)
            self._lines.line = line
        line.timeout = timeout_s
        if line.sock is not None:
            line.sock.settimeout(timeout_s)
        return line

    def _drop(self) -> None:
        line: http.client.HTTPConnection | None = getattr(self._lines, "line", None)
        if line is not None:
            with suppress(OSError):
                line.close()


def _has_ended(line: http.client.HTTPConnection) -> bool:
    """Whether the other side has closed a line that is open here: it can be read, and nothing may come."""
    if line.sock is None:
        return False
    looking = select.poll()  # hosts have more than the 1,024 files that `select` knows
    looking.register(line.sock, select.POLLIN)
    return bool(looking.poll(0))


def _told(status: int, data: bytes) -> HandrailError:
    try:
        told = json.loads(data)
    except ValueError:
        told = {}
    told = told if isinstance(told, dict) else {}
    kind = ERRORS.get(str(told.get("code")), HandrailError)
    if status >= 500 and kind is HandrailError:  # it is there, and can't: whoever asks may ask again
        return HeadAway(f"the head answers {status}")
    return kind(str(told.get("message") or f"the head answers {status}"), hint=told.get("hint"))


class HttpTransport:
    """By the head's own HTTP door, with a program's token and the token of hosts."""

    def __init__(
        self, address: str, token: str, host_token: str, context: ssl.SSLContext | None = None
    ) -> None:
        headers = {"Authorization": f"Bearer {token}", HOST_HEADER: host_token}
        self._line = HttpLine(address, headers, context)
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="fleet")

    async def call(self, name: str, data: Mapping[str, Any], *, wait_ms: float = 0.0) -> Any:
        body = json.dumps(data).encode()
        found = await self._ask("POST", f"/api/fleet/host/{name}", body, PATIENCE_S + wait_ms / 1000)
        return json.loads(found)

    async def put(self, name: str, offset: int, total: int, chunk: bytes) -> int:
        path = f"/api/fleet/host/file/{name}?offset={offset}&total={total}"
        return int(json.loads(await self._ask("PUT", path, chunk, PATIENCE_S))["have"])

    async def _ask(self, method: str, path: str, body: bytes, timeout_s: float) -> bytes:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(
            self._threads, lambda: self._line.ask(method, path, body, timeout_s=timeout_s)
        )

    async def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

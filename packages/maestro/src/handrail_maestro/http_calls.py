"""Http calls of scripts: to hosts that the owner allowed, by addresses that were judged, each redirect anew.

A host of this machine or of a private network must be named itself: no list of public hosts includes it.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import secrets
import socket
import ssl
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

from handrail.errors import InvalidAction
from handrail.hosts import read_address, why_private
from handrail_maestro.files import Workspace

TIMEOUT_S = 30.0
MOST_BYTES = 5 << 20
MOST_REDIRECTS = 5
_METHODS = frozenset({"GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_OWN_HEADERS = frozenset({"host", "content-length", "transfer-encoding", "connection"})
_ELSEWHERE = frozenset({"authorization", "cookie", "proxy-authorization"})
"""Headers that another host is not told."""


class CallRefused(Exception):
    """A call that is not made; its words are what the script hears."""


@dataclass(slots=True)
class HttpCalls:
    """HTTP of one run's scripts. `allowed` are hosts that the command line named, `knows` asks the policy.

    Each request is written to the journal without its query, headers and body, which may hold keys.
    """

    workspace: Workspace
    allowed: Collection[str] = ()
    knows: Callable[[str], bool] = lambda _: False
    note: Callable[[dict[str, Any]], None] = lambda _: None

    async def __call__(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        event = {"kind": "script_http", "method": str(asked.get("method", "GET"))[:10].upper()}
        event["address"] = _without_query(str(asked.get("url", "")))
        self.note(event | {"state": "asked"})
        answer = await self._answer(asked)
        self.note(event | {"state": "refused" if "refused" in answer else f"answered {answer['status']}"})
        return answer

    async def _answer(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return await asyncio.to_thread(self._call, asked)
        except (CallRefused, InvalidAction) as error:
            return {"refused": str(error)}
        except (OSError, http.client.HTTPException, ValueError) as error:
            return {"refused": f"the call failed: {type(error).__name__}: {error}"[:500]}

    def _call(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        method, url = str(asked.get("method", "GET")).upper(), str(asked.get("url", ""))
        if method not in _METHODS:
            raise CallRefused(f"{method[:20]} is not an HTTP method")
        headers = {str(name): str(value) for name, value in dict(asked.get("headers") or {}).items()}
        headers = {name: value for name, value in headers.items() if name.lower() not in _OWN_HEADERS}
        body = self._body(asked, headers)
        end = time.monotonic() + TIMEOUT_S
        for _ in range(MOST_REDIRECTS + 1):
            answer = self._once(method, url, headers, body, end)
            there = answer["headers"].get("location")
            if answer["status"] not in _REDIRECTS or not there:
                return answer
            before, url = url, urljoin(url, there)
            if answer["status"] in (301, 302, 303) and method != "HEAD":
                method, body = "GET", None
            if read_address(before) != read_address(url):
                headers = {name: one for name, one in headers.items() if name.lower() not in _ELSEWHERE}
        raise CallRefused("it was redirected too often")

    def _once(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None, end: float
    ) -> dict[str, Any]:
        host, port, address = self._looked_up(url)
        parts = urlsplit(url)
        connection = _Connection(host, port, address, parts.scheme == "https", end)
        try:
            path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            connection.request(method, path, body=body, headers=dict(headers))
            response = connection.getresponse()
            data = _read(response, end)
        finally:
            connection.close()
        told = {name.lower(): value for name, value in response.getheaders()}
        is_ok = 200 <= response.status < 300
        text = data.decode("utf-8", "replace")
        return {"ok": is_ok, "status": response.status, "body": text, "headers": told}

    def _looked_up(self, url: str) -> tuple[str, int, str]:
        """Host, port and the one address that is dialled: it was judged, and is not looked up again."""
        found = read_address(url)
        if found is None:
            raise CallRefused(f"{url[:200]} is not an address that a script may call")
        host, port = found
        is_named = bool({host, f"{host}:{port}"} & set(self.allowed))
        if not is_named and not self.knows(host):
            raise CallRefused(f"the script wants to call {host}; allow it with --allow-http {host}")
        known = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        address = str(known[0][4][0])
        private = why_private(address)
        named = is_named if why_private(host) else address in self.allowed
        if private and not named:
            raise CallRefused(f"{host}: {private} It must be named itself: --allow-http {address}")
        return host, port, address

    def _body(self, asked: Mapping[str, Any], headers: dict[str, str]) -> bytes | None:
        form = asked.get("multipartForm")
        if isinstance(form, Mapping):
            border = secrets.token_hex(16)
            headers["Content-Type"] = f"multipart/form-data; boundary={border}"
            return self._form(form, border)
        body = asked.get("body")
        if body is None:
            return None
        return (body if isinstance(body, str) else json.dumps(body)).encode()

    def _form(self, form: Mapping[str, Any], border: str) -> bytes:
        """Texts, and files of the workspace."""
        parts = bytearray()
        for name, value in form.items():
            head = f'--{border}\r\nContent-Disposition: form-data; name="{_word(name)}"'
            if isinstance(value, Mapping) and "filePath" in value:
                path: Path = self.workspace.resolve(self.workspace.root / "-", str(value["filePath"]))
                kind = _word(value.get("mediaType", "application/octet-stream"))
                parts += f'{head}; filename="{_word(path.name)}"\r\nContent-Type: {kind}\r\n\r\n'.encode()
                parts += path.read_bytes()[:MOST_BYTES]
            else:
                parts += f"{head}\r\n\r\n{value}".encode()
            parts += b"\r\n"
        return bytes(parts) + f"--{border}--\r\n".encode()


def _without_query(url: str) -> str:
    """Scheme, host, port and path; without what stands before an @."""
    try:
        parts = urlsplit(url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"[:300]
    except ValueError:
        return "not an address"


def _word(value: object) -> str:
    """A part of a header: no line break, no quote."""
    return "".join(char for char in str(value) if char.isprintable() and char != '"')[:200]


class _Connection(http.client.HTTPConnection):
    """To one address, whatever the name says by now."""

    def __init__(self, host: str, port: int, address: str, secure: bool, end: float) -> None:
        super().__init__(host, port, timeout=max(0.1, end - time.monotonic()))
        self._address = address
        self._secure = secure
        if secure:
            self.default_port = 443

    def connect(self) -> None:
        self.sock = socket.create_connection((self._address, self.port), self.timeout)
        if self._secure:
            self.sock = ssl.create_default_context().wrap_socket(self.sock, server_hostname=self.host)


def _read(response: http.client.HTTPResponse, end: float) -> bytes:
    data = bytearray()
    while part := response.read1(1 << 16):
        data += part
        if len(data) > MOST_BYTES:
            raise CallRefused(f"the answer has more than {MOST_BYTES >> 20} MB")
        if time.monotonic() > end:
            raise CallRefused(f"the call took more than {TIMEOUT_S:g} s")
    return bytes(data)

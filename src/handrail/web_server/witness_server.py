"""The witness as a web application: C2SP's tlog-witness, and three additions that our journals use.

`POST /add-checkpoint` is the protocol. `GET /key` gives the witness's key, `GET /checkpoint` what it signed
last of a log, and `/leaves` takes and gives the hashes of a log's leaves, checked against that.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Collection
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from handrail.clock import Clock
from handrail.errors import HandrailError
from handrail.journal.checkpoint import RememberedCheckpoint, SignedCheckpoint, WitnessedLog
from handrail.journal.merkle import HASH_BYTES, BadProof, Frontier, frontier_of
from handrail.journal.signed_note import BadNote, SigningKey, VerifierKey
from handrail.journal.witnesses import MOST_REQUEST_BYTES, AddCheckpoint, WitnessRefusal, judge_checkpoint
from handrail.web_server.auth import HostRules
from handrail.web_server.responses import on_unknown, refusal_response

MOST_LEAVES_BYTES = 256 * 1024 * 1024  # in one request: a new journal with eight million entries
MOST_LEAVES_GIVEN = 8192

Keys = Callable[[], Collection[VerifierKey]]


class Witness:
    """Signs for the logs whose keys it is given. One process has the folder; writes are serial."""

    def __init__(self, folder: Path, signer: SigningKey, keys: Keys, clock: Clock) -> None:
        self.signer = signer
        self._folder = folder
        self._keys = keys
        self._clock = clock
        self._lock = threading.Lock()
        self._trees: dict[str, Frontier] = {}
        """The tree over the stored leaves, by log; recomputed after a restart."""

    def add_checkpoint(self, body: bytes) -> WitnessRefusal | str:
        """Stores the checkpoint and returns its countersignature, or a refusal with an HTTP status."""
        try:
            request = AddCheckpoint.parse(body)
        except (BadNote, BadProof) as error:
            return WitnessRefusal(400, f"{error}\n")
        checkpoint = request.signed.checkpoint
        with self._lock:
            log = self._log_of(checkpoint.origin)
            last = log.last()
            refusal = judge_checkpoint(request, self._keys(), last.signed.checkpoint if last else None)
            if refusal is not None:
                return refusal
            line = self.signer.sign(checkpoint.text, self._clock.now_ms() // 1000)
            log.keep(SignedCheckpoint(checkpoint, request.signed.note.with_signatures([line])))
            return str(line)

    def last(self, origin: str) -> RememberedCheckpoint | None:
        return self._log_of(origin).last()

    def leaf_count(self, origin: str) -> int:
        last = self.last(origin)
        return self._log_of(origin).leaf_count(last.size) if last else 0

    def leaves(self, origin: str, first: int, most: int) -> bytes:
        count = max(0, min(most, MOST_LEAVES_GIVEN, self.leaf_count(origin) - first))
        if not count:
            return b""
        with self._log_of(origin).leaves.open("rb") as file:
            file.seek(first * HASH_BYTES)
            return file.read(count * HASH_BYTES)

    def missing_leaf_bytes(self, origin: str) -> int:
        """Bytes of the leaves that are missing up to the last checkpoint; no more are read."""
        last = self.last(origin)
        return min((last.size - self.leaf_count(origin)) * HASH_BYTES, MOST_LEAVES_BYTES) if last else 0

    def add_leaves(self, origin: str, first: int, data: bytes) -> WitnessRefusal | None:
        """All missing leaves or none: only all of them together can be checked."""
        with self._lock:
            log, last, count = self._log_of(origin), self.last(origin), self.leaf_count(origin)
            if last is None:
                return WitnessRefusal(404, f"no checkpoint of {origin} was signed here\n")
            if first != count or len(data) != (last.size - count) * HASH_BYTES:
                return WitnessRefusal(409, f"{count}\n")
            cached = self._trees.get(origin)
            tree = (cached if cached and cached.size == count else frontier_of(last.read_leaves())).copy()
            for at in range(0, len(data), HASH_BYTES):
                tree.add(data[at : at + HASH_BYTES])
            if tree.root() != last.root:
                return WitnessRefusal(422, "these leaves are not the ones of the last checkpoint\n")
            log.add_leaves(first, data)
            self._trees[origin] = tree
            return None

    def _log_of(self, origin: str) -> WitnessedLog:
        return WitnessedLog(self._folder, origin)


def build_witness(witness: Witness, rules: HostRules) -> Starlette:
    """The witness as an application, behind the Host and Origin rules."""
    app = Starlette(
        routes=[
            Route("/add-checkpoint", _add_checkpoint, methods=["POST"]),
            Route("/key", _show_key),
            Route("/checkpoint", _show_checkpoint),
            Route("/leaves", _show_leaves, methods=["GET"]),
            Route("/leaves", _add_leaves, methods=["POST"]),
        ],
        middleware=[Middleware(WitnessGuard, rules=rules)],
        exception_handlers={HandrailError: _on_failure, Exception: on_unknown},
    )
    app.state.witness = witness
    return app


class WitnessGuard:
    """Refuses pages of other sites."""

    def __init__(self, app: ASGIApp, rules: HostRules) -> None:
        self._app = app
        self._rules = rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            request = Request(scope)
            refusal = self._rules.wrong_host(request.headers)
            refusal = refusal or self._rules.wrong_origin(request.method, request.headers)
            if refusal is not None:
                await refusal_response(refusal)(scope, receive, send)
                return
        await self._app(scope, receive, send)


async def _on_failure(_: Request, error: Exception) -> Response:
    """A damaged folder or list of keys is our fault; the protocol's own statuses mean something else."""
    return PlainTextResponse(f"{error}\n", 500)


async def _read_body(request: Request, most: int) -> bytes:
    """The body. Raises 413 above `most` bytes, whatever Content-Length says."""
    data = bytearray()
    async for part in request.stream():
        data += part
        if len(data) > most:
            raise HTTPException(413, f"at most {most} bytes are read")
    return bytes(data)


async def _add_checkpoint(request: Request) -> Response:
    witness: Witness = request.app.state.witness
    answer = await asyncio.to_thread(witness.add_checkpoint, await _read_body(request, MOST_REQUEST_BYTES))
    return PlainTextResponse(answer) if isinstance(answer, str) else _refusal(answer)


def _refusal(refusal: WitnessRefusal) -> Response:
    """A refusal, with the content type that the protocol demands."""
    return Response(refusal.text, refusal.status, {"content-type": refusal.content_type})


async def _show_key(request: Request) -> Response:
    return PlainTextResponse(f"{request.app.state.witness.signer.verifier}\n")


async def _show_checkpoint(request: Request) -> Response:
    witness: Witness = request.app.state.witness
    last = await asyncio.to_thread(witness.last, _origin(request))
    if last is None:
        raise HTTPException(404, "no checkpoint of this log was signed here")
    return PlainTextResponse(str(last.signed))


async def _show_leaves(request: Request) -> Response:
    witness: Witness = request.app.state.witness
    origin = _origin(request)
    if "count" in request.query_params:
        return PlainTextResponse(f"{await asyncio.to_thread(witness.leaf_count, origin)}\n")
    first, most = _read_number(request, "first"), _read_number(request, "most")
    data = await asyncio.to_thread(witness.leaves, origin, first, most)
    return Response(data, media_type="application/octet-stream")


async def _add_leaves(request: Request) -> Response:
    witness: Witness = request.app.state.witness
    origin, first = _origin(request), _read_number(request, "first")
    data = await _read_body(request, await asyncio.to_thread(witness.missing_leaf_bytes, origin))
    answer = await asyncio.to_thread(witness.add_leaves, origin, first, data)
    return PlainTextResponse("kept\n") if answer is None else _refusal(answer)


def _origin(request: Request) -> str:
    return request.query_params.get("origin", "")


def _read_number(request: Request, name: str) -> int:
    text = request.query_params.get(name, "")
    if not text.isascii() or not text.isdecimal() or len(text) > 18:
        raise HTTPException(400, f"{name} is a number")
    return int(text)

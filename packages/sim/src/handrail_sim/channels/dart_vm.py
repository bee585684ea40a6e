"""The Dart VM service of a Flutter app: JSON-RPC over a WebSocket behind a secret path, as in a debug build.

Frames are told on the Extension stream, in batches, as Flutter's engine reports their timings.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from typing import Any, ClassVar, Protocol

from handrail_sim.channels.http import Request, Response, serve
from handrail_sim.channels.websocket import WebSocket, accept
from handrail_sim.stream import Stream
from handrail_sim.system.activities import Context
from handrail_sim.waiting import beside

BATCH_MS, FRAME_MS = 100.0, 16.7
ISOLATE = "isolates/3784301023457351"
PARSE_ERROR, NOT_FOUND, BAD_PARAMS, TWICE, NOT_LISTENING, NO_COMPILE = -32700, -32601, -32602, 103, 104, 113
_TREE = "ext.flutter.debugDumpSemanticsTreeIn"
DUMPS = (f"{_TREE}TraversalOrder", f"{_TREE}InverseHitTestOrder")
FLAGS = ("ext.flutter.didSendFirstFrameEvent", "ext.flutter.didSendFirstFrameRasterizedEvent")
LIBRARIES: dict[str, tuple[str, ...]] = {
    "package:flutter_lab/main.dart": ("WidgetsBinding",),
    "package:flutter/src/semantics/binding.dart": ("SemanticsBinding",),
    "package:flutter/src/rendering/binding.dart": ("SemanticsBinding", "RendererBinding"),
    "package:flutter/src/widgets/binding.dart": ("SemanticsBinding", "RendererBinding", "WidgetsBinding"),
}
"""By address: the bindings that an expression can name there."""
_ENSURE = re.compile(r"\s*(\w+)\.instance\s*!?\.ensureSemantics\(\)\s*;?\s*")
Params = dict[str, Any]


class FlutterApp(Protocol):
    """A Flutter app in its process."""

    package: ClassVar[str]
    phone: Context
    secret: str
    semantics: bool
    drawing_until_ms: float
    viewers: set[asyncio.Event]

    def build_semantics(self) -> None: ...


async def serve_app(app: FlutterApp, stream: Stream) -> None:
    async def answer(request: Request) -> Response:
        if not request.path.startswith(f"/{app.secret}"):
            return Response(b"missing or invalid authentication code", 403)
        return Response(b"Dart VM service", headers={"Server": "Dart"})

    async def talk(request: Request, stream: Stream) -> None:
        if request.path != f"/{app.secret}/ws":
            await stream.write(Response(b"", 403).encode(keep_alive=False))
            return
        socket = await accept(request, stream)
        if socket is not None:
            await Session(app, socket).serve()

    await serve(stream, answer, talk)


class Refusal(Exception):
    """An answer with `error`."""

    def __init__(self, code: int, message: str, details: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.details = details


class Session:
    """One client."""

    def __init__(self, app: FlutterApp, socket: WebSocket) -> None:
        self._app = app
        self._socket = socket
        self._streams: set[str] = set()
        self._frame = 0
        self._wake = asyncio.Event()
        self._methods: dict[str, Callable[[Params], Params]] = {
            "getVersion": lambda _: {"type": "Version", "major": 4, "minor": 16},
            "getVM": self._vm,
            "getIsolate": self._isolate,
            "evaluate": self._evaluate,
            "streamListen": self._listen,
            "streamCancel": self._cancel,
            **dict.fromkeys(DUMPS, self._dump),
            **dict.fromkeys(FLAGS, self._flag),
        }

    async def serve(self) -> None:
        self._app.viewers.add(self._wake)
        try:
            async with beside(self._tell_frames(), "frames of a Flutter app"):
                while (text := await self._socket.read()) is not None:
                    await self._answer(text)
        finally:
            self._app.viewers.discard(self._wake)

    async def _answer(self, text: str) -> None:
        try:
            message = json.loads(text)
            number, method = message.get("id"), message.get("method")
        except (ValueError, AttributeError):
            await self._send({"id": None, "error": {"code": PARSE_ERROR, "message": "Parse error"}})
            return
        self._app.phone.catch_up()
        try:
            work = self._methods.get(method)
            if work is None:
                raise Refusal(NOT_FOUND, "Method not found")
            await self._send({"id": number, "result": work(message.get("params") or {})})
        except Refusal as refusal:
            data = {"data": {"details": refusal.details}} if refusal.details else {}
            await self._send({"id": number, "error": {"code": refusal.code, "message": str(refusal), **data}})

    async def _send(self, message: Params) -> None:
        try:
            await self._socket.write(json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")))
        except BrokenPipeError:
            return

    # what is asked

    def _vm(self, _: Params) -> Params:
        return {
            "type": "VM",
            "name": "vm",
            "pid": self._app.phone.packages.pid_of(self._app.package),
            "isolates": [REF],
        }

    def _isolate(self, params: Params) -> Params:
        self._check(params)
        matches = [
            {"type": "@Library", "id": f"libraries/{at}", "name": "", "uri": uri}
            for at, uri in enumerate(LIBRARIES, 1)
        ]
        full = {"type": "Isolate", "rootLib": matches[0], "libraries": matches, "runnable": True}
        return {**REF, **full, "extensionRPCs": [*FLAGS, *DUMPS]}

    def _check(self, params: Params) -> None:
        if params.get("isolateId") != ISOLATE:
            raise Refusal(
                BAD_PARAMS, "Invalid params", f"invalid 'isolateId' parameter: {params.get('isolateId')}"
            )

    def _evaluate(self, params: Params) -> Params:
        """Of all of Dart only the call that builds the semantics tree; the rest does not compile here."""
        self._check(params)
        targets = {f"libraries/{at}": names for at, names in enumerate(LIBRARIES.values(), 1)}
        expression = str(params.get("expression", ""))
        names, call = targets.get(str(params.get("targetId"))), _ENSURE.fullmatch(expression)
        if names is None:
            raise Refusal(BAD_PARAMS, "Invalid params", "invalid 'targetId' parameter")
        if call is None or call[1] not in names:
            raise Refusal(NO_COMPILE, "Expression compilation error", f"Error: can't compile {expression!r}")
        self._app.build_semantics()
        kind = {"type": "@Class", "id": "classes/2210", "name": "SemanticsHandle"}
        return {"type": "@Instance", "kind": "PlainInstance", "id": "objects/1", "class": kind}

    def _dump(self, params: Params) -> Params:
        """It only tells; what it says without a tree is Flutter's own advice, shortened."""
        self._check(params)
        if self._app.semantics or self._app.phone.accessibility_requested:
            return {
                "type": "_extensionType",
                "data": "SemanticsNode#0\n │ Rect.fromLTRB(0.0, 0.0, 411.4, 914.3)\n",
            }
        reply = (
            "Semantics not generated for RenderView#1.\nThe framework generates semantics only when asked to."
        )
        return {"type": "_extensionType", "data": reply}

    def _flag(self, params: Params) -> Params:
        self._check(params)
        return {"type": "_extensionType", "enabled": "true"}

    # streams

    def _listen(self, params: Params) -> Params:
        name = str(params.get("streamId", ""))
        if name in self._streams:
            raise Refusal(TWICE, "Stream already subscribed")
        self._streams.add(name)
        return {"type": "Success"}

    def _cancel(self, params: Params) -> Params:
        name = str(params.get("streamId", ""))
        if name not in self._streams:
            raise Refusal(NOT_LISTENING, "Stream not subscribed")
        self._streams.discard(name)
        return {"type": "Success"}

    async def _tell_frames(self) -> None:
        """Sleeps until something is drawn; an app at rest draws nothing."""
        phone = self._app.phone
        while True:
            await self._wake.wait()
            self._wake.clear()
            moving = True
            while moving:
                began = phone.clock.monotonic_ms()
                await phone.clock.sleep_ms(BATCH_MS)
                phone.catch_up()
                now = phone.clock.monotonic_ms()
                moving = now < self._app.drawing_until_ms
                await self._tell(max(1, int((min(now, self._app.drawing_until_ms) - began) / FRAME_MS)))

    async def _tell(self, frames: int) -> None:
        if "Extension" not in self._streams:
            return
        for _ in range(frames):
            self._frame += 1
            data = {"number": self._frame, "elapsed": 6000, "build": 2000, "raster": 4000}
            event: Params = {
                "type": "Event",
                "kind": "Extension",
                "isolate": REF,
                "extensionKind": "Flutter.Frame",
            }
            event |= {"extensionData": data, "timestamp": self._app.phone.wall_ms()}
            await self._send({"method": "streamNotify", "params": {"streamId": "Extension", "event": event}})


REF: Params = {"type": "@Isolate", "id": ISOLATE, "name": "main", "number": ISOLATE.rpartition("/")[2]}

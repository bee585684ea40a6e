"""React Native's debugger: Metro's port on the host, the DevTools protocol, a JavaScript runtime."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import quickjs  # type: ignore[import-untyped]

from handrail_sim.channels.http import Request, Response, json_response, serve
from handrail_sim.channels.react_component import component_of
from handrail_sim.channels.websocket import accept
from handrail_sim.stream import Stream
from handrail_sim.waiting import Background

if TYPE_CHECKING:
    from collections.abc import Iterator

    from handrail_sim.channels.websocket import WebSocket
    from handrail_sim.system.activities import Context
    from handrail_sim.timers import Timer
    from handrail_sim.view.view import View
    from handrail_sim.view.windows import Window


FIRST_TAG = 5
_HOSTS = {
    "android.widget.TextView": "RCTText",
    "android.widget.EditText": "AndroidTextInput",
    "android.widget.ImageView": "RCTImageView",
    "android.widget.ScrollView": "RCTScrollView",
    "com.horcrux.svg.SvgView": "RNSVGSvgView",
    "com.horcrux.svg.GroupView": "RNSVGGroup",
    "com.horcrux.svg.PathView": "RNSVGPath",
}
_DRAWN_BY = {"RCTText": "Text", "RCTImageView": "Image", "RCTScrollView": "ScrollView", "RNSVGSvgView": "Svg"}
_DRAWN_BY |= {"RNSVGGroup": "G", "RNSVGPath": "Path", "AndroidTextInput": "TextInput", "RCTView": "View"}


def window_of(phone: Context, package: str) -> Window | None:
    own = [window for window in phone.windows() if window.package == package]
    return own[-1] if own else None


def fibers_of(phone: Context, window: Window) -> dict[str, Any] | None:
    """The outermost view that a component drew, with everything below it."""
    drawn = next((view for view in window.views() if component_of(view) is not None), None)
    return _of(phone, drawn, count(FIRST_TAG, 2)) if drawn is not None else None


def _of(phone: Context, view: View, tags: Iterator[int]) -> dict[str, Any]:
    """The view's host, the component of React Native that draws such a host, and the app's own."""
    units, top = phone.units, phone.display.status_px
    host = _HOSTS.get(view.cls, "RCTView")
    component = component_of(view)
    return {
        "tag": next(tags),
        "host": host,
        "native": "Pressable" if view.on_click is not None else _DRAWN_BY[host],
        "component": component.name if component else None,
        "given": dict(component.props) if component else {},
        "props": _props(view),
        "box": [view.x / units.dp, (view.y - top) / units.dp, view.w / units.dp, view.h / units.dp],
        "children": [_of(phone, child, tags) for child in view.children],
    }


def _props(view: View) -> dict[str, Any]:
    matches: dict[str, Any] = {"accessible": view.on_click is not None}
    if view.text:
        matches["children"] = view.text
    if view.desc:
        matches["accessibilityLabel"] = view.desc
    if view.id.startswith("=") and len(view.id) > 1:
        matches["testID"] = view.id[1:]
    return matches


STRANGE_MS = 300.0
"""How long a request takes that the app's own server does not know."""
FRAME_MS = 16.0
MEASURE_MS = 4.0
"""The native side answers a measurement later."""
LONGEST_S = 1.0
"""Of computing in one visit; a phone would call the app not responding after five."""
MOST_BYTES = 64 << 20
MOST_JOBS = 10_000
"""Reactions of promises after one visit; what is left over waits for the next."""
_HERE = Path(__file__).parent


class ScriptStopped(Exception):
    """A script took too long or too much, or broke what answers are made with."""


class Runtime:
    """One context."""

    def __init__(self, phone: Context, package: str) -> None:
        self.phone = phone
        self.package = package
        self._timers: dict[int, Timer] = {}
        self._expected: set[str] = set()
        self._waiting: dict[str, int] = {}
        self._shown: tuple[object, ...] = ()
        self._context = quickjs.Context()
        self._context.set_time_limit(LONGEST_S)
        self._context.set_memory_limit(MOST_BYTES)
        make = self._context.eval((_HERE / "context.js").read_text("utf-8"))
        prelude = (_HERE / "prelude.js").read_text("utf-8")
        self._door = make(float(phone.seed), MEASURE_MS, FRAME_MS, prelude)

    # what debuggers do

    def evaluate(self, source: str, *, by_value: bool, wait: bool) -> dict[str, Any]:
        """CDP's answer, or {"awaited": number} for a promise that somebody waits for."""
        self._show()
        answer = self._visit("run", source, by_value, wait)
        if not isinstance(answer, dict):
            raise ScriptStopped("the context does not answer")
        return answer

    def settled(self, number: int) -> dict[str, Any] | None:
        """What an awaited promise came to, once; None while it is pending."""
        answer: dict[str, Any] | None = self._visit("settled", number)
        return answer

    # what the app does

    def fetch(self, url: str) -> None:
        """The app asks its server, by whatever `fetch` is in the context now; `respond` will answer."""
        self._expected.add(url)
        self._quietly("fetch", url)

    def respond(self, url: str) -> None:
        self._expected.discard(url)
        number = self._waiting.pop(url, None)
        if number is not None:
            self._quietly("respond", number, 200, "{}")

    def close(self) -> None:
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    # visits

    def _show(self) -> None:
        """Give the context the screen of now, if it has another one."""
        window = window_of(self.phone, self.package)
        now = (window, window.version) if window is not None else ()
        if now != self._shown:
            self._shown = now
            tree = fibers_of(self.phone, window) if window is not None else None
            self._visit("show", json.dumps(tree))

    def _quietly(self, visit: str, *arguments: str | float) -> None:
        try:
            self._visit(visit, *arguments)
        except ScriptStopped as stopped:
            self._log("E", str(stopped))

    def _visit(self, visit: str, *arguments: str | float) -> Any:
        try:
            return self._enter(visit, *arguments)
        finally:
            self._react()
            self._run_requests()

    def _enter(self, visit: str, *arguments: str | float) -> Any:
        try:
            now = (float(self.phone.now_ms()), float(self.phone.wall_ms()))  # integers lose all but 32 bits
            fields = self._door(visit, *now, *arguments)
            return None if fields is None else json.loads(fields)
        except (quickjs.JSException, ValueError, TypeError) as error:
            raise ScriptStopped(str(error).partition("\n")[0]) from None

    def _react(self) -> None:
        for _ in range(MOST_JOBS):
            try:
                if not self._context.execute_pending_job():
                    return
            except quickjs.JSException as error:
                self._log("E", str(error).partition("\n")[0])

    def _run_requests(self) -> None:
        try:
            requested = self._enter("empty")
        except ScriptStopped:
            return
        for name, *content in requested if isinstance(requested, list) else ():
            match name:
                case "log":
                    self._log(*content)
                case "timer":
                    self._set(*content)
                case "clear":
                    self._clear(*content)
                case "request":
                    self._request(*content)

    def _log(self, level: str, text: str) -> None:
        self.phone.logcat(level, "ReactNativeJS", text, self.package)

    def _set(self, number: int, wait_ms: float, again: bool) -> None:
        def ring() -> None:
            if again:
                self.phone.timers.again(timer, timer.due_ms + wait_ms)
            else:
                self._timers.pop(number, None)
            self._show()
            self._quietly("fire", number)

        timer = self._timers[number] = self.phone.later(wait_ms, ring)

    def _clear(self, number: int) -> None:
        timer = self._timers.pop(number, None)
        if timer is not None:
            timer.cancel()

    def _request(self, number: int, url: str) -> None:
        if url in self._expected:
            self._waiting[url] = number
        else:
            self.phone.later(STRANGE_MS, lambda: self._quietly("respond", number, 404, ""))


CONTEXT = 1
POLL_MS = 10.0
"""How often a promise that somebody awaits is looked at: the phone's timers run when somebody looks."""
NOT_FOUND, BAD_REQUEST, BAD_JSON = -32601, -32602, -32700
Params = dict[str, Any]


class Refusal(Exception):
    """An answer with `error`."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Session:
    """One debugger."""

    def __init__(self, socket: WebSocket, runtime: Runtime) -> None:
        self._socket = socket
        self._runtime = runtime
        self._methods: dict[str, Callable[[Params], Awaitable[Params]]] = {
            "Runtime.enable": self._enable,
            "Runtime.disable": _nothing,
            "Runtime.evaluate": self._evaluate,
            "Runtime.runIfWaitingForDebugger": _nothing,
            "Runtime.discardConsoleEntries": _nothing,
            "Runtime.getHeapUsage": self._heap,
            "Debugger.enable": self._debugger,
            "Debugger.disable": _nothing,
        }

    async def serve(self) -> None:
        """Until the client goes. A promise that is awaited does not hold up other questions."""
        async with Background() as answering:
            while (text := await self._socket.read()) is not None:
                answering.start(self._answer(text), "answer to a debugger")

    async def _answer(self, text: str) -> None:
        try:
            message = json.loads(text)
            number, method = message["id"], message["method"]
        except (ValueError, KeyError, TypeError):
            await self._send({"error": {"code": BAD_JSON, "message": "Malformed JSON"}})
            return
        try:
            work = self._methods.get(method)
            if work is None:
                raise Refusal(NOT_FOUND, f"Unsupported method '{method}'")
            answer: Params = {"result": await work(message.get("params") or {})}
        except Refusal as refusal:
            answer = {"error": {"code": refusal.code, "message": str(refusal)}}
        await self._send({"id": number, **answer})

    async def _send(self, message: Params) -> None:
        try:
            await self._socket.write(json.dumps(message, separators=(",", ":")))
        except BrokenPipeError:
            return

    async def _enable(self, _: Params) -> Params:
        context = {"id": CONTEXT, "origin": "", "name": "main", "auxData": {"isDefault": True}}
        await self._send({"method": "Runtime.executionContextCreated", "params": {"context": context}})
        return {}

    async def _debugger(self, _: Params) -> Params:
        return {"debuggerId": "1"}

    async def _heap(self, _: Params) -> Params:
        return {"usedSize": 4_194_304, "totalSize": 8_388_608}

    async def _evaluate(self, params: Params) -> Params:
        source = params.get("expression")
        if not isinstance(source, str):
            raise Refusal(BAD_REQUEST, "Invalid parameters: expression: string value expected")
        if params.get("contextId", CONTEXT) != CONTEXT:
            raise Refusal(BAD_REQUEST, "Cannot find context with specified id")
        phone, runtime = self._runtime.phone, self._runtime
        phone.catch_up()
        wait = bool(params.get("awaitPromise"))
        try:
            answer = runtime.evaluate(source, by_value=bool(params.get("returnByValue")), wait=wait)
            while "awaited" in answer:
                await phone.clock.sleep_ms(POLL_MS)
                phone.catch_up()
                answer = runtime.settled(answer["awaited"]) or answer
        except ScriptStopped as stopped:
            raise Refusal(BAD_REQUEST, str(stopped)) from None
        return answer


async def _nothing(_: Params) -> Params:
    return {}


CHUNK = 65536
Serve = Callable[[Stream, int], Awaitable[None]]
"""One connection, and the port it came to."""


@asynccontextmanager
async def listening(serve: Serve, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[int]:
    """Listen while the block runs; gives the port. Open connections are cut at its end."""
    held = Background()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        held.start(_served(serve, _Socket(reader, writer), bound), "a connection to the phone")

    server = await asyncio.start_server(connected, host, port)
    bound: int = server.sockets[0].getsockname()[1]
    try:
        yield bound
    finally:
        server.close()
        await held.close()
        await server.wait_closed()


async def _served(serve: Serve, stream: _Socket, port: int) -> None:
    try:
        await serve(stream, port)
    finally:
        await stream.disconnected()


class _Socket:
    """A TCP connection as a stream."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def read(self) -> bytes:
        try:
            return await self._reader.read(CHUNK)
        except ConnectionError:
            return b""

    async def write(self, data: bytes) -> None:
        try:
            self._writer.write(data)
            await self._writer.drain()
        except ConnectionError:
            raise BrokenPipeError from None

    def close(self) -> None:
        self._writer.close()

    async def disconnected(self) -> None:
        self.close()
        try:
            await self._writer.wait_closed()
        except ConnectionError:
            return


PORT = 8081


class DebuggedApp(Protocol):
    """An app in its process."""

    package: ClassVar[str]
    phone: Context
    js: Runtime | None


async def serve_app(app: DebuggedApp, stream: Stream, port: int = PORT) -> None:
    async def answer(request: Request) -> Response:
        if request.path in ("/json", "/json/list"):
            return json_response(_targets(app, port))
        if request.path == "/json/version":
            return json_response({"Browser": "Mobile JavaScript", "Protocol-Version": "1.1"})
        if request.path == "/status":
            return Response(b"packager-status:running", headers={"X-React-Native-Project-Root": "/app"})
        return Response(b"Not Found", 404)

    async def debug(request: Request, stream: Stream) -> None:
        if request.path != "/inspector/debug":
            await stream.write(Response(b"", 404).encode(keep_alive=False))
            return
        socket = await accept(request, stream)
        if socket is not None:
            app.js = app.js or Runtime(app.phone, app.package)
            await Session(socket, app.js).serve()

    await serve(stream, answer, debug)


def _targets(app: DebuggedApp, port: int) -> list[dict[str, object]]:
    """As React Native 0.74 lists them: the context, and a stand-in for it that survives reloads."""
    model = app.phone.props.get("ro.product.model", "")
    pages = {1: ("Hermes React Native", "Hermes")}
    pages[-1] = ("React Native Experimental (Improved Chrome Reloads)", "don't use")
    return [
        {
            "id": f"0-{page}",
            "title": title,
            "description": app.package,
            "appId": app.package,
            "type": "node",
            "vm": vm,
            "deviceName": model,
            "webSocketDebuggerUrl": f"ws://[::1]:{port}/inspector/debug?device=0&page={page}",
        }
        for page, (title, vm) in pages.items()
    ]


@asynccontextmanager
async def on_host(app: DebuggedApp, port: int = 0, host: str = "127.0.0.1") -> AsyncIterator[int]:
    """The same on a port of this machine while the block runs; gives the port."""
    async with listening(lambda stream, bound: serve_app(app, stream, bound), host, port) as bound:
        yield bound

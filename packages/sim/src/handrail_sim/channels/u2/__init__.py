"""The uiautomator2 server inside the phone: HTTP on port 9008, JSON-RPC behind it, run by app_process.

`main` is the jar's main class; the port is served before the command says its first word.
"""

from __future__ import annotations

import asyncio
import shlex
from base64 import b64encode
from io import BytesIO
from typing import Any

from handrail_sim import shell
from handrail_sim.channels.http import HelperLife, Request, Response, json_response, listening
from handrail_sim.channels.u2 import objects  # noqa: F401 - they register methods
from handrail_sim.channels.u2.objects import CLICK_MS, press
from handrail_sim.channels.u2.selector import Selector
from handrail_sim.channels.u2.server import METHODS, JavaError, Server, Watcher, method, methods, respond
from handrail_sim.screen.accessibility import active_window
from handrail_sim.shell.call import Call
from handrail_sim.waiting import first

KEYS = {"home": 3, "back": 4, "left": 21, "right": 22, "up": 19, "down": 20, "center": 23, "menu": 82}
KEYS |= {
    "search": 84,
    "enter": 66,
    "delete": 67,
    "del": 67,
    "recent": 187,
    "volume_up": 24,
    "volume_down": 25,
}
KEYS |= {"volume_mute": 164, "camera": 27, "power": 26}
WAITS_FOR_EVENT = frozenset(
    {"home", "back", "left", "right", "up", "down", "center", "menu", "search", "enter"}
)
KEY_EVENT_MS = 1000.0
CTRL = 0x3000  # META_CTRL_ON | META_CTRL_LEFT_ON
IDLE_MS = 500.0
SLEEP_KEY, WAKE_KEY = 223, 224


@method("deviceInfo")
async def _device_info(server: Server) -> dict[str, Any]:
    phone = server.phone
    phone.catch_up()
    display, active = phone.display, active_window(phone)
    dp = display.density / 160
    return {
        "currentPackageName": active.package if active is not None else None,
        "displayHeight": display.height,
        "displayRotation": display.rotation,
        "displaySizeDpX": round(display.width / dp),
        "displaySizeDpY": round(display.height / dp),
        "displayWidth": display.width,
        "productName": phone.props.get("ro.product.name", ""),
        "screenOn": phone.awake,
        "sdkInt": int(phone.props.get("ro.build.version.sdk", "34")),
        "naturalOrientation": display.rotation in (0, 2),
    }


# keys


@method("pressKey", "text")
async def press_key(server: Server, name: str) -> bool:
    """Most keys are true only if something answered them."""
    name = name.lower()
    code = KEYS.get(name)
    if code is None:
        return False
    before = server.events
    server.phone.key(code)
    return name not in WAITS_FOR_EVENT or await server.acknowledged(before, KEY_EVENT_MS)


@method("pressKeyCode", "int")
@method("pressKeyCode", "int", "int")
async def _press_key_code(server: Server, code: int, meta: int = 0) -> bool:
    server.phone.key(code, meta=meta)
    return True


# clipboard and text


@method("setClipboard", "text", "text")
async def _set_clipboard(server: Server, label: str | None, text: str | None) -> None:  # noqa: ARG001
    server.phone.clipboard = text or ""


@method("clearInputText")
async def _clear_input_text(server: Server) -> None:
    server.phone.key(29, meta=CTRL)
    server.phone.key(67)


# toasts and traversed text


@method("getLastToast")
async def _get_last_toast(server: Server) -> str | None:
    server.phone.catch_up()
    return server.last_toast


@method("clearLastToast")
async def _clear_last_toast(server: Server) -> None:
    server.last_toast = None


@method("clearLastTraversedText")
async def _clear_last_traversed_text(server: Server) -> None:
    server.last_text = None


# the system


@method("openNotification")
async def _open_notification(server: Server) -> bool:
    server.phone.systemui.open_shade()
    return True


@method("openQuickSettings")
async def _open_quick_settings(server: Server) -> bool:
    server.phone.systemui.open_shade(quick_settings=True)
    return True


@method("setOrientation", "text")
async def _set_orientation(server: Server, way: str) -> None:
    turns = {"natural": 0, "n": 0, "left": 1, "l": 1, "right": 3, "r": 3}
    turn = turns.get(way.lower())
    if turn is not None:
        server.phone.settings["system"]["accelerometer_rotation"] = "0"
        server.phone.set_rotation(turn)


@method("freezeRotation", "bool")
async def _freeze_rotation(server: Server, frozen: bool) -> None:
    server.phone.settings["system"]["accelerometer_rotation"] = "0" if frozen else "1"


@method("launchApp", "text")
async def _launch_app(server: Server, package: str) -> bool:
    phone = server.phone
    if not phone.packages.component(package):
        return False
    phone.start_activity(package=package, action="android.intent.action.MAIN")
    return True


@method("waitForIdle", "int")
async def _wait_for_idle(server: Server, timeout_ms: int) -> None:
    clock = server.phone.clock

    def quiet() -> bool:
        return clock.monotonic_ms() - server.last_event_ms >= IDLE_MS

    await server.until(quiet, timeout_ms, 50.0)


@method("waitForWindowUpdate", "text", "int")
async def _wait_for_window_update(server: Server, package: str | None, timeout_ms: int) -> bool:
    before = server.content_events.get(package or "", 0)
    return await server.until(lambda: server.content_events.get(package or "", 0) > before, timeout_ms)


@method("setConfigurator", "object")
async def _set_configurator(server: Server, wanted: dict[str, Any]) -> dict[str, int]:
    server.settings.update({name: int(value) for name, value in wanted.items() if name in server.settings})
    return dict(server.settings)


# pictures and commands


@method("takeScreenshot", "float", "int")
async def _take_screenshot(server: Server, scale: float, quality: int) -> str | None:
    png = await server.phone.screenshot()
    return await server.phone.painted(lambda: _jpeg(png, scale, quality))


def _jpeg(png: bytes, scale: float, quality: int) -> str:
    from PIL import Image  # noqa: PLC0415 - only for those who ask for pictures

    picture = Image.open(BytesIO(png)).convert("RGB")
    if 0 < scale < 1:
        size = (max(1, round(picture.width * scale)), max(1, round(picture.height * scale)))
        picture = picture.resize(size, Image.Resampling.BILINEAR)
    out = BytesIO()
    picture.save(out, "JPEG", quality=max(1, min(100, quality)))
    return b64encode(out.getvalue()).decode()


@method("takeScreenshot", "text", "float", "int")
async def _save_screenshot(server: Server, name: str, scale: float, quality: int) -> str:  # noqa: ARG001
    path = f"/data/local/tmp/u2/{name}"
    server.phone.files.mkdir("/data/local/tmp/u2", parents=True)
    server.phone.files.write(path, await server.phone.screenshot())
    return path


@method("executeShellCommand", "text", "int")
async def _execute_shell_command(server: Server, command: str, timeout_ms: int) -> dict[str, Any]:
    """Java's exec splits at blanks and knows no shell."""
    words = command.split()
    if not words:
        raise JavaError("java.lang.IllegalArgumentException", "Empty command")
    run, _ = await first(
        shell.capture(server.phone, shlex.join(words)), server.phone.clock.sleep_ms(timeout_ms)
    )
    if run.cancelled():
        return {"returnCode": -1, "stderr": "", "stdout": ""}
    answer = run.result()
    return {"returnCode": answer.status, "stderr": answer.errors, "stdout": answer.text}


@method("registerClickUiObjectWatcher", "text", "selectors", "selector")
async def _register_click(server: Server, name: str, conditions: list[Selector], target: Selector) -> None:
    server.watchers[name] = Watcher(conditions, target=target)


@method("registerPressKeyskWatcher", "text", "selectors", "texts")
async def _register_keys(server: Server, name: str, conditions: list[Selector], keys: list[str]) -> None:
    server.watchers[name] = Watcher(conditions, keys=keys)


@method("removeWatcher", "text")
async def _remove(server: Server, name: str) -> None:
    server.watchers.pop(name, None)


@method("resetWatcherTriggers")
async def _reset(server: Server) -> None:
    for watcher in server.watchers.values():
        watcher.triggered = False


@method("runWatchers")
async def _run(server: Server) -> None:
    for watcher in list(server.watchers.values()):
        if all(server.find(condition) is not None for condition in watcher.conditions):
            watcher.triggered = await _act(server, watcher) or watcher.triggered


async def _act(server: Server, watcher: Watcher) -> bool:
    if watcher.target is not None:
        node = server.find(watcher.target)
        if node is None:
            return False
        await press(server, node, "center", CLICK_MS)
    for key in watcher.keys:
        await press_key(server, key)
    return True


methods(
    {
        "ping": lambda _: "pong",
        "wakeUp": lambda server: server.phone.key(WAKE_KEY),
        "sleep": lambda server: server.phone.key(SLEEP_KEY),
        "isScreenOn": lambda server: server.phone.awake,
        "getClipboard": lambda server: server.phone.read_clipboard("com.android.shell") or None,
        "pasteClipboard": lambda server: server.phone.key(50, meta=CTRL),
        "getLastTraversedText": lambda server: server.last_text,
        "getConfigurator": lambda server: dict(server.settings),
        "getWatchers": lambda server: list(server.watchers),
        "hasAnyWatcherTriggered": lambda server: any(
            watcher.triggered for watcher in server.watchers.values()
        ),
        "hasWatcherTriggered text": lambda server, name: (
            name in server.watchers and server.watchers[name].triggered
        ),
    }
)


__all__ = ["MAIN", "METHODS", "Server", "main"]

MAIN = "com.wetest.uia2.Main"
PORT = 9008
HELP = "usage: uiautomator2-server\n -h,--help         Print this help message\n -p,--port <arg>   "
HELP += "Port to listen on (1-65535, default: 9008)"


async def main(call: Call) -> int:
    """Serve until the command is ended, `/stop` is asked for, or a fault kills it."""
    if "-h" in call.args or "--help" in call.args:
        return await call.line(HELP)
    port = _port(call.args)
    if port is None:
        return await call.err(f"Invalid port: {call.args[-1]}. Must be an integer between 1 and 65535.")
    phone, name = call.phone, f"tcp:{port}"
    if name in phone.ports:
        return await call.err("java.net.BindException: Address already in use")
    http = Http(Server(phone), HelperLife(phone.faults))
    phone.on_event(http.server.on_accessibility_event)
    try:
        with phone.held_ui_automation(MAIN) as is_ours:
            if not is_ours:
                return await call.err(
                    "java.lang.IllegalStateException: UiAutomationService already registered!"
                )
            async with listening(phone.ports, name, http.answer):
                await call.line("[server] INFO: [UiAutomator2Server] Starting Server")
                await call.line(f"[server] INFO: http server listening on *:{port}")
                await http.ended.wait()
    finally:
        phone.off_event(http.server.on_accessibility_event)
    return 137 if http.life.is_dead else 0


def _port(args: list[str]) -> int | None:
    for place, word in enumerate(args):
        if word in ("-p", "--port") and place + 1 < len(args):
            text = args[place + 1]
            return int(text) if text.isdigit() and 1 <= int(text) <= 65535 else None
    return PORT


class Http:
    """The server's paths."""

    def __init__(self, server: Server, life: HelperLife) -> None:
        self.server = server
        self.life = life
        self.ended = life.ended

    async def answer(self, request: Request) -> Response:
        self.life.count_request()
        if request.path == "/ping":
            return Response(b"pong", content_type="text/html")
        if request.path == "/stop":
            asyncio.get_running_loop().call_soon(self.ended.set)
            return Response(b"Server stopped!!!", content_type="text/html")
        if request.path == "/screenshot/0":
            await self.server.phone.faults.delay("u2", "takeScreenshot")
            return Response(await self.server.phone.screenshot(), content_type="image/png")
        if request.path != "/jsonrpc/0":
            return Response(b"Not Found!!!", 404)
        if not request.body:
            return Response(b"Invalid http post data!", 500)
        return json_response(await respond(self.server, request.body))

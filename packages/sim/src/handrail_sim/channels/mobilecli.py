"""The on-device server of mobilecli, with which mobile-mcp drives phones: JSON-RPC on an abstract socket.

Started in the background by app_process; the client asks for its version, then for trees and screenshots.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Awaitable, Callable
from hashlib import sha256
from io import BytesIO
from typing import Any

from handrail_sim.channels.http import HelperLife, Request, Response, json_response, listening
from handrail_sim.handset import Handset
from handrail_sim.screen.accessibility import Node, tree
from handrail_sim.shell.call import Call

MAIN = "com.mobilenext.mobilecli.DeviceServer"
PORT = "localabstract:mobilecli-server"
IDLE_MS, POLL_MS = 500.0, 50.0
BACK_KEY = 4
NOT_FOUND, BAD_PARAMS, BAD_REQUEST = -32601, -32602, -32600

Method = Callable[[dict[str, Any]], Awaitable[Any]]


async def main(call: Call) -> int:
    """Serve until the process is ended."""
    phone = call.phone
    if PORT in phone.ports:
        return await call.err("Error: Address already in use")
    path = call.env.get("CLASSPATH", "")
    code = phone.files.read(path) if phone.files.is_file(path) else b""
    server = Server(phone, sha256(code).hexdigest(), HelperLife(phone.faults))
    phone.request_accessibility()
    async with listening(phone.ports, PORT, server.answer):
        await server.life.ended.wait()
    return 137


class RpcError(Exception):
    """An error object for the client."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Server:
    """The methods."""

    def __init__(self, phone: Handset, code_hash: str, life: HelperLife) -> None:
        self.phone = phone
        self.life = life
        self._hash = code_hash
        self._methods: dict[str, Method] = {
            "device.version": self._version,
            "device.dump.ui": self._dump,
            "device.screenshot": self._screenshot,
            "device.io.keyboard.hide": self._hide_keyboard,
            "device.clipboard.get": self._get_clipboard,
            "device.clipboard.set": self._set_clipboard,
            "device.clipboard.clear": self._clear_clipboard,
            "device.apps.list": self._apps,
            "device.location.set": self._set_location,
            "device.location.clear": self._clear_location,
        }

    async def answer(self, request: Request) -> Response:
        self.life.count_request()
        try:
            requested = json.loads(request.body)
        except ValueError:
            return json_response(_error(None, BAD_REQUEST, "Invalid request"))
        number = requested.get("id")
        try:
            method = self._methods.get(str(requested.get("method")))
            if method is None:
                raise RpcError(NOT_FOUND, f"Method not found: {requested.get('method')}")
            self.phone.catch_up()
            result = await method(requested.get("params") or {})
        except RpcError as error:
            return json_response(_error(number, error.code, str(error)))
        return json_response({"jsonrpc": "2.0", "id": number, "result": result})

    async def _version(self, _params: dict[str, Any]) -> dict[str, str]:
        return {"dexSha256": self._hash}

    async def _dump(self, params: dict[str, Any]) -> dict[str, Any]:
        """Every window from the top down; the keyboard only when all is asked for."""
        timeout_ms = float(params.get("waitUntilIdle", 0))
        clock = self.phone.clock
        end = clock.monotonic_ms() + timeout_ms
        while clock.monotonic_ms() < min(end, self.phone.last_event_ms + IDLE_MS):
            await clock.sleep_ms(POLL_MS)
            self.phone.is_idle()  # brings timers and animations up to now
        await self.phone.refresh_web()
        full = bool(params.get("full"))
        windows = [entry for entry in reversed(self.phone.windows()) if full or entry.type != "ime"]
        return {"hierarchy": [describe(tree(window)) for window in windows]}

    async def _screenshot(self, params: dict[str, Any]) -> dict[str, str]:
        png = await self.phone.screenshot()
        return {"data": b64encode(await self.phone.painted(lambda: _picture(png, params))).decode()}

    async def _hide_keyboard(self, _params: dict[str, Any]) -> dict[str, bool]:
        shown = self.phone.ime.visible
        if shown:
            self.phone.key(BACK_KEY)
        return {"dismissed": shown}

    async def _get_clipboard(self, _params: dict[str, Any]) -> dict[str, str]:
        return {"text": self.phone.read_clipboard("com.android.shell")}

    async def _set_clipboard(self, params: dict[str, Any]) -> dict[str, bool]:
        if "text" not in params:
            raise RpcError(BAD_PARAMS, "missing params.text")
        self.phone.clipboard = str(params["text"])
        return {"ok": True}

    async def _clear_clipboard(self, _params: dict[str, Any]) -> dict[str, bool]:
        self.phone.clipboard = ""
        return {"ok": True}

    async def _apps(self, _params: dict[str, Any]) -> list[dict[str, Any]]:
        return [
            {
                "packageName": package.name,
                "appName": package.label or package.name,
                "version": package.version_name,
                "versionCode": package.version_code,
            }
            for package in self.phone.packages.installed.values()
        ]

    async def _set_location(self, params: dict[str, Any]) -> dict[str, bool]:
        for name in ("lat", "lon"):
            if name not in params:
                raise RpcError(BAD_PARAMS, f"missing params.{name}")
        self.phone.props["sim.location"] = f"{float(params['lat'])},{float(params['lon'])}"
        return {"ok": True}

    async def _clear_location(self, _params: dict[str, Any]) -> dict[str, bool]:
        self.phone.props.pop("sim.location", None)
        return {"ok": True}


def _error(number: Any, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}}


def describe(node: Node, index: int = 0) -> dict[str, Any]:
    """A node as this server writes it: a hint is apart from the text it stands for."""
    left, top, right, bottom = node.bounds
    hinted = node.view.editable and not node.view.text
    fields: dict[str, Any] = {
        "index": index,
        "class": node.cls,
        "package": node.package,
        "text": "" if hinted else node.text,
        "hint": node.hint if hinted else "",
        "content-desc": node.desc,
        "resource-id": node.resource_id,
        "checkable": node.checkable,
        "checked": node.checked,
        "clickable": node.clickable,
        "enabled": node.enabled,
        "focusable": node.focusable,
        "focused": node.focused,
        "scrollable": node.scrollable,
        "long-clickable": node.long_clickable,
        "password": node.password,
        "selected": node.selected,
        "visible": True,
        "rect": {"x": left, "y": top, "width": right - left, "height": bottom - top},
    }
    if node.children:
        fields["children"] = [describe(child, number) for number, child in enumerate(node.children)]
    return fields


def _picture(png: bytes, params: dict[str, Any]) -> bytes:
    """As the client wants it: format, quality, scale, longest side, part of the screen."""
    from PIL import Image  # noqa: PLC0415 - only for those who ask for pictures

    picture: Image.Image = Image.open(BytesIO(png))
    clip = params.get("clip")
    if clip:
        ratio = picture.width / float(params.get("screenWidth") or picture.width)
        left, top = clip["x"] * ratio, clip["y"] * ratio
        right, bottom = left + clip["width"] * ratio, top + clip["height"] * ratio
        picture = picture.crop((round(left), round(top), round(right), round(bottom)))
    longest = int(params.get("maxSize") or 0)
    scale = min(1.0, float(params.get("scale") or 1), longest / max(picture.size) if longest else 1.0)
    if scale < 1:
        picture = picture.resize(
            (max(1, round(picture.width * scale)), max(1, round(picture.height * scale)))
        )
    out = BytesIO()
    if params.get("format") == "jpeg":
        picture.convert("RGB").save(out, "JPEG", quality=int(params.get("quality") or 90))
    else:
        picture.save(out, "PNG")
    return out.getvalue()

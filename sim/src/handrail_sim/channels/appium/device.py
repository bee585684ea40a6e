"""Commands on the whole phone: session, source, pictures, keys, alerts, rotation, clipboard, facts."""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error as BadBase64
from typing import Any
from uuid import UUID

from handrail_sim.channels.appium.elements import SESSION
from handrail_sim.channels.appium.routes import number, route
from handrail_sim.channels.appium.server import Refused, Server
from handrail_sim.channels.appium.source import write
from handrail_sim.screen.accessibility import Node, active_root, roots
from handrail_sim.view.view import Rect

BACK = 4
DEVICE = f"{SESSION}/appium/device"
_ACCEPT = ("android:id/button1", "permission_allow", "permission_allow_button")
_DISMISS = ("android:id/button2", "permission_deny", "permission_deny_button")


@route("GET", "/status")
async def _status(_server: Server, _: dict[str, Any]) -> dict[str, Any]:
    return {"message": "UiAutomator2 Server is ready to accept commands", "ready": True}


@route("GET", "/sessions")
async def _sessions(server: Server, _: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"id": server.session, "capabilities": server.capabilities}] if server.session else []


@route("POST", "/session")
async def _open(server: Server, body: dict[str, Any]) -> dict[str, Any]:
    wanted = body.get("capabilities")
    wanted = wanted if isinstance(wanted, dict) else {}
    matches = wanted.get("firstMatch")
    first = matches[0] if isinstance(matches, list) and matches and isinstance(matches[0], dict) else {}
    always = wanted.get("alwaysMatch")
    given = {**first, **(always if isinstance(always, dict) else {})}
    server.capabilities = {name.removeprefix("appium:"): value for name, value in given.items()}
    server.session = str(UUID(int=server.phone.random.getrandbits(128), version=4))
    return {"sessionId": server.session, "capabilities": server.capabilities}


@route("DELETE", SESSION)
async def _close(server: Server, _: dict[str, Any]) -> None:
    server.session = ""


@route("GET", SESSION)
async def _details(server: Server, _: dict[str, Any]) -> dict[str, Any]:
    return {"sessionId": server.session, "capabilities": server.capabilities}


@route("GET", f"{SESSION}/source")
async def _source(server: Server, _: dict[str, Any]) -> str:
    await server.idle()
    return write(server.document())


@route("GET", f"{SESSION}/screenshot")
async def _screenshot(server: Server, _: dict[str, Any]) -> str:
    return b64encode(await server.phone.screenshot()).decode()


@route("GET", f"{SESSION}/appium/settings")
async def _settings(server: Server, _: dict[str, Any]) -> dict[str, Any]:
    return dict(server.settings)


@route("POST", f"{SESSION}/appium/settings")
async def _set(server: Server, body: dict[str, Any]) -> None:
    """A setting of the driver's own is of no use here, and no error."""
    wanted = body.get("settings")
    for name, value in (wanted if isinstance(wanted, dict) else {}).items():
        if isinstance(value, type(server.settings.get(name))):
            server.settings[name] = value


@route("POST", f"{SESSION}/appium/reset_ax_cache")
async def _reset_cache(_server: Server, _: dict[str, Any]) -> None:
    """Every look is a fresh one."""


# keys and rotation


@route("POST", f"{SESSION}/back")
async def _back(server: Server, _: dict[str, Any]) -> None:
    server.phone.key(BACK)
    await server.idle()


@route("POST", f"{DEVICE}/press_keycode")
async def _press(server: Server, body: dict[str, Any]) -> None:
    server.phone.key(int(number(body, "keycode")), meta=int(number(body, "metastate", 0)))


@route("POST", f"{DEVICE}/long_press_keycode")
async def _long_press(server: Server, body: dict[str, Any]) -> None:
    code, meta = int(number(body, "keycode")), int(number(body, "metastate", 0))
    server.phone.key(code, meta=meta, long_press=True)


@route("POST", f"{DEVICE}/open_notifications")
async def _notifications(server: Server, _: dict[str, Any]) -> None:
    server.phone.systemui.open_shade()


@route("GET", f"{SESSION}/orientation")
async def _orientation(server: Server, _: dict[str, Any]) -> str:
    return "LANDSCAPE" if server.phone.display.rotation % 2 else "PORTRAIT"


@route("POST", f"{SESSION}/orientation")
async def _turn(server: Server, body: dict[str, Any]) -> None:
    wanted = str(body.get("orientation", "")).upper()
    if wanted not in {"LANDSCAPE", "PORTRAIT"}:
        raise Refused("invalid argument", f"Unknown orientation '{wanted}'")
    server.phone.put_setting("system", "accelerometer_rotation", "0")
    server.phone.set_rotation(1 if wanted == "LANDSCAPE" else 0)


@route("GET", f"{SESSION}/rotation")
async def _rotation(server: Server, _: dict[str, Any]) -> dict[str, int]:
    return {"x": 0, "y": 0, "z": server.phone.display.rotation * 90}


@route("POST", f"{SESSION}/rotation")
async def _rotate(server: Server, body: dict[str, Any]) -> None:
    turn = number(body, "z", 0)
    if turn not in {0, 90, 180, 270}:
        raise Refused("invalid argument", f"Unable to rotate to {turn} degrees")
    server.phone.set_rotation(int(turn) // 90)


# alerts


def _dialog(server: Server) -> Node:
    """The active window, if it asks something."""
    server.phone.catch_up()
    root = active_root(server.phone)
    for node in root or ():
        if node.resource_id.endswith("id/button1") or "permission_allow" in node.resource_id:
            return root  # type: ignore[return-value]
    raise Refused("no such alert", "An attempt was made to operate on a modal dialog when one was not open")


@route("GET", f"{SESSION}/alert/text")
async def _alert_text(server: Server, _: dict[str, Any]) -> str:
    texts = [node.text for node in _dialog(server) if node.text and not node.clickable]
    return "\n".join(texts)


@route("POST", f"{SESSION}/alert/accept")
async def _accept(server: Server, body: dict[str, Any]) -> None:
    await _answer(server, body, _ACCEPT)


@route("POST", f"{SESSION}/alert/dismiss")
async def _dismiss(server: Server, body: dict[str, Any]) -> None:
    await _answer(server, body, _DISMISS)


async def _answer(server: Server, body: dict[str, Any], ids: tuple[str, ...]) -> None:
    buttons = [node for node in _dialog(server) if node.clickable]
    label = body.get("buttonLabel")
    if label is not None:
        found = next((one for one in buttons if one.text == label), None)
    else:
        found = next((one for one in buttons if any(part in one.resource_id for part in ids)), None)
    if found is None:
        raise Refused("no such alert", "The alert has no such button")
    await server.phone.tap(*found.center)
    await server.idle()


# clipboard


@route("POST", f"{DEVICE}/get_clipboard")
async def _get_clipboard(server: Server, _: dict[str, Any]) -> str:
    return b64encode(server.phone.clipboard.encode()).decode()


@route("POST", f"{DEVICE}/set_clipboard")
async def _set_clipboard(server: Server, body: dict[str, Any]) -> None:
    if str(body.get("contentType", "plaintext")).lower() != "plaintext":
        raise Refused("invalid argument", "Only plaintext can be put on this clipboard")
    try:
        server.phone.clipboard = b64decode(str(body.get("content", ""))).decode()
    except (BadBase64, UnicodeDecodeError):
        raise Refused("invalid argument", "The content is not base64 of a text") from None


# facts


@route("GET", f"{SESSION}/window/current/size")
@route("GET", f"{SESSION}/window/rect")
async def _size(server: Server, _: dict[str, Any]) -> dict[str, int]:
    display = server.phone.display
    return {"width": display.width, "height": display.height - display.navigation_px}


@route("GET", f"{DEVICE}/system_bars")
async def _bars(server: Server, _: dict[str, Any]) -> dict[str, int]:
    return {"statusBar": server.phone.display.status_px}


@route("GET", f"{DEVICE}/pixel_ratio")
async def _ratio(server: Server, _: dict[str, Any]) -> float:
    return server.phone.display.density / 160


@route("GET", f"{DEVICE}/display_density")
async def _density(server: Server, _: dict[str, Any]) -> int:
    return server.phone.display.density


@route("GET", f"{DEVICE}/declared_orientation")
async def _declared(server: Server, body: dict[str, Any]) -> str:
    return await _orientation(server, body)


@route("GET", f"{DEVICE}/battery_info")
async def _battery(server: Server, _: dict[str, Any]) -> dict[str, Any]:
    return {"level": server.phone.battery / 100, "status": 2}


@route("GET", f"{DEVICE}/info")
async def _info(server: Server, _: dict[str, Any]) -> dict[str, Any]:
    phone = server.phone
    props, display = phone.props, phone.display
    return {
        "androidId": phone.settings["secure"].get("android_id", ""),
        "manufacturer": props.get("ro.product.manufacturer", ""),
        "model": props.get("ro.product.model", ""),
        "brand": props.get("ro.product.brand", ""),
        "apiVersion": props.get("ro.build.version.sdk", ""),
        "platformVersion": props.get("ro.build.version.release", ""),
        "carrierName": props.get("gsm.operator.alpha", ""),
        "realDisplaySize": f"{display.width}x{display.height}",
        "displayDensity": display.density,
        "networks": [],
        "locale": props.get("persist.sys.locale", "en-US").replace("-", "_"),
        "timeZone": props.get("persist.sys.timezone", "GMT"),
        "bluetooth": {"state": "ON" if phone.settings["global"].get("bluetooth_on") == "1" else "OFF"},
    }


@route("POST", f"{SESSION}/appium/list_windows")
async def _windows(server: Server, _: dict[str, Any]) -> list[dict[str, Any]]:
    found = []
    for root in roots(server.phone):
        window = root.window
        found.append(
            {
                "windowId": window.number,
                "displayId": 0,
                "packageName": root.package,
                "title": window.title,
                "bounds": _box(root.bounds),
                "isActive": window.has_focus,
                "isFocused": window.has_focus,
                "layer": window.number,
                "screenshot": None,
            }
        )
    return found


@route("POST", f"{SESSION}/appium/list_displays")
async def _displays(server: Server, _: dict[str, Any]) -> list[dict[str, Any]]:
    display = server.phone.display
    size = {"width": display.width, "height": display.height}
    return [{"id": 0, "name": "Built-in Screen", "isDefault": True, "metrics": size}]


def _box(bounds: Rect) -> dict[str, int]:
    left, top, right, bottom = bounds
    return {"left": left, "top": top, "right": right, "bottom": bottom}

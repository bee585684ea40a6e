"""Commands on elements: find them, ask them, click, type, clear."""

from __future__ import annotations

from base64 import b64encode
from io import BytesIO
from typing import Any

from handrail_sim.channels.appium.routes import SESSION, route, routes
from handrail_sim.channels.appium.server import NOT_FOUND, Refused, Server, reference
from handrail_sim.channels.appium.source import attributes
from handrail_sim.channels.u2.objects import CLICK_MS
from handrail_sim.screen.accessibility import Node, active_root
from handrail_sim.view.hit import is_slider

_ALIASES = {
    "name": "content-desc",
    "contentDescription": "content-desc",
    "resourceId": "resource-id",
    "className": "class",
    "longClickable": "long-clickable",
    "contentSize": "bounds",
}


def locator(body: dict[str, Any]) -> tuple[str, str, str]:
    """Strategy, selector and context, in the words of Appium's driver or of W3C."""
    strategy = body.get("strategy") or body.get("using")
    selector = body.get("selector") if body.get("selector") is not None else body.get("value")
    if not isinstance(strategy, str) or not isinstance(selector, str) or not selector:
        raise Refused("invalid argument", "A locator needs a strategy and a selector")
    return strategy, selector, reference(body.get("context")) or ""


@route("POST", f"{SESSION}/element")
@route("POST", f"{SESSION}/element/{{element}}/element")
async def find_element(server: Server, body: dict[str, Any], context: str = "") -> dict[str, str]:
    strategy, selector, argument = locator(body)
    nodes = await server.find(strategy, selector, context or argument)
    if not nodes:
        raise Refused("no such element", NOT_FOUND)
    return server.keep(nodes[0])


@route("POST", f"{SESSION}/elements")
@route("POST", f"{SESSION}/element/{{element}}/elements")
async def find_all(server: Server, body: dict[str, Any], context: str = "") -> list[dict[str, str]]:
    strategy, selector, argument = locator(body)
    return [server.keep(node) for node in await server.find(strategy, selector, context or argument)]


@route("GET", f"{SESSION}/element/active")
async def _active(server: Server, _: dict[str, Any]) -> dict[str, str]:
    root = active_root(server.phone)
    match = next((node for node in root or () if node.focused), None)
    if match is None:
        raise Refused("no such element", NOT_FOUND)
    return server.keep(match)


@route("GET", f"{SESSION}/appium/element/{{element}}/first_visible")
async def _first_visible(server: Server, _: dict[str, Any], element: str) -> dict[str, str]:
    children = server.node(element).children
    if not children:
        raise Refused("no such element", NOT_FOUND)
    return server.keep(children[0])


# asking


@route("GET", f"{SESSION}/element/{{element}}/attribute/{{name}}")
async def attribute(server: Server, _: dict[str, Any], element: str, name: str) -> str | None:
    """Texts and flags, all as text; what has none of that name is an error."""
    node = server.node(element)
    existing = attributes(node, node.index)
    existing |= {"content-desc": node.desc or node.text if name == "name" else node.desc, "hint": node.hint}
    existing |= {"resource-id": node.resource_id, "contentSize": "", "extras": ""}
    wanted = _ALIASES.get(name, name)
    if wanted not in existing:
        raise Refused(
            "unknown command",
            f"'{name}' attribute is unknown for the element. Only the following attributes are supported: "
            f"[{', '.join(sorted(existing))}]",
        )
    value = existing[wanted]
    return value if value or wanted == "text" else None


@route("GET", f"{SESSION}/element/{{element}}/text")
async def _text(server: Server, _: dict[str, Any], element: str) -> str:
    node = server.node(element)
    return "" if node.view.editable and not node.view.text and node.text == node.hint else node.text


@route("GET", f"{SESSION}/element/{{element}}/displayed")
async def _displayed(server: Server, _: dict[str, Any], element: str) -> bool:
    server.node(element)
    return True


@route("GET", f"{SESSION}/element/{{element}}/selected")
async def _selected(server: Server, _: dict[str, Any], element: str) -> bool:
    node = server.node(element)
    return node.selected or node.checked


@route("GET", f"{SESSION}/element/{{element}}/rect")
async def rect(server: Server, _: dict[str, Any], element: str) -> dict[str, int]:
    left, top, right, bottom = server.node(element).bounds
    return {"x": left, "y": top, "width": right - left, "height": bottom - top}


@route("GET", f"{SESSION}/element/{{element}}/location")
async def _location(server: Server, body: dict[str, Any], element: str) -> dict[str, int]:
    matches = await rect(server, body, element)
    return {"x": matches["x"], "y": matches["y"]}


@route("GET", f"{SESSION}/element/{{element}}/size")
async def _size(server: Server, body: dict[str, Any], element: str) -> dict[str, int]:
    matches = await rect(server, body, element)
    return {"width": matches["width"], "height": matches["height"]}


@route("GET", f"{SESSION}/element/{{element}}/screenshot")
async def _picture(server: Server, _: dict[str, Any], element: str) -> str:
    bounds, png = server.node(element).bounds, await server.phone.screenshot()
    return b64encode(await server.phone.painted(lambda: _cut(png, bounds))).decode()


def _cut(png: bytes, bounds: tuple[int, int, int, int]) -> bytes:
    from PIL import Image  # noqa: PLC0415 - only for those who ask for pictures

    out = BytesIO()
    Image.open(BytesIO(png)).crop(bounds).save(out, "PNG")
    return out.getvalue()


# acting


@route("POST", f"{SESSION}/element/{{element}}/click")
async def _click(server: Server, _: dict[str, Any], element: str) -> None:
    await server.phone.long_press(*server.node(element).center, CLICK_MS)
    await server.idle()


@route("POST", f"{SESSION}/element/{{element}}/value")
async def _type(server: Server, body: dict[str, Any], element: str) -> None:
    """Text is added to what a field has, or replaces it; a line's end at last is the keyboard's action."""
    node = server.node(element)
    text = words(body)
    if is_slider(node.view):
        raise Refused("invalid element state", "The progress of this element can't be set by text")
    action = text.endswith(("\n", "\\n"))
    text = text.removesuffix("\\n").removesuffix("\n")
    put(server, node, text if body.get("replace") else node.view.text + text)
    if action:
        server.phone.editing.focus(node.window, node.view.id or node.view.key or "")
        server.phone.editing.submit()
    await server.idle()


def words(body: dict[str, Any]) -> str:
    """The text to type; older clients send its characters as `value`."""
    argument = body.get("text")
    argument = body.get("value") if argument is None else argument
    if isinstance(argument, list):
        argument = "".join(str(entry) for entry in argument)
    if not isinstance(argument, str):
        raise Refused("invalid argument", "There is no text to type")
    return argument


def put(server: Server, node: Node, text: str) -> None:
    if not server.phone.set_text(node.view, text):
        raise Refused(
            "invalid element state",
            f"Cannot set the element to '{text}'. Did you interact with the correct element?",
        )


routes(
    {
        "GET /element/{element}/name": lambda server, _, element: server.node(element).desc,
        "GET /element/{element}/enabled": lambda server, _, element: server.node(element).enabled,
        "POST /element/{element}/clear": lambda server, _, element: put(server, server.node(element), ""),
    }
)

"""WDA's commands about elements: finding them, asking them, and gestures on them or on the whole app."""

from __future__ import annotations

from base64 import b64encode
from io import BytesIO
from typing import Any

from handrail_sim.iphone import actions
from handrail_sim.iphone.find import attribute, find
from handrail_sim.iphone.phone import SCALE
from handrail_sim.iphone.tree import TEXT_INPUTS, Element, focused_element
from handrail_sim.iphone.wda import Call, Refused, always_refuses, refusal, route, routes
from handrail_sim.view.hit import is_slider

ELEMENT_PATH = "/element/:uuid"
WDA_ELEMENT_PATH = "/wda/element/:uuid"
SCROLLERS = frozenset({"ScrollView", "Table", "CollectionView", "WebView", "TextView"})
SCROLL_TRIES = 25
SHIFT = 1 << 1
WITHOUT_INERTIA_MS = 250.0


# finding


def _locate(call: Call, start: Element) -> list[Element]:
    using, value = call.body.get("using"), call.body.get("value")
    return find(start, str(using), str(value if value is not None else ""))


def _first(call: Call, matches: list[Element]) -> dict[str, Any]:
    if not matches:
        using, value = call.body.get("using"), call.body.get("value")
        raise Refused("no such element", f"unable to find an element using '{using}', value '{value}'")
    return call.server.reference_to(matches[0])


@route("POST /element")
async def _find_one(call: Call) -> dict[str, Any]:
    await call.server.wait_until_idle()
    return _first(call, _locate(call, call.server.snapshot()))


@route("POST /elements")
async def _find_all(call: Call) -> list[dict[str, Any]]:
    await call.server.wait_until_idle()
    return [call.server.reference_to(element) for element in _locate(call, call.server.snapshot())]


@route(f"POST {ELEMENT_PATH}/element")
def _find_below(call: Call) -> dict[str, Any]:
    return _first(call, _locate(call, call.element()))


@route(f"POST {ELEMENT_PATH}/elements")
def _find_all_below(call: Call) -> list[dict[str, Any]]:
    return [call.server.reference_to(element) for element in _locate(call, call.element())]


@route(f"GET {WDA_ELEMENT_PATH}/getVisibleCells")
def _visible_cells(call: Call) -> list[dict[str, Any]]:
    return [
        call.server.reference_to(cell)
        for cell in call.element().descendants
        if cell.type == "Cell" and cell.visible
    ]


@route("GET /element/active")
def _active(call: Call) -> dict[str, Any]:
    match = focused_element(call.server.snapshot())
    return _first(call, [] if match is None else [match])


# asking


@route(f"GET {ELEMENT_PATH}/attribute/:name")
def _attribute(call: Call) -> Any:
    value = attribute(call.names["name"])(call.element())
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if value is None or isinstance(value, str | dict) else str(value)


routes(
    {
        f"GET {ELEMENT_PATH}/enabled": lambda call: call.element().enabled,
        f"GET {ELEMENT_PATH}/rect": lambda call: call.element().rect,
        f"GET {ELEMENT_PATH}/text": lambda call: call.element().wd_value or call.element().wd_label or "",
        f"GET {ELEMENT_PATH}/displayed": lambda call: call.element().visible,
        f"GET {ELEMENT_PATH}/selected": lambda call: call.element().selected,
        f"GET {ELEMENT_PATH}/name": lambda call: call.element().full_type,
        f"GET {WDA_ELEMENT_PATH}/accessible": lambda call: call.element().accessible,
        f"GET {WDA_ELEMENT_PATH}/accessibilityContainer": lambda call: call.element().is_container,
        # No app of this phone has a wheel.
        "POST /wda/pickerwheel/:uuid/select": always_refuses("no-wheel"),
    }
)


@route(f"GET {ELEMENT_PATH}/screenshot", "GET /screenshot/:uuid")
async def _picture(call: Call) -> str:
    x, y, width, height = call.element().frame
    box = (round(x * SCALE), round(y * SCALE), round((x + width) * SCALE), round((y + height) * SCALE))
    png = await call.phone.screenshot()
    return b64encode(await call.phone.painted(lambda: _cut(png, box))).decode()


def _cut(png: bytes, box: tuple[int, int, int, int]) -> bytes:
    from PIL import Image  # noqa: PLC0415 - only for those who ask for pictures

    out = BytesIO()
    Image.open(BytesIO(png)).crop(box).save(out, "PNG")
    return out.getvalue()


# text and values


@route(f"POST {ELEMENT_PATH}/click")
async def _click(call: Call) -> None:
    await call.server.wait_until_idle()
    await actions.tap(call.server, await _visible_point(call, call.element()))


@route(f"POST {ELEMENT_PATH}/value")
async def _set_value(call: Call) -> None:
    keys = call.body.get("value", call.body.get("text"))
    if keys is None:
        raise Refused("invalid argument", "Neither 'value' nor 'text' parameter is provided")
    text = "".join(map(str, keys)) if isinstance(keys, list) else str(keys)
    element = call.element()
    if element.type == "Slider":
        await _slide(call, element, text)
        return
    await actions.focus(call.server, element)
    frequency = call.number("frequency") or float(call.server.settings["maxTypingFrequency"])
    await actions.type_text(call.server, text, frequency)


async def _slide(call: Call, element: Element, text: str) -> None:
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0.0 <= share <= 1.0:
        raise Refused("invalid argument", "Value of slider should be in 0..1 range")
    view = element.view
    if view is None or not is_slider(view):
        raise Refused("invalid element state", "The element is not a slider")
    x, y, width, height = element.frame
    now = (view.value - view.low) / (view.high - view.low or 1.0)
    thumb = 10.0
    span = width - 2 * thumb
    start, goal = (x + thumb + span * now, y + height / 2), (x + thumb + span * share, y + height / 2)
    await actions.drag(call.server, start, goal, press_ms=50.0, speed=400.0)


@route(f"POST {ELEMENT_PATH}/clear")
async def _clear(call: Call) -> None:
    element = call.element()
    if element.type not in TEXT_INPUTS:
        if element.value and not element.value.isalpha():
            raise Refused("invalid element state", f"The value of '{element.describe()}' cannot be edited")
        return
    if not element.value:
        return
    await actions.focus(call.server, element)
    call.phone.record_input(action="clear")
    if call.server.settings["useClearTextShortcut"]:
        call.phone.editing.select_all()
        await actions.press_key(call.server, "\b")
        return
    for _ in element.value:
        await actions.press_key(call.server, "\b")
        await actions.press_key(call.server, "\u007f")


@route(f"POST {WDA_ELEMENT_PATH}/keyboardInput")
async def _keyboard_input(call: Call) -> None:
    """Keys of a hardware keyboard, which tablets alone have. No app has shortcuts."""
    if not call.phone.is_ipad:
        message = "typeKey API is only supported since Xcode15 and iPadOS 17"
        raise Refused("unsupported operation", message)
    for key in call.body.get("keys") or []:
        name, held = (
            (key.get("key"), int(key.get("modifierFlags") or 0)) if isinstance(key, dict) else (key, 0)
        )
        call.phone.record_input(action="typeKey", key=name, held=held)
        if held in (0, SHIFT):
            await actions.press_key(call.server, str(name).upper() if held else str(name))


# gestures


def _target(call: Call) -> Element:
    """The element of the path, or the app."""
    return call.element() if "uuid" in call.names else call.server.snapshot()


async def _touch_point(call: Call) -> actions.Point:
    """A point that is given from the target's corner, or the target's own middle."""
    x, y = call.body.get("x"), call.body.get("y")
    if (x is None) != (y is None):
        raise Refused("invalid argument", "Both x and y coordinates must be provided")
    if x is None:
        return await _visible_point(call, _target(call))
    left, top = _target(call).frame[:2] if "uuid" in call.names else (0.0, 0.0)
    return left + call.number("x"), top + call.number("y")


async def _visible_point(call: Call, element: Element) -> actions.Point:
    """The middle of what is visible of it, after it was scrolled into view."""
    if not element.visible:
        element = await _scroll_into_view(call, element)
    view = element.view
    if view is None or element.type == "Application":
        return element.center
    left, top, right, bottom = view.clip
    return (left + right) / 2 / SCALE, (top + bottom) / 2 / SCALE


async def _scroll_into_view(call: Call, element: Element) -> Element:
    uid = element.uid
    for _ in range(SCROLL_TRIES):
        if element.visible:
            return element
        scroller = next((above for above in element.ancestors if above.type in SCROLLERS), None)
        if scroller is None:
            break
        middle, frame = element.center, scroller.frame
        sideways = not frame[0] <= middle[0] <= frame[0] + frame[2]
        back = middle[0] < frame[0] if sideways else middle[1] < frame[1]
        direction = ("left" if back else "right") if sideways else ("up" if back else "down")
        before = element.frame
        await _scroll(call, scroller, direction, 0.5)
        element = call.server.element(uid)
        if element.frame == before:
            break
    if not element.visible:
        raise refusal("does-not-move", element.describe())
    return element


async def _scroll(call: Call, element: Element, direction: str, distance: float) -> None:
    """So much of its size, and then the finger rests, so that nothing goes on by itself."""
    x, y, width, height = element.frame
    across, down = {"up": (0, 1), "down": (0, -1), "left": (1, 0), "right": (-1, 0)}[direction]
    rest = distance
    while rest > 0.001:
        step = min(0.8, rest)
        rest -= step
        start = (x + width * (0.5 - across * step / 2), y + height * (0.5 - down * step / 2))
        goal = (x + width * (0.5 + across * step / 2), y + height * (0.5 + down * step / 2))
        await actions.drag(call.server, start, goal, press_ms=0.0, speed=600.0, hold_ms=WITHOUT_INERTIA_MS)


@route("POST /wda/tap", f"POST {WDA_ELEMENT_PATH}/tap")
async def _tap(call: Call) -> None:
    await call.server.wait_until_idle()
    await actions.tap(call.server, await _touch_point(call))


@route("POST /wda/doubleTap", f"POST {WDA_ELEMENT_PATH}/doubleTap")
async def _double_tap(call: Call) -> None:
    await call.server.wait_until_idle()
    await actions.tap(call.server, await _touch_point(call), times=2)


@route("POST /wda/twoFingerTap", f"POST {WDA_ELEMENT_PATH}/twoFingerTap")
async def _two_finger_tap(call: Call) -> None:
    await actions.tap(call.server, _target(call).center, fingers=2)


@route("POST /wda/tapWithNumberOfTaps", f"POST {WDA_ELEMENT_PATH}/tapWithNumberOfTaps")
async def _taps(call: Call) -> None:
    if call.body.get("numberOfTaps") is None or call.body.get("numberOfTouches") is None:
        raise refusal("tap-numbers")
    times, fingers = int(call.number("numberOfTaps")), int(call.number("numberOfTouches"))
    await actions.tap(call.server, _target(call).center, times=times, fingers=fingers)


@route("POST /wda/touchAndHold", f"POST {WDA_ELEMENT_PATH}/touchAndHold")
async def _hold(call: Call) -> None:
    await call.server.wait_until_idle()
    await actions.tap(call.server, await _touch_point(call), hold_ms=1000.0 * call.number("duration"))


@route("POST /wda/forceTouch", f"POST {WDA_ELEMENT_PATH}/forceTouch")
async def _force_touch(call: Call) -> None:
    if call.body.get("pressure") is None or call.body.get("duration") is None:
        await actions.tap(call.server, await _touch_point(call))
        return
    raise Refused("invalid element state", "Force touch is not supported by the device under test")


@route("POST /wda/swipe", f"POST {WDA_ELEMENT_PATH}/swipe")
async def _swipe(call: Call) -> None:
    direction = call.body.get("direction")
    if not direction:
        raise Refused("invalid argument", "Missing 'direction' parameter")
    if str(direction).lower() not in ("up", "down", "left", "right"):
        raise refusal("swipe-direction", direction)
    await call.server.wait_until_idle()
    speed = call.number("velocity") if call.body.get("velocity") is not None else None
    await actions.swipe(call.server, _target(call), str(direction).lower(), speed)


@route("POST /wda/dragfromtoforduration", f"POST {WDA_ELEMENT_PATH}/dragfromtoforduration")
async def _drag(call: Call) -> None:
    await call.server.wait_until_idle()
    left, top = _target(call).frame[:2]
    start = (left + call.number("fromX"), top + call.number("fromY"))
    goal = (left + call.number("toX"), top + call.number("toY"))
    await actions.drag(call.server, start, goal, press_ms=1000.0 * call.number("duration"))


@route("POST /wda/pressAndDragWithVelocity")
async def _press_and_drag(call: Call) -> None:
    start, goal = (call.number("fromX"), call.number("fromY")), (call.number("toX"), call.number("toY"))
    await _with_speed(call, start, goal)


@route(f"POST {WDA_ELEMENT_PATH}/pressAndDragWithVelocity")
async def _press_and_drag_to(call: Call) -> None:
    goal = call.server.element(str(call.body.get("toElement") or ""))
    await _with_speed(call, await _visible_point(call, call.element()), goal.center)


async def _with_speed(call: Call, start: actions.Point, goal: actions.Point) -> None:
    press, hold = 1000.0 * call.number("pressDuration"), 1000.0 * call.number("holdDuration")
    speed = call.number("velocity") or actions.DRAG_SPEED
    await actions.drag(call.server, start, goal, press_ms=press, speed=speed, hold_ms=hold)


@route("POST /wda/scroll", f"POST {WDA_ELEMENT_PATH}/scroll")
async def _scroll_command(call: Call) -> None:
    element, body = _target(call), call.body
    if body.get("name"):
        match = next((child for child in element.descendants if child.identifier == body["name"]), None)
        if match is None:
            raise Refused("no such element", f"'{body['name']}' identifier didn't match any elements")
        await _scroll_into_view(call, match)
    elif body.get("direction") in ("up", "down", "left", "right"):
        await _scroll(call, element, str(body["direction"]), call.number("distance", 1.0))
    elif body.get("direction"):
        return
    elif body.get("predicateString"):
        matches = find(element, "predicate string", str(body["predicateString"]))
        if not matches:
            raise refusal("no-predicate-match", body["predicateString"])
        await _scroll_into_view(call, matches[-1])
    elif body.get("toVisible"):
        await _scroll_into_view(call, element)
    else:
        raise Refused("invalid argument", "Unsupported scroll type")


@route(f"POST {WDA_ELEMENT_PATH}/scrollTo")
async def _scroll_to(call: Call) -> None:
    await _scroll_into_view(call, call.element())


@route("POST /wda/pinch", f"POST {WDA_ELEMENT_PATH}/pinch")
async def _pinch(call: Call) -> None:
    """Fingers that start near each other part, those that start apart come together."""
    element, scale = _target(call), max(0.01, call.number("scale", 1.0))
    widest = min(element.frame[2], element.frame[3]) * 0.45
    start = min(widest, widest / scale) if scale > 1 else widest
    await actions.fingers_around(call.server, element, lambda share: (start * (1 + (scale - 1) * share), 0.0))


@route("POST /wda/rotate", f"POST {WDA_ELEMENT_PATH}/rotate")
async def _rotate(call: Call) -> None:
    element, angle = _target(call), call.number("rotation") * 57.29577951308232
    radius = min(element.frame[2], element.frame[3]) * 0.3
    await actions.fingers_around(call.server, element, lambda share: (radius, angle * share))


@route("POST /actions")
async def _actions(call: Call) -> None:
    await call.server.wait_until_idle()
    events, keys = actions.read_actions(call.server, call.body.get("actions"))
    await actions.perform(call.server, events, keys)
    await call.server.wait_for_animations()

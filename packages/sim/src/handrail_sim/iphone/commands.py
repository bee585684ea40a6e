"""WDA's commands about the phone, its apps, its screen and its alerts, as version 16.7 answers them."""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error as BadBase64
from typing import Any, Literal
from uuid import NAMESPACE_OID, uuid5

from handrail_sim.channels.http import Response
from handrail_sim.input.keys import HOME, VOLUME_DOWN, VOLUME_UP
from handrail_sim.iphone import source
from handrail_sim.iphone.actions import press_key, tap, type_text
from handrail_sim.iphone.find import BadQuery, find, parse_chain
from handrail_sim.iphone.phone import BUNDLES, SCALE, SPRINGBOARD, STATUS_PT
from handrail_sim.iphone.tree import TEXT_INPUTS, Element, find_alert
from handrail_sim.iphone.wda import SETTINGS, Call, Command, Refused, always_refuses, refusal, route, routes
from handrail_sim.system.surroundings import last_place, plug, set_place

VERSION, BUILD, SDK = "16.7.0", "Aug 22 2026 10:12:03", "17.5"
BUTTONS = {"home": HOME, "volumeup": VOLUME_UP, "volumedown": VOLUME_DOWN}
TURNS = {
    "PORTRAIT": 0,
    "LANDSCAPE": 1,
    "UIA_DEVICE_ORIENTATION_PORTRAIT_UPSIDEDOWN": 2,
    "UIA_DEVICE_ORIENTATION_LANDSCAPERIGHT": 3,
}
ROTATIONS = {0: (0, 0, 0), 1: (0, 0, 270), 2: (0, 0, 180), 3: (0, 0, 90)}
DEVICE_WORDS = ("Portrait", "LandscapeLeft", "PortraitUpsideDown", "LandscapeRight")
ALIVE = "<!DOCTYPE html><html><title>Health Check</title><body><p>I-AM-ALIVE</p></body></html>"
CALIBRATION = (
    '<html><title>{"x":null,"y":null}</title><header><script>document.addEventListener("click",function(e)'
    "{document.title=JSON.stringify({x:e.clientX,y:e.clientY})})</script></header></html>"
)
HIDE_WAIT_MS = 3000.0
CLEAR_PAGE, CLEAR_USAGE = 0x07, 0x9C


# the runner


@route("GET /status", session=False, bare=True)
def status(call: Call) -> dict[str, Any]:
    return {
        "ready": True,
        "message": "WebDriverAgent is ready to accept commands",
        "state": "success",
        "os": {
            "name": "iOS",
            "version": call.phone.ios_version,
            "sdkVersion": SDK,
            "testmanagerdVersion": 65535,
        },
        "ios": {"ip": call.phone.wifi_address},
        "build": {
            "time": BUILD,
            "productBundleIdentifier": "com.facebook.WebDriverAgentRunner",
            "version": VERSION,
        },
        "device": "ipad" if call.phone.is_ipad else "iphone",
    }


@route("GET /wda/shutdown", session=False, bare=True)
def _shutdown(call: Call) -> Response:
    call.phone.faults.add("wda_gone")
    return Response(b"Shutting down")


@route("GET /wda/healthcheck", session=False, bare=True)
async def _healthcheck(call: Call) -> None:
    """Asks the app in front whether it answers."""
    await call.server.wait_until_idle()
    call.server.snapshot()


# sessions and settings


@route("POST /session", session=False, bare=True)
async def create_session(call: Call) -> dict[str, Any]:
    server = call.server
    server.end_session()
    capabilities = call.body.get("capabilities")
    if not isinstance(capabilities, dict):
        raise Refused("session not created", "'capabilities' is mandatory to create a new session")
    first = (capabilities.get("firstMatch") or [{}])[0]
    wanted = {**(capabilities.get("alwaysMatch") or {}), **first}
    options = {name.removeprefix("appium:"): value for name, value in wanted.items()}
    server.settings = dict(SETTINGS)
    names = ("maxTypingFrequency", "waitForIdleTimeout", "defaultAlertAction", "shouldUseCompactResponses")
    server.settings |= {
        name: options[name] for name in (*names, "elementResponseAttributes") if options.get(name) is not None
    }
    server.should_terminate = bool(options.get("shouldTerminateApp", True))
    bundle = str(options.get("bundleId") or "")
    if bundle:
        await _start_tested(call, bundle, options)
    if options.get("initialUrl"):
        await _open(call, str(options["initialUrl"]), bundle)
    server.begin_session(bundle)
    return _described(call)


def _described(call: Call) -> dict[str, Any]:
    capabilities = {
        "device": "ipad" if call.phone.is_ipad else "iphone",
        "sdkVersion": call.phone.ios_version,
    }
    return {"sessionId": call.session.id, "capabilities": capabilities}


async def _start_tested(call: Call, bundle: str, options: dict[str, Any]) -> None:
    phone = call.phone
    if not phone.is_installed(bundle):
        raise refusal("cannot-launch", bundle)
    if options.get("forceAppLaunch", True):
        phone.terminate(bundle)
    phone.launch(bundle, list(options.get("arguments") or []), dict(options.get("environment") or {}))
    if options.get("shouldWaitForQuiescence", True):
        await call.server.wait_until_idle()


@route("POST /appium/settings")
def _set_settings(call: Call) -> dict[str, Any]:
    """Those that are unknown are passed over; null clears only those that may be empty."""
    wanted = call.body.get("settings") or {}
    if not isinstance(wanted, dict):
        raise Refused("invalid argument", "settings must be a dictionary")
    for name, value in wanted.items():
        if name not in SETTINGS or (value is None and "lert" not in name):
            continue
        if name == "autoClickAlertSelector" and value:
            try:
                parse_chain(str(value))
            except BadQuery as problem:
                raise Refused("invalid selector", str(problem)) from None
        call.server.settings[name] = _converted(SETTINGS[name], value)
    return dict(call.server.settings)


def _converted(default: Any, value: Any) -> Any:
    """With the type of the default, as Objective-C's numbers and flags convert."""
    if isinstance(default, str):
        return "" if value is None else str(value)
    try:
        amount = float(value)
    except (TypeError, ValueError):
        amount = 0.0
    if isinstance(default, bool):
        return bool(amount) or str(value).lower() in ("true", "yes")
    return int(amount) if amount == int(amount) else amount


# looking


@route("GET /source", bare=True)
async def page_source(call: Call) -> Any:
    server, phone = call.server, call.phone
    form = call.query.get("format", "xml").lower()
    if form not in ("xml", "json", "description"):
        raise refusal("source-format", form)
    await server.wait_until_idle()
    await phone.refresh_web()
    slow = phone.faults.get("slow_source")
    if slow is not None:
        await phone.clock.sleep_ms(float(slow["ms"]))
    excluded = set(call.query.get("excluded_attributes", "").split(","))
    owner = server.active_app()
    root = server.snapshot(owner)
    if form == "json":
        return source.to_json(root, excluded)
    if form == "description":
        return "\n\n".join(source.describe(child) for child in root.children) or source.describe(root)
    recorded = server.recorded(owner)
    if recorded is not None:
        return recorded.recorded
    facts = {"bundleId": owner, "processId": str(phone.pid_of(owner))}
    return source.write_xml(root, server.settings, excluded, call.query.get("scope", ""), facts)


@route("GET /wda/accessibleSource", bare=True)
async def _accessible_source(call: Call) -> dict[str, Any]:
    await call.server.wait_until_idle()
    return source.to_accessible(call.server.snapshot())


@route("GET /screenshot", bare=True)
async def screenshot(call: Call) -> str:
    return b64encode(await call.phone.screenshot()).decode()


@route("GET /window/size", bare=True)
def _window_size(call: Call) -> dict[str, int]:
    display = call.phone.display
    return {"width": display.width // SCALE, "height": display.height // SCALE}


@route("GET /wda/screen", bare=True)
def _screen(call: Call) -> dict[str, Any]:
    display = call.phone.display
    bar = (
        {"width": display.width // SCALE, "height": int(STATUS_PT)}
        if display.status_px
        else {"width": 0, "height": 0}
    )
    return {"screenSize": _window_size(call), "statusBarSize": bar, "scale": SCALE}


@route("GET /wda/activeAppInfo", bare=True)
def _active_app(call: Call) -> dict[str, Any]:
    phone, owner = call.phone, call.server.active_app()
    arguments, environment = phone.launch_arguments.get(owner, ([], {}))
    return {
        "pid": phone.pid_of(owner),
        "bundleId": owner,
        "name": "",
        "processArguments": {"args": arguments, "env": environment},
    }


@route("GET /wda/device/info", bare=True)
def _device_info(call: Call) -> dict[str, Any]:
    phone = call.phone
    return {
        "currentLocale": "en_US",
        "timeZone": str(phone.zone),
        "name": "iPhone",
        "model": "iPhone",
        "uuid": str(uuid5(NAMESPACE_OID, phone.udid)).upper(),
        "userInterfaceIdiom": 0,
        "userInterfaceStyle": "dark" if phone.display.dark else "light",
        "isSimulator": False,
        "thermalState": 0,
    }


@route("GET /wda/batteryInfo")
def _battery(call: Call) -> dict[str, Any]:
    phone = call.phone
    charging = plug(phone) != "none"
    return {"level": phone.battery / 100, "state": (3 if phone.battery >= 100 else 2) if charging else 1}


# apps


@route("POST /wda/apps/launch")
async def _launch(call: Call) -> None:
    bundle = _installed(call)
    call.phone.launch(
        bundle, list(call.body.get("arguments") or []), dict(call.body.get("environment") or {})
    )
    session = call.session
    session.expected_to_run = session.expected_to_run or bundle == session.tested
    if call.body.get("shouldWaitForQuiescence", bool(session.tested)):
        await call.server.wait_until_idle()


@route("POST /wda/apps/activate")
async def _activate(call: Call) -> None:
    call.phone.launch(_installed(call), [], {})
    await call.server.wait_for_animations()


@route("POST /wda/apps/launchUnattached", session=False, bare=True)
def _launch_unattached(call: Call) -> None:
    bundle = str(call.body.get("bundleId") or "")
    if not call.phone.is_installed(bundle):
        raise Refused("unknown error", "LSApplicationWorkspace failed to launch app")
    call.phone.launch(bundle, [], {})


def _installed(call: Call) -> str:
    bundle = call.text("bundleId", "'bundleId' must be a string")
    if bundle != SPRINGBOARD and not call.phone.is_installed(bundle):
        raise refusal("not-installed", bundle)
    return bundle


@route("POST /wda/apps/terminate")
def _terminate(call: Call) -> bool:
    bundle = call.text("bundleId")
    if bundle == call.session.tested:
        call.session.expected_to_run = False
    return call.phone.terminate(bundle)


@route("GET /wda/apps/list")
def _list(call: Call) -> list[dict[str, Any]]:
    """The apps that are active on the screen, as accessibility knows them; SpringBoard always is."""
    owners = dict.fromkeys((call.server.active_app(), SPRINGBOARD))
    return [{"pid": call.phone.pid_of(owner), "bundleId": owner} for owner in owners]


@route("POST /wda/homescreen", session=False, bare=True)
async def _home_screen(call: Call) -> None:
    call.phone.key(HOME)
    await call.server.wait_for_animations()


@route("POST /wda/deactivateApp")
async def _deactivate(call: Call) -> None:
    owner = call.server.active_app()
    call.phone.key(HOME)
    await call.phone.clock.sleep_ms(1000.0 * max(0.0, call.number("duration", 3.0)))
    call.phone.launch(owner, [], {})


@route("POST /url")
async def _url(call: Call) -> None:
    if "url" not in call.body:
        raise Refused("invalid argument", "URL is required")
    await _open(call, str(call.body["url"]), str(call.body.get("bundleId") or ""))


async def _open(call: Call, url: str, bundle: str) -> None:
    package = next((name for name, bundle_id in BUNDLES.items() if bundle_id == bundle), bundle) or None
    if ":" not in url:
        raise Refused("unknown error", f"'{url}' is not a valid URL")
    started = call.phone.start_activity(action="android.intent.action.VIEW", data=url, package=package)
    if not started.ok:
        raise Refused("unknown error", f"Cannot open '{url}' with the default application assigned for it.")
    await call.server.wait_for_animations()


# the device


@route("POST /wda/pressButton")
async def _press_button(call: Call) -> None:
    name = str(call.body.get("name") or "")
    code = BUTTONS.get(name.lower())
    if code is None:
        raise refusal("no-button", name, ", ".join(sorted(BUTTONS)))
    call.phone.key(code)
    await call.server.wait_for_animations()


@route("POST /orientation", bare=True)
async def _set_orientation(call: Call) -> None:
    turns = TURNS.get(str(call.body.get("orientation")))
    if turns is None or not await _turn(call, turns):
        raise Refused("unknown error", "Unable To Rotate Device")


async def _turn(call: Call, turns: int) -> bool:
    """False when what is in front does not turn that way; no iPhone app stands on its head."""
    if turns == 2:
        return False
    call.phone.set_rotation(turns)
    call.phone.record_input(action="rotate", turns=turns)
    await call.server.wait_for_animations()
    return call.phone.display.rotation == turns


@route("POST /rotation", bare=True)
async def _set_rotation(call: Call) -> None:
    if any(call.body.get(axis) is None for axis in "xyz"):
        raise Refused("invalid argument", f"x, y and z arguments must exist in the request body: {call.body}")
    wanted = tuple(call.body[axis] for axis in "xyz")
    turns = next((turns for turns, rotation in ROTATIONS.items() if rotation == wanted), None)
    if turns is None:
        raise refusal("no-rotation", wanted, list(ROTATIONS.values()))
    if not await _turn(call, turns):
        raise Refused("unknown error", "The current rotation cannot be set")


@route("POST /wda/device/appearance", session=False, bare=True)
def _appearance(call: Call) -> None:
    name = str(call.body.get("name")).lower()
    if name not in ("light", "dark"):
        raise Refused("invalid argument", "The appearance name must be either 'light' or 'dark'")
    call.phone.set_dark(name == "dark")


@route("POST /wda/setPasteboard", bare=True)
def _set_pasteboard(call: Call) -> None:
    try:
        content = b64decode(str(call.body.get("content") or ""), validate=False)
    except (BadBase64, ValueError):
        raise Refused("invalid argument", "Cannot decode the pasteboard content from base64") from None
    _require_plain_text(call)
    call.phone.clipboard = content.decode("utf-8", "replace")


@route("POST /wda/getPasteboard", bare=True)
def _get_pasteboard(call: Call) -> str:
    """A phone gives its pasteboard to the app in front alone; to the others it is empty."""
    _require_plain_text(call)
    hidden = call.phone.faults.get("clipboard_unreadable") is not None
    return "" if hidden else b64encode(call.phone.clipboard.encode()).decode()


def _require_plain_text(call: Call) -> None:
    kind = str(call.body.get("contentType", "plaintext")).lower()
    if kind not in ("plaintext", "url"):
        raise refusal("pasteboard-type", kind)


@route("GET /wda/simulatedLocation", bare=True)
def _simulated_location(call: Call) -> dict[str, float | None]:
    last = last_place(call.phone)
    place = last[0] if last is not None else None
    return {name: getattr(place, name, None) for name in ("latitude", "longitude", "altitude")}


@route("POST /wda/simulatedLocation", bare=True)
def _set_location(call: Call) -> None:
    if call.body.get("latitude") is None or call.body.get("longitude") is None:
        raise Refused("invalid argument", "Both latitude and longitude must be provided")
    call.phone.set_location(call.number("latitude"), call.number("longitude"))


@route("POST /wda/performIoHidEvent")
async def _hid_event(call: Call) -> None:
    """The keyboard's clear key and the consumer page's home, volume and power; other usages reach nobody."""
    page, usage = int(call.number("page")), int(call.number("usage"))
    phone = call.phone
    phone.record_input(action="hid", page=page, usage=usage)
    code = {(0x0C, 0x40): HOME, (0x0C, 0xE9): VOLUME_UP, (0x0C, 0xEA): VOLUME_DOWN}.get((page, usage))
    if code is not None:
        phone.key(code)
    if (page, usage) == (0x0C, 0x30):
        phone.set_awake(not phone.awake)
    if (page, usage) == (CLEAR_PAGE, CLEAR_USAGE):
        phone.editing.select_all()
        await press_key(call.server, "\b")


@route("POST /wda/resetAppAuth")
def _reset_permission(call: Call) -> None:
    if call.body.get("resource") is None:
        raise refusal("no-resource")
    owner = next(
        (name for name, bundle in BUNDLES.items() if bundle == call.server.active_app()),
        call.server.active_app(),
    )
    call.phone.packages.reset_permissions(owner)


@route("POST /wda/expectNotification")
async def _expect_notification(call: Call) -> None:
    if call.body.get("name") is None:
        raise Refused("invalid argument", "Notification name argument must be provided")
    kind, timeout = str(call.body.get("type", "plain")), call.number("timeout", 60.0)
    if kind not in ("plain", "darwin"):
        raise refusal("notification-type", kind)
    await call.phone.clock.sleep_ms(1000.0 * timeout)
    raise refusal("notification-timeout", call.body["name"], timeout)


# the keyboard


@route("POST /wda/keys")
async def _keys(call: Call) -> None:
    value = call.body.get("value")
    if not isinstance(value, list):
        raise Refused("invalid argument", "'value' must be an array of strings")
    await call.server.wait_until_idle()
    frequency = call.number("frequency") or float(call.server.settings["maxTypingFrequency"])
    await type_text(call.server, "".join(map(str, value)), frequency)


@route("POST /wda/keyboard/dismiss")
async def _dismiss_keyboard(call: Call) -> None:
    """Taps those of its keys that have one of the names, until it is gone."""
    phone, server = call.phone, call.server
    phone.catch_up()
    names = [str(name) for name in call.body.get("keyNames") or []]
    while phone.keyboard_shown and names:
        wanted = names.pop(0)
        keys = (
            key
            for key in server.snapshot()
            if key.type in ("Key", "Button") and key.window is phone.keyboard()
        )
        named = next((key for key in keys if wanted in (key.identifier, key.label)), None)
        if named is not None:
            await tap(server, named.center)
    if phone.keyboard_shown:
        await phone.clock.sleep_ms(HIDE_WAIT_MS)
        raise refusal("keyboard-stays")


# alerts


def _alert(call: Call) -> Element:
    call.phone.catch_up()
    alert = (
        find_alert(call.phone, call.server.active_app())
        if call.phone.faults.get("alert_stale") is None
        else None
    )
    if alert is None:
        raise Refused("no such alert")
    return alert


@route("GET /alert/text", bare=True)
def _alert_text(call: Call) -> str:
    words = [
        element.label or element.value
        for element in _alert(call).descendants
        if element.type in ("StaticText", "TextView")
        and not any(above.type == "Button" for above in element.ancestors)
    ]
    return "\n".join(word for word in words if word)


def _buttons(alert: Element) -> list[Element]:
    return [element for element in alert.descendants if element.type == "Button"]


@route("POST /alert/text")
async def _alert_type(call: Call) -> None:
    value = call.body.get("value")
    if not value:
        raise Refused("invalid argument", "Missing 'value' parameter")
    fields = [
        element for element in _open_alert(call).descendants if element.type in TEXT_INPUTS - {"TextView"}
    ]
    if len(fields) != 1:
        many = "more than one input field" if fields else "no input fields"
        raise Refused("unsupported operation", f"The alert contains {many}")
    await tap(call.server, fields[0].center)
    await type_text(call.server, "".join(value), float(call.server.settings["maxTypingFrequency"]))


def _open_alert(call: Call) -> Element:
    try:
        return _alert(call)
    except Refused:
        raise Refused("no such alert", "No alert is open") from None


@route("POST /alert/accept", bare=True)
async def _accept(call: Call) -> None:
    await _press_alert_button(call, "accept")


@route("POST /alert/dismiss", bare=True)
async def _dismiss(call: Call) -> None:
    await _press_alert_button(call, "dismiss")


async def _press_alert_button(call: Call, way: Literal["accept", "dismiss"]) -> None:
    """A button by its name, by the settings' class chain, or by its place: the last of an alert accepts."""
    alert = _open_alert(call)
    buttons, name = _buttons(alert), call.body.get("name")
    chain = str(call.server.settings[f"{way}AlertButtonSelector"])
    if name is not None:
        match = next((button for button in buttons if button.label == name), None)
    elif chain and (chosen := find(alert, "class chain", chain)):
        match = chosen[0]
    else:
        last = (way == "accept") == (alert.type == "Alert")
        match = buttons[-1 if last else 0] if buttons else None
    if match is None:
        words = f"button with label '{name}'" if name is not None else f"{way} button"
        raise Refused("invalid element state", f"Failed to find {words} for alert: {alert.describe()}")
    await tap(call.server, match.center)


# the short ones


def _set_awake(call: Call, awake: bool) -> None:
    if call.phone.awake != awake:
        call.phone.set_awake(awake)


def _voice_over(call: Call, on: bool) -> None:
    """Toolkits that draw for themselves build their tree once somebody listens."""
    call.phone.service_state("voice_over").update(on="1" if on else "")
    if on:
        call.phone.request_accessibility()


def _page(words: str) -> Command:
    return lambda _: Response(words.encode(), content_type="text/html")


routes(
    {
        "GET /wda/locked": lambda call: not call.phone.awake,
        "POST /wda/lock": lambda call: _set_awake(call, False),
        "POST /wda/unlock": lambda call: _set_awake(call, True),
        "GET /orientation": lambda call: [*TURNS][call.phone.display.rotation],
        "GET /rotation": lambda call: dict(zip("xyz", ROTATIONS[call.phone.display.rotation], strict=True)),
        "GET /wda/deviceOrientation": lambda call: (
            f"UIDeviceOrientation{DEVICE_WORDS[call.phone.display.rotation]}"
        ),
        "DELETE /wda/simulatedLocation": lambda call: set_place(call.phone, None),
        # What the runner itself may know: nobody has given it the permission.
        "GET /wda/device/location": lambda _: dict.fromkeys(
            ("authorizationStatus", "latitude", "longitude", "altitude"), 0
        ),
        "GET /wda/video": lambda _: None,
        "POST /wda/video/start": always_refuses("no-recording"),
        "POST /wda/video/stop": lambda _: None,
        "POST /wda/voiceOver/enable": lambda call: _voice_over(call, True),
        "POST /wda/voiceOver/disable": lambda call: _voice_over(call, False),
        "GET /wda/voiceOver/enabled": lambda call: bool(call.phone.service_state("voice_over").get("on")),
        "POST /wda/voiceOver/move": always_refuses("no-voice-over"),
        "GET /wda/voiceOver/currentSpeech": lambda _: {"utterance": None},
    },
    bare=True,
)
routes(
    {
        "GET ": _described,
        "DELETE ": lambda call: call.server.end_session(),
        "GET /appium/settings": lambda call: dict(call.server.settings),
        "POST /timeouts": lambda _: None,  # WDA takes these and does nothing with them
        "GET /window/rect": lambda call: {"x": 0, "y": 0, **_window_size(call)},
        "GET /wda/alert/buttons": lambda call: [
            button.label for button in _buttons(_alert(call)) if button.label
        ],
        "POST /wda/apps/state": lambda call: call.phone.app_state(call.text("bundleId")),
        "POST /wda/siri/activate": lambda call: call.phone.record_input(
            action="siri", text=str(call.body.get("text") or "")
        ),
        # Posts what a simulator's sensor hears.
        "POST /wda/touch_id": lambda call: (
            call.phone.touch_finger(1 if call.body.get("match") else -1) and None
        ),
        "POST /wda/performAccessibilityAudit": always_refuses("no-audit"),
    }
)
routes({"GET /health": _page(ALIVE), "GET /calibrate": _page(CALIBRATION)}, session=False, bare=True)

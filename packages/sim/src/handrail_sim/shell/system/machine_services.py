"""Shells of the services of the machine: battery, power, doze, heat, place."""

from __future__ import annotations

from handrail_sim.shell.call import Call
from handrail_sim.shell.system.verbs import JavaError, Verbs, does, integer, number, plain, reads, value_of
from handrail_sim.system.surroundings import PLUGS, plug

# battery


async def battery_set(call: Call, args: list[str]) -> int:
    """`cmd battery set KEY VALUE`: the real battery is not listened to until `reset`."""
    key, value = plain(args)[:2]
    if key not in BATTERY_KEYS:
        return await call.line(f"Unknown set option: {key}", 255)
    text = str(integer(value))
    if key == "level":
        call.phone.battery = max(0, min(100, int(text)))
        call.phone.systemui.status.invalidate()
    call.phone.service_state("battery")[key] = text
    return 0


async def battery_get(call: Call, args: list[str]) -> int:
    key = plain(args)[0]
    if key not in BATTERY_KEYS:
        return await call.line(f"Unknown get option: {key}", 255)
    return await call.line(battery_value(call, key))


async def battery_reset(call: Call, _: list[str]) -> int:
    call.phone.service_state("battery").clear()
    call.phone.set_battery(84, "usb")
    return 0


BATTERY_KEYS = {"ac": "0", "usb": "1", "wireless": "0", "dock": "0", "status": "2", "level": "84"}
UNPLUGGED = {"ac": "0", "usb": "0", "wireless": "0", "dock": "0", "status": "3"}
BATTERY_KEYS |= {"temp": "250", "present": "1", "counter": "3360000", "invalid": "0"}


def battery_value(call: Call, key: str) -> str:
    held = call.phone.service_state("battery").get(key)
    if key == "level":
        return str(call.phone.battery)
    if key == "counter":
        return held or str(call.phone.battery * 40000)
    if key == "status" and held is None and call.phone.battery == 100 and plug(call.phone) != "none":
        return "5"
    kind = plug(call.phone)
    if held is None and key in PLUGS:
        return str(int(key == kind))
    if held is None and key == "status" and kind == "none":
        return "3"
    return held if held is not None else BATTERY_KEYS[key]


BATTERY = Verbs(
    "Battery service (battery) commands:",
    {
        "get": ("[-f] KEY", battery_get),
        "set": ("[-f] KEY VALUE", battery_set),
        "unplug": ("[-f]", does(lambda call, _: call.phone.service_state("battery").update(UNPLUGGED))),
        "reset": ("[-f]", battery_reset),
    },
)


# power saver


def set_saver(call: Call, args: list[str]) -> None:
    call.phone.put_setting("global", "low_power", str(int(integer(args[0]) != 0)))


POWER = Verbs("Power manager (power) commands:", {"set-mode": ("0|1", does(set_saver))})


# time


async def set_time(call: Call, args: list[str]) -> int:
    if call.session.user.uid != 0:
        who = f"Neither user {call.session.user.uid} nor current process"
        text = f"setTime: {who} has android.permission.SET_TIME."
        raise JavaError("java.lang.SecurityException", text)
    call.phone.set_date(integer(plain(args)[0]))
    return 0


async def set_timezone(call: Call, args: list[str]) -> int:
    name = plain(args)[0]
    if not call.phone.set_zone(name):
        raise JavaError("java.lang.IllegalArgumentException", f"not a valid zone ID: {name}")
    return 0


ALARM = Verbs(
    "Alarm manager service (alarm) commands:",
    {"set-time": ("TIME", set_time), "set-timezone": ("TZ", set_timezone)},
)


# doze


def _doze(call: Call) -> dict[str, str]:
    return call.phone.service_state("deviceidle")


async def doze_get(call: Call, args: list[str]) -> int:
    state = _doze(call).get("state", "ACTIVE")
    existing = {"light": state, "deep": state, "force": str(state == "IDLE").lower()}
    existing |= {"screen": str(call.phone.awake).lower(), "charging": "true", "network": "true"}
    if args[0] not in existing:
        return await call.line(f"Unknown get option: {args[0]}", 255)
    return await call.line(existing[args[0]])


async def doze_force(call: Call, args: list[str]) -> int:
    _doze(call)["state"] = "IDLE"
    return await call.line(f"Now forced in to {args[0] if args else 'deep'} idle mode")


async def doze_unforce(call: Call, _: list[str]) -> int:
    _doze(call).pop("state", None)
    return await call.line("Light state: ACTIVE, deep state: ACTIVE")


async def doze_step(call: Call, args: list[str]) -> int:
    order = ["ACTIVE", "INACTIVE", "IDLE_PENDING", "SENSING", "LOCATING", "IDLE", "IDLE_MAINTENANCE"]
    at = order.index(_doze(call).get("state", "ACTIVE"))
    _doze(call)["state"] = order[at + 1] if at + 1 < len(order) else "IDLE"
    return await call.line(f"Stepped to {args[0] if args else 'deep'}: {_doze(call)['state']}")


async def doze_whitelist(call: Call, args: list[str]) -> int:
    held = _doze(call)
    names = [word for word in held.get("whitelist", "").split(",") if word]
    for arg in args:
        package = arg[1:]
        if arg[0] not in "+-" or package not in call.phone.packages.installed:
            return await call.line(f"Unknown package: {package}", 255)
        names = [word for word in names if word != package] + ([package] if arg[0] == "+" else [])
        await call.line(f"{'Added' if arg[0] == '+' else 'Removed'}: {package}")
    held["whitelist"] = ",".join(names)
    if not args:
        await call.out("".join(f"user,{name}\n" for name in names) or "system,com.android.shell\n")
    return 0


DEVICEIDLE = Verbs(
    "Device idle controller (deviceidle) commands:",
    {
        "get": ("KEY", doze_get),
        "force-idle": ("[light|deep]", doze_force),
        "unforce": ("", doze_unforce),
        "step": ("[light|deep]", doze_step),
        "whitelist": ("[+PACKAGE|-PACKAGE]...", doze_whitelist),
    },
)


# heat


async def heat(call: Call, args: list[str]) -> int:
    status = integer(args[0])
    if not 0 <= status <= 6:
        return await call.err(f"Error: Invalid status. {status}", 255)
    call.phone.service_state("thermal")["status"] = str(status)
    return 0


THERMAL = Verbs(
    "Thermal service (thermalservice) commands:",
    {
        "override-status": ("STATUS", heat),
        "reset": ("", does(lambda call, _: call.phone.service_state("thermal").clear())),
    },
)


# place

_AT = frozenset({"--location", "--accuracy", "--time", "--user"})


async def providers(call: Call, args: list[str]) -> int:
    verb, *names = plain(args, _AT)
    held, name = call.phone.service_state("location"), names[0] if names else ""
    if verb not in PROVIDER_VERBS:
        return await call.line(f"Unknown command: {verb}", 255)
    if not name:
        raise JavaError("java.lang.IllegalArgumentException", f'Argument expected after "{verb}"')
    if verb == "add-test-provider":
        held[name] = ""
    elif name not in held:
        raise JavaError("java.lang.IllegalArgumentException", f'provider "{name}" is not a test provider')
    elif verb == "remove-test-provider":
        held.pop(name)
    elif verb == "set-test-provider-enabled":
        held[f"{name} enabled"] = str(names[1:] == ["true"]).lower()
    elif verb == "set-test-provider-location":
        call.phone.touched_app()
        latitude, _, longitude = value_of(args, "--location").partition(",")
        accuracy = number(value_of(args, "--accuracy", "100"))
        held[name] = f"{number(latitude):.6f},{number(longitude):.6f} hAcc={accuracy}"
    return 0


PROVIDER_VERBS = frozenset(
    f"{verb}-test-provider{part}"
    for verb, part in (("add", ""), ("remove", ""), ("set", "-enabled"), ("set", "-location"))
)
_MODE = "location_mode"
LOCATION = Verbs(
    "Location service commands:",
    {
        "is-location-enabled": (
            "[--user USER_ID]",
            reads(lambda call, _: str(call.phone.settings["secure"].get(_MODE, "0") != "0").lower()),
        ),
        "set-location-enabled": (
            "[--user USER_ID] true|false",
            does(
                lambda call, args: call.phone.put_setting("secure", _MODE, "3" if args[0] == "true" else "0")
            ),
        ),
        "providers": (
            "[--location LATITUDE,LONGITUDE] [--accuracy METERS] [--time MILLIS] VERB PROVIDER [BOOLEAN]",
            providers,
        ),
    },
)

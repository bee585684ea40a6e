"""The words of `sim` for what the world does: calls, fingers, the battery, the place, the network."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable

from handrail_sim.errors import BadSetting
from handrail_sim.shell.call import Call

Run = Callable[[Call, list[str]], Awaitable[int]]


async def _call(call: Call, args: list[str]) -> int:
    phone = call.phone
    match args:
        case ["list"]:
            await call.line(json.dumps({"call": phone.call, "log": phone.call_log}))
        case ["accept"]:
            return 0 if phone.answer_call() else await call.fail("no call waits for an answer")
        case ["cancel"]:
            return 0 if phone.end_call(here=False) else await call.fail("there is no call")
        case [number]:
            phone.receive_call(number)
        case _:
            return await call.fail("usage: sim call NUMBER | accept | cancel | list", 2)
    return 0


async def _finger(call: Call, args: list[str]) -> int:
    match args:
        case ["touch", number] if number.isdecimal():
            await call.line(call.phone.touch_finger(int(number)))
        case _:
            return await call.fail("usage: sim finger touch ID", 2)
    return 0


async def _battery(call: Call, args: list[str]) -> int:
    match args:
        case [level, *plug] if level.isdecimal() and len(plug) <= 1:
            call.phone.set_battery(int(level), *plug)
        case _:
            return await call.fail("usage: sim battery LEVEL [none|ac|usb|wireless]", 2)
    return 0


async def _location(call: Call, args: list[str]) -> int:
    if len(args) not in (2, 3):
        return await call.fail("usage: sim location LATITUDE LONGITUDE [ALTITUDE]", 2)
    try:
        call.phone.set_location(*map(float, args))
    except ValueError:
        raise BadSetting(f"{' '.join(args)!r} are no degrees", path="location") from None
    return 0


async def _network(call: Call, args: list[str]) -> int:
    match args:
        case ["gone" | "back"]:
            call.phone.set_network(gone=args == ["gone"])
        case ["speed", value]:
            call.phone.set_network(speed=value)
        case ["delay", value]:
            call.phone.set_network(delay=value)
        case _:
            return await call.fail("usage: sim network gone | back | speed VALUE | delay VALUE", 2)
    return 0


OUTSIDE: dict[str, Run] = {
    "call": _call,
    "finger": _finger,
    "battery": _battery,
    "location": _location,
    "network": _network,
}

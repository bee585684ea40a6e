"""`monkey --port`: a script of one command per line over TCP, each answered by OK or ERROR."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Awaitable, Callable
from typing import Any

from handrail_sim.input.keys import NoKeyFor
from handrail_sim.shell.call import Call
from handrail_sim.shell.system.java import JavaError
from handrail_sim.shell.system.keycodes import key_code
from handrail_sim.stream import Stream

_BUILD = ("board", "brand", "device", "fingerprint", "model", "product", "manufacturer")


def _variables(call: Call) -> dict[str, str]:
    phone = call.phone
    top = phone.tasks.top
    known = {f"build.{name}": phone.props.get(f"ro.product.{name}", "") for name in _BUILD}
    known |= {"build.version.sdk": phone.props.get("ro.build.version.sdk", "")}
    known |= {"build.version.release": phone.props.get("ro.build.version.release", "")}
    known |= {"display.width": str(phone.display.width), "display.height": str(phone.display.height)}
    known |= {"display.density": str(phone.display.density / 160)}
    known |= {"am.current.package": top.app.package if top else ""}
    known |= {"am.current.comp.class": top.component.partition("/")[2] if top else ""}
    known |= {"clock.uptime": str(int(phone.clock.monotonic_ms())), "clock.millis": str(phone.clock.now_ms())}
    return known


async def _touch(call: Call, words: list[str]) -> str:
    action, x, y = words
    if action not in {"down", "up", "move"}:
        raise ValueError
    kind: Any = action
    call.phone.pointer(kind, float(x), float(y))
    return ""


async def _tap(call: Call, words: list[str]) -> str:
    x, y = words
    await call.phone.tap(float(x), float(y))
    return ""


async def _key(call: Call, words: list[str]) -> str:
    if words[:1] == ["up"]:
        return ""  # the key went down and up with `down`
    call.phone.key(key_code(words[-1].removeprefix("KEYCODE_")))
    return ""


async def _type(call: Call, words: list[str]) -> str:
    call.phone.type_ascii(" ".join(words))
    return ""


async def _sleep(call: Call, words: list[str]) -> str:
    await call.phone.clock.sleep_ms(float(words[0]))
    return ""


async def _wake(call: Call, _: list[str]) -> str:
    call.phone.set_awake(True)
    return ""


async def _getvar(call: Call, words: list[str]) -> str:
    return _variables(call)[words[0]]


async def _listvar(call: Call, _: list[str]) -> str:
    return " ".join(_variables(call))


COMMANDS: dict[str, Callable[[Call, list[str]], Awaitable[str]]] = {
    "touch": _touch,
    "tap": _tap,
    "key": _key,
    "press": _key,
    "type": _type,
    "sleep": _sleep,
    "wake": _wake,
    "getvar": _getvar,
    "listvar": _listvar,
}


async def _answer(call: Call, line: str) -> str:
    try:
        words = shlex.split(line)
    except ValueError:
        return "ERROR:bad quotes"
    if not words or words[0] not in COMMANDS:
        return f"ERROR:{words[0] if words else ''} not found" if words else "ERROR:"
    call.phone.catch_up()
    try:
        text = await COMMANDS[words[0]](call, words[1:])
    except (ValueError, IndexError, KeyError, NoKeyFor, JavaError):
        return "ERROR:bad arguments"
    return f"OK:{text}" if text else "OK"


async def listen(call: Call, port: int) -> int:
    """Serve the port until a client says `quit`; `done` and a hang-up end that client only."""
    name, over = f"tcp:{port}", asyncio.Event()
    if name in call.phone.ports:
        await call.err("Error binding to network socket.")
        return 251

    async def serve(stream: Stream) -> None:
        held = b""
        while data := await stream.read():
            held += data
            while b"\n" in held:
                raw, _, held = held.partition(b"\n")
                line = raw.decode("utf-8", "replace").strip()
                if line in {"quit", "done"}:
                    await stream.write(b"OK\n")
                    stream.close()
                    if line == "quit":
                        over.set()
                    return
                await stream.write((await _answer(call, line)).encode() + b"\n")

    call.phone.ports[name] = serve
    try:
        await over.wait()
    finally:
        call.phone.ports.pop(name, None)
    return 0

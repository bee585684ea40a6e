"""The emulator's two doors besides adb: EmulatorController over gRPC (console port + 3000) and the console.

gRPC needs the optional grpcio; without it the console alone is opened, and `reason` says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from hmac import compare_digest
from io import BytesIO
from pathlib import Path
from secrets import token_urlsafe
from typing import Any

from handrail_sim.errors import BadSetting
from handrail_sim.handset import Handset
from handrail_sim.resources import table
from handrail_sim.system import surroundings, telephony

GREETING = "Android Console: type 'help' for a list of commands\r\nOK\r\n"
TOKEN_FILE = ".emulator_console_auth_token"  # noqa: S105 - the file's name
FOR_EVERYBODY = frozenset({"help", "ping", "auth", "quit", "exit"})
MAX_LINE = 4096

# Key codes of other worlds as Android's: Linux evdev, USB HID, X11, and the names of web browsers.
_TABLE = table("input/emulator_keys.toml")

EVDEV: dict[int, int] = {int(code): key for code, key in _TABLE["evdev"].items()}
"""As the emulator's own keyboard layout has them."""

USB: dict[int, int] = {int(code, 16): key for code, key in _TABLE["usb"].items()}

NAMES: dict[str, int] = _TABLE["names"]
"""KeyboardEvent.key values that are no characters."""

X11_OFFSET = 8


def android_code(kind: int, code: int) -> int | None:
    """`kind` is KeyboardEvent.KeyCodeType: 0 USB, 1 evdev, 2 X11; Windows' and Apple's are not known."""
    if kind == 0:
        return USB.get(code & 0xFFFF)
    if kind == 1:
        return EVDEV.get(code)
    return EVDEV.get(code - X11_OFFSET) if kind == 2 else None


class Refused(Exception):
    """KO, with this reason."""


@asynccontextmanager
async def open_console(phone: Handset, port: int, host: str = "127.0.0.1") -> AsyncIterator[int]:
    writers: set[asyncio.StreamWriter] = set()

    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.add(writer)
        try:
            await converse(phone, reader, writer, port)
        except (ConnectionError, asyncio.LimitOverrunError, ValueError):
            pass
        finally:
            writers.discard(writer)
            writer.close()

    read_token(Path.home())  # before the first client, which may read the file before it connects
    server = await asyncio.start_server(client, host, port, limit=MAX_LINE)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for writer in list(writers):
            writer.close()
        await server.wait_closed()


async def converse(
    phone: Handset, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int
) -> None:
    """Answer one client's lines until it leaves."""
    console, token = Console(phone, port), read_token(Path.home())
    writer.write((welcome(Path.home()) if token else GREETING).encode())
    while not console.left and (line := await reader.readline()):
        if line.startswith((b"GET ", b"POST ", b"HEAD ", b"PUT ")):
            writer.write(b"KO: Forbidden HTTP request. Aborting\r\n")
            return
        text = line.decode("utf-8", "replace").strip()
        verb, _, rest = text.partition(" ")
        if token and verb == "auth":
            matches = compare_digest(rest.strip().encode(), token.encode())
            token = "" if matches else token
            answer = GREETING if matches else f"KO: authentication token does not match ~/{TOKEN_FILE}\r\n"
        elif token and verb not in FOR_EVERYBODY:
            answer = "KO: unknown command, try 'help'\r\n" if verb else ""
        else:
            answer = console.answer(text)
        writer.write(answer.encode())
        await writer.drain()


def read_token(home: Path) -> str:
    """The user's console token; created if missing, empty if the home folder is not writable."""
    file = home / TOKEN_FILE
    try:
        if not file.exists():
            file.touch(mode=0o600)
            file.write_text(token_urlsafe(12))
        return file.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return ""


def welcome(home: Path) -> str:
    """What somebody hears who has not shown the token yet."""
    return (
        "Android Console: Authentication required\r\n"
        "Android Console: type 'auth <auth_token>' to authenticate\r\n"
        f"Android Console: you can find your <auth_token> in \r\n'{home / TOKEN_FILE}'\r\nOK\r\n"
    )


HELP: dict[str, str] = table("channels/console.toml")


class Console:
    """The commands of one connection."""

    def __init__(self, phone: Handset, port: int) -> None:
        self.phone = phone
        self.port = port
        self.left = False
        self._commands: dict[str, Callable[[list[str]], str]] = {
            "help": self._help,
            "ping": lambda _: "I am alive!\r\n",
            "auth": lambda _: "",
            "geo": self._geo,
            "gsm": self._gsm,
            "sms": self._sms,
            "network": self._network,
            "power": self._power,
            "finger": self._finger,
            "avd": self._avd,
            "rotate": self._rotate,
            "fold": lambda _: self._fold("closed"),
            "unfold": lambda _: self._fold("open"),
            "event": self._event,
            "quit": self._quit,
            "exit": self._quit,
        }

    def answer(self, line: str) -> str:
        words = line.split()
        if not words:
            return ""
        run = self._commands.get(words[0])
        if run is None:
            return "KO: unknown command, try 'help'\r\n"
        self.phone.catch_up()
        try:
            reply = run(words[1:])
        except (Refused, BadSetting) as refusal:
            return f"KO: {refusal}\r\n"
        return reply if self.left else f"{reply}OK\r\n"

    def _help(self, args: list[str]) -> str:
        if args and args[0] not in HELP:
            raise Refused("unknown command")
        if args:
            return f"{HELP[args[0]]}\r\n"
        lines = "".join(f"    {name:<16} {HELP[name].partition(':')[0]}\r\n" for name in self._commands)
        more = "try 'help <command>' for command specific help"
        return f"Android console command help:\r\n\r\n{lines}\r\n{more}\r\n"

    def _quit(self, _args: list[str]) -> str:
        self.left = True
        return ""

    def _geo(self, args: list[str]) -> str:
        if args[:1] != ["fix"]:
            raise Refused("bad sub-command" if args else "missing sub-command")
        try:
            longitude, latitude, *more = (float(word) for word in args[1:4])
        except ValueError:
            raise Refused("not enough arguments: see 'help geo fix' for details") from None
        self.phone.set_location(latitude, longitude, *more)
        return ""

    def _gsm(self, args: list[str]) -> str:
        match args:
            case ["call", number]:
                self.phone.receive_call(number)
            case ["accept", number] if self._is_calling(number):
                self.phone.answer_call()
            case ["cancel" | "busy", number] if self._is_calling(number):
                self.phone.end_call(here=False)
            case ["accept" | "cancel" | "busy", number]:
                raise Refused(f"could not find a call with {number}")
            case ["list"]:
                return self._calls()
            case ["status"]:
                return "gsm voice state: home\r\ngsm data state:  home\r\n"
            case []:
                raise Refused("missing sub-command")
            case _:
                raise Refused("bad sub-command")
        return ""

    def _is_calling(self, number: str) -> bool:
        return self.phone.call is not None and self.phone.call["number"] == number

    def _calls(self) -> str:
        call = self.phone.call
        if call is None:
            return ""
        way = "inbound from" if call["incoming"] else "outbound to "
        state = {"ringing": "incoming"}.get(call["state"], call["state"])
        return f"{way} {call['number']:<10} : {state}\r\n"

    def _sms(self, args: list[str]) -> str:
        if args[:1] != ["send"] or len(args) < 3:
            raise Refused("missing argument, try 'sms send <phonenumber> <text message>'")
        if not telephony.is_number(args[1]):
            raise Refused("bad phone number format, must be [+](0-9)*")
        self.phone.receive_sms(args[1], " ".join(args[2:]))
        return ""

    def _finger(self, args: list[str]) -> str:
        match args:
            case ["touch", number] if number.isdecimal():
                self.phone.touch_finger(int(number))
            case ["remove"]:
                pass  # a prompt has its answer when the finger comes, not when it goes
            case _:
                raise Refused("bad sub-command" if args else "missing sub-command")
        return ""

    def _network(self, args: list[str]) -> str:
        match args:
            case ["speed", value]:
                self.phone.set_network(speed=value)
            case ["delay", value]:
                self.phone.set_network(delay=value)
            case ["status"]:
                return self._network_status()
            case _:
                raise Refused("invalid arguments, see 'help network' for details")
        return ""

    def _network_status(self) -> str:
        up, down = surroundings.speed(self.phone)
        least, most = surroundings.delay(self.phone)
        return (
            f"Current network status:\r\n  download speed:   {down:8d} bits/s ({down / 8192:.1f} KB/s)\r\n"
            f"  upload speed:     {up:8d} bits/s ({up / 8192:.1f} KB/s)\r\n"
            f"  minimum latency:  {least} ms\r\n  maximum latency:  {most} ms\r\n"
        )

    def _power(self, args: list[str]) -> str:
        match args:
            case ["capacity", value] if value.isdecimal():
                self.phone.set_battery(int(value))
            case ["ac", "on" | "off"]:
                self.phone.set_battery(plug="ac" if args[1] == "on" else "none")
            case ["status", "charging"]:
                self.phone.set_battery(plug="ac")
            case ["status", "discharging" | "not-charging"]:
                self.phone.set_battery(plug="none")
            case ["status", "full"]:
                self.phone.set_battery(100, "ac")
            case ["display"]:
                plug, level = surroundings.plug(self.phone), self.phone.battery
                status = "Discharging" if plug == "none" else "Full" if level == 100 else "Charging"
                line = "online" if plug == "ac" else "offline"
                return (
                    f"AC: {line}\r\nstatus: {status}\r\nhealth: Good\r\npresent: true\r\n"
                    f"capacity: {level}\r\n"
                )
            case _:
                raise Refused("bad sub-command" if args else "missing sub-command")
        return ""

    def _fold(self, state: str) -> str:
        fold = self.phone.faults.active("fold")
        if fold is None:
            raise Refused("this device does not fold")
        self.phone.faults.add("fold", **fold.options | {"state": state})
        return ""

    def _avd(self, args: list[str]) -> str:
        match args:
            case ["name"]:
                return f"{self.phone.serial}\r\n"
            case ["status"]:
                return "virtual device is running\r\n"
            case ["grpc"]:
                return f"{self.port + 3000}\r\n"
            case ["snapshot", "save", name]:
                self.phone.snapshot(name)
            case ["snapshot", "load", name] if name in self.phone.snapshots:
                self.phone.restore(name)
            case ["snapshot", "list"]:
                return "".join(f"{name}\r\n" for name in self.phone.snapshots)
            case _:
                raise Refused("bad sub-command")
        return ""

    def _rotate(self, _args: list[str]) -> str:
        self.phone.set_rotation((self.phone.display.rotation + 1) % 4)
        return ""

    def _event(self, args: list[str]) -> str:
        if args[:1] != ["text"] or len(args) < 2:
            raise Refused("bad sub-command")
        words = " ".join(args[1:])
        self.phone.type_ascii("".join(word for word in words if " " <= word <= "~"))
        return ""


Value = int | bytes
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


class MalformedMessage(ValueError):
    """The bytes are no message."""


def encode(*fields: tuple[int, int | bool | str | bytes]) -> bytes:
    """A message from (number, value) pairs; zero and empty values are left out, as proto3 does."""
    out = bytearray()
    for number, value in fields:
        if not value:
            continue
        data = value.encode() if isinstance(value, str) else value
        if isinstance(data, bytes):
            out += varint(number << 3 | BYTES) + varint(len(data)) + data
        else:
            out += varint(number << 3 | VARINT) + varint(int(data))
    return bytes(out)


def varint(value: int) -> bytes:
    """Seven bits a byte, lowest first; a negative number is its 64-bit complement."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def decode(data: bytes) -> dict[int, list[Value]]:
    matches: dict[int, list[Value]] = {}
    for number, value in _fields(data):
        matches.setdefault(number, []).append(value)
    return matches


def _fields(data: bytes) -> Iterator[tuple[int, Value]]:
    at = 0
    while at < len(data):
        key, at = _read_varint(data, at)
        kind = key & 7
        if kind == VARINT:
            value, at = _read_varint(data, at)
            yield key >> 3, value
            continue
        if kind == BYTES:
            size, at = _read_varint(data, at)
        elif kind in (FIXED64, FIXED32):
            size = 8 if kind == FIXED64 else 4
        else:
            raise MalformedMessage(f"wire type {kind}")
        if at + size > len(data):
            raise MalformedMessage("cut short")
        yield key >> 3, data[at : at + size]
        at += size


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise MalformedMessage("a number without an end")
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value & ((1 << 64) - 1), at


def number(fields: dict[int, list[Value]], key: int) -> int:
    """The last value of an int32 field, 0 if it is not there."""
    value = fields.get(key, [0])[-1]
    if not isinstance(value, int):
        raise MalformedMessage(f"field {key} is not a number")
    return value - (1 << 64) if value >> 63 else value


def text(fields: dict[int, list[Value]], key: int) -> str:
    value = fields.get(key, [b""])[-1]
    if not isinstance(value, bytes):
        raise MalformedMessage(f"field {key} is not a string")
    return value.decode("utf-8", "replace")


def messages(fields: dict[int, list[Value]], key: int) -> list[dict[int, list[Value]]]:
    return [decode(value) for value in fields.get(key, []) if isinstance(value, bytes)]


SERVICE = "android.emulation.control.EmulatorController"
GRPC_OFFSET = 3000
VERSION = "35.1.4-handrail"
LONG_PRESS_MS = 500.0
KEY_DOWN, KEY_UP = 0, 1
PNG, RGB888 = 0, 2

Fields = dict[int, list[Value]]


@dataclass(frozen=True, slots=True)
class EmulatorPorts:
    """Where the doors are; `grpc_port` is None, with a reason, when grpcio is missing."""

    console_port: int
    grpc_port: int | None
    reason: str = ""


@asynccontextmanager
async def emulate(phone: Handset, console_port: int, host: str = "127.0.0.1") -> AsyncIterator[EmulatorPorts]:
    async with open_console(phone, console_port, host):
        try:
            from grpc import aio  # type: ignore[import-untyped]  # noqa: PLC0415 - an optional extra
        except ImportError:
            yield EmulatorPorts(
                console_port, None, "grpcio is not installed: pip install 'handrail-sim[emulator]'"
            )
            return
        server = aio.server()
        server.add_generic_rpc_handlers((handler(Controller(phone)),))
        port = server.add_insecure_port(f"{host}:{console_port + GRPC_OFFSET}")
        await server.start()
        try:
            yield EmulatorPorts(console_port, port)
        finally:
            await server.stop(0)


def handler(controller: Controller) -> Any:
    """The service for a gRPC server; messages go in and out as bytes."""
    import grpc  # noqa: PLC0415 - an optional extra

    unary: dict[str, Callable[[bytes], Awaitable[bytes]]] = {
        "getStatus": controller.get_status,
        "sendTouch": controller.send_touch,
        "sendKey": controller.send_key,
        "getScreenshot": controller.get_screenshot,
        "setClipboard": controller.set_clipboard,
        "getClipboard": controller.get_clipboard,
    }

    def method(run: Callable[[bytes], Awaitable[bytes]]) -> Any:
        async def answer(request: bytes, context: Any) -> bytes:
            try:
                return await run(request)
            except MalformedMessage as problem:
                await context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(problem))
                raise

        return grpc.unary_unary_rpc_method_handler(answer)

    return grpc.method_handlers_generic_handler(SERVICE, {name: method(run) for name, run in unary.items()})


class Controller:
    """The calls, on encoded messages."""

    def __init__(self, phone: Handset) -> None:
        self.phone = phone
        self._fingers: set[int] = set()
        self._pressed: dict[int, float] = {}
        self._pictures = 0

    async def get_status(self, _request: bytes) -> bytes:
        """EmulatorStatus: version, uptime in ms, booted."""
        phone = self.phone
        phone.catch_up()
        uptime = int(phone.clock.monotonic_ms() - phone.booted_ms)
        hardware = encode((1, encode((1, "hw.lcd.density"), (2, str(phone.display.density)))))
        return encode((1, VERSION), (2, uptime), (3, True), (5, hardware))

    async def send_touch(self, request: bytes) -> bytes:
        """TouchEvent: a finger that is new goes down, pressure 0 lifts it."""
        for touch in messages(decode(request), 1):
            finger = number(touch, 3)
            x, y = self._turned(number(touch, 1), number(touch, 2))
            if number(touch, 4) <= 0:
                if finger in self._fingers:
                    self._fingers.discard(finger)
                    self.phone.pointer("up", x, y, finger)
            elif finger in self._fingers:
                self.phone.pointer("move", x, y, finger)
            elif self.phone.chances():
                self._fingers.add(finger)
                self.phone.pointer("down", x, y, finger)
        return b""

    def _turned(self, x: int, y: int) -> tuple[int, int]:
        """Touches come in px of the panel as it was built; Android turns them with the screen."""
        display = self.phone.display
        right, bottom = display.width - 1, display.height - 1
        return [(x, y), (y, bottom - x), (right - x, bottom - y), (right - y, x)][display.rotation % 4]

    async def send_key(self, request: bytes) -> bytes:
        """KeyboardEvent: text, a named key, or a code; a key that is held for 500 ms is a long press."""
        event = decode(request)
        kind, code, name, words = number(event, 2), number(event, 3), text(event, 4), text(event, 5)
        if words:
            self._type(words)
        elif name and name not in NAMES:
            if kind != KEY_UP:
                self._type(name[:1])
        else:
            key = NAMES.get(name) if name else android_code(number(event, 1), code)
            if key is not None:
                self._key(kind, key)
        return b""

    def _type(self, words: str) -> None:
        """Characters without a key on the emulator's keyboard are dropped."""
        self.phone.type_ascii("".join(word for word in words if " " <= word <= "~"))

    def _key(self, kind: int, key: int) -> None:
        now = self.phone.clock.monotonic_ms()
        if kind == KEY_DOWN:
            self._pressed.setdefault(key, now)
            return
        held = now - self._pressed.pop(key, now) >= LONG_PRESS_MS
        self.phone.key(key, long_press=held)

    async def get_screenshot(self, request: bytes) -> bytes:
        """Image; a width or height that is asked for bounds it, the ratio is kept."""
        wanted = decode(request)
        form, bound = number(wanted, 1), (number(wanted, 3), number(wanted, 4))
        png = await self.phone.screenshot()
        data, width, height = await self.phone.painted(lambda: _picture(png, form, bound))
        self._pictures += 1
        rotation = encode((1, self.phone.display.rotation))
        shape = encode((1, form), (2, rotation), (3, width), (4, height))
        stamp = self.phone.wall_ms() * 1000
        return encode((1, shape), (2, width), (3, height), (4, data), (5, self._pictures), (6, stamp))

    async def set_clipboard(self, request: bytes) -> bytes:
        self.phone.clipboard = text(decode(request), 1)
        return b""

    async def get_clipboard(self, _request: bytes) -> bytes:
        return encode((1, self.phone.clipboard))


def _picture(png: bytes, form: int, bound: tuple[int, int]) -> tuple[bytes, int, int]:
    from PIL import Image  # noqa: PLC0415 - only for those who ask for pictures

    picture: Image.Image = Image.open(BytesIO(png))
    limits = [have / want for have, want in zip(picture.size, bound, strict=True) if want]
    if limits and max(limits) > 1:
        size = (round(picture.width / max(limits)), round(picture.height / max(limits)))
        picture = picture.resize(size, Image.Resampling.BILINEAR)
    elif form == PNG:
        return png, picture.width, picture.height
    if form == PNG:
        out = BytesIO()
        picture.save(out, "PNG")
        return out.getvalue(), picture.width, picture.height
    mode = "RGB" if form == RGB888 else "RGBA"
    return picture.convert(mode).tobytes(), picture.width, picture.height

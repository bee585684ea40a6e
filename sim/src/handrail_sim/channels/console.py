"""The emulator's console: lines over TCP, answered with OK or KO.

As the emulator's, it asks for the token in the person's home folder, and puts one there if there is none:
adb and other tools read it from that file. An empty file means that nobody is asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from hmac import compare_digest
from pathlib import Path
from secrets import token_urlsafe
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from handrail_sim.handset import Handset

GREETING = "Android Console: type 'help' for a list of commands\r\nOK\r\n"
TOKEN_FILE = ".emulator_console_auth_token"  # noqa: S105 - the file's name
FOR_EVERYBODY = frozenset({"help", "ping", "auth", "quit", "exit"})
MAX_LINE = 4096
SPEEDS = {"gsm": (14_400, 14_400), "hscsd": (14_400, 43_200), "gprs": (28_800, 57_600)}
SPEEDS |= {"edge": (473_600, 473_600), "umts": (384_000, 384_000), "hsdpa": (5_760_000, 13_980_000)}
SPEEDS |= {"lte": (58_000_000, 173_000_000), "evdo": (75_000_000, 280_000_000), "full": (0, 0)}
"""bit/s up and down."""
DELAYS = {"none": (0, 0), "gprs": (150, 550), "edge": (80, 400), "umts": (35, 200)}
"""Milliseconds, least and most."""


class Refused(Exception):
    """KO, with this reason."""


@asynccontextmanager
async def open_console(phone: Handset, port: int, host: str = "127.0.0.1") -> AsyncIterator[int]:
    """Serve the console on a port of the host while the block runs."""
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
    """The token of whoever runs this; a new one if there is none, none at all if it can't be kept."""
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


def _pair(text: str, names: dict[str, tuple[int, int]], unit: int) -> tuple[int, int] | None:
    """A name, one number for both, or two numbers with a colon between them."""
    if text in names:
        return names[text]
    first, colon, second = text.partition(":")
    if not (first.isascii() and first.isdigit()) or (colon and not (second.isascii() and second.isdigit())):
        return None
    return int(first) * unit, int(second or first) * unit


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
            "sms": self._sms,
            "network": self._network,
            "power": self._power,
            "avd": self._avd,
            "rotate": self._rotate,
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
            told = run(words[1:])
        except Refused as refusal:
            return f"KO: {refusal}\r\n"
        return told if self.left else f"{told}OK\r\n"

    def _help(self, _args: list[str]) -> str:
        lines = "".join(f"    {name}\r\n" for name in self._commands)
        return f"Android console commands:\r\n\r\n{lines}\r\n"

    def _quit(self, _args: list[str]) -> str:
        self.left = True
        return ""

    def _geo(self, args: list[str]) -> str:
        """`geo fix LONGITUDE LATITUDE [ALTITUDE]`."""
        if args[:1] != ["fix"]:
            raise Refused("missing sub-command")
        try:
            longitude, latitude, *_ = (float(word) for word in args[1:])
        except ValueError:
            raise Refused("not enough arguments: see 'help geo fix' for details") from None
        if abs(longitude) > 180 or abs(latitude) > 90:
            raise Refused("invalid longitude or latitude value")
        self.phone.props["sim.location"] = f"{latitude},{longitude}"
        return ""

    def _sms(self, args: list[str]) -> str:
        if args[:1] != ["send"] or len(args) < 3:
            raise Refused("missing argument, try 'sms send <phonenumber> <text message>'")
        self.phone.receive_sms(args[1], " ".join(args[2:]))
        return ""

    def _network(self, args: list[str]) -> str:
        match args:
            case ["speed", value] if _pair(value, SPEEDS, 1000):
                self.phone.props["sim.network.speed"] = value
            case ["delay", value] if _pair(value, DELAYS, 1):
                self.phone.props["sim.network.delay"] = value
            case ["status"]:
                return self._network_status()
            case _:
                raise Refused("invalid arguments, see 'help network' for details")
        return ""

    def _network_status(self) -> str:
        up, down = _pair(self.phone.props.get("sim.network.speed", "full"), SPEEDS, 1000) or (0, 0)
        least, most = _pair(self.phone.props.get("sim.network.delay", "none"), DELAYS, 1) or (0, 0)
        return (
            f"Current network status:\r\n  download speed:   {down:8d} bits/s ({down / 8192:.1f} KB/s)\r\n"
            f"  upload speed:     {up:8d} bits/s ({up / 8192:.1f} KB/s)\r\n"
            f"  minimum latency:  {least} ms\r\n  maximum latency:  {most} ms\r\n"
        )

    def _power(self, args: list[str]) -> str:
        match args:
            case ["capacity", value] if value.isdigit() and int(value) <= 100:
                self.phone.battery = int(value)
                self.phone.systemui.status.invalidate()
            case ["display"]:
                return f"AC: online\r\nstatus: Charging\r\nhealth: Good\r\ncapacity: {self.phone.battery}\r\n"
            case _:
                raise Refused("bad sub-command")
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
        self.phone.type_ascii("".join(one for one in words if " " <= one <= "~"))
        return ""

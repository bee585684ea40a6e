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

from handrail_sim.errors import BadSetting
from handrail_sim.system import surroundings, telephony

if TYPE_CHECKING:
    from handrail_sim.handset import Handset

GREETING = "Android Console: type 'help' for a list of commands\r\nOK\r\n"
TOKEN_FILE = ".emulator_console_auth_token"  # noqa: S105 - the file's name
FOR_EVERYBODY = frozenset({"help", "ping", "auth", "quit", "exit"})
MAX_LINE = 4096


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


HELP = {
    "help": "print a list of commands, or help on one",
    "ping": "check if the emulator is alive",
    "auth": "auth <auth_token>: user authentication",
    "event": "event text <message>: type a text",
    "geo": "geo fix <longitude> <latitude> [<altitude>]: send a GPS position",
    "gsm": "gsm call|accept|busy|cancel <phonenumber>, gsm list, gsm status: phone calls",
    "sms": "sms send <phonenumber> <text message>: an inbound message",
    "network": "network status, network speed <speed>, network delay <latency>",
    "power": "power display, power ac on|off, power status charging|discharging|full, "
    "power capacity <percent>",
    "finger": "finger touch <fingerid>, finger remove: the fingerprint sensor",
    "avd": "avd name, avd status, avd grpc, avd snapshot save|load|list",
    "rotate": "turn the screen by 90 degrees",
    "fold": "fold a phone that folds",
    "unfold": "unfold it",
    "quit": "end this session",
    "exit": "end this session",
}


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
            told = run(words[1:])
        except (Refused, BadSetting) as refusal:
            return f"KO: {refusal}\r\n"
        return told if self.left else f"{told}OK\r\n"

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
                return self._battery()
            case _:
                raise Refused("bad sub-command" if args else "missing sub-command")
        return ""

    def _battery(self) -> str:
        plug, level = surroundings.plug(self.phone), self.phone.battery
        status = "Discharging" if plug == "none" else "Full" if level == 100 else "Charging"
        line = "online" if plug == "ac" else "offline"
        return f"AC: {line}\r\nstatus: {status}\r\nhealth: Good\r\npresent: true\r\ncapacity: {level}\r\n"

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
        self.phone.type_ascii("".join(one for one in words if " " <= one <= "~"))
        return ""

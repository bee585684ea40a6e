"""The configuration: one table of variables, one frozen value read from them, the paths under home.

Reads the mapping that it is given, and no disk before `make_home`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeVar, cast, get_args
from urllib.parse import urlsplit

from handrail.errors import InvalidAction
from handrail.local_socket import home_folder
from handrail.trusted_file import check_folder

T = TypeVar("T")
Helper = Literal["auto", "handrail", "u2", "http", "none"]
LogLevel = Literal["debug", "info", "warning", "error"]
ADB_PORT = 5037
METRO = "127.0.0.1:8081"
WDA_PORT = 8100
PORTS = range(1, 65536)
_ADDRESS = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\[\]:\s/]+):(\d{1,5})")


@dataclass(frozen=True, slots=True)
class Variable:
    """One line of the table that the docs print."""

    name: str
    meaning: str
    default: str = ""
    also: str = ""
    """Another spelling that is read when the first one is not set."""


_TABLE = """
HANDRAIL_HOME | folder of the journal, approvals, leases and settings; made with mode 0700 |
  `$XDG_DATA_HOME/handrail`, else `~/.local/share/handrail`
HANDRAIL_DEVICE | the device of commands that are given no `--device` | the only usable one
HANDRAIL_DEVICES | devices reached without an adb server: `host:port`, separated by commas
HANDRAIL_ADB | the adb binary | `adb` on the PATH, in the Android SDK, or in the `adbutils` package
USBMUXD_SOCKET_ADDRESS | where usbmuxd listens, which reaches iPhones on cables: a path or `host:port` |
  /var/run/usbmuxd
HANDRAIL_WDA_PORT | the port of WebDriverAgent on iPhones and simulators | 8100
CHROME_BIN | the browser that `--device browser` starts | Chromium or Chrome on the PATH
HANDRAIL_BROWSER_SHOWN | 1: a browser that is started has a window
HANDRAIL_BROWSER_TABS | tabs of a running browser that are shown: patterns of addresses | none
ANDROID_HOME | the Android SDK | | ANDROID_SDK_ROOT
ANDROID_USER_HOME | folder of the key that phones are shown | `~/.android`
ADB_VENDOR_KEYS | further key files, separated by colons
ANDROID_ADB_SERVER_ADDRESS | host of the adb server; only one here is started | 127.0.0.1
ANDROID_ADB_SERVER_PORT | port of the adb server | 5037
ADB_SERVER_SOCKET | where the adb server listens, `tcp:PORT` or `tcp:HOST:PORT`; wins over the two above
HANDRAIL_HELPER | what runs on the phone to read it faster: `auto` (the first that works of our own and
  u2), `handrail`, `u2` or `none`; `http` is an older name of `handrail` | `auto`
HANDRAIL_DISABLE_HELPER | 1: nothing is started on the phone; the same as `HANDRAIL_HELPER=none` | 0 |
  AGENTEST_DISABLE_HELPER
HANDRAIL_DISABLE_FRAMEWORK_SYNC | 1: debug builds of React Native, Flutter and Compose apps are not asked
  whether they are busy | 0 | AGENTEST_DISABLE_FRAMEWORK_SYNC
HANDRAIL_DISABLE_WEB | 1: web pages inside a phone are read by accessibility alone | 0
HANDRAIL_DISABLE_FIBER_INFERENCE | 1: nameless elements are not named after their React components | 0 |
  AGENTEST_DISABLE_FIBER_INFERENCE
HANDRAIL_DISABLE_VISION | 1: no text is read from pictures of the screen, also where `handrail[vision]` is
  installed | 0
HANDRAIL_METRO | where React Native's bundler listens: `host:port` | 127.0.0.1:8081
HANDRAIL_WITNESS | who keeps the journal's checkpoints elsewhere: a folder that is there, best on another
  disk, or the address of a `handrail witness serve`
HANDRAIL_WITNESS_KEY | the public key of the witness at that address | what it tells
HANDRAIL_NOTIFY_URL | where a served desk reports that a question waits: an ntfy topic, `https://ntfy.sh/TOPIC`,
  or a webhook that takes JSON, `json+https://…`; it gets a random id, nothing of any screen | none
HANDRAIL_OTLP_ENDPOINT | a collector of [telemetry](telemetry.md): `http://127.0.0.1:4318` | none
HANDRAIL_OTLP_HEADERS | what that collector is sent with it, such as a key: `NAME=VALUE,…`
TRACEPARENT | with telemetry: the trace that a command belongs to, as W3C writes it
HANDRAIL_NO_DAEMON | 1: every command runs in its own process; the daemon is neither used nor started | 0
HANDRAIL_FLEET_TOKEN | the token of the fleet's head that `--fleet` names
HANDRAIL_FLEET_CERT | its certificate as PEM, where no authority has signed it
HANDRAIL_FLEET_TRUSTED_NETWORK | 1: send it by plain HTTP, also to another machine | 0
HANDRAIL_LOG | how much is logged: `debug`, `info`, `warning` or `error` | `warning`
HANDRAIL_SIM_SEED | seed of the phone that `--sim` starts | 1
HANDRAIL_SIM_APPS | apps of the phone that `--sim` starts, separated by commas | all
HANDRAIL_SECRET_… | value of a secret: `${secret:NAME}` reads `HANDRAIL_SECRET_NAME`
OPENAI_API_KEY | key for `--model openai:…`; a local server needs none
OPENAI_BASE_URL | another server with OpenAI's protocol; `--base-url` wins over it
ANTHROPIC_API_KEY | key for `--model anthropic:…`
ANTHROPIC_BASE_URL | another server with Anthropic's protocol; `--base-url` wins over it
HANDRAIL_RUN | set by Handrail for the scripts that it runs: which run they belong to
HANDRAIL_CORPUS | tests only: a folder of recorded UI dumps | `../shared/corpus`
HANDRAIL_MOBILE_MCP | tests only: 1, or the path of mobile-mcp's `lib/index.js`, to run it against the
  simulator
HANDRAIL_GO | tests only: a Go compiler that finds golang.org/x/mod, to read our checkpoints
HANDRAIL_AICS | tests only: the folder of `aics-witness`, to countersign our checkpoints
HANDRAIL_NEW_USER | tests only: 1 builds a virtual environment in a fresh clone and runs the demo | 0
HANDRAIL_ATTACK_SEED | tests only: which attacks on guarded buttons are drawn | a fixed one
CHROME_BIN | tests only: the browser | one on the PATH
HANDRAIL_REQUIRE_BROWSER | tests only: 1 makes a skipped browser test a failure | 0
"""
"""A line for each: its name | what it means | its default | its other spelling."""
VARIABLES: tuple[Variable, ...] = tuple(
    Variable(*(" ".join(cell.split()) for cell in row.split("|")))
    for row in re.split(r"\n(?! )", _TABLE.strip())
)

_FLAGS = (
    *("DISABLE_FRAMEWORK_SYNC", "DISABLE_FIBER_INFERENCE", "DISABLE_WEB", "DISABLE_VISION"),
    *("NO_DAEMON", "BROWSER_SHOWN"),
)
"""Used elsewhere; a wrong value is refused before anything is done."""
_YES = frozenset({"1", "true", "yes", "on"})
_NO = frozenset({"0", "false", "no", "off"})


class _HomePath:
    """An attribute of `Config` that is a path in the home."""

    def __init__(self, *parts: str) -> None:
        self._parts = parts

    def __get__(self, config: Config, _: type[Config]) -> Path:
        return config.home.joinpath(*self._parts)


@dataclass(frozen=True, slots=True)
class Config:
    """Everything that the environment decides, checked."""

    home: Path
    device: str | None = None
    devices: tuple[str, ...] = ()
    """Addresses that are opened without an adb server."""
    adb: Path | None = None
    adb_host: str = "127.0.0.1"
    adb_port: int = ADB_PORT
    helper: Helper = "auto"
    witness: str | None = None
    """An address that begins with http, or a folder's whole path."""
    witness_key: str | None = None
    notify_url: str | None = None
    log: LogLevel = "warning"
    sim_seed: int = 1
    sim_apps: tuple[str, ...] | None = None

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> Config:
        """Raises `InvalidAction`; `path` is the variable's name."""
        read = _Reader(env)
        disabled = read.flag("HANDRAIL_DISABLE_HELPER")
        for name in _FLAGS:
            read.flag(f"HANDRAIL_{name}")
        metro(env)
        host, port = read.socket("ADB_SERVER_SOCKET")
        return cls(
            home=Path(home_folder(env)),
            device=read.text("HANDRAIL_DEVICE") or None,
            devices=tuple(read.each("HANDRAIL_DEVICES", _address)),
            adb=read.path("HANDRAIL_ADB"),
            adb_host=host or _normal_host(read.text("ANDROID_ADB_SERVER_ADDRESS")),
            adb_port=port or read.number("ANDROID_ADB_SERVER_PORT", ADB_PORT, PORTS),
            helper="none" if disabled else read.choice("HANDRAIL_HELPER", Helper, "auto"),
            witness=_parse_witness(read.text("HANDRAIL_WITNESS")),
            witness_key=read.text("HANDRAIL_WITNESS_KEY") or None,
            notify_url=_parse_notify_url(read.text("HANDRAIL_NOTIFY_URL")),
            log=read.choice("HANDRAIL_LOG", LogLevel, "warning"),
            sim_seed=read.number("HANDRAIL_SIM_SEED", 1, range(2**31)),
            sim_apps=tuple(read.each("HANDRAIL_SIM_APPS", str)) or None,
        )

    db = _HomePath("handrail.db")
    blobs = _HomePath("blobs")
    runs = _HomePath("runs")
    storage = _HomePath("storage")
    apps = _HomePath("apps")
    permissions = _HomePath("config", "permissions.json")
    policy = _HomePath("config", "policy.toml")
    desk = _HomePath("config", "desk.json")
    """Address and tokens of the running server, mode 0600."""
    secrets = _HomePath("config", "secrets")

    def make_home(self) -> Path:
        """Creates the folder with mode 0700; its parents keep their modes.

        A folder that others can read is closed. One that they can write to raises `PolicyUnusable`.
        """
        try:
            self.home.parent.mkdir(parents=True, exist_ok=True)
            self.home.mkdir(mode=0o700, exist_ok=True)
            check_folder(self.home)
            if self.home.stat().st_mode & 0o077:
                self.home.chmod(0o700)
        except OSError as error:
            raise InvalidAction(
                f"HANDRAIL_HOME {self.home} can't be used: {error.strerror or error}",
                hint="Point HANDRAIL_HOME to a folder that you may write to.",
                path="HANDRAIL_HOME",
            ) from None
        return self.home


def switch(env: Mapping[str, str], name: str) -> bool:
    """Whether a flag of the table is set, in either of its spellings."""
    return _Reader(env).flag(name)


def metro(env: Mapping[str, str]) -> tuple[str, int]:
    """Where React Native's bundler listens."""
    text = _Reader(env).text("HANDRAIL_METRO") or METRO
    return host_port(text) or _refuse("HANDRAIL_METRO", text, "an address host:port, such as 127.0.0.1:8081")


def wda_port(env: Mapping[str, str]) -> int:
    """WebDriverAgent listens on this port."""
    return _Reader(env).number("HANDRAIL_WDA_PORT", WDA_PORT, PORTS)


def host_port(text: str) -> tuple[str, int] | None:
    """`host:port` or `[v6]:port`; None for anything else."""
    match = _ADDRESS.fullmatch(text)
    return (match[1].strip("[]"), int(match[2])) if match and _is_port(match[2]) else None


def _parse_witness(text: str) -> str | None:
    """A folder or a web address."""
    if not text:
        return None
    if "://" not in text:
        return str(Path(text).expanduser().absolute())
    if _web_host(text, "http") or _web_host(text, "https"):
        return text
    return _refuse("HANDRAIL_WITNESS", text, "a folder, or an address like https://host:8430")


def _parse_notify_url(text: str) -> str | None:
    """https, or http to this machine: nothing is sent elsewhere in plain text."""
    url = text.removeprefix("json+")
    good = not text or _web_host(url, "https") or _web_host(url, "http") in LOOPBACK
    wanted = "an https address such as https://ntfy.sh/TOPIC, or json+https://… for a webhook"
    return (text or None) if good and "@" not in text else _refuse("HANDRAIL_NOTIFY_URL", text, wanted)


def _web_host(text: str, scheme: str) -> str:
    """The host of an address with this scheme, else ''."""
    try:
        place = urlsplit(text)
        return place.hostname or "" if place.scheme == scheme and (place.port or 1) in PORTS else ""
    except ValueError:
        return ""


def _address(text: str) -> str:
    if host_port(text) is None:
        raise ValueError("addresses host:port, such as 127.0.0.1:6555")
    return text


def _normal_host(host: str) -> str:
    """The name that both sides of a comparison use: an adb server on another host is never started."""
    return "127.0.0.1" if host in ("", "localhost") else host


def _is_port(text: str) -> bool:
    return text.isdecimal() and int(text) in PORTS


@dataclass(frozen=True, slots=True)
class _Reader:
    """One variable at a time, by type; an empty value counts as not set."""

    env: Mapping[str, str]

    def text(self, name: str) -> str:
        also = next(variable.also for variable in VARIABLES if variable.name == name)
        return self.env.get(name, "").strip() or self.env.get(also, "").strip()

    def path(self, name: str) -> Path | None:
        text = self.text(name)
        return Path(text).expanduser() if text else None

    def number(self, name: str, default: int, allowed: range) -> int:
        text = self.text(name)
        if not text:
            return default
        if not text.isdecimal() or int(text) not in allowed:
            _refuse(name, text, f"a number from {allowed[0]} to {allowed[-1]}")
        return int(text)

    def socket(self, name: str) -> tuple[str, int | None]:
        text = self.text(name)
        kind, _, place = text.partition(":")
        host, _, port = place.rpartition(":")
        if text and (kind != "tcp" or not _is_port(port)):
            _refuse(name, text, "tcp:PORT or tcp:HOST:PORT")
        return _normal_host(host) if text else "", int(port) if text else None

    def flag(self, name: str) -> bool:
        text = self.text(name).lower()
        if text and text not in _YES | _NO:
            _refuse(name, text, "1 or 0")
        return text in _YES

    def choice(self, name: str, kind: Any, default: T) -> T:
        text = self.text(name).lower()
        if text and text not in get_args(kind):
            _refuse(name, text, ", ".join(get_args(kind)))
        return cast(T, text) if text else default

    def each(self, name: str, check: Callable[[str], str]) -> Iterator[str]:
        for part in filter(None, (part.strip() for part in self.text(name).split(","))):
            try:
                yield check(part)
            except ValueError as error:
                _refuse(name, part, str(error))


def _refuse(name: str, value: str, wanted: str) -> NoReturn:
    raise InvalidAction(
        f"{name} is {value!r}; it takes {wanted}", hint=f"Correct or unset {name}.", path=name, value=value
    )


Transport = Literal["usb", "tcp", "emulator"]
_EMULATOR = re.compile(r"emulator-(\d+)")
_PAIRED = "._adb-tls-connect._tcp"  # how adb names a phone that it found on the network by itself
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
EMULATED = range(5555, 5586, 2)
"""ADB ports of emulators on this machine; the console is one below and names the emulator."""


def named_kind(name: str) -> str:
    """`browser` or `ios` where the name tells it; "" for every other, which is one of adb's serials."""
    kind = name.partition(":")[0]
    return kind if kind in ("browser", "ios") else ""


def transport(serial: str) -> Transport:
    """How the device is reached; what has no other shape is taken for a cable."""
    if _EMULATOR.fullmatch(serial):
        return "emulator"
    return "tcp" if host_port(serial) or _PAIRED in serial else "usb"


@lru_cache
def canonical(serial: str) -> str:
    """One name for one device: `emulator-5554`, `localhost:5555` and `127.0.0.1:5555` are the same."""
    host, port = host_port(serial) or ("", 0)
    if host.lower() not in LOOPBACK:
        return serial
    return f"emulator-{port - 1}" if port in EMULATED else f"127.0.0.1:{port}"

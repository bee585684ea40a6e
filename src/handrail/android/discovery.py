"""Which devices there are: those of the adb server and those at known addresses, each phone once.

One look at a time: `watch` looks again, `choose` decides between devices, `reach` opens one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from handrail.adb.device import AdbDevice
from handrail.adb.direct import Direct
from handrail.adb.server import Listed, Server
from handrail.adb.shell import Script
from handrail.clock import Clock
from handrail.config import EMULATED, LOOPBACK, Config, Transport, canonical, host_port, transport
from handrail.errors import AdbConnectionError, DeviceError, InvalidAction, OutcomeError

PROBE_MS = 3_000
"""How long a device at an address may take to answer before it is listed as offline."""
PROPERTIES = Script("getprop ro.product.model; getprop ro.product.name")


@dataclass(frozen=True, slots=True)
class Listing:
    """What was found, and why there may be more than was seen."""

    devices: tuple[Found, ...]
    notes: tuple[str, ...] = ()


async def discover(config: Config, clock: Clock, env: Mapping[str, str]) -> Listing:
    """Everything at once. An adb server is started where a binary is there and none runs."""
    served, direct = await asyncio.gather(
        list_server(server_of(config, clock, env)), probe_all(config, clock)
    )
    return Listing(tuple(merge([*direct, *served.devices])), served.notes)


def server_of(config: Config, clock: Clock, env: Mapping[str, str]) -> Server:
    """The adb server that the configuration names."""
    return Server(config.adb_host, config.adb_port, env=env, clock=clock)


def merge(found: Iterable[Found]) -> list[Found]:
    """Each phone once, by the best of its names: usable, then direct, then the emulator's own."""
    best: dict[str, Found] = {}
    for one in found:
        kept = best.setdefault(one.identity, one)
        if _rank(one) < _rank(kept):
            best[one.identity] = one
    return sorted(best.values(), key=lambda one: (not one.usable, one.serial))


def _rank(one: Found) -> tuple[bool, bool, bool]:
    return not one.usable, one.via != "direct", one.transport != "emulator"


async def list_server(server: Server) -> Listing:
    """The server's devices; that there is no server, and none can be started, is a note."""
    try:
        await server.start()
        return Listing(tuple(map(from_server, await server.devices())))
    except DeviceError as error:
        return Listing((), (f"{error.message}. {error.hint}",))


def from_server(listed: Listed) -> Found:
    """A line of the server's list."""
    state = state_of(listed.state)
    props = listed.props
    return Found(listed.serial, state, "server", props.get("model", ""), props.get("product", ""))


async def probe_all(config: Config, clock: Clock) -> list[Found]:
    """The devices at the configured addresses."""
    return await asyncio.gather(*(probe(one, clock) for one in addresses(config)))


def addresses(config: Config) -> tuple[str, ...]:
    """Where phones are asked directly: HANDRAIL_DEVICES, and HANDRAIL_DEVICE where it is an address."""
    named = (config.device,) if config.device and host_port(config.device) else ()
    return tuple(dict.fromkeys((*config.devices, *named)))


async def probe(serial: str, clock: Clock) -> Found:
    """Who is at this address, asked directly; every failure is a state."""
    place = host_port(serial)
    if place is None:
        raise InvalidAction(f"{serial!r} is no address", hint="Give host:port.", path="device")
    link = Direct(*place, clock=clock, patience_ms=PROBE_MS)
    try:
        await link.features()
        output = await AdbDevice(link, clock).shell.run(PROPERTIES, timeout_ms=PROBE_MS, check=False)
    except (DeviceError, OutcomeError) as error:
        state = str(error.details.get("state", "offline"))
        return Found(serial, state, "direct", reason=error.message, remedy=_remedy(place, error))
    finally:
        await link.close()
    model, product = (*output.text.splitlines(), "", "")[:2]
    return Found(serial, "device", "direct", model.strip(), product.strip())


def _remedy(place: tuple[str, int], error: DeviceError | OutcomeError) -> str:
    """Where nobody listens, how somebody will; else what the error says itself."""
    if not isinstance(error, AdbConnectionError):
        return error.hint
    host, port = place
    if host.lower() not in LOOPBACK:
        return f"With the phone on a cable, run `adb tcpip {port}`; both must be on one network."
    if port in EMULATED:
        return f"Start the emulator, or run `handrail sim --emulator --port {port}`."
    return f"Run `handrail sim --port {port}`, or take the address out of HANDRAIL_DEVICES."


USABLE = "device"


@dataclass(frozen=True, slots=True)
class Trouble:
    """A state in which a device can't be used."""

    meaning: str
    remedy: str


STATES: dict[str, Trouble] = {
    "offline": Trouble(
        "it is known and does not answer; it may be booting",
        "Wait for the boot to end, or replug the cable, then run `adb reconnect offline`.",
    ),
    "unauthorized": Trouble(
        "the phone has not accepted this computer's key",
        "Unlock the phone and accept the prompt “Allow USB debugging?”.",
    ),
    "no permissions": Trouble(
        "this user may not open the USB device",
        "Run `sudo apt install android-sdk-platform-tools-common` for its udev rules, then replug the phone.",
    ),
    "recovery": Trouble("it runs the recovery system, not Android", "Run `adb reboot` to start Android."),
    "sideload": Trouble("it waits for an update to be sideloaded", "Run `adb reboot` to start Android."),
    "rescue": Trouble("it is in rescue mode", "Run `adb reboot` to start Android."),
    "bootloader": Trouble("it is in its boot loader", "Run `fastboot reboot` to start Android."),
    "authorizing": Trouble("keys are being exchanged", "Run `handrail devices` again in a few seconds."),
    "connecting": Trouble("the connection is being made", "Run `handrail devices` again in a few seconds."),
    "host": Trouble("it is a computer in gadget mode, not a phone", "Unplug it, or name another device."),
    "detached": Trouble("another program keeps it", "Run `adb attach` to take it back."),
}
"""The adb server's words for a device that is not ready."""

UNKNOWN = Trouble("adb gives it a state that Handrail does not know", "Replug the cable and look again.")


@dataclass(frozen=True, slots=True)
class Found:
    """One device of a list."""

    serial: str
    state: str = USABLE
    via: Literal["server", "direct", "handrail"] = "server"
    """`handrail`: only another Handrail that runs has it."""
    model: str = ""
    product: str = ""
    reason: str = ""
    """What the device or the way to it said, where a state alone tells too little."""
    remedy: str = ""
    """The one thing to do, where it is another than the state's own; empty for a usable device."""

    @property
    def usable(self) -> bool:
        return self.state == USABLE

    @property
    def transport(self) -> Transport:
        return transport(self.serial)

    @property
    def identity(self) -> str:
        return canonical(self.serial)

    @property
    def problem(self) -> str:
        """Why it can't be used; empty when it can."""
        if self.usable:
            return ""
        return self.reason or STATES.get(self.state, UNKNOWN).meaning

    @property
    def what_to_do(self) -> str:
        if self.usable:
            return ""
        return self.remedy or STATES.get(self.state, UNKNOWN).remedy

    def __str__(self) -> str:
        model = f" ({self.model})" if self.model else ""
        return f"{self.serial}{model}" + ("" if self.usable else f": {self.state}, {self.problem}")

    def to_dict(self) -> dict[str, Any]:
        """As JSON at every door; the last two only where there is a problem."""
        known = {"serial": self.serial, "state": self.state, "usable": self.usable, "via": self.via}
        known |= {"transport": self.transport, "model": self.model, "product": self.product}
        return known if self.usable else {**known, "problem": self.problem, "what_to_do": self.what_to_do}


def state_of(words: str) -> str:
    """The server's state column: some versions explain themselves behind the word."""
    return next(
        (state for state in (USABLE, *STATES) if words == state or words.startswith(f"{state} ")), words
    )

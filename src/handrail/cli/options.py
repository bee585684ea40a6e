"""Options that several commands share: `--device` and `--sim` choose a phone, `--token` guards a server.

It imports what opens a phone only when one is opened: `--help` needs none of it.
"""

from __future__ import annotations

import functools
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handrail.config import Config, named_kind
from handrail.errors import InvalidAction, Unsupported
from handrail.invocation import current, run

if TYPE_CHECKING:
    from handrail.adb.device import AdbDevice
    from handrail.clock import Clock
    from handrail.config import Helper
    from handrail.engine.session import Session
    from handrail.runtime import Runtime
    from handrail_sim.phone import Phone


Command = Callable[..., Any]
FILE = click.Path(dir_okay=False, path_type=Path)
"""It need not exist; what opens it reports what is wrong with it."""
EXISTING_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)
PORT = click.IntRange(0, 65535)


def option(words: str, *names: str, **attributes: Any) -> Any:
    """A field of a class for `command_options`. The option has the field's name where none is given."""
    return field(metadata={"option": (names, {"help": words, **attributes})})


def command_options(kind: type[Any], *more: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Adds an option for every field of a dataclass that has one; the command gets them as `options`.

    Other parameters of the command that are fields of the class become part of it, also those that the
    decorators `more` make. In the help their options come last.
    """

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def with_options(*args: Any, **parameters: Any) -> Any:
            names = [member.name for member in fields(kind) if member.name in parameters]
            chosen = {name: parameters.pop(name) for name in names}
            return command(*args, options=kind(**chosen), **parameters)

        decorated: Command = with_options
        for decorator in reversed(more):
            decorated = decorator(decorated)
        for member in reversed(fields(kind)):
            if "option" not in member.metadata:
                continue
            names, attributes = member.metadata["option"]
            names = names or (f"--{member.name.replace('_', '-')}",)
            if member.type == "bool" and "/" not in names[0]:
                attributes = {"is_flag": True, **attributes}
            decorated = click.option(*names, member.name, **attributes)(decorated)
        return decorated

    return decorate


def async_command(command: Callable[..., Coroutine[Any, Any, Any]]) -> Command:
    """Makes a command of a coroutine; in the daemon it runs on its event loop."""

    @functools.wraps(command)
    def run_command(*args: Any, **kwargs: Any) -> Any:
        return run(command(*args, **kwargs))

    return run_command


def json_option(words: str = "One JSON document.") -> Callable[[Command], Command]:
    return click.option("--json", "as_json", is_flag=True, help=words)


@dataclass(frozen=True, slots=True)
class DeviceOptions:
    """What the command line says about the device."""

    device: str | None = None
    sim: bool = False


@dataclass(frozen=True, slots=True)
class OpenedDevice:
    """A device that is open while a command runs."""

    device: AdbDevice
    phone: Phone | None = None
    """The simulated phone, if it runs in this process."""


def device_options(command: Command) -> Command:
    """Adds --device and --sim; the command gets them as one argument `target`."""

    @click.option(
        "--device", metavar="SERIAL", help="Serial, its start or end, a model, host:port, or browser."
    )
    @click.option("--sim", is_flag=True, help="A simulated phone for the length of this command.")
    @functools.wraps(command)
    def with_options(*args: Any, device: str | None, sim: bool, **kwargs: Any) -> Any:
        if sim and device:
            two = f"--sim and --device {device} name two phones"
            raise InvalidAction(two, hint="Give one of them.", path="device")
        return command(*args, target=DeviceOptions(device, sim), **kwargs)

    return with_options


def chosen_by_name(target: DeviceOptions, config: Config) -> str | None:
    """The browser or iPhone that the command line or the configuration names; None for what adb reaches."""
    name = None if target.sim else target.device or config.device
    return name if name and named_kind(name) else None


async def open_session(
    target: DeviceOptions,
    config: Config,
    runtime: Runtime,
    stack: AsyncExitStack,
    helper: Helper | None = None,
) -> Session:
    """A session of the chosen phone or browser; a phone's connection ends with `stack`."""
    if name := chosen_by_name(target, config):
        return await runtime.session(name)
    opened = await stack.enter_async_context(open_device_for_command(target, config))
    return await runtime.session_on(opened.device, helper=helper)


@asynccontextmanager
async def open_device_for_command(
    target: DeviceOptions,
    config: Config | None = None,
    clock: Clock | None = None,
    env: Mapping[str, str] = os.environ,
) -> AsyncIterator[OpenedDevice]:
    """The chosen device, open while the block runs. A simulated phone is reached like any other: by ADB."""
    from handrail.android.choose import open_chosen  # noqa: PLC0415  (sockets that `--help` does not need)
    from handrail.clock import SystemClock  # noqa: PLC0415  (all of asyncio)

    config = config or Config.from_env(env)
    clock = clock or SystemClock()
    if name := chosen_by_name(target, config):
        raise Unsupported(f"{name} is not reached by adb", hint="This command is for Android phones.")
    async with AsyncExitStack() as stack:
        if target.sim:
            [opened] = await simulated_devices(1, config, clock, stack)
        else:
            opened = OpenedDevice(await open_chosen(target.device, config, clock, env))
            stack.push_async_callback(opened.device.close)
        yield opened


async def simulated_devices(
    count: int, config: Config, clock: Clock, stack: AsyncExitStack
) -> list[OpenedDevice]:
    """Phones in this process that can send one another messages; they end with `stack`."""
    from handrail.adb.device import AdbDevice  # noqa: PLC0415
    from handrail.adb.direct import Direct  # noqa: PLC0415
    from handrail.simulator import simulated_phones  # noqa: PLC0415

    phones = simulated_phones(count, clock=clock, seed=config.sim_seed, apps=config.sim_apps)
    opened = []
    for served in await stack.enter_async_context(phones):
        device = AdbDevice(Direct(served.host, served.port, clock=clock), clock)
        stack.push_async_callback(device.close)
        opened.append(OpenedDevice(device, served.phone))
    return opened


phone_option = click.option(
    "--device", metavar="SERIAL", help="Serial, its start or end, a model, or host:port."
)
"""For commands that take no browser."""


def read_token(_: click.Context, __: click.Parameter, text: str | None) -> str | None:
    """For an option's callback: the token itself, or for @FILE what the file holds."""
    if text is None or not text.startswith("@"):
        return text
    try:
        return current.get().read_bytes(text[1:]).decode().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise click.BadParameter(f"{text[1:]}: {error}") from None


def resolve_callers_path(_: click.Context, __: click.Parameter, path: Any) -> Any:
    """For an option's callback: a path that this process can open, as a client of the daemon is elsewhere."""
    if isinstance(path, tuple):
        return tuple(map(current.get().path, path))
    return path and current.get().path(path)


PEM: dict[str, Any] = {"type": FILE, "callback": resolve_callers_path, "metavar": "FILE"}
"""Attributes of an option that takes a certificate or its key."""


@dataclass(frozen=True, slots=True)
class FleetOptions:
    """The part of the command line that is for fleets."""

    address: str
    where: str = ""
    each_device: bool = False
    detach: bool = False
    devices: tuple[tuple[str | None, str], ...] = ()


def fleet_options(command: Command) -> Command:
    """For commands that can hand their work to a fleet; they get `fleet`, None where none was named."""

    @click.option(
        "--fleet", metavar="ADDRESS", help="Run on the fleet whose head is there: https://HEAD:8430."
    )
    @click.option(
        "--where", metavar="EXPRESSION", default="", help='Only on phones like "sdk>=33 and not simulated".'
    )
    @click.option(
        "--each-device/--any", default=False, help="Once on every matching phone, or once on any of them."
    )
    @click.option("--detach", is_flag=True, help="Do not wait; `handrail fleet attach` follows it.")
    @functools.wraps(command)
    def with_fleet(*args: Any, fleet: str | None, **parameters: Any) -> Any:
        about = {name: parameters.pop(name) for name in ("where", "each_device", "detach")}
        if fleet is None and any(about.values()):
            flag = next(name.replace("_", "-") for name in about if about[name])
            hint = "Give --fleet ADDRESS as well."
            raise InvalidAction(f"--{flag} is for fleets", path="fleet", hint=hint)
        chosen = None if fleet is None else FleetOptions(fleet, **about)
        return command(*args, fleet=chosen, **parameters)

    return with_fleet

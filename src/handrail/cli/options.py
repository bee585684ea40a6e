"""Options that several commands share: `--device` and `--sim` choose a phone, `--token` guards a server.

Stays light: what opens a phone is imported when one is opened.
"""

from __future__ import annotations

import functools
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handrail.config import Config, is_browser
from handrail.errors import InvalidAction, Unsupported

if TYPE_CHECKING:
    from handrail.adb.device import AdbDevice
    from handrail.android.routing import Helper
    from handrail.clock import Clock
    from handrail.engine.session import Session
    from handrail.runtime import Runtime
    from handrail_sim.phone import Phone


@dataclass(frozen=True, slots=True)
class DeviceOptions:
    """What the command line said."""

    device: str | None = None
    sim: bool = False


@dataclass(frozen=True, slots=True)
class Opened:
    """A device for the length of a command."""

    device: AdbDevice
    phone: Phone | None = None
    """The phone itself, where it lives in this process."""


def device_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds both options; the command gets them as one argument `target`."""

    @click.option(
        "--device", metavar="SERIAL", help="Serial, its start or end, a model, host:port, or browser."
    )
    @click.option("--sim", is_flag=True, help="A simulated phone for the length of this command.")
    @functools.wraps(command)
    def with_options(*args: Any, device: str | None, sim: bool, **kwargs: Any) -> Any:
        if sim and device:
            raise InvalidAction(
                f"--sim and --device {device} name two phones", hint="Give one of them.", path="device"
            )
        return command(*args, target=DeviceOptions(device, sim), **kwargs)

    return with_options


def browser_meant(target: DeviceOptions, config: Config) -> str | None:
    """The browser that the command line or the configuration names; None where a phone is meant."""
    name = None if target.sim else target.device or config.device
    return name if name and is_browser(name) else None


async def session_from(
    target: DeviceOptions,
    config: Config,
    runtime: Runtime,
    stack: AsyncExitStack,
    helper: Helper | None = None,
) -> Session:
    """A session of the phone or the browser that is meant; a phone's connection ends with `stack`."""
    if name := browser_meant(target, config):
        return await runtime.session(name)
    opened = await stack.enter_async_context(device_from(target, config))
    return await runtime.session_on(opened.device, helper=helper)


@asynccontextmanager
async def device_from(
    target: DeviceOptions,
    config: Config | None = None,
    clock: Clock | None = None,
    env: Mapping[str, str] = os.environ,
) -> AsyncIterator[Opened]:
    """The device that is meant, open while the block runs."""
    from handrail.android.choose import open_chosen  # noqa: PLC0415  (sockets that `--help` does not need)
    from handrail.clock import SystemClock  # noqa: PLC0415  (all of asyncio)

    config = config or Config.from_env(env)
    clock = clock or SystemClock()
    if name := browser_meant(target, config):
        raise Unsupported(f"{name} is a browser", hint="This command is for phones: name one with --device.")
    if target.sim:
        async with _simulated(config, clock) as opened:
            yield opened
        return
    device = await open_chosen(target.device, config, clock, env)
    try:
        yield Opened(device)
    finally:
        await device.close()


@asynccontextmanager
async def _simulated(config: Config, clock: Clock) -> AsyncIterator[Opened]:
    """A phone in this process, reached as any other: by ADB over a socket."""
    from handrail.adb.device import AdbDevice  # noqa: PLC0415
    from handrail.adb.direct import Direct  # noqa: PLC0415
    from handrail.simulator import simulated_phones  # noqa: PLC0415

    async with simulated_phones(clock=clock, seed=config.sim_seed, apps=config.sim_apps) as [served]:
        device = AdbDevice(Direct(served.host, served.port, clock=clock), clock)
        try:
            yield Opened(device, served.phone)
        finally:
            await device.close()


def read_token(_: click.Context, __: click.Parameter, given: str | None) -> str | None:
    """For an option's callback: the token itself, or what the file holds."""
    if given is None or not given.startswith("@"):
        return given
    try:
        return Path(given[1:]).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise click.BadParameter(f"{given[1:]}: {error}") from None


PEM = click.Path(dir_okay=False, path_type=Path)
"""A file for TLS; whoever reads it says what is wrong with it."""

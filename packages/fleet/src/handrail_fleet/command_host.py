"""`handrail fleet host`: this machine's phones for a fleet. It stays, and starts again what dies."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handrail.errors import AdbConnectionError, HandrailError, InvalidAction
from handrail.waiting import Background

if TYPE_CHECKING:
    from handrail_fleet.host import HostSettings

AGAIN_S = 2.0
LOOK_S = 1.0


@dataclass(frozen=True, slots=True)
class JoinOptions:
    """How to reach the head."""

    address: str | None
    token: Path | None
    bind: str
    ray_port: int
    cert: Path | None
    trusted_network: bool = False


@click.command()
@click.option("--address", metavar="HEAD", help="Ray's HOST:PORT, or http(s)://HEAD for a host without Ray.")
@click.option("--name", metavar="NAME", help="What this host is called.  [default: the machine's name]")
@click.option(
    "--phones", type=click.IntRange(0, 1000), default=0, metavar="N", help="The number of simulated phones."
)
@click.option(
    "--devices", multiple=True, metavar="SERIAL", help="Only these phones.  [default: all connected]"
)
@click.option("--tag", "tags", multiple=True, metavar="WORD", help="For --where; may be repeated.")
@click.option(
    "--limit", type=click.IntRange(0, 500), default=0, metavar="N", help="Units at a time, at most."
)
@click.option(
    "--token", type=click.Path(path_type=Path), metavar="@FILE", help="With http(s)://: the token of hosts."
)
@click.option(
    "--cert",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The head's certificate, if it is its own.",
)
@click.option(
    "--bind", default="localhost", show_default=True, help="This machine's address on the fleet's network."
)
@click.option(
    "--ray-port", type=click.IntRange(1024, 60000), default=6440, show_default=True, help="Ray's first port."
)
@click.option("--trusted-network", is_flag=True, help="No one else is on that network: let Ray listen.")
def host(
    *,
    name: str | None,
    phones: int,
    devices: tuple[str, ...],
    tags: tuple[str, ...],
    limit: int,
    **joining: Any,
) -> None:
    """Give this machine's phones to a fleet until Ctrl-C.

    Without --address a private fleet is started, with this host alone: handrail fleet host --phones 4
    """
    from handrail.config import Config  # noqa: PLC0415
    from handrail_fleet.host import HostSettings, host_name  # noqa: PLC0415

    if phones and devices:
        raise InvalidAction("--phones and --devices name different phones", hint="Give one of them.")
    home = Config.from_env(os.environ).make_home()
    settings = HostSettings(name or host_name(), str(home.absolute()), phones, devices, tags, limit)
    settings.down_mark.unlink(missing_ok=True)
    try:
        asyncio.run(_until_signal(settings, JoinOptions(**joining)))
    except KeyboardInterrupt:
        sys.exit(130)


async def _until_signal(settings: HostSettings, joining: JoinOptions) -> None:
    loop = asyncio.get_running_loop()
    async with Background() as running:
        work = running.start(_serve(settings, joining), settings.name, log_failure=False)
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, work.cancel)
        await asyncio.wait({work})
    if not work.cancelled():
        work.result()


async def _serve(settings: HostSettings, joining: JoinOptions) -> None:
    address = joining.address
    if address is None:
        await _private(settings, joining)
    elif "://" in address:
        await _by_http(settings, address, joining)
    else:
        await _by_ray(settings, address, joining)


async def _by_http(settings: HostSettings, address: str, joining: JoinOptions) -> None:
    from handrail.bind import tls_context_trusting  # noqa: PLC0415
    from handrail_fleet.host import serve_host  # noqa: PLC0415
    from handrail_fleet.transport import HttpTransport, join_token  # noqa: PLC0415

    given = str(joining.token or "").removeprefix("@")
    if not given:
        hint = "Copy config/fleet-host.token from the head's home, and give --token @FILE."
        raise InvalidAction("A host needs the token of hosts", path="token", hint=hint)
    context = tls_context_trusting(joining.cert) if joining.cert else None
    click.echo(f"{settings.name} joins {address}")
    while not settings.is_down:
        transport = HttpTransport(address, *join_token(given), context)
        await serve_host(settings, transport)
        await transport.close()
        await asyncio.sleep(AGAIN_S)


async def _by_ray(settings: HostSettings, address: str, joining: JoinOptions) -> None:
    """Ray starts the agent again; this process starts Ray again, also for a cluster that is new."""
    from handrail_fleet.ray_cluster import RayPlace, ray_host  # noqa: PLC0415

    place = RayPlace(joining.bind, joining.ray_port, Path(settings.home), is_trusted=joining.trusted_network)
    told = asdict(settings)
    name = told.pop("name")
    while not settings.is_down:
        try:
            async with ray_host(place, address, name, told) as node:
                click.echo(f"{name} has joined {address}")
                while node.is_running and not settings.is_down:
                    await asyncio.sleep(LOOK_S)
        except AdbConnectionError as error:
            click.echo(f"{name}: {error.message}; trying again", err=True)
        await asyncio.sleep(AGAIN_S)


async def _private(settings: HostSettings, joining: JoinOptions) -> None:
    """A head of this very home's own, as a child, and this host by HTTP: nothing of it leaves the machine."""
    from handrail.web_server.desk_file import DeskFile  # noqa: PLC0415
    from handrail_fleet.client import private_head  # noqa: PLC0415

    config = private_head({**os.environ, "HANDRAIL_HOME": settings.home})
    config.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    env = {**os.environ, "HANDRAIL_HOME": str(config.home)}
    config.desk.unlink(missing_ok=True)
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "handrail.cli.main", "fleet", "head", "--no-ray", "--port", "0", env=env
    )
    try:
        while (notice := DeskFile.read(config.desk)) is None:
            if child.returncode is not None:
                raise HandrailError("The head of the private fleet ended", hint="Its output is above.")
            await asyncio.sleep(0.1)
        token = config.home / "config" / "fleet-host.token"
        joined = JoinOptions(notice.address, token, joining.bind, joining.ray_port, None)
        await _by_http(settings, notice.address, joined)
    finally:
        with suppress(ProcessLookupError):
            child.terminate()
        await child.wait()
        config.desk.unlink(missing_ok=True)

"""`handrail fleet head`: the ledger, the desk of all hosts, and Ray's head where there is Ray."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handrail.cli.options import FILE, read_token
from handrail.cli.serve import ServeOptions, serve_desk
from handrail.errors import InvalidAction
from handrail.waiting import Background

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

    from handrail.runtime import Runtime
    from handrail.web_server.desk_file import DeskFile
    from handrail_fleet.head import FleetHead
    from handrail_fleet.head_phones import FleetPhones

PORT = 8430
BEAT = 1 / 8
"""Of a lease, between two beats of a host: it may miss three before it has to stop."""


@dataclass(frozen=True, slots=True)
class HeadOptions:
    """The command line."""

    bind: str
    port: int
    token: str | None
    cert: Path | None
    key: Path | None
    trusted_network: bool
    lease: float
    ray: bool
    ray_port: int
    redis: str | None


@click.command()
@click.option("--bind", default="localhost", show_default=True, help="Where others reach it; needs --token.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="For people and CI."
)
@click.option("--token", metavar="TOKEN|@FILE", callback=read_token, help="What runs are handed in with.")
@click.option("--cert", type=FILE, metavar="FILE", help="For TLS: the certificate with its chain, as PEM.")
@click.option("--key", type=FILE, metavar="FILE", help="For TLS: the certificate's key, as PEM.")
@click.option(
    "--trusted-network", is_flag=True, help="No one else is on that network: go without TLS, let Ray listen."
)
@click.option(
    "--lease", type=click.FloatRange(5.0, 600.0), default=8.0, show_default=True, metavar="SECONDS",
    help="A host that is not heard of for so long is given up.",
)  # fmt: skip
@click.option("--ray/--no-ray", default=True, show_default=True, help="Place and restart hosts by Ray.")
@click.option(
    "--ray-port", type=click.IntRange(1024, 60000), default=6390, show_default=True, help="Ray's first port."
)
@click.option(
    "--redis", metavar="HOST:PORT", help="Keep Ray's own state there, so that it outlives the head."
)
def head(**given: Any) -> None:
    """Run the head of a fleet until Ctrl-C: hosts join it, people and CI hand runs in.

    The ledger lies in HANDRAIL_HOME. A head that is started again goes on with it.
    """
    options = HeadOptions(**given)
    check_network(options)
    asyncio.run(serve_desk(_served(options)))


def check_network(options: HeadOptions) -> None:
    """Ray speaks plainly and believes whoever has its token; so does a token in plain HTTP."""
    from handrail.bind import is_loopback  # noqa: PLC0415

    if is_loopback(options.bind):
        return
    if options.token is None:
        hint = "Give --token, or leave --bind out."
        raise InvalidAction(
            f"--bind {options.bind} can be reached by others, and there is no token", hint=hint
        )
    if options.cert is None and not options.trusted_network:
        raise InvalidAction(
            f"--bind {options.bind} can be reached by others, with neither TLS nor --trusted-network",
            path="bind",
            hint="Give --cert and --key, and --trusted-network only where no one else is on that network.",
        )
    if options.ray and not options.trusted_network:
        raise InvalidAction(
            "Ray speaks without TLS between head and hosts",
            path="bind",
            hint="Put them on a network of their own and give --trusted-network, or give --no-ray.",
        )


def _served(options: HeadOptions) -> ServeOptions:
    made: list[FleetHead] = []

    async def more(
        runtime: Runtime, notice: DeskFile, stack: AsyncExitStack
    ) -> tuple[Sequence[BaseRoute], list[str]]:
        made.append(await _open(options, runtime, stack))
        return await _joined(options, made[0], runtime, notice, stack)

    def remote() -> FleetPhones:
        from handrail_fleet.head_phones import FleetPhones  # noqa: PLC0415

        return FleetPhones(made[0])

    return ServeOptions(
        host=options.bind, port=options.port, sim=0, device=(), token=options.token, cert=options.cert,
        key=options.key, public=None, open_=False, with_mcp=False, profile="desk", flows=(), model=None,
        base_url=None, metrics=False, is_plain=options.trusted_network, more=more, remote=remote,
    )  # fmt: skip


async def _open(options: HeadOptions, runtime: Runtime, stack: AsyncExitStack) -> FleetHead:
    from handrail_fleet.fence import SteadyClock, check_lease  # noqa: PLC0415
    from handrail_fleet.head import FleetHead  # noqa: PLC0415
    from handrail_fleet.head_people import HeadPeople  # noqa: PLC0415
    from handrail_fleet.orders import head_key  # noqa: PLC0415
    from handrail_fleet.sqlite_ledger import SqliteLedger  # noqa: PLC0415

    home, clock = runtime.config.home, SteadyClock()
    folder, lease_ms = home / "fleet", options.lease * 1000
    renew_ms = lease_ms * BEAT
    check_lease(lease_ms, renew_ms)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    ledger = SqliteLedger(folder / "fleet.db", clock, lease_ms=lease_ms)
    people = HeadPeople(runtime, head_key(home))
    made = FleetHead(ledger, folder, people, clock, lease_ms=lease_ms, renew_ms=renew_ms)
    stack.push_async_callback(made.close)
    sweeping = await stack.enter_async_context(Background())
    sweeping.start(made.run(), "the ledger's leases")
    return made


async def _joined(
    options: HeadOptions, made: FleetHead, runtime: Runtime, notice: DeskFile, stack: AsyncExitStack
) -> tuple[Sequence[BaseRoute], list[str]]:
    """The routes, and how hosts come in."""
    from handrail.journal.checkpoint import replace_durably  # noqa: PLC0415
    from handrail_fleet.door import fleet_routes  # noqa: PLC0415
    from handrail_fleet.transport import secret_file  # noqa: PLC0415

    home = runtime.config.home
    host_secret = secret_file(home / "config" / "fleet-host.secret")
    joining = home / "config" / "fleet-host.token"
    replace_durably(joining, f"{notice.token}.{host_secret}\n".encode())
    lines = [f"Hosts join by:       handrail fleet host --address {notice.address} --token @{joining}"]
    if options.ray:
        from handrail_fleet.ray_cluster import RayPlace, ray_head  # noqa: PLC0415

        place = RayPlace(options.bind, options.ray_port, home, options.redis, options.trusted_network)
        lines = await stack.enter_async_context(ray_head(place, notice.address, joining)) + lines
    return fleet_routes(made, host_secret), lines

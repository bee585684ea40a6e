"""`handrail mcp`: the vocabulary as MCP tools, over standard input and output or HTTP."""

from __future__ import annotations

import asyncio
import os
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handrail.cli.mcp_install import install
from handrail.cli.options import PEM, DeviceOptions, device_from, device_options, read_token

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

    from handrail.local.desk import LocalDesk
    from handrail.mcp.state import DoorState
    from handrail.mcp.stdio import ClientPipes

PORT = 8421


@dataclass(frozen=True, slots=True)
class McpOptions:
    """The command line."""

    target: DeviceOptions
    profile: str
    http: bool
    host: str
    port: int
    token: str | None
    cert: Path | None
    key: Path | None
    flows: Path | None
    structured: bool


@click.group(invoke_without_command=True)
@click.option(
    "--tools",
    "profile",
    metavar="PROFILE",
    help="core, web, flow, debug, desk, all (several with commas), or interaction, mobile_debug, agentest.  "
    "[default: core; web with a browser]",
)
@click.option("--http", is_flag=True, help="Streamable HTTP instead of standard input and output.")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="With --http: another one needs --token, --cert and --key.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="With --http.")
@click.option(
    "--token",
    metavar="TOKEN|@FILE",
    callback=read_token,
    help="With --http: the bearer token of clients; @FILE reads it, so that no process list shows it.",
)
@click.option("--cert", type=PEM, metavar="FILE", help="With --http: the certificate for TLS, as PEM.")
@click.option("--key", type=PEM, metavar="FILE", help="With --http: the certificate's key, as PEM.")
@click.option(
    "--flows",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="The folder whose flows run_flow may name.  [default: flows in HANDRAIL_HOME]",
)
@click.option("--structured", is_flag=True, help="Send envelopes as structured content, too.")
@device_options
@click.pass_context
def mcp(context: click.Context, /, target: DeviceOptions, profile: str | None, **given: Any) -> None:
    """Serve phones or a browser to an MCP client, until it hangs up or Ctrl-C.

    For example: claude mcp add handrail -- handrail mcp
    """
    if context.invoked_subcommand is not None:
        return
    asyncio.run(_main(McpOptions(target, profile or _usual_profile(target), **given)))


mcp.add_command(install)


def _usual_profile(target: DeviceOptions) -> str:
    """A browser needs a few tools more: addresses, lists and dates, chords."""
    from handrail.config import Config, is_browser  # noqa: PLC0415

    name = target.device or ("" if target.sim else Config.from_env(os.environ).device)
    return "web" if name and is_browser(name) else "core"


async def _main(options: McpOptions) -> None:
    from handrail.bind import check_bind, read_certificate  # noqa: PLC0415
    from handrail.clock import SystemClock  # noqa: PLC0415
    from handrail.mcp.greeting import Greeter  # noqa: PLC0415
    from handrail.mcp.stdio import client_pipes  # noqa: PLC0415

    greeter = Greeter(options.profile)  # a slip of the pen is told before anything is opened
    if options.http:
        check_bind(options.host, options.token, read_certificate(options.cert, options.key))
        await _open(options, None)
        return
    async with client_pipes(greeter) as client:
        if client is not None:
            await client.greeted(SystemClock())
            if not await client.prepared(_import):
                return
        await _open(options, client)


def _import() -> None:
    """What takes a second, in a thread: a client that has more first words is answered meanwhile."""
    import mcp.server.stdio  # noqa: F401, PLC0415

    import handrail.local.server  # noqa: PLC0415
    import handrail.mcp.server  # noqa: PLC0415
    import handrail.runtime  # noqa: F401, PLC0415


async def _open(options: McpOptions, client: ClientPipes | None) -> None:
    from handrail.config import Config  # noqa: PLC0415
    from handrail.engine.events import Caller  # noqa: PLC0415
    from handrail.local.desk import LocalDesk  # noqa: PLC0415
    from handrail.local.server import serve_local  # noqa: PLC0415
    from handrail.mcp.state import DoorState  # noqa: PLC0415
    from handrail.mcp.tools import tools  # noqa: PLC0415
    from handrail.runtime import Runtime  # noqa: PLC0415

    config = Config.from_env(os.environ)
    async with AsyncExitStack() as stack:
        # A simulated phone is there from the start and until the end; a real one may come later.
        is_simulated = options.target.sim
        opened = (
            await stack.enter_async_context(device_from(options.target, config)) if is_simulated else None
        )
        runtime = await stack.enter_async_context(Runtime.open(config, caller=Caller("mcp", "agent", "mcp")))
        state = DoorState(runtime, options.profile, device=options.target.device, flows=options.flows)
        if opened is not None:
            state.adopt(await runtime.session_on(opened.device))
        desk = LocalDesk(config.home, runtime.caller)
        runtime.use_desk_of(desk)
        if "desk" in (tool.name for tool in tools(options.profile)):
            stack.push_async_callback(_leave, desk, state)
        await stack.enter_async_context(serve_local(runtime))
        await _serve(options, state, stack, client)


async def _leave(desk: LocalDesk, state: DoorState) -> None:
    """What this server's clients had locked on the desk is free again."""
    for caller in state.callers:
        await desk.left(caller)


async def _serve(
    options: McpOptions, state: DoorState, stack: AsyncExitStack, client: ClientPipes | None
) -> None:
    from handrail.mcp.approvals import Attendant  # noqa: PLC0415
    from handrail.mcp.server import build  # noqa: PLC0415

    attendant = Attendant(state.runtime.approvals, state.runtime.clock)
    stack.push_async_callback(attendant.close)
    server: Server[Any] = build(state, structured=options.structured, attend=attendant)
    if not options.http:
        from handrail.mcp import stdio  # noqa: PLC0415

        await stdio.serve(server, client)
        return
    from handrail.bind import read_certificate  # noqa: PLC0415
    from handrail.mcp import http  # noqa: PLC0415

    tell = partial(click.echo, err=True)
    certificate = read_certificate(options.cert, options.key)
    await http.serve(server, options.host, options.port, options.token, tell, certificate)

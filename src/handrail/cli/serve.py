"""`handrail serve`: the desk with its page, REST, WebSocket and MCP, and the phones behind it.

Also who answers in the desk's Console: the model that was named, or a hint to name one.
"""

from __future__ import annotations

import asyncio
import os
import signal
import webbrowser
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handrail.cli.options import PEM, read_token
from handrail.cli.output import own_command
from handrail.device_names import DeviceNames
from handrail.errors import DeviceBusy, InvalidAction
from handrail.waiting import Background

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
    from socket import socket

    from starlette.requests import Request
    from starlette.routing import BaseRoute

    from handrail.agent.console import AgentConsole
    from handrail.agent.model import AgentModel
    from handrail.config import Config
    from handrail.desk.desk import Desk
    from handrail.engine.session import Session
    from handrail.http.desk_file import DeskFile
    from handrail.http.phone import RemotePhones
    from handrail.runtime import Runtime

    MoreRoutes = Callable[
        [Runtime, DeskFile, AsyncExitStack], Awaitable[tuple[Sequence[BaseRoute], list[str]]]
    ]
    """Further routes of a server on the desk's port, and lines that tell of them."""

PORT = 8420
SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """The command line."""

    host: str
    port: int
    sim: int
    device: tuple[str, ...]
    token: str | None
    cert: Path | None
    key: Path | None
    public: str | None
    open_: bool
    with_mcp: bool
    profile: str
    flows: tuple[Path, ...]
    model: str | None
    base_url: str | None
    metrics: bool
    is_plain: bool = False
    """Others may come by plain HTTP: whoever serves says that nobody else is on that network."""
    more: MoreRoutes | None = None
    remote: Callable[[], RemotePhones] | None = None
    """Phones of other hosts that the desk shows."""


@click.command()
@click.option(
    "--host", default="localhost", show_default=True, help="Another needs --token, --cert and --key."
)
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="0: any free.")
@click.option("--sim", type=click.IntRange(0, 20), default=0, metavar="N", help="So many simulated phones.")
@click.option("--device", multiple=True, metavar="SERIAL", help="Open this phone at once; may be repeated.")
@click.option(
    "--token",
    metavar="TOKEN|@FILE",
    callback=read_token,
    help="The bearer token of programs; @FILE reads it.  [default: one is made and kept]",
)
@click.option("--cert", type=PEM, metavar="FILE", help="For TLS: the certificate with its chain, as PEM.")
@click.option("--key", type=PEM, metavar="FILE", help="For TLS: the certificate's key, as PEM.")
@click.option("--public", metavar="URL", help="Where a tunnel shows the desk: https://NAME.")
@click.option("--open", "open_", is_flag=True, help="Show the desk in a browser.")
@click.option("--mcp/--no-mcp", "with_mcp", default=True, show_default=True, help="Serve MCP at /mcp, too.")
@click.option(
    "--tools", "profile", default="desk", show_default=True, help="Which MCP tools; see handrail mcp."
)
@click.option(
    "--flows",
    multiple=True,
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Where flows are; may be repeated.  [default: flows, examples/flows, flows in HANDRAIL_HOME]",
)
@click.option("--model", metavar="MODEL", help="Who answers in the Console; see handrail agent.")
@click.option("--base-url", metavar="URL", help="With --model: another server with the maker's protocol.")
@click.option(
    "--metrics", is_flag=True, help="Serve counts at /metrics, in Prometheus' form; needs the token."
)
def serve(**given: Any) -> None:
    """Serve the desk until Ctrl-C; a link that logs one browser in is printed.

    For example: handrail serve --sim 1 --open
    """
    asyncio.run(serve_desk(ServeOptions(**given)))


async def serve_desk(options: ServeOptions) -> None:
    """Until a signal."""
    from handrail.bind import check_bind, listen, read_certificate, read_public  # noqa: PLC0415
    from handrail.config import Config  # noqa: PLC0415

    check_bind(
        options.host, options.token, read_certificate(options.cert, options.key), is_plain=options.is_plain
    )
    read_public(options.public)
    config = Config.from_env(os.environ)
    bound = listen(options.host, options.port)
    async with AsyncExitStack() as stack:
        stack.callback(bound.close)
        runtime, desk = await _open(options, config, stack)
        await _serve(options, runtime, desk, bound, stack)


async def _open(options: ServeOptions, config: Config, stack: AsyncExitStack) -> tuple[Runtime, Desk]:
    """The desk before the phones: a session takes the desk that is there when it is opened."""
    from handrail.desk.desk import Desk  # noqa: PLC0415
    from handrail.engine.events import Caller  # noqa: PLC0415
    from handrail.http.approvals import recall_from, remember_in  # noqa: PLC0415
    from handrail.local.server import serve_local  # noqa: PLC0415
    from handrail.runtime import Runtime  # noqa: PLC0415

    simulated = await _simulated(options.sim, config, stack)
    runtime = await stack.enter_async_context(
        Runtime.open(config, caller=Caller("desk", "agent", "http"), counts=options.metrics)
    )
    if await stack.enter_async_context(serve_local(runtime, "desk")) is None:
        raise DeviceBusy(
            f"Another process has the desk of {config.home}",
            hint="`handrail desk link` logs a browser in there; or stop it, or set HANDRAIL_HOME.",
        )
    known = runtime.permissions
    desk = await Desk.open(
        runtime.store, runtime.clock, remember=remember_in(known), recall=recall_from(known)
    )
    stack.push_async_callback(desk.close)
    runtime.attach_desk(desk)
    for address in simulated:
        await runtime.session(address)
    for serial in options.device:
        await runtime.session(serial)
    await stack.enter_async_context(serve_local(runtime))
    return runtime, desk


async def _simulated(count: int, config: Config, stack: AsyncExitStack) -> list[str]:
    """Their addresses: they are reached like any other phone."""
    if count == 0:
        return []
    from handrail.clock import SystemClock  # noqa: PLC0415
    from handrail.simulator import simulated_phones  # noqa: PLC0415

    phones = simulated_phones(count, clock=SystemClock(), seed=config.sim_seed, apps=config.sim_apps)
    served = await stack.enter_async_context(phones)
    return [one.address for one in served]


async def _serve(
    options: ServeOptions, runtime: Runtime, desk: Desk, bound: socket, stack: AsyncExitStack
) -> None:
    from handrail.bind import pages_apart, public_host, read_certificate  # noqa: PLC0415
    from handrail.cli.connect import mcp_line  # noqa: PLC0415
    from handrail.http.context import PageHosts  # noqa: PLC0415
    from handrail.http.desk_file import DeskFile  # noqa: PLC0415
    from handrail.http.origin import hosts_of  # noqa: PLC0415
    from handrail.http.pages import login_path  # noqa: PLC0415
    from handrail.http.server import build, serving  # noqa: PLC0415

    port = bound.getsockname()[1]
    certificate = read_certificate(options.cert, options.key)
    page_host, sockets = (None, [bound]) if certificate else pages_apart(options.host, bound)
    notice = DeskFile.renew(runtime.config.desk, options.host, port, options.token, options.cert)
    public = public_host(options.public, options.host, port, options.cert)
    more, lines = await options.more(runtime, notice, stack) if options.more else ((), [])
    app = build(
        runtime,
        desk,
        token=notice.token,
        key=notice.key,
        allowed_hosts=hosts_of(options.host, port),
        routes=[*await _mcp(options, runtime, stack), *_metrics(options, runtime), *more],
        flow_folders=_flow_folders(options, runtime.config),
        pages=PageHosts(page_host, public, options.public is not None),
    )
    stop = _until_signal(stack)
    async with (
        serving(app, *sockets, certificate=certificate),
        answering(options.model, options.base_url, runtime, desk) as console,
    ):
        app.state.context.on_interrupt.append(console.interrupt)
        app.state.context.console.has_model = options.model is not None
        app.state.context.agent_line = mcp_line()
        if options.remote is not None:
            app.state.context.phones.remote = options.remote()
        notice.write(runtime.config.desk)
        at_name = f"https://{public}" if public and certificate else notice.address
        pages = f"http://{page_host}" if page_host else at_name
        link = pages + login_path(app.state.context.auth.link_code())
        _tell(notice.address, link, public, options, runtime, lines)
        if options.open_:
            await asyncio.to_thread(webbrowser.open, link)
        await stop.wait()
        await app.state.context.leave()


async def _mcp(options: ServeOptions, runtime: Runtime, stack: AsyncExitStack) -> Sequence[BaseRoute]:
    if not options.with_mcp:
        return ()
    from handrail.mcp.http import mcp_routes  # noqa: PLC0415

    return await mcp_routes(runtime, options.profile, options.flows[0] if options.flows else None, stack)


def _metrics(options: ServeOptions, runtime: Runtime) -> Iterator[BaseRoute]:
    from starlette.responses import PlainTextResponse  # noqa: PLC0415
    from starlette.routing import Route  # noqa: PLC0415

    async def metrics(_: Request) -> PlainTextResponse:
        counted = runtime.telemetry.prometheus() if runtime.telemetry else ""
        return PlainTextResponse(counted, media_type="text/plain; version=0.0.4")

    if options.metrics:
        yield Route("/metrics", metrics)


def _flow_folders(options: ServeOptions, config: Config) -> list[Path]:
    found = [one for one in (Path("flows"), Path("examples/flows")) if one.is_dir()][:1]
    return [*(options.flows or found), config.home / "flows"]


def _until_signal(stack: AsyncExitStack) -> asyncio.Event:
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    for number in SIGNALS:
        loop.add_signal_handler(number, stop.set)
        stack.callback(loop.remove_signal_handler, number)
    return stop


def _tell(
    address: str, link: str, public: str | None, options: ServeOptions, runtime: Runtime, lines: Sequence[str]
) -> None:
    click.echo(f"The desk is at {address}")
    click.echo(f"Log one browser in:  {link}")
    click.echo(f"Another one:         {own_command('desk', 'link')}")
    if public:
        click.echo(f"Other devices:       https://{public}  (log them in by the QR code in Settings)")
    names = DeviceNames(runtime.config.home)
    for serial, session in runtime.sessions.items():
        click.echo(f"Phone:               {serial} ({names.get(serial) or session.facts.model})")
    if options.with_mcp:
        click.echo(f"MCP:                 {address}/mcp  (bearer token in {runtime.config.desk})")
    for line in lines:
        click.echo(line)
    click.echo("Ctrl-C stops it.")


@asynccontextmanager
async def answering(
    model: str | None, base_url: str | None, runtime: Runtime, desk: Desk
) -> AsyncIterator[AgentConsole]:
    """Listens while the block runs. A bad name is told at once, not to the first message."""
    from handrail.agent.console import AgentConsole, ConsoleRuns  # noqa: PLC0415
    from handrail.agent.models import open_model  # noqa: PLC0415

    def model_of() -> AgentModel:
        if model is None:
            raise InvalidAction(
                "No model was named", path="model", hint="Start `handrail serve --model openai:NAME`."
            )
        return open_model(model, env=runtime.env, clock=runtime.clock, base_url=base_url)

    async def session_of() -> Session:
        opened = list(runtime.sessions.values())
        return opened[0] if len(opened) == 1 else await runtime.session()

    if model is not None:
        await model_of().close()
    place = ConsoleRuns(runtime.config.runs, runtime.clock)
    console = AgentConsole(session_of, model_of, desk, place, windows=runtime.desk_session())
    async with Background() as listening:
        listening.start(console.run(), "answering in the Console")
        yield console

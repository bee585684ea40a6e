"""`handrail serve`: the desk with its page, REST, WebSocket and MCP, and the phones behind it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from socket import socket

import click
from starlette.responses import PlainTextResponse
from starlette.routing import BaseRoute, Route

from handrail.agent.console import AgentConsole, ConsoleRuns
from handrail.agent.model import AgentModel
from handrail.agent.models import open_model
from handrail.bind import check_bind, listen, pages_apart, public_host, read_certificate, read_public
from handrail.cli.local_server import runtime_for, serve_local
from handrail.cli.options import FOLDER, PEM, PORT, callers_path, command_options, option, read_token
from handrail.cli.output import mcp_line, own_command
from handrail.clock import SystemClock
from handrail.config import Config
from handrail.desk.desk import Desk
from handrail.device_names import DeviceNames
from handrail.engine.session import Session
from handrail.errors import DeviceBusy, InvalidAction
from handrail.invocation import current, run
from handrail.mcp_server.http import mcp_routes
from handrail.runtime import Runtime
from handrail.safety.caller import Caller
from handrail.simulator import simulated_phones
from handrail.waiting import Background
from handrail.web_server.approvals import recall_from, remember_in
from handrail.web_server.auth import hosts_of
from handrail.web_server.desk_file import DeskFile
from handrail.web_server.pages import login_path
from handrail.web_server.phone import RemotePhones
from handrail.web_server.server import PageHosts, build, serving

MoreRoutes = Callable[[Runtime, DeskFile, AsyncExitStack], Awaitable[tuple[Sequence[BaseRoute], list[str]]]]
"""Further routes of a server on the desk's port, and lines about them for the terminal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """The command line, and what a fleet's head adds to its desk."""

    host: str = option("Another needs --token, --cert and --key.", default="localhost", show_default=True)
    port: int = option("0: any free.", type=PORT, default=8420, show_default=True)
    sim: int = option("So many simulated phones.", type=click.IntRange(0, 20), default=0, metavar="N")
    device: tuple[str, ...] = option(
        "Open this phone at once; may be repeated.", multiple=True, metavar="SERIAL"
    )
    token: str | None = option(
        "The bearer token of programs; @FILE reads it.  [default: one is made and kept]",
        metavar="TOKEN|@FILE", callback=read_token,
    )  # fmt: skip
    cert: Path | None = option("For TLS: the certificate with its chain, as PEM.", **PEM)
    key: Path | None = option("For TLS: the certificate's key, as PEM.", **PEM)
    public: str | None = option("Where a tunnel shows the desk: https://NAME.", metavar="URL")
    open_: bool = option("Show the desk in a browser.", "--open")
    with_mcp: bool = option("Serve MCP at /mcp, too.", "--mcp/--no-mcp", default=True, show_default=True)
    profile: str = option("Which MCP tools; see handrail mcp.", "--tools", default="desk", show_default=True)
    flows: tuple[Path, ...] = option(
        "Where flows are; may be repeated.  [default: flows, examples/flows, flows in HANDRAIL_HOME]",
        multiple=True, type=FOLDER, callback=callers_path, metavar="DIR",
    )  # fmt: skip
    model: str | None = option("Who answers in the Console; see handrail agent.", metavar="MODEL")
    base_url: str | None = option("With --model: another server with the maker's protocol.", metavar="URL")
    metrics: bool = option("Serve counts at /metrics, in Prometheus' form; needs the token.")
    is_plain: bool = False
    """Others may use plain HTTP: whoever starts the server vouches for that network."""
    more: MoreRoutes | None = None
    remote: Callable[[], RemotePhones] | None = None
    """Phones of other hosts that the desk shows."""


@click.command()
@command_options(ServeOptions)
def serve(options: ServeOptions) -> None:
    """Serve the desk until Ctrl-C; a link that logs one browser in is printed.

    For example: handrail serve --sim 1 --open
    """
    run(serve_desk(options))


async def serve_desk(options: ServeOptions) -> None:
    certificate = read_certificate(options.cert, options.key)
    check_bind(options.host, options.token, certificate, is_plain=options.is_plain)
    read_public(options.public)
    config = Config.from_env(os.environ)
    bound = listen(options.host, options.port)
    async with AsyncExitStack() as stack:
        stack.callback(bound.close)
        runtime, desk = await _open(options, config, stack)
        await _serve(options, runtime, desk, bound, stack)


async def _open(options: ServeOptions, config: Config, stack: AsyncExitStack) -> tuple[Runtime, Desk]:
    """Opens the desk before the phones: a session takes the desk that is there when it is opened."""
    devices = list(options.device)
    if options.sim:
        phones = simulated_phones(
            options.sim, clock=SystemClock(), seed=config.sim_seed, apps=config.sim_apps
        )
        devices[:0] = [phone.address for phone in await stack.enter_async_context(phones)]
    runtime = await stack.enter_async_context(
        runtime_for(config, caller=Caller("desk", "agent", "http"), counts=options.metrics)
    )
    if await stack.enter_async_context(serve_local(runtime, "desk")) is None:
        raise DeviceBusy(
            f"Another process has the desk of {config.home}",
            hint="`handrail desk link` logs a browser in there; or stop it, or set HANDRAIL_HOME.",
        )
    permissions = runtime.permissions
    desk = await Desk.open(
        runtime.store, runtime.clock, remember=remember_in(permissions), recall=recall_from(permissions)
    )
    stack.push_async_callback(desk.close)
    runtime.attach_desk(desk)
    stack.push_async_callback(runtime.detach_desk)
    for device in devices:
        await runtime.session(device)
    if not runtime.is_shared:
        await stack.enter_async_context(serve_local(runtime))
    return runtime, desk


async def _serve(
    options: ServeOptions, runtime: Runtime, desk: Desk, bound: socket, stack: AsyncExitStack
) -> None:
    port = bound.getsockname()[1]
    certificate = read_certificate(options.cert, options.key)
    page_host, sockets = (None, [bound]) if certificate else pages_apart(options.host, bound)
    notice = DeskFile.renew(runtime.config.desk, options.host, port, options.token, options.cert)
    public = public_host(options.public, options.host, port, options.cert)
    more, lines = await options.more(runtime, notice, stack) if options.more else ((), [])
    usual = [current.get().path(Path(name)) for name in ("flows", "examples/flows")]
    folders = options.flows or [folder for folder in usual if folder.is_dir()][:1]
    app = build(
        runtime,
        desk,
        token=notice.token,
        key=notice.key,
        allowed_hosts=hosts_of(options.host, port),
        routes=[*await _routes(options, runtime, stack), *more],
        flow_folders=[*folders, runtime.config.home / "flows"],
        pages=PageHosts(page_host, public, options.public is not None),
    )
    stop = asyncio.Event()
    stack.enter_context(current.get().on_stop(stop.set, once=False))
    context = app.state.context
    async with (
        serving(app, *sockets, certificate=certificate),
        answering(options.model, options.base_url, runtime, desk) as console,
    ):
        context.on_interrupt.append(console.interrupt)
        context.console.has_model = options.model is not None
        context.agent_line = mcp_line()
        if options.remote is not None:
            context.phones.remote = options.remote()
        notice.write(runtime.config.desk)
        at_name = f"https://{public}" if public and certificate else notice.address
        link = (f"http://{page_host}" if page_host else at_name) + login_path(context.auth.link_code())
        _print_addresses(notice.address, link, public, options, runtime, lines)
        if options.open_:
            await current.get().show_url(link)
        await stop.wait()
        await context.leave()


async def _routes(options: ServeOptions, runtime: Runtime, stack: AsyncExitStack) -> list[BaseRoute]:
    async def metrics(_: object) -> PlainTextResponse:
        counts = runtime.telemetry.prometheus() if runtime.telemetry else ""
        return PlainTextResponse(counts, media_type="text/plain; version=0.0.4")

    routes: list[BaseRoute] = [Route("/metrics", metrics)] if options.metrics else []
    if options.with_mcp:
        folder = options.flows[0] if options.flows else None
        routes[:0] = await mcp_routes(runtime, options.profile, folder, stack)
    return routes


def _print_addresses(
    address: str, link: str, public: str | None, options: ServeOptions, runtime: Runtime, more: Sequence[str]
) -> None:
    names = DeviceNames(runtime.config.home)
    lines = [f"The desk is at {address}", f"Log one browser in:  {link}"]
    lines += [f"Another one:         {own_command('desk', 'link')}"]
    if public:
        lines += [f"Other devices:       https://{public}  (log them in by the QR code in Settings)"]
    for serial, session in runtime.sessions.items():
        lines += [f"Phone:               {serial} ({names.get(serial) or session.facts.model})"]
    if options.with_mcp:
        lines += [f"MCP:                 {address}/mcp  (bearer token in {runtime.config.desk})"]
    click.echo("\n".join([*lines, *more, "Ctrl-C stops it."]))


@asynccontextmanager
async def answering(
    model: str | None, base_url: str | None, runtime: Runtime, desk: Desk
) -> AsyncIterator[AgentConsole]:
    """Answers in the Console while the block runs. Raises at once for a model that can't be opened."""

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

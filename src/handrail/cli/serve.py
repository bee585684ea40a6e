"""`handrail serve`: the desk with its page, REST, WebSocket and MCP, and the phones behind it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, nullcontext
from dataclasses import dataclass
from pathlib import Path
from socket import socket
from typing import Protocol

import click
from starlette.responses import PlainTextResponse
from starlette.routing import BaseRoute, Route

from handrail.bind import (
    check_bind,
    listen,
    public_host,
    read_certificate,
    read_public_address,
    separate_page_host,
)
from handrail.cli.local_server import runtime_for, serve_local
from handrail.cli.mcp import client_setups
from handrail.cli.options import FOLDER, PEM, PORT, command_options, option, read_token, resolve_callers_path
from handrail.cli.output import mcp_add_command, own_command, program_path
from handrail.clock import SystemClock
from handrail.config import Config
from handrail.desk.desk import Desk
from handrail.device_names import DeviceNames
from handrail.errors import DeviceBusy
from handrail.invocation import current, run
from handrail.mcp_server.http import mcp_routes
from handrail.runtime import Runtime
from handrail.safety.caller import Caller
from handrail.satellites import load_plugin, plugins
from handrail.simulator import simulated_phones
from handrail.web_server.approvals import agent_answer_reader, agent_answer_writer
from handrail.web_server.auth import served_hosts
from handrail.web_server.desk_file import DeskFile
from handrail.web_server.pages import login_path
from handrail.web_server.phone import RemotePhones
from handrail.web_server.server import PageHosts, build_desk_app, serving

MoreRoutes = Callable[[Runtime, DeskFile, AsyncExitStack], Awaitable[tuple[Sequence[BaseRoute], list[str]]]]
"""Further routes of a server on the desk's port, and lines about them for the terminal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """The command line, and what a fleet's head adds to its desk."""

    host: str = option("Another one needs --token, --cert and --key.", default="localhost", show_default=True)
    port: int = option("0: any free.", type=PORT, default=8420, show_default=True)
    sim: int = option("The number of simulated phones.", type=click.IntRange(0, 20), default=0, metavar="N")
    device: tuple[str, ...] = option(
        "Open this phone at once; may be repeated.", multiple=True, metavar="SERIAL"
    )
    token: str | None = option(
        "The bearer token of programs; @FILE reads it.  [default: one is made and kept]",
        metavar="TOKEN|@FILE", callback=read_token,
    )  # fmt: skip
    cert: Path | None = option("For TLS: the certificate with its chain, as PEM.", **PEM)
    key: Path | None = option("For TLS: the certificate's key, as PEM.", **PEM)
    public: str | None = option("The desk's address behind a tunnel: https://NAME.", metavar="URL")
    open_: bool = option("Show the desk in a browser.", "--open")
    with_mcp: bool = option("Serve MCP at /mcp, too.", "--mcp/--no-mcp", default=True, show_default=True)
    profile: str = option("MCP tools; see handrail mcp.", "--tools", default="desk", show_default=True)
    flows: tuple[Path, ...] = option(
        "A folder of flows; may be repeated.  [default: flows, examples/flows, flows in HANDRAIL_HOME]",
        multiple=True, type=FOLDER, callback=resolve_callers_path, metavar="DIR",
    )  # fmt: skip
    model: str | None = option("The model that answers in the Console; see handrail agent.", metavar="MODEL")
    base_url: str | None = option("With --model: another server with the maker's protocol.", metavar="URL")
    metrics: bool = option("Serve counts at /metrics, in Prometheus' form; needs the token.")
    is_plain: bool = False
    """Others may use plain HTTP: who starts the server vouches for that network."""
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
    read_public_address(options.public)
    config = Config.from_env(os.environ)
    bound = listen(options.host, options.port)
    async with AsyncExitStack() as stack:
        stack.callback(bound.close)
        runtime, desk = await _open_desk(options, config, stack)
        await _serve(options, runtime, desk, bound, stack)


async def _open_desk(options: ServeOptions, config: Config, stack: AsyncExitStack) -> tuple[Runtime, Desk]:
    """Opens the desk, then the phones: a session uses the desk that exists when it is opened."""
    devices = list(options.device)
    if options.sim:
        clock = SystemClock()
        phones = simulated_phones(options.sim, clock=clock, seed=config.sim_seed, apps=config.sim_apps)
        devices[:0] = [phone.address for phone in await stack.enter_async_context(phones)]
    runtime = await stack.enter_async_context(
        runtime_for(config, caller=Caller("desk", "agent", "http"), counts=options.metrics)
    )
    if await stack.enter_async_context(serve_local(runtime, "desk")) is None:
        hint = "`handrail desk link` logs a browser in there; or stop it, or set HANDRAIL_HOME."
        raise DeviceBusy(f"Another process has the desk of {config.home}", hint=hint)
    remember, recall = agent_answer_writer(runtime.permissions), agent_answer_reader(runtime.permissions)
    desk = await Desk.open(runtime.store, runtime.clock, remember=remember, recall=recall)
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
    page_host, sockets = (None, [bound]) if certificate else separate_page_host(options.host, bound)
    notice = DeskFile.renew(runtime.config.desk, options.host, port, options.token, options.cert)
    public = public_host(options.public, options.host, port, options.cert)
    more, lines = await options.more(runtime, notice, stack) if options.more else ((), [])
    usual = [current.get().path(Path(name)) for name in ("flows", "examples/flows")]
    folders = options.flows or [folder for folder in usual if folder.is_dir()][:1]
    app = build_desk_app(
        runtime,
        desk,
        token=notice.token,
        key=notice.key,
        allowed_hosts=served_hosts(options.host, port),
        routes=[*await _routes(options, runtime, stack), *more],
        flow_folders=[*folders, runtime.config.home / "flows"],
        pages=PageHosts(page_host, public, options.public is not None),
    )
    stop = asyncio.Event()
    stack.enter_context(current.get().on_stop(stop.set, once=False))
    context = app.state.context
    async with (
        serving(app, *sockets, certificate=certificate),
        console_agent(options, runtime, desk) as agent,
    ):
        if agent is not None:
            context.on_interrupt.append(agent.interrupt)
        context.console.has_model = options.model is not None
        context.agent_line = mcp_add_command()
        context.agent_clients = client_setups(program_path())
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


class ConsoleAgent(Protocol):
    """Answers what a person writes in the desk's Console."""

    def interrupt(self) -> bool: ...


def console_agent(
    options: ServeOptions, runtime: Runtime, desk: Desk
) -> AbstractAsyncContextManager[ConsoleAgent | None]:
    """The agent that handrail-agent brings, at work while the block runs; without it there is none."""
    if options.model is None and "console" not in plugins("handrail.runners"):
        return nullcontext()
    module = load_plugin("handrail.runners", "console", "agent", "`handrail serve --model`")
    agent: AbstractAsyncContextManager[ConsoleAgent] = module.answering(
        options.model, options.base_url, runtime, desk
    )
    return agent

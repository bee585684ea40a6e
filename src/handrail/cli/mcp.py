"""`handrail mcp`: the vocabulary as MCP tools, over standard input and output or HTTP."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import click

from handrail.bind import check_bind, read_certificate
from handrail.cli.local_client import LocalDesk
from handrail.cli.local_server import runtime_for, serve_local
from handrail.cli.options import (
    FOLDER,
    PEM,
    PORT,
    DeviceOptions,
    chosen_by_name,
    command_options,
    device_options,
    json_option,
    open_device_for_command,
    option,
    read_token,
    resolve_callers_path,
)
from handrail.cli.output import print_json
from handrail.cli.program import IMPORTING
from handrail.config import Config, named_kind
from handrail.errors import InvalidAction, Unsupported, did_you_mean
from handrail.invocation import run
from handrail.protocol.read import nearest
from handrail.safety.caller import Caller


@dataclass(frozen=True, slots=True, kw_only=True)
class McpOptions:
    """The command line of `handrail mcp` fills these."""

    target: DeviceOptions
    profile: str | None = option(
        "core, web, flow, debug, desk, all (several with commas), or interaction, mobile_debug, agentest.  "
        "[default: core; web with a browser]",
        "--tools", metavar="PROFILE",
    )  # fmt: skip
    http: bool = option("Streamable HTTP instead of standard input and output.")
    host: str = option(
        "With --http: another one needs --token, --cert and --key.", default="127.0.0.1", show_default=True
    )
    port: int = option("With --http.", type=PORT, default=8421, show_default=True)
    token: str | None = option(
        "With --http: the bearer token of clients; @FILE reads it, so that no process list shows it.",
        metavar="TOKEN|@FILE", callback=read_token,
    )  # fmt: skip
    cert: Path | None = option("With --http: the certificate for TLS, as PEM.", **PEM)
    key: Path | None = option("With --http: the certificate's key, as PEM.", **PEM)
    flows: Path | None = option(
        "The folder whose flows run_flow may name.  [default: flows in HANDRAIL_HOME]",
        type=FOLDER, callback=resolve_callers_path, metavar="DIR",
    )  # fmt: skip
    structured: bool = option("Send envelopes as structured content, too.")


@click.group(invoke_without_command=True)
@command_options(McpOptions, device_options)
@click.pass_context
def mcp(context: click.Context, /, options: McpOptions) -> None:
    """Serve phones or a browser to an MCP client, until it hangs up or Ctrl-C.

    For example: claude mcp add handrail -- handrail mcp
    """
    if context.invoked_subcommand is None:
        run(_serve(options))


async def _serve(options: McpOptions) -> None:
    with IMPORTING:
        from handrail.mcp_server import http, stdio  # noqa: PLC0415  (half a second that `install` does not need)
        from handrail.mcp_server.calls import McpState  # noqa: PLC0415
        from handrail.mcp_server.pending_calls import ToolCalls  # noqa: PLC0415
        from handrail.mcp_server.server import build_mcp_server  # noqa: PLC0415
        from handrail.mcp_server.tools import tools_of_profile  # noqa: PLC0415

    config = Config.from_env(os.environ)
    # A browser needs a few tools more: addresses, lists and dates, chords.
    is_browser = named_kind(chosen_by_name(options.target, config) or "") == "browser"
    profile = options.profile or ("web" if is_browser else "core")
    offered = tools_of_profile(profile)  # raises for an unknown profile before anything is opened
    certificate = read_certificate(options.cert, options.key) if options.http else None
    if options.http:
        check_bind(options.host, options.token, certificate)
    async with AsyncExitStack() as stack:
        # A simulated phone is there from the start and until the end; a real one may come later.
        opened = None
        if options.target.sim:
            opened = await stack.enter_async_context(open_device_for_command(options.target, config))
        runtime = await stack.enter_async_context(runtime_for(config, caller=Caller("mcp", "agent", "mcp")))
        state = McpState(runtime, profile, device=options.target.device, flows=options.flows)
        if opened is not None:
            state.use_session(await runtime.session_on(opened.device))
        desk = LocalDesk(config.home, runtime.caller)
        runtime.use_desk_of(desk)

        async def release_locks() -> None:
            for caller in state.callers:
                await desk.left(caller)

        if "desk" in (tool.name for tool in offered):
            stack.push_async_callback(release_locks)
        if not runtime.is_shared:
            await stack.enter_async_context(serve_local(runtime))
        tool_calls = ToolCalls(runtime.approvals, runtime.clock, desk=runtime.desk_address)
        stack.push_async_callback(tool_calls.close)
        server = build_mcp_server(state, structured=options.structured, calls=tool_calls)
        if options.http:
            tell = partial(click.echo, err=True)
            await http.serve(server, options.host, options.port, options.token, tell, certificate)
        else:
            await stdio.serve(server)


NAME = "handrail"
CODEX_KEY = "mcp_servers"
Scope = Literal["user", "project"]


@dataclass(frozen=True, slots=True)
class McpClient:
    """Says where a client has its configuration, as its makers document it, and which commands change it."""

    title: str
    documented: str
    user_file: Mapping[str, str]
    """By `sys.platform`; "" is every other system."""
    project_file: str = ""
    key: str = "mcpServers"
    """The key of the configuration file under which servers stand."""
    has_type: bool = False
    is_desktop: bool = False
    """It is started without a shell, so it does not see the `PATH` that `handrail` is on."""
    add: str = ""
    """The command that adds a server. {scope}, {json} and {server} are filled in."""
    remove: str = ""
    command_scopes: tuple[Scope, ...] = ("user",)

    def file(self, scope: Scope, system: str = sys.platform) -> str:
        if scope == "project" and not self.project_file:
            why = f"{self.title} has no file for one project"
            raise Unsupported(why, hint="Leave --scope out.", path="scope")
        path = self.project_file if scope == "project" else self.user_file.get(system, self.user_file.get(""))
        if not path:
            why = f"{self.title} documents no configuration file for this system"
            raise Unsupported(why, hint=f"See {self.documented}.", path="client")
        return path

    def command(self, scope: Scope, server: list[str], *, remove: bool) -> list[str] | None:
        """The client's own command; None where it has none for this scope."""
        template = self.remove if remove else self.add
        if not template or scope not in self.command_scopes:
            return None
        program, *arguments = server
        words: dict[str, list[str]] = {"{server}": server, "{program}": [program], "{arguments}": arguments}
        words["{scope}"] = [scope]
        words["{json}"] = [json.dumps({"name": NAME, "command": program, "args": arguments})]
        return [word for part in template.split() for word in words.get(part, [part])]

    def entry(self, server: list[str]) -> str:
        program, *arguments = server
        if self.key == CODEX_KEY:  # JSON strings and lists are TOML as well, but for surrogate pairs
            command, args = (json.dumps(part, ensure_ascii=False) for part in (program, arguments))
            return f"[{CODEX_KEY}.{NAME}]\ncommand = {command}\nargs = {args}"
        kind = {"type": "stdio"} if self.has_type else {}
        return json.dumps({self.key: {NAME: {**kind, "command": program, "args": arguments}}}, indent=2)


_CODE = "Code/User/mcp.json"
_DESKTOP = "Claude/claude_desktop_config.json"
CLIENTS: dict[str, McpClient] = {
    "claude-code": McpClient(
        "Claude Code", "https://code.claude.com/docs/en/mcp", {"": "~/.claude.json"}, ".mcp.json",
        has_type=True, command_scopes=("user", "project"),
        add=f"claude mcp add --scope {{scope}} {NAME} -- {{server}}",
        remove=f"claude mcp remove --scope {{scope}} {NAME}",
    ),
    "claude-desktop": McpClient(
        "Claude Desktop", "https://modelcontextprotocol.io/docs/develop/connect-local-servers",
        {"darwin": f"~/Library/Application Support/{_DESKTOP}", "win32": f"%APPDATA%/{_DESKTOP}"},
        is_desktop=True,
    ),
    "cursor": McpClient(
        "Cursor", "https://cursor.com/docs/mcp", {"": "~/.cursor/mcp.json"}, ".cursor/mcp.json",
        is_desktop=True,
    ),
    "vscode": McpClient(
        "VS Code", "https://code.visualstudio.com/docs/copilot/reference/mcp-configuration",
        {"linux": f"~/.config/{_CODE}", "darwin": f"~/Library/Application Support/{_CODE}",
         "win32": f"%APPDATA%/{_CODE}"},
        ".vscode/mcp.json", key="servers", has_type=True, is_desktop=True, add="code --add-mcp {json}",
    ),
    "codex": McpClient(
        "Codex", "https://developers.openai.com/codex/mcp", {"": "~/.codex/config.toml"}, key=CODEX_KEY,
        add=f"codex mcp add {NAME} -- {{server}}", remove=f"codex mcp remove {NAME}",
    ),
    "gemini": McpClient(  # after "--" its parser takes no option for its own
        "Gemini CLI", "https://geminicli.com/docs/tools/mcp-server", {"": "~/.gemini/settings.json"},
        ".gemini/settings.json", command_scopes=("user", "project"),
        add=f"gemini mcp add --scope {{scope}} {NAME} {{program}} -- {{arguments}}",
        remove=f"gemini mcp remove --scope {{scope}} {NAME}",
    ),
    "windsurf": McpClient(
        "Windsurf", "https://docs.windsurf.com/windsurf/cascade/mcp",
        {"": "~/.codeium/windsurf/mcp_config.json"}, is_desktop=True,
    ),
}  # fmt: skip


@click.command()
@click.argument("client", required=False)
@click.option("--write", is_flag=True, help="Run the client's own command without asking.")
@click.option("--print", "only_print", is_flag=True, help="Only show what would be done.")
@click.option("--remove", is_flag=True, help="Take the entry out again.")
@click.option(
    "--scope",
    type=click.Choice(["user", "project"]),
    default="user",
    show_default=True,
    help="For you everywhere, or for the folder you are in.",
)
@click.option("--tools", "profile", metavar="PROFILE", help="Passed on to handrail mcp.")
@json_option("Print it as JSON.")
@device_options
def install(
    target: DeviceOptions, client: str | None, profile: str | None, as_json: bool, scope: Scope, **flags: bool
) -> None:
    """Add Handrail to an MCP client by its own command. Without CLIENT: list the known clients.

    For example: handrail mcp install claude-code --write
    """
    if client is None:
        _print_clients(as_json)
        return
    chosen = find_client(client)
    program = handrail_program_for(chosen, is_shared=scope == "project")
    server = [program, "mcp"]
    if target.sim or target.device:
        server += ["--device", target.device] if target.device else ["--sim"]
    if profile is not None:
        from handrail.mcp_server.tools import tools_of_profile  # noqa: PLC0415  (slow, and only this option needs it)

        tools_of_profile(profile)  # raises for an unknown profile
        server += ["--tools", profile]
    command = chosen.command(scope, server, remove=flags["remove"])
    runs = command is not None and shutil.which(command[0]) is not None
    if not as_json:
        _print_plan(chosen, scope, server, command, runs=runs, remove=flags["remove"])
    if runs and not flags["only_print"] and not flags["write"] and not as_json and sys.stdin.isatty():
        flags["write"] = click.confirm("Run it?", default=False)
    written = runs and flags["write"] and not flags["only_print"]
    if written and command is not None:
        run_client_command(command, quiet=as_json)
    if as_json:
        plan = {"client": client, "file": chosen.file(scope), "command": command}
        print_json({**plan, "entry": chosen.entry(server), "written": written})
    elif runs and not written:
        click.echo("Nothing was changed. Add --write to run it.")


def find_client(name: str) -> McpClient:
    if name in CLIENTS:
        return CLIENTS[name]
    hint = did_you_mean(nearest(name, list(CLIENTS)), f"There are {', '.join(CLIENTS)}.")
    raise InvalidAction(f"CLIENT: {name[:60]!r} is not known", path="client", hint=hint)


def handrail_program_for(client: McpClient, *, is_shared: bool) -> str:
    """The bare name in shared files and in a shell, the absolute path for desktop programs."""
    on_path = shutil.which(NAME)
    if is_shared or (on_path and not client.is_desktop):
        return NAME
    beside = Path(sys.executable).with_name(NAME)
    if beside.is_file():
        return str(beside)
    if on_path is None:
        raise Unsupported("handrail is not installed as a program", hint="Install it, then run this again.")
    return os.path.abspath(on_path)


def client_setups(program: str) -> list[dict[str, str]]:
    """How each known client is given the server: a command, or an entry and the file that it belongs to."""
    setups = []
    for client in CLIENTS.values():
        with suppress(Unsupported):  # its makers do not say where its file is on this system
            command = client.command("user", [program, "mcp"], remove=False)
            how = {"line": shlex.join(command)} if command else {"entry": client.entry([program, "mcp"])}
            setups.append({"name": client.title, "file": client.file("user"), **how})
    return setups


def run_client_command(command: list[str], *, quiet: bool) -> None:
    program = shutil.which(command[0]) or command[0]
    stdout = sys.__stderr__ if quiet else None  # with --json standard output is our own answer's
    done = subprocess.run([program, *command[1:]], stdout=stdout, check=False)  # noqa: S603 - it was shown
    if done.returncode != 0:
        hint = "Its own message is above. Add the entry by hand with --print, or see its documentation."
        raise Unsupported(f"{command[0]} failed with exit code {done.returncode}", hint=hint)


def _print_plan(
    client: McpClient, scope: Scope, server: list[str], command: list[str] | None, *, runs: bool, remove: bool
) -> None:
    if command is not None:
        click.echo(shlex.join(command))
        if runs:
            return
        click.echo(f"\n{command[0]} is not on your PATH. By hand:")
    if remove:
        click.echo(f"Delete {NAME} from {client.key} in {client.file(scope)}")
    else:
        click.echo(f"Put this into {client.file(scope)}:\n\n{client.entry(server)}")


def _print_clients(as_json: bool) -> None:
    rows: list[dict[str, Any]] = []
    for name, client in CLIENTS.items():
        file = client.user_file.get(sys.platform, client.user_file.get(""))
        program = client.add.partition(" ")[0]
        is_here = bool(program and shutil.which(program)) or bool(file and Path(file).expanduser().exists())
        facts = {"client": name, "title": client.title, "file": file}
        rows.append({**facts, "program": program or None, "found": is_here})
    if as_json:
        print_json({"clients": rows})
        return
    for row in rows:
        way = f"by {row['program']}" if row["program"] else row["file"] or "no file for this system"
        click.echo(f"{row['client']:<15} {'found here' if row['found'] else '':<10} {way}")
    click.echo("\nhandrail mcp install CLIENT shows what would be done; --write does it.")


mcp.add_command(install)

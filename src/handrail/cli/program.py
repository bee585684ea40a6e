"""The commands themselves; each is imported when it runs."""

from __future__ import annotations

import importlib
import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

import click
from click.shell_completion import get_completion_class

from handrail import __version__
from handrail.cli.output import log_to_stderr, print_json, show_progress
from handrail.config import Config
from handrail.errors import Cancelled, HandrailError, InvalidAction
from handrail.invocation import current
from handrail.satellites import COMMANDS as SATELLITE_COMMANDS
from handrail.satellites import load_plugin
from handrail.system import ANYWHERE, need_posix

if TYPE_CHECKING:
    from handrail.cli.action_commands import ActionCommand

IMPORTING = threading.RLock()
"""Held while modules are imported: two threads in one circle of imports end with a deadlock error."""

COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("demo:demo", "See what Handrail does, in half a minute and without a phone."),
    "actions": ("action_commands:actions", "Show the vocabulary: every action and its fields."),
    "act": ("dialect_commands:act", "Run actions that a model wrote in its own dialect."),
    "check": ("dialect_commands:check", "Check actions in a file, in any dialect, without a device."),
    "tree": ("tree:tree", "Render a UI dump as an agent reads it, without a device."),
    "diff": ("tree:diff", "Show what changed between two UI dumps."),
    "connect": ("connect:connect", "Connect a phone, step by step, and look at it."),
    "devices": ("doctor:devices", "List phones, their states, and who holds them."),
    "doctor": ("doctor:doctor", "Show what is missing, and the command that fixes it."),
    "bug-report": ("bug_report:bug_report", "Pack a report that helps to find out why a phone fails."),
    "sim": ("sim:sim", "Run simulated phones that speak ADB."),
    "run": ("run:run", "Run flows: many steps from files, with reports."),
    "record": ("watch:record", "Record what is done on a phone as a flow."),
    "approvals": ("approvals:approvals", "List requests that wait for an answer."),
    "approve": ("approvals:approve", "Approve a request."),
    "reject": ("approvals:reject", "Reject a request."),
    "policy": ("policy:policy", "Check rules, show defaults, revoke remembered answers."),
    "take-over": ("approvals:take_over", "Take a phone over; agents wait."),
    "hand-back": ("approvals:hand_back", "Give a phone back to the agent that worked on it."),
    "stop": ("approvals:stop", "Stop what runs on a phone, and hold it until hand-back."),
    "watch": ("watch:watch", "Follow a phone: its screen, its changes and its actions."),
    "journal": ("journal:journal", "List, show, prove and export actions."),
    "witness": ("witness:witness", "Countersign journals of other machines."),
    "mcp": ("mcp:mcp", "Serve phones to an MCP client: Claude, Cursor, VS Code, …"),
    "serve": ("serve:serve", "Serve the desk: a page for people, REST, WebSocket and MCP."),
    "desk": ("desk:desk", "Act on the desk of a running server, and follow it."),
    "flow": ("flow:flow", "Check flows without a device; print the schema for editors."),
    "daemon": ("daemon:daemon", "Show or stop the daemon of this home."),
    "completion": ("program:completion", "Print completion for bash, zsh or fish."),
}
"""Name → module of this package and its function, and the line in the help."""
ALIASES = {"ui": "get-ui-tree"}
"""Short name → command."""
GROUPS: dict[str, tuple[str, ...]] = {
    "Start": ("demo", "connect", "devices", "doctor", "sim"),
    "Look and act": ("ui", "tap", "type-text", "press-key", "start-app", "scroll-to", "wait-for"),
    "Test": ("run", "record", "flow"),
    "People": ("serve", "approvals", "approve", "stop", "hand-back", "policy"),
    "Agents": ("mcp", "agent", "act"),
    "Scale": ("eval",),
}
"""What `--help` shows; `--help-all` shows every command."""


def import_in_turn(name: str) -> ModuleType:
    """Of two threads of the daemon that import modules which import each other, Python lets one fail."""
    with IMPORTING:
        return importlib.import_module(name)


class LazyGroup(click.Group):
    """A group whose commands are imported when they run, not when they are listed."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  (click's signature)
        return [*COMMANDS, *SATELLITE_COMMANDS, *_actions()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        name = ALIASES.get(cmd_name, cmd_name).replace("_", "-")
        if name in SATELLITE_COMMANDS:
            loaded: click.Command = load_plugin(
                "handrail.commands", name, SATELLITE_COMMANDS[name][0], f"`handrail {name}`"
            )
            return loaded
        if name not in COMMANDS:
            from handrail.cli.action_commands import command_for  # noqa: PLC0415

            return command_for(name) if name in _actions() else None
        module, _, attribute = COMMANDS[name][0].partition(":")
        command: click.Command = getattr(import_in_turn(f"handrail.cli.{module}"), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0].replace("_", "-")
        others = (COMMANDS, SATELLITE_COMMANDS, ALIASES)
        if args[0] not in ANYWHERE:
            need_posix(f"`handrail {args[0]}`")
        is_known = name.startswith("-") or any(name in names for names in others) or name in _actions()
        if not is_known:
            # The command that was probably meant: the name that other tools use, or the nearest spelling.
            from handrail.protocol.read import ELSEWHERE, nearest  # noqa: PLC0415

            elsewhere = ELSEWHERE.get(args[0].replace("-", "_"), "").replace("_", "-")
            names = [*COMMANDS, *SATELLITE_COMMANDS, *_actions(), *ALIASES]
            near = [elsewhere] if elsewhere else nearest(name, names)
            suggestion = f" Did you mean {near[0]}?" if near else ""
            raise click.UsageError(f"No such command {args[0]!r}.{suggestion}", ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # the reader has seen enough: `handrail actions | head -1`
            current.get().drop_output()
            ctx.exit(0)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        lines = _help_lines()
        for title, names in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name, lines[name]) for name in names])
        rest = len(lines) - sum(map(len, GROUPS.values()))
        formatter.write_paragraph()
        formatter.write_text(f"{rest} more: handrail --help-all. One in detail: handrail tap --help.")


def _help_lines() -> dict[str, str]:
    """Every command, action and short name, and what it does."""
    from handrail.protocol.describe import summary  # noqa: PLC0415

    lines = {name: line for name, (_, line) in (COMMANDS | SATELLITE_COMMANDS).items()}
    lines |= {name: summary(command.act) for name, command in _actions().items()}
    return lines | {name: lines[command] for name, command in ALIASES.items()}


def _print_help_all(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if not wanted:
        return
    lines = _help_lines()
    grouped = {name for names in GROUPS.values() for name in names}
    others = (*COMMANDS, *SATELLITE_COMMANDS)
    sections = GROUPS | {
        "Other commands": tuple(name for name in others if name not in grouped),
        "Other actions on a device": tuple(name for name in _actions() if name not in grouped),
    }
    formatter = ctx.make_formatter()
    for title, names in sections.items():
        with formatter.section(title):
            formatter.write_dl([(name, lines[name]) for name in names])
    click.echo(formatter.getvalue().strip())
    ctx.exit()


def _actions() -> dict[str, ActionCommand]:
    """Imported only where it is needed: the vocabulary takes most of a command's start."""
    from handrail.cli.action_commands import ACTION_COMMANDS  # noqa: PLC0415

    return ACTION_COMMANDS


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        commit = commit_of_build(PACKAGE) or commit_of_clone(PACKAGE)
        click.echo(f"handrail {__version__}" + (f" ({commit})" if commit else ""))
        ctx.exit()


_EAGER: dict[str, Any] = {"is_flag": True, "is_eager": True, "expose_value": False}


@click.group(
    cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.option("--version", callback=_print_version, help="Show the version and leave.", **_EAGER)
@click.option("--help-all", callback=_print_help_all, help="Show every command and leave.", **_EAGER)
def cli() -> None:
    """Let AI agents and tests operate phones and browsers, and stay in charge."""
    is_alone = current.get().daemon is None  # the daemon's log knows its clients
    if is_alone:
        show_progress()
    if is_alone and (level := os.environ.get("HANDRAIL_LOG")):
        log_to_stderr(level)
    if os.environ.get("HANDRAIL_OTLP_ENDPOINT") and (traceparent := os.environ.get("TRACEPARENT")):
        from handrail.engine.events import read_traceparent, within_trace  # noqa: PLC0415

        click.get_current_context().with_resource(within_trace(read_traceparent(traceparent)))


def run(words: Sequence[str] | None = None) -> NoReturn:
    """Runs one command line and exits. A failure ends with a message, a hint and its family's exit code."""
    if threading.current_thread() is threading.main_thread():  # Python handles signals nowhere else
        for number in {getattr(signal, name, signal.SIGTERM) for name in ("SIGTERM", "SIGHUP")}:
            if signal.getsignal(number) is signal.SIG_DFL:  # and not ignored, as under nohup
                signal.signal(number, _interrupt_as_ctrl_c)
    words = sys.argv[1:] if words is None else words
    try:
        ended = cli(list(words), prog_name="handrail", standalone_mode=False)
        sys.exit(ended if isinstance(ended, int) else 0)  # click returns the code of `ctx.exit(code)`
    except (click.Abort, KeyboardInterrupt):
        fail(Cancelled("it was stopped"), words, quiet=True)
    except click.ClickException as error:
        error.show()
        fail(InvalidAction(error.format_message()), words, quiet=True)
    except Exception as error:
        fail(_as_handrail_error(error), words)


def fail_without_daemon(*, has_written: bool) -> NoReturn:
    """Ends a command whose daemon went away; the command is not repeated.

    `has_written`: its answer may be there already, whole or in part. Then standard output gets no second one.
    """
    from handrail.cli.local_client import connection_lost  # noqa: PLC0415  (what most commands do not need)

    name = ALIASES.get(sys.argv[1], sys.argv[1]).replace("_", "-")
    error = connection_lost(f"`{name}`")
    if has_written:
        click.echo(f"{error.code}: {error.message}\n{error.hint}", err=True)
        sys.exit(error.exits.exit_code)
    words = sys.argv[1:]
    if name in _actions() and _wants_json(words):
        from handrail.cli.perform import failure_as_envelope  # noqa: PLC0415

        print_json(failure_as_envelope(name.replace("-", "_"), error))
        sys.exit(error.exits.exit_code)
    fail(error, words)


def _wants_json(words: Sequence[str]) -> bool:
    return "--json" in (words[: words.index("--")] if "--" in words else words)


def _interrupt_as_ctrl_c(*_: object) -> None:
    """A closed terminal and a service manager stop a command as Ctrl-C does."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # started in the background of a shell
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.raise_signal(signal.SIGINT)


def fail(error: HandrailError, words: Sequence[str], *, quiet: bool = False) -> NoReturn:
    """Prints the failure, with --json as one object, and exits. `quiet`: its message was printed already."""
    if _wants_json(words):
        print_json(error.to_dict())
    elif not quiet:
        click.echo(f"{error.code}: {error.message}\n{error.hint}", err=True)
    sys.exit(error.exits.exit_code)


def _as_handrail_error(error: Exception) -> HandrailError:
    """Names a disk failure; for anything else the log has the traceback."""
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:  # as servers raise them
        error = error.exceptions[0]
    if isinstance(error, HandrailError):
        return error
    from handrail.store import disk_failure, store_error  # noqa: PLC0415  (sqlite3)

    if named := disk_failure(error):
        return named
    if isinstance(error, FileNotFoundError):
        try:
            os.getcwd()
        except FileNotFoundError:
            return InvalidAction("the working directory is gone", hint="Go to one that exists.", path="")
    if isinstance(error, OSError) and error.filename is not None:
        place, home = Path(os.fsdecode(error.filename)), Config.from_env(os.environ).home
        if place == home or home in place.parents:
            return store_error(error, f"{place} can't be used")
        return HandrailError(f"{place}: {error.strerror}", hint="Check that path.")
    logging.getLogger("handrail.cli").error("unexpected failure", exc_info=error)
    return HandrailError(f"{type(error).__name__}: {error}")


PACKAGE = Path(__file__).resolve().parent.parent
AT_MOST_S = 5


def commit_of_build(package: Path) -> str:
    """The commit that the build wrote beside the code; empty in a clone."""
    try:
        return (package / "commit.txt").read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def commit_of_clone(package: Path) -> str:
    """What git reports about the clone that holds the code; empty elsewhere."""
    root = package.parent.parent
    if not (root / ".git").exists():
        return ""
    git = ["git", "-C", str(root), "describe", "--always", "--abbrev=12", "--exclude=*", "--dirty=, changed"]
    try:
        done = subprocess.run(git, capture_output=True, text=True, check=True, timeout=AT_MOST_S)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


_ACTIVATE = {
    "bash": 'eval "$(handrail completion bash)"       in ~/.bashrc',
    "zsh": 'eval "$(handrail completion zsh)"        in ~/.zshrc',
    "fish": "handrail completion fish | source        in ~/.config/fish/config.fish",
}


@click.command(epilog="\b\n" + "\n".join(_ACTIVATE.values()))
@click.argument("shell", type=click.Choice(list(_ACTIVATE)))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print what SHELL needs to complete Handrail's commands; put the line below into its start file."""
    completer = get_completion_class(shell)
    assert completer is not None, shell  # noqa: S101  (the three that click brings)
    click.echo(completer(ctx.find_root().command, {}, "handrail", "_HANDRAIL_COMPLETE").source())

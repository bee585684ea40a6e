"""The commands themselves. `--help` answers from the table below and imports nothing heavy."""

from __future__ import annotations

import gc
import importlib
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any, NoReturn

import click

from handrail.cli.index import ACTION_COMMANDS
from handrail.errors import Cancelled, HandrailError, InvalidAction
from handrail.system import ANYWHERE, need_posix

COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("handrail.cli.demo:demo", "See what Handrail does, in twenty seconds and without a phone."),
    "actions": ("handrail.cli.actions:actions", "Show the vocabulary: every action and its fields."),
    "act": ("handrail.cli.act:act", "Do what a model wrote in its own dialect."),
    "check": ("handrail.cli.check:check", "Check actions in a file, in any dialect, without a device."),
    "tree": ("handrail.cli.tree:tree", "Render a UI dump as an agent reads it, without a device."),
    "diff": ("handrail.cli.tree:diff", "Say what changed between two UI dumps."),
    "connect": ("handrail.cli.connect:connect", "Connect a phone, step by step, and look at it."),
    "devices": ("handrail.cli.devices:devices", "List phones, their states, and who holds them."),
    "doctor": ("handrail.cli.doctor:doctor", "Say what is missing, and the one command that mends it."),
    "bug-report": ("handrail.cli.bug_report:bug_report", "Pack what helps to find out why a phone fails."),
    "sim": ("handrail.cli.sim:sim", "Run simulated phones that speak ADB."),
    "run": ("handrail.cli.run:run", "Run flows: many steps from files, with reports."),
    "record": ("handrail.cli.record:record", "Turn what is done on a phone into a flow."),
    "approvals": ("handrail.cli.approvals:approvals", "List what waits for a person's answer."),
    "approve": ("handrail.cli.approvals:approve", "Say yes to a request."),
    "reject": ("handrail.cli.approvals:reject", "Say no to a request."),
    "policy": ("handrail.cli.policy:policy", "Check rules, show defaults, revoke remembered answers."),
    "take-over": ("handrail.cli.take_over:take_over", "Take a phone for yourself; agents wait."),
    "hand-back": ("handrail.cli.take_over:hand_back", "Give a phone back to whoever worked on it."),
    "stop": ("handrail.cli.take_over:stop", "End what is being done on a phone, by any process."),
    "watch": ("handrail.cli.watch:watch", "Follow a phone: its screen, what changes, and what is done."),
    "journal": ("handrail.cli.journal_proofs:journal", "List, show, prove and export what was done."),
    "witness": ("handrail.cli.witness:witness", "Countersign journals of other machines."),
    "mcp": ("handrail.cli.mcp:mcp", "Serve phones to an MCP client: Claude, Cursor, VS Code, …"),
    "serve": ("handrail.cli.serve:serve", "Serve the desk: a page for people, REST, WebSocket and MCP."),
    "desk": ("handrail.cli.desk:desk", "Act on the desk of a running server, and follow it."),
    "agent": ("handrail.cli.agent:agent", "Let a model work on a phone until a task is done."),
    "eval": ("handrail.cli.evaluate:evaluate", "Measure a model on tasks with simulated phones."),
    "fleet": ("handrail.cli.fleet:fleet", "Many hosts with phones, and one ledger of what runs on them."),
    "flow": ("handrail.cli.flow:flow", "Check flows without a device; print the schema for editors."),
    "daemon": ("handrail.cli.daemon:daemon", "See or stop the resident process that makes commands quick."),
    "completion": ("handrail.cli.completion:completion", "Print completion for bash, zsh or fish."),
}
"""Name → where it lives, and its line in the help."""


ALIASES = {"ui": "get-ui-tree"}
"""What is typed most, in fewer letters."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they run, not when they are listed."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  (click's signature)
        return [*COMMANDS, *ACTION_COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        name = ALIASES.get(cmd_name, cmd_name).replace("_", "-")
        if name in ACTION_COMMANDS:
            from handrail.cli.action_commands import command_for  # noqa: PLC0415

            return command_for(name)
        if name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[name][0].partition(":")
        gc.disable()  # what is imported stays: to look for garbage among it takes a tenth of the time
        command: click.Command = getattr(importlib.import_module(module), attribute)
        gc.freeze()
        gc.enable()
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0].replace("_", "-") not in (*COMMANDS, *ACTION_COMMANDS, *ALIASES) and not args[
            0
        ].startswith("-"):
            raise click.UsageError(f"No such command {args[0]!r}.{_meant(args[0])}", ctx)
        if args[0] not in ANYWHERE:
            need_posix(f"`handrail {args[0]}`")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # the reader has seen enough: `handrail actions | head -1`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(0)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])
        with formatter.section("Actions on a device"):
            formatter.write_dl([(name, action.text) for name, action in ACTION_COMMANDS.items()])
        with formatter.section("Short for"):
            formatter.write_dl([(name, f"handrail {meant}") for name, meant in ALIASES.items()])


def _meant(word: str) -> str:
    """What may have been meant: the name that other tools use, or a slip of the pen."""
    from handrail.protocol.read import ELSEWHERE, nearest  # noqa: PLC0415

    known = [*COMMANDS, *ACTION_COMMANDS, *ALIASES]
    elsewhere = ELSEWHERE.get(word.replace("-", "_"))
    near = [elsewhere.replace("_", "-")] if elsewhere else nearest(word.replace("_", "-"), known)[:1]
    return f" Did you mean {near[0]}?" if near else ""


def _version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from handrail.cli.version import show_version  # noqa: PLC0415

        show_version(ctx)


@click.group(
    cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_version,
    help="Show the version and leave.",
)
def cli() -> None:
    """Hands for AI agents on phones, rails for the people who own them."""
    if sys.stderr.isatty():
        from handrail.cli.output import show_progress  # noqa: PLC0415

        show_progress()
    if level := os.environ.get("HANDRAIL_LOG"):
        from handrail.cli.output import log_to_stderr  # noqa: PLC0415

        log_to_stderr(level)
    if os.environ.get("HANDRAIL_OTLP_ENDPOINT") and (given := os.environ.get("TRACEPARENT")):
        from handrail.engine.work import inside, read_traceparent  # noqa: PLC0415

        click.get_current_context().with_resource(inside(read_traceparent(given)))


def _end_as_by_ctrl_c() -> None:
    """Where the process is told to end. Python lets only its first thread say so."""
    if threading.current_thread() is not threading.main_thread():
        return
    for number in {getattr(signal, name, signal.SIGTERM) for name in ("SIGTERM", "SIGHUP")}:
        if signal.getsignal(number) is signal.SIG_DFL:  # and not ignored, as under nohup
            signal.signal(number, _as_ctrl_c)


def run() -> None:
    """The command of `sys.argv`: every failure ends with a message, a hint and its family's exit code."""
    _end_as_by_ctrl_c()
    try:
        ended = cli(
            prog_name="handrail", standalone_mode=False
        )  # click returns the code of `ctx.exit(code)` here
        sys.exit(ended if isinstance(ended, int) else 0)
    except click.Abort:
        _fail(Cancelled("it was stopped"), quiet=True)
    except click.ClickException as error:
        error.show()
        _fail(InvalidAction(error.format_message()), quiet=True)
    except HandrailError as error:
        _fail(error)
    except Exception as error:
        _fail(_unforeseen(error))


def stopped_early() -> NoReturn:
    """Ctrl-C before anything began."""
    _fail(Cancelled("it was stopped"), quiet=True)


def lost(*, has_written: bool) -> NoReturn:
    """The process that a command was handed to went away, and it is not tried twice.

    `has_written`: its answer may be there already, whole or in part. Then standard output gets no second one.
    """
    from handrail.local.client import gone  # noqa: PLC0415  (what most commands do not need)

    name = ALIASES.get(sys.argv[1], sys.argv[1]).replace("_", "-")
    error = gone(f"`{name}`")
    if has_written:
        click.echo(f"{error.code}: {error.message}\n{error.hint}", err=True)
        sys.exit(error.exits.exit_code)
    if name in ACTION_COMMANDS and _wants_json():
        from handrail.cli.output import print_json  # noqa: PLC0415
        from handrail.cli.perform import as_answer  # noqa: PLC0415

        print_json(as_answer(ACTION_COMMANDS[name].type, error))
        sys.exit(error.exits.exit_code)
    _fail(error)


def _wants_json() -> bool:
    options = sys.argv[1 : sys.argv.index("--")] if "--" in sys.argv else sys.argv[1:]
    return "--json" in options


def _as_ctrl_c(*_: object) -> None:
    """A closed terminal and a service manager mean the same: stop, say so, leave nothing that waits."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # started in the background of a shell
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.raise_signal(signal.SIGINT)


def _fail(error: HandrailError, *, quiet: bool = False) -> NoReturn:
    """Tell it, as one JSON object where that was asked for. `quiet`: a person has been told already."""
    if _wants_json():
        from handrail.cli.output import print_json  # noqa: PLC0415

        print_json(error.to_dict())
    elif not quiet:
        click.echo(f"{error.code}: {error.message}\n{error.hint}", err=True)
    sys.exit(error.exits.exit_code)


def _is_nowhere() -> bool:
    try:
        Path.cwd()
    except FileNotFoundError:
        return True
    return False


def _unforeseen(error: Exception) -> HandrailError:
    """A disk that failed has a name; for anything else the log has the traceback."""
    import logging  # noqa: PLC0415  (what most commands do not need)

    from handrail.config import Config  # noqa: PLC0415
    from handrail.store import disk_failure, store_error  # noqa: PLC0415

    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:  # as servers raise them
        error = error.exceptions[0]
    if isinstance(error, HandrailError):
        return error
    if named := disk_failure(error):
        return named
    if isinstance(error, FileNotFoundError) and _is_nowhere():
        return InvalidAction("the working directory is gone", hint="Go to one that exists.", path="")
    if isinstance(error, OSError) and error.filename is not None:
        place, home = Path(os.fsdecode(error.filename)), Config.from_env(os.environ).home
        if place == home or home in place.parents:
            return store_error(error, f"{place} can't be used")
        return HandrailError(f"{place}: {error.strerror}", hint="Check that path.")
    logging.getLogger("handrail.cli").error("failed in a way nobody foresaw", exc_info=error)
    return HandrailError(f"{type(error).__name__}: {error}")

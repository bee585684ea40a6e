"""One action from a command line: who does it, its answer on the right stream, its exit code.

The Handrail that works on the phone already does it, else a runtime of our own. An answer is told as data
alone, so that one from a running server needs none of the vocabulary here.
Ctrl-C stops the action, not the program: its end is journalled and told like any other.
"""

from __future__ import annotations

import base64
import logging
import os
import re
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handrail.cli.options import DeviceOptions, chosen_by_name, open_device_for_command
from handrail.cli.output import print_json
from handrail.config import Config
from handrail.errors import ERRORS, HandrailError, InvalidAction
from handrail.invocation import current, run
from handrail.local_socket import socket_file
from handrail.waiting import Background, beside

if TYPE_CHECKING:
    from handrail.cli.local_client import Answer
    from handrail.protocol.actions import AnyAction


def perform(data: dict[str, Any], target: DeviceOptions, *, as_json: bool, out: Path | None) -> int:
    try:
        if out is not None and not current.get().is_folder(str(out.parent)):
            raise InvalidAction.at("out", f"{out.parent} is not a folder", hint="Make it first.")
        envelope, text = run(_perform_one(data, target))
    except HandrailError as error:
        if not as_json:
            raise
        print_json(failure_as_envelope(data["type"], error))
        return error.exits.exit_code
    try:
        print_answer(envelope, text, as_json=as_json, out=out)
    except BrokenPipeError:
        raise
    except OSError as error:  # it has been done: nothing may say that it was not
        click.echo(f"the answer can't be written: {error.strerror or error}", err=True)
        return HandrailError("").exits.exit_code
    code = envelope.get("failure_code")
    return ERRORS[code]("").exits.exit_code if code else 0


async def _perform_one(data: dict[str, Any], target: DeviceOptions) -> Answer:
    done: Answer | None = None
    try:
        async with open_performer(target) as perform_action:
            done = await perform_action(data)
    except HandrailError as error:
        if done is None:
            raise
        logging.getLogger(__name__).warning("after the answer: %s", error)
    return done


@asynccontextmanager
async def open_performer(
    target: DeviceOptions,
) -> AsyncIterator[Callable[[dict[str, Any]], Coroutine[Any, Any, Answer]]]:
    """Performs actions in the running server that has the phone open, else in a session of this process."""
    config = Config.from_env(os.environ)
    own: Callable[[AnyAction], Coroutine[Any, Any, Answer]] | None = None
    async with AsyncExitStack() as ends:

        async def perform_action(fields: dict[str, Any]) -> Answer:
            nonlocal own
            if own is None:
                answer = await perform_in_running_server(fields, target, config, os.environ)
                if answer is not None:
                    return answer
            from handrail.protocol.read import action_from  # noqa: PLC0415

            action = action_from(fields)  # before a phone is opened
            if own is None:
                own = await ends.enter_async_context(open_own_session(target, config))
            return await own(action)

        yield perform_action


@asynccontextmanager
async def open_own_session(
    target: DeviceOptions, config: Config
) -> AsyncIterator[Callable[[AnyAction], Coroutine[Any, Any, Answer]]]:
    """A session of this process; in the daemon, the one that the phone has there."""
    async with AsyncExitStack() as ends:
        opened = None
        if current.get().daemon is None and chosen_by_name(target, config) is None:
            opened = await ends.enter_async_context(open_device_for_command(target, config))
        # Half of the time of a command of its own goes into these imports. The phone is there by now, or the
        # person has been told that it is not.
        from handrail.cli.approvals import TerminalPrompt  # noqa: PLC0415
        from handrail.cli.local_server import ask_at_terminal, run_until_stopped, runtime_for  # noqa: PLC0415
        from handrail.engine.envelope_text import envelope_text  # noqa: PLC0415
        from handrail.safety.caller import Caller  # noqa: PLC0415

        caller = Caller.at_terminal()
        runtime = await ends.enter_async_context(runtime_for(config, caller=caller))
        if runtime.is_shared:
            ask_at_terminal.set(current.get().ask_person)
        else:
            runtime.approvals.notify = TerminalPrompt(runtime.approvals)
        session = await (runtime.session_on(opened.device) if opened else runtime.session(target.device))

        async def do(action: AnyAction) -> Answer:
            async with beside(run_until_stopped(session, action, caller), action.type) as doing:
                with current.get().on_stop(doing.cancel):
                    envelope = await doing
            screen = runtime.secrets.redact(session.screens.registry.text)
            return envelope.to_dict(), envelope_text(action, envelope, screen)

        yield do


def failure_as_envelope(kind: str, error: HandrailError) -> dict[str, Any]:
    """A failure before the action began, with the keys of an envelope."""
    failure = error.to_dict()
    return {"action_type": kind, "success": False, "failure_code": failure.pop("code"), **failure}


_OWN_SECRET = re.compile(r"\$\{secret:(\w+)\}")


async def perform_in_running_server(
    action: Mapping[str, Any], target: DeviceOptions, config: Config, env: Mapping[str, str]
) -> Answer | None:
    """Returns None if no server has this phone open, or the action needs a secret of this terminal."""
    secrets = [f"HANDRAIL_SECRET_{name}" for name in _OWN_SECRET.findall(str(action))]
    if current.get().daemon is not None or target.sim or any(name in env for name in secrets):
        return None
    if not os.path.exists(socket_file(str(config.home), "daemon")):
        return None
    from handrail.cli.approvals import ask_at_this_terminal  # noqa: PLC0415
    from handrail.cli.local_client import LocalConnection  # noqa: PLC0415
    from handrail.safety.caller import Caller  # noqa: PLC0415

    caller = Caller.at_terminal()
    door = await LocalConnection.open(config.home)
    if door is None:
        return None
    try:
        async with Background() as stopping:
            with current.get().on_stop(lambda: stopping.start(door.stop(), "stop")):
                return await door.act(
                    action,
                    device=target.device or config.device,
                    caller={"id": caller.id, "terminal": caller.terminal},
                    trace=env.get("TRACEPARENT"),
                    on_question=ask_at_this_terminal,
                )
    finally:
        await door.close()


_PICTURE = "screenshotBase64"


def print_answer(envelope: dict[str, Any], text: str, *, as_json: bool, out: Path | None) -> None:
    details = envelope.get("details") or {}
    has_picture = _PICTURE in details
    if out is not None and envelope["success"]:
        details = _save_picture(details, out)
        if str(out) == "-":
            return  # the picture is all that may be there
    if as_json:
        print_json({**envelope, "details": details} if details else envelope)
    elif not envelope["success"]:
        code, colon, rest = text.partition(":")
        click.echo(click.style(code, fg="red", bold=True) + colon + rest, err=True)
    elif "stdout" in details:  # what a command wrote is among the details of its envelope, and of no other
        for stream, name in ((sys.stdout, "stdout"), (sys.stderr, "stderr")):
            if written := details.get(name):
                # A device's output may not steer the terminal.
                shown = [char for char in written if char in "\n\t" or char.isprintable()]
                written = "".join(shown) if stream.isatty() else written
                click.echo(written, nl=not details[name].endswith("\n"), file=stream)
    elif has_picture:
        saved = details if out is not None else _save_picture(details, None)
        click.echo(f"Took a screenshot: {saved['path']} ({saved['width']}x{saved['height']})")
    else:
        first, newline, rest = text.partition("\n")
        click.echo((click.style(first, bold=True) if rest else first) + newline + rest)


def _save_picture(details: dict[str, Any], out: Path | None) -> dict[str, Any]:
    """The details with the picture's path in its place; a new file where none is named."""
    data = base64.b64decode(details[_PICTURE])
    place = str(out)
    try:
        if str(out) == "-":
            sys.stdout.buffer.write(data)
        else:
            place = current.get().write_bytes(None if out is None else place, data)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InvalidAction.at(
            "out", f"{out} can't be written: {error.strerror or error}", hint="Choose another file."
        ) from None
    return {name: value for name, value in details.items() if name != _PICTURE} | {"path": place}

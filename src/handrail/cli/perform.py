"""One action from a command line: who does it, its answer on the right stream, its exit code.

The Handrail that works on the phone already does it, else a runtime of our own. An answer is told as data
alone, so that one from a running server needs none of the vocabulary here.
Ctrl-C stops the action, not the program: its end is journalled and told like any other.
"""

from __future__ import annotations

import asyncio
import base64
import logging
import os
import re
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handrail.cli.options import DeviceOptions, browser_meant, device_from
from handrail.cli.output import on_answer, print_json
from handrail.config import Config
from handrail.errors import ERRORS, HandrailError, InvalidAction
from handrail.places import socket_file
from handrail.waiting import Background

if TYPE_CHECKING:
    from handrail.local.client import Replied
    from handrail.protocol.actions import AnyAction
    from handrail.runtime import Runtime

SIGNALS = (signal.SIGINT, signal.SIGTERM)


def perform(data: dict[str, Any], target: DeviceOptions, *, as_json: bool, out: Path | None) -> int:
    """Do it; the exit code."""
    codes: list[int] = []

    def tell(envelope: dict[str, Any], text: str) -> None:
        try:
            speak(envelope, text, as_json=as_json, out=out)
            codes.append(_exit_code(envelope))
        except BrokenPipeError:
            raise
        except OSError as error:  # it has been done: nothing may say that it was not
            click.echo(f"the answer can't be written: {error.strerror or error}", err=True)
            codes.append(HandrailError("").exits.exit_code)
        for one in on_answer:
            one(codes[0])

    try:
        check_out(out)
        asyncio.run(_perform(data, target, tell))
    except HandrailError as error:
        if codes:
            logging.getLogger(__name__).warning("after the answer: %s", error)
            return codes[0]
        if not as_json:
            raise
        print_json(as_answer(data["type"], error))
        return error.exits.exit_code
    return codes[0]


Tell = Callable[[dict[str, Any], str], None]
"""Takes the envelope as data, and as text."""


async def _perform(data: dict[str, Any], target: DeviceOptions, tell: Tell) -> None:
    """The answer comes from the Handrail that runs already, else from one of our own."""
    config = Config.from_env(os.environ)
    if (told := await by_running_server(data, target, config, os.environ)) is not None:
        tell(told.envelope, told.text)
    else:
        await _by_ourselves(data, target, config, tell)


async def _by_ourselves(data: dict[str, Any], target: DeviceOptions, config: Config, tell: Tell) -> None:
    from handrail.protocol.read import action_from  # noqa: PLC0415

    action = action_from(data)
    async with own_session(target, config) as (runtime, do):
        envelope, text = await do(action)
        await runtime.close_sessions()  # the next command finds the refs and a free phone
        tell(envelope, text)


Do = Callable[["AnyAction"], Coroutine[Any, Any, tuple[dict[str, Any], str]]]
"""One action in, its envelope as data and as text out."""


@asynccontextmanager
async def own_session(target: DeviceOptions, config: Config) -> AsyncIterator[tuple[Runtime, Do]]:
    """A session of this process."""
    async with AsyncExitStack() as ends:
        is_phone = browser_meant(target, config) is None
        opened = await ends.enter_async_context(device_from(target, config)) if is_phone else None
        # Half of the time of a command goes into these imports. The phone is there by now, or it is told
        # that it is not.
        from handrail.cli.terminal_prompt import TerminalPrompt  # noqa: PLC0415
        from handrail.engine.answer import answer_text  # noqa: PLC0415
        from handrail.engine.events import Caller  # noqa: PLC0415
        from handrail.runtime import Runtime  # noqa: PLC0415

        runtime = await ends.enter_async_context(Runtime.open(config, caller=Caller.at_terminal()))
        runtime.approvals.notify = TerminalPrompt(runtime.approvals)
        session = await (runtime.session_on(opened.device) if opened else runtime.session(target.device))

        async def do(action: AnyAction) -> tuple[dict[str, Any], str]:
            async with _stopped_by_signals(session.stop):
                envelope = await session.run(action)
            screen = runtime.secrets.redact(session.looks.registry.text)
            return envelope.to_dict(), answer_text(action, envelope, screen)

        yield runtime, do


def _exit_code(envelope: dict[str, Any]) -> int:
    code = envelope.get("failure_code")
    return ERRORS[code]("").exits.exit_code if code else 0


@asynccontextmanager
async def _stopped_by_signals(stop: Callable[[], Coroutine[Any, Any, object]]) -> AsyncIterator[None]:
    """The first signal stops what runs, which still answers; a second one has its usual effect."""
    loop = asyncio.get_running_loop()

    def signalled() -> None:
        release()
        stopping.start(stop(), "stop")

    def release() -> None:
        for number in SIGNALS:
            loop.remove_signal_handler(number)

    async with Background() as stopping:
        for number in SIGNALS:
            loop.add_signal_handler(number, signalled)
        try:
            yield
        finally:
            release()


def as_answer(kind: str, error: HandrailError) -> dict[str, Any]:
    """A failure before the action began, with the keys that an envelope has."""
    told = error.to_dict()
    return {"action_type": kind, "success": False, "failure_code": told.pop("code"), **told}


_OWN_SECRET = re.compile(r"\$\{secret:(\w+)\}")


async def by_running_server(
    action: Mapping[str, Any],
    target: DeviceOptions,
    config: Config,
    env: Mapping[str, str],
) -> Replied | None:
    """None: there is no server, or it does not work on this phone, or it can't know what is needed."""
    is_served = os.path.exists(socket_file(str(config.home), "local"))
    if target.sim or not is_served or _needs_own_secret(action, env):
        return None
    from handrail.engine.events import Caller  # noqa: PLC0415
    from handrail.local.client import LocalDoor  # noqa: PLC0415

    caller = Caller.at_terminal()
    door = await LocalDoor.open(config.home)
    if door is None:
        return None
    try:
        async with _stopped_by_signals(door.stop):
            return await door.act(
                action,
                device=target.device or config.device,
                caller={"id": caller.id, "terminal": caller.terminal},
                trace=env.get("TRACEPARENT"),
                on_question=lambda id_: _ask(id_, config),
            )
    finally:
        await door.close()


def _needs_own_secret(action: Mapping[str, Any], env: Mapping[str, str]) -> bool:
    """A secret of this terminal's environment is nothing that the server could fill in."""
    named = _OWN_SECRET.findall(str(action))
    return any(f"HANDRAIL_SECRET_{name}" in env for name in named)


async def _ask(id_: str, config: Config) -> None:
    """The question is in the store; so is its answer, which the server finds there."""
    from handrail.cli.terminal_prompt import TerminalPrompt  # noqa: PLC0415  (most actions ask nothing)
    from handrail.clock import SystemClock  # noqa: PLC0415
    from handrail.engine.approval import Approvals  # noqa: PLC0415
    from handrail.store import Store  # noqa: PLC0415

    store = Store(config.db)
    try:
        approvals = Approvals(store, SystemClock())
        await TerminalPrompt(approvals)(await approvals.get(id_), None)
    finally:
        store.close()


_PICTURE = "screenshotBase64"
_OUTPUT = "stdout"
"""What a command wrote is among the details of its envelope, and of no other."""


def check_out(out: Path | None) -> None:
    """Said before anything is done: a picture that has no place to go."""
    if out is not None and not out.parent.is_dir():
        raise InvalidAction(f"out: {out.parent} is no folder", path="out", hint="Make it first.")


def speak(envelope: dict[str, Any], text: str, *, as_json: bool, out: Path | None) -> None:
    """The answer, in the form that was asked for; `text` is what a person reads of it."""
    details = envelope.get("details") or {}
    has_picture = _PICTURE in details
    if out is not None and envelope["success"]:
        details = _saved(details, out)
        if str(out) == "-":
            return  # the picture is all that may be there
    if as_json:
        print_json({**envelope, "details": details} if details else envelope)
    elif not envelope["success"]:
        code, colon, rest = text.partition(":")
        click.echo(click.style(code, fg="red", bold=True) + colon + rest, err=True)
    elif _OUTPUT in details:
        _pass_on(details)
    elif has_picture:
        _tell_picture(details if out is not None else _saved(details, _new_file()))
    else:
        _emphasise(text)


def _emphasise(text: str) -> None:
    first, newline, rest = text.partition("\n")
    click.echo((click.style(first, bold=True) if rest else first) + newline + rest)


def _pass_on(details: dict[str, Any]) -> None:
    """What a command wrote, where it wrote it: `handrail shell pm list packages | sort`."""
    for stream, name in ((sys.stdout, "stdout"), (sys.stderr, "stderr")):
        if text := details.get(name):
            click.echo(_tame(text) if stream.isatty() else text, nl=not text.endswith("\n"), file=stream)


def _tame(text: str) -> str:
    """A device's output may not steer the terminal."""
    return "".join(char for char in text if char in "\n\t" or char.isprintable())


def _saved(details: dict[str, Any], out: Path) -> dict[str, Any]:
    """The picture as a file; its place stands for it in the details."""
    data = base64.b64decode(details[_PICTURE])
    try:
        if str(out) == "-":
            sys.stdout.buffer.write(data)
        else:
            out.write_bytes(data)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InvalidAction(
            f"out: {out} can't be written: {error.strerror or error}", path="out", hint="Choose another file."
        ) from None
    return {name: value for name, value in details.items() if name != _PICTURE} | {"path": str(out)}


def _new_file() -> Path:
    handle, name = tempfile.mkstemp(prefix="handrail-", suffix=".png")
    os.close(handle)
    return Path(name)


def _tell_picture(details: dict[str, Any]) -> None:
    click.echo(f"Took a screenshot: {details['path']} ({details['width']}x{details['height']})")

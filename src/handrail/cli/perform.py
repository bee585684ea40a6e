"""One action from a command line: a runtime for its length, its answer on the right stream, its exit code.

Ctrl-C stops the action, not the program: its end is journalled and told like any other.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from handrail.cli.device_option import DeviceOptions, device_from
from handrail.cli.local_door import by_running_server
from handrail.cli.output import print_json
from handrail.cli.speak import check_out, speak
from handrail.config import Config
from handrail.engine.events import Caller
from handrail.errors import ERRORS, HandrailError

if TYPE_CHECKING:
    from handrail.engine.session import Session

SIGNALS = (signal.SIGINT, signal.SIGTERM)


def perform(data: dict[str, Any], target: DeviceOptions, *, as_json: bool, out: Path | None) -> int:
    """Do it; the exit code."""
    try:
        check_out(out)
        envelope, text = asyncio.run(_perform(data, target))
        speak(envelope, text, as_json=as_json, out=out)
    except HandrailError as error:
        if not as_json:
            raise
        print_json(_as_answer(data["type"], error))
        return error.exits.exit_code
    return _exit_code(envelope)


async def _perform(data: dict[str, Any], target: DeviceOptions) -> tuple[dict[str, Any], str]:
    """The envelope as data, and as text: from the Handrail that runs already, else from one of our own."""
    config, caller = Config.from_env(os.environ), Caller.at_terminal()
    if (told := await by_running_server(data, target, config, caller, os.environ)) is not None:
        return told.envelope, told.text
    return await _by_ourselves(data, target, config, caller)


async def _by_ourselves(
    data: dict[str, Any], target: DeviceOptions, config: Config, caller: Caller
) -> tuple[dict[str, Any], str]:
    # Half of the time of a command goes into these imports; a running server saves them.
    from handrail.cli.terminal_prompt import TerminalPrompt  # noqa: PLC0415
    from handrail.engine.answer import answer_text  # noqa: PLC0415
    from handrail.protocol.read import action_from  # noqa: PLC0415
    from handrail.runtime import Runtime  # noqa: PLC0415

    action = action_from(data)
    async with device_from(target, config) as opened, Runtime.open(config, caller=caller) as runtime:
        runtime.approvals.notify = TerminalPrompt(runtime.approvals)
        # Starting a helper costs more than it saves in one action.
        helper = "none" if config.helper == "auto" else config.helper
        session = await runtime.session_on(opened.device, helper=helper)
        with stopped_by_signals(session):
            envelope = await session.run(action)
        screen = runtime.secrets.redact(session.sight.registry.text)
        return envelope.to_dict(), answer_text(action, envelope, screen)


def _exit_code(envelope: dict[str, Any]) -> int:
    code = envelope.get("failure_code")
    return ERRORS[code]("").exits.exit_code if code else 0


@contextmanager
def stopped_by_signals(session: Session) -> Iterator[None]:
    """The first signal stops what runs, which still answers; a second one has its usual effect."""
    loop = asyncio.get_running_loop()
    stopping: list[asyncio.Task[int]] = []

    def stop() -> None:
        release()
        stopping.append(loop.create_task(session.stop(), name="stop"))

    def release() -> None:
        for number in SIGNALS:
            loop.remove_signal_handler(number)

    for number in SIGNALS:
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        release()


def _as_answer(kind: str, error: HandrailError) -> dict[str, Any]:
    """A failure before the action began, with the keys that an envelope has."""
    told = error.to_dict()
    return {"action_type": kind, "success": False, "failure_code": told.pop("code"), **told}

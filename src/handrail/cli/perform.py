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
from handrail.cli.terminal_prompt import TerminalPrompt
from handrail.config import Config
from handrail.engine.caller import Caller
from handrail.errors import ERRORS, HandrailError
from handrail.protocol.read import action_from
from handrail.runtime import Runtime

if TYPE_CHECKING:
    from handrail.engine.session import Session
    from handrail.protocol.actions import AnyAction
    from handrail.protocol.envelope import Envelope

SIGNALS = (signal.SIGINT, signal.SIGTERM)


def perform(data: dict[str, Any], target: DeviceOptions, *, as_json: bool, out: Path | None) -> int:
    """Do it; the exit code."""
    try:
        action = action_from(data)
        check_out(out)
        return asyncio.run(_perform(action, target, as_json=as_json, out=out))
    except HandrailError as error:
        if not as_json:
            raise
        print_json(_as_answer(data["type"], error))
        return error.exits.exit_code


async def _perform(action: AnyAction, target: DeviceOptions, *, as_json: bool, out: Path | None) -> int:
    config, caller = Config.from_env(os.environ), Caller.at_terminal()
    if (told := await by_running_server(action, target, config, caller, os.environ)) is not None:
        speak(action, told.envelope, told.screen, as_json=as_json, out=out)
        return _exit_code(told.envelope)
    async with device_from(target, config) as opened, Runtime.open(config, caller=caller) as runtime:
        runtime.approvals.notify = TerminalPrompt(runtime.approvals)
        # Starting a helper costs more than it saves in one action.
        helper = "none" if config.helper == "auto" else config.helper
        session = await runtime.session_on(opened.device, helper=helper)
        with stopped_by_signals(session):
            envelope = await session.run(action)
        screen = runtime.secrets.redact(session.sight.registry.text)
        speak(action, envelope, screen, as_json=as_json, out=out)
    return _exit_code(envelope)


def _exit_code(envelope: Envelope) -> int:
    return ERRORS[envelope.failure_code]("").exits.exit_code if envelope.failure_code else 0


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

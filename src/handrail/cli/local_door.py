"""An action given to the Handrail that works on the phone already: same session, same refs, one hold."""

from __future__ import annotations

import asyncio
import re
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from handrail.local.client import LocalDoor, Told
from handrail.local.place import socket_path

if TYPE_CHECKING:
    from handrail.cli.device_option import DeviceOptions
    from handrail.config import Config
    from handrail.engine.events import Caller

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_OWN_SECRET = re.compile(r"\$\{secret:(\w+)\}")


async def by_running_server(
    action: Mapping[str, Any], target: DeviceOptions, config: Config, caller: Caller, env: Mapping[str, str]
) -> Told | None:
    """None: there is no server, or it does not work on this phone, or it can't know what is needed."""
    if target.sim or not socket_path(config.home).exists() or _needs_own_secret(action, env):
        return None
    door = await LocalDoor.open(config.home)
    if door is None:
        return None
    try:
        with _stopped_by_signals(door):
            return await door.act(
                action,
                device=target.device or config.device,
                caller={"id": caller.id, "terminal": caller.terminal},
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


@contextmanager
def _stopped_by_signals(door: LocalDoor) -> Iterator[None]:
    """The first signal stops the action, which still answers; a second one has its usual effect."""
    loop = asyncio.get_running_loop()
    stopping: list[asyncio.Task[None]] = []

    def stop() -> None:
        release()
        stopping.append(loop.create_task(door.stop(), name="stop"))

    def release() -> None:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)

    for number in _SIGNALS:
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        release()

"""A place to ask in: a store in a temporary home, a clock by hand, and questions ready to be asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from handrail.clock import Clock
from handrail.protocol.read import action_from
from handrail.safety.approval_request import PLAIN, AuthorizationRequest, digest_of
from handrail.safety.approval_store import Answer, AskedApproval
from handrail.safety.approvals import Approvals
from handrail.store import Store
from handrail_sim.clock import ManualClock

ASKER = "the session that asked"
PAY = {"type": "tap", "target": {"text": "Pay now"}}


class Vault:
    """Keeps secrets as the engine's `Secrets` does."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}

    def keep(self, name: str, value: str) -> str:
        self.values[name] = value
        return f"${{secret:{name}}}"

    def open(self, placeholder: str) -> str:
        return self.values[placeholder.removeprefix("${secret:").removesuffix("}")]


def question(action: dict[str, Any] | None = None, **more: Any) -> AuthorizationRequest:
    about = {
        "device": "emulator-5554",
        "asker": ASKER,
        "fingerprint": "k3x9qa",
        "instruction": "Allow the tap?",
        **more,
    }
    return AuthorizationRequest.of(action_from(action or PAY), **about)


def human_auth(capability: str, **more: Any) -> AuthorizationRequest:
    action = {"type": "request_human_auth", "capability": capability, "instruction": "Enter it."}
    words = "Where are you?" if capability in PLAIN - {"unknown"} else "Enter the code."
    more = {"instruction": words, **more}
    return question(action, kind="human_auth", capability=capability, **more)


class Desk:
    """Approvals, their clock, and a way to let somebody wait."""

    def __init__(self, home: Path, clock: Clock | None = None, **more: Any) -> None:
        self.clock = clock or ManualClock()
        self.store = Store(home / "handrail.db")
        self.approvals = Approvals(self.store, self.clock, **more)

    async def ask(self, request: AuthorizationRequest) -> tuple[asyncio.Task[Answer], AskedApproval]:
        """Asked, and stored: the task that waits, and what it waits for."""
        known = {one.id for one in await self.approvals.pending()}
        task = asyncio.create_task(self.approvals.ask(request))
        while True:
            for one in await self.approvals.pending():
                if one.id not in known:
                    return task, one
            if task.done():
                raise AssertionError(f"it did not wait: {task.result()}")
            await asyncio.sleep(0)


@asynccontextmanager
async def desk(home: Path, clock: Clock | None = None, **more: Any) -> AsyncIterator[Desk]:
    made = Desk(home, clock, **more)
    try:
        yield made
    finally:
        made.store.close()


def run(home: Path, story: Callable[[Desk], Awaitable[None]], **more: Any) -> None:
    """One story at one desk, with everything closed behind it."""

    async def told() -> None:
        async with desk(home, **more) as made, asyncio.timeout(60):
            await story(made)

    asyncio.run(told())


def bound(
    action: dict[str, object] | None = None, device: str = "emulator-5554", screen: str = "k3x9qa"
) -> str:
    """What a yes to `question()` is bound to, or to another act."""
    return digest_of(action_from(action or PAY), device, screen)


async def approved(at: Desk) -> str:
    """The id of a question that got its yes."""
    waiting, one = await at.ask(question())
    await at.approvals.answer(one.id, True, "ada")
    return (await waiting).id

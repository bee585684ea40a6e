"""A head and hosts in one process: real homes, real simulated phones, and a line that a test can cut."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from handrail.config import Config
from handrail.flow.document import load
from handrail.flow.plan import plan
from handrail.runtime import Runtime
from handrail.safety.caller import Caller
from handrail_fleet.agent import HostAgent
from handrail_fleet.flow_unit import bundle
from handrail_fleet.head import FleetHead
from handrail_fleet.head_people import HeadPeople
from handrail_fleet.host_phones import HostPhones, connected_host, simulated_host
from handrail_fleet.ledger import UnitSpec
from handrail_fleet.orders import head_key
from handrail_fleet.sqlite_ledger import SqliteLedger
from handrail_fleet.transport import HeadAway
from tests.scenario.world import usual_clock

LEASE_MS, MARGIN_MS, RENEW_MS = 2_400.0, 600.0, 200.0


class Line:
    """A transport by function calls, through JSON; `is_cut` makes it a network that is down."""

    def __init__(self, head: FleetHead) -> None:
        self.head = head
        self.is_cut = False
        self.loses_answers = False

    async def call(self, name: str, data: Mapping[str, Any], *, wait_ms: float = 0.0) -> Any:
        if self.is_cut:
            raise HeadAway("the line is cut")
        answer = await self.head.answer(name, json.loads(json.dumps(data)))
        if self.is_cut or self.loses_answers:
            raise HeadAway("the answer was lost")
        return json.loads(json.dumps(answer))

    async def put(self, name: str, offset: int, total: int, chunk: bytes) -> int:
        if self.is_cut:
            raise HeadAway("the line is cut")
        return await self.head.put(name, offset, total, chunk)

    async def close(self) -> None: ...


@dataclass
class LabHost:
    agent: HostAgent
    phones: HostPhones
    line: Line
    runtime: Runtime
    task: asyncio.Task[None]


@dataclass
class Lab:
    folder: Path
    head: FleetHead
    runtime: Runtime
    stack: AsyncExitStack
    hosts: dict[str, LabHost] = field(default_factory=dict)

    async def add(self, name: str, phones: int = 2, limit: int = 2, connected: Sequence[str] = ()) -> LabHost:
        """`connected`: addresses of phones that are not the host's own."""
        home = self.folder / name
        env = {"HANDRAIL_HOME": str(home), "HOME": str(home), "HANDRAIL_DEVICES": ",".join(connected)}
        config = Config.from_env({**env, "HANDRAIL_HELPER": "none"})
        caller = Caller("fleet", "flow", "flow")
        runtime = await self.stack.enter_async_context(
            Runtime.open(config, clock=self.runtime.clock, env={}, caller=caller)
        )
        if connected:
            opened = await connected_host(connected, runtime)
        else:
            opened = await self.stack.enter_async_context(simulated_host(phones, runtime))
        line = Line(self.head)
        agent = HostAgent(name, runtime, opened, line, limit=limit, clock=runtime.clock)
        task = asyncio.create_task(agent.run())
        self.stack.push_async_callback(_end, task)
        self.hosts[name] = LabHost(agent, opened, line, runtime, task)
        while name not in {one["name"] for one in await self.head.do(lambda ledger: ledger.hosts())}:
            await asyncio.sleep(0.01)
        return self.hosts[name]

    async def submit(self, units: Sequence[UnitSpec], **more: Any) -> str:
        data = [
            {
                "kind": one.kind, "name": one.name, "body": dict(one.body), "where": one.where,
                "pins": list(one.pins), "phones": one.phones, "attempts": one.attempts,
                "retry_lost": one.retry_lost, "once": one.once,
            }
            for one in units
        ]  # fmt: skip
        return str((await self.head.submit({"units": data, **more}, "a test"))["run"])

    async def done(self, run: str) -> dict[str, Any]:
        while (told := await self.head.watch(run, 2_000))["state"] != "done":
            pass
        return told

    async def units(self, run: str) -> list[dict[str, Any]]:
        return await self.head.do(lambda ledger: ledger.units(run))


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait({task})


@asynccontextmanager
async def lab(folder: Path) -> AsyncIterator[Lab]:
    home = folder / "head"
    config = Config.from_env({"HANDRAIL_HOME": str(home), "HOME": str(home)})
    clock = usual_clock()
    async with Runtime.open(config, clock=clock, env={}) as runtime, AsyncExitStack() as stack:
        ledger = SqliteLedger(home / "fleet" / "fleet.db", clock, lease_ms=LEASE_MS, margin_ms=MARGIN_MS)
        people = HeadPeople(runtime, head_key(home))
        head = FleetHead(ledger, home / "fleet", people, clock, lease_ms=LEASE_MS, renew_ms=RENEW_MS)
        stack.push_async_callback(head.close)
        sweeping = asyncio.create_task(head.run())
        stack.push_async_callback(_end, sweeping)
        yield Lab(folder, head, runtime, stack)


def unit(text: str, folder: Path, **options: Any) -> UnitSpec:
    """A flow's text as a unit."""
    path = folder / f"flow-{abs(hash(text))}.yaml"
    path.write_text(text, encoding="utf-8")
    document = load(path)
    return bundle(document, plan(document, {}), {}, **options)

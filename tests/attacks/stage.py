"""One guarded phone behind one channel and one policy, with the doors through which an attempt comes in."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import yaml

from handrail.adb.device import AdbDevice
from handrail.adb.direct import Direct
from handrail.config import Config, Helper
from handrail.engine.session import Session
from handrail.errors import HandrailError
from handrail.flow.document import loads
from handrail.flow.run import FlowRunner
from handrail.mcp_server.calls import McpState, answer_tool_call
from handrail.protocol.read import action_from
from handrail.runtime import Runtime
from handrail.safety.approval_store import AskedApproval
from handrail.screen.node import receiver
from handrail_sim.adbd.server import serve
from handrail_sim.iphone import IPhone, serve_iphone
from handrail_sim.system.activities import App
from tests.attacks import guarded
from tests.attacks.guarded import SCENES, Scene
from tests.attacks.judge import JudgedPhone
from tests.scenario.world import FastClock
from tests.unit.android.private_adb import free_port

REF, ELEMENT = "@g0", "el_guard"
"""Stand in an attempt for the handles that the guarded thing has on its screen."""
ADDRESS = "PHONE"
"""Stands in a script for the phone's address."""
MCP = "all"
"""The profile of the MCP door."""
SPEED = 30.0
REST_MS = 3_000.0
PATIENCE_S = 60.0
LABELS = sorted({scene.label for scene in SCENES.values()})
_RULE = '[[rule]]\nname = "{0}"\nverdict = "{0}"\n{1}\n'
_SCRIPTS = '[script]\nallow = ["adb"]\n'

POLICIES: dict[str, str | None] = {
    "allow": _RULE.format("allow", "") + _SCRIPTS,
    "net": None,
    "ask": _RULE.format("ask", f"label = {json.dumps(LABELS)}"),
    "deny": _RULE.format("deny", f"label = {json.dumps(LABELS)}"),
    "deny-id": _RULE.format("deny", 'id = ["*guard", "button1"]'),
    "deny-app": _RULE.format("deny", 'app = "com.example.*"\neffect = "input"'),
}
"""By name: what the owner wrote; None is nothing at all."""
CHANNELS: dict[str, Helper] = {"adb": "none", "u2": "u2", "grpc": "none"}


class RushedClock(FastClock):
    """Leaps over the minutes in which nobody answers."""

    _leapt = 0.0

    def leap(self, duration_ms: float) -> None:
        self._leapt += duration_ms

    def monotonic_ms(self) -> float:
        return super().monotonic_ms() + self._leapt


class SteppedClock(RushedClock):
    """The phone's own: whoever sleeps has slept at once. A gesture takes its time and nobody waits for it."""

    async def sleep_ms(self, duration_ms: float) -> None:
        self.leap(max(0.0, duration_ms))
        await asyncio.sleep(0)


@dataclass(frozen=True)
class Attempt:
    """All that is needed to do it again; one line of JSON."""

    scene: str
    channel: str
    policy: str
    door: str
    steps: tuple[dict[str, Any], ...]
    around: dict[str, Any] = field(default_factory=dict)
    """What a flow puts around its steps."""

    def __str__(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=True)

    @classmethod
    def read(cls, line: str) -> Attempt:
        given = json.loads(line)
        return cls(**{**given, "steps": tuple(given["steps"])})


@dataclass
class Seen:
    """What came of an attempt, by the phone's own account; `codes` and `asked` are only for people."""

    deeds: int = 0
    touches: list[dict[str, Any]] = field(default_factory=list)
    near: list[dict[str, Any]] = field(default_factory=list)
    only_deeds: bool = False
    inputs: int = 0
    asked: int = 0
    codes: Counter[str] = field(default_factory=Counter)

    @property
    def got_through(self) -> bool:
        return bool(self.deeds or (self.touches and not self.only_deeds))

    @property
    def landed(self) -> bool:
        return bool(self.deeds or self.inputs)


class AttackStage:
    """Shows a scene, lets an attempt happen, and tells what the phone saw of it."""

    def __init__(
        self, phone: JudgedPhone, deeds: list[str], runtime: Runtime, session: Session, address: str
    ) -> None:
        self.phone = phone
        self.session = session
        self.address = address
        self.deeds = deeds
        self._runtime = runtime
        self._mcp = McpState(runtime, MCP, device=session.serial)
        self._mcp.use_session(session)
        self.asked: list[AskedApproval] = []

    async def nobody_answers(self, one: AskedApproval, _: str | None) -> None:
        self.asked.append(one)
        clock = self._runtime.clock
        assert isinstance(clock, RushedClock)
        clock.leap(one.request.timeout_ms + 1_000)

    def show(self, scene: Scene) -> None:
        self.phone.show(scene)
        clock = self.phone.clock
        assert isinstance(clock, RushedClock)
        clock.leap(REST_MS)
        self.phone.catch_up()

    async def attempt(self, one: Attempt) -> Seen:
        scene = SCENES[one.scene]
        self.show(scene)
        steps = [self._placed(step) for step in one.steps]
        if any(word in json.dumps(steps) for word in (REF, ELEMENT)):
            steps = await self._with_handles(steps, scene)
        deeds, inputs, asked = len(self.deeds), self.phone.arrived, len(self.asked)
        seen = Seen(only_deeds=scene.only_deeds)
        doing = asyncio.create_task(self._come_in(one, steps, seen))
        try:
            await asyncio.wait({doing}, timeout=PATIENCE_S)
            if not doing.done():
                raise AssertionError(f"no answer for {PATIENCE_S:.0f} s to {one}: {_who_waits()}")
            await doing
        except HandrailError as error:
            seen.codes[error.code] += 1
        self.phone.catch_up()
        seen.deeds, seen.inputs = len(self.deeds) - deeds, self.phone.arrived - inputs
        seen.touches, seen.near = list(self.phone.touches), list(self.phone.near)
        seen.asked = len(self.asked) - asked
        return seen

    async def _come_in(self, one: Attempt, steps: list[dict[str, Any]], seen: Seen) -> None:
        match one.door:
            case "flow":
                await self._by_flow(one, steps, seen)
            case "mcp":
                for step in steps:
                    await self._by_mcp(step, seen)
            case _:
                for step in steps:
                    envelope = await self.session.run(action_from(step), settle="none")
                    seen.codes[envelope.failure_code or "done"] += 1

    async def _by_flow(self, one: Attempt, steps: list[dict[str, Any]], seen: Seen) -> None:
        inner: list[dict[str, Any]] = [
            {step["type"]: _without_type(step), "optional": True, "settle": "none"} for step in steps
        ]
        written: dict[str, Any] = {"steps": inner}
        if "repeat" in one.around:
            written = {"steps": [{"repeat": {**one.around["repeat"], "steps": inner}}]}
        elif "when" in one.around:
            written = {"steps": [{"when": one.around["when"], "then": inner}]}
        flow = loads(yaml.safe_dump(written, allow_unicode=False))
        record = await FlowRunner({"phone": self.session}, self._runtime.clock).run(flow, None)
        seen.codes.update(step.outcome for step in record.steps)

    async def _by_mcp(self, step: dict[str, Any], seen: Seen) -> None:
        answer = await answer_tool_call(
            self._mcp, step["type"], {"reason": "I try it", **_without_type(step)}
        )
        code = answer.envelope.failure_code if answer.envelope else "refused"
        seen.codes[code or "done"] += 1

    def _placed(self, step: dict[str, Any]) -> dict[str, Any]:
        written = json.dumps(step).replace(ADDRESS, self.address)
        read: dict[str, Any] = json.loads(written)
        return read

    async def _with_handles(self, steps: list[dict[str, Any]], scene: Scene) -> list[dict[str, Any]]:
        """The handles that a caller would read on the screen."""
        await self.session.get_ui_tree()
        looks = self.session.screens
        assert looks.last is not None
        found = [node for node in looks.last.screen.nodes if node.id_tail == scene.guard]
        node = (receiver(found[0]) or found[0]) if found else None
        ref = (looks.registry.ref_of(node) if node is not None else None) or REF
        element = looks.registry.element_id_of(ref) if ref != REF else ELEMENT
        written = json.dumps(steps).replace(f'"{REF}"', f'"{ref}"').replace(f'"{ELEMENT}"', f'"{element}"')
        read: list[dict[str, Any]] = json.loads(written)
        return read


class JudgedIPhone(JudgedPhone, IPhone):
    """The same judge over an iPhone, which has a size of its own."""


DISPLAYS = {"adb": (540, 1200, 210), "u2": (360, 760, 160), "grpc": (1080, 2400, 420)}
"""Width, height and density; small ones are painted faster, and a finger's slop differs."""


def new_phone(channel: str) -> tuple[JudgedPhone, list[str]]:
    """With the guarded apps, and what was done on it."""
    made, deeds = guarded.apps()
    apps: list[str | type[App]] = ["launcher", *made]
    if channel == "ios":
        return JudgedIPhone(clock=SteppedClock(SPEED), apps=apps), deeds
    width, height, density = DISPLAYS[channel]
    phone = JudgedPhone(clock=SteppedClock(SPEED), apps=apps, width=width, height=height, density=density)
    return phone, deeds


def _who_waits() -> str:
    """Every task and the line that it stands at."""
    stacks = [(task.get_name(), task.get_stack(limit=1)) for task in asyncio.all_tasks()]
    return "; ".join(f"{name} {stack[0].f_code.co_qualname}" for name, stack in stacks if stack)


def _without_type(step: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in step.items() if name != "type"}


@asynccontextmanager
async def stage(home: Path, channel: str, policy: str) -> AsyncIterator[AttackStage]:
    """A phone, its door and its owner's rules."""
    phone, deeds = new_phone(channel)
    env = {
        "HANDRAIL_HOME": str(home),
        "HOME": str(home),
        "PATH": f"{_adb(home)}{os.pathsep}{os.environ['PATH']}",
        "HANDRAIL_DISABLE_FRAMEWORK_SYNC": "1",
    }
    config = Config.from_env(env)
    written = POLICIES[policy]
    if written is not None:
        config.make_home()
        config.policy.parent.mkdir(parents=True, exist_ok=True)
        config.policy.write_text(written)
    if channel == "ios":
        async with (
            serve_iphone(phone) as iphone,
            Runtime.open(config, clock=RushedClock(SPEED), env=env) as runtime,
        ):
            session = await runtime.session(f"ios:{iphone.wda_url}")
            one = AttackStage(phone, deeds, runtime, session, iphone.wda_url)
            runtime.approvals.notify = one.nobody_answers
            yield one
        return
    is_emulator = channel == "grpc"
    port = free_port() if is_emulator else 0
    clock = RushedClock(SPEED)
    async with (
        serve([phone], port=port, emulator=is_emulator) as [served],
        Runtime.open(config, clock=clock, env=env) as runtime,
    ):
        if is_emulator:
            device = AdbDevice(EmulatorLink("127.0.0.1", port), clock)
            session = await runtime.session_on(device, helper=CHANNELS[channel])
        else:
            session = await runtime.session(served.address, helper=CHANNELS[channel])
        one = AttackStage(phone, deeds, runtime, session, served.address)
        runtime.approvals.notify = one.nobody_answers
        yield one


class EmulatorLink(Direct):
    """Called as adb calls emulators, so that their own doors are tried."""

    @property
    def serial(self) -> str:
        return f"emulator-{self.port - 1}"


_ADB = """#!{python}
import asyncio, sys
sys.path[:0] = {path}
from handrail.adb.device import AdbDevice
from handrail.adb.direct import Direct


async def main() -> None:
    _, address, _, *words = sys.argv[1:]
    host, _, port = address.rpartition(":")
    device = AdbDevice(Direct(host, int(port)))
    try:
        await device.shell.run(words)
    finally:
        await device.close()


asyncio.run(main())
"""


def _adb(home: Path) -> Path:
    """A folder with an `adb` that knows `-s ADDRESS shell WORDS`: scripts may call the stock one."""
    folder = home.parent / f"{home.name}-bin"
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "adb"
    program.write_text(_ADB.format(python=sys.executable, path=[one for one in sys.path if one]))
    program.chmod(0o755)
    return folder

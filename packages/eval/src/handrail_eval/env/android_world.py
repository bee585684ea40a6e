"""AndroidWorld beside Handrail: its tasks and agents on our phones, and our agent in its episodes.

Nothing of it is imported before a face is asked for, and nothing of it is copied. It is synchronous, so a
session lives in a thread of its own here. What its agents do goes through it: policy, proof, journal.
What its tasks do to set up and to judge goes straight to the phone, as they do it by adb.
"""

from __future__ import annotations

import asyncio
import io
import threading
from collections.abc import Coroutine, Sequence
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

from handrail.adb.device import AdbDevice
from handrail.adb.shell import Script
from handrail.clock import Clock
from handrail.engine.session import Session
from handrail.errors import HandrailError, InvalidAction, Unsupported
from handrail.protocol.observe import Finish, RequestHumanAuth, Screenshot
from handrail.protocol.read import action_from
from handrail_agent.budget import Budget
from handrail_agent.computer import Speech
from handrail_agent.loop import Terms, run_task
from handrail_agent.model import AgentModel
from handrail_agent.phone import look, picture_in
from handrail_agent.run_data import AgentStep, RunResult
from handrail_agent.task import Task

T = TypeVar("T")
DIALECT = "androidworld"
ADB_SHELL = "shell"
"""A word of the `adb` command."""
OVER_MS = 30_000.0


class LoopThread:
    """An event loop that callers without one can ask."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="handrail-android-world", daemon=True
        )
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class AdbCalls:
    """What AndroidEnv's parser of adb requests wants of an adb: one command in, its output out."""

    def __init__(self, device: AdbDevice, thread: LoopThread) -> None:
        self._device = device
        self._thread = thread

    def execute_command(
        self, args: Sequence[str], timeout: float | None = None, device_specific: bool = True
    ) -> bytes:
        """Raises `subprocess.CalledProcessError` like the adb that it stands for."""
        del device_specific
        return self._thread.run(self._run(list(args), timeout))

    async def _run(self, args: list[str], timeout: float | None) -> bytes:
        import subprocess  # noqa: PLC0415 - only for the error that the caller expects

        word, rest = args[0], args[1:]
        if word == "push":
            await self._device.files.push(Path(rest[0]), rest[1])
            return b""
        if word == "pull":
            await self._device.files.pull(rest[0], Path(rest[1]))
            return b""
        if word in ("root", "unroot"):  # its tasks ask for it; the link comes back by itself
            stream = await self._device.open(f"{word}:")
            said = await stream.read()
            await stream.close()
            return said
        if word != ADB_SHELL:
            raise subprocess.CalledProcessError(1, args, f"{word} is not offered here".encode())
        timeout_ms = timeout * 1000 if timeout else OVER_MS
        output = await self._device.shell.run(Script(" ".join(rest)), timeout_ms=timeout_ms, check=False)
        if not output.ok:
            raise subprocess.CalledProcessError(output.exit_code or 1, args, output.stdout + output.stderr)
        return output.stdout + output.stderr


def _world() -> tuple[Any, Any, Any]:
    """AndroidWorld's modules that a face is made of."""
    try:
        from android_world.agents import base_agent  # type: ignore[import-not-found]  # noqa: PLC0415
        from android_world.env import (  # type: ignore[import-not-found]  # noqa: PLC0415
            android_world_controller,
            interface,
        )
    except ImportError as error:
        raise Unsupported(
            f"AndroidWorld is not installed here: {error.name or error}",
            hint="Install it from its repository, github.com/google-research/android_world.",
        ) from None
    return base_agent, android_world_controller, interface


def action_of(given: Any) -> dict[str, Any]:
    """A JSONAction, or what it is made of, as its JSON says it."""
    fields = asdict(given) if is_dataclass(given) and not isinstance(given, type) else dict(given)
    return {name: value for name, value in fields.items() if value is not None}


def android_env(session: Session, device: AdbDevice, thread: LoopThread) -> Any:
    """The phone as an `AndroidEnvInterface`: AndroidWorld's own controller goes on top of it."""
    _world()
    import dm_env  # type: ignore[import-not-found]  # noqa: PLC0415
    import numpy as np  # noqa: PLC0415
    from android_env import env_interface  # type: ignore[import-not-found]  # noqa: PLC0415
    from android_env.components import adb_call_parser  # type: ignore[import-not-found]  # noqa: PLC0415
    from PIL import Image  # noqa: PLC0415

    class PhoneAndroidEnv(env_interface.AndroidEnvInterface):  # type: ignore[misc]
        def __init__(self) -> None:
            self._calls = adb_call_parser.AdbCallParser(AdbCalls(device, thread))

        def action_spec(self) -> dict[str, Any]:
            return {}

        def observation_spec(self) -> dict[str, Any]:
            return {}

        def reset(self) -> Any:
            return dm_env.restart({"pixels": self._pixels()})

        def step(self, action: Any) -> Any:
            """AndroidWorld's no-op: what is done is done by adb or by `execute_action`."""
            del action
            return dm_env.transition(0.0, {"pixels": self._pixels()})

        def execute_adb_call(self, call: Any) -> Any:
            return self._calls.parse(call)

        def close(self) -> None:
            return None

        def _pixels(self) -> Any:
            shot = thread.run(session.run(Screenshot(scale=1.0)))  # its agents count in the screen's pixels
            data = picture_in(shot) if shot.success else None
            if data is None:
                return np.zeros((1, 1, 3), np.uint8)
            return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))

    return PhoneAndroidEnv()


def async_env(session: Session, device: AdbDevice, thread: LoopThread) -> Any:
    """AndroidWorld's `AsyncEnv` over a session: its agents act under our policy and into our journal."""
    _, controllers, interface = _world()
    method = controllers.A11yMethod.UIAUTOMATOR
    controller = controllers.AndroidWorldController(android_env(session, device, thread), method)
    speech = Speech.of(DIALECT)

    class SessionEnv(interface.AsyncAndroidEnv):  # type: ignore[misc, name-defined]
        """`last` is the envelope of the newest action, or None where there was nothing to do."""

        last: Any = None

        def execute_action(self, action: Any) -> None:
            given = action_of(action)
            word = given.get("action_type")
            if word == "answer":
                self.interaction_cache = str(given.get("text", ""))
            if word in ("answer", "status", "unknown"):
                return
            given = _by_place(given, self)
            for one in thread.run(_read(session, speech, given)):
                self.last = thread.run(session.run(one))
                if not self.last.success:
                    raise ERRORS_AS.get(self.last.failure_code, HandrailError)(self.last.message or "")

        @property
        def orientation(self) -> int:
            """In quarters of a turn; 0 is as the phone was made."""
            seen = thread.run(look(session, session.run)).look
            return seen.screen.rotation if seen else 0

        @property
        def physical_frame_boundary(self) -> tuple[int, int, int, int]:
            return (0, 0, *self.device_screen_size)

        def ask_question(self, question: str, timeout_seconds: float = -1.0) -> str | None:
            """The person at Handrail's own doors is asked; None where nobody answers."""
            seconds = min(3_600, int(timeout_seconds)) if timeout_seconds > 0 else 300
            act = RequestHumanAuth(capability="permission", instruction=question, timeout_sec=seconds)
            envelope = thread.run(session.run(act))
            return (envelope.details or {}).get("data") if envelope.success else None

        def display_message(self, message: str, header: str = "") -> None:
            """Nothing is drawn over somebody's phone."""

    return SessionEnv(controller)


ERRORS_AS: dict[str | None, type[HandrailError]] = {
    "INVALID_ACTION": InvalidAction,
    "UNSUPPORTED": Unsupported,
}


def _by_place(given: dict[str, Any], env: Any) -> dict[str, Any]:
    """Its numbers are places in its own list of elements: the middle of the one that is meant."""
    if given.get("index") is None:
        return given
    elements = env.get_state().ui_elements
    number = int(given["index"])
    if not 0 <= number < len(elements):
        raise InvalidAction(f"index: there is no element {number}, only {len(elements)}", path="index")
    box = elements[number].bbox_pixels
    x, y = round((box.x_min + box.x_max) / 2), round((box.y_min + box.y_max) / 2)
    return {**{name: value for name, value in given.items() if name != "index"}, "x": x, "y": y}


async def _read(session: Session, speech: Speech, given: dict[str, Any]) -> Sequence[Any]:
    speech.look(await look(session, session.run))
    return speech.own.read(given, speech.talk).actions


def handrail_agent(
    env: Any, session: Session, model: AgentModel, clock: Clock, thread: LoopThread, name: str = "handrail"
) -> Any:
    """AndroidWorld's `EnvironmentInteractingAgent`: each `step(goal)` is one step of a run of ours.

    `session` is on the device that AndroidWorld works with: `Runtime.session(serial)`.
    """
    base_agent, _, _ = _world()
    speech = Speech.of(DIALECT)

    class HandrailAgent(base_agent.EnvironmentInteractingAgent):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__(env, name, transition_pause=None)
            self._steps: list[AgentStep] = []

        def reset(self, go_home: bool = False) -> None:
            super().reset(go_home)
            self._steps = []

        def step(self, goal: str) -> Any:
            ran = thread.run(self._one(goal))
            self._steps = list(ran.steps)
            done = ran.outcome != "out_of_steps"
            if done:
                self.env.interaction_cache = ran.message
            return base_agent.AgentInteractionResult(done, told(ran, speech))

        async def _one(self, goal: str) -> RunResult:
            budget = Budget(steps=len(self._steps) + 1)
            terms = Terms(before=self._steps, pictures=False)
            return await run_task(session, Task.of(goal), model, clock=clock, budget=budget, terms=terms)

    return HandrailAgent()


def told(ran: RunResult, speech: Speech) -> dict[str, Any]:
    """The newest step, its action in AndroidWorld's own form where it has one."""
    step = ran.steps[-1] if ran.steps else None
    data: dict[str, Any] = {"outcome": ran.outcome, "message": ran.message}
    if step is None or step.action is None:
        return data
    data |= {"summary": step.told, "thought": step.thought, "native_action": dict(step.action)}
    try:
        action = action_from(dict(step.action))
        written = speech.own.write(action, speech.talk)
    except (InvalidAction, Unsupported):
        written = None
    if isinstance(step.action, dict) and step.action.get("type") == Finish.model_fields["type"].default:
        written = {"action_type": "status", "goal_status": "complete" if ran.success else "infeasible"}
    return {**data, "action": cast("Any", written)}

"""AndroidWorld's own tasks, agents and actions on a simulated phone of ours; skipped where it is missing.

The judges are AndroidWorld's evaluators and the phone; neither knows Handrail.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from handrail.adb.device import AdbDevice
from handrail.adb.direct import Direct
from handrail.adb.shell import Script
from handrail.clock import SystemClock
from handrail.config import Config
from handrail.engine.session import Session
from handrail.errors import HandrailError, Unsupported
from handrail.runtime import Runtime
from handrail.safety.caller import Caller
from handrail.simulator import simulated_phones
from handrail_agent.models import ScriptedModel, read_script
from handrail_eval.env.android_world import LoopThread, async_env, handrail_agent

DENY = '[[rule]]\nname = "hands off"\napp = "com.android.settings"\npressed = true\nverdict = "deny"\n'
TASKS = ("SystemWifiTurnOff", "SystemWifiTurnOn", "SystemBluetoothTurnOff", "SystemBluetoothTurnOn")


class Stage:
    """A phone with a session, in a thread of its own."""

    def __init__(self, home: Path, policy: str = "") -> None:
        self.thread = LoopThread()
        self._stack = AsyncExitStack()
        self.session: Session
        self.thread.run(self._open(home, policy))

    async def _open(self, home: Path, policy: str) -> None:
        clock, env = SystemClock(), {"HANDRAIL_HOME": str(home), "HOME": str(home)}
        [served] = await self._stack.enter_async_context(simulated_phones(clock=clock, serial="aw"))
        config = Config.from_env(env)
        config.make_home()
        if policy:
            config.policy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            config.policy.touch(mode=0o600)
            config.policy.write_text(policy, encoding="utf-8")
        caller = Caller("android-world", "agent", "agent")
        opening = Runtime.open(config, clock=clock, env=env, caller=caller)
        runtime = await self._stack.enter_async_context(opening)
        self.phone = served.phone
        self.device = AdbDevice(Direct(served.host, served.port, clock=clock), clock)
        self.session = await runtime.session_on(self.device, helper="none")

    def env(self) -> Any:
        return async_env(self.session, self.device, self.thread)

    def close(self) -> None:
        self.thread.run(self._stack.aclose())
        self.thread.close()


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    made = Stage(tmp_path / "home")
    yield made
    made.close()


def world() -> Any:
    """Its registry and its actions; skips where it is not installed."""
    pytest.importorskip("android_world", reason="AndroidWorld's source is not on the path")
    from android_world import registry  # type: ignore[import-not-found]  # noqa: PLC0415
    from android_world.env import json_action  # type: ignore[import-not-found]  # noqa: PLC0415

    return registry.TaskRegistry().get_registry("android_world"), json_action.JSONAction


def task_of(kinds: Any, name: str, env: Any) -> Any:
    task = kinds[name](kinds[name].generate_random_params())
    task.initialize_task(env)
    return task


def settings(stage: Stage) -> dict[str, Any]:
    found: dict[str, Any] = stage.phone.state()["settings"]["global"]
    return found


def number_of(env: Any, label: str) -> int:
    elements = env.get_state().ui_elements
    return next(
        number
        for number, one in enumerate(elements)
        if label in (one.text, one.content_description) and one.bbox_pixels is not None
    )


def test_without_it_the_error_says_what_is_missing(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "android_world", None)
    with pytest.raises(Unsupported, match="AndroidWorld"):
        stage.env()


def test_its_evaluator_sees_what_its_own_actions_did(stage: Stage) -> None:
    kinds, action = world()
    env = stage.env()
    task = task_of(kinds, "SystemWifiTurnOff", env)
    assert task.is_successful(env) == 0.0
    env.execute_action(action(action_type="open_app", app_name="Settings"))
    env.execute_action(action(action_type="click", index=number_of(env, "Network & internet")))
    env.execute_action(action(action_type="click", index=number_of(env, "Internet")))
    env.execute_action(action(action_type="click", index=number_of(env, "Wi\u2011Fi")))
    assert settings(stage)["wifi_on"] == "0"
    assert task.is_successful(env) == 1.0


@pytest.mark.parametrize("name", TASKS)
def test_its_evaluators_fail_before_and_pass_after(stage: Stage, name: str) -> None:
    kinds, _ = world()
    env = stage.env()
    task = task_of(kinds, name, env)
    assert task.is_successful(env) == 0.0
    kind, is_on = ("wifi" if "Wifi" in name else "bluetooth"), name.endswith("On")
    command = f"svc {kind} {'enable' if is_on else 'disable'}"
    stage.thread.run(stage.device.shell.run(Script(command)))
    assert task.is_successful(env) == 1.0


def test_its_agents_are_under_our_policy(tmp_path: Path) -> None:
    _, action = world()
    stage = Stage(tmp_path / "home", DENY)
    try:
        env = stage.env()
        env.execute_action(action(action_type="open_app", app_name="Settings"))
        inputs = len(stage.phone.input_log)
        with pytest.raises(HandrailError):
            env.execute_action(action(action_type="click", index=number_of(env, "Network & internet")))
        assert len(stage.phone.input_log) == inputs
    finally:
        stage.close()


def test_our_agent_works_in_its_episodes(stage: Stage) -> None:
    kinds, _ = world()
    from android_world import episode_runner  # noqa: PLC0415

    env = stage.env()
    task = task_of(kinds, "SystemWifiTurnOff", env)
    steps = [
        {"start_app": "com.android.settings"},
        {"tap": "Network & internet"},
        {"tap": "Internet"},
        {"tap": "Wi\u2011Fi"},
        {"finish": "Wi-Fi is off."},
    ]
    model = ScriptedModel(read_script(json.dumps(steps)))
    agent = handrail_agent(env, stage.session, model, SystemClock(), stage.thread)
    ran = episode_runner.run_episode(goal=task.goal, agent=agent, max_n_steps=10, start_on_home_screen=False)
    assert ran.done
    assert task.is_successful(env) == 1.0
    assert ran.step_data["action"][-1] == {"action_type": "status", "goal_status": "complete"}
    assert env.interaction_cache == "Wi-Fi is off."

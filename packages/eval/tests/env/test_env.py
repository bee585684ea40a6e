"""Phones for training: solved by doing, the same in every process, apart from each other, in no real time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from packages.eval.tests.env.episodes import AIRPLANE, DELETE, TASKS, episode

from handrail.errors import InvalidAction
from handrail_eval.env import PhoneEnv, PhoneVectorEnv
from handrail_eval.env_task import EvalEnvTask, env_task
from handrail_eval.load import load_tasks, load_templates
from handrail_eval.task import EvalTask

ROOT = Path(__file__).parents[4]
FLY: list[dict[str, Any]] = [
    {"type": "start_app", "package": "com.android.settings"},
    {"type": "tap", "target": {"text": "Network & internet"}},
    {"type": "tap", "target": {"text": "Airplane mode"}},
    {"type": "finish", "message": "Airplane mode is on."},
]
NO_ACTION = [{}, "{", "[]", "7", "null", {"type": "fly"}, {"type": "tap"}, "\ud800", "[" * 9_999]
REMOVE: list[dict[str, Any]] = [
    {"type": "start_app", "package": "com.google.android.contacts"},
    {"type": "tap", "target": {"text": "Barnaby Fenwhistle"}},
    {"type": "tap", "target": {"text": "More options"}},
    {"type": "tap", "target": {"text": "Delete"}},
    {"type": "tap", "target": {"text": "Delete"}},
    {"type": "finish", "message": "Barnaby Fenwhistle is deleted."},
]


@pytest.fixture
def env() -> Any:
    made = PhoneEnv(env_task(AIRPLANE))
    yield made
    made.close()


def state_of(env: PhoneEnv) -> dict[str, Any]:
    assert env._phone is not None
    return env._phone.phone.state()


def test_doing_the_task_is_rewarded_at_its_end(env: PhoneEnv) -> None:
    env.reset(seed=3)
    results = [env.step(action) for action in FLY]
    assert [reward for _, reward, *_ in results] == [0.0, 0.0, 0.0, 1.0]
    assert [ended for _, _, ended, *_ in results] == [False, False, False, True]
    assert state_of(env)["settings"]["global"]["airplane_mode_on"] == "1"


def test_saying_so_is_not(env: PhoneEnv) -> None:
    env.reset(seed=3)
    _, reward, ended, _, info = env.step(FLY[-1])
    assert (reward, ended, info["solved"]) == (0.0, True, False)
    with pytest.raises(InvalidAction, match="over"):
        env.step(FLY[0])


def test_an_episode_ends_with_the_steps_of_its_task(env: PhoneEnv) -> None:
    env.reset(seed=1)
    cut = [env.step({"type": "wait", "duration_ms": 0})[3] for _ in range(10)]
    assert cut == [False] * 9 + [True]


@pytest.mark.parametrize("given", NO_ACTION)
def test_what_is_no_action_is_a_step_without_effect(env: PhoneEnv, given: Any) -> None:
    seen, _ = env.reset(seed=1)
    log = list(env._phone.phone.input_log) if env._phone else []
    after, reward, ended, cut, info = env.step(given)
    assert (after["screen"], reward, ended, cut, info["success"]) == (
        seen["screen"],
        0.0,
        False,
        False,
        False,
    )
    assert env._phone is not None
    assert list(env._phone.phone.input_log) == log


def test_an_action_may_be_written_in_another_dialect() -> None:
    env = PhoneEnv(env_task(AIRPLANE), dialect="androidworld")
    try:
        env.reset(seed=1)
        seen, *_, info = env.step({"action_type": "open_app", "app_name": "Settings"})
        assert info["success"], info
        assert seen["app"] == "com.android.settings"
    finally:
        env.close()


@pytest.mark.parametrize("says", [True, False])
def test_the_owners_rules_hold_in_a_training_too(says: bool) -> None:
    [task] = load_tasks([DELETE])
    lines = tuple(line.model_copy(update={"approve": says}) for line in task.person)
    env = PhoneEnv(EvalEnvTask(task.model_copy(update={"person": lines})))
    try:
        env.reset(seed=1)
        before = state_of(env)["apps"]["com.google.android.contacts"]["contacts"]
        reward = [env.step(action)[1] for action in REMOVE][-1]
        after = state_of(env)["apps"]["com.google.android.contacts"]["contacts"]
        assert (reward, len(before) - len(after)) == ((1.0, 1) if says else (0.0, 0))
    finally:
        env.close()


def test_a_long_wait_passes_on_the_phone_and_nowhere_else(env: PhoneEnv) -> None:
    env.reset(seed=1)
    assert env._phone is not None
    began = env._phone.phone.now_ms()
    for _ in range(5):
        env.step({"type": "wait", "duration_ms": 60_000})
    assert env._phone.phone.now_ms() - began >= 300_000


@pytest.mark.parametrize("task", TASKS)
def test_the_same_seed_and_actions_are_the_same_bytes_in_every_process(task: str) -> None:
    def told(hash_seed: str) -> str:
        environ = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "packages.eval.tests.env.episodes", task, "5", "12"]
        return subprocess.run(
            command, env=environ, cwd=ROOT, check=True, capture_output=True, text=True
        ).stdout

    first, second = told("1"), told("77")
    assert first == second
    assert len(first.splitlines()) == 13


def test_another_seed_is_another_episode() -> None:
    assert episode("notes-sum", 5, 4) != episode("notes-sum", 6, 4)


def test_what_is_done_on_one_phone_is_done_on_no_other() -> None:
    alone = PhoneVectorEnv(1, env_task(AIRPLANE))
    many = PhoneVectorEnv(6, env_task(AIRPLANE))
    try:
        (one,), _ = alone.reset(seed=4)
        seen, _ = many.reset(seed=4)
        assert seen[0] == one
        for action in FLY[:3]:
            (one,), *_ = alone.step([action])
            seen, *_ = many.step([action, *[{"type": "wait", "duration_ms": 0}] * 5])
            assert seen[0] == one
        modes = [state_of(env)["settings"]["global"]["airplane_mode_on"] for env in many.envs]
        assert modes == ["1", *["0"] * 5]
    finally:
        alone.close()
        many.close()


def test_one_that_is_over_begins_anew_with_the_next_step() -> None:
    many = PhoneVectorEnv(2, env_task(AIRPLANE))
    try:
        first, _ = many.reset(seed=1)
        wait = {"type": "wait", "duration_ms": 0}
        _, _, ended, _, _ = many.step([FLY[-1], wait])
        assert ended == [True, False]
        seen, _, ended, _, infos = many.step([FLY[0], wait])
        assert ended == [False, False]
        assert (seen[0]["step"], seen[0]["app"]) == (0, first[0]["app"])
        assert "instruction" in infos[0]
    finally:
        many.close()


def test_it_can_be_imported_where_gymnasium_is_not() -> None:
    code = (
        "import sys; sys.modules['gymnasium'] = None; from handrail_eval import env; print(len(env.__all__))"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout.strip() == b"6"
    )


def test_gymnasium_finds_it_and_has_nothing_against_it() -> None:
    gymnasium = pytest.importorskip("gymnasium")
    from gymnasium.utils.env_checker import check_env  # noqa: PLC0415

    from handrail_eval.env.gym import ID, register  # noqa: PLC0415

    register()
    made = gymnasium.make(ID, task=env_task(AIRPLANE))
    try:
        check_env(made.unwrapped, skip_render_check=True, skip_close_check=True)
        seen, info = made.reset(seed=1)
        assert made.observation_space.contains(seen)
        assert info["instruction"].startswith("Turn airplane mode on.")
    finally:
        made.close()


def told_to(name: str, world: str, asking: dict[str, str]) -> tuple[PhoneEnv, EvalTask, Any]:
    """An environment whose person has been asked, and what they wrote."""
    [template] = load_templates([name])
    task = template.task(1, world)
    env = PhoneEnv(EvalEnvTask(task))
    env.reset(seed=1)
    *_, info = env.step({"type": "request_human_auth", **asking})
    return env, task, info["answer"]


def test_what_the_person_writes_to_a_plain_question_is_read() -> None:
    env, task, told = told_to("ambiguous-contact", "two", {"instruction": "Which of them?"})
    assert told == task.person[0].data
    env.close()


def test_a_code_of_the_person_is_typed_and_not_read() -> None:
    env, task, told = told_to("messages-door-code", "told", {"instruction": "What is the code?"})
    assert told == "${secret:ANSWER_1}"
    for step in task.reference[:2]:
        [(kind, given)] = dict(step).items()
        env.step({"type": kind, "package" if kind == "start_app" else "target": given})
    env.step({"type": "type_text", "text": told, "target": {"text": "Send message"}})
    seen, *_ = env.step({"type": "tap", "target": {"text": "Send SMS"}})
    *_, info = env.step({"type": "finish", "message": "The code is sent."})
    assert info["solved"], info
    assert str(task.person[0].data) not in seen["screen"]
    env.close()

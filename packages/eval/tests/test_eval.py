"""`handrail eval` as a person uses it: real phones, real runs, verdicts by their state."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result
from packages.agent.tests.hosted import openai_wire
from packages.agent.tests.hosted.server import serving

from handrail.errors import InvalidAction
from handrail_eval.command import evaluate
from handrail_eval.load import SHIPPED, load_tasks
from tests.scenario.world import play_live

EXPECTED_TO_FAIL = {"fault", "person"}
"""Tags whose references meet failures on purpose."""
SLIPS = {
    "adversary-note", "compose-controls", "dialer-interrupted", "flutter-speed", "settings-switches",
    "settings-volumes", "trouble-shifting",
}  # fmt: skip
"""Templates with a slider, a switch or a moving screen whose step tells no change or is tried again."""
FEW = "clock-timer,pay-approval,impossible-product,adversary-parcel,cross-code-note"


def run(*words: str) -> Result:
    return CliRunner().invoke(evaluate, words)


def measured(*words: str) -> dict[str, Any]:
    said = run(*words, "--json")
    assert said.exit_code == 0, said.output
    found: dict[str, Any] = json.loads(said.stdout)
    return found


def script(folder: Path, *steps: dict[str, Any]) -> str:
    file = folder / "script.yaml"
    file.write_text(yaml.safe_dump(list(steps)))
    return f"scripted:{file}"


def own_task(folder: Path, **changes: Any) -> Path:
    """`clock-timer` under another name, changed."""
    raw = yaml.safe_load((SHIPPED / "clock-timer.yaml").read_text())
    file = folder / "own.yaml"
    file.write_text(yaml.safe_dump({**raw, "id": "own", **changes}, sort_keys=False))
    return file


def timer(*more: dict[str, Any], seed: int = 1) -> list[dict[str, Any]]:
    """The steps that solve `clock-timer` with this seed."""
    return [*load_tasks(["clock-timer"], (seed,))[0].reference[:-1], *more]  # type: ignore[list-item]


def test_the_reference_solves_tasks_of_every_kind_the_same_way_every_time() -> None:
    def same(ran: dict[str, Any]) -> list[tuple[Any, ...]]:
        return [(one["id"], one["success"], one["steps"], one["answer"]) for one in ran["tasks"]]

    first = measured("--tasks", FEW)
    assert [one["id"] for one in first["tasks"]] == FEW.split(",")
    assert all(one["success"] and not one["why"] for one in first["tasks"])
    assert first["summary"]["percent"] == 100.0
    assert same(measured("--tasks", FEW, "-j", "2")) == same(first)


def test_doing_nothing_solves_nothing_and_every_verdict_says_why() -> None:
    ran = measured("--tasks", FEW, "--model", "nothing")
    assert ran["summary"]["success"] == ran["summary"]["reached"] == 0
    assert all(one["why"] and one["steps"] == 1 for one in ran["tasks"])


IMPOSSIBLE = next(
    seed for seed in (1, 2) if load_tasks(["impossible-product"], (seed,))[0].kind == "impossible"
)


@pytest.mark.parametrize(
    ("end", "why"),
    [
        ({"message": "It is in the cart now, no more steps needed"}, "said done; infeasible is right"),
        ({"message": "No problem! The code is 4711"}, "said done; infeasible is right"),
        ({"status": "failed", "message": "not possible"}, "said failed; infeasible is right"),
    ],
)
def test_a_claim_of_success_does_not_solve_what_is_impossible(
    tmp_path: Path, end: dict[str, str], why: str
) -> None:
    steps = load_tasks(["impossible-product"], (IMPOSSIBLE,))[0].reference[:-1]
    model = script(tmp_path, *steps, {"finish": end})  # type: ignore[arg-type]
    words = ("--tasks", "impossible-product", "--seeds", str(IMPOSSIBLE), "--model", model)
    [one] = measured(*words)["tasks"]
    assert not one["success"]
    assert why in one["why"]


def test_to_give_up_without_a_look_is_wrong_also_where_it_is_impossible() -> None:
    words = ("--tasks", "impossible-product", "--seeds", str(IMPOSSIBLE), "--model", "quitter")
    [one] = measured(*words)["tasks"]
    assert not one["success"]
    assert "never looked at" in one["why"]


def test_nothing_can_be_known_by_heart() -> None:
    """What solved every task with one seed solves none with another."""
    ran = measured("--tasks", FEW, "--model", "memoriser", "--seeds", "1..2")
    assert [one["id"] for one in ran["tasks"] if one["success"]] == []


def test_a_deed_beside_the_task_spoils_it(tmp_path: Path) -> None:
    model = script(
        tmp_path,
        {"start_app": "com.android.settings"},
        {"tap": "Network & internet"},
        {"tap": "Airplane mode"},
        *timer({"finish": "The timer runs."}),
    )
    [one] = measured("--tasks", "clock-timer", "--model", model)["tasks"]
    assert not one["success"]
    assert "changed without need: settings.global" in one["why"]


def test_a_timer_may_run_for_minutes_before_the_model_says_that_it_is_finished(tmp_path: Path) -> None:
    model = script(tmp_path, *timer({"wait": 180_000}, {"finish": "The timer runs."}))
    [one] = measured("--tasks", "clock-timer", "--model", model)["tasks"]
    assert one["success"], one["why"]


def test_a_state_without_an_end_is_reached_and_not_a_success(tmp_path: Path) -> None:
    model = script(tmp_path, *timer({"wait": 1}))
    [one] = measured("--tasks", "clock-timer", "--model", model, "--max-steps", "8")["tasks"]
    assert (one["success"], one["reached"], one["ended"]) == (False, True, "out_of_steps")


def test_what_is_under_way_at_the_end_may_still_arrive(tmp_path: Path) -> None:
    file = own_task(
        tmp_path,
        setup={"sms": [{"from": "Locker 9", "text": "It is open.", "after_ms": 1500}]},
        check=[{"state": "messages.threads", "has": {"address": "Locker 9"}}],
        changes=["messages.threads"],
        reference=[{"wait": 1}, {"finish": "It is on its way."}],
    )
    [one] = measured("--tasks", str(file))["tasks"]
    assert one["success"], one["why"]


def test_people_get_a_table_and_too_little_solved_ends_with_1() -> None:
    said = run("--tasks", "clock-timer,impossible-product", "--model", "nothing", "--fail-under", "50")
    assert said.exit_code == 1
    assert "clock-timer\t✗\t1\t0\t" in said.stdout
    assert "kind\timpossible\t0\t1\t" in said.stdout
    assert "nothing: 0 of 2 runs solved, 0.0 %" in said.stdout
    assert "2/2 ✗ " in said.stderr


def test_kept_runs_have_a_report_and_a_journal_each_and_are_not_mixed(tmp_path: Path) -> None:
    out = tmp_path / "kept"
    [one] = measured("--tasks", "clock-timer", "--out", str(out))["tasks"]
    assert one["report"] == "clock-timer.1/report.html"
    assert "The timer runs." in (out / one["report"]).read_text()
    assert list((out / "clock-timer.1" / "screenshots").iterdir())
    assert (out / "clock-timer.1" / "home").is_dir()
    assert json.loads((out / "results.jsonl").read_text())["id"] == "clock-timer"
    with pytest.raises(InvalidAction, match="is not empty"):
        CliRunner().invoke(evaluate, ["--tasks", "clock-timer", "--out", str(out)], catch_exceptions=False)


def test_the_list_says_which_tasks_there_are_without_running_one() -> None:
    listed = json.loads(run("--list", "--json", "--tasks", "impossible").stdout)
    assert len(listed) >= 2
    assert all("impossible" in one["tags"] for one in listed)
    assert "impossible-product\t" in run("--list").stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--model", "clever"), "'clever' is not a model"),
        (("--model", "scripted:/nowhere.yaml"), "/nowhere.yaml"),
        (("--tasks", "no-such-thing"), "no task, tag, file or folder"),
    ],
)
def test_bad_input_is_said_before_a_phone_is_made(words: tuple[str, ...], said: str) -> None:
    with pytest.raises(InvalidAction, match=said):
        CliRunner().invoke(evaluate, words, catch_exceptions=False)


def test_a_setup_that_the_phone_refuses_fails_its_task_and_no_other(tmp_path: Path) -> None:
    file = own_task(tmp_path, setup={"shell": ["no-such-command"]})
    broken, good = measured("--tasks", f"{file},clock-timer")["tasks"]
    assert (broken["id"], broken["success"], broken["ended"]) == ("own", False, "failed")
    assert "no-such-command" in broken["why"]
    assert good["success"]


def _called(step: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    [(kind, given)] = step.items()
    main = {"start_app": "package", "tap": "target", "wait": "duration_ms"}.get(kind, "message")
    return kind, {**(given if isinstance(given, dict) else {main: given}), "reason": "I go on"}


@pytest.mark.slow
def test_a_hosted_model_is_measured_with_its_tokens() -> None:
    async def story() -> tuple[int, str]:
        answers = [openai_wire.calls(_called(step)) for step in timer({"finish": {"message": "Running."}})]
        async with serving(*answers) as server:
            process = await started(
                "--tasks", "clock-timer", "--model", "openai:test", "--base-url", server.url, "--json"
            )
            said, _ = await process.communicate()
            return process.returncode or 0, said.decode()

    code, said = play_live(story())
    assert code == 0, said
    [one] = json.loads(said)["tasks"]
    assert one["success"], one["why"]
    assert one["steps"] == 8
    assert one["tokens"] > 0


async def started(*words: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "handrail.cli.main",
        "eval",
        *words,
        env={**os.environ, "OPENAI_API_KEY": "not-a-key"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


def test_ctrl_c_ends_with_what_was_done_so_far() -> None:
    async def story() -> tuple[int, dict[str, Any], str]:
        process = await started("--tasks", "clock-timer,long-order", "-j", "1", "--json")
        assert process.stderr
        await process.stderr.readline()  # one task has ended, the slow one runs
        process.send_signal(signal.SIGINT)
        said, told = await process.communicate()
        return process.returncode or 0, json.loads(said), told.decode()

    code, ran, told = play_live(story())
    assert (code, told) == (130, "Stopped after 1 of 2 runs. With --out DIR it could be resumed.\n")
    assert [one["id"] for one in ran["tasks"]] == ["clock-timer"]
    assert (ran["summary"]["wanted"], ran["summary"]["complete"]) == (2, False)


@pytest.mark.slow
def test_the_table_of_baselines_grows_line_by_line() -> None:
    bench = Path(__file__).parents[3] / "bench" / "eval.py"
    words = ["--only", "nothing,liar", "--tasks", "clock-timer", "--seeds", "1"]
    with subprocess.Popen([sys.executable, str(bench), *words], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline().startswith("model")
        assert process.stdout.readline().startswith("nothing")
        assert process.poll() is None  # the other has still to be measured
        assert [line.split()[0] for line in process.stdout] == ["liar"]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_reference_slips_nowhere(tmp_path: Path) -> None:
    """With every third template; `test_eval_lint` lets references and everybody else at all of them."""
    some = [task.id for task in load_tasks()[::3]]
    ran = measured("--tasks", ",".join(some), "--no-pictures", "--out", str(tmp_path / "out"))
    assert [(one["id"], one["why"]) for one in ran["tasks"] if not one["success"]] == []
    assert ran["summary"]["percent"] == 100.0
    for one in ran["tasks"]:
        lines = (tmp_path / "out" / f"{one['id']}.1" / "steps.jsonl").read_text().splitlines()
        bad = [
            told for told in map(json.loads, lines) if told["outcome"] in ("failed", "refused", "unchanged")
        ]
        assert not bad or one["id"] in SLIPS or EXPECTED_TO_FAIL & set(one["tags"]), (one["id"], bad)


@pytest.mark.parametrize(
    ("end", "is_right"),
    [
        ([{"finish": {"answer": "$right"}}], True),
        (
            [{"give_answer": "$right"}, {"finish": "I have answered."}],
            True,
        ),  # AndroidWorld: answer, then status
        ([{"finish": "$right"}], True),  # OpenPocket has words only: they are the answer alone
        ([{"finish": "It closes at $right, I think"}], False),
        ([{"finish": {"answer": "$right", "status": "infeasible"}}], False),
        ([{"finish": {"answer": "14:00\n$right"}}], False),
    ],
)
def test_an_answer_counts_in_every_dialects_place_and_only_alone(
    tmp_path: Path, end: list[dict[str, Any]], is_right: bool
) -> None:
    task = load_tasks(["browser-hours"])[0]
    told = json.loads(json.dumps(end).replace("$right", task.values["close"]))
    model = script(tmp_path, *task.reference[:-1], *told)  # type: ignore[arg-type]
    [one] = measured("--tasks", "browser-hours", "--model", model)["tasks"]
    assert one["success"] is is_right, one["why"]

"""Tasks of the evaluation as files: how they are read, chosen and filled, and what is said of bad ones."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import yaml

from handrail.agent.model import Prompt, PromptTurn
from handrail.errors import InvalidAction
from handrail.evaluation.load import load_tasks, read_task
from handrail.evaluation.reference import Reference
from handrail.evaluation.result import Evaluation, TaskResult
from handrail.evaluation.task import draw, filled

TASK: dict[str, Any] = {
    "id": "a-task",
    "title": "A task",
    "instruction": "Write $code down.",
    "tags": ["own"],
    "steps": 5,
    "values": {"code": {"digits": 4}},
    "check": [{"state": "clipboard", "equals": "$code"}],
    "reference": [{"set_clipboard": "$code"}, {"finish": "Done."}],
}


def written(folder: Path, **changes: Any) -> Path:
    file = folder / "task.yaml"
    kept = {name: one for name, one in {**TASK, **changes}.items() if one is not None}
    file.write_text(yaml.safe_dump(kept))
    return file


def test_a_value_is_the_same_in_all_texts_of_a_task_and_another_with_another_seed(tmp_path: Path) -> None:
    file = written(tmp_path)
    one, again, other = read_task(file), read_task(file), read_task(file, seed=2)
    code = one.values["code"]
    assert one == again
    assert one.instruction == f"Write {code} down."
    assert one.check[0].equals == code  # type: ignore[union-attr]
    assert other.values["code"] != code
    assert other.seed == one.seed + 1


def test_names_that_no_value_has_and_secrets_stay_as_they_are() -> None:
    given = {"a": ["$code", "$seen", "${secret:PIN}"], "b": 3}
    assert filled(given, {"code": "12"}) == {"a": ["12", "$seen", "${secret:PIN}"], "b": 3}


def test_digits_never_begin_with_a_zero() -> None:
    drawn = {draw({"n": {"digits": 3}}, str(seed))["n"] for seed in range(200)}
    assert len(drawn) > 100
    assert all(len(one) == 3 and one[0] != "0" for one in drawn)


@pytest.mark.parametrize(
    ("changes", "path", "said"),
    [
        ({"id": "Not good"}, "id", "pattern"),
        ({"steps": 0}, "steps", "greater than or equal to 1"),
        ({"tags": []}, "tags", "at least 1"),
        ({"budget": 3}, "budget", "not permitted"),
        ({"check": []}, "check", "at least 1"),
        ({"check": [{"looks": "good"}]}, "check.0", "should have one of state, unchanged_except, answer"),
        ({"check": [{"state": "a"}]}, "check.0.state", "give one of equals, contains"),
        ({"check": [{"state": "a", "count": 1, "exists": True}]}, "check.0.state", "count and exists"),
        ({"values": {"code": {"letters": 3}}}, "values.code", "is no value"),
        ({"setup": {"sms": [{"text": "Hi"}]}}, "setup.sms.0.from", "required"),
        ({"reference": [{"tap": ""}]}, "reference[0].tap.target", "reference[0]"),
        ({"reference": [{"finish": "x", "keep": {"a": "no group"}}]}, "reference[0].keep", "one group"),
        ({"reference": [{"finish": "x", "keep": {"a": "("}}]}, "reference[0].keep", "unterminated"),
    ],
)
def test_what_is_wrong_with_a_task_is_told_with_file_and_path(
    tmp_path: Path, changes: dict[str, Any], path: str, said: str
) -> None:
    file = written(tmp_path, **changes)
    with pytest.raises(InvalidAction) as caught:
        read_task(file)
    assert caught.value.message.startswith(str(file))
    assert said in caught.value.message
    assert caught.value.details["path"] == path


@pytest.mark.parametrize("text", ["- a\n- b", "a: [", "\0", "42"])
def test_a_file_that_is_no_task_is_told_so(tmp_path: Path, text: str) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text(text)
    with pytest.raises(InvalidAction, match=r"bad\.yaml: (not valid YAML|should be a mapping)"):
        read_task(file)


def test_tasks_are_chosen_by_name_tag_file_and_folder(tmp_path: Path) -> None:
    file = written(tmp_path)
    assert [one.id for one in load_tasks(["notes-create"])] == ["notes-create"]
    assert {"contacts-star", "impossible-contact"} < {one.id for one in load_tasks(["contacts"])}
    assert [one.id for one in load_tasks([str(file)])] == ["a-task"]
    assert [one.id for one in load_tasks([str(tmp_path), "notes-sort", str(file)])] == [
        "a-task",
        "notes-sort",
    ]


def test_a_name_that_nothing_has_is_answered_with_one_that_is_near() -> None:
    with pytest.raises(InvalidAction) as caught:
        load_tasks(["note-create"])
    assert "notes-create" in caught.value.hint


def test_two_tasks_of_one_name_and_a_folder_without_tasks_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidAction, match="no task in"):
        load_tasks([str(tmp_path)])
    written(tmp_path, id="notes-sort")
    with pytest.raises(InvalidAction, match="two tasks are named notes-sort"):
        load_tasks([str(tmp_path), "notes-sort"])
    (tmp_path / "again.yaml").write_text((tmp_path / "task.yaml").read_text())
    with pytest.raises(InvalidAction, match="are named notes-sort"):
        load_tasks([str(tmp_path)])


def prompt(step: int, screen: str) -> Prompt:
    said = f'The task says 111111 is your.\n<screen-data untrusted="1">\n{screen}\n</screen-data >'
    return Prompt("", (PromptTurn("user", said),), step=step)


def test_a_reference_reads_from_the_screen_what_only_the_screen_tells() -> None:
    model = Reference([{"keep": {"code": r"(\d{6}) is your"}, "wait": 5}, {"finish": "It is $code."}])

    async def talk(screen: str) -> list[Any]:
        return [(await model.step(prompt(step, screen))).action for step in (1, 2, 3)]

    first, last, over = asyncio.run(talk("482913 is your code"))
    assert first["type"] == "wait"
    assert last["message"] == "It is 482913."
    assert over["message"] == "The reference has no more steps."


def test_a_reference_that_misses_its_screen_ends_and_says_what_it_missed() -> None:
    model = Reference([{"keep": {"code": r"(\d{6}) is your"}, "wait": 5}])
    reply = asyncio.run(model.step(prompt(1, "nothing here")))
    assert reply.action
    assert reply.action["type"] == "finish"
    assert r"(\d{6}) is your" in reply.action["message"]


def result(name: str, success: bool, *tags: str, cost: float | None = None, ms: float = 100.0) -> TaskResult:
    return TaskResult(name, name, success, success, 4, 10, cost, ms, "finished", "", tags)


def test_what_was_not_run_counts_as_not_solved() -> None:
    ran = Evaluation("m", 1, 4, (result("a", True, "x"), result("b", True, "y")), 50.0)
    assert ran.percent == 50.0
    assert not ran.complete


def test_sums_are_told_for_all_and_for_every_tag() -> None:
    results = (
        result("a", True, "x", "y", cost=0.25, ms=100),
        result("b", False, "x", ms=300),
        result("c", True, "z", cost=0.5, ms=200),
    )
    told = Evaluation("m", 3, 3, results, 50.0).to_dict()
    assert (told["model"], told["seed"]) == ("m", 3)
    assert [one["id"] for one in told["tasks"]] == ["a", "b", "c"]
    summary = told["summary"]
    assert (summary["tasks"], summary["success"], summary["steps"], summary["tokens"]) == (3, 2, 12, 30)
    assert summary["cost_usd"] == 0.75
    assert summary["median_ms"] == 200
    assert summary["tags"]["x"]["success"] == 1
    assert summary["tags"]["z"]["cost_usd"] == 0.5
    assert summary["complete"] is True

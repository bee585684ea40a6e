"""Tasks of the evaluation as files: how they are read, chosen and filled, and what is said of bad ones."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from handrail.errors import InvalidAction
from handrail_eval.load import SHIPPED, load_tasks, load_templates, read_template
from handrail_eval.values import SeedDrawing, filled

TASK: dict[str, Any] = {
    "id": "a-task",
    "title": "A task",
    "instruction": "Write $code down.",
    "apps": ["notes"],
    "skills": ["write"],
    "difficulty": "easy",
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
    template = read_template(file)
    one, again, other = template.task(1), read_template(file).task(1), template.task(2)
    code = one.values["code"]
    assert (one.check, one.reference, one.now_ms) == (again.check, again.reference, again.now_ms)
    assert one.instruction == f"Write {code} down."
    assert one.check[0].equals == code  # type: ignore[union-attr]
    assert other.values["code"] != code
    assert other.now_ms != one.now_ms


def test_names_that_no_value_has_and_secrets_stay_as_they_are() -> None:
    given = {"a": ["$code", "$seen", "${secret:PIN}"], "b": 3}
    assert filled(given, {"code": "12"}) == {"a": ["12", "$seen", "${secret:PIN}"], "b": 3}


def test_a_key_is_filled_too_and_stays_a_text() -> None:
    given = {"Download/$name.txt": "$n", "$n": 1}
    assert filled(given, {"name": "list", "n": 3}) == {"Download/list.txt": 3, "3": 1}


def test_a_text_that_is_only_a_name_becomes_the_value_itself_and_is_written_out_elsewhere() -> None:
    values = {"n": 3, "who": {"name": "Ada", "phone": "7"}, "many": ["a", "b"], "code": "12"}
    assert filled(["$n", "${n}", "$n.", "$who", "Call $who at $who.phone", "$many.1", "$code.x"], values) == [
        3, "3", "3.", values["who"], "Call Ada at 7", "b", "12.x",
    ]  # fmt: skip
    assert filled(["$n", "$many"], values, texts=True) == ["3", "a, b"]
    assert filled({"ferry.example/$n": "$n"}, values) == {"ferry.example/3": 3}


def one_value(kind: dict[str, Any], seed: int) -> Any:
    drawing = SeedDrawing("t", seed)
    drawing.add({"n": kind})
    return drawing.values["n"]


@pytest.mark.parametrize(
    ("kind", "fits"),
    [
        ({"between": [3, 9]}, lambda n: 3 <= n <= 9),
        ({"between": [3, 9], "step": 2, "except": 5}, lambda n: n in (3, 7, 9)),
        ({"money": [900, 1000]}, lambda n: 900 <= n <= 1000 and n % 5 == 0),
        ({"time": ["06:00", "06:20"]}, lambda n: n in ("06:00", "06:05", "06:10", "06:15", "06:20")),
        ({"one_of": ["a", "b"]}, lambda n: n in ("a", "b")),
        ({"some_of": ["a", "b", "c"], "count": 2}, lambda n: len(set(n)) == 2),
        ({"people": 3}, lambda n: len({one["name"] for one in n}) == 3),
        ({"expr": "later('07:50', 25)"}, lambda n: n == "08:15"),
        ({"expr": "seed * 2 + (1 if seed > 0 else 0)"}, lambda n: n % 2 == 1),
    ],
)
def test_every_kind_of_value_is_drawn_as_it_says(kind: dict[str, Any], fits: Any) -> None:
    drawn = [one_value(kind, seed) for seed in range(1, 40)]
    assert all(map(fits, drawn)), drawn


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')",
        "().__class__",
        "open('x')",
        "'a' * 10 ** 9",
        "[x for x in y]",
        "lambda: 1",
        "2 ** 9",
    ],
)
def test_an_expression_reaches_nothing_but_its_values(text: str) -> None:
    with pytest.raises(InvalidAction):
        one_value({"expr": text}, 1)


def test_digits_never_begin_with_a_zero() -> None:
    drawn = {one_value({"digits": 3}, seed) for seed in range(200)}
    assert len(drawn) > 100
    assert all(len(one) == 3 and one[0] != "0" for one in drawn)


@pytest.mark.parametrize(
    ("changes", "path", "said"),
    [
        ({"id": "Not good"}, "id", "pattern"),
        ({"budget": 0}, "budget", "greater than or equal to 1"),
        ({"apps": []}, "apps", "at least 1"),
        ({"tags": ["a"]}, "tags", "not permitted"),
        ({"check": [{"looks": "good"}]}, "check.0", "should have one of state, answer, status, seen"),
        ({"check": [{"state": "a"}]}, "check.0.state", "give one of equals, contains"),
        ({"check": [{"state": "a", "count": 1, "exists": True}]}, "check.0.state", "count and exists"),
        ({"worlds": {"a": {"instruction": "x"}}}, "worlds.a", "a world can't have this"),
        ({"reference": [{"finish": "x", "keep": {"code": "(a)"}}]}, "reference[0].keep", "is a value"),
        ({"values": {"code": {"digits": "many"}}}, "values.code", "is not a valid value"),
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
        read_template(file)
    assert caught.value.message.startswith(str(file))
    assert said in caught.value.message
    assert caught.value.details["path"] == path


@pytest.mark.parametrize("text", ["- a\n- b", "a: [", "\0", "42"])
def test_a_file_that_is_no_task_is_told_so(tmp_path: Path, text: str) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text(text)
    with pytest.raises(InvalidAction, match=r"bad\.yaml: (not valid YAML|should be a mapping)"):
        read_template(file)


def test_tasks_are_chosen_by_name_tag_file_and_folder(tmp_path: Path) -> None:
    file = written(tmp_path)
    assert [one.id for one in load_templates(["clock-timer"])] == ["clock-timer"]
    assert [one.id for one in load_templates(["notes-sum"])] == ["notes-sum"]
    assert {"impossible-product", "pay-approval"} <= {one.id for one in load_tasks(["impossible"])}
    assert [one.id for one in load_templates([str(tmp_path), "clock-timer", str(file)])] == [
        "a-task",
        "clock-timer",
    ]
    assert [(one.id, one.seed) for one in load_tasks([str(file)], (1, 3))] == [("a-task", 1), ("a-task", 3)]


def test_a_name_that_nothing_has_is_answered_with_one_that_is_near() -> None:
    with pytest.raises(InvalidAction) as caught:
        load_templates(["clock-timr"])
    assert "clock-timer" in caught.value.hint


def test_reading_a_template_leaves_nothing_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiled file in a folder of results would be one that their manifest does not know."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    shipped = next(SHIPPED.glob("*.py"))
    shutil.copy(shipped, tmp_path)
    assert read_template(tmp_path / shipped.name).task(1).id
    assert [one.name for one in tmp_path.iterdir()] == [shipped.name]


def test_a_template_in_python_is_told_of_its_mistakes(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text("TEMPLATE = nothing")
    with pytest.raises(InvalidAction, match="NameError"):
        read_template(file)


def test_two_tasks_of_one_name_and_a_folder_without_tasks_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidAction, match="no task in"):
        load_templates([str(tmp_path)])
    written(tmp_path, id="clock-timer")
    with pytest.raises(InvalidAction, match="two tasks are named clock-timer"):
        load_templates([str(tmp_path), "clock-timer"])
    (tmp_path / "again.yaml").write_text((tmp_path / "task.yaml").read_text())
    with pytest.raises(InvalidAction, match="are named clock-timer"):
        load_templates([str(tmp_path)])

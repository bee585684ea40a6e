"""`handrail flow check`: what is told of flows without a device."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from handrail.cli.program import cli
from handrail.flow.check import check, find_flow_files
from handrail.flow.parse import Problem


def put(folder: Path, **files: str) -> list[Path]:
    """Files by their stems; the first is what a test is about."""
    paths = [folder / f"{name}.yaml" for name in files]
    for path, text in zip(paths, files.values(), strict=True):
        path.write_text(text)
    return paths


def found(folder: Path, outside: tuple[str, ...] = (), **files: str) -> list[Problem]:
    return list(check(put(folder, **files), outside)[0].problems)


def rules(folder: Path, outside: tuple[str, ...] = (), **files: str) -> list[tuple[str, str, int]]:
    return [(one.level, one.rule, one.mark.line) for one in found(folder, outside, **files)]


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, ["flow", "check", *words])


def test_a_good_flow_has_no_problems(tmp_path: Path) -> None:
    assert rules(tmp_path, a="env: {WHO: Ada}\nsteps:\n  - tap: ${WHO}\n  - finish") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("env: {A: b}\nsteps: [finish]", ("warning", "unused-variable", 1)),
        ("- finish\n- tap: A", ("warning", "unreachable", 2)),
        ("- repeat: {times: 2, steps: [finish, {tap: A}]}", ("warning", "unreachable", 1)),
        ('- tap: "@b1"', ("warning", "stale-ref", 1)),
        ("- tap: {ref: '@b1'}", ("warning", "stale-ref", 1)),
        ("- tap: A\n  when: '@b1'", ("warning", "stale-ref", 2)),
        ("- wait_for: {all: [A, {absent: '@b1'}]}", ("warning", "stale-ref", 1)),
        ('[{"action": "tap", "target": {"ref": "@b1"}}]', ("warning", "stale-ref", 1)),
        ("- tap: 540,750", ("hint", "coordinates", 1)),
        ("- tap: {x: 540, y: 750}", ("hint", "coordinates", 1)),
        ("- swipe: {direction: up, target: {x: 540, y: 750}}", ("hint", "coordinates", 1)),
        ("- wait: 500", ("hint", "fixed-wait", 1)),
        ("- parallel: {alice: [finish]}", ("warning", "undeclared-device", 1)),
        ("devices: [alice]\nsteps:\n  - tap: A\n    device: alcie", ("warning", "undeclared-device", 4)),
        ("- tap: A\n  label: X\n- tap: B\n  label: X", ("warning", "same-label", 4)),
        ("- tap: ${WHO}", ("error", "unknown-variable", 1)),
        ("- tapp: A", ("error", "invalid", 1)),
    ],
)
def test_each_rule_finds_its_mistake(tmp_path: Path, text: str, expected: tuple[str, str, int]) -> None:
    assert rules(tmp_path, a=text) == [expected]


def test_a_file_that_is_run_must_be_right(tmp_path: Path) -> None:
    assert rules(tmp_path, a="- run_flow: b.yaml", b="- tapp: A") == [("error", "broken-file", 1)]


def test_files_must_not_run_each_other_in_a_circle(tmp_path: Path) -> None:
    problems = found(tmp_path, a="- run_flow: b.yaml", b="- run_flow: c.yaml", c="- run_flow: a.yaml")
    assert [one.message for one in problems] == ["runs itself: a.yaml → b.yaml → c.yaml → a.yaml"]
    assert rules(tmp_path, a="- run_flow: a.yaml") == [("error", "circle", 1)]


def test_a_circle_elsewhere_does_not_hold_up_the_check(tmp_path: Path) -> None:
    assert rules(tmp_path, a="- run_flow: b.yaml", b="- run_flow: c.yaml", c="- run_flow: b.yaml") == []


def test_what_a_called_file_needs_is_told_at_the_call(tmp_path: Path) -> None:
    log_in = "- tap: ${USER}"
    lacking = check(put(tmp_path, a="- run_flow: log_in.yaml", log_in=log_in))
    assert [[one.message for one in file.problems] for file in lacking] == [
        ["log_in.yaml needs the variable USER"],
        [],
    ]
    given = "- run_flow: {file: log_in.yaml, env: {USER: ada}}"
    assert rules(tmp_path, a=given, log_in=log_in) == []


def test_a_value_that_a_called_file_does_not_use_is_told(tmp_path: Path) -> None:
    problems = found(
        tmp_path,
        a="- run_flow: {file: b.yaml, env: {USR: x}}",
        b="env: {USER: ada}\nsteps: [{tap: '${USER}'}]",
    )
    assert [(one.level, one.suggestion) for one in problems] == [("warning", "Did you mean USER?")]


def test_folders_are_searched_and_hidden_files_left_out(tmp_path: Path) -> None:
    (tmp_path / "sub" / ".git").mkdir(parents=True)
    for name in ("a.yaml", "sub/_part.yml", "sub/b.json", "sub/.git/c.yaml", ".d.yaml", "note.txt"):
        (tmp_path / name).write_text('{"steps": ["finish"]}')
    (tmp_path / "package.json").write_text('{"name": "x"}')
    assert [path.name for path in find_flow_files([tmp_path])] == ["a.yaml", "_part.yml", "b.json"]


def test_the_command_speaks_json(tmp_path: Path) -> None:
    good, bad = put(tmp_path, a="- tap: ${WHO}", b="- tapp: Save")
    done = run(str(good), str(bad), "--json", "--env", "WHO=Ada")
    answer = json.loads(done.output)
    assert (done.exit_code, answer["ok"], [one["ok"] for one in answer["files"]]) == (2, False, [True, False])
    problem = answer["files"][1]["problems"][0]
    assert (problem["line"], problem["column"], problem["level"], problem["path"]) == (
        1,
        3,
        "error",
        "steps[0]",
    )


def test_a_good_file_is_said_to_be_good(tmp_path: Path) -> None:
    (file,) = put(tmp_path, a="name: My flow\nsteps: [finish]")
    assert run(str(tmp_path)).output == f"{file}: My flow, 1 step, good\n1 file: no problems\n"


def test_nothing_to_check_is_an_error(tmp_path: Path) -> None:
    assert run(str(tmp_path)).exit_code != 0
    assert run(str(tmp_path / "none.yaml")).exit_code == 2


def test_a_link_that_leads_to_itself_is_told_like_a_missing_file(tmp_path: Path) -> None:
    circle = tmp_path / "circle.yaml"
    circle.symlink_to(circle)
    [caller] = put(tmp_path, caller="steps:\n  - run_flow: circle.yaml")
    told = run(str(circle), str(caller))
    assert told.exit_code == 2
    assert "Too many levels of symbolic links" in told.output

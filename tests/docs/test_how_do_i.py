"""Every line of Handrail on the page of everyday tasks is one that Handrail takes."""

import re
import shlex
from pathlib import Path

import click
import pytest
import yaml

from handrail.cli.program import cli
from handrail.flow.check import check_text
from tests.docs.blocks import ROOT

PAGE = (ROOT / "docs" / "how-do-i.md").read_text()
TASKS = {part.partition("\n")[0]: part for part in PAGE.split("\n### ")[1:]}


def cells(kind: str) -> list[tuple[str, str]]:
    pattern = re.compile(rf"^\| \*\*Handrail\*\*, {kind} \| `(.+)` \|$", re.M)
    return [(task, line) for task, text in TASKS.items() for line in pattern.findall(text)]


def test_there_are_twenty_tasks_and_each_has_a_command() -> None:
    assert len(TASKS) == 20
    assert {task for task, _ in cells("command")} == set(TASKS)


@pytest.mark.parametrize(("task", "line"), cells("flow"))
def test_a_line_of_a_flow_is_read(task: str, line: str) -> None:
    document = {"devices": ["alice", "bob"], "steps": yaml.safe_load(line)}
    checked = check_text(yaml.safe_dump(document), Path("page.yaml"))
    assert not [problem.sentence for problem in checked.problems if problem.level == "error"], task


@pytest.mark.parametrize(("task", "line"), cells("command"))
def test_a_command_is_parsed(task: str, line: str) -> None:
    name, *arguments = shlex.split(line)[1:]
    context = click.Context(cli)
    command = cli.get_command(context, name)
    assert command is not None, task
    command.make_context(name, arguments, parent=context)

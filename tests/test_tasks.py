"""Nobody starts a task that nobody owns: tasks are started by waiting.py, or stand here with their reason."""

import ast
from collections import Counter
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parent.parent
ROOTS = {
    "": REPOSITORY / "src" / "handrail",
    **{f"{path.name}/": path for path in sorted(REPOSITORY.glob("packages/*/src/handrail_*"))},
}
STARTERS = {"create_task", "ensure_future"}
ELSEWHERE = {
    "browser/process.py": (1, "the end of a process that it has just started, waited for with a limit"),
    "handrail_maestro/recording.py": (1, "a recording, which stopRecording or the end of its flow stops"),
    "handrail_eval/lint.py": (1, "a TaskGroup: seeds of one template"),
    "handrail_eval/miniwob/run.py": (1, "a TaskGroup: one run that fails ends the others"),
    "handrail_eval/run.py": (1, "a TaskGroup: one run that fails ends the others"),
    "engine/ref_store.py": (1, "a block of numbers that is waited for before it is given back"),
    "engine/run.py": (2, "an action's work and its end; Queue.stop ends the one and waits for the other"),
    "engine/session.py": (
        3,
        "its watch and its saving of refs, which Session.close ends; a picture that the next touch awaits",
    ),
    "web_server/phone_stream.py": (1, "a TaskGroup: a picture that can't be made small ends the stream"),
    "sync/openers.py": (2, "a call that its thread waits for, and a block that Kept.close leaves"),
    "handrail_sim/adbd/connection.py": (
        2,
        "services of a simulated adbd, ended at a hang-up as Android does",
    ),
    "handrail_sim/adbd/daemon.py": (1, "commands that outlive their connection; Adbd.stop ends them"),
    "handrail_sim/adbd/services.py": (1, "the keyboard of a shell, closed by the shell without waiting"),
    "handrail_sim/screen/shown.py": (1, "one painting for all who ask; it outlives whoever asked first"),
    "handrail_sim/shell/system/instrument.py": (1, "it outlives `am`: the process table owns it"),
    "handrail_sim/shell/interpret.py": (1, "a background job: the phone's process table owns it"),
}
"""How many tasks a file starts by itself, and who owns them."""


def started(source: str) -> int:
    """How many times a file names a function that starts tasks; an import under another name counts too."""
    names = Counter[str]()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute):
            names[node.attr] += 1
        elif isinstance(node, ast.Name):
            names[node.id] += 1
        elif isinstance(node, ast.ImportFrom):
            names.update(alias.name for alias in node.names)
    return sum(names[name] for name in STARTERS)


def test_tasks_are_started_by_waiting_or_have_a_reason() -> None:
    found = {
        f"{name}{path.relative_to(root)}": started(path.read_text())
        for name, root in ROOTS.items()
        for path in sorted(root.rglob("*.py"))
    }
    assert all(found.pop(f"{name}waiting.py") > 0 for name in ("", "handrail_sim/"))
    assert {path: count for path, count in found.items() if count} == {
        path: count for path, (count, _) in ELSEWHERE.items()
    }, "use first, beside or Background of waiting.py; what was replaced leaves this list"


@pytest.mark.parametrize(
    "source",
    [
        "task = asyncio.create_task(work())",
        "asyncio.ensure_future(work())",
        "loop.create_task(work())",
        "from asyncio import create_task as begin",
        "start = asyncio.create_task",
    ],
)
def test_the_rule_itself_finds_every_way_to_start_a_task(source: str) -> None:
    assert started(source) == 1


def test_the_rule_itself_leaves_other_words_alone() -> None:
    assert started("background.start(work(), 'create_task')\ncreated_task = 1") == 0

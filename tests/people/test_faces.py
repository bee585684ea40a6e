"""Both faces have the same names, take the same and answer with the same; programs are typed by either."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from handrail.engine.session import Session
from handrail.engine.short_forms import BlockingDeskForms, BlockingForms, DeskForms, ShortForms
from handrail.runtime import Runtime
from handrail.sync.openers import BlockingDesk, BlockingPhone, BlockingRuntime

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent.parent
PAIRS = [(ShortForms, BlockingForms), (DeskForms, BlockingDeskForms)]


def methods(cls: type) -> dict[str, Any]:
    found = inspect.getmembers(cls, inspect.isfunction)
    return {name: member for name, member in found if not name.startswith("_")}


def is_awaited(member: Any) -> bool:
    return inspect.iscoroutinefunction(inspect.unwrap(member))


@pytest.mark.parametrize(("awaited", "blocking"), PAIRS)
def test_every_short_form_is_the_same_in_both(awaited: type, blocking: type) -> None:
    one, other = methods(awaited), methods(blocking)
    assert one.keys() == other.keys()
    assert len(one) > 20
    for name, member in one.items():
        assert inspect.signature(member) == inspect.signature(other[name]), name
        assert member.__doc__ == other[name].__doc__, name
        assert is_awaited(member), name
        assert not is_awaited(other[name]), name


@pytest.mark.parametrize(
    ("awaited", "blocking", "only_there"),
    [
        # What needs a loop of one's own, or another task beside it, is left to the face that is awaited.
        (
            Session,
            BlockingPhone,
            {
                "run_all", "ask_ahead", "allow_ahead", "stop_active_actions", "holder", "stopped", "events",
                "working",
            },
        ),
        (
            Runtime,
            BlockingRuntime,
            {
                *("attach_desk", "use_desk_of", "desk_session", "session_on", "session_with", "new_browser"),
                *("close_sessions", "knows_host", "count", "detach_desk", "opened"),
            },
        ),
    ],
)  # fmt: skip
def test_what_the_other_face_lacks_is_said_here(awaited: type, blocking: type, only_there: set[str]) -> None:
    one, other = methods(awaited), methods(blocking)
    lacking = set(one) - set(other) - {"open"}  # which is `handrail.sync.phone` and its kind
    assert lacking == only_there
    for name in set(one) & set(other):
        theirs = inspect.signature(one[name]).parameters
        assert set(inspect.signature(other[name]).parameters) <= set(theirs), name


def test_a_desk_has_both_forms_of_run() -> None:
    assert {"run", "run_all", "create_window"} <= methods(BlockingDesk).keys()


def test_programs_in_both_faces_pass_a_strict_type_checker(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), "--no-incremental"]
    files = sorted(str(path) for path in (ROOT / "examples").rglob("*.py"))
    assert len(files) > 3
    done = subprocess.run(
        [*command, "--explicit-package-bases", *files], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("reveal_type(p.get_ui_tree().details)", "TreeDetails"),
        ('p.get_ui_tree().details["txt"]', "txt"),
        ('p.get_state().details["state"]["battery"]', "battery"),
        ("p.tap()", "target"),
        ('p.swipe("upwards")', "upwards"),
    ],
)
def test_a_type_checker_finds(tmp_path: Path, line: str, wrong: str) -> None:
    program = tmp_path / "program.py"
    program.write_text(f"from handrail.sync import phone\nwith phone() as p:\n    {line}\n")
    command = [sys.executable, "-m", "mypy", "--strict", str(program)]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout
    assert wrong in said, said

"""`pytest tests/driver --device SERIAL`: what somebody with a phone pastes into an issue."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.driver.conftest import Adb
from tests.driver.promises import table

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.slow
def test_a_run_on_a_phone_ends_with_a_table_of_promises(adb: Adb) -> None:
    words = ["tests/driver/test_promises_screen.py", "--device", adb.serial, "-p", "no:cacheprovider"]
    some = ["-q", "-k", "shows_the_app_in_front or secure_screen"]
    command = [sys.executable, "-m", "pytest", *words, *some]
    done = subprocess.run(command, cwd=ROOT, env=adb.env, capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert any(
        line.startswith("**") and "Android 14" in line and "3 kept, 0 broken" in line for line in lines
    )
    assert "| promise | none | u2 | handrail |" in lines
    assert "| a look shows the app in front | kept | kept | kept |" in lines
    assert adb.serial not in done.stdout.partition("= promises =")[2]


def test_one_broken_example_breaks_the_promise() -> None:
    def report(name: str) -> SimpleNamespace:
        return SimpleNamespace(nodeid=f"tests/driver/test_promises_input.py::test_{name}")

    stats = {
        "passed": [report("a_key_has_many_spellings[server-u2-back]"), report("home_leaves[server-none]")],
        "failed": [report("a_key_has_many_spellings[server-u2-4]")],
        "skipped": [report("home_leaves[server-handrail]")],
    }
    lines = list(table(stats, "A phone"))
    assert lines[0].endswith("1 kept, 1 broken")
    assert "| a key has many spellings | – | BROKEN | – |" in lines
    assert "| home leaves | kept | – | – |" in lines

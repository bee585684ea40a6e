"""Completion: the shell's lines, and what they get when a person presses TAB."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

HANDRAIL = [sys.executable, "-m", "handrail.cli.main"]


def complete(line: str) -> list[str]:
    """What click answers to bash: `kind,word` a line."""
    words = f"handrail {line}"
    asked = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" ")), "_HANDRAIL_COMPLETE": "bash_complete"}
    program = "import sys; sys.argv[0] = 'handrail'; from handrail.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program], env=os.environ | asked, capture_output=True, text=True, check=False
    )
    return [answer.partition(",")[2] for answer in done.stdout.splitlines()]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_lines_that_call_us_back(shell: str) -> None:
    done = subprocess.run([*HANDRAIL, "completion", shell], capture_output=True, text=True, check=True)
    assert f"_HANDRAIL_COMPLETE={shell}_complete" in done.stdout


def test_an_unknown_shell_is_bad_input() -> None:
    done = subprocess.run([*HANDRAIL, "completion", "tcsh"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "bash" in done.stderr


def test_commands_actions_and_options_are_completed() -> None:
    assert complete("ta") == ["take-over", "tap"]
    assert "--expect" in complete("tap --ex")
    assert complete("completion f") == ["fish"]

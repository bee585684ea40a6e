"""Completion in real shells: the lines of docs/install.md, typed into a terminal, and the Tab key."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "install.md").read_text()
START = {
    "bash": (["bash", "--norc", "-i"], ""),
    "zsh": (["zsh", "-f", "-i"], "autoload -Uz compinit; compinit -u"),
    "fish": (["fish", "--no-config", "-i"], ""),
}
ASKED = {
    "handrail jour": "journal",
    "handrail journal check": "checkpoint",
    "handrail scroll": "scroll-to",
    "handrail devices --rel": "--release",
}
"""What is typed before Tab, and the word that it ends in."""


class Terminal:
    """A shell on a terminal of its own, read as it is written."""

    def __init__(self, handle: int) -> None:
        self.handle, self.seen = handle, ""

    def type(self, text: str) -> None:
        os.write(self.handle, text.encode())

    def until(self, pattern: str, seconds: float = 60) -> str:
        """What came until then. The answers of a terminal are given: fish asks who it is."""
        end = time.monotonic() + seconds
        while not re.search(pattern, self.seen):
            ready, _, _ = select.select([self.handle], [], [], max(0, end - time.monotonic()))
            assert ready, f"{pattern!r} did not come:\n{self.seen[-2000:]!r}"
            piece = os.read(self.handle, 65536).decode(errors="replace")
            if "\x1b[0c" in piece or "\x1b[c" in piece:
                self.type("\x1b[?62c")
            self.seen += piece
        found, self.seen = self.seen, ""
        return found


@contextmanager
def terminal(words: list[str], home: Path) -> Iterator[Terminal]:
    child, handle = pty.fork()
    if child == 0:
        env = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(home),
            "TERM": "xterm",
        }
        env |= {"HANDRAIL_HOME": str(home / "home"), "HANDRAIL_NO_DAEMON": "1", "LANG": "C.UTF-8"}
        os.execvpe(words[0], words, env)
    try:
        yield Terminal(handle)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(handle)


def line_for(shell: str) -> str:
    """As the page has it."""
    [found] = re.findall(rf"^(.*handrail completion {shell}\S*(?: \| source)?\"?).*# ", PAGE, flags=re.M)
    return str(found)


@pytest.mark.parametrize("shell", START)
def test_tab_completes_commands_words_and_options(shell: str, tmp_path: Path) -> None:
    words, before = START[shell]
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here")
    with terminal(words, tmp_path) as typed:
        for line in filter(None, (before, line_for(shell))):
            typed.type(f"{line}\r")
        typed.type("echo re''ady\r")
        typed.until("\nready|ready\r")
        for begun, ended in ASKED.items():
            typed.type(f"{begun}\t")
            typed.until(re.escape(ended.removeprefix(begun.rpartition(" ")[2])))
            typed.type("\x15")  # Ctrl-U: the line is empty again


def test_the_page_has_a_line_for_each_shell() -> None:
    assert {shell: bool(line_for(shell)) for shell in START} == dict.fromkeys(START, True)

"""The fenced blocks of the pages: what each is, and how it is to be tried.

A comment right before a block says what is special about it:

    <!-- not run: REASON -->        it can't be, or must not be
    <!-- run by: PATH -->           a test of its own runs it
    <!-- once published -->         tests/docs/test_roles.py runs it in a new environment
    <!-- beside: COMMAND -->        it needs this command to run meanwhile
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/*.md"),
        *ROOT.glob("docs/quickstart/*.md"),
        *ROOT.glob("packages/sim/**/*.md"),
    ]
)
_BLOCK = re.compile(
    r"(?:^ *<!-- (?P<note>[^\n]+) -->\n)?^ *```(?P<language>\w*)\n(?P<text>.*?)^ *```$", re.S | re.M
)
_FILE = re.compile(r"# file: (\S+)\n")
READ_ONLY = ("", "text", "html")
"""Drawings, outputs and pages: nothing in them is to be run."""


@dataclass(frozen=True)
class Block:
    """One fenced block of a page."""

    page: Path
    line: int
    language: str
    text: str
    note: str

    @property
    def name(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def reason(self) -> str:
        """Why it is not run; empty for what is."""
        return self.note.partition("not run: ")[2]

    @property
    def run_by(self) -> str:
        """The test that runs it."""
        return (
            "tests/docs/test_roles.py"
            if self.note == "once published"
            else self.note.partition("run by: ")[2]
        )

    @property
    def beside(self) -> list[str]:
        return shlex.split(self.note.partition("beside: ")[2])

    @property
    def file(self) -> str:
        """The name under which a reader would keep it."""
        found = _FILE.match(self.text)
        return found[1] if found else ""

    @property
    def commands(self) -> list[str]:
        """Of a shell: without comments, continued lines as one."""
        joined = re.sub(r"\\\n\s*", "", self.text)
        lines = (re.sub(r"(^|\s+)# .*", "", line).strip() for line in joined.splitlines())
        return [line for line in lines if line]


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text()
    return [
        Block(
            page,
            text.count("\n", 0, found.start("text")),
            found["language"],
            found["text"],
            found["note"] or "",
        )
        for found in _BLOCK.finditer(text)
    ]


BLOCKS = [block for page in PAGES for block in blocks_of(page)]

"""The files and their right answers, and a file as the phone would have cut it for us."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.corpus import CORPUS

OUTPUTS: Path | None = CORPUS / "outputs" if CORPUS and (CORPUS / "outputs/INDEX.tsv").is_file() else None
NOT_ASKED = re.compile(r"not (?:parsed|asked|read) by the product|not applicable|the product asks for")
_PIPED = re.compile(
    r"(?:dumpsys|settings list) (?P<service>[\w.$ ]+?) \| grep (?P<only>-oE|-E) '(?P<lines>[^']*)'"
)

_CORRECTED = {"pm_list_packages/9_gwm-automotive_1.txt": ("136 packages", "137 packages")}
"""Where the index itself is wrong: this file has 137 lines, and each of them is a package."""


@dataclass(frozen=True, slots=True)
class Case:
    """One file."""

    file: str
    version: str
    answer: str
    fidelity: str
    text: str

    @property
    def kind(self) -> str:
        return self.file.partition("/")[0]

    @property
    def raw(self) -> bool:
        """As a tool wrote it, whole or in part; the others were typed again, or altered."""
        return self.fidelity.startswith("file of the repository")

    @property
    def dated(self) -> bool:
        """The Android version is stated, not estimated."""
        return "est" not in self.version.split()[0]

    @property
    def asked(self) -> bool:
        return not NOT_ASKED.search(self.answer)


def cases() -> Iterator[Case]:
    """In the order of the index."""
    if OUTPUTS is None:
        return
    with (OUTPUTS / "INDEX.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            text = (OUTPUTS / row["file"]).read_bytes().decode("utf-8", "replace")
            answer = row["right_answer"].replace(*_CORRECTED.get(row["file"], ("", "")))
            yield Case(row["file"], row["android_version"], answer, row["fidelity"], text)


def as_cut(script: str, service: str, text: str) -> str:
    """What the phone's own grep would have let through: a rule that cuts too much is a wrong rule."""
    found = next(one for one in _PIPED.finditer(script) if one["service"] == service)
    pattern = re.compile(found["lines"])
    lines = text.splitlines()
    if found["only"] == "-oE":
        return "\n".join(one[0] for line in lines for one in pattern.finditer(line))
    return "\n".join(line for line in lines if pattern.search(line))

"""What the judge says of pairs of real screens: flags, and how many of the same elements kept their refs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from handrail.errors import TreeParseError
from tests.judge.dumps import read
from tests.judge.follow import follow
from tests.judge.judge import Page, is_same, names, objection


class Flag(NamedTuple):
    """A ref that the judge calls wrong."""

    before: str
    after: str
    label: str
    why: str


@dataclass
class Verdicts:
    """Over many pairs."""

    pairs: int = 0
    refs: int = 0
    same: int = 0
    kept: int = 0
    flags: list[Flag] = field(default_factory=list)

    @property
    def share(self) -> float:
        return self.kept / self.same if self.same else 1.0

    def __str__(self) -> str:
        share = f"{self.kept} of {self.same} that are the same kept ({self.share:.1%})"
        return f"{self.pairs} pairs, {self.refs} refs: {share}, {len(self.flags)} flags"


def judge(pairs: Iterable[tuple[Path, Path]]) -> Verdicts:
    """Pairs that one of the readers can't read are left out."""
    found = Verdicts()
    for before, after in pairs:
        roots = read(before), read(after)
        if not all(roots):
            continue
        try:
            followed = follow((before.read_bytes(), roots[0]), (after.read_bytes(), roots[1]))
        except TreeParseError:
            continue
        old, new = Page(roots[0]), Page(roots[1])
        found.pairs += 1
        found.refs += len(followed.kept) + len(followed.lost)
        for _, was, now in followed.kept:
            if why := objection(was, now, old, new):
                found.flags.append(Flag(before.name, after.name, " · ".join(names(was))[:60], why))
        kept = sum(is_same(was, old, new) for _, was, _ in followed.kept)
        found.kept += kept
        found.same += kept + sum(is_same(was, old, new) for _, was in followed.lost)
    return found

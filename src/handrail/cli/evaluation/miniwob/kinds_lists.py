"""Kinds of tasks in a list of entries: something is done to the entry of one person, or to several."""

from __future__ import annotations

import re

from handrail.cli.evaluation.miniwob.kinds_press import needed, quoted, submit
from handrail.cli.evaluation.miniwob.screen import SeenLine, SeenScreen
from handrail.cli.evaluation.miniwob.solver import Solution, scroll, tap


def _icon(lines: list[SeenLine], name: str) -> SeenLine | None:
    """By its name, or by what it is called where it has none."""
    wanted = name.casefold()
    names = ((one, (one.name.casefold(), one.tail.casefold().lstrip("#"))) for one in lines)
    return next((one for one, called in names if wanted in called), None)


def mark_mail(goal: str, screen: SeenScreen) -> Solution:
    """The mail of somebody is deleted or marked by an icon in its row."""
    found = re.search(r"email by (\w+) and click the (\w+) icon", goal)
    if found is None:
        raise LookupError(goal)
    mails = [number for number, line in enumerate(screen.lines) if line.ref and line.parts[0] == found[1]]
    inside = screen.lines[mails[0] + 1 : mails[0] + 3]
    yield tap(needed(_icon(inside, found[2]), found[2]))


def act_on_posts(goal: str, screen: SeenScreen) -> Solution:
    """A button of some or of all posts by somebody, down the list."""
    who, button = re.findall(r"@\w+", goal)[0], quoted(goal)[0]
    some = re.search(r"on (\d+) posts?", goal)
    left = int(some[1]) if some else len(goal)
    done: set[str] = set()
    while True:
        icon = next((one for one in _posts(screen, who, button) if one.ref not in done), None)
        bar = screen.of("s")[0]
        if icon is not None and left:
            done.add(icon.ref)
            left -= 1
            screen = yield tap(icon)
        elif "↓" in bar.tail and (left or screen.named("Submit", "b") is None):
            screen = yield scroll(bar)
        else:
            yield from submit(screen)
            return


def _posts(screen: SeenScreen, who: str, button: str) -> list[SeenLine]:
    """The button in each post of somebody."""
    found: list[SeenLine] = []
    is_theirs, icons = False, list[SeenLine]()
    for line in [*screen.lines[2:], SeenLine("", "@end")]:
        names = re.findall(r"@\w+", line.name)
        if names:
            if is_theirs and (icon := _icon(icons, button)):
                found.append(icon)
            is_theirs, icons = names[-1] == who, []
        elif line.ref:
            icons.append(line)
    return found

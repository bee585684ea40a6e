"""Kinds of tasks in a list of entries: mails, posts, and pages of results to leaf through."""

from __future__ import annotations

import re
from collections.abc import Generator

from handrail_eval.miniwob.kinds_press import needed, quoted, rank, submit
from handrail_eval.miniwob.screen import SeenLine, SeenScreen
from handrail_eval.miniwob.solver import Solution, Step, press, scroll, tap, write

_LEAF = re.compile(r"\d+|[<>«»]|next|prev(ious)?", re.IGNORECASE)
_NAME = re.compile(r"\b[A-Z][a-z]+\b")
_FROM = re.compile(
    r"\b(?:from|by) ([A-Z]\w+)|([A-Z]\w+)(?:'s\b| (?:has )?(?:sent|wrote)| wants (?:his|her|their))"
)
_MARKS = (("trash", r"delet|trash|remov|get rid"), ("star", r"\bstar|important|\bflag"))


def _icon(lines: list[SeenLine], name: str) -> SeenLine | None:
    """By its name, or by what it is called where it has none."""
    wanted = name.casefold()
    names = ((line, (line.name.casefold(), line.tail.casefold().lstrip("#"))) for line in lines)
    return next((one for one, called in names if wanted in called), None)


def handle_mail(goal: str, screen: SeenScreen) -> Solution:
    """The mail of somebody is deleted, marked, answered or sent on, one or several of these."""
    names = _NAME.findall(re.sub(r'"[^"]*"', "", goal))
    screen, row = yield from _mail_of(goal, names, screen)
    inside = screen.lines[screen.lines.index(row) + 1 :][:2]
    for icon, words in _MARKS:
        if re.search(words, goal, re.IGNORECASE):
            screen = yield tap(needed(_icon(inside, icon), icon))
    texts = quoted(goal)
    if not texts and not re.search(r"forward|send|sent|give|wants|pass|share", goal, re.IGNORECASE):
        return
    screen = yield tap(row)
    screen = yield press("Reply" if texts else "Forward")
    others = [name for name in names if name != row.parts[0]]
    field = next(line for line in screen.of("f") if line.value == "")
    screen = yield write(field, texts[0] if texts else others[-1])
    yield tap(next(line for line in screen.lines if line.ref and line.tail.startswith("#send")))


def _mail_of(
    goal: str, names: list[str], screen: SeenScreen
) -> Generator[Step, SeenScreen, tuple[SeenScreen, SeenLine]]:
    """Whose mail it is: the goal says so, or only one of its names is in the list. The list may be long."""
    by = [one for found in _FROM.findall(goal) for one in found if one]
    while True:
        rows = {line.parts[0]: line for line in screen.of("i")}
        found = next((rows[name] for name in (*by, *names) if name in rows), None)
        bars = [line for line in screen.of("s") if "↓" in line.tail]
        if found is not None and (found.parts[0] in by or not by or not bars):
            return screen, found
        screen = yield scroll(needed(bars[0] if bars else None, "a mail"))


def act_on_posts(goal: str, screen: SeenScreen) -> Solution:
    """A button of some or of all posts by somebody, down the list."""
    who, button = re.findall(r"@\w+", goal)[0], quoted(goal)[0]
    some = re.search(r"on (\d+) posts?", goal)
    left = int(some[1]) if some else len(goal)
    done: set[str] = set()
    while True:
        icon = next((post for post in _posts(screen, who, button) if post.ref not in done), None)
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


def leaf_until_found(goal: str, screen: SeenScreen) -> Solution:
    """Pages of results, to the one of a rank or a name; what the goal names of it is pressed."""
    if fields := screen.of("f"):
        screen = yield write(fields[0], quoted(goal)[0])
        screen = yield from _submitted(screen)
    ranked = re.search(r"\d(?:st|nd|rd|th)\b", goal)
    before, seen = 0, list[str]()
    while True:
        entries = [line for line in screen.of("l") if line.name and not _LEAF.fullmatch(line.name)]
        if ranked and rank(goal) < before + len(entries):
            yield tap(entries[rank(goal) - before])
            return
        if not ranked and (found := _named_in(goal, screen)):
            yield tap(found)
            return
        before += len(entries)
        told = screen.says()
        if told == seen:
            raise LookupError("the last page was reached")
        seen = told
        screen = yield tap(needed(screen.named(">") or screen.named("Next"), ">"))


def _submitted(screen: SeenScreen) -> Generator[Step, SeenScreen, SeenScreen]:
    return (yield tap(needed(screen.named("Search", "b") or screen.of("b")[-1], "Search")))


def _named_in(goal: str, screen: SeenScreen) -> SeenLine | None:
    """The entry that the goal speaks of: its link, or of the things below it the one that it names."""
    names = _NAME.findall(goal)[1:]
    at = next((n for n, line in enumerate(screen.lines) if any(part in names for part in line.parts)), None)
    if at is None:
        return None
    wanted, is_label = set(re.findall(r"[a-z]+", goal.casefold())), False
    for line in screen.lines[at:]:
        words = re.findall(r"[a-z]{4,}", f"{line.parts[-1]} {line.tail}".casefold())
        is_named = any(word in wanted for word in words)
        if line.ref and (is_named or is_label) and not _LEAF.fullmatch(line.name or "-"):
            return line
        is_label = is_named and not line.ref  # the words before a link tell what it is
    return None

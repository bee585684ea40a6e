"""Kinds of tasks that pressing solves: things by name and in order, boxes to tick, what must be opened."""

from __future__ import annotations

import re

from handrail_eval.miniwob.screen import SeenLine, SeenScreen
from handrail_eval.miniwob.solver import Solution, key, put, scroll, tap, wait

_IN_ORDER = re.compile(r'button ([A-Z]+)|wait (\d+) seconds|"([^"]+)"')
_SAME = {"x": "Close"}
"""Names that stand for another one on buttons."""
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_RANK = re.compile(r"\b(\d+)(?:st|nd|rd|th)\b")
_PRICE = re.compile(r"\$(\d+(?:\.\d+)?)")


def quoted(goal: str) -> list[str]:
    """What stands in quotation marks."""
    return re.findall(r'"([^"]*)"', goal)


def rank(goal: str) -> int:
    """The first `3rd` in it, counted from zero."""
    found = _RANK.search(goal)
    if found is None:
        raise LookupError(f"no rank in {goal!r}")
    return int(found[1]) - 1


def needed(line: SeenLine | None, what: str) -> SeenLine:
    """Raises `LookupError` where it is not there."""
    if line is None:
        raise LookupError(f"{what!r} is not on the screen")
    return line


def submit(screen: SeenScreen) -> Solution:
    """The button that ends a form, however it is called."""
    names = ("Submit", "Login", "Log in", "OK", "Search", "Create", "Book")
    known = next(filter(None, (screen.named(name, "b") for name in names)), None)
    yield tap(known or screen.of("b")[-1])


def press_in_order(goal: str, screen: SeenScreen) -> Solution:
    """Buttons and links by name, one after another, with pauses where the goal asks for them."""
    parts = _IN_ORDER.findall(goal)
    if not parts:  # there is only one
        yield tap(screen.of("b")[0])
    for upper, seconds, name in parts:
        if seconds:
            screen = yield wait(int(seconds) * 1000)
        else:
            wanted = upper or name
            line = screen.named(wanted) or screen.named(_SAME.get(wanted, wanted))
            screen = yield tap(needed(line, wanted))


def choose_by_label(goal: str, screen: SeenScreen) -> Solution:
    """Boxes, options and lists by their words, then the button."""
    found = re.search(r"[Ss]elect (.*?)(?: from the (?:scroll )?list)?,? and (?:click|press)", goal)
    if found is None:
        raise LookupError(goal)
    for name in found[1].split(", "):
        if name == "nothing":
            break
        line = screen.named(name, "ci")
        if line is None:  # a list that is closed shows one of its options only
            line = screen.of("bg")[0]
            screen = yield put(line, name)
        else:
            screen = yield tap(line)
    yield from submit(screen)


def open_until_found(goal: str, screen: SeenScreen) -> Solution:
    """Tabs, sections, menus and folders are opened one after another until the thing is there."""
    path = _path(goal)
    tried: set[str] = set()
    for number, name in enumerate(path):
        while (line := screen.named(name)) is None:
            opener = next((one for one in _openers(screen) if one.name not in tried), None)
            tried.add(needed(opener, name).name)
            screen = yield tap(needed(opener, name))
        while line is not None:  # what still moves may be missed
            screen = yield tap(line)
            tried.add(line.name)
            line = screen.named(name) if number == len(path) - 1 else None
    if not path:  # only to be opened
        screen = yield tap(_openers(screen)[0])
        yield from submit(screen)


def _path(goal: str) -> list[str]:
    if names := quoted(goal):
        return names
    if found := re.search(r"Select (.*)$", goal):
        return found[1].split(">")
    if found := re.search(r"Click on (Tab #\d+)", goal):
        return [found[1]]
    return []


def _openers(screen: SeenScreen) -> list[SeenLine]:
    closed = [line for line in screen.lines if line.ref and "collapsed" in line.tail]
    return closed or screen.of("l") or screen.of("i") or screen.of("b")


def press_by_number(goal: str, screen: SeenScreen) -> Solution:
    """The greatest or the least of what the buttons say, or what stands over them."""
    cards = [line for line in screen.lines if line.ref and NUMBER.fullmatch(line.name)]
    if "greatest" in goal:
        screen = yield tap(max(cards, key=lambda line: float(line.name)))
        yield from submit(screen)
        return
    yield from take_best_offer(goal, screen)


def take_best_offer(goal: str, screen: SeenScreen) -> Solution:
    """The cheapest, shortest and so on, in a list that may be longer than its box."""
    offers: dict[str, tuple[float, float]] = {}
    minutes = 0.0
    while True:
        for line in screen.lines:
            if found := re.findall(r"(\d+)h (\d+)m", line.name):
                minutes = int(found[-1][0]) * 60 + int(found[-1][1])
            elif line.ref and line.name not in offers and (price := _PRICE.search(line.name)):
                offers[line.name] = float(price[1]), minutes
        bar = next((one for one in screen.of("s") if "↓" in one.tail), None)
        if bar is None:
            break
        screen = yield scroll(bar)
    by = 0 if re.search("cheap|cost|expensive|price", goal) else 1
    best = max if re.search("most expensive|longest|highest", goal) else min
    wanted = best(offers, key=lambda name: offers[name][by])
    while (offer := screen.named(wanted)) is None:
        screen = yield scroll(screen.of("s")[0], back=True)
    yield tap(offer)


def menu_by_keys(goal: str, screen: SeenScreen) -> Solution:
    """A menu whose branches open below the mouse: with the keyboard, branch by branch."""
    path = [quoted(part)[0] if quoted(part) else part for part in _path(goal)]
    if screen.named(path[0]) is None:
        screen = yield tap(needed(next(iter(_openers(screen)), None), path[0]))
    screen = yield key("tab")
    for number, name in enumerate(path):
        while not _is_active(screen, name):
            screen = yield key("down")
        screen = yield key("enter" if number == len(path) - 1 else "right")


def _is_active(screen: SeenScreen, name: str) -> bool:
    return any(line.name == name and '"active' in line.tail for line in screen.lines)


def mark_each(goal: str, screen: SeenScreen) -> Solution:
    """Between the two answers stands the number that they are about."""
    del goal
    marks: list[SeenLine] = []
    for before, line, after in zip(screen.lines, screen.lines[1:], screen.lines[2:], strict=False):
        if NUMBER.fullmatch(line.name) and not line.ref:
            marks.append(before if int(line.name) % 2 else after)
    for line in marks:
        screen = yield tap(line)
    yield from submit(screen)


def watch_a_number(goal: str, screen: SeenScreen) -> Solution:
    """Until a number is as it should be: made anew by a button, or changing by itself."""
    found = re.search(r"(less|greater|more) than (?:or equal to )?\$?(-?\d+(?:\.\d+)?)", goal)
    parity = re.search(r"\b(odd|even)\b", goal)
    for _ in range(60):
        told = _told(screen, goal)
        if told is not None and _fits(told, found, parity):
            break
        maker = screen.named("Generate", "b")
        screen = yield tap(maker) if maker else wait(200)
    yield tap(needed(screen.named("Buy", "b") or screen.named("Submit", "b"), "Submit"))


def _told(screen: SeenScreen, goal: str) -> float | None:
    shown = [part for part in screen.says() if part not in goal]
    found = [one for part in shown for one in re.findall(r"^-?\d+$|(?<=\$)\d+\.\d+", part)]
    return float(found[-1]) if found else None


def _fits(number: float, found: re.Match[str] | None, parity: re.Match[str] | None) -> bool:
    if found is not None:
        return number < float(found[2]) if found[1] == "less" else number > float(found[2])
    return parity is not None and (number % 2 == 1) == (parity[1] == "odd")

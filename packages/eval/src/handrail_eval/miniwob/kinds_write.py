"""Kinds of tasks that writing solves: fields by name and rank, what was read elsewhere, dates, numbers."""

from __future__ import annotations

import calendar
import re
from collections.abc import Generator

from handrail_eval.miniwob.kinds_press import NUMBER, needed, quoted, rank, submit, take_best_offer
from handrail_eval.miniwob.screen import SeenLine, SeenScreen
from handrail_eval.miniwob.solver import Solution, Step, key, put, tap, wait, write

_WORD = re.compile(r"[\w'’]+")


def fill_fields(goal: str, screen: SeenScreen) -> Solution:
    """Words into the field that the goal names, into both, or into the only one."""
    wanted = dict(re.findall(r'(\w+) "([^"]*)"', goal))
    fields = screen.of("f")
    for field in fields:
        named = [text for name, text in wanted.items() if field.name.casefold().startswith(name)]
        text = named[0] if named and len(fields) > 1 else _cased(goal, quoted(goal)[0])
        screen = yield write(_again(screen, field), text)
        while popup := _popup(screen):  # what is over the form is closed first
            screen = yield tap(popup)
            if not _again(screen, field).value:
                screen = yield write(_again(screen, field), text)
    yield from submit(screen)


def _again(screen: SeenScreen, field: SeenLine) -> SeenLine:
    """The same field on a later screen."""
    return next((line for line in screen.of("f") if line.ref == field.ref), field)


def _popup(screen: SeenScreen) -> SeenLine | None:
    if not any("covered" in line.tail or "behind" in line.tail for line in screen.of("f")):
        return None
    return screen.named("Cancel", "b") or screen.named("OK", "b")


def _cased(goal: str, text: str) -> str:
    if "upper case" in goal:
        return text.upper()
    return text.lower() if "lower case" in goal else text


def put_date_or_time(goal: str, screen: SeenScreen) -> Solution:
    """In the form in which fields of that kind take it."""
    if found := re.search(r"(\d\d)/(\d\d)/(\d{4})", goal):
        value = f"{found[3]}-{found[1]}-{found[2]}"
    elif found := re.search(r"(\d+):(\d\d) ([AP])M", goal):
        hour = int(found[1]) % 12 + (12 if found[3] == "P" else 0)
        value = f"{hour:02}:{found[2]}"
    else:
        raise LookupError(goal)
    screen = yield put(screen.of("f")[0], value)
    yield from submit(screen)


def focus(goal: str, screen: SeenScreen) -> Solution:
    """A field, by rank where there are several."""
    fields = screen.of("f")
    yield tap(fields[rank(goal) if len(fields) > 1 else 0])


def copy_over(goal: str, screen: SeenScreen) -> Solution:
    """What stands somewhere, into the field that is empty; a word of it where the goal asks for one."""
    empty = next(line for line in reversed(screen.of("f")) if line.value == "")
    full = [line.value for line in screen.of("f") if line.value]
    if not full:  # a text that is no field; it may have become the field's name
        full = [part for line in screen.lines[2:] for part in line.parts if part and line.kind != "b"]
    text = full[rank(goal) if "text area" in goal and len(full) > 1 else 0]
    if "word" in goal:
        words = _WORD.findall(text)
        text = words[-1] if "last word" in goal else words[rank(goal)]
    screen = yield write(empty, text)
    yield from submit(screen)


def read_table(goal: str, screen: SeenScreen) -> Solution:
    """The cell beside a label, into a field of that name or the only one."""
    told = [part for part in screen.says() if part not in ("Submit",)]
    fields = [line for line in screen.of("f") if line.value == ""]
    asked = re.search(r"the value of (.*?) into", goal)
    for field in fields:
        label = asked[1] if asked else field.name.rstrip(":")
        screen = yield write(field, told[told.index(label) + 1])
    yield from submit(screen)


def calculate(goal: str, screen: SeenScreen) -> Solution:
    """A sum, or an equation with one unknown."""
    del goal
    told = " ".join(screen.says())
    known = re.search(r"(-?\d+) ([-+*×x]) (-?\d+) =\s*(?!-?\d)", told)
    if known:
        answer = _apply(known[2], int(known[1]), int(known[3]))
    elif found := re.search(r"(x|-?\d+) ([-+*]) (x|-?\d+) = (-?\d+)", told):
        answer = next(x for x in range(-500, 500) if _value(found, x) == int(found[4]))
    else:
        raise LookupError(told)
    screen = yield write(screen.of("f")[0], str(answer))
    yield from submit(screen)


def _value(found: re.Match[str], x: int) -> int:
    left, right = (x if one == "x" else int(one) for one in (found[1], found[3]))
    return _apply(found[2], left, right)


def _apply(sign: str, left: int, right: int) -> int:
    return left + right if sign == "+" else left - right if sign == "-" else left * right


def guess(goal: str, screen: SeenScreen) -> Solution:
    """By halves, as the page answers higher or lower."""
    found = re.search(r"between (\d+)-(\d+)", goal)
    low, high = (int(found[1]), int(found[2])) if found else (0, 9)
    while low <= high:
        middle = (low + high) // 2
        screen = yield write(screen.of("f")[0], str(middle))
        screen = yield tap(needed(screen.named("Submit", "b"), "Submit"))
        told = " ".join(screen.says()[1:]).casefold()
        low, high = (low, middle - 1) if "lower" in told else (middle + 1, high)


def slide(goal: str, screen: SeenScreen) -> Solution:
    """Sliders that say their value beside them: focused by a tap, then moved by keys and read back."""
    wanted = [int(one) for one in NUMBER.findall(re.sub(r"\d+(?:st|nd|rd|th)", "", goal))]
    if "spinner" in goal:
        arrows = [line for line in screen.of("b") if not line.name]
        for _ in range(abs(wanted[0])):  # the upper one first
            screen = yield tap(arrows[0 if wanted[0] > 0 else 1])
    else:
        for number, value in enumerate(wanted):
            screen = yield tap(_handles(screen)[number])
            screen = yield from _moved(screen, number, value, goal)
    if "checkbox" in goal:
        screen = yield tap(screen.of("c")[rank(goal)])
    yield from submit(screen)


def _moved(screen: SeenScreen, number: int, value: int, goal: str) -> Generator[Step, SeenScreen, SeenScreen]:
    """By pages while that is nearer, then by single steps."""
    page = 20
    while (shown := _shown(screen, number, goal)) != value:
        by_page = abs(value - shown) > page / 2 and page > 1
        up, down = ("page_up", "page_down") if by_page else ("right", "left")
        screen = yield key(up if shown < value else down)
        if by_page:
            page = abs(_shown(screen, number, goal) - shown)
    return screen


def _handles(screen: SeenScreen) -> list[SeenLine]:
    return screen.of("g") or [line for line in screen.of("b") if NUMBER.fullmatch(line.name)]


def _shown(screen: SeenScreen, number: int, goal: str) -> int:
    shown = [line.name for line in screen.lines if line.name not in goal or not line.name.startswith("S")]
    return int([one for one in shown if NUMBER.fullmatch(one)][number])


def pick_date(goal: str, screen: SeenScreen) -> Solution:
    """A calendar that opens below its field: months by its arrows, then the day."""
    screen = yield from dated(goal, screen)
    yield from submit(screen)


def dated(goal: str, screen: SeenScreen) -> Generator[Step, SeenScreen, SeenScreen]:
    """The goal's date, in the one field that can't be written."""
    month, day, year = (int(one) for one in re.findall(r"(\d\d)/(\d\d)/(\d{4})", goal)[0])
    field = next(line for line in screen.of("f") if "read-only" in line.tail)
    screen = yield tap(field)
    for _ in range(24):
        shown = re.search(rf"({'|'.join(calendar.month_name[1:])})\W+(\d{{4}})", " ".join(screen.says()))
        if shown is None:
            raise LookupError("no calendar")
        at = int(shown[2]) * 12 + list(calendar.month_name).index(shown[1])
        if at == year * 12 + month:
            break
        screen = yield tap(needed(screen.named("Prev" if at > year * 12 + month else "Next"), "Next"))
    screen = yield tap(needed(screen.named(str(day)), str(day)))
    while screen.named("Submit") is None and screen.named("Search") is None:  # the calendar is still over it
        screen = yield wait(200)
    return screen


def complete(goal: str, screen: SeenScreen) -> Solution:
    """The beginning is typed; what is offered and ends as wanted is taken."""
    words = [*quoted(goal), ""]
    screen = yield from completed(screen, screen.of("f")[0], words[0], words[1])
    yield from submit(screen)


def completed(
    screen: SeenScreen, field: SeenLine, first: str, last: str = ""
) -> Generator[Step, SeenScreen, SeenScreen]:
    """One field, by an offer that begins and ends so."""
    screen = yield write(field, first)
    for _ in range(10):
        named = (f"({first})", first)  # a code in brackets, or the beginning
        offers = (line for line in screen.of("bil") if named[0] in line.name or line.name.startswith(first))
        found = next((line for line in offers if line.name.endswith(last)), None)
        if found is not None:
            return (yield tap(found))
        screen = yield wait(200)
    return screen


def book(goal: str, screen: SeenScreen) -> Solution:
    """From where, to where and when; then the best of what is offered."""
    ends = re.search(r"from:? (.*?) to:? (.*?) on ", goal)
    if ends is None:
        raise LookupError(goal)
    for number, place in enumerate(ends.groups()):
        screen = yield from completed(screen, screen.of("f")[number], place)
    screen = yield from dated(goal, screen)
    screen = yield tap(needed(screen.named("Search", "b"), "Search"))
    yield from take_best_offer(goal, screen)


def search_form(goal: str, screen: SeenScreen) -> Solution:
    """What a sentence says of a film, into the fields for it, wherever they stand."""
    found = re.search(r"for (\w[\w -]*?) movies? directed by ([\w -]+?) from year (\d+)", goal)
    if found is None:
        raise LookupError(goal)
    wanted = dict(zip(("genre|type|categor", "director", "year|date|released"), found.groups(), strict=True))
    for field, label in _labels(screen):
        text = next((text for names, text in wanted.items() if re.search(names, label.casefold())), None)
        if text is None:
            raise LookupError(label)
        screen = yield write(field, text)
    yield from submit(screen)


def _labels(screen: SeenScreen) -> list[tuple[SeenLine, str]]:
    """Every field with its own name; where texts stand below their fields, with those."""
    fields = screen.of("f")
    below = [screen.lines[screen.lines.index(field) + 1] for field in fields]
    if all(not line.ref and line.name for line in below):
        return [(field, line.name) for field, line in zip(fields, below, strict=True)]
    return [(field, field.name) for field in fields]


def follow_clauses(goal: str, screen: SeenScreen) -> Solution:
    """A sentence of several orders: tick, write, choose and press, by rank or by name."""
    is_pressed = False
    for clause in re.split(r",? (?:and|then) (?:then )?|, ", goal.rstrip(".")):
        texts, ranked = quoted(clause), re.search(r"\d(?:st|nd|rd|th)\b", clause)
        chosen = re.search(r"(?:[Cc]hoose|[Ss]elect) (.*?) (?:from|in) the", clause)
        if ranked and re.search("radio|check", clause):
            screen = yield tap(screen.of("c")[rank(clause)])
        elif re.search("enter|type|write", clause, re.IGNORECASE) and texts:
            screen = yield write(screen.of("f")[rank(clause) if ranked else 0], texts[0])
        elif chosen:
            screen = yield put(_list(screen), chosen[1].strip('"'))
        elif re.search("click|press", clause, re.IGNORECASE):
            name = texts[0] if texts else clause.split()[-1]
            screen = yield tap(needed(screen.named(name), name))
            is_pressed = True
        else:
            raise LookupError(clause)
    if not is_pressed:
        yield from submit(screen)


def _list(screen: SeenScreen) -> SeenLine:
    """What shows one of its options only."""
    told = [line for line in screen.lines if line.ref and re.search(r"state \"", line.tail)]
    return (told or screen.of("bg"))[0]

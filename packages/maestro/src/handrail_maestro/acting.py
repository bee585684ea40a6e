"""Commands that touch the phone: taps, swipes, texts and keys, with Maestro's own geometry."""

from __future__ import annotations

import math

from handrail.errors import ElementNotFound, InvalidAction
from handrail.flow.parse import Fields, Scalar
from handrail.protocol.device import DoubleTap, HideKeyboard, LongPress, PressKey, Swipe, Tap, TypeText
from handrail.protocol.target import Point
from handrail.protocol.traits import Settle
from handrail.screen.node import Bounds, Screen
from handrail_maestro.find import WantedElement, share_seen
from handrail_maestro.made_up import made_up
from handrail_maestro.play import CommandTurn
from handrail_maestro.words import KEYS, SELECTING

HOLD_MS = 3_000
SWIPE_MS = 400
DELAY_MS = 100.0
ERASED, MOST_ERASED = 50, 1_000
_WAYS = {"up": ((50, 50), (50, 10)), "down": ((50, 20), (50, 90)), "left": ((90, 50), (10, 50)),
         "right": ((10, 50), (90, 50))}  # fmt: skip
"""Per cent of the screen, from where to where the finger goes."""
_FURTHEST = {"up": (None, 10), "down": (None, 90), "left": (10, None), "right": (90, None)}
_OPPOSITE = {"up": "down", "down": "up", "left": "right", "right": "left"}
_MORE_SWIPES = 5
_CENTRED_SHARE = 0.1
"""So much of an element must be seen before it is brought to the middle."""
LOOK_MS = 500.0


async def tap(turn: CommandTurn) -> None:
    """tapOn, doubleTapOn, longPressOn: at the element's centre, whatever lies there."""
    before = turn.on.session.screens.revision
    place = await _place(turn)
    again = turn.command.is_on("retryTapIfNoChange") or turn.command.is_on("waitUntilVisible")
    for number in range(max(1, int(await turn.number("repeat", 1)))):
        if number:
            await turn.walk.clock.sleep_ms(await turn.number("delay", DELAY_MS))
        await _touch(turn, place)
    if again and turn.on.session.screens.revision == before:
        turn.notes.append("nothing changed, so it was tapped once more")
        await _touch(turn, await _place(turn))


async def _touch(turn: CommandTurn, place: Point) -> None:
    if turn.command.name == "longPressOn":
        await turn.walk.act(LongPress(target=place, duration_ms=HOLD_MS), turn.on, turn.record, lenient=True)
    elif turn.command.name == "doubleTapOn":
        await turn.walk.act(DoubleTap(target=place), turn.on, turn.record, lenient=True)
    else:
        await turn.walk.act(Tap(target=place), turn.on, turn.record, lenient=True)


async def _place(turn: CommandTurn) -> Point:
    """Of the screen, or inside the element that is named."""
    point = await turn.text("point")
    selects = set(turn.command.options.entries) & (SELECTING - {"point", "css"})
    if point is not None and not selects:
        screen = await turn.look()
        return _inside(point, screen.bounds)
    screen, node = await turn.steady(await turn.wanted())
    if point is not None:
        return _inside(point, node.bounds)
    return Point(x=node.center.x, y=node.center.y)


def _inside(text: str, box: Bounds) -> Point:
    """`50%,30%` of a box, or px from its left top corner."""
    try:
        first, second = (part.strip() for part in text.split(","))
        if first.endswith("%") and second.endswith("%"):
            across, down = float(first[:-1]) / 100, float(second[:-1]) / 100
            if not (0 <= across <= 1 and 0 <= down <= 1):
                raise ValueError
            x, y = box.left + round(box.width * across), box.top + round(box.height * down)
        else:
            x, y = box.left + int(float(first)), box.top + int(float(second))
    except (ValueError, OverflowError):
        raise InvalidAction(
            f"{text[:60]!r} is not a point", path="point", hint='Write "540,700" or "50%,30%".'
        ) from None
    return Point(x=min(max(x, box.left), box.right - 1), y=min(max(y, box.top), box.bottom - 1))


async def swipe(turn: CommandTurn) -> None:
    """By direction, between two places, or from an element."""
    duration = int(await turn.number("duration", SWIPE_MS))
    screen = await turn.look()
    start, end = turn.command.text("start"), turn.command.text("end")
    if start is not None and end is not None:
        await _move(turn, _inside(start, screen.bounds), _inside(end, screen.bounds), duration)
        return
    direction = (turn.command.text("direction") or "up").strip().lower()
    origin = turn.command.option("from")
    if origin is None:
        here, there = (_share(screen, *one) for one in _WAYS[direction])
        await _move(turn, here, there, duration)
        return
    screen, node = await turn.steady(await turn.wanted(origin))
    place = Point(x=node.center.x, y=node.center.y)
    inner = origin.get("point") if isinstance(origin, Fields) else None
    if isinstance(inner, Scalar):
        place = _inside(await turn.play.filled(inner.text), node.bounds)
    await _move(turn, place, _edge(screen, direction, place), duration)


async def scroll(turn: CommandTurn) -> None:
    """Once, as a swipe up."""
    screen = await turn.look()
    direction = _OPPOSITE[(turn.command.text("direction") or "down").strip().lower()]
    here, there = (_share(screen, *one) for one in _WAYS[direction])
    await _move(turn, here, there, SWIPE_MS)


async def _move(turn: CommandTurn, start: Point, end: Point, duration_ms: int) -> None:
    swipe_ = Swipe(from_=start, to=end, duration_ms=min(max(duration_ms, 0), 60_000))
    await turn.walk.act(swipe_, turn.on, turn.record, lenient=True)


def _share(screen: Screen, across: float, down: float) -> Point:
    x, y = round(screen.width * across / 100), round(screen.height * down / 100)
    return Point(x=min(x, screen.width - 1), y=min(y, screen.height - 1))


def _edge(screen: Screen, direction: str, place: Point) -> Point:
    across, down = _FURTHEST[direction]
    far = _share(screen, across or 0, down or 0)
    return Point(x=place.x if across is None else far.x, y=place.y if down is None else far.y)


async def scroll_until_visible(turn: CommandTurn) -> None:
    """Look for half a second, swipe from the middle, and so on until the time is over."""
    wanted = await turn.wanted(turn.command.option("element"))
    direction = (turn.command.text("direction") or "down").strip().lower()
    end = turn.now + await turn.number("timeout", 20_000)
    speed = await turn.number("speed", 40)
    duration = math.floor(1_000 * (100 - min(max(speed, 0), 100)) / 100) + 1
    is_whole = int(await turn.number("visibilityPercentage", 100)) >= 100
    centred = turn.command.is_on("centerElement")
    more = 0
    while True:
        found = await turn.seek(wanted, turn.now + LOOK_MS)
        seen = share_seen(*found) if found is not None else 0.0
        if found is not None and centred and seen > _CENTRED_SHARE and more < _MORE_SWIPES:
            if _is_central(*_middle(found[1].bounds, found[0]), direction):
                return
            more += 1
        elif found is not None and (not is_whole or seen >= 1):
            return
        if turn.now >= end:
            raise ElementNotFound(f"{wanted} was not found by scrolling {direction}", hint=_SCROLLED)
        screen = await turn.look()
        middle = _share(screen, 50, 50)
        await _move(turn, middle, _edge(screen, _OPPOSITE[direction], middle), duration)


_SCROLLED = "Give it another direction or a longer timeout, or look at the screen."


def _middle(box: Bounds, screen: Screen) -> tuple[float, float]:
    return box.center.x / screen.width, box.center.y / screen.height


def _is_central(across: float, down: float, direction: str) -> bool:
    match direction:
        case "down":
            return down < 0.7
        case "up":
            return down > 0.3
        case "right":
            return across < 0.7
        case _:
            return across > 0.3


async def input_text(turn: CommandTurn) -> None:
    """At the focus, whatever it is."""
    await type_in(turn, await turn.text("text", "", secrets=True) or "")


async def input_random(turn: CommandTurn) -> None:
    """Made-up text; the same in every run of the same flow."""
    length = int(await turn.number("length", 8))
    await type_in(turn, made_up(turn.command.name, turn.play.luck, length))


async def paste_text(turn: CommandTurn) -> None:
    """What was copied, typed."""
    copied = turn.play.copied
    if "${secret:" in copied:
        raise InvalidAction("what was copied names a secret", path="", hint="Type it with inputText.")
    await type_in(turn, copied)


async def type_in(turn: CommandTurn, text: str) -> None:
    """Nothing is typed where there is nothing."""
    if text:
        await turn.walk.act(TypeText(text=text), turn.on, turn.record, lenient=True)


async def erase_text(turn: CommandTurn) -> None:
    """So many deletes at the cursor; not more than the field has letters, where it shows them."""
    count = int(await turn.number("charactersToErase", ERASED))
    screen = await turn.look()
    field = next((node for node in screen.nodes if node.focused and node.role == "text_field"), None)
    if field is not None and not field.password:
        count = min(count, len(field.text))
    for left in range(min(max(0, count), MOST_ERASED), 0, -1):
        settle: Settle = "full" if left == 1 else "none"
        await turn.walk.act(PressKey(key="delete"), turn.on, turn.record, lenient=True, settle=settle)


async def press_key(turn: CommandTurn) -> None:
    """By Maestro's name."""
    name = (turn.command.text("key") or "").strip().lower()
    await turn.walk.act(PressKey(key=KEYS[name]), turn.on, turn.record, lenient=True)


async def back(turn: CommandTurn) -> None:
    """The key."""
    await turn.walk.act(PressKey(key="back"), turn.on, turn.record, lenient=True)


async def hide_keyboard(turn: CommandTurn) -> None:
    """Presses nothing where there is none: Maestro would leave the screen."""
    await turn.walk.act(HideKeyboard(), turn.on, turn.record)


async def copy_text(turn: CommandTurn) -> None:
    """An element's text, else its hint, else its description."""
    wanted: WantedElement = await turn.wanted()
    _, node = await turn.find(wanted)
    text = node.masked_text or node.hint_text or node.description
    if not text:
        raise ElementNotFound(f"{wanted} has no text", hint="Name the element that shows it.")
    turn.play.copy(text)


async def set_clipboard(turn: CommandTurn) -> None:
    """The flow's own; the phone's is not touched."""
    turn.play.copy(await turn.text("text", "") or "")

"""The field that has the focus: what a screen shows of it, reading it, and whether a text has arrived."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from handrail.clock import Clock
from handrail.errors import DeviceError, Timeout
from handrail.tree.node import Node, Screen

DOTS = frozenset("•●⬤∙·*＊")
"""What password fields show for a character."""

Identity = tuple[str, str, str, int]


@dataclass(frozen=True, slots=True)
class TextField:
    """One field at one moment."""

    text: str
    """What it says; dots for a password; "" for a placeholder that is known to be one."""
    password: bool
    hint: str
    identity: Identity
    multiline: bool | None = None
    """None: not asked, or the phone does not tell."""
    enter_acts: bool | None = None
    """The Enter key sends, searches or goes on instead of making a new line."""

    @property
    def vacant(self) -> bool:
        """Certainly empty. A dump without hints shows a placeholder as text, so False proves nothing."""
        return not self.text


def focused_field(screen: Screen) -> TextField | None:
    """The innermost focused field of the topmost window that has one."""
    fields = [node for node in screen.nodes if node.focused and node.role == "text_field"]
    return _field(fields[-1]) if fields else None


def same_field(screen: Screen, field: TextField) -> TextField | None:
    """The same field in a later screen: the focused one first, since a list may have several of a kind."""
    focused = focused_field(screen)
    if focused is not None and focused.identity == field.identity:
        return focused
    like = (node for node in screen.nodes if node.role == "text_field" and _identity(node) == field.identity)
    found = next(like, None)
    return None if found is None else _field(found)


def units(text: str) -> int:
    """Length as Android counts: UTF-16 code units. A password field shows a dot for each."""
    return len(text) + sum(character > "\uffff" for character in text)


def _field(node: Node) -> TextField:
    shown = "" if node.text == node.hint_text else node.text
    if node.password:
        shown = "•" * units(shown) if _is_masked(shown) else ""
    return TextField(shown, node.password, node.hint_text, _identity(node))


def _identity(node: Node) -> Identity:
    """Where a field stands vertically changes with the keyboard and with what is typed into it."""
    return (node.package_name, node.class_name, node.resource_id, node.bounds.left)


def _is_masked(text: str) -> bool:
    """Dots, of which Android shows the last one in clear for a moment; anything else is a placeholder."""
    hidden = text[:-1] or text
    return all(character in DOTS for character in hidden)


Look = Callable[[], Awaitable[Screen]]

SHOWN_WITHIN_MS = 1_000
"""Input commands return when the app has taken their events; a busy app may draw them this much later."""
POLL_MS = 100
"""Two equal looks this far apart are a field that came to rest."""


@dataclass(frozen=True, slots=True)
class FieldReading:
    """One look: the field, if it was there, and the screen, if it could be read."""

    field: TextField | None
    screen: Screen | None

    @property
    def text(self) -> str | None:
        return None if self.field is None else self.field.text


async def first_look(look: Look) -> FieldReading:
    """Before anything is sent. A screen that can't be read is an error: nothing was delivered."""
    try:
        screen = await look()
    except (DeviceError, Timeout) as error:
        error.details.setdefault("delivery", "not_delivered")
        raise
    return FieldReading(focused_field(screen), screen)


async def look_again(look: Look, before: FieldReading) -> FieldReading:
    """After something was sent. A screen that can't be read says nothing about it."""
    try:
        screen = await look()
    except (DeviceError, Timeout):
        return FieldReading(None, None)
    field = before.field
    return FieldReading(None if field is None else same_field(screen, field), screen)


async def look_until(
    look: Look,
    clock: Clock,
    before: FieldReading,
    verdict: Callable[[TextField | None], bool | None],
    within_ms: float = SHOWN_WITHIN_MS,
) -> tuple[FieldReading, bool | None]:
    """Until the verdict is not False, or the field rests in another state than before, or time is up."""
    deadline = clock.monotonic_ms() + within_ms
    last: str | None = None
    while True:
        reading = await look_again(look, before)
        found = verdict(reading.field)
        rests = reading.text == last and reading.text != before.text
        if found is not False or rests or clock.monotonic_ms() >= deadline:
            return reading, found
        last = reading.text
        await clock.sleep_ms(POLL_MS)


# uiautomator's dump writes a dot for what XML 1.0 forbids or discourages.
_NOT_IN_XML = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufddf\ufffe\uffff]"
)


def readable(text: str) -> str:
    """The text as a dump can show it."""
    return _NOT_IN_XML.sub(".", text)


def arrived(before: TextField | None, text: str, after: TextField | None) -> bool | None:
    """True if the field reads as before with the text typed into it; None where that can't be told."""
    if before is None or after is None:
        return None
    if before.password or after.password:
        return units(after.text) == units(before.text) + units(text)
    if after.vacant and text and text == after.hint:
        return None
    return was_typed(readable(before.text), readable(text), readable(after.text))


def was_typed(before: str, text: str, after: str) -> bool:
    """True if `after` is `before` with `text` at the cursor, wherever that was, or over a selection.

    A placeholder that was taken for content falls under the latter: typing replaces it.
    """
    if after == before:
        return not text
    rest = len(after) - len(text)
    if not 0 <= rest <= len(before):
        return False
    head, tail = common_start(before, after), common_start(before[::-1], after[::-1])
    first, last = max(0, rest - tail), min(head, rest)
    return any(after.startswith(text, at) for at in range(first, last + 1))


def common_start(one: str, other: str) -> int:
    """How many characters two texts begin with in common."""
    for number, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return number
    return min(len(one), len(other))


def inserted(before: str, after: str) -> str:
    """What stands in `after` besides `before`, if it stands in one piece; else ""."""
    more, head = len(after) - len(before), common_start(before, after)
    return after[head : head + more] if more > 0 and after[head + more :] == before[head:] else ""


def may_be_there_already(before: TextField, text: str) -> bool:
    """An unchanged field proves nothing if typing may have replaced a selection by the same words."""
    return readable(text) in readable(before.text)


def is_cleared(before: TextField, after: TextField) -> bool | None:
    """True when nothing is left. None when what is left may be a placeholder as well as a rest of the text:
    dumps without hints show both alike."""
    if after.vacant:
        return True
    if after.password or after.hint:
        return False
    return None if is_rest(after.text, before.text) else True


def is_rest(rest: str, whole: str) -> bool:
    """True if deleting characters of `whole` can give `rest`."""
    letters = iter(whole)
    return all(character in letters for character in rest)

"""The focused text field as a screen shows it, and whether a text has arrived in it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from handrail.clock import Clock
from handrail.errors import DeviceError, Timeout
from handrail.screen.node import Node, Screen

DOTS = frozenset("•●⬤∙·*＊")
"""Characters that password fields show."""

Identity = tuple[str, str, str, int]


@dataclass(frozen=True, slots=True)
class TextField:
    """One field at one moment."""

    text: str
    """Dots for a password; "" for a known placeholder."""
    password: bool
    hint: str
    identity: Identity
    multiline: bool | None = None
    """None if unknown."""
    enter_acts: bool | None = None
    """Whether Enter sends, searches or moves on instead of inserting a line break."""

    @property
    def vacant(self) -> bool:
        """Certainly empty. A dump without hints shows a placeholder as text, so False proves nothing."""
        return not self.text


def focused_field(screen: Screen) -> TextField | None:
    """The innermost focused field of the topmost window that has one."""
    fields = [node for node in screen.nodes if node.focused and node.role == "text_field"]
    return _field(fields[-1]) if fields else None


def same_field(screen: Screen, field: TextField) -> TextField | None:
    """The same field in a later screen; the focused one first, because a list may have several alike."""
    focused = focused_field(screen)
    if focused is not None and focused.identity == field.identity:
        return focused
    fields = map(_field, (node for node in screen.nodes if node.role == "text_field"))
    return next((candidate for candidate in fields if candidate.identity == field.identity), None)


def units(text: str) -> int:
    """Length in UTF-16 code units, as Android counts. A password field shows a dot for each."""
    return len(text) + sum(character > "\uffff" for character in text)


def _field(node: Node) -> TextField:
    shown = "" if node.text == node.hint_text else node.text
    if node.password:
        # Android shows the last character in clear for a moment; other texts are placeholders.
        is_masked = all(character in DOTS for character in shown[:-1] or shown)
        shown = "•" * units(shown) if is_masked else ""
    # Without the vertical position, which changes with the keyboard and with the text.
    identity = (node.package_name, node.class_name, node.resource_id, node.bounds.left)
    return TextField(shown, node.password, node.hint_text, identity)


Look = Callable[[], Awaitable[Screen]]

SHOWN_WITHIN_MS = 1_000
"""A busy app may draw this much later than it took the events."""
POLL_MS = 100
"""Two equal looks this far apart mean a stable field."""


@dataclass(frozen=True, slots=True)
class FieldReading:
    """The field, if present, and the screen, if readable."""

    field: TextField | None
    screen: Screen | None

    @property
    def text(self) -> str | None:
        return None if self.field is None else self.field.text


async def look_before_input(look: Look) -> FieldReading:
    """Raises for an unreadable screen: before input, nothing was delivered."""
    try:
        screen = await look()
    except (DeviceError, Timeout) as error:
        error.details.setdefault("delivery", "not_delivered")
        raise
    return FieldReading(focused_field(screen), screen)


async def look_after_input(look: Look, before: FieldReading) -> FieldReading:
    """Does not raise for an unreadable screen: after input, it proves nothing."""
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
) -> tuple[FieldReading, bool | None]:
    """Until the verdict is not False, the field is stable in a new state, or time is up."""
    deadline = clock.monotonic_ms() + SHOWN_WITHIN_MS
    last: str | None = None
    while True:
        reading = await look_after_input(look, before)
        judged = verdict(reading.field)
        rests = reading.text == last and reading.text != before.text
        if judged is not False or rests or clock.monotonic_ms() >= deadline:
            return reading, judged
        last = reading.text
        await clock.sleep_ms(POLL_MS)


# uiautomator's dump replaces what XML 1.0 forbids or discourages by a dot.
_NOT_IN_XML = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufddf\ufffe\uffff]"
)


def dumped_text(text: str) -> str:
    """The text as a dump shows it."""
    return _NOT_IN_XML.sub(".", text)


def arrived(before: TextField | None, text: str, after: TextField | None) -> bool | None:
    """Whether the text was typed into the field; None if that can't be determined."""
    if before is None or after is None:
        return None
    if before.password or after.password:
        return units(after.text) == units(before.text) + units(text)
    if after.vacant and text and text == after.hint:
        return None
    return was_typed(dumped_text(before.text), dumped_text(text), dumped_text(after.text))


def was_typed(before: str, text: str, after: str) -> bool:
    """True if `after` is `before` with `text` at some cursor, or over a selection.

    A placeholder that was taken for content counts as a selection: typing replaces it.
    """
    if after == before:
        return not text
    rest = len(after) - len(text)
    if not 0 <= rest <= len(before):
        return False
    head, tail = common_start(before, after), common_start(before[::-1], after[::-1])
    first, last = max(0, rest - tail), min(head, rest)
    return any(after.startswith(text, at) for at in range(first, last + 1))


def common_start(first: str, other: str) -> int:
    pairs = enumerate(zip(first, other, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(first), len(other)))


def inserted(before: str, after: str) -> str:
    """What `after` has besides `before`, if it is contiguous; else ""."""
    more, head = len(after) - len(before), common_start(before, after)
    return after[head : head + more] if more > 0 and after[head + more :] == before[head:] else ""


def is_cleared(before: TextField | None, after: TextField | None) -> bool | None:
    """Returns None if what is left may be a placeholder as well as the rest of the text: dumps without
    hints show both alike."""
    if before is None or after is None:
        return None
    if after.vacant:
        return True
    if after.password or after.hint:
        return False
    return None if is_rest(after.text, before.text) else True


def is_rest(rest: str, full_text: str) -> bool:
    """True if `rest` is `full_text` with characters deleted."""
    letters = iter(full_text)
    return all(character in letters for character in rest)

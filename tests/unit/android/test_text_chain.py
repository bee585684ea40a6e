"""Which way is tried, when the next one may, and what is put back: decisions over ways made for the test."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from xml.sax.saxutils import quoteattr

import pytest

from handrail.android.text_entry import Eraser, TextEntry, TextMethod
from handrail.android.text_field import TextField
from handrail.errors import AdbCommandError, AdbConnectionError, DeviceOffline, HandrailError
from handrail.screen.node import Screen
from handrail.screen.parse import parse
from handrail.surface.values import Typed
from tests.cases import each
from tests.unit.android.scripted_shell import ScriptedShell

UNKNOWN = AdbConnectionError("the line broke in `input text hunter2`", delivery="unknown", command="hunter2")
NOT_SENT = AdbConnectionError("no connection", delivery="not_delivered")
ANSWERED = AdbCommandError("could not", delivery="unknown", answered=True)


class QuickClock:
    """Time passes when somebody sleeps, and only then."""

    def __init__(self) -> None:
        self.elapsed_ms = 0.0

    def now_ms(self) -> int:
        return int(self.elapsed_ms)

    def monotonic_ms(self) -> float:
        return self.elapsed_ms

    async def sleep_ms(self, duration_ms: float) -> None:
        self.elapsed_ms += duration_ms
        await asyncio.sleep(0)


@dataclass
class Screenful:
    """A phone with one field on it, or none."""

    text: str = ""
    hint: str = ""
    fields: int = 1
    looks: int = 0
    later: list[str] = field(default_factory=list)
    """What the field says from the next looks on: an app that draws late."""
    failing: int = 10_000
    """Looks that succeed before one fails."""

    async def look(self) -> Screen:
        self.looks += 1
        if self.looks > self.failing:
            raise DeviceOffline("the phone is gone")
        if self.later:
            self.text = self.later.pop(0)
        node = (
            f'<node class="android.widget.EditText" package="app" focused="true" enabled="true" '
            f'text={quoteattr(self.text or self.hint)} hint={quoteattr(self.hint)} bounds="[0,0][9,9]" />'
        )
        return parse(f'<hierarchy rotation="0">{node * self.fields or "<node/>"}</hierarchy>')


class Entry(TextEntry):
    """Types by given ways, clears by given erasers."""

    def __init__(
        self,
        phone: Screenful,
        ways: Sequence[TextMethod] = (),
        erasers: Sequence[Eraser] = (),
        say: Callable[[str], object] = lambda _: None,
    ) -> None:
        super().__init__(ScriptedShell(), phone.look, QuickClock(), say=say)
        self._phone, self._ways, self._erasers = phone, ways, erasers

    def ways(self, text: str) -> Sequence[TextMethod]:
        return self._ways

    def erasers(self) -> Sequence[Eraser]:
        return self._erasers or [FakeEraser("erased", self._phone, "")]

    async def delete(self, count: int) -> None:
        self._phone.text = self._phone.text[:-count]


@dataclass
class FakeWay:
    """Does to the field what it is told to do."""

    name: str
    does: Callable[[str], object]
    reason: str | None = None
    error: HandrailError | None = None
    sent: int = 0
    restored: int = 0

    async def can(self, text: str, field: TextField | None) -> str | None:
        return self.reason

    async def send(self, text: str) -> None:
        self.sent += 1
        self.does(text)
        if self.error is not None:
            raise self.error

    async def restore(self) -> None:
        self.restored += 1


def good(phone: Screenful, name: str = "good", error: HandrailError | None = None) -> FakeWay:
    return FakeWay(name, lambda text: setattr(phone, "text", phone.text + text), error=error)


def lost(name: str = "lost", error: HandrailError | None = None) -> FakeWay:
    return FakeWay(name, lambda _: None, error=error)


def doubling(phone: Screenful, name: str = "doubling") -> FakeWay:
    return FakeWay(name, lambda text: setattr(phone, "text", phone.text + text + text))


def typed_by(phone: Screenful, *ways: FakeWay, text: str = "hunter2") -> Typed:
    return asyncio.run(Entry(phone, ways).type_text(text))


def test_lost_input_goes_to_the_next_way_after_time_to_show_has_passed() -> None:
    phone = Screenful()
    assert typed_by(phone, lost(), good(phone)).way == "good"
    assert phone.text == "hunter2"


def test_a_slow_app_is_waited_for_and_nothing_is_sent_twice() -> None:
    phone = Screenful()
    slow = FakeWay("slow", lambda text: phone.later.extend(["", "", "hun", text]))
    spare = good(phone)
    assert typed_by(phone, slow, spare).arrived is True
    assert (spare.sent, phone.text) == (0, "hunter2")


def test_a_wrong_result_is_not_undone_when_content_would_go_with_it() -> None:
    phone = Screenful("keep ")
    spare = good(phone)
    around = FakeWay("around", lambda text: setattr(phone, "text", text + phone.text + text))
    typed = typed_by(phone, around, spare)
    assert (typed.arrived, typed.after, spare.sent) == (False, "hunter2keep hunter2", 0)


def test_what_was_undone_is_not_reported_as_still_there() -> None:
    phone = Screenful()
    typed = typed_by(phone, doubling(phone), lost(error=NOT_SENT))
    assert (typed.arrived, typed.after, phone.text) == (False, "", "")


def test_an_unchanged_field_that_has_the_text_already_is_left_alone() -> None:
    """A selection may have been replaced by the same words: typing again would double them."""
    phone = Screenful("hunter2")
    spare = good(phone)
    typed = typed_by(phone, lost(), spare)
    assert (typed.arrived, spare.sent) == (False, 0)


def test_after_an_unknown_delivery_without_the_text_it_ends_and_does_not_tell_the_text() -> None:
    phone = Screenful()
    broken, spare = lost(error=UNKNOWN), good(phone)
    with pytest.raises(AdbConnectionError) as failure:
        typed_by(phone, broken, spare)
    assert failure.value.details["delivery"] == "unknown"
    assert "hunter2" not in str(failure.value.to_dict())
    assert (broken.restored, spare.sent) == (1, 0)


def test_an_answered_refusal_with_an_unchanged_field_is_followed_by_the_next() -> None:
    phone = Screenful()
    assert typed_by(phone, lost(error=ANSWERED), good(phone)).way == "good"


def test_a_screen_that_cannot_be_read_before_is_an_error_and_nothing_is_sent() -> None:
    phone = Screenful(failing=0)
    way = good(phone)
    with pytest.raises(DeviceOffline) as failure:
        typed_by(phone, way)
    assert failure.value.details["delivery"] == "not_delivered"
    assert way.sent == 0


def test_a_screen_that_cannot_be_read_afterwards_claims_nothing() -> None:
    phone = Screenful(failing=1)
    assert typed_by(phone, good(phone)).arrived is None


async def test_what_a_way_changed_is_put_back_also_when_it_is_cancelled() -> None:
    phone, started = Screenful(), asyncio.Event()

    class Hanging(FakeWay):
        async def send(self, text: str) -> None:
            started.set()
            await asyncio.Event().wait()

    way = Hanging("hanging", print)
    typing = asyncio.ensure_future(Entry(phone, [way]).type_text("a"))
    await started.wait()
    typing.cancel()
    await asyncio.gather(typing, return_exceptions=True)
    assert (typing.cancelled(), way.restored) == (True, 1)


def test_a_failure_to_put_back_is_said_and_the_typing_stands() -> None:
    phone, said = Screenful(), list[str]()

    class Stubborn(FakeWay):
        async def restore(self) -> None:
            raise DeviceOffline("gone")

    way = Stubborn("stubborn", lambda text: setattr(phone, "text", text))
    typed = asyncio.run(Entry(phone, [way], say=said.append).type_text("a"))
    assert typed.arrived is True
    assert said == ["stubborn: could not put back what it changed: DEVICE_OFFLINE"]


@dataclass
class FakeEraser:
    """Leaves the field as it is told to."""

    name: str
    phone: Screenful
    leaves: str | HandrailError
    used: int = 0

    async def erase(self, field: TextField | None) -> None:
        self.used += 1
        if isinstance(self.leaves, HandrailError):
            raise self.leaves
        self.phone.text = self.leaves


def cleared_by(phone: Screenful, *erasers: FakeEraser) -> Typed:
    return asyncio.run(Entry(phone, erasers=erasers).clear_text())


def test_a_field_that_is_known_to_be_empty_is_not_touched() -> None:
    phone = Screenful(hint="Title")
    eraser = FakeEraser("first", phone, "")
    assert (cleared_by(phone, eraser).arrived, eraser.used) == (True, 0)


def test_the_next_eraser_follows_one_that_left_something_or_failed() -> None:
    phone = Screenful("words", hint="Title")
    broken, weak, strong = (
        FakeEraser("broken", phone, NOT_SENT),
        FakeEraser("weak", phone, "word"),
        FakeEraser("strong", phone, ""),
    )
    typed = cleared_by(phone, broken, weak, strong)
    assert (typed.way, typed.before, typed.after, typed.arrived) == ("strong", "words", "", True)


def test_a_field_that_keeps_its_text_is_told() -> None:
    phone = Screenful("words", hint="Title")
    typed = cleared_by(phone, FakeEraser("weak", phone, "words"))
    assert (typed.arrived, typed.after) == (False, "words")


def test_when_no_eraser_works_the_last_error_is_raised() -> None:
    phone = Screenful("words")
    with pytest.raises(AdbConnectionError):
        cleared_by(phone, FakeEraser("broken", phone, NOT_SENT))


# what a way left is taken back before the next one

HALF = AdbCommandError("`input text` failed with exit code 1", delivery="unknown", answered=True)


def part(phone: Screenful, error: HandrailError | None = None) -> FakeWay:
    return FakeWay("part", lambda text: setattr(phone, "text", phone.text + text[:3]), error=error)


@each("former", ["", "kept "])
@each("error", [None, HALF], ids=["silent", "told"])
def test_a_part_that_arrived_is_removed_and_the_next_way_types_it_once(
    former: str, error: HandrailError | None
) -> None:
    phone = Screenful(former)
    typed = typed_by(phone, part(phone, error), good(phone))
    assert (typed.way, typed.arrived) == ("good", True)
    assert phone.text == former + "hunter2"


def test_a_way_that_doubles_is_taken_back_from_behind_other_text() -> None:
    phone = Screenful("kept ")
    assert typed_by(phone, doubling(phone), good(phone)).arrived
    assert phone.text == "kept hunter2"


def test_a_failure_that_nobody_could_mend_is_told_with_what_is_left() -> None:
    phone = Screenful("kept ")
    with pytest.raises(AdbCommandError) as caught:
        typed_by(phone, part(phone, HALF))
    assert caught.value.details["way"] == "part"
    assert "hunter2" not in caught.value.message


def test_a_line_that_broke_is_never_followed_by_another_way() -> None:
    phone = Screenful("kept ")
    spare = good(phone)
    with pytest.raises(AdbConnectionError):
        typed_by(phone, part(phone, UNKNOWN), spare)
    assert spare.sent == 0

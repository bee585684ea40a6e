"""What goes into fields and controls: `type_text`, `clear_text`, `set_value`, and `hide_keyboard`.

Text is read back, and secrets are filled in last. A control is found, then slid, or an entry is chosen.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from operator import itemgetter

from handrail.engine.actions.observations import wait_until
from handrail.engine.actions.scroll import ScrollSearch, scroller_for
from handrail.engine.conditions import Amount, ConditionResult, parse_amount, slider_amount, visible_matches
from handrail.engine.resolve import Aim, follow
from handrail.engine.run import Outcome, Stage, fresh_snapshot
from handrail.engine.snapshot import ScreenAnalysis, UiSnapshot, require_present
from handrail.engine.verify import field_contains, keyboard_hidden, verified_by_read_back
from handrail.errors import (
    ControlConvergenceFailed,
    DeviceError,
    ElementNotFound,
    ElementNotInteractable,
    SemanticMismatch,
    Timeout,
    Unsupported,
    VerificationFailed,
)
from handrail.protocol.device import ClearText, ScrollTo, SetValue, TypeText
from handrail.protocol.envelope import Verification
from handrail.protocol.target import Selector, value_in_words
from handrail.screen.node import Bounds, Node, Screen, ScreenPoint, receiver, scrolls, touchable
from handrail.screen.reach import tap_point, visible_part
from handrail.screen.text import contains_words, describe, name_of
from handrail.screen.windows import SYSTEM_UI, has_keyboard
from handrail.surface.capabilities import ControlValue, TypingWay
from handrail.surface.gesture import swipe, tap
from handrail.surface.values import Typed

_CONTROLS = ("slider", "spinner")


async def hide_keyboard(stage: Stage) -> Outcome:
    """Back closes the keyboard. Without a keyboard it would leave the screen, so nothing is pressed."""
    if not has_keyboard(stage.before.screen):
        return Outcome(verification=verified_by_read_back("no keyboard"), settle="none")
    await stage.input.key("back")
    return Outcome(proof=keyboard_hidden())


async def set_value(stage: Stage, action: SetValue) -> Outcome:
    """Raises `ControlConvergenceFailed` with the value it stopped at."""
    aim, screen = stage.aim(), stage.before.screen
    node = _control_of_target(screen, aim)
    wanted = list(action.value) if isinstance(action.value, tuple) else str(action.value)
    if reply := await _set_by_surface(stage, node or aim.touched, wanted):
        return reply
    if isinstance(wanted, list):
        raise SemanticMismatch(
            f"{aim} takes one value", hint="Give one; lists of web pages take several.", ref=aim.ref
        )
    if node is None and offers_choice(aim.touched) and receiver(aim.node) is aim.touched:
        node = aim.touched
    if node is None:
        raise SemanticMismatch(
            f"{aim} has no value to set",
            hint="Aim at a slider (@v…), a spinner or a row that opens a choice; "
            "use type_text for fields and tap for switches.",
            ref=aim.ref,
        )
    if node.role == "slider":
        return await SliderMove(stage, action, node).run()
    return await choose_option(stage, node, wanted)


async def _set_by_surface(stage: Stage, node: Node, value: ControlValue) -> Outcome | None:
    """Returns None if the surface can't set this control, so gestures have to."""
    if not node.native_id:
        return None
    _touch_point(stage, node)  # raises if it is covered or disabled
    reply = await stage.input.set_value(node, value)
    if reply is None:
        return None
    if not reply.is_set:
        offered = f"; there are {', '.join(map(repr, reply.offers[:LISTED]))}" if reply.offers else ""
        raise ControlConvergenceFailed(
            f"The control does not take {value_in_words(value)}{offered}; "
            f"it says {value_in_words(reply.value)}",
            expected=value,
            observed=reply.value,
            offers=list(reply.offers[:LISTED]) or None,
        )
    return Outcome(
        details={"moves": 1},
        verification=verified_by_read_back(
            reply.value, value if isinstance(value, str) else ", ".join(value)
        ),
    )


def _control_of_target(screen: Screen, aim: Aim) -> Node | None:
    """The target itself, or the only control that its words can belong to."""
    for node in (aim.node, aim.touched):
        if only := _only_control(screen, node):
            return only
    if receiver(aim.node) is not None:
        return None  # a row or button of its own, not the caption of a control beside it
    for around in aim.node.ancestors():
        others = [part for part in screen.inside(around) if touchable(part) and part.role not in _CONTROLS]
        if scrolls(around) or others:
            return None
        if only := _only_control(screen, around):
            return only
    return None


def _only_control(screen: Screen, node: Node) -> Node | None:
    inside = [part for part in (node, *screen.inside(node)) if part.role in _CONTROLS]
    return inside[0] if len(inside) == 1 else None


LISTED = 20
"""Choices in an error."""
_OTHER_KINDS = frozenset(
    {"button", "image_button", "switch", "check_box", "radio_button", "text_field", "tab", "slider"}
)


def offers_choice(node: Node) -> bool:
    """A spinner, or a tappable node of no other kind with words that may be its value."""
    parts = [node, *_nodes_below(node)]
    plain = not any(part.checkable or part.role in _OTHER_KINDS for part in parts)
    return node.role == "spinner" or (node.clickable and plain and bool(_words_of_control(node)))


async def choose_option(stage: Stage, control: Node, label: str) -> Outcome:
    """Opens the list, taps the entry and reads the control. A control that already has the value is not
    touched."""
    before, taps = stage.before, 0
    if not _shows_value(control, label):
        opened = await _tap_and_settle(stage, before, control)
        control_now = follow(stage.screens, before.screen, opened.screen, control)
        option, snapshot = await _find_option(stage, opened, control_now, label)
        closed = await _tap_and_settle(stage, snapshot, option)
        control = follow(stage.screens, before.screen, closed.screen, control) or control
        taps = 2
    words = _words_of_control(control)
    if not _shows_value(control, label):
        raise ControlConvergenceFailed(
            f"{label!r} was chosen, and the control says {' · '.join(words)!r}",
            expected=label,
            observed=words,
        )
    return Outcome(
        details={"moves": taps}, verification=verified_by_read_back(words[-1], label), settle="none"
    )


async def _find_option(
    stage: Stage, snapshot: UiSnapshot, control: Node | None, label: str
) -> tuple[Node, UiSnapshot]:
    """The entry with this label, scrolled into view if necessary, and its snapshot."""
    # The topmost window's entry. Words beside the control itself, as the other half of a time, are none.
    beside = control.parent if control else None
    options = [
        node
        for node in visible_matches(snapshot.screen, Selector(text=label), stage.screens.registry)
        if receiver(node) is not None and not (beside and node.is_inside(beside))
    ]
    option = options[-1] if options else None
    if option is None and scroller_for(snapshot.screen, "down") is not None:
        with suppress(ElementNotFound):
            search = ScrollSearch(stage, ScrollTo(target=Selector(text=label)), snapshot)
            option = await search.run()
    if option is None:
        own = [window for window in snapshot.screen.windows if window.package_name != SYSTEM_UI]
        top = (own or snapshot.screen.windows)[-1]
        named = [name_of(node) for node in snapshot.screen.inside(top) if touchable(node)]
        offers = list(dict.fromkeys(name for name in named if name))[:LISTED]
        raise ControlConvergenceFailed(
            f"{label!r} is not offered; there are {', '.join(map(repr, offers)) or 'no entries'}",
            hint="The list is still open: choose one of its entries, or press back.",
            expected=label,
            offers=offers,
        )
    return option, require_present(stage.screens.last)


async def _tap_and_settle(stage: Stage, snapshot: UiSnapshot, node: Node) -> UiSnapshot:
    point = tap_point(snapshot.screen, node, stage.screens.registry.ref_of)
    await stage.input.perform(tap(point))
    return (await stage.settle(snapshot)).snapshot


def _shows_value(control: Node, label: str) -> bool:
    """A single text must equal the value; beside a title, the value may be part of a sentence."""
    words = _words_of_control(control)
    return any(_is_same_value(word, label) for word in words) or any(
        contains_words(word, label) for word in words[1:]
    )


def _is_same_value(word: str, label: str) -> bool:
    try:
        return float(word) == float(label)  # "05" is 5
    except ValueError:
        return word == label


def _words_of_control(node: Node) -> list[str]:
    """Its texts in order: the title first, then the value, which some controls report as their state."""
    texts = [words for part in (node, *_nodes_below(node)) if (words := part.masked_text or part.description)]
    return [*texts, node.state_description] if node.role == "spinner" and node.state_description else texts


def _nodes_below(node: Node) -> Iterator[Node]:
    for child in node.children:
        yield child
        yield from _nodes_below(child)


MOVES = 8
SLIDE_MS = 300
SLOP_PX = 48
"""A shorter move may count as a tap, which many sliders ignore."""
STEPPED = 2
"""If two tries between two values gave no new value, the slider moves in steps."""
INSET = 0.25
"""Share of the slider's thickness at each end: toolkits start the thumb's centre 10 to 24 dp inside its 48
dp."""
FINGER_PX = 2.0
"""No finger aims better: a value within this distance is reached, and two places this close have none
between."""

Place = tuple[float, float]
"""A thumb position, and the value that was read there."""


@dataclass(frozen=True, slots=True)
class SliderTrack:
    """The range of the thumb. `place` is 0 at the low end and 1 at the high end."""

    box: Bounds

    @property
    def upright(self) -> bool:
        return self.box.height > 2 * self.box.width

    @property
    def inset(self) -> float:
        return min(self.box.width, self.box.height) * INSET

    @property
    def length(self) -> float:
        return max(self.box.width, self.box.height) - 2 * self.inset

    @property
    def beyond(self) -> float:
        """How far the element extends past 0 and 1."""
        return (self.inset - 1) / self.length

    def point(self, place: float) -> ScreenPoint:
        along, box = round(self.inset + place * self.length), self.box
        if self.upright:
            return ScreenPoint(box.center.x, box.bottom - along)
        return ScreenPoint(box.left + along, box.center.y)


class SliderMove:
    """Moves a slider to a value: move, read back, correct. The scale is learned from the values that are
    read.

    A slider that does not report its value is placed by geometry and is not verified.
    """

    def __init__(self, stage: Stage, action: SetValue, node: Node) -> None:
        wanted = parse_amount(str(action.value))
        if wanted is None:
            raise SemanticMismatch(
                f"A slider takes a number, not {value_in_words(action.value)}",
                hint="Give a number, such as 40 or 40%.",
            )
        self.stage = stage
        self.wanted = wanted
        self.tolerance = max(action.tolerance, 1e-9)
        self.most = action.max_moves or MOVES
        self.node = node
        self.snapshot = stage.before
        self.samples: list[Place] = []
        _touch_point(stage, node)  # raises if it is covered or disabled

    async def run(self) -> Outcome:
        amount_now = slider_amount(self.snapshot.screen, self.node)
        if amount_now is None or (self.wanted.percent and not amount_now.percent):
            return await self._by_geometry()
        thumb = self._guess_place(amount_now.value, amount_now.percent)
        while not self._is_close_enough(amount_now):
            place = self._next_place(amount_now.percent)
            if place is None or len(self.samples) == self.most:
                raise self._convergence_error(amount_now.value)
            await self._drag_to(thumb, place)
            amount_now = slider_amount(self.snapshot.screen, self.node)
            if amount_now is None:
                raise self._convergence_error(None)
            thumb = place
            self.samples.append((place, amount_now.value))
        verification = verified_by_read_back(amount_now.value, self.wanted.value)
        return Outcome(details={"moves": len(self.samples)}, verification=verification, settle="none")

    async def _by_geometry(self) -> Outcome:
        """Moves the slider by its position on the track, because it does not report its value in this unit.
        The result can't be verified."""
        if not 0 <= self.wanted.value <= 100:
            raise SemanticMismatch(
                f"This slider does not report its value, so it takes a percentage, not {self.wanted.value:g}",
                hint="Give a number from 0 to 100.",
            )
        place = self._guess_place(self.wanted.value, True)
        await self._drag_to(1 - place, place)
        return Outcome(details={"moves": 1, "placed_at_percent": self.wanted.value}, settle="none")

    def _is_close_enough(self, amount_now: Amount) -> bool:
        """After a move, a continuous value need not be closer than a finger can aim."""
        off = abs(amount_now.value - self.wanted.value)
        aimed = (
            bool(self.samples)
            and off * abs(self._places_per_unit(amount_now.percent)) * self.track.length <= FINGER_PX
        )
        return off <= self.tolerance or aimed

    def _guess_place(self, value: float, percent: bool) -> float:
        """Assumes a scale of 0 to 100, until values have been read; the ends are the element's own."""
        if value <= 0:
            return -self.track.beyond
        if percent and value >= 100:
            return 1 + self.track.beyond
        return min(1.0, max(0.0, value / 100))

    @property
    def track(self) -> SliderTrack:
        return SliderTrack(visible_part(self.snapshot.screen, self.node))

    def _next_place(self, percent: bool) -> float | None:
        """The best estimate of where the value is; None if there is no such place."""
        wanted = self.wanted.value
        if not self.samples:
            return self._guess_place(wanted, percent)
        below = _closest_samples([sample for sample in self.samples if sample[1] < wanted], wanted)
        above = _closest_samples([sample for sample in self.samples if sample[1] > wanted], wanted)
        if below and above:
            nearest = min(product(below, above), key=lambda pair: abs(pair[0][0] - pair[1][0]))
            (low, low_value), (high, high_value) = nearest
            values = [value for _, value in self.samples]
            tries = len(values) - 1 - max(values.index(low_value), values.index(high_value))
            if tries >= STEPPED or abs(high - low) * self.track.length <= FINGER_PX:
                return None  # two tries gave no new value
            # By proportion, then in the middle.
            share = (wanted - low_value) / (high_value - low_value)
            return self._unless_tried(low + share * (high - low)) or (low + high) / 2
        slope = self._places_per_unit(percent)
        places = [place + (wanted - value) * slope for place, value in below or above]
        furthest = max if (slope > 0) == bool(below) else min
        return self._unless_tried(furthest(places))

    def _places_per_unit(self, percent: bool) -> float:
        """Places per unit: from the two most distant values, else from a scale that begins at 0."""
        low, high = (pick(self.samples, key=itemgetter(1, 0)) for pick in (min, max))
        if low[1] != high[1]:
            return (high[0] - low[0]) / (high[1] - low[1])
        place, value = self.samples[-1]
        return place / value if value > 0 and place > 0 and not percent else 0.01

    def _unless_tried(self, place: float) -> float | None:
        beyond = self.track.beyond
        place = min(1 + beyond, max(-beyond, place))
        half_pixel = 0.5 / self.track.length
        return None if any(abs(place - tried) < half_pixel for tried, _ in self.samples) else place

    async def _drag_to(self, start: float, end: float) -> None:
        track, stage = self.track, self.stage
        if abs(end - start) * track.length < SLOP_PX:
            start = end - SLOP_PX / track.length if end > 0.5 else end + SLOP_PX / track.length
        await stage.input.perform(swipe(track.point(start), track.point(end), SLIDE_MS))
        old, self.snapshot = self.snapshot, (await stage.settle(self.snapshot)).snapshot
        self.node = follow(stage.screens, old.screen, self.snapshot.screen, self.node) or self.node

    def _convergence_error(self, value: float | None) -> ControlConvergenceFailed:
        tried = [value for _, value in self.samples]
        return ControlConvergenceFailed(
            f"The slider would not take {self.wanted.value:g}; it stopped at "
            + (f"{value:g}" if value is not None else "a value that can't be read"),
            expected=self.wanted.value,
            observed=value,
            tried=tried,
        )


def _closest_samples(samples: list[Place], wanted: float) -> list[Place]:
    nearest = min((abs(value - wanted) for _, value in samples), default=0.0)
    return [sample for sample in samples if abs(sample[1] - wanted) == nearest]


FOCUS_MS = 3_000.0
"""How long a tapped field may take to get the focus: a search bar may open another screen first."""
SLOW_MS = 150.0
"""A channel that waits for idle and took longer has already settled: its read-back is enough."""


async def type_text(stage: Stage, action: TypeText) -> Outcome:
    stage.input.require_typing_way(action.how)
    if action.how == "keys" and action.target is None and _focused_field(stage.before.screen) is None:
        typed = await stage.input.type_without_field((await stage.fill(action.text)).text)
        if action.submit:
            await stage.input.key("enter")
        return Outcome(details={"way": typed.way})
    aimed = await _field_to_type_into(stage)
    filled = await stage.fill(action.text)
    text = filled.text
    field = await _focus_field(stage, aimed)
    expected = f"{len(text)} characters" if field.password and not filled.names else action.text
    typed = await (
        _replace_text(stage, field, text, action.how)
        if action.clear
        else stage.input.type_text(text, action.how)
    )
    if typed.arrived is not False and action.submit:
        await stage.input.key("enter")
    is_told = not (field.password or typed.is_hidden or typed.after is None)
    if action.clear and is_told and typed.after != stage.input.reads_back_as(text):
        # The text arrived, but the field still has other text.
        typed = Typed(typed.way, typed.before, typed.after, False, typed.screen)
    return _outcome_of_typing(stage, field, typed, expected, submitted=action.submit)


async def clear_text(stage: Stage, _: ClearText) -> Outcome:
    field = await _focus_field(stage, await _field_to_type_into(stage))
    typed = await stage.input.clear_text()
    return _outcome_of_typing(stage, field, typed, "0 characters" if field.password else "", submitted=False)


async def _field_to_type_into(stage: Stage) -> Node:
    """Raises before anything is dispatched if the field can't be typed into."""
    aim = stage.run.aims.get("target")
    if aim is None:
        focused = _focused_field(stage.before.screen) or _focused_field((await fresh_snapshot(stage)).screen)
        if focused is None:
            raise ElementNotInteractable(
                "No field has the focus, and no target was given",
                hint="Tap a field first, or give `target`.",
                reason="nothing focused",
            )
        return focused
    # The target itself, the only field in it, or a search bar that opens one.
    touched, screen = aim.touched, stage.before.screen
    fields = [node for node in (touched, *screen.inside(touched)) if node.role == "text_field"]
    # A search bar is known by its id, which is not translated, or by its words.
    words = f"{touched.id_tail} {name_of(touched)}".lower()
    if len(fields) != 1 and not (touched.clickable and "search" in words):
        raise SemanticMismatch(
            f"{aim} is not a text field",
            hint="Aim at a field: its ref begins with @f. Tap whatever opens the field first.",
            ref=aim.ref,
        )
    field = fields[0] if len(fields) == 1 else touched
    _touch_point(stage, field)
    return field


def _touch_point(stage: Stage, field: Node) -> ScreenPoint:
    return tap_point(stage.before.screen, field, stage.screens.registry.ref_of)


def _focused_field(screen: Screen) -> Node | None:
    """The innermost focused field of the topmost window, which receives the input."""
    fields = [node for node in screen.nodes if node.focused and node.role == "text_field"]
    return fields[-1] if fields else None


async def _focus_field(stage: Stage, field: Node) -> Node:
    """Taps the field, waits until it or a field that opened for it has the focus, and returns that."""
    aim = stage.run.aims.get("target")
    if aim is None or field.focused:
        return field
    before, screens = stage.before.screen, stage.screens
    earlier = _focused_field(before)

    def has_focus(snapshot: UiSnapshot) -> ConditionResult:
        focused = _focused_field(snapshot.screen)
        node = follow(screens, before, snapshot.screen, field)
        stayed = earlier is not None and follow(screens, before, snapshot.screen, earlier) is focused
        took_it = focused is node if node and node.role == "text_field" else not stayed
        return ConditionResult(focused is not None and took_it, "the focus", focused)

    point = _touch_point(stage, field)
    await stage.input.perform(tap(point))
    snapshot, verdict = await wait_until(screens, stage.clock, has_focus, FOCUS_MS)
    screens.adopt(snapshot)
    if not verdict.met:
        other = f"; {describe(verdict.observed)} has it" if verdict.observed is not None else ""
        raise ElementNotInteractable(
            f"{aim} did not get the focus when it was tapped{other}", reason="no focus", ref=aim.ref
        )
    return require_present(_focused_field(snapshot.screen))


async def _replace_text(stage: Stage, field: Node, text: str, how: TypingWay | None) -> Typed:
    """The field is cleared only if the text can be typed. If typing fails and leaves it empty, the old text
    is put back. If the old text can't be removed, nothing is typed."""
    await stage.input.require_way(text)
    cleared = await stage.input.clear_text()
    if cleared.arrived is False:
        says, left = "The field could not be cleared, so nothing was typed", _observed_text(cleared, field)
        failed = Verification(mode="built_in", expected="", observed=left, outcome="failed")
        stage.run.verification = failed
        raise VerificationFailed(says, expected="", observed=left, way=cleared.way)
    try:
        typed = await stage.input.type_text(text, how)
    except (DeviceError, Timeout, Unsupported) as error:
        if error.details.get("delivery") == "not_delivered":
            error.details["former_text"] = await _restore_text(stage, field, cleared)
        raise
    if typed.arrived is False and typed.after == "":
        stage.run.details["former_text"] = await _restore_text(stage, field, cleared)
    return typed


async def _restore_text(stage: Stage, field: Node, cleared: Typed) -> str:
    """A placeholder was not typed by anybody, and hidden text can't be typed again."""
    former = cleared.before
    if not former or cleared.arrived is not True or cleared.is_hidden or field.password:
        return "not known"
    try:
        back = await stage.input.type_text(former)
    except (DeviceError, Timeout, Unsupported):
        return "lost"
    return "put back" if back.arrived else "lost"


def _observed_text(typed: Typed, field: Node) -> str | None:
    """Returns None for a field with hidden text: even its length is not reported."""
    if typed.is_hidden or not field.password:
        return typed.after
    return f"{len(typed.after or '')} characters"


def _outcome_of_typing(stage: Stage, field: Node, typed: Typed, expected: str, *, submitted: bool) -> Outcome:
    stage.run.details |= {"way": typed.way} | ({"password": True} if field.password else {})
    if typed.arrived is None:
        return Outcome()
    observed = expected if typed.is_hidden and typed.arrived else _observed_text(typed, field)
    verdict = Verification(
        mode="built_in",
        expected=expected,
        observed=observed,
        outcome="verified" if typed.arrived else "failed",
    )
    if not typed.arrived:
        failure = VerificationFailed(
            "The field does not contain the typed text", expected=expected, observed=observed, way=typed.way
        )
        return Outcome(verification=verdict, failure=failure)
    if not submitted and _took_read_back(stage, typed):
        return Outcome(verification=verdict, settle="none")
    keeps = not (submitted or field.password or typed.is_hidden)
    aim = stage.run.aims.get("target")
    return Outcome(
        proof=field_contains(stage.before, aim, typed.after) if keeps else None, verification=verdict
    )


def _took_read_back(stage: Stage, typed: Typed) -> bool:
    """On a slow device the read-back becomes the snapshot after the action, which saves one capture."""
    last = stage.screens.last
    if typed.screen is None or last is None or not stage.screens.reader.waits_for_idle:
        return False
    took = last.ended_ms - last.began_ms
    if took < SLOW_MS:
        return False
    now = stage.clock.monotonic_ms()
    stage.run.after = UiSnapshot(ScreenAnalysis(typed.screen), now - took, now)
    stage.screens.adopt(stage.run.after)
    return True

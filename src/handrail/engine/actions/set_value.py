"""`set_value`: finds the control, then slides it or chooses an entry. Also `hide_keyboard`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from operator import itemgetter

from handrail.engine.actions.scroll import scroll_into_view, scroller_for
from handrail.engine.conditions import Amount, amount, matches, reading
from handrail.engine.resolve import Aim, follow
from handrail.engine.run import Outcome, Stage
from handrail.engine.snapshot import UiSnapshot, required
from handrail.engine.verify import keyboard_hidden, verified
from handrail.errors import ControlConvergenceFailed, ElementNotFound, SemanticMismatch
from handrail.protocol.device import ScrollTo, SetValue
from handrail.protocol.target import Selector, in_words
from handrail.screen.node import Bounds, Node, Screen, ScreenPoint, receiver, scrolls, touchable
from handrail.screen.reach import tap_point, visible_part
from handrail.screen.text import contains_words, name_of
from handrail.screen.windows import SYSTEM_UI, has_keyboard
from handrail.surface.gesture import swipe, tap

_CONTROLS = ("slider", "spinner")


async def hide_keyboard(stage: Stage) -> Outcome:
    """Back closes the keyboard. Without a keyboard it would leave the screen, so nothing is pressed."""
    if not has_keyboard(stage.before.screen):
        return Outcome(verification=verified("no keyboard"), settle="none")
    await stage.input.key("back")
    return Outcome(proof=keyboard_hidden())


async def set_value(stage: Stage, action: SetValue) -> Outcome:
    """Raises `ControlConvergenceFailed` with the value it stopped at."""
    aim, screen = stage.aim(), stage.before.screen
    node = _control(screen, aim)
    if reply := await _by_surface(stage, node or aim.touched, str(action.value)):
        return reply
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
        return await Slide(stage, action, node).run()
    return await choose(stage, node, str(action.value))


async def _by_surface(stage: Stage, node: Node, value: str) -> Outcome | None:
    """None if the surface can't set this control, so gestures have to."""
    if not node.native_id:
        return None
    tap_point(stage.before.screen, node, stage.screens.registry.ref_of)  # raises if it is covered or disabled
    reply = await stage.input.set_value(node, value)
    if reply is None:
        return None
    if not reply.is_set:
        offered = f"; there are {', '.join(map(repr, reply.offers[:LISTED]))}" if reply.offers else ""
        raise ControlConvergenceFailed(
            f"The control does not take {in_words(value)}{offered}; it says {in_words(reply.value)}",
            expected=value,
            observed=reply.value,
            offers=list(reply.offers[:LISTED]) or None,
        )
    return Outcome(details={"moves": 1}, verification=verified(reply.value, value))


def _control(screen: Screen, aim: Aim) -> Node | None:
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
    parts = [node, *_below(node)]
    plain = not any(part.checkable or part.role in _OTHER_KINDS for part in parts)
    return node.role == "spinner" or (node.clickable and plain and bool(_words(node)))


async def choose(stage: Stage, control: Node, label: str) -> Outcome:
    """Opens the list, taps the entry and reads the control. A control that already has the value is not
    touched."""
    before, taps = stage.before, 0
    if not _shows(control, label):
        opened = await _tap(stage, before, control)
        option, snapshot = await _option(stage, opened, _now(stage, before, opened, control), label)
        closed = await _tap(stage, snapshot, option)
        control = _now(stage, before, closed, control) or control
        taps = 2
    words = _words(control)
    if not _shows(control, label):
        raise ControlConvergenceFailed(
            f"{label!r} was chosen, and the control says {' · '.join(words)!r}",
            expected=label,
            observed=words,
        )
    return Outcome(details={"moves": taps}, verification=verified(words[-1], label), settle="none")


def _now(stage: Stage, old: UiSnapshot, new: UiSnapshot, node: Node) -> Node | None:
    return follow(stage.screens, old.screen, new.screen, node)


async def _option(
    stage: Stage, snapshot: UiSnapshot, control: Node | None, label: str
) -> tuple[Node, UiSnapshot]:
    """The entry with this label, scrolled into view if necessary, and its snapshot."""
    option = _offered(stage, snapshot, control, label)
    if option is None and scroller_for(snapshot.screen, "down") is not None:
        with suppress(ElementNotFound):
            option = await scroll_into_view(stage, ScrollTo(target=Selector(text=label)), snapshot)
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
    return option, required(stage.screens.last)


def _offered(stage: Stage, snapshot: UiSnapshot, control: Node | None, label: str) -> Node | None:
    """In the topmost window that has it. Words beside the control itself, such as the other half of a time,
    are not entries."""
    beside = control.parent if control else None
    options = [
        node
        for node in matches(snapshot.screen, Selector(text=label), stage.screens.registry)
        if receiver(node) is not None and not (beside and node.is_inside(beside))
    ]
    return options[-1] if options else None


async def _tap(stage: Stage, snapshot: UiSnapshot, node: Node) -> UiSnapshot:
    point = tap_point(snapshot.screen, node, stage.screens.registry.ref_of)
    await stage.input.perform(tap(point))
    return (await stage.settle(snapshot)).snapshot


def _shows(control: Node, label: str) -> bool:
    """A single text must equal the value; beside a title, the value may be part of a sentence."""
    words = _words(control)
    return any(_same(word, label) for word in words) or any(contains_words(word, label) for word in words[1:])


def _same(word: str, label: str) -> bool:
    try:
        return float(word) == float(label)  # "05" is 5
    except ValueError:
        return word == label


def _words(node: Node) -> list[str]:
    """Its texts in order: the title first, then the value, which some controls report as their state."""
    texts = [words for part in (node, *_below(node)) if (words := part.shown_text or part.description)]
    return [*texts, node.state_description] if node.role == "spinner" and node.state_description else texts


def _below(node: Node) -> Iterator[Node]:
    for child in node.children:
        yield child
        yield from _below(child)


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


class Slide:
    """Moves a slider to a value: move, read back, correct. The scale is learned from the values that are
    read.

    A slider that does not report its value is placed by geometry and is not verified.
    """

    def __init__(self, stage: Stage, action: SetValue, node: Node) -> None:
        wanted = amount(str(action.value))
        if wanted is None:
            raise SemanticMismatch(
                f"A slider takes a number, not {in_words(action.value)}",
                hint="Give a number, such as 40 or 40%.",
            )
        self.stage = stage
        self.wanted = wanted
        self.tolerance = max(action.tolerance, 1e-9)
        self.most = action.max_moves or MOVES
        self.node = node
        self.snapshot = stage.before
        self.samples: list[Place] = []
        tap_point(
            self.snapshot.screen, node, stage.screens.registry.ref_of
        )  # raises if it is covered or disabled

    async def run(self) -> Outcome:
        amount_now = reading(self.snapshot.screen, self.node)
        if amount_now is None or (self.wanted.percent and not amount_now.percent):
            return await self._by_geometry()
        thumb = self._guess(amount_now.value, amount_now.percent)
        while not self._is_there(amount_now):
            place = self._next(amount_now.percent)
            if place is None or len(self.samples) == self.most:
                raise self._stuck(amount_now.value)
            await self._move(thumb, place)
            amount_now = reading(self.snapshot.screen, self.node)
            if amount_now is None:
                raise self._stuck(None)
            thumb = place
            self.samples.append((place, amount_now.value))
        verification = verified(amount_now.value, self.wanted.value)
        return Outcome(details={"moves": len(self.samples)}, verification=verification, settle="none")

    async def _by_geometry(self) -> Outcome:
        """Moves the slider by its position on the track, because it does not report its value in this unit.
        The result can't be verified."""
        if not 0 <= self.wanted.value <= 100:
            raise SemanticMismatch(
                f"This slider does not report its value, so it takes a percentage, not {self.wanted.value:g}",
                hint="Give a number from 0 to 100.",
            )
        place = self._guess(self.wanted.value, True)
        await self._move(1 - place, place)
        return Outcome(details={"moves": 1, "placed_at_percent": self.wanted.value}, settle="none")

    def _is_there(self, amount_now: Amount) -> bool:
        """After a move, a continuous value need not be closer than a finger can aim."""
        off = abs(amount_now.value - self.wanted.value)
        aimed = (
            bool(self.samples) and off * abs(self._slope(amount_now.percent)) * self.track.length <= FINGER_PX
        )
        return off <= self.tolerance or aimed

    def _guess(self, value: float, percent: bool) -> float:
        """Assumes a scale of 0 to 100, until values have been read; the ends are the element's own."""
        if value <= 0:
            return -self.track.beyond
        if percent and value >= 100:
            return 1 + self.track.beyond
        return min(1.0, max(0.0, value / 100))

    @property
    def track(self) -> SliderTrack:
        return SliderTrack(visible_part(self.snapshot.screen, self.node))

    def _next(self, percent: bool) -> float | None:
        """The best estimate of where the value is; None if there is no such place."""
        wanted = self.wanted.value
        if not self.samples:
            return self._guess(wanted, percent)
        below = _best([sample for sample in self.samples if sample[1] < wanted], wanted)
        above = _best([sample for sample in self.samples if sample[1] > wanted], wanted)
        if below and above:
            return self._between(*min(product(below, above), key=lambda pair: abs(pair[0][0] - pair[1][0])))
        slope = self._slope(percent)
        places = [place + (wanted - value) * slope for place, value in below or above]
        furthest = max if (slope > 0) == bool(below) else min
        return self._unless_tried(furthest(places))

    def _slope(self, percent: bool) -> float:
        """Places per unit: from the two most distant values, else from a scale that begins at 0."""
        low, high = (pick(self.samples, key=itemgetter(1, 0)) for pick in (min, max))
        if low[1] != high[1]:
            return (high[0] - low[0]) / (high[1] - low[1])
        place, value = self.samples[-1]
        return place / value if value > 0 and place > 0 and not percent else 0.01

    def _between(self, below: Place, above: Place) -> float | None:
        """By proportion, then in the middle; gives up after two tries without a new value."""
        values = [value for _, value in self.samples]
        tries = len(values) - 1 - max(values.index(below[1]), values.index(above[1]))
        if tries >= STEPPED or abs(above[0] - below[0]) * self.track.length <= FINGER_PX:
            return None
        share = (self.wanted.value - below[1]) / (above[1] - below[1])
        place = below[0] + share * (above[0] - below[0])
        return self._unless_tried(place) or (below[0] + above[0]) / 2

    def _unless_tried(self, place: float) -> float | None:
        beyond = self.track.beyond
        place = min(1 + beyond, max(-beyond, place))
        half_pixel = 0.5 / self.track.length
        return None if any(abs(place - tried) < half_pixel for tried, _ in self.samples) else place

    async def _move(self, start: float, end: float) -> None:
        track, stage = self.track, self.stage
        if abs(end - start) * track.length < SLOP_PX:
            start = end - SLOP_PX / track.length if end > 0.5 else end + SLOP_PX / track.length
        await stage.input.perform(swipe(track.point(start), track.point(end), SLIDE_MS))
        old, self.snapshot = self.snapshot, (await stage.settle(self.snapshot)).snapshot
        self.node = follow(stage.screens, old.screen, self.snapshot.screen, self.node) or self.node

    def _stuck(self, value: float | None) -> ControlConvergenceFailed:
        tried = [value for _, value in self.samples]
        return ControlConvergenceFailed(
            f"The slider would not take {self.wanted.value:g}; it stopped at "
            + (f"{value:g}" if value is not None else "a value that can't be read"),
            expected=self.wanted.value,
            observed=value,
            tried=tried,
        )


def _best(samples: list[Place], wanted: float) -> list[Place]:
    """The places where the value came closest."""
    nearest = min((abs(value - wanted) for _, value in samples), default=0.0)
    return [sample for sample in samples if abs(sample[1] - wanted) == nearest]

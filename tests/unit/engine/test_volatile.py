"""What counts as a change between two looks, what is learned from it, and what never is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from handrail.engine.snapshot import (
    STILL_MS,
    ChangeKind,
    MotionTracker,
    VolatileNodes,
    changed_nodes,
    layout_key,
    may_be_left_out,
    node_key,
)
from handrail.screen.node import Node, Screen
from tests.unit.engine.scripted import Stand, frames, page, steps, still
from tests.unit.screen.drawn import node, row, screen

TICKER, SWITCH, BALL = "app:id/ticker", "app:id/switch", "app:id/ball"


def by_id(drawn: Screen, resource_id: str) -> Node:
    return next(one for one in drawn.nodes if one.resource_id == resource_id)


def kinds(old: Screen, new: Screen) -> dict[str, ChangeKind]:
    return {one.resource_id: kind for one, kind in changed_nodes(old, new).items()}


# what changed


def test_words_place_and_state_are_told_apart() -> None:
    old = page(ticker="One", ball=0)
    new = page(ticker="Two", ball=100, on=True)
    assert kinds(old, new) == {TICKER: ChangeKind.WORDS, BALL: ChangeKind.PLACE, SWITCH: ChangeKind.STATE}


def test_clocks_jitter_and_focus_are_no_change() -> None:
    old = page(ticker="10:41", ball=100)
    new = page(ticker="10:42", ball=102)
    assert kinds(old, new) == {}


def test_what_came_or_went_changes_the_node_around_it() -> None:
    box = node("LinearLayout", node("TextView", text="New", box=row(5)), box=row(5), resource_id="app:id/box")
    empty = node("LinearLayout", box=row(5), resource_id="app:id/box")
    assert kinds(page(extra=empty), page(extra=box)) == {"app:id/box": ChangeKind.PARTS}
    assert kinds(page(extra=box), page(extra=empty)) == {"app:id/box": ChangeKind.PARTS}


def scrolled(offset: int) -> Screen:
    rows = [
        node("TextView", text=f"Entry {n}", box=(0, 200 + 150 * n - offset, 1080, 350 + 150 * n - offset))
        for n in range(3 + offset // 150, 12)
    ]
    return screen(
        node("ListView", *rows, box=(0, 200, 1080, 2000), flags="scrollable", resource_id="app:id/list")
    )


def test_a_scroll_is_one_change_of_the_list() -> None:
    assert kinds(scrolled(0), scrolled(320)) == {"app:id/list": ChangeKind.SCROLL}


# motion


@given(st.lists(st.floats(0, 5_000), min_size=1, max_size=30), st.floats(0, 5_000))
def test_only_what_moves_often_and_for_long_is_endless(moments: list[float], since: float) -> None:
    motion = MotionTracker()
    ball = by_id(page(), BALL)
    for at in sorted(moments):
        motion.note({ball: ChangeKind.PLACE}, at)
    wanted = max(moments) >= since and len(moments) >= 3 and max(moments) - min(moments) >= 500
    assert bool(motion.endless(since)) == wanted


def test_one_thing_that_is_on_its_way_to_rest_outweighs_all_that_never_rests() -> None:
    motion = MotionTracker()
    drawn = page()
    for at in range(0, 1_300, 100):
        motion.note({by_id(drawn, BALL): ChangeKind.PLACE}, at)
    motion.note({by_id(drawn, TICKER): ChangeKind.WORDS}, 1_150)
    assert not motion.endless(600)
    assert motion.endless(1_200)


def test_a_scroll_must_last_longer_than_any_fling() -> None:
    motion = MotionTracker()
    some = by_id(scrolled(0), "app:id/list")
    for at in range(0, 3_000, 100):
        motion.note({some: ChangeKind.SCROLL}, at)
    assert not motion.endless(2_500)
    for at in range(3_000, 4_500, 100):
        motion.note({some: ChangeKind.SCROLL}, at)
    assert motion.endless(4_000)


# what may be learned


def test_what_a_person_sets_is_never_learned() -> None:
    for kind, flags in (
        ("Switch", "checkable clickable"),
        ("EditText", "clickable"),
        ("SeekBar", ""),
        ("CheckBox", "checkable"),
    ):
        drawn = screen(node(kind, box=row(1), text="Anything", resource_id="app:id/it", flags=flags))
        for how in ChangeKind:
            assert not may_be_left_out(drawn, by_id(drawn, "app:id/it"), how), (kind, how)


def test_a_window_and_half_a_screen_are_never_left_out() -> None:
    large = node("LinearLayout", box=(0, 0, 1080, 1300), resource_id="app:id/large")
    drawn = screen(large)
    assert not may_be_left_out(drawn, by_id(drawn, "app:id/large"), ChangeKind.PARTS)
    assert not may_be_left_out(drawn, drawn.root, ChangeKind.PARTS)
    assert not may_be_left_out(drawn, drawn.windows[0], ChangeKind.WORDS)


def test_a_container_with_a_switch_in_it_is_not_left_out() -> None:
    inside = node("Switch", box=row(1), flags="checkable clickable")
    drawn = screen(node("LinearLayout", inside, box=row(1), resource_id="app:id/box"))
    assert not may_be_left_out(drawn, by_id(drawn, "app:id/box"), ChangeKind.PARTS)


def test_a_sign_of_loading_is_not_learned() -> None:
    drawn = page(ticker="Loading 34%…")
    restless = VolatileNodes()
    restless.learn(drawn, {node_key(by_id(drawn, TICKER)): ChangeKind.WORDS})
    assert not restless.nodes(drawn)


# what is left out


def learned(kind: ChangeKind = ChangeKind.WORDS, resource_id: str = TICKER) -> VolatileNodes:
    restless = VolatileNodes()
    drawn = page(ticker="One")
    restless.learn(drawn, {node_key(by_id(drawn, resource_id)): kind})
    return restless


def hidden(restless: VolatileNodes, old: Screen, new: Screen) -> set[str]:
    return {one.resource_id for one in restless.between(old, new)}


def test_only_the_kind_of_change_that_was_learned_is_left_out() -> None:
    assert hidden(learned(ChangeKind.WORDS), page(ticker="One"), page(ticker="Two")) == {TICKER}
    assert not hidden(learned(ChangeKind.PLACE), page(ticker="One"), page(ticker="Two"))
    assert hidden(learned(ChangeKind.PLACE, BALL), page(ball=0), page(ball=50)) == {BALL}
    assert not hidden(learned(ChangeKind.WORDS, BALL), page(ball=0), page(ball=50))


def test_what_was_learned_on_one_screen_says_nothing_of_another() -> None:
    restless = learned()
    other = screen(
        node("Button", box=row(0), text="Elsewhere"), node("TextView", box=row(1), resource_id=TICKER)
    )
    assert not restless.nodes(other)


@given(st.text(max_size=20), st.text(max_size=20), st.booleans(), st.booleans(), st.integers(0, 900))
def test_a_switch_is_never_hidden_by_what_was_learned_beside_it(
    before: str, after: str, was_on: bool, is_on: bool, ball: int
) -> None:
    restless = learned()
    drawn = page(ticker="One")
    restless.learn(
        drawn, {node_key(by_id(drawn, one)): ChangeKind.STATE | ChangeKind.WORDS for one in (SWITCH, BALL)}
    )
    old, new = page(ticker=before, on=was_on), page(ticker=after, on=is_on, ball=ball)
    left_out = hidden(restless, old, new)
    assert SWITCH not in left_out
    assert (BALL in left_out) == (ball <= 2)


def test_a_part_inside_a_moving_node_is_not_hidden_with_it() -> None:
    def card(x: int, price: str) -> Screen:
        label = node("TextView", box=(x, 900, x + 90, 950), text=price, resource_id="app:id/price")
        return screen(node("FrameLayout", label, box=(x, 900, x + 100, 1000), resource_id="app:id/card"))

    restless = VolatileNodes()
    drawn = card(0, "10 €")
    restless.learn(
        drawn, {node_key(by_id(drawn, one)): ChangeKind.PLACE for one in ("app:id/card", "app:id/price")}
    )
    assert restless.between(card(0, "10 €"), card(40, "10 €"))
    assert not restless.between(card(0, "10 €"), card(40, "12 €"))


def test_the_build_of_a_screen_is_what_it_is_made_of_not_what_it_says() -> None:
    assert layout_key(page(ticker="One", on=True)) == layout_key(page(ticker="Two", ball=500))
    assert layout_key(page()) != layout_key(page(extra=node("Button", box=row(5), text="More")))
    assert layout_key(scrolled(0)) == layout_key(scrolled(320))


# what is forgotten, and what looks teach


def test_what_stays_still_for_long_is_forgotten() -> None:
    restless = learned()
    drawn = page(ticker="One")
    for number in range(5):
        restless.observe(page(ticker=f"Step {number}"), number * STILL_MS)
    assert restless.nodes(drawn)
    for number in range(6):
        restless.observe(drawn, 10 * STILL_MS + number * STILL_MS / 4)
    assert not restless.nodes(drawn)


async def test_a_slow_ticker_is_learned_from_looks_between_two_actions() -> None:
    stand = Stand(frames(1_000, lambda number: page(ticker=f"Score {number}")))
    for _ in range(5):
        await stand.look()
        await stand.clock.advance(800)
    assert {one.resource_id for one in stand.screens.volatile.nodes(stand.driver.shows(0))} == {TICKER}


async def test_a_switch_that_a_person_turns_again_and_again_stays_news() -> None:
    stand = Stand(frames(500, lambda number: page(on=number % 2 == 0)))
    before = await stand.look()
    for _ in range(12):
        await stand.look()
        await stand.clock.advance(600)
    settled = await stand.settle(before)
    assert not stand.screens.volatile.nodes(settled.snapshot.screen)
    assert not stand.screens.is_same(page(on=True), page(on=False))
    assert stand.screens.changes(page(on=True), page(on=False)).changes


async def test_words_beside_a_switch_that_a_person_turns_stay_news() -> None:
    def drawn(number: int) -> Screen:
        on = number % 2 == 0
        inside = node("TextView", box=row(6), text="On" if on else "Off", resource_id="app:id/summary")
        box = node("LinearLayout", inside, box=row(6), flags="clickable", resource_id="app:id/row")
        return page(on=on, extra=box)

    stand = Stand(frames(700, drawn))
    for _ in range(12):
        await stand.look()
        await stand.clock.advance(900)
    assert not stand.screens.volatile.nodes(drawn(0))


async def test_late_effects_of_actions_are_not_taken_for_restlessness() -> None:
    """Every action brings a line of words a second later: one change after each touch, however often."""
    stand = Stand(still(page()))
    for number in range(6):
        before = await stand.look()
        at = stand.clock.monotonic_ms() + 1_000
        stand.driver.shows = steps(
            (0, page(ticker=f"{number} found")), (at, page(ticker=f"{number + 1} found"))
        )
        await stand.settle(before)
        await stand.clock.advance(1_500)
        await stand.look()
    assert not stand.screens.volatile.nodes(page())


async def test_an_animation_that_follows_every_touch_is_not_learned() -> None:
    stand = Stand(still(page()))
    for _ in range(6):
        before = await stand.look()
        start = stand.clock.monotonic_ms()
        draw = lambda number: page(ticker=f"Frame {number}", ball=9 * number)  # noqa: E731
        stand.driver.shows = frames(100, draw, start=start, last=8)
        settled = await stand.settle(before)
        assert settled.report.reason == "quiet"
        assert settled.snapshot.screen is stand.driver.shows(10_000_000)
    assert not stand.screens.volatile.nodes(page())


async def test_another_screen_that_comes_by_itself_teaches_nothing() -> None:
    dialog = page(extra=node("Button", box=row(5), text="Rate"))
    stand = Stand(frames(900, lambda number: dialog if number % 2 else page()))
    for _ in range(10):
        await stand.look()
        await stand.clock.advance(900)
    assert not stand.screens.volatile.nodes(page())
    assert not stand.screens.volatile.nodes(dialog)

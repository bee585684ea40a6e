"""What every surface promises, tried on a phone, on an iPhone and in a real browser by the same words.

The device itself is the witness: the simulated phone's input log, the page's own listeners.
"""

from __future__ import annotations

import asyncio
import io
import time
from collections.abc import Awaitable, Callable
from functools import wraps
from pathlib import Path

import pytest
from PIL import Image

from handrail.errors import HandrailError, Unsupported
from handrail.screen.fingerprint import screen_fingerprint
from handrail.screen.node import Screen
from handrail.surface.capabilities import PROTOCOLS, KeyPresses, ScreenReader, TextInput, Touch
from tests import fingers
from tests.browser.stage import has_browser
from tests.driver.grounds import Ground, browser_ground, iphone_ground, phone_ground

pytestmark = pytest.mark.slow
BOUND_S = 60.0


def on_both(test: Callable[[Ground], Awaitable[None]]) -> Callable[[str, Path], None]:
    """A coroutine that gets a ground, as a test of each of them."""

    async def story(kind: str, folder: Path) -> None:
        grounds = {"phone": phone_ground, "iphone": iphone_ground, "browser": lambda: browser_ground(folder)}
        async with grounds[kind]() as ground:
            await test(ground)

    @pytest.mark.parametrize("kind", ["phone", "iphone", "browser"])
    @wraps(test)
    def run(kind: str, tmp_path: Path) -> None:
        if kind == "browser" and not has_browser():
            pytest.skip("no Chromium here; HANDRAIL_REQUIRE_BROWSER=1 makes this a failure")
        asyncio.run(story(kind, tmp_path))

    del run.__wrapped__  # pytest would look for the coroutine's parameters
    return run


def middle(screen: Screen) -> tuple[int, int]:
    return screen.width // 2, screen.height // 2


def texts(screen: Screen) -> set[str]:
    return {node.text for node in screen.nodes if node.text}


@on_both
async def test_a_look_names_the_app_in_front(ground: Ground) -> None:
    screen = await ground.show_list()
    front = await ground.can(ScreenReader).foreground()
    assert screen.package == front.package != ""
    assert len(texts(screen)) > 3


@on_both
async def test_tree_picture_and_display_agree_on_the_size(ground: Ground) -> None:
    screen = await ground.show_list()
    display = await ground.can(ScreenReader).display()
    with Image.open(io.BytesIO(await ground.can(ScreenReader).screenshot())) as picture:
        assert (screen.width, screen.height) == (display.width, display.height) == picture.size


@on_both
async def test_a_quiet_screen_looks_the_same_twice(ground: Ground) -> None:
    await ground.show_list()
    first, second = await ground.look(), await ground.look()
    assert screen_fingerprint(first) == screen_fingerprint(second)


@on_both
async def test_the_facts_stay_the_same(ground: Ground) -> None:
    facts = await ground.surface.facts()
    assert facts == await ground.surface.facts()
    assert facts.boot_id


@on_both
async def test_a_tap_comes_down_once_and_where_it_was_aimed(ground: Ground) -> None:
    screen = await ground.show_list()
    x, y = middle(screen)
    await ground.can(Touch).perform(fingers.tap(x, y))
    await ground.look()
    assert await ground.presses() == [(x, y)]


@on_both
async def test_a_swipe_scrolls_and_the_other_way_scrolls_back(ground: Ground) -> None:
    before = await ground.show_list()
    x, y = middle(before)
    reach = before.height // 5
    await ground.can(Touch).perform(fingers.swipe(x, y + reach, x, y - reach, 300))
    await ground.until(lambda one: texts(one) != texts(before))
    await ground.can(Touch).perform(fingers.swipe(x, y - reach, x, y + reach, 300))
    await ground.until(lambda one: len(texts(one) & texts(before)) > len(texts(before)) / 2)


@on_both
async def test_text_arrives_as_it_is_and_is_cleared_again(ground: Ground) -> None:
    field = await ground.show_field()
    await ground.can(Touch).perform(fingers.tap(*field.center))
    await ground.until(lambda one: any(node.focused and node.role == "text_field" for node in one.nodes))
    words = "Ada O'Neil; $(reboot) 100%s <b>"
    typed = await ground.can(TextInput).type_text(words)
    assert (typed.arrived, typed.after) == (True, words)
    await ground.until(lambda one: words in texts(one))
    cleared = await ground.can(TextInput).clear_text()
    assert cleared.arrived
    await ground.until(lambda one: words not in texts(one))


@on_both
async def test_a_key_that_there_is_not_is_refused_before_anything_is_sent(ground: Ground) -> None:
    await ground.show_list()
    for name in ("no_such_key", "KEYCODE_NOTHING"):
        with pytest.raises(HandrailError) as refused:
            await ground.can(KeyPresses).key(name)
        assert refused.value.details.get("delivery") == "not_delivered"
    assert await ground.felt() == 0


@on_both
async def test_a_capability_is_there_or_a_sentence_says_why_not(ground: Ground) -> None:
    for kind in PROTOCOLS.values():
        try:
            assert ground.can(kind) is not None
        except Unsupported as error:
            assert len(error.message) > 10


@on_both
async def test_a_device_that_goes_away_is_said_in_bounded_time_and_nothing_is_claimed(ground: Ground) -> None:
    screen = await ground.show_list()
    await ground.end()
    began = time.monotonic()
    with pytest.raises(HandrailError):
        await ground.look()
    with pytest.raises(HandrailError) as lost:
        await ground.can(Touch).perform(fingers.tap(*middle(screen)))
    assert lost.value.details.get("delivery") in ("not_delivered", "unknown")
    assert time.monotonic() - began < BOUND_S

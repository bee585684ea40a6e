"""What the driver promises about fingers, keys and text: on every way, on the simulator and on a phone."""

from __future__ import annotations

from typing import Any

import pytest

from handrail.errors import InvalidAction, Unsupported
from handrail.screen.fingerprint import screen_fingerprint
from handrail.screen.node import Node, Screen
from tests import fingers
from tests.driver.ways import SETTINGS, Held, promise, rows, texts

simulator = pytest.mark.simulator
CONTACTS = "com.google.android.contacts"
GALLERY = "com.handrail.gallery"


def middle(screen: Screen) -> tuple[int, int]:
    return screen.width // 2, screen.height // 2


@promise
async def test_a_tap_opens_what_it_hits_and_back_returns(held: Held) -> None:
    before = await held.open_settings()
    row = rows(before)[0]
    await held.driver.perform(fingers.tap(*row.center))
    await held.until(lambda screen: screen_fingerprint(screen) != screen_fingerprint(before))
    await held.driver.key("back")
    await held.until(
        lambda screen: texts(screen) >= {inner.text for inner in before.inside(row) if inner.text}
    )


@promise
async def test_a_swipe_scrolls_and_the_other_way_scrolls_back(held: Held) -> None:
    before = await held.open_settings()
    x, y = middle(before)
    reach = before.height // 5
    await held.driver.perform(fingers.swipe(x, y + reach, x, y - reach, 300))
    scrolled = await held.until(lambda screen: texts(screen) != texts(before))
    assert scrolled.package == SETTINGS
    await held.driver.perform(fingers.swipe(x, y - reach, x, y + reach, 300))
    await held.until(lambda screen: len(texts(screen) & texts(before)) > len(texts(before)) / 2)


@promise
async def test_home_leaves_the_app(held: Held) -> None:
    await held.open_settings()
    await held.driver.key("home")
    screen = await held.until(lambda screen: screen.package != SETTINGS)
    assert (await held.driver.foreground()).package == screen.package


@pytest.mark.parametrize("spelling", ["back", "KEYCODE_BACK", 4, "4"])
def test_a_key_has_many_spellings(way: object, spelling: str | int) -> None:
    @promise
    async def story(held: Held) -> None:
        await held.open_settings()
        await held.driver.key(spelling)
        await held.until(lambda screen: screen.package != SETTINGS)

    story(way)


@promise
async def test_a_key_that_does_not_exist_is_refused_before_anything_is_sent(held: Held) -> None:
    with pytest.raises(InvalidAction):
        await held.driver.key("no such key; reboot")


@promise
async def test_two_fingers_work_or_are_refused_with_a_reason(held: Held) -> None:
    await held.open_settings()
    for gesture in (
        held.driver.perform(fingers.pinch(540, 1200, 400, 100, 300)),
        held.driver.perform(fingers.rotate(540, 1200, 300, 0, 90, 400)),
    ):
        try:
            await gesture
        except Unsupported as error:
            assert "two fingers" in error.message
            assert error.details["delivery"] == "not_delivered"


@promise
async def test_the_clipboard_gives_back_what_it_took_or_says_that_there_is_none(held: Held) -> None:
    text = 'naïve "quotes"; $(reboot) 日本 🙂'
    try:
        await held.driver.text.set_clipboard(text)
        assert await held.driver.text.get_clipboard() == text
    except Unsupported as error:
        assert held.way.helper != "u2", error.message


@promise
async def test_plain_text_arrives_in_a_search_field(held: Held) -> None:
    """The one field that a bare Android surely has; phones call the screen behind it differently."""
    screen = await held.open_settings()
    search = next((node for node in screen.nodes if "search" in said(node) and node.enabled), None)
    if search is None:
        pytest.skip("the Settings of this phone have no search that is recognised by its name")
    await held.driver.perform(fingers.tap(*search.center))
    await held.until(lambda screen: any(node.role == "text_field" for node in screen.nodes))
    typed = await held.driver.text.type_text("wi-fi; echo $HOME")
    assert typed.arrived
    await held.driver.text.clear_text()
    await held.driver.key("back")


def said(node: Node) -> str:
    return f"{node.text} {node.description} {node.id_tail}".lower()


@simulator("its contact editor has known fields")
@promise
async def test_text_arrives_in_the_focused_field_and_is_cleared_again(held: Held) -> None:
    await held.start(f"{CONTACTS}/com.android.contacts.activities.ContactEditorActivity")
    screen = await held.until(lambda screen: any(node.role == "text_field" for node in screen.nodes))
    field = next(node for node in screen.nodes if node.role == "text_field")
    await held.driver.perform(fingers.tap(*field.center))
    text = "Ada O'Neil; $(reboot) 100%s" + (" 日本 🙂" if held.way.helper == "u2" else "")
    typed = await held.driver.text.type_text(text)
    assert typed.arrived
    assert typed.after == text
    assert text in texts(await held.driver.look())
    cleared = await held.driver.text.clear_text()
    assert cleared.arrived
    assert text not in texts(await held.driver.look())


@simulator("its notes ask before they are deleted")
@promise
async def test_a_long_press_is_not_a_tap(held: Held) -> None:
    await held.start("com.handrail.notes/.MainActivity")
    screen = await held.until(lambda screen: len(rows(screen)) > 1)
    await held.driver.perform(fingers.long_press(*rows(screen)[0].center, 800))
    assert "Delete note?" in texts(await held.driver.look())


@simulator("its gallery zooms")
@promise
async def test_a_double_tap_is_one_gesture_and_two_taps_are_not(held: Held) -> None:
    await open_picture(held)
    await held.driver.perform(fingers.double_tap(540, 1100))
    assert gallery(held)["scale"] == 2.0
    await held.driver.perform(fingers.double_tap(540, 1100))
    assert gallery(held)["scale"] == 1.0


@simulator("its gallery zooms")
@promise
async def test_a_pinch_zooms_where_a_channel_has_two_fingers(held: Held) -> None:
    await open_picture(held)
    if held.way.helper == "none":
        with pytest.raises(Unsupported, match="two fingers"):
            await held.driver.perform(fingers.pinch(540, 1100, 100, 300, 300))
        assert gallery(held)["scale"] == 1.0
        return
    await held.driver.perform(fingers.pinch(540, 1100, 100, 300, 300))
    assert gallery(held)["scale"] > 1.5


@simulator("its input log tells what arrived")
@promise
async def test_a_drag_holds_before_it_moves(held: Held) -> None:
    await held.open_settings()
    del held.phone.input_log[:]
    await held.driver.perform(fingers.drag(540, 1200, 540, 900, 400))
    log = held.phone.input_log
    assert (log[0]["action"], log[-1]["action"]) == ("down", "up")
    assert log[1]["ms"] - log[0]["ms"] >= 400
    assert (log[-1]["x"], log[-1]["y"]) == (540, 900)


@simulator("its input log tells what arrived")
@promise
async def test_every_gesture_arrives_once(held: Held) -> None:
    await held.open_settings()
    del held.phone.input_log[:]
    await held.driver.perform(fingers.tap(540, 2300))
    await held.driver.key("volume_up")
    assert count(held, "down") == 1
    assert held.phone.volume == 8


async def open_picture(held: Held) -> None:
    await held.sh("pm", "grant", GALLERY, "android.permission.READ_MEDIA_IMAGES")
    await held.sh("am", "start", "-n", f"{GALLERY}/.ViewerActivity", "--ei", "number", "1")
    await held.until(lambda screen: screen.package == GALLERY)


def gallery(held: Held) -> dict[str, Any]:
    found: dict[str, Any] = held.phone.state()["apps"][GALLERY]
    return found


def count(held: Held, action: str) -> int:
    return sum(event.get("action") == action for event in held.phone.input_log)

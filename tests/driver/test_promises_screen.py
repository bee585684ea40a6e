"""What the driver promises about looking: on every way, on the simulator and on a phone."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from handrail.android.constants import DUMP_FOLDER
from handrail.android.settings import set_orientation
from handrail.clock import SystemClock
from handrail.errors import SecureScreen
from handrail.screen.fingerprint import screen_fingerprint
from tests import fingers
from tests.driver.ways import CHANNELS, SETTINGS, Held, node_of, promise, rows, texts

simulator = pytest.mark.simulator


def size_of(png: bytes) -> tuple[int, int]:
    with Image.open(io.BytesIO(png)) as image:
        assert image.format == "PNG"
        return image.size


@promise
async def test_a_look_shows_the_app_in_front(held: Held) -> None:
    screen = await held.open_settings()
    front = await held.driver.foreground()
    assert screen.package == front.package == SETTINGS
    assert front.activity.startswith("com.")
    assert len(texts(screen)) > 3
    assert screen.warnings == []


@promise
async def test_the_facts_are_the_phones_own_and_stay_the_same(held: Held) -> None:
    facts = await held.driver.facts()
    assert facts == await held.driver.facts()
    assert facts.serial == held.driver.serial
    assert facts.api_level == int(await held.sh("getprop", "ro.build.version.sdk"))
    assert facts.model == (await held.sh("getprop", "ro.product.model")).strip()
    assert len(facts.boot_id) > 0


@promise
async def test_tree_picture_and_display_agree_on_the_size(held: Held) -> None:
    screen = await held.open_settings()
    display = await held.driver.display()
    assert (screen.width, screen.height) == (display.width, display.height)
    assert size_of(await held.driver.screenshot()) == (display.width, display.height)
    assert display.density >= 72


@promise
async def test_they_agree_in_landscape_too(held: Held) -> None:
    await held.open_settings()
    upright = await held.driver.display()
    try:
        await set_orientation(held.driver.shell, "landscape", SystemClock())
        turned = await held.driver.display()
        assert (turned.width, turned.height) == (upright.height, upright.width)
        assert turned.rotation % 2 != upright.rotation % 2
        screen = await held.until(lambda screen: screen.width > screen.height)
        assert (screen.width, screen.height) == (turned.width, turned.height)
        assert size_of(await held.driver.screenshot()) == (turned.width, turned.height)
    finally:
        await set_orientation(held.driver.shell, "portrait", SystemClock())


@promise
async def test_an_override_of_the_size_counts_everywhere(held: Held) -> None:
    await held.open_settings()
    try:
        await held.sh("wm", "size", "720x1280")
        await held.sh("wm", "density", "320")
        display = await held.driver.display()
        assert (display.width, display.height, display.density) == (720, 1280, 320)
        screen = await held.until(lambda screen: screen.width == 720)
        assert screen.height == 1280
        assert max(node.bounds.right for node in screen.nodes) <= 720
    finally:
        await held.sh("wm", "size", "reset")
        await held.sh("wm", "density", "reset")


@promise
async def test_a_quiet_screen_looks_the_same_twice(held: Held) -> None:
    await held.open_settings()
    first = screen_fingerprint(await held.driver.look())
    await held.until(lambda screen: screen_fingerprint(screen) == first)


@promise
async def test_a_look_after_a_change_shows_the_change(held: Held) -> None:
    before = await held.open_settings()
    row = rows(before)[0]
    await held.driver.perform(fingers.tap(*row.center))
    after = await held.until(lambda screen: screen_fingerprint(screen) != screen_fingerprint(before))
    assert texts(after) != texts(before)


@promise
async def test_no_dump_is_left_on_the_phone(held: Held) -> None:
    await held.open_settings()
    await held.driver.look()
    assert ".xml" not in await held.sh("ls", DUMP_FOLDER)


@promise
async def test_an_old_dump_at_the_usual_place_is_never_read(held: Held) -> None:
    await held.open_settings()
    await held.driver.shell.run(["uiautomator", "dump"], check=False)
    await held.driver.key("home")
    screen = await held.until(lambda screen: screen.package != SETTINGS)
    assert screen.package == (await held.driver.foreground()).package


@promise
async def test_the_channels_in_use_are_named(held: Held) -> None:
    table = held.driver.channels()
    assert table["look"] == CHANNELS[held.way.helper]
    assert table["foreground"] == "adb"
    assert held.driver.waits_for_idle == (held.way.helper == "none")
    assert held.driver.diagnostics() == []


@promise
async def test_idle_is_told_where_events_are_heard_and_none_elsewhere(held: Held) -> None:
    await held.open_settings()
    told = await held.driver.wait_idle(5_000)
    assert (told is not None) == (held.way.helper == "handrail")
    if told is not None:
        assert told.ok
        assert told.reason in ("events_quiet", "timeout")


@simulator("its bank has a screen that forbids pictures")
@promise
async def test_a_secure_screen_is_an_error_and_never_a_black_picture(held: Held) -> None:
    await held.start("com.handrail.bank/.CodeActivity")
    screen = await held.until(lambda screen: screen.package == "com.handrail.bank")
    assert texts(screen)
    with pytest.raises(SecureScreen, match="bank") as caught:
        await held.driver.screenshot()
    assert caught.value.details["evidence"] == "dumpsys window"
    await held.driver.key("home")
    assert size_of(await held.driver.screenshot()) == (1080, 2400)


@simulator("its app Trouble has a screen that never rests")
@promise
async def test_a_screen_that_never_rests_can_be_read(held: Held) -> None:
    await held.start("com.handrail.trouble/.RestlessActivity")
    first = await held.until(lambda screen: "I found it" in texts(screen))
    after = await held.until(lambda screen: texts(screen) != texts(first))
    assert {words for words in texts(first) ^ texts(after) if not words.startswith("Frame ")} == set()


@simulator("the state of its dialog is known")
@promise
async def test_a_dialog_does_not_make_the_screen_smaller(held: Held) -> None:
    await held.start("com.handrail.notes/.MainActivity")
    screen = await held.until(lambda screen: len(rows(screen)) > 1)
    await held.driver.perform(fingers.long_press(*rows(screen)[0].center, 800))
    asked = await held.until(lambda screen: any(node.text in ("Delete", "DELETE") for node in screen.nodes))
    assert (asked.width, asked.height) == (1080, 2400)
    assert asked.warnings == []


@simulator("its keyboard is a window of its own")
@promise
async def test_the_keyboard_is_part_of_the_screen_while_it_is_up(held: Held) -> None:
    await held.start("com.google.android.contacts/com.android.contacts.activities.ContactEditorActivity")
    screen = await held.until(lambda screen: any(node.role == "text_field" for node in screen.nodes))
    field = next(node for node in screen.nodes if node.role == "text_field")
    await held.driver.perform(fingers.tap(*field.center))
    packages = {window.package_name for window in (await held.driver.look()).windows}
    assert "com.android.inputmethod.latin" in packages
    assert node_of(await held.driver.look(), field.text)

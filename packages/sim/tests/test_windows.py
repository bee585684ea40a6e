"""Overlays, bars, rotation and other changes of the screen."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.grocer import PACKAGE, Grocer
from tests.hand import Hand, phone_with


async def at_detail() -> Hand:
    hand = phone_with(Grocer)
    hand.phone.start_activity(f"{PACKAGE}/.Detail", extras={"name": "Milk"})
    await hand.settle()
    return hand


def last(hand: Hand) -> Any:
    return hand.phone.state()["front"]["state"].get("last")


def test_the_windows_stand_in_the_order_of_android() -> None:
    async def story() -> None:
        hand = await at_detail()
        hand.phone.toast("hello")
        hand.phone.systemui.open_shade()
        types = [window.type for window in hand.phone.windows()]
        assert types == ["application", "toast", "shade", "status_bar", "navigation_bar"]
        focused = [window.type for window in hand.phone.windows() if window.has_focus]
        assert focused == ["shade"]

    asyncio.run(story())


def test_the_bars_have_their_sizes_and_their_buttons_work() -> None:
    async def story() -> None:
        hand = await at_detail()
        windows = {window.type: window for window in hand.phone.windows()}
        assert windows["status_bar"].bounds == (0, 0, 1080, 63)
        assert windows["navigation_bar"].bounds == (0, 2274, 1080, 2400)
        home = windows["navigation_bar"].find("home")
        assert home is not None
        await hand.tap_at(home.x + home.w / 2, home.y + home.h / 2)
        assert hand.phone.state()["front"]["package"] == "com.android.launcher3"

    asyncio.run(story())


def test_a_menu_opens_below_its_button_inside_the_screen() -> None:
    async def story() -> None:
        hand = await at_detail()
        low = hand.find("menu").bounds[3]
        await hand.tap("menu")
        left, top, right, _ = hand.find("Rename").bounds
        assert top >= low
        assert 0 <= left < right <= 1080
        await hand.tap("Rename")
        assert last(hand) == "renamed"
        await hand.tap("menu")
        await hand.tap_at(900, 2000)
        assert not hand.sees("Rename")

    asyncio.run(story())


def test_a_sheet_stands_at_the_bottom_and_goes_by_a_swipe() -> None:
    async def story() -> None:
        hand = await at_detail()
        await hand.tap("sheet")
        window = hand.phone.focused_window()
        assert window is not None
        assert window.bounds[3] == 2274
        assert window.dim > 0
        left, top, right, _ = hand.find("design_bottom_sheet").bounds
        await hand.swipe((left + right) / 2, top + 20, (left + right) / 2, top + 400)
        assert not hand.sees("pick")
        await hand.tap("sheet")
        await hand.tap("pick")
        assert last(hand) == "picked"
        assert not hand.sees("pick")

    asyncio.run(story())


def test_a_choice_is_a_list_of_checked_rows() -> None:
    async def story() -> None:
        hand = await at_detail()
        await hand.tap("choose")
        assert hand.find("Red")["checked"] == "true"
        await hand.tap("Green")
        assert last(hand) == "chosen 1"

    asyncio.run(story())


def test_a_dialogs_field_is_read_by_its_button() -> None:
    async def story() -> None:
        hand = await at_detail()
        await hand.tap("ask")
        await hand.tap("new_name")
        assert hand.phone.state()["keyboard"]
        await hand.type("Oat milk")
        await hand.tap("android:id/button1")
        assert last(hand) == "name Oat milk"

    asyncio.run(story())


def test_a_snackbar_stands_in_the_apps_own_window_and_goes_by_itself() -> None:
    async def story() -> None:
        hand = await at_detail()
        await hand.tap("snack")
        assert hand.find("snackbar_text").text == "Gone"
        await hand.tap("Undo")
        assert last(hand) == "undone"
        await hand.tap("snack")
        await hand.wait(4100)
        assert not hand.sees("Gone")

    asyncio.run(story())


def test_back_and_a_tap_outside_close_a_dialog() -> None:
    async def story() -> None:
        hand = phone_with(Grocer)
        await hand.open(PACKAGE)
        await hand.hold("Thing 1")
        await hand.back()
        assert not hand.sees("Delete?")
        await hand.hold("Thing 1")
        await hand.tap_at(540, 200)
        assert not hand.sees("Delete?")
        assert hand.sees("Thing 1")

    asyncio.run(story())


def test_a_rotation_swaps_the_sides_and_keeps_state_text_and_scroll() -> None:
    async def story() -> None:
        hand = phone_with(Grocer)
        await hand.open(PACKAGE)
        await hand.fill("name", "half a wo")
        hand.phone.set_rotation(1)
        assert hand.see()[0].bounds == (0, 0, 2400, 1080)
        assert hand.find("name").text == "half a wo"
        assert 'rotation="1"' in hand.phone.dump()
        hand.phone.set_rotation(0)
        assert hand.see()[0].bounds == (0, 0, 1080, 2400)

    asyncio.run(story())


def test_a_bigger_font_and_density_make_things_bigger() -> None:
    async def story() -> None:
        hand = await at_detail()
        small = hand.find("Milk").bounds
        hand.phone.set_font_scale(1.5)
        assert hand.find("Milk").bounds[3] - hand.find("Milk").bounds[1] > small[3] - small[1]
        hand.phone.set_font_scale(1.0)
        hand.phone.set_density(560)
        assert hand.find("toolbar").bounds[3] > 63 + 147
        hand.phone.set_density(None)
        assert hand.find("Milk").bounds == small
        hand.phone.set_size(720, 1280)
        assert hand.see()[0].bounds == (0, 0, 720, 1280)

    asyncio.run(story())


def test_dark_mode_is_a_setting() -> None:
    hand = phone_with(Grocer)
    hand.phone.put_setting("secure", "ui_night_mode", "2")
    assert hand.phone.display.dark
    hand.phone.set_dark(False)
    assert hand.phone.settings["secure"]["ui_night_mode"] == "1"


def test_volume_keys_show_the_slider_for_a_while() -> None:
    async def story() -> None:
        hand = await at_detail()
        hand.phone.key(24)
        assert hand.phone.volume == 8
        assert "volume" in [window.type for window in hand.phone.windows()]
        await hand.wait(3100)
        assert "volume" not in [window.type for window in hand.phone.windows()]

    asyncio.run(story())

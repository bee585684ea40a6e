"""The phone as a whole: back stack, recents, dialogs, shade, hanging and dying apps, determinism."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from handrail_sim.phone import Phone
from tests.grocer import PACKAGE, Grocer, Rival
from tests.hand import Hand


def grocer(**options: Any) -> Hand:
    hand = Hand(apps=[Grocer, Rival], **options)
    assert hand.phone.start_activity(package=PACKAGE).ok
    return hand


def test_a_started_app_is_in_front_and_back_leads_home() -> None:
    async def story() -> None:
        hand = grocer()
        assert hand.sees("Thing 0")
        await hand.back()
        assert hand.phone.state()["front"]["package"] == "com.android.launcher3"

    asyncio.run(story())


def test_starting_a_running_app_again_brings_it_to_the_front_as_it_was() -> None:
    async def story() -> None:
        hand = grocer()
        await hand.tap("Thing 3")
        await hand.home()
        assert hand.phone.start_activity(package=PACKAGE).code == "brought_to_front"
        assert hand.sees("Done")
        assert hand.phone.start_activity(package=PACKAGE).code == "delivered"

    asyncio.run(story())


def test_an_unknown_component_is_not_found_and_an_unknown_action_unresolved() -> None:
    hand = grocer()
    assert hand.phone.start_activity(f"{PACKAGE}/.Nothing").code == "not_found"
    assert hand.phone.start_activity(action="com.example.NOTHING").code == "unresolved"


def test_a_finished_activity_gives_its_result_to_the_one_that_asked() -> None:
    async def story() -> None:
        hand = grocer()
        await hand.tap("Thing 1")
        await hand.tap("done")
        assert hand.phone.state()["front"]["state"]["log"] == ["result fine"]

    asyncio.run(story())


def test_recents_shows_the_tasks_and_a_tap_opens_one() -> None:
    async def story() -> None:
        hand = grocer()
        hand.phone.start_activity(f"{Rival.package}/.Form")
        hand.phone.key(187)
        assert hand.phone.state()["recents"]
        assert [seen.desc for seen in hand.all("task")] == ["Rival", "Grocer"]
        left, _, right, bottom = hand.find("task", 1).bounds
        await hand.tap_at(min(right, 1080) - 20, bottom - 200)
        assert hand.phone.state()["front"]["package"] == PACKAGE
        assert left < right

    asyncio.run(story())


def test_cards_in_recents_scroll_sideways_and_go_upwards() -> None:
    async def story() -> None:
        hand = grocer()
        hand.phone.start_activity(f"{Rival.package}/.Form")
        hand.phone.key(187)
        await hand.settle()
        before = hand.find("task").bounds
        await hand.swipe(800, 1000, 400, 1000, 800)
        assert hand.find("task").bounds[2] < before[2]
        await hand.swipe(800, 1400, 800, 500)
        assert [task.package for task in hand.phone.tasks.recent()] == [Rival.package]

    asyncio.run(story())


def test_a_second_pull_opens_the_quick_settings() -> None:
    async def story() -> None:
        hand = grocer()
        for _ in range(2):
            await hand.swipe(540, 5, 540, 1200)
        left, top, right, bottom = hand.find("Display brightness").bounds
        await hand.tap_at((left + right) / 2, (top + bottom) / 2)
        assert hand.phone.settings["system"]["screen_brightness"] == "128"

    asyncio.run(story())


def test_clear_all_in_recents_ends_every_task() -> None:
    async def story() -> None:
        hand = grocer()
        hand.phone.key(187)
        await hand.tap("clear_all")
        assert not hand.phone.tasks.recent()
        assert hand.phone.state()["front"]["package"] == "com.android.launcher3"

    asyncio.run(story())


def test_a_toast_has_a_window_of_its_own_for_two_seconds() -> None:
    async def story() -> None:
        hand = grocer()
        await hand.tap("add")
        assert hand.phone.state()["toast"] == "Type something"
        assert "toast" in [window.type for window in hand.phone.windows()]
        assert not hand.sees("Type something")
        await hand.wait(2000)
        assert hand.phone.state()["toast"] == ""
        assert hand.phone.state()["last_toast"] == "Type something"

    asyncio.run(story())


def test_two_toasts_wait_for_each_other() -> None:
    async def story() -> None:
        hand = grocer()
        hand.phone.toast("one")
        hand.phone.toast("two")
        assert hand.phone.state()["toast"] == "one"
        await hand.wait(2100)
        assert hand.phone.state()["toast"] == "two"

    asyncio.run(story())


def test_the_shade_comes_down_by_a_swipe_and_a_notification_opens_its_screen() -> None:
    async def story() -> None:
        hand = grocer()
        hand.phone.notify(PACKAGE, "Sale", "Half price", tap=("Detail", {"name": "Offer"}))
        await hand.wait(6000)
        await hand.swipe(540, 5, 540, 1200)
        assert hand.phone.state()["shade"]
        await hand.tap("Sale")
        assert hand.sees("Offer")
        assert not hand.phone.state()["notifications"]

    asyncio.run(story())


def test_a_notification_is_swiped_away_and_clear_all_takes_the_rest() -> None:
    async def story() -> None:
        hand = grocer()
        for number in range(3):
            hand.phone.notify(PACKAGE, f"Note {number}", "text")
        hand.phone.systemui.open_shade()
        await hand.settle()
        x, y = hand.find("Note 1").centre
        await hand.swipe(x, y, x + 600, y)
        assert [one["title"] for one in hand.phone.state()["notifications"]] == ["Note 0", "Note 2"]
        await hand.tap("Clear all")
        assert not hand.phone.state()["notifications"]

    asyncio.run(story())


def test_an_important_notification_drops_down_for_five_seconds() -> None:
    async def story() -> None:
        hand = grocer()
        hand.phone.notify(PACKAGE, "Code", "123456")
        banner = [window for window in hand.phone.windows() if window.type == "heads_up"]
        assert len(banner) == 1
        await hand.wait(5100)
        assert "heads_up" not in [window.type for window in hand.phone.windows()]

    asyncio.run(story())


def test_a_tile_of_the_shade_switches_the_setting() -> None:
    async def story() -> None:
        hand = grocer()
        hand.phone.systemui.open_shade()
        await hand.settle()
        await hand.tap("Airplane mode")
        assert hand.phone.settings["global"]["airplane_mode_on"] == "1"
        await hand.back()
        assert not hand.phone.state()["shade"]

    asyncio.run(story())


def test_a_crash_shows_the_dialog_and_the_app_can_be_opened_again() -> None:
    async def story() -> None:
        hand = grocer()
        hand.phone.kill_process(PACKAGE, crash="java.lang.IllegalStateException: no milk")
        assert hand.find("android:id/alertTitle").text == "Grocer has stopped"
        assert hand.find("android:id/aerr_close")["package"] == "android"
        assert any("no milk" in line.text for line in hand.phone.log.lines)
        await hand.tap("android:id/aerr_restart")
        assert hand.sees("Thing 0")
        hand.phone.kill_process(PACKAGE, crash="again")
        assert hand.find("alertTitle").text == "Grocer keeps stopping"
        await hand.tap("aerr_close")
        assert hand.phone.state()["front"]["package"] == "com.android.launcher3"

    asyncio.run(story())


def test_a_silent_death_leads_home_without_a_word() -> None:
    hand = grocer()
    hand.phone.kill_process(PACKAGE)
    assert hand.phone.state()["front"]["package"] == "com.android.launcher3"
    assert PACKAGE not in hand.phone.state()["processes"]


def test_a_hanging_app_ignores_input_until_the_system_asks() -> None:
    async def story() -> None:
        hand = grocer()
        hand.phone.hang(PACKAGE)
        await hand.tap("Thing 1")
        assert hand.sees("Thing 0")
        await hand.wait(5000)
        assert hand.find("alertTitle").text == "Grocer isn't responding"
        await hand.tap("aerr_wait")
        await hand.wait(5100)
        await hand.tap("aerr_close")
        assert hand.phone.state()["front"]["package"] == "com.android.launcher3"

    asyncio.run(story())


def test_an_app_that_stops_hanging_goes_on() -> None:
    async def story() -> None:
        hand = grocer()
        hand.phone.hang(PACKAGE, 1000)
        await hand.tap("Thing 1")
        await hand.wait(1000)
        await hand.tap("Thing 1")
        assert hand.sees("Done")

    asyncio.run(story())


def test_two_apps_for_one_intent_bring_up_the_chooser() -> None:
    async def story() -> None:
        hand = grocer()
        await hand.tap("Thing 0")
        await hand.tap("share")
        assert hand.sees("Open with")
        await hand.tap("Rival")
        assert hand.phone.state()["front"]["activity"] == "com.example.rival/.Form"

    asyncio.run(story())


def test_an_activity_with_a_dialogs_theme_floats_above_the_one_below() -> None:
    async def story() -> None:
        hand = grocer()
        hand.phone.start_activity(f"{PACKAGE}/.Pay")
        await hand.settle()
        kinds = [window.type for window in hand.phone.windows()]
        assert kinds[:2] == ["application", "dialog"]
        assert hand.sees("Pay 3.50?")
        assert not hand.sees("Thing 0")
        await hand.tap_at(540, 300)
        assert hand.sees("Thing 0")

    asyncio.run(story())


def test_a_slow_start_shows_only_the_icon_at_first() -> None:
    async def story() -> None:
        hand = Hand(apps=[Grocer])
        hand.phone.faults.add("slow_app_start", ms=3000)
        assert hand.phone.start_activity(package=PACKAGE).launch_ms == 3000
        assert not hand.sees("Thing 0")
        await hand.wait(3000)
        assert hand.sees("Thing 0")

    asyncio.run(story())


def test_lost_and_doubled_input_arrives_never_and_twice() -> None:
    async def story() -> None:
        hand = grocer()
        await hand.tap("name")
        hand.phone.faults.add("input_twice")
        hand.phone.type_ascii("ab")
        assert hand.find("name").text == "abab"
        hand.phone.faults.clear()
        hand.phone.faults.add("input_lost")
        hand.phone.type_ascii("cd")
        assert hand.find("name").text == "abab"

    asyncio.run(story())


def test_a_reboot_ends_everything_that_runs_and_keeps_what_is_on_disk() -> None:
    hand = grocer()
    app = hand.phone.app(PACKAGE)
    assert app is not None
    app.prefs()["kept"] = True
    dropped: list[str] = []
    hand.phone.reboot_hooks.append(lambda: dropped.append("connections"))
    hand.phone.reboot()
    assert dropped == ["connections"]
    assert PACKAGE not in hand.phone.state()["processes"]
    assert hand.app_state(PACKAGE) == {"saved": {"kept": True}}


def test_the_state_is_json() -> None:
    hand = grocer()
    assert json.loads(json.dumps(hand.phone.state()))["front"]["package"] == PACKAGE


def test_a_sleeping_phone_takes_no_touch() -> None:
    async def story() -> None:
        hand = grocer()
        hand.phone.key(26)
        await hand.tap("Thing 1")
        assert hand.sees("Thing 0")
        hand.phone.key(224)
        await hand.tap("Thing 1")
        assert hand.sees("Done")

    asyncio.run(story())


def test_an_idle_phone_has_nothing_due() -> None:
    async def story() -> None:
        hand = grocer()
        await hand.settle()
        assert hand.phone.next_due_ms() is None
        assert hand.phone.is_idle()

    asyncio.run(story())


def test_the_same_inputs_at_the_same_times_give_the_same_dumps_and_pictures() -> None:
    async def play() -> list[str | bytes]:
        hand = grocer(seed=7)
        dumps: list[str | bytes] = [hand.phone.dump()]
        for step in range(3):
            await hand.scroll(0.4)
            await hand.tap("add")
            dumps += [hand.phone.dump(compressed=step == 1), hand.phone.dump(all_windows=True)]
        dumps.append(await hand.phone.screenshot())
        return dumps

    assert asyncio.run(play()) == asyncio.run(play())


def test_events_reach_those_who_listen() -> None:
    async def story() -> None:
        hand = grocer()
        heard: list[str] = []

        def listen(event: tuple[float, str, str, str]) -> None:
            heard.append(event[1])

        hand.phone.on_event(listen)
        await hand.tap("Thing 1")
        hand.phone.off_event(listen)
        await hand.back()
        assert heard[:2] == ["TYPE_VIEW_CLICKED", "TYPE_WINDOW_STATE_CHANGED"]

    asyncio.run(story())


def test_the_debugging_prompt_asks_and_remembers() -> None:
    async def story() -> None:
        hand = grocer()
        answers: list[tuple[bool, bool]] = []
        hand.phone.debug_prompt("AA:BB", lambda *answer: answers.append(answer))
        await hand.tap("Always allow from this computer")
        await hand.tap("Allow")
        assert answers == [(True, True)]

    asyncio.run(story())


def test_phones_do_not_share_anything_they_change() -> None:
    one, other = grocer(), grocer()
    one.phone.put_setting("global", "wifi_on", "0")
    assert other.phone.settings["global"]["wifi_on"] == "1"
    assert isinstance(one.phone, Phone)


def test_a_screen_that_did_not_change_is_painted_once() -> None:
    async def story() -> None:
        hand = grocer()
        await hand.settle()
        first, second = await asyncio.gather(hand.phone.screenshot(), hand.phone.screenshot())
        assert first is second
        assert first.startswith(b"\x89PNG")
        await hand.tap("Thing 1")
        assert await hand.phone.screenshot() != first

    asyncio.run(story())

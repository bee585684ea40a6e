"""One screen has one fingerprint and the same refs, whichever channel read it, in every app."""

from __future__ import annotations

import asyncio
import json
from random import Random

from handrail.android.channel import fit
from handrail.android.uiautomator2 import with_active
from handrail.screen.elements import elements, fresh_refs
from handrail.screen.fingerprint import content_fingerprint, screen_fingerprint
from handrail.screen.node import Screen
from handrail.screen.parse import parse
from handrail.screen.parse.build import STACK_GUESSED
from handrail_sim.apps import APPS, DEFAULT
from handrail_sim.channels.helper import describe
from handrail_sim.channels.own_helper import look_of
from handrail_sim.channels.u2.server import write
from handrail_sim.phone import Phone
from handrail_sim.screen.accessibility import active_root, active_window, roots
from handrail_sim.screen.dump import HEADER, all_windows
from tests.cases import each
from tests.unit.android.hand import Hand

STEPS = 12
BACK = 4


def by_adb(phone: Phone) -> Screen:
    return parse(HEADER + all_windows(phone.windows(), phone.display.rotation, active_window(phone)))


def by_u2(phone: Phone) -> Screen:
    rotation = phone.display.rotation
    screen = parse(write(roots(phone), rotation, 100))
    if STACK_GUESSED in screen.warnings:
        root = active_root(phone)
        assert root is not None
        screen = with_active(screen, parse(write([root], rotation, 100)))
    return screen


def by_own_helper(phone: Phone) -> Screen:
    """A new helper for each look: nothing that it would remember counts."""
    return parse(json.dumps(look_of(phone)))


def refs(screen: Screen) -> list[tuple[str, str, str]]:
    found = elements(screen)
    return [
        (ref, element.node.class_name, str(element.node.bounds))
        for ref, element in zip(fresh_refs(found), found, strict=True)
    ]


def by_helper(phone: Phone) -> Screen:
    root = active_root(phone)
    assert root is not None
    return parse(json.dumps({"ok": True, "packageName": root.package, "tree": describe(root)}))


def told(screen: Screen, phone: Phone) -> tuple[str, str, str]:
    fit(screen, (phone.display.width, phone.display.height))
    return screen_fingerprint(screen), content_fingerprint(screen), screen.package


def agreed(phone: Phone) -> str:
    """The fingerprint that all channels tell. The seed's tree is one window, so its refs are not compared."""
    screens = {read.__name__: read(phone) for read in (by_adb, by_u2, by_own_helper, by_helper)}
    readings = {name: told(screen, phone) for name, screen in screens.items()}
    assert len(set(readings.values())) == 1, readings
    assert refs(screens["by_adb"]) == refs(screens["by_u2"]) == refs(screens["by_own_helper"])
    return readings["by_adb"][0]


@each("app", DEFAULT)
def test_adb_u2_and_the_helper_agree_wherever_one_taps_in(app: str) -> None:
    async def story() -> None:
        hand, rng = Hand(), Random(app)
        package = APPS[app].package
        hand.phone.start_activity(package=package)
        seen = set()
        for _ in range(STEPS):
            await hand.settle(2_000.0)
            seen.add(agreed(hand.phone))
            places = [one.centre for one in hand.see() if one["clickable"] == "true"]
            if rng.random() < 0.15 or not places:
                hand.phone.key(BACK)
                await hand.wait(400.0)
            else:
                await hand.tap_at(*rng.choice(places))
        assert len(seen) > 1

    asyncio.run(story())


async def typing_in_a_field() -> Hand:
    hand = Hand()
    hand.phone.start_activity(package="com.google.android.contacts")
    await hand.settle()
    await hand.tap("Create new contact")
    await hand.tap("First name")
    await hand.type("Ada")
    return hand


async def test_a_keyboard_a_toast_and_what_a_field_holds_are_no_other_screen() -> None:
    hand = await typing_in_a_field()
    with_keyboard = agreed(hand.phone)
    hand.phone.key(BACK)
    await hand.settle()
    assert agreed(hand.phone) == with_keyboard

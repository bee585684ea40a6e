from __future__ import annotations

import pytest

from handrail_sim.apps import APPS, DEFAULT, load
from handrail_sim.errors import UnknownApp
from tests.apps.owner import Owner, story

PACKAGES = (
    "com.android.launcher3",
    "com.android.settings",
    "com.google.android.contacts",
    "com.google.android.apps.messaging",
    "com.handrail.notes",
    "com.google.android.deskclock",
    "com.handrail.shop",
    "com.handrail.bank",
    "com.handrail.gallery",
    "com.handrail.browser",
    "com.handrail.composelab",
    "com.handrail.reactlab",
    "com.handrail.flutterlab",
    "com.handrail.trouble",
    "com.android.camera2",
    "com.google.android.documentsui",
    "com.google.android.calendar",
    "com.google.android.dialer",
)


def test_a_phone_carries_these_packages() -> None:
    assert tuple(app.package for app in load()) == PACKAGES


def test_there_is_always_a_home_screen_and_a_screen_for_calls() -> None:
    always = ["com.android.launcher3", "com.google.android.dialer"]
    assert [app.package for app in load(["notes"])] == [always[0], "com.handrail.notes", always[1]]
    assert len(load(["notes", "launcher", "notes"])) == 3


def test_an_unknown_app_is_named_with_the_known_ones() -> None:
    with pytest.raises(UnknownApp, match="'calculator'") as caught:
        load(["calculator"])
    assert "contacts" in caught.value.hint


def test_only_recorded_screens_come_from_a_folder() -> None:
    with pytest.raises(UnknownApp, match="'notes:somewhere'"):
        load(["notes:somewhere"])


def test_every_app_has_an_activity_and_a_label() -> None:
    for name in DEFAULT:
        app = APPS[name]
        assert app.label
        assert app.activities


@story("contacts", "messages", "notes", "clock", "settings")
def test_the_same_touches_show_the_same_screens(person: Owner) -> None:
    def tour(owner: Owner) -> list[str]:
        seen = []
        for package, words in (
            ("com.google.android.contacts", "Alba Thornquill"),
            ("com.google.android.apps.messaging", "Clementine Ashgrove"),
            ("com.handrail.notes", "Shopping"),
            ("com.google.android.deskclock", "Timer"),
            ("com.android.settings", "Battery"),
        ):
            owner.open(package)
            seen.append(owner.phone.dump())
            owner.tap(words)
            seen.append(owner.phone.dump())
        return seen

    other = Owner("contacts", "messages", "notes", "clock", "settings")
    assert tour(person) == tour(other)

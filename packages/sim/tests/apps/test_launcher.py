from __future__ import annotations

from handrail_sim.apps import APPS, DEFAULT
from tests.apps.owner import Owner, story

LAUNCHER = "com.android.launcher3"


def front(person: Owner) -> str:
    return str(person.phone.state()["front"]["package"])


@story(*DEFAULT)
def test_the_launcher_opens_every_app(person: Owner) -> None:
    for name in DEFAULT:
        app = APPS[name]
        if not app.launchable:
            continue
        person.home()
        assert front(person) == LAUNCHER
        person.swipe_up()
        person.scroll_to(app.label)
        person.tap(app.label)
        assert front(person) == app.package


@story("settings", "notes", "clock")
def test_an_app_is_found_by_typing_its_name(person: Owner) -> None:
    person.tap("Search apps")
    person.write("not")
    assert not person.sees("Clock")
    person.tap("Notes")
    assert front(person) == "com.handrail.notes"


@story("settings", "notes")
def test_back_closes_the_drawer_and_never_leaves_home(person: Owner) -> None:
    person.swipe_up()
    assert person.sees("apps_list_view")
    person.back()
    assert person.sees("workspace")
    person.back()
    assert front(person) == LAUNCHER


@story("settings", "notes")
def test_a_long_press_on_an_icon_shows_the_apps_info(person: Owner) -> None:
    person.hold("Notes")
    assert person.sees("App info")
    assert person.sees("Force stop")


@story("settings", "notes", "clock")
def test_an_uninstalled_app_is_gone_from_home(person: Owner) -> None:
    person.hold("Notes")
    person.tap("Uninstall")
    person.tap("OK")
    person.home()
    assert person.sees("Clock")
    assert not person.sees("Notes")
    assert not person.phone.files.exists("/data/data/com.handrail.notes")

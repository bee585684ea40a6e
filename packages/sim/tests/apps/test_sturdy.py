"""What must hold in every one of these apps: rotation, large type, dark mode, snapshots, death, sameness."""

from __future__ import annotations

import hashlib

import pytest

from tests.apps.person import Person
from tests.shown import parse

APPS = {
    "shop": "com.handrail.shop",
    "bank": "com.handrail.bank",
    "gallery": "com.handrail.gallery",
    "browser": "com.handrail.browser",
    "compose_lab": "com.handrail.composelab",
    "react_lab": "com.handrail.reactlab",
    "flutter_lab": "com.handrail.flutterlab",
    "trouble": "com.handrail.trouble",
}
# What a person does first in each of them, by words on the screen.
FIRST_STEPS = {
    "shop": ["Kitchen", "Enamel kettle", "Add to cart", "cart", "Checkout"],
    "bank": ["customer"],
    "gallery": ["Allow", "tile"],
    "browser": ["Become a member", "newsletter"],
    "compose_lab": ["Increase", "Data saver", "Details"],
    "react_lab": ["What is new?"],
    "flutter_lab": [],
    "trouble": ["Interrupting dialog", "Next"],
}


def opened(app: str, seed: int = 1) -> Person:
    person = Person(app, seed=seed)
    person.phone.request_accessibility()
    person.open(APPS[app])
    return person


def stepped(app: str, seed: int = 1) -> Person:
    person = opened(app, seed)
    for words in FIRST_STEPS[app]:
        person.tap(words)
    person.hide_keyboard()
    return person


@pytest.mark.parametrize("app", APPS)
def test_turning_the_phone_keeps_what_was_done(app: str) -> None:
    person = stepped(app)
    person.wait(5000)
    before = person.words()
    person.phone.set_rotation(1)
    person.wait(1000)
    assert person.words()
    person.phone.set_rotation(0)
    person.wait(1000)
    assert person.words() == before


@pytest.mark.parametrize("app", APPS)
def test_large_type_and_dark_mode_leave_everything_on_the_screen(app: str) -> None:
    person = stepped(app)
    person.phone.set_font_scale(1.5)
    person.phone.set_dark(True)
    person.wait(1000)
    screen = person.look()
    assert all(
        0 <= node.bounds.left <= node.bounds.right <= 1080
        and 0 <= node.bounds.top <= node.bounds.bottom <= 2400
        for node in screen.nodes
    )


@pytest.mark.parametrize("app", APPS)
def test_a_snapshot_brings_the_screen_back(app: str) -> None:
    person = stepped(app)
    person.wait(5000)
    before = person.phone.dump()
    person.phone.snapshot("here")
    person.back()
    person.back()
    assert person.phone.dump() != before
    person.phone.restore("here")
    assert person.phone.dump() == before


@pytest.mark.parametrize("app", APPS)
def test_a_forced_stop_leaves_an_app_that_starts_again(app: str) -> None:
    person = stepped(app)
    person.phone.force_stop(APPS[app])
    person.wait(500)
    assert person.phone.packages.pid_of(APPS[app]) is None
    person.open(APPS[app])
    assert parse(person.phone.dump()).packages & {APPS[app], "com.android.permissioncontroller"}


@pytest.mark.parametrize("app", APPS)
def test_the_same_steps_give_the_same_bytes(app: str) -> None:
    first, second = stepped(app), stepped(app)
    assert first.phone.dump(all_windows=True) == second.phone.dump(all_windows=True)
    assert first.state(APPS[app]) == second.state(APPS[app])


@pytest.mark.parametrize("app", ["shop", "gallery"])
def test_the_same_steps_give_the_same_picture(app: str) -> None:
    pictures = {hashlib.sha256(stepped(app).phone.frame().png()).hexdigest() for _ in range(2)}
    assert len(pictures) == 1


@pytest.mark.parametrize("app", APPS)
def test_asking_for_the_state_of_a_sleeping_app_leaves_no_files(app: str) -> None:
    person = Person(app)
    folder = f"/data/data/{APPS[app]}"
    before = list(person.phone.files.walk(folder))
    first = person.state(APPS[app])
    assert list(person.phone.files.walk(folder)) == before
    assert person.state(APPS[app]) == first
    assert person.phone.packages.pid_of(APPS[app]) is None


@pytest.mark.parametrize("app", APPS)
def test_clearing_its_data_makes_an_app_new(app: str) -> None:
    new = opened(app).state(APPS[app])
    person = stepped(app)
    person.phone.clear_data(APPS[app])
    person.open(APPS[app])
    assert person.state(APPS[app]) == new

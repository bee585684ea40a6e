"""The same short story on every version of Android and every maker that the simulator can be."""

from __future__ import annotations

import pytest

from handrail_sim.system.profiles import take_on
from handrail_sim.system.releases import RELEASES
from handrail_sim.system.vendors import VENDORS
from tests.scenario.world import World, play

ASYNC_RUNNER = play

CONTACTS = "com.google.android.contacts"
FIRST = {"id": "first"}
PHONES = [f"android-{number}" for number in RELEASES] + [
    *list(VENDORS)[1:],
    "galaxy-secure-folder",
    "pixel-fold",
    "talkative",
]


@pytest.mark.slow
@pytest.mark.parametrize("profile", PHONES)
async def test_a_contact_is_begun_and_left_on_every_phone(w: World, profile: str) -> None:
    take_on(w.phone, profile)
    await w.open(CONTACTS)
    opened = await w.session.tap("Create new contact", expect={"visible": FIRST})
    assert opened.success, opened.to_json()
    typed = await w.session.type_text("Ada", target=FIRST)
    assert typed.success, typed.to_json()
    activity = w.phone.tasks.top
    assert activity.field("first") == "Ada"
    stopped = await w.session.stop_app(CONTACTS)
    assert stopped.success, stopped.to_json()
    assert w.phone.packages.pid_of(CONTACTS) is None


@pytest.mark.slow
@pytest.mark.parametrize("profile", PHONES)
async def test_what_is_read_of_every_phone_is_what_it_is(w: World, profile: str) -> None:
    """Also while another display, turned another way, is listed first."""
    take_on(w.phone, profile)
    await w.open(CONTACTS)
    eyes = w.session.screens.reader
    for rotation, other in ((0, False), (1, False), (1, True), (0, True)):
        w.phone.set_rotation(rotation)
        if other:
            w.phone.faults.add("second_display", first=1, rotation=2)
        told, built = await eyes.display(), w.phone.display
        assert (told.width, told.height, told.rotation) == (built.width, built.height, rotation)
        front = await eyes.foreground()
        assert front.package == CONTACTS
        assert "PeopleActivity" in (front.activity or "")
        assert await w.sees_what_is_shown()

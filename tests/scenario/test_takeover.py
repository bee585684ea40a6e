"""A person takes the phone, the agent waits and is told for whom, and every act stands under its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from handrail.safety.caller import Caller
from handrail.safety.leases import Holder
from tests.scenario.people import command, lives
from tests.scenario.world import FastClock, World, play, play_live, world

pytestmark = pytest.mark.usefixtures("both_phones")

ASYNC_RUNNER = play_live

SETTINGS = "com.android.settings"


def actor_of(w: World, action_id: str) -> dict[str, str]:
    actors = [event["actor"] for event in lives(w.events())[action_id]]
    assert all(actor == actors[0] for actor in actors)
    return dict(actors[0])


async def test_the_agent_waits_while_a_person_has_the_phone(tmp_path: Path) -> None:
    async with world(tmp_path, caller=Caller("mail-agent", "agent", "mcp")) as w:
        await w.open(SETTINGS)
        code, said = await command(tmp_path, "take-over", "--device", w.serial)
        assert code == 0, said
        assert "agent mail-agent" in said
        touched = len(w.inputs())
        busy = await w.session.tap("Display")
        assert busy.failure_code == "DEVICE_BUSY", busy.to_json()
        assert busy.delivery == "not_delivered"
        assert "person lena" in (busy.message or "")
        assert busy.details["since"].startswith("20")
        assert len(w.inputs()) == touched
        assert (await w.session.get_ui_tree()).success  # looking is free
        code, said = await command(tmp_path, "hand-back", "--device", w.serial)
        assert code == 0, said
        assert "agent mail-agent" in said
        done = await w.session.tap("Display")
        assert done.success, done.to_json()
        kinds = [event["kind"] for event in w.events() if event.get("actor", {}).get("kind") == "person"]
        assert kinds == ["taken_over", "handed_back"]


async def test_what_the_person_does_meanwhile_is_journalled_as_theirs(tmp_path: Path) -> None:
    async with world(tmp_path, caller=Caller("mail-agent", "agent", "mcp")) as w:
        mine = await w.open(SETTINGS)
        await command(tmp_path, "take-over", "--device", w.serial)
        code, said = await command(tmp_path, "tap", "Display", "--device", w.serial)
        assert code == 0, said
        code, said = await command(tmp_path, "press-key", "back", "--device", w.serial, alone=True)
        assert code == 4, said  # another terminal may be another person, or a tool
        assert "DEVICE_BUSY" in said
        assert actor_of(w, mine.action_id) == {"kind": "agent", "id": "mail-agent"}
        by_type = {row.type: row for row in w.runtime.journal.actions()}
        theirs = by_type["tap"]
        assert theirs.actor == {"kind": "person", "id": "lena"}
        assert theirs.door == "cli"
        await command(tmp_path, "hand-back", "--device", w.serial)


async def test_a_person_without_a_hold_waits_for_the_agent_like_anybody(tmp_path: Path) -> None:
    async with world(tmp_path, caller=Caller("mail-agent", "agent", "mcp")) as w:
        await w.open(SETTINGS)
        code, said = await command(tmp_path, "tap", "Display", "--device", w.serial)
        assert code == 4, said
        assert "mail-agent" in said


async def test_taking_over_twice_is_one_hold_and_handing_back_twice_is_none(w: World, tmp_path: Path) -> None:
    await command(tmp_path, "take-over", "--device", w.serial)
    _, again = await command(tmp_path, "take-over", "--device", w.serial)
    assert again == f"{w.serial} is yours already.\n"
    code, other = await command(tmp_path, "take-over", "--device", w.serial, alone=True)
    assert code == 4, other
    await command(tmp_path, "hand-back", "--device", w.serial)
    _, nobody = await command(tmp_path, "hand-back", "--device", w.serial)
    assert nobody == f"No one has taken {w.serial} over.\n"


def test_a_person_in_the_same_process_acts_under_the_own_hold(tmp_path: Path) -> None:
    """As the desk does it: one session, two callers."""

    async def story() -> None:
        async with world(tmp_path) as w:
            await w.open(SETTINGS)
            anna = Caller("anna", "person", "desk")
            await w.runtime.leases.take_over(
                w.serial, Holder(anna.holder_id, "person", label="anna", door="desk")
            )
            refused = await w.session.tap("Display")
            assert refused.failure_code == "DEVICE_BUSY"
            done = await w.session.run({"type": "tap", "target": "Display"}, caller=anna)
            assert done.success, done.to_json()
            assert actor_of(w, done.action_id) == {"kind": "person", "id": "anna"}
            other = await w.session.run({"type": "press_key", "key": "back"}, caller=Caller("bob", "person"))
            assert other.failure_code == "DEVICE_BUSY"
            await w.runtime.leases.hand_back(w.serial)
            assert (await w.session.press_key("back")).success

    play(story())


def test_a_lease_that_was_lost_is_taken_again(tmp_path: Path) -> None:
    """A suspended laptop misses its renewals; somebody else came and went."""

    async def story() -> None:
        clock = FastClock(10)
        async with world(tmp_path, clock=clock) as w:
            await w.open(SETTINGS)
            await w.runtime.store.write(lambda db: db.execute("DELETE FROM leases"))
            other = await w.runtime.leases.acquire(w.serial, Holder("x", "flow", label="nightly"))
            busy = await w.session.tap("Display")
            assert busy.failure_code == "DEVICE_BUSY"
            assert "nightly" in (busy.message or "")
            await other.release()
            done = await w.session.tap("Display")
            assert done.success, done.to_json()
            held = await w.runtime.leases.holder(w.serial)
            assert held
            assert held.holder.label == "local"

    play(story())

"""A session's eyes: revisions, refs that follow elements, what was already found out, and reboots."""

from __future__ import annotations

import asyncio
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.engine.snapshot import REVISIONS
from handrail.errors import AdbConnectionError, StaleReference
from handrail.screen.diff import diff_text
from handrail.screen.fingerprint import state_signature
from tests.unit.engine.scripted import Stand, frames, page, steps, still
from tests.unit.screen.drawn import node, row


async def test_the_revision_counts_changes_and_not_looks() -> None:
    stand = Stand(steps((0, page()), (1_000, page(on=True)), (2_000, page())))
    names = []
    for _ in range(9):
        await stand.look()
        names.append(stand.screens.revision_name)
        await stand.clock.advance(300)
    assert names == sorted(names)
    assert names[-1] == "r3"


@settings(max_examples=25)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=60))
def test_every_kept_revision_is_the_screen_it_was(tickers: list[int]) -> None:
    async def story() -> None:
        stand = Stand(still(page()))
        then = {}
        for number in tickers:
            stand.driver.shows = still(page(ticker=f"Word {number}"))
            seen = await stand.look()
            then[stand.screens.revision] = state_signature(seen.screen)
        assert len({*then}) == 1 + sum(a != b for a, b in pairwise(tickers))
        for revision, signature in list(then.items())[-REVISIONS:]:
            kept = stand.screens.at_revision(revision)
            assert kept is not None
            assert state_signature(kept) == signature
        assert all(stand.screens.at_revision(one) is None for one in list(then)[:-REVISIONS])

    asyncio.run(story())


async def test_a_change_that_came_and_finished_between_two_looks_is_told_since_a_revision() -> None:
    stand = Stand(steps((0, page()), (500, page(title="Done"))))
    await stand.look()
    then = stand.screens.at_revision(stand.screens.revision)
    await stand.clock.advance(600)
    seen = await stand.look()
    assert then is not None
    assert "Done" in diff_text(stand.screens.changes(then, seen.screen))


async def test_looks_at_an_unchanged_screen_share_what_was_found_out() -> None:
    stand = Stand(still(page()))
    one, two = await stand.look(), await stand.look()
    assert one.analysis is two.analysis
    stand.driver.shows = still(page(on=True))
    assert (await stand.look()).analysis is not one.analysis


async def test_refs_follow_their_element_and_a_screen_that_was_prepared_in_vain_changes_nothing() -> None:
    stand = Stand(still(page()))
    await stand.look()
    switch = next(ref for ref in stand.screens.registry.refs if ref.startswith("@c"))
    text, counters = stand.screens.registry.text, stand.screens.revision
    stand.driver.shows = still(page(extra=node("Button", box=row(5), text="New", flags="clickable")))
    passing = await stand.passing(stand.screens.capture())
    stand.screens.prepare(passing)
    assert (stand.screens.registry.text, stand.screens.revision) == (text, counters)
    stand.driver.shows = still(page(on=True, ball=300))
    await stand.look()
    assert stand.screens.registry.resolve(switch).resource_id == "app:id/switch"


async def test_a_view_of_a_look_that_was_not_taken_knows_the_refs_of_the_last_one() -> None:
    stand = Stand(still(page()))
    await stand.look()
    switch = next(ref for ref in stand.screens.registry.refs if ref.startswith("@c"))
    stand.driver.shows = still(page(on=True))
    seen = await stand.passing(stand.screens.capture())
    view = stand.screens.refs_on(seen)
    assert view.resolve(switch) in seen.screen.nodes
    assert view.ref_of(view.resolve(switch)) == switch
    assert stand.screens.refs_on(seen) is view
    stand.screens.adopt(seen)
    assert stand.screens.refs_on(seen) is not view


async def test_a_reboot_during_a_silence_ends_refs_and_goes_on_counting() -> None:
    stand = Stand(still(page()))
    stand.screens.boot_id = "first"
    await stand.look()
    old = set(stand.screens.registry.refs)
    revision = stand.screens.revision
    stand.driver.boot_id = "second"
    await stand.clock.advance(5_000)
    await stand.look()
    assert stand.screens.boot_id == "second"
    assert not old & set(stand.screens.registry.refs)
    assert stand.screens.revision > revision
    for ref in old:
        try:
            stand.screens.registry.resolve(ref)
        except StaleReference:
            continue
        raise AssertionError(f"{ref} outlived the boot")


async def test_a_reboot_behind_an_unusually_long_look_is_noticed_too() -> None:
    stand = Stand(still(page()))
    stand.screens.boot_id = "first"
    await stand.look()
    stand.driver.boot_id, stand.driver.read_ms = "second", 1_800
    await stand.look()
    assert stand.screens.boot_id == "second"


async def test_a_phone_that_was_only_quiet_keeps_its_refs() -> None:
    stand = Stand(still(page()))
    await stand.look()
    old = dict(stand.screens.registry.refs)
    await stand.clock.advance(60_000)
    await stand.look()
    assert stand.screens.boot_id == "first"
    assert stand.screens.registry.refs == old


async def test_a_phone_that_can_not_say_which_boot_it_is_keeps_its_refs() -> None:
    stand = Stand(still(page()))
    stand.screens.boot_id = "first"
    await stand.look()
    old = dict(stand.screens.registry.refs)

    async def mute() -> object:
        raise AdbConnectionError("not now")

    stand.driver.facts = mute  # type: ignore[method-assign, assignment]
    await stand.clock.advance(5_000)
    await stand.look()
    assert stand.screens.registry.refs == old


async def test_a_touch_starts_a_new_watch() -> None:
    stand = Stand(frames(100, lambda number: page(ticker=f"Step {number}")))
    for _ in range(3):
        await stand.look()
        await stand.clock.advance(150)
    assert stand.screens.motion.tracks
    stand.screens.mark_input()
    await stand.look()
    assert not stand.screens.motion.tracks

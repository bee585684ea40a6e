"""Refs outlive their process, and their numbers are given once: on real SQLite, without a phone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from handrail.engine.ref_store import BLOCK, RefState, RefStore
from handrail.safety.secrets import Secrets
from handrail.screen.node import Screen
from handrail.screen.parse import parse
from handrail.store import Store

DEVICE, BOOT = "emulator-5554", "boot-1"
ROW = (
    '<node index="0" text="{}" class="android.widget.Button" clickable="true" enabled="true"'
    ' bounds="[0,{}][900,{}]"/>'
)
FRAME = '<node index="0" class="android.widget.FrameLayout" package="app" bounds="[0,0][900,2000]">{}</node>'


def screen(*labels: str) -> Screen:
    rows = "".join(ROW.format(label, at * 100, at * 100 + 90) for at, label in enumerate(labels))
    return parse(f'<hierarchy rotation="0">{FRAME.format(rows)}</hierarchy>')


def same(value: Any) -> Any:
    return value


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[RefStore]:
    with closing(Store(tmp_path / "handrail.db")) as store:
        yield RefStore(store)


def shown(known: RefState, *labels: str) -> set[str]:
    known.refs.rebuild(screen(*labels))
    return set(known.refs.refs)


async def test_the_next_process_goes_on_with_refs_and_numbers(memory: RefStore) -> None:
    first = await memory.load(DEVICE, BOOT)
    assert shown(first, "Save", "Cancel") == {"@b1", "@b2"}
    first.revision, first.signature = 4, "sig"
    await memory.save(DEVICE, BOOT, first, same, last=True)
    second = await memory.load(DEVICE, BOOT)
    assert (second.revision, second.signature) == (4, "sig")
    assert shown(second, "Save", "Cancel", "Help") == {"@b1", "@b2", "@b3"}


async def test_after_a_boot_the_elements_are_gone_and_the_numbers_go_on(memory: RefStore) -> None:
    first = await memory.load(DEVICE, BOOT)
    shown(first, "Save")
    await memory.save(DEVICE, BOOT, first, same, last=True)
    second = await memory.load(DEVICE, "boot-2")
    assert shown(second, "Save") == {"@b2"}


async def test_a_process_that_died_takes_its_whole_block_with_it(memory: RefStore) -> None:
    dead = await memory.load(DEVICE, BOOT)
    lost = shown(dead, "Save", "Cancel")
    second = await memory.load(DEVICE, BOOT)
    assert second.revision == BLOCK
    assert shown(second, "Other").isdisjoint(lost)
    assert "gone" in str(second.refs.stale("@b2"))


async def test_of_two_at_once_the_one_that_closes_last_does_not_make_numbers_come_back(
    memory: RefStore,
) -> None:
    one = await memory.load(DEVICE, BOOT)
    two = await memory.load(DEVICE, BOOT)
    given = shown(one, "A", "B") | shown(two, "C", "D", "E")
    assert len(given) == 5
    await memory.save(DEVICE, BOOT, two, same, last=True)
    await memory.save(DEVICE, BOOT, one, same, last=True)
    third = await memory.load(DEVICE, BOOT)
    assert shown(third, "X", "Y", "Z").isdisjoint(given)


async def test_a_block_that_runs_short_is_extended_or_jumped_over(memory: RefStore) -> None:
    one = await memory.load(DEVICE, BOOT)
    assert not one.is_short(BLOCK // 2)
    assert one.is_short(BLOCK // 2 + 1)
    assert await memory.extend(DEVICE, one, 700) == 700
    assert one.ceiling == 2 * BLOCK
    two = await memory.load(DEVICE, BOOT)
    assert (two.refs.floor, two.ceiling) == (2 * BLOCK, 3 * BLOCK)
    assert await memory.extend(DEVICE, one, 1_700) == 3 * BLOCK
    assert shown(one, "A") == {f"@b{3 * BLOCK + 1}"}
    await memory.save(DEVICE, BOOT, two, same, last=True)
    await memory.save(DEVICE, BOOT, one, same, last=True)
    assert await memory.extend(DEVICE, two, 5) > 3 * BLOCK  # after everybody has given theirs back


async def test_what_is_saved_is_redacted(tmp_path: Path, memory: RefStore) -> None:
    known = await memory.load(DEVICE, BOOT)
    shown(known, "hunter2")
    secrets = Secrets({"HANDRAIL_SECRET_PW": "hunter2"})
    await memory.save(DEVICE, BOOT, known, secrets.redact_data, last=True)
    assert not any(b"hunter2" in file.read_bytes() for file in tmp_path.iterdir())


async def test_refs_of_another_version_are_dropped_and_their_numbers_kept(memory: RefStore) -> None:
    known = await memory.load(DEVICE, BOOT)
    given = shown(known, "Save", "Cancel")
    await memory.save(DEVICE, BOOT, known, lambda _: {"format": 99}, last=True)
    after = await memory.load(DEVICE, BOOT)
    assert shown(after, "Save", "Cancel").isdisjoint(given)


async def test_a_device_that_does_not_open_costs_no_numbers(memory: RefStore) -> None:
    first = await memory.load(DEVICE, BOOT)
    assert shown(first, "Save", "Cancel") == {"@b1", "@b2"}
    await memory.save(DEVICE, BOOT, first, same, last=True)
    for _ in range(3):
        with suppress(ConnectionError):
            async with memory.taking(DEVICE):
                raise ConnectionError
    again = await memory.load(DEVICE, BOOT)
    assert (again.revision, again.ceiling) == (first.revision, first.ceiling + 2)
    assert shown(again, "Save", "Cancel", "Help") == {"@b1", "@b2", "@b3"}


async def test_numbers_that_others_took_meanwhile_stay_theirs(memory: RefStore) -> None:
    with suppress(ConnectionError):
        async with memory.taking(DEVICE) as taken:
            await taken
            other = await memory.load(DEVICE, BOOT)
            raise ConnectionError
    third = await memory.load(DEVICE, BOOT)
    assert third.refs.floor >= other.ceiling


async def test_what_need_not_outlive_a_power_cut_is_seen_by_others_at_once(tmp_path: Path) -> None:
    one, two = Store(tmp_path / "handrail.db"), Store(tmp_path / "handrail.db")
    try:
        one.create_tables("words", ("CREATE TABLE words (word TEXT)",))
        say = "INSERT INTO words VALUES ('soon')"
        await one.write(lambda db: db.execute(say), durable=False)
        assert [row[0] for row in await two.read(lambda db: db.execute("SELECT * FROM words").fetchall())]
        with pytest.raises(ZeroDivisionError):
            await one.write(lambda _: 1 // 0, durable=False)
        # FULL again, also after a failure: the next durable write waits for the disk.
        assert await one.read(lambda db: db.execute("PRAGMA synchronous").fetchone()[0]) == 2
    finally:
        one.close()
        two.close()

"""Blobs: named by what they hold, stored once, swept by limits, and what became of each is always said."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from handrail.errors import StoreFull
from handrail.journal import Journal, journal
from handrail.journal.journal import DAY_MS, Limits
from handrail.safety.secrets import Secrets
from handrail_sim.clock import ManualClock
from tests.unit.journal.journalist import opened, with_journal

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))


async def test_a_blob_is_named_by_its_hash_and_read_again(tmp_path: Path, journal: Journal) -> None:
    name = await journal.put_blob(b"<tree/>", "tree")
    assert name == hashlib.sha256(b"<tree/>").hexdigest()
    assert journal.blob(name) == b"<tree/>"
    assert (tmp_path / "blobs" / name[:2] / name).read_bytes() == b"<tree/>"


async def test_the_same_blob_is_stored_once(tmp_path: Path, journal: Journal) -> None:
    names = await asyncio.gather(*(journal.put_blob(b"<tree/>", "tree") for _ in range(20)))
    assert len(set(names)) == 1
    assert len([path for path in (tmp_path / "blobs").rglob("*") if path.is_file()]) == 2  # and the lock
    file = tmp_path / "blobs" / names[0][:2] / names[0]
    before = file.stat().st_ino
    await journal.put_blob(b"<tree/>", "tree")
    assert file.stat().st_ino == before, "it was not written again"


async def test_a_disk_that_is_full_leaves_no_part_of_a_blob(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, journal: Journal
) -> None:
    def full(part: Path, _: Path) -> None:
        assert part.read_bytes() == b"<tree/>"
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(StoreFull, match="No space"):
        await journal.put_blob(b"<tree/>", "tree")
    assert [path.name for path in (tmp_path / "blobs").rglob("*") if path.is_file()] == [".lock"]


async def test_a_blob_that_is_another_one_now_is_damaged_and_not_shown(
    tmp_path: Path, journal: Journal
) -> None:
    names = [await journal.put_blob(f"<tree n={n}/>".encode(), "tree") for n in range(4)]
    await journal.durable()
    files = [tmp_path / "blobs" / name[:2] / name for name in names]
    files[0].write_bytes(b"<tree n=9/>")
    files[1].write_bytes(b"")
    files[2].unlink()
    files[2].mkdir()
    assert [journal.blob(name) for name in names] == [None, None, None, b"<tree n=3/>"]
    assert [journal.blob_state(name) for name in names] == ["damaged"] * 3 + ["kept"]


def test_a_text_blob_is_redacted_before_it_is_named(tmp_path: Path) -> None:
    secrets = Secrets({"HANDRAIL_SECRET_PIN": "opensesame"})

    async def work(journal: Journal) -> None:
        name = await journal.put_blob(b'<node text="opensesame"/>', "tree")
        assert journal.blob(name) == b'<node text="${secret:PIN}"/>'
        assert name == hashlib.sha256(b'<node text="${secret:PIN}"/>').hexdigest()

    with_journal(tmp_path, work, redact=secrets.redact)


async def test_a_picture_is_kept_only_when_it_is_said_to_hold_no_secret(journal: Journal) -> None:
    withheld = await journal.put_blob(PNG, "screenshot")
    kept = await journal.put_blob(PNG, "screenshot", no_secret=True)
    await journal.seal({"kind": "note"})
    assert journal.blob(withheld) is None
    assert journal.blob_state(withheld) == "withheld"
    assert withheld != kept, "not even the hash tells what was on it"
    assert journal.blob(kept) == PNG
    assert journal.blob_state(kept) == "kept"


@pytest.mark.parametrize("name", ["../../config/secrets", "a" * 63, "a" * 65, "A" * 64, "ab/" + "a" * 61])
async def test_what_is_no_name_leads_nowhere(tmp_path: Path, name: str) -> None:
    home = tmp_path / "a" / "home"
    async with opened(home) as journal:
        there = home / "blobs" / name[:2] / name
        there.parent.mkdir(parents=True)
        there.write_text("nobody's business")
        assert journal.blob(name) is None
        assert journal.blob_state(name) is None


async def test_an_unknown_name_has_no_blob(journal: Journal) -> None:
    assert journal.blob("") is None
    assert journal.blob("a" * 64) is None


async def test_a_blob_is_its_owners_alone_and_as_old_as_it_was_given(
    tmp_path: Path, journal: Journal
) -> None:
    names = [await journal.put_blob(f"<tree n='{number}'/>".encode(), "tree") for number in range(40)]
    folders = {tmp_path / "blobs" / name[:2] for name in names}
    assert len(folders) < len(names), "two in one folder"
    for folder in (tmp_path / "blobs", *folders):
        assert folder.stat().st_mode & 0o7777 == 0o700
    for file in [tmp_path / "blobs" / ".lock", *(tmp_path / "blobs" / name[:2] / name for name in names)]:
        assert file.stat().st_mode & 0o7777 == 0o600
    oldest = tmp_path / "blobs" / names[0][:2] / names[0]
    assert oldest.stat().st_mtime_ns == oldest.stat().st_atime_ns == 1_710_000_000_000 * 1_000_000


async def test_the_table_says_what_each_blob_is(tmp_path: Path, journal: Journal) -> None:
    tree = await journal.put_blob(b"<tree/>", "tree")
    picture = await journal.put_blob(PNG, "screenshot")
    await journal.seal({"kind": "note"})
    db = sqlite3.connect(tmp_path / "handrail.db")
    rows = db.execute("SELECT * FROM blobs ORDER BY bytes").fetchall()
    db.close()
    assert rows == [
        (tree, "tree", 7, 1_710_000_000_000, "kept"),
        (picture, "screenshot", len(PNG), 1_710_000_000_000, "withheld"),
    ]
    assert len(picture) == 64


def sweeping(home: Path, limits: Limits, days: int) -> dict[str, Any]:
    """One blob of 100 bytes a day, then a sweep. What is kept, by day, and the journal's own words."""

    async def story() -> dict[str, Any]:
        clock = ManualClock()
        journal = Journal.open(home, clock, limits=limits)
        names = []
        for day in range(days):
            names.append(await journal.put_blob(f"{day:0100d}".encode(), "tree"))
            await clock.advance(DAY_MS)
        await journal.seal({"kind": "note"})
        count = await journal.sweep()
        await journal.seal({"kind": "note"})
        events = [json.loads(line) for line in journal.export()]
        found = {
            "kept": [day for day, name in enumerate(names) if journal.blob(name) is not None],
            "states": [journal.blob_state(name) for name in names],
            "count": count,
            "told": [name for event in events if event["kind"] == "swept" for name in event["names"]],
            "parts": [(len(event["names"]), event["bytes"]) for event in events if event["kind"] == "swept"],
            "names": names,
            "verdict": journal.verify(),
        }
        await journal.close()
        return found

    return asyncio.run(story())


@pytest.mark.parametrize(
    "limits",
    [
        Limits(bytes=300, count=None, age_ms=None),
        Limits(bytes=399, count=None, age_ms=None),
        Limits(bytes=None, count=3, age_ms=None),
        Limits(bytes=None, count=None, age_ms=3 * DAY_MS),
    ],
)
def test_the_oldest_are_swept_beyond_each_limit_and_it_is_said(tmp_path: Path, limits: Limits) -> None:
    found = sweeping(tmp_path, limits, days=8)
    assert found["kept"] == [5, 6, 7]
    assert found["states"] == ["swept"] * 5 + ["kept"] * 3
    assert (found["count"], found["told"]) == (5, found["names"][:5])
    assert found["verdict"].ok
    assert not found["verdict"].warnings, "a swept blob is no damage"


def test_nothing_is_swept_within_the_limits(tmp_path: Path) -> None:
    found = sweeping(tmp_path, Limits(), days=4)
    assert (found["count"], found["kept"]) == (0, [0, 1, 2, 3])


async def test_a_blob_that_is_seen_again_is_young_again(tmp_path: Path) -> None:
    clock = ManualClock()
    journal = Journal.open(tmp_path, clock, limits=Limits(bytes=None, count=1, age_ms=None))
    old = await journal.put_blob(b"<first/>", "tree")
    await clock.advance(DAY_MS)
    other = await journal.put_blob(b"<second/>", "tree")
    await clock.advance(DAY_MS)
    await journal.put_blob(b"<first/>", "tree")
    await journal.seal({"kind": "note"})
    await journal.sweep()
    assert journal.blob(old) == b"<first/>"
    assert journal.blob(other) is None
    await journal.close()


async def test_a_blob_that_another_process_has_just_touched_is_not_swept(tmp_path: Path) -> None:
    clock = ManualClock()
    journal = Journal.open(tmp_path, clock, limits=Limits(bytes=0, count=None, age_ms=None))
    name = await journal.put_blob(b"<first/>", "tree")
    await journal.seal({"kind": "note"})
    await clock.advance(DAY_MS)
    path = tmp_path / "blobs" / name[:2] / name
    path.touch()  # it was given again, and that process has not committed its row yet
    assert await journal.sweep() == 0
    assert journal.blob(name) is not None
    await journal.seal({"kind": "note"})
    assert [json.loads(line)["kind"] for line in journal.export()] == ["note", "note"]
    path.unlink()
    assert await journal.sweep() == 1, "what somebody else removed is gone, too"
    await journal.close()


@pytest.mark.parametrize(("old_ms", "swept"), [(59_999, 0), (60_000, 1)])
async def test_what_may_belong_to_an_action_in_flight_is_not_swept(
    tmp_path: Path, old_ms: int, swept: int
) -> None:
    clock = ManualClock()
    opened = Journal.open(tmp_path, clock, limits=Limits(bytes=0, count=0, age_ms=0))
    await opened.put_blob(b"<first/>", "tree")
    await opened.seal({"kind": "note"})
    await clock.advance(old_ms)
    assert await opened.sweep() == swept
    await opened.close()


def test_a_sweep_lets_other_writers_in_between_and_tells_each_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "AT_ONCE", 2)
    found = sweeping(tmp_path, Limits(bytes=None, count=0, age_ms=None), days=5)
    assert (found["count"], found["told"], found["parts"]) == (
        5,
        found["names"],
        [(2, 200), (2, 200), (1, 100)],
    )


async def test_a_sweep_comes_with_the_first_blob_and_again_when_enough_has_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "SWEEP_AFTER_BYTES", 100)
    clock, counts = ManualClock(), []
    opened = Journal.open(tmp_path, clock, limits=Limits(bytes=0, count=None, age_ms=None))
    for number, size in enumerate((10, 99, 1, 40, 60, 1)):
        await opened.put_blob(f"{number:0{size}d}".encode(), "tree")
        await opened.seal({"kind": "note"})
        events = [json.loads(line) for line in opened.export()]
        counts.append(sum(len(event["names"]) for event in events if event["kind"] == "swept"))
        await clock.advance(DAY_MS)
    await opened.close()
    assert counts == [0, 0, 2, 2, 4, 4]


def test_two_gib_a_hundred_thousand_or_thirty_days_are_kept() -> None:
    assert Limits() == Limits(2 * 1024**3, 100_000, 30 * 24 * 3600 * 1000)
    assert journal.SWEEP_AFTER_BYTES == 64 * 1024**2

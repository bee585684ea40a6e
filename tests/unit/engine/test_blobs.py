"""Blobs: named by what they hold, stored once, swept by limits, and what became of each is always said."""

from __future__ import annotations

import asyncio
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from handrail.clock import ManualClock
from handrail.engine.journal import Journal
from handrail.engine.journal.journal import DAY_MS, Limits
from handrail.engine.secrets import Secrets
from tests.unit.engine.journalist import with_journal

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))


def test_a_blob_is_named_by_its_hash_and_read_again(tmp_path: Path) -> None:
    async def work(journal: Journal) -> None:
        name = await journal.put_blob(b"<tree/>", "tree")
        assert name == hashlib.sha256(b"<tree/>").hexdigest()
        assert journal.blob(name) == b"<tree/>"
        assert (tmp_path / "blobs" / name[:2] / name).read_bytes() == b"<tree/>"

    with_journal(tmp_path, work)


def test_the_same_blob_is_stored_once(tmp_path: Path) -> None:
    async def work(journal: Journal) -> None:
        names = await asyncio.gather(*(journal.put_blob(b"<tree/>", "tree") for _ in range(20)))
        assert len(set(names)) == 1
        assert len([path for path in (tmp_path / "blobs").rglob("*") if path.is_file()]) == 2  # and the lock

    with_journal(tmp_path, work)


def test_a_text_blob_is_redacted_before_it_is_named(tmp_path: Path) -> None:
    secrets = Secrets({"HANDRAIL_SECRET_PIN": "opensesame"})

    async def work(journal: Journal) -> None:
        name = await journal.put_blob(b'<node text="opensesame"/>', "tree")
        assert journal.blob(name) == b'<node text="${secret:PIN}"/>'
        assert name == hashlib.sha256(b'<node text="${secret:PIN}"/>').hexdigest()

    with_journal(tmp_path, work, redact=secrets.redact)


def test_a_picture_is_kept_only_when_it_is_said_to_hold_no_secret(tmp_path: Path) -> None:
    async def work(journal: Journal) -> None:
        withheld = await journal.put_blob(PNG, "screenshot")
        kept = await journal.put_blob(PNG, "screenshot", no_secret=True)
        await journal.seal({"kind": "note"})
        assert journal.blob(withheld) is None
        assert journal.blob_state(withheld) == "withheld"
        assert withheld != kept, "not even the hash tells what was on it"
        assert journal.blob(kept) == PNG
        assert journal.blob_state(kept) == "kept"

    with_journal(tmp_path, work)


@pytest.mark.parametrize("name", ["", "../../config/secrets", "a" * 63, "A" * 64, "ab/" + "a" * 61])
def test_what_is_no_name_leads_nowhere(tmp_path: Path, name: str) -> None:
    async def work(journal: Journal) -> None:
        assert journal.blob(name) is None
        assert journal.blob_state(name) is None

    with_journal(tmp_path, work)


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
            "names": names,
            "verdict": journal.verify(),
        }
        await journal.close()
        return found

    return asyncio.run(story())


@pytest.mark.parametrize(
    "limits",
    [
        Limits(bytes=350, count=None, age_ms=None),
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


def test_a_blob_that_is_seen_again_is_young_again(tmp_path: Path) -> None:
    async def story() -> None:
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

    asyncio.run(story())


def test_a_blob_that_another_process_has_just_touched_is_not_swept(tmp_path: Path) -> None:
    async def story() -> None:
        clock = ManualClock()
        journal = Journal.open(tmp_path, clock, limits=Limits(bytes=0, count=None, age_ms=None))
        name = await journal.put_blob(b"<first/>", "tree")
        await journal.seal({"kind": "note"})
        await clock.advance(DAY_MS)
        path = tmp_path / "blobs" / name[:2] / name
        path.touch()  # it was given again, and that process has not committed its row yet
        assert await journal.sweep() == 0
        assert journal.blob(name) is not None
        await journal.close()

    asyncio.run(story())

"""The file of remembered answers: for people to read, safe between processes, never half written."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from handrail.errors import PolicyUnusable
from handrail.safety.permissions import Permissions


@pytest.fixture
def kept(tmp_path: Path) -> Permissions:
    return Permissions(tmp_path / "config" / "permissions.json")


def write(kept: Permissions, text: str | bytes) -> None:
    kept.path.parent.mkdir(parents=True, exist_ok=True)
    kept.path.write_bytes(text.encode() if isinstance(text, str) else text)


def alike(path: Path, text: str) -> None:
    """Another text in the same file that looks untouched: as long, and of the same moment."""
    facts = path.stat()
    assert len(text) == facts.st_size
    path.write_text(text)
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))


ALLOWED, DENIED = '{"shell:ls": "allow"}', '{"shell:ls": "deny" }'


def test_the_file_is_plain_json_for_its_owner_only(kept: Permissions) -> None:
    kept.remember("shell", "pm list packages", allow=True)
    kept.remember("open_url", "пример.example", allow=False)
    assert json.loads(kept.path.read_text()) == {
        "open_url:пример.example": "deny",
        "shell:pm list packages": "allow",
    }
    assert "пример" in kept.path.read_text()
    assert kept.path.stat().st_mode & 0o777 == 0o600
    left = {one.name for one in kept.path.parent.iterdir()}
    assert left == {"permissions.json", "permissions.json.lock"}


def test_an_edit_by_hand_is_seen_at_once(kept: Permissions) -> None:
    kept.remember("open_url", "a.example", allow=True)
    kept.path.write_text('{\n  "open_url:a.example": "deny"\n}\n')
    assert kept.lookup("open_url", "a.example") is False


def test_a_link_to_the_file_stays_a_link(kept: Permissions, tmp_path: Path) -> None:
    kept.path.parent.mkdir(parents=True)
    real = tmp_path / "dotfiles.json"
    real.write_text("{}")
    kept.path.symlink_to(real)
    kept.remember("shell", "ls", allow=True)
    assert kept.path.is_symlink()
    assert json.loads(real.read_text()) == {"shell:ls": "allow"}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{\n  "shell:ls" "allow"\n}', 2),
        ('{\n  "shell:ls": "allow",\n  "shell:id": "maybe"\n}', 3),
        ('{\n  "shell:ls": "allow",\n  "shell:ls": "deny"\n}', 3),
        ('{\n  "shell:ls": {"a": 1}\n}', 2),
        ("[]", 1),
        ("3", 1),
        ('["shell"]', 1),
    ],
)
def test_a_damaged_file_is_an_error_with_its_line_and_is_left_alone(
    kept: Permissions, text: str, line: int
) -> None:
    kept.path.parent.mkdir(parents=True)
    kept.path.write_text(text)
    for attempt in (lambda: kept.lookup("shell", "ls"), lambda: kept.remember("shell", "ls", allow=True)):
        with pytest.raises(PolicyUnusable) as caught:
            attempt()
        assert f"permissions.json:{line}: " in caught.value.message
    assert kept.path.read_text() == text


def test_a_file_that_is_no_text_has_its_line_too(kept: Permissions) -> None:
    kept.path.parent.mkdir(parents=True)
    kept.path.write_bytes(b'{\n"shell:\xff": "allow"}')
    with pytest.raises(PolicyUnusable, match=r"permissions\.json:2: not UTF-8"):
        kept.all()


WRITER = """
import sys
from pathlib import Path
from handrail.safety.permissions import Permissions
kept = Permissions(Path(sys.argv[1]))
for number in range(20):
    kept.remember("shell", f"{sys.argv[2]} {number}", allow=True)
"""


def test_processes_that_write_at_once_lose_nothing(kept: Permissions) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(kept.path), name])
        for name in ("one", "two", "three")
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    assert len(kept.all()) == 60


def test_a_change_that_nothing_but_the_bytes_shows_is_seen(kept: Permissions) -> None:
    write(kept, ALLOWED)
    assert kept.lookup("shell", "ls") is True
    alike(kept.path, DENIED)
    assert kept.lookup("shell", "ls") is False


def test_what_was_read_can_not_be_changed_from_outside(kept: Permissions) -> None:
    write(kept, ALLOWED)
    kept.all().clear()
    assert kept.all() == {"shell:ls": True}


def test_a_file_that_was_gone_is_read_anew_when_it_is_back(kept: Permissions) -> None:
    write(kept, ALLOWED)
    kept.all()
    away = kept.path.rename(kept.path.with_name("away"))
    assert kept.all() == {}
    alike(away, DENIED)
    away.rename(kept.path)
    assert kept.all() == {"shell:ls": False}


def test_a_change_is_made_to_what_is_in_the_file_now(kept: Permissions) -> None:
    write(kept, ALLOWED)
    kept.all()
    alike(kept.path, DENIED)
    kept.remember("shell", "id", allow=True)
    assert kept.all() == {"shell:ls": False, "shell:id": True}


def test_after_a_change_nothing_is_known_by_heart(kept: Permissions) -> None:
    write(kept, ALLOWED)
    before = kept.path.with_name("before")
    before.hardlink_to(kept.path)
    kept.remember("shell", "id", allow=True)
    alike(before, DENIED)
    before.replace(kept.path)
    assert kept.all() == {"shell:ls": False}


def test_folder_and_lock_are_for_the_owner_only(tmp_path: Path) -> None:
    kept = Permissions(tmp_path / "home" / "config" / "permissions.json")
    kept.remember("shell", "ls", allow=True)
    assert kept.path.parent.stat().st_mode & 0o777 == 0o700
    assert Path(f"{kept.path}.lock").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("mode", [0o664, 0o602, 0o666])
def test_a_file_that_others_can_write_is_not_believed(kept: Permissions, mode: int) -> None:
    write(kept, ALLOWED)
    assert kept.lookup("shell", "ls") is True
    kept.path.chmod(mode)
    with pytest.raises(PolicyUnusable) as caught:
        kept.all()
    assert f"(mode {mode:04o})" in caught.value.message
    assert caught.value.hint.endswith(f"chmod go-w {kept.path}")
    with pytest.raises(PolicyUnusable):
        kept.remember("shell", "id", allow=True)
    assert kept.path.read_text() == ALLOWED


def test_an_answer_is_on_the_disk_before_it_counts(
    kept: Permissions, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    monkeypatch.setattr(
        os, "fsync", lambda handle: seen.append((os.fstat(handle).st_size, kept.path.exists()))
    )
    kept.remember("shell", "ls", allow=True)
    assert seen == [(kept.path.stat().st_size, False)]


def test_a_full_disk_leaves_the_answers_as_they_were(
    kept: Permissions, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept.remember("shell", "ls", allow=True)

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        kept.remember("shell", "id", allow=True)
    assert kept.all() == {"shell:ls": True}
    assert {one.name for one in kept.path.parent.iterdir()} == {"permissions.json", "permissions.json.lock"}


def test_people_can_read_the_file(kept: Permissions) -> None:
    kept.remember("shell", "ls", allow=True)
    kept.remember("open_url", "a.org", allow=False)
    assert kept.path.read_text() == '{\n  "open_url:a.org": "deny",\n  "shell:ls": "allow"\n}\n'


def test_an_empty_file_holds_no_answers(kept: Permissions) -> None:
    write(kept, " \n")
    assert kept.all() == {}


def test_a_file_may_be_large_and_not_without_end(kept: Permissions) -> None:
    write(kept, ALLOWED.ljust(4_000_000))
    assert kept.lookup("shell", "ls") is True
    write(kept, ALLOWED.ljust(4_000_001))
    with pytest.raises(PolicyUnusable, match=r"permissions\.json: 4,000,001 bytes are too many"):
        kept.all()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b'\n{"shell:\xff": "allow"}', ":2: not UTF-8"),
        (b'\xff{"shell:ls": "allow"}\n', ":1: not UTF-8"),
        ("{" + '"a":{' * 100_000, ":1: nested too deeply"),
        ('{\n"shell:ls": "allow",\n"shell:\\u0069d": "maybe"\n}', ":1: 'shell:id' must be"),
        ('{\n"shell:é": "allow",\n"shell:\\u00e9": "deny"\n}', ":3: 'shell:é' is there twice"),
        ('{\n"shell:\\u00e9": "maybe"\n}', ":2: 'shell:é' must be"),
        ('{"shell:é": "maybe"}', ":1: 'shell:é' must be"),
        ('{"shell:ls": true}', ":1: 'shell:ls' must be"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_where_it_stands(
    kept: Permissions, text: str | bytes, says: str
) -> None:
    write(kept, text)
    with pytest.raises(PolicyUnusable) as caught:
        kept.all()
    assert f"{kept.path}{says}" in caught.value.message
    assert caught.value.hint == "Correct the line by hand; nothing in the file was changed."

from __future__ import annotations

import errno
import gc

import pytest

from handrail_sim.clock import ManualClock
from handrail_sim.disk import blobs
from handrail_sim.disk.files import Files
from handrail_sim.disk.lookup import CAPACITY


@pytest.fixture
def files() -> Files:
    return Files(ManualClock())


def number_of(failed: pytest.ExceptionInfo[OSError]) -> str:
    return errno.errorcode[failed.value.errno or 0]


def test_the_sdcard_is_a_link_to_shared_storage(files: Files) -> None:
    files.write("/sdcard/Download/a.txt", b"hello")
    assert files.read("/storage/emulated/0/Download/a.txt") == b"hello"
    assert files.canonical("/sdcard/Download/a.txt") == "/storage/emulated/0/Download/a.txt"
    assert files.stat("/sdcard", follow=False).is_link
    assert files.stat("/sdcard").is_dir


def test_shared_storage_keeps_its_owner_and_mode(files: Files) -> None:
    shell = files.as_shell()
    shell.write("/sdcard/a", b"")
    shell.chmod("/sdcard/a", 0o777)
    assert files.stat("/sdcard/a").permissions == "-rw-rw----"


def test_the_shell_may_write_where_android_lets_it(files: Files) -> None:
    shell = files.as_shell()
    shell.write("/data/local/tmp/tool", b"x", mode=0o755)
    assert files.stat("/data/local/tmp/tool").uid == 2000
    with pytest.raises(OSError, match="Read-only file system"):
        shell.write("/system/app/evil", b"")
    with pytest.raises(PermissionError):
        shell.list("/data")
    with pytest.raises(PermissionError):
        shell.write("/data/system/x", b"")


def test_an_apps_data_is_closed_to_the_shell_and_open_to_the_app(files: Files) -> None:
    files.make_app_data("com.example.app", 10101)
    app = files.as_user(10101)
    app.write("/data/data/com.example.app/files/a", b"secret")
    assert app.read("/data/user/0/com.example.app/files/a") == b"secret"
    with pytest.raises(PermissionError):
        files.as_shell().read("/data/data/com.example.app/files/a")
    with pytest.raises(PermissionError):
        files.as_user(10102).list("/data/data/com.example.app")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/nowhere/file", "ENOENT"),
        ("/dev/null/file", "ENOTDIR"),
        ("/sdcard", "EISDIR"),
        ("/sdcard/" + "n" * 256, "ENAMETOOLONG"),
    ],
)
def test_a_write_that_can_not_be_fails_as_linux_does(files: Files, path: str, expected: str) -> None:
    with pytest.raises(OSError, match=r".") as failed:
        files.write(path, b"")
    assert number_of(failed) == expected


def test_a_link_that_leads_to_itself_is_not_followed_for_ever(files: Files) -> None:
    files.symlink("/data/local/tmp/b", "/data/local/tmp/a")
    files.symlink("/data/local/tmp/a", "/data/local/tmp/b")
    with pytest.raises(OSError, match="symbolic links") as failed:
        files.read("/data/local/tmp/a")
    assert number_of(failed) == "ELOOP"


def test_dots_lead_up_and_never_above_the_root(files: Files) -> None:
    files.write("/sdcard/../../../../data/local/tmp/x", b"1")
    assert files.read("/data/local/./tmp/../tmp/x") == b"1"
    assert files.list("/../..") == files.list("/")


def test_a_full_disk_refuses_and_deleting_makes_room(files: Files) -> None:
    files._disk.used = CAPACITY - 10
    with pytest.raises(OSError, match="No space left on device"):
        files.write("/sdcard/big", b"x" * 11)
    files.write("/sdcard/big", b"x" * 10)
    files.remove("/sdcard/big")
    assert files.used == CAPACITY - 10


def test_folders_are_made_listed_renamed_and_removed(files: Files) -> None:
    files.mkdir("/sdcard/a/b/c", parents=True)
    files.write("/sdcard/a/b/c/one", b"1")
    files.rename("/sdcard/a/b", "/sdcard/moved")
    assert [path for path, _ in files.walk("/sdcard/moved")] == [
        "/sdcard/moved",
        "/sdcard/moved/c",
        "/sdcard/moved/c/one",
    ]
    with pytest.raises(OSError, match="Directory not empty"):
        files.rmdir("/sdcard/moved")
    files.remove_tree("/sdcard/moved")
    assert not files.exists("/sdcard/moved")
    assert files.list("/sdcard/a") == []


def test_a_folder_is_not_moved_into_itself(files: Files) -> None:
    files.mkdir("/sdcard/a")
    with pytest.raises(OSError, match="Invalid argument"):
        files.rename("/sdcard/a", "/sdcard/a/b")


def test_patterns_skip_hidden_names(files: Files) -> None:
    for name in ("a1.txt", "a2.txt", "b.txt", ".a.txt"):
        files.write(f"/sdcard/Download/{name}", b"")
    assert files.glob("/sdcard/Down*/a?.txt") == ["/sdcard/Download/a1.txt", "/sdcard/Download/a2.txt"]
    assert len(files.glob("/sdcard/Download/*")) == 3


def test_the_null_device_swallows_and_is_empty(files: Files) -> None:
    files.as_shell().write("/dev/null", b"gone")
    assert files.read("/dev/null") == b""


def test_times_come_from_the_phones_clock(files: Files) -> None:
    files.write("/sdcard/a", b"")
    assert files.stat("/sdcard/a").mtime == 1_710_000_000


def test_a_snapshot_brings_everything_back(files: Files) -> None:
    files.write("/sdcard/a", b"before")
    state = files.snapshot()
    used = files.used
    files.write("/sdcard/a", b"after, and longer")
    files.remove_tree("/sdcard/Download")
    files.restore(state)
    assert files.read("/sdcard/a") == b"before"
    assert files.is_dir("/sdcard/Download")
    assert files.used == used
    files.write("/sdcard/a", b"again")
    files.restore(state)
    assert files.read("/sdcard/a") == b"before"


def test_phones_share_equal_contents_and_free_them_together() -> None:
    gc.collect()
    before = blobs.held()
    phones = [Files(ManualClock()) for _ in range(5)]
    for phone in phones:
        phone.write("/data/local/tmp/u2.jar", bytes(1_000_000))
    assert blobs.held() - before == 1_000_000
    assert phones[0].content("/data/local/tmp/u2.jar") is phones[4].content("/data/local/tmp/u2.jar")
    del phone, phones
    gc.collect()
    assert blobs.held() == before

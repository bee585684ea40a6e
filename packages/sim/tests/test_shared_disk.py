"""Phones that begin alike share the nodes of their disks; no change of one is seen by another."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail_sim.clock import ManualClock
from handrail_sim.disk.files import Files
from handrail_sim.disk.lookup import Node
from handrail_sim.phone import Phone
from handrail_sim.shell.run import fill_programs

Change = Callable[[Files], object]
NOTE = "/data/local/tmp/in/note"
CHANGES: dict[str, Change] = {
    "write": lambda files: files.write(NOTE, b"new"),
    "append": lambda files: files.append(NOTE, b"more"),
    "create": lambda files: files.write("/data/local/tmp/in/other", b"new"),
    "touch": lambda files: files.touch(NOTE, 5),
    "touch a folder": lambda files: files.touch("/data/local/tmp/in", 5),
    "chmod": lambda files: files.chmod(NOTE, 0o600),
    "chown": lambda files: files.chown(NOTE, 10077, 10077),
    "mkdir": lambda files: files.mkdir("/data/local/tmp/in/deep/er", parents=True),
    "symlink": lambda files: files.symlink("note", "/data/local/tmp/in/link"),
    "device": lambda files: files.device("/dev/new"),
    "through a link": lambda files: files.write("/sdcard/Download/got", b"new"),
    "back and forth": lambda files: files.write("/data/local/../local/tmp/./in/note", b"new"),
    "remove": lambda files: files.remove(NOTE),
    "remove a tree": lambda files: files.remove_tree("/data/local/tmp/in"),
    "rename": lambda files: files.rename(NOTE, "/data/local/tmp/out"),
    "rename a folder": lambda files: files.rename("/data/local/tmp/in", "/storage/emulated/0/in"),
    "rename over": lambda files: files.rename(NOTE, "/data/local/tmp/second"),
    "graft": fill_programs,
    "app data": lambda files: files.make_app_data("com.example.new", 10088),
}


def filled(clock: ManualClock) -> Files:
    def fill(files: Files) -> None:
        files.mkdir("/data/local/tmp/in")
        files.write(NOTE, b"old")
        files.write("/data/local/tmp/second", b"second")

    made = Files(clock)
    made.fill_once("a note", fill)
    return made


def all_of(files: Files) -> list[object]:
    found: list[object] = [files.used]
    for path, stat in files.walk("/"):
        found.append((path, stat, files.read(path) if stat.is_file else b""))
    return found


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_a_change_stays_on_the_disk_where_it_was_made(change: Change) -> None:
    clock = ManualClock()
    one, other = filled(clock), filled(clock)
    before = all_of(one)
    assert all_of(other) == before
    kept = one.snapshot()
    change(one)
    assert all_of(one) != before
    assert all_of(other) == before
    assert all_of(filled(clock)) == before
    one.restore(kept)
    assert all_of(one) == before


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([*CHANGES, "keep", "back"]), max_size=12))
def test_any_row_of_changes_gives_what_a_disk_of_its_own_gives(names: list[str]) -> None:
    shared, alone = filled(ManualClock()), alone_disk()
    kept = [(shared.snapshot(), all_of(shared))]
    for name in names:
        if name == "keep":
            kept.append((shared.snapshot(), all_of(shared)))
        elif name == "back":
            state, seen = kept[-1]
            shared.restore(state)
            assert all_of(shared) == seen
            return
        else:
            assert outcome(CHANGES[name], shared) == outcome(CHANGES[name], alone)
            assert all_of(shared) == all_of(alone)


def alone_disk() -> Files:
    """The same disk, of which nobody shares a node."""
    made = filled(ManualClock())
    made.restore(made.snapshot()._replace(root=copied(made.snapshot().root)))
    return made


def copied(node: Node) -> Node:
    made = node.thawed()
    if made.entries is not None:
        made.entries.update({name: copied(one) for name, one in made.entries.items()})
    return made


def outcome(change: Change, files: Files) -> object:
    try:
        return change(files)
    except OSError as error:
        return error.errno


def test_two_phones_share_their_first_nodes_and_no_change() -> None:
    clock = ManualClock()
    one, other = Phone(clock=clock, seed=1), Phone(clock=clock, seed=2)
    assert one.files.snapshot().root.folder["system"] is other.files.snapshot().root.folder["system"]
    one.files.write("/data/data/com.handrail.notes/files/mine", b"1")
    one.packages.uninstall("com.handrail.notes")
    assert not other.files.exists("/data/data/com.handrail.notes/files/mine")
    assert other.files.is_dir("/data/data/com.handrail.notes/files")


def test_a_further_phone_is_small() -> None:
    clock = ManualClock()
    Phone(clock=clock).files.snapshot()
    gc.collect()
    tracemalloc.start()
    phones = [Phone(clock=clock, seed=seed) for seed in range(20)]
    gc.collect()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held / len(phones) < 60_000

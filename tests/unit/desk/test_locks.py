"""Locks: leases of one holder that protect content, title and life of a window, not its place."""

from __future__ import annotations

from typing import Any

import pytest

from handrail.desk.windows import release_locks_of
from tests.cases import each
from tests.unit.desk.scene import NOW, TEXT, Scene

CREATE = {"title": "x", "bounds": {"x": 0, "y": 0, "w": 1, "h": 1}, "content": TEXT}


def locked() -> Scene:
    scene = Scene("a")
    scene.do("window.lock", "a", agentId="ada")
    return scene


@each(
    ("kind", "fields", "doing"),
    [
        ("window.setContent", {"content": TEXT}, "change its content"),
        ("window.updateContent", {"operation": {"op": "clear"}}, "change its content"),
        ("window.setTitle", {"title": "mine"}, "change its title"),
        ("window.close", {}, "close it"),
        ("window.create", CREATE, "create it anew"),
        ("window.lock", {"agentId": "bob"}, "lock it"),
        ("window.unlock", {"agentId": "bob"}, "unlock it"),
    ],
)
def test_a_foreign_agent_is_rejected_and_told_who_holds_the_lock(
    kind: str, fields: dict[str, Any], doing: str
) -> None:
    error = locked().rejected(kind, "a", by="bob", **fields)
    assert error.message == f"monitor-0/a is locked by ada: bob can't {doing}"
    assert error.details == {"path": "windowId", "holder": "ada", "expires_ms": NOW + 120_000}


def test_the_holder_is_told_that_its_own_window_exists_already() -> None:
    assert "exists already" in locked().refused("window.create", "a", **CREATE).message


@each(
    ("kind", "fields"),
    [
        ("window.move", {"x": 5, "y": 5}), ("window.resize", {"w": 300, "h": 300}), ("window.minimize", {}),
        ("window.maximize", {}), ("window.focus", {}), ("window.capture", {}),
    ],
)  # fmt: skip
def test_geometry_and_focus_stay_free(kind: str, fields: dict[str, Any]) -> None:
    locked().do(kind, "a", by="bob", **fields)


@pytest.mark.parametrize("kind", ["window.close", "window.unlock"])
def test_a_person_may_always_close_and_unlock(kind: str) -> None:
    scene = locked()
    fields = {"agentId": "ada"} if kind == "window.unlock" else {}
    scene.do(kind, "a", by="person", person=True, **fields)
    assert kind == "window.close" or scene.window("a").lock is None


def test_a_person_does_not_write_into_a_locked_window() -> None:
    locked().rejected("window.setContent", "a", content=TEXT, by="person", person=True)


@pytest.mark.parametrize("kind", ["window.lock", "window.unlock"])
def test_an_agent_speaks_for_itself_alone(kind: str) -> None:
    error = locked().refused(kind, "a", agentId="ada", by="bob")
    assert error.details["path"] == "agentId"
    assert error.message == "agentId: 'ada' is not the caller, 'bob'"
    assert error.hint == "Send your own id, 'bob'."


def test_a_lease_lasts_two_minutes() -> None:
    scene = locked()
    scene.now_ms += 119_999
    scene.rejected("window.setTitle", "a", title="x", by="bob")
    scene.now_ms += 1
    scene.do("window.setTitle", "a", title="x", by="bob")
    assert scene.window("a").lock is None


def test_the_use_of_others_does_not_renew_it() -> None:
    scene = locked()
    scene.now_ms += 100_000
    scene.do("window.move", "a", x=1, y=1, by="bob")
    lock = scene.window("a").lock
    assert lock.expires_ms == NOW + 120_000


def test_unlocking_what_nobody_locked_is_a_no_op() -> None:
    assert Scene("a").do("window.unlock", "a", agentId="ada") == {"no_op": True}


def test_the_locks_of_an_agent_end_with_its_session() -> None:
    scene = locked()
    scene.create("b", by="bob")
    scene.do("window.lock", "b", agentId="bob", by="bob")
    reduced = release_locks_of(scene.state, "ada", NOW)
    assert reduced.state.windows["monitor-0/a"].lock is None
    assert reduced.state.windows["monitor-0/b"].lock is not None
    assert reduced.changes == {"windows": {"monitor-0/a": {"lockedBy": None, "lockExpiresMs": None}}}

"""Locks are leases: one holder, 120 s, renewed by use. Geometry and focus stay free for everybody."""

from __future__ import annotations

from handrail.desk.draft import DeskDraft, Reduced
from handrail.desk.state import DeskState, DeskWindow, Lock
from handrail.errors import ActionRejected, InvalidAction

LEASE_MS = 120_000


def holder_of(window: DeskWindow, now_ms: int) -> str | None:
    """Who holds it now; an expired lease holds nothing."""
    return window.lock.holder if window.lock and window.lock.expires_ms > now_ms else None


def refuse_foreign(draft: DeskDraft, window: DeskWindow, by: str, doing: str) -> None:
    """Raises `ActionRejected` when another agent holds the window."""
    holder = holder_of(window, draft.now_ms)
    if holder is None or holder == by:
        return
    raise ActionRejected(
        f"{window.birth.key} is locked by {holder}: {by} can't {doing}",
        hint="Wait until the holder unlocks it, or open a window of your own.",
        path="windowId",
        holder=holder,
        expires_ms=window.lock.expires_ms if window.lock else None,
    )


def used(draft: DeskDraft, key: str, by: str) -> None:
    """Whatever the holder does with its window renews the lease; one that is over is cleared on the way."""
    window = draft.windows.get(key)
    if window is None or window.lock is None:
        return
    holder = holder_of(window, draft.now_ms)
    if holder is None:
        draft.change(window, lock=None)
    elif holder == by:
        lock(draft, window, by)


def lock(draft: DeskDraft, window: DeskWindow, by: str) -> None:
    """A fresh lease."""
    expires_ms = draft.now_ms + LEASE_MS
    draft.expires(expires_ms)
    draft.change(window, lock=Lock(by, expires_ms))


def release_all(state: DeskState, agent_id: str, now_ms: int) -> Reduced:
    """An agent's session has ended, and with it its locks."""
    draft = DeskDraft(state, now_ms)
    for window in state.windows.values():
        if window.lock and window.lock.holder == agent_id:
            draft.change(window, lock=None)
    return draft.finish(())


def refuse_other_name(by: str, agent_id: str) -> None:
    """An agent speaks for itself alone: the id in the body must be the one of its session."""
    if by != agent_id:
        raise InvalidAction(
            f"agentId: {agent_id!r:.80} is not the caller, {by!r:.80}",
            hint=f"Send your own id, {by!r:.80}.",
            path="agentId",
        )

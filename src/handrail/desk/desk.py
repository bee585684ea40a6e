"""The desk: the one holder of the state. Actions go in, frames and answers come out.

Knows the reducer, the hub, the store and the clock, and ends what expires. Knows no socket, device or policy.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from typing import Any

from handrail.clock import Clock
from handrail.desk import locks, people
from handrail.desk.desktop import badge
from handrail.desk.draft import DeskDraft, DialogExpired, Reduced, WindowClosed
from handrail.desk.hub import DeskClient, Hub
from handrail.desk.overlays import expire, next_expiry
from handrail.desk.people import AgentInbox, InboxMessage, window_closed
from handrail.desk.questions import BrowserQuestions, FollowUps, OpenDialogs, Recall, Remember, prepared
from handrail.desk.reduce import reduce, reduce_batch
from handrail.desk.state import DeskState
from handrail.desk.store import TABLES, DeskWriter, restore
from handrail.desk.wire import state_json
from handrail.errors import HandrailError, Unsupported
from handrail.protocol.act import Act
from handrail.store import Store
from handrail.waiting import Background


class Desk:
    """One session's desk. Make it with `Desk.open`, end it with `close`."""

    def __init__(
        self, clock: Clock, state: DeskState, hub: Hub, writer: DeskWriter, dialogs: OpenDialogs
    ) -> None:
        self.state = state
        self.hub = hub
        self.dialogs = dialogs
        self.pending = BrowserQuestions(clock)
        self.own_hosts: frozenset[str] = frozenset()
        """`host:port` of the desk's own pages, which no frame may show; its door says so."""
        self.apps: Callable[[], Collection[str] | None] = lambda: None
        """Ids of the apps that there are; None where nobody knows. Its door says so."""
        self.on_publish: list[Callable[[str, dict[str, Any]], None]] = []
        """Told of every published frame, without being a browser."""
        self._clock = clock
        self._writer = writer
        self._inboxes: dict[str, AgentInbox] = {}
        self._follow_ups = FollowUps(self)
        self._expiry = ExpiryTimer(clock, self._ring)
        self._closed = False
        hub.left.append(self.pending.left)

    @classmethod
    async def open(
        cls,
        store: Store,
        clock: Clock,
        *,
        session: str = "default",
        remember: Remember | None = None,
        recall: Recall | None = None,
    ) -> Desk:
        """The desk as it was left. `remember` and `recall` keep answers to agents' own dialogs."""
        store.prepare("desk", TABLES)
        state, last = await store.read(restore(session, clock.now_ms()))
        hub = Hub(clock, lambda: state_json(desk.state), last)
        writer = DeskWriter(store, session, state)
        await writer.begin(last)
        desk = cls(clock, state, hub, writer, OpenDialogs(remember, recall))
        desk._expiry.set(next_expiry(state))
        return desk

    def snapshot(self) -> dict[str, Any]:
        """The state as browsers have it."""
        return state_json(self.state)

    async def apply(self, action: Act, by: str, is_person: bool) -> dict[str, Any]:
        """One OS action; its details once it is done, which for a dialog means answered."""
        answered = await self._follow_ups.answered_before(action, by)
        if answered is not None:
            return answered
        [details] = await self._perform([action], by, is_person, single=True)
        return details

    async def apply_batch(self, actions: Sequence[Act], by: str, is_person: bool) -> list[dict[str, Any]]:
        """All of them or none, in one transaction; captures, dialogs and load feedback follow after it.

        Once it is applied, the failure of such a follower stands as `error` in the details of its action.
        """
        return await self._perform(actions, by, is_person, single=False)

    async def _perform(
        self, actions: Sequence[Act], by: str, is_person: bool, *, single: bool
    ) -> list[dict[str, Any]]:
        try:
            ready = prepared(actions)
            self._follow_ups.refuse_impossible(ready, self.state)
            reduced = self.transact(ready, by, is_person, single=single)
        except HandrailError as refusal:  # before anything was changed
            refusal.details["delivery"] = "not_delivered"
            raise
        return await self._follow_ups.run(reduced, is_person, single=single)

    def transact(self, actions: Sequence[Act], by: str, is_person: bool, *, single: bool = False) -> Reduced:
        """Reduce, keep and tell; what has to follow is the caller's."""
        if self._closed:
            raise Unsupported("the desk is closed", hint="Start `handrail serve` again.")
        who = (by, is_person, self._clock.now_ms(), self.own_hosts)
        reduced = reduce(self.state, actions[0], *who) if single else reduce_batch(self.state, actions, *who)
        self.commit(actions, reduced, by)
        for _, effect in reduced.effects:
            if isinstance(effect, WindowClosed) and effect.agent_id != by:
                self.post(window_closed(effect.key, effect.agent_id))
        return reduced

    def commit(self, actions: Sequence[Act], reduced: Reduced, by: str | None = None) -> None:
        """Make a reduced state the desk's own. A closed desk stays as it was written."""
        if self._closed:
            return
        self._expiry.set(reduced.wake_ms)
        if reduced.state is self.state:
            return
        self.state = reduced.state
        self.hub.commit(actions, reduced, by)
        self._writer.saw(self.state, self.hub.ring.last)

    def join(self, client_id: str, since: int | None) -> DeskClient:
        """A browser comes: a snapshot, or what it missed since that number."""
        return self.hub.join(client_id, since)

    async def interact(self, client: DeskClient, frame: people.Frame) -> None:
        """A frame from a browser. Raises `HandrailError`, for which the door sends ERROR."""
        await people.interact(self, client, frame)

    def awaits_capture(self, client: DeskClient) -> bool:
        """True while this browser was asked for a picture of a window."""
        return self.pending.awaits_capture(client)

    def publish(self, frame_type: str, **fields: Any) -> None:
        """A frame for all browsers that is no change of the state."""
        if self._closed:
            return
        self.hub.publish(frame_type, fields)
        for listener in self.on_publish:
            listener(frame_type, fields)
        self._writer.numbered(self.hub.ring.last)

    def send(self, client: DeskClient, frame_type: str, **fields: Any) -> None:
        """A frame for one browser; it takes no number of its own."""
        self.hub.send(client, frame_type, fields)

    def set_approvals(self, listed: list[dict[str, Any]]) -> None:
        """The engine's open questions, and their number on the icon of Approvals."""
        draft = DeskDraft(self.state, self._clock.now_ms())
        draft.put("approvals", tuple(listed))
        badge(draft, "approvals", len(listed))
        self.commit((), draft.finish(()))

    def inbox(self, agent_id: str) -> AgentInbox:
        """What people did for this agent."""
        return self._inboxes.setdefault(agent_id, AgentInbox(self._clock))

    def post(self, message: InboxMessage) -> None:
        to, said = message
        self.inbox(to).put(said)

    def end_agent(self, agent_id: str) -> None:
        """An agent's session is over: its locks are free; messages that were not fetched wait for it."""
        self.commit((), locks.release_all(self.state, agent_id, self._clock.now_ms()), agent_id)
        if not self._inboxes.get(agent_id):
            self._inboxes.pop(agent_id, None)

    async def close(self) -> None:
        """Write what is not written yet, and send every browser away."""
        if self._closed:
            return
        self._closed = True
        await self._expiry.close()
        self.dialogs.close()
        self.hub.close()
        await asyncio.sleep(0)  # whoever waited for a dialog or a browser hears of the end
        await self._writer.close(self.hub.ring.last)

    def _ring(self) -> int | None:
        """Something's time is over."""
        reduced = expire(self.state, self._clock.now_ms())
        self.commit((), reduced)
        for _, effect in reduced.effects:
            if isinstance(effect, DialogExpired):
                self.dialogs.expire(effect.dialog_id)
        return reduced.wake_ms


class ExpiryTimer:
    """Calls `ring` once a moment is reached; `ring` says when to call next."""

    def __init__(self, clock: Clock, ring: Callable[[], int | None]) -> None:
        self._clock = clock
        self._ring = ring
        self._at_ms: int | None = None
        self._tasks = Background()
        self._task: asyncio.Task[None] | None = None

    def set(self, at_ms: int | None) -> None:
        """No later than this; a timer that is set to an earlier moment stays."""
        if at_ms is None or (self._at_ms is not None and self._at_ms <= at_ms):
            return
        if self._task is not None:
            self._task.cancel()
        self._at_ms = at_ms
        self._task = self._tasks.start(self._run(), "expiry on the desk")

    async def close(self) -> None:
        await self._tasks.close()

    async def _run(self) -> None:
        while self._at_ms is not None:
            await self._clock.sleep_ms(self._at_ms - self._clock.now_ms())
            self._at_ms = self._ring() if self._clock.now_ms() >= self._at_ms else self._at_ms

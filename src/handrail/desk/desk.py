"""The desk: the one holder of the state. Actions and frames of browsers go in, frames and answers come out.

Knows the reducer, the hub, the store and the clock, and ends what expires. Knows no socket, device or policy.
What people do in a browser and concerns an agent becomes a message in that agent's inbox, which is bounded.

`DeskWriter` has the desk on disk: windows and everything else that outlives the process. A change goes into
the same commit as the end of the action that made it, so that a killed process loses nothing that was
answered. Toasts, dialogs and approvals belong to somebody who waits, and are not kept.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections import deque
from collections.abc import Callable, Collection, Sequence
from typing import Any, assert_never, cast

from pydantic_core import to_json

from handrail.clock import Clock
from handrail.desk import windows
from handrail.desk.hub import DeskClient, Hub
from handrail.desk.questions import (
    BrowserQuestions,
    FollowUps,
    OpenDialogs,
    Recall,
    Remember,
    with_request_ids,
)
from handrail.desk.reduce import (
    dismiss,
    next_expiry,
    reduce,
    reduce_batch,
    remove_expired,
    set_badge,
    withdraw_question,
)
from handrail.desk.state import (
    REST,
    DeskDraft,
    DeskState,
    DeskWindow,
    DialogExpired,
    Reduction,
    WindowClosed,
    monitor_from,
    notification_from,
    state_json,
    window_from,
    window_json,
)
from handrail.errors import HandrailError, InvalidAction, Unsupported
from handrail.protocol import desk as act
from handrail.protocol.act import Act
from handrail.protocol.message import (
    ComponentAction,
    DialogFeedback,
    RenderingFeedback,
    ShortcutAction,
    SubscribeMonitor,
    ToastAction,
    UserInteraction,
    UserMessage,
    WindowMessage,
)
from handrail.store import Committed, Store
from handrail.surface.capabilities import PROTOCOLS, C, DeskWindows
from handrail.waiting import Background, wait_for_event

PERSON = "person"
"""Who acts through a browser."""

Frame = (
    UserInteraction | DialogFeedback | ToastAction | ShortcutAction | ComponentAction | RenderingFeedback
    | SubscribeMonitor | UserMessage | WindowMessage
)  # fmt: skip
"""The frames that concern the desk itself; the others are their door's."""
CONSOLE = "console"
"""Whoever listens to the person in general."""
MOST_MESSAGES = 500
TABLES = (
    """CREATE TABLE desk_windows (
        session TEXT NOT NULL, key TEXT NOT NULL, body TEXT NOT NULL, content TEXT NOT NULL,
        PRIMARY KEY (session, key)) STRICT;
    CREATE TABLE desk_rest (session TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT""",
)
SEQ_JUMP = 1_000_000
"""Numbers left out at a restart: frames that a killed process sent after its last write keep theirs."""
_STORED = ("active_monitor", "monitors", "notifications", "badges", "shortcuts", "apps_rev")

Row = tuple[str, str | None]
"""A window without its content, and the content where that changed too."""


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
        self._page_reports: dict[str, RenderingFeedback] = {}
        """By window: the last that a browser reported of its page."""
        self._follow_ups = FollowUps(self)
        self._expiry = ExpiryTimer(clock, self._expire_due)
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
        store.create_tables("desk", TABLES)
        state, last = await store.read(restore(session, clock.now_ms()))
        hub = Hub(clock, lambda: state_json(desk.state), last)
        writer = DeskWriter(store, session, state)
        await writer.write_now(last)  # before any frame bears it: no two lives share numbers
        desk = cls(clock, state, hub, writer, OpenDialogs(remember, recall))
        desk._expiry.set(next_expiry(state))
        return desk

    def snapshot(self) -> dict[str, Any]:
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
            ready = with_request_ids(actions)
            self._follow_ups.refuse_impossible(ready, self.state)
            reduced = self.transact(ready, by, is_person, single=single)
        except HandrailError as refusal:  # before anything was changed
            refusal.details["delivery"] = "not_delivered"
            raise
        return await self._follow_ups.run(reduced, is_person, single=single)

    def transact(
        self, actions: Sequence[Act], by: str, is_person: bool, *, single: bool = False
    ) -> Reduction:
        """Reduce, keep and tell; what has to follow is the caller's."""
        if self._closed:
            raise Unsupported("the desk is closed", hint="Start `handrail serve` again.")
        who = (by, is_person, self._clock.now_ms(), self.own_hosts)
        reduced = reduce(self.state, actions[0], *who) if single else reduce_batch(self.state, actions, *who)
        self.commit(actions, reduced, by)
        for _, effect in reduced.effects:
            if isinstance(effect, WindowClosed):
                report = self._page_reports.pop(effect.key, None)
                if effect.agent_id == by:
                    continue
                monitor_id, _, window_id = effect.key.partition("/")
                place = {"window_id": window_id, "monitor_id": monitor_id}
                if report is not None and report.waits_for_person:
                    outcome = {"success": False, "error": "The window was closed before a person said yes."}
                    request_id = report.request_id
                    self._post(
                        effect.agent_id, "rendering_feedback", request_id=request_id, **place, **outcome
                    )
                self._post(effect.agent_id, "window_closed", **place)
        return reduced

    def commit(self, actions: Sequence[Act], reduced: Reduction, by: str | None = None) -> None:
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
        """Adds a browser, which gets a snapshot, or the frames that it missed since that number."""
        return self.hub.join(client_id, since)

    async def interact(self, client: DeskClient, frame: Frame) -> None:
        """A frame from a person's browser, which is in use. The door sends ERROR for a `HandrailError`."""
        if not isinstance(frame, RenderingFeedback):
            self.hub.touch(client)
        match frame:
            case UserInteraction():
                self._use_windows(frame)
            case DialogFeedback():
                await self._answer_dialog(frame)
            case ToastAction():
                self._press_toast(frame)
            case ComponentAction():
                self._press_component(frame)
            case WindowMessage():
                fields: dict[str, Any] = {"message_id": frame.message_id, "content": frame.content}
                self._post_of_window("window_message", frame, **fields)
            case UserMessage():
                of_monitor = {"monitor_id": frame.monitor_id} if frame.monitor_id else {}
                fields = {"message_id": frame.message_id, "content": frame.content, **of_monitor}
                self._post(CONSOLE, "user_message", **fields)
            case ShortcutAction():
                self._open_shortcut(frame)
            case RenderingFeedback():
                is_awaited = self.pending.awaits(frame.request_id)
                is_answer = self.pending.answer(client, frame)
                if frame.kind == "iframe" and is_answer == is_awaited:
                    self._report_page(frame, is_answer=is_answer)
            case SubscribeMonitor():
                size = frame.viewport
                viewport = windows.viewport_of(size.w, size.h) if size else None
                self.commit((), windows.show_monitor(self.state, frame.monitor_id, viewport), PERSON)
                client.monitor = frame.monitor_id
                client.draws = client.draws or viewport is not None
            case _:
                assert_never(frame)

    def _use_windows(self, frame: UserInteraction) -> None:
        """The same actions as an agent's, as the person's own; questions and pictures are for agents."""
        for at, action in enumerate(frame.interactions):
            if isinstance(action, act.ConfirmDialog | act.CaptureWindow):
                path = f"interactions[{at}].type"
                raise InvalidAction.at(path, f"{action.type} is not an interaction")
        try:
            self.transact(frame.interactions, PERSON, True)
        except HandrailError as error:
            error.details["path"] = f"interactions{error.details.get('path', '')}"
            raise

    async def _answer_dialog(self, frame: DialogFeedback) -> None:
        dialog = next((dialog for dialog in self.state.dialogs if dialog.id == frame.dialog_id), None)
        if dialog is None:
            hint = "It was answered elsewhere, withdrawn, or its time was over."
            raise InvalidAction.at(
                "dialogId", f"{frame.dialog_id!r:.80} does not wait for an answer", hint=hint
            )
        self._change(lambda draft: withdraw_question(draft, frame.dialog_id))
        await self.dialogs.answer(dialog, frame.confirmed, bool(frame.remember))

    def _press_toast(self, frame: ToastAction) -> None:
        toast = next((toast for toast in self.state.toasts if toast.id == frame.toast_id), None)
        if toast is None:
            raise InvalidAction.at("toastId", f"there is no toast {frame.toast_id!r:.80}")
        if toast.action is None or toast.action["eventId"] != frame.event_id:
            raise InvalidAction.at("eventId", f"{toast.id!r:.80} has no such button")
        self._post(toast.agent_id, "toast_action", toast_id=toast.id, event_id=frame.event_id)
        self._change(lambda draft: dismiss(draft, "toasts", frame.toast_id))

    def _open_shortcut(self, frame: ShortcutAction) -> None:
        shortcut = next((each for each in self.state.shortcuts if each["id"] == frame.shortcut_id), None)
        if shortcut is None or shortcut["type"] != "action":
            raise InvalidAction.at("shortcutId", f"{frame.shortcut_id!r:.80} is not a shortcut to an action")
        fields = {"shortcut_id": shortcut["id"], "action": shortcut["target"]}
        self._post(shortcut.get("agentId", CONSOLE), "shortcut_action", **fields)

    def _press_component(self, frame: ComponentAction) -> None:
        fields: dict[str, Any] = {"action": frame.action, "parallel": frame.parallel}
        if frame.form_id is not None:
            fields["form_id"] = frame.form_id
        if frame.form_data is not None:
            fields["form_data"] = dict(frame.form_data)
        self._post_of_window("component_action", frame, **fields)

    def _report_page(self, frame: RenderingFeedback, *, is_answer: bool) -> None:
        """Tells the maker of a window what became of its page after the call that made it was answered.

        Every browser loads the page for itself, so a page that was there once counts as there.
        """
        births = (window.birth for window in self.state.windows.values())
        asked = (frame.window_id, frame.request_id)
        birth = next((birth for birth in births if (birth.window_id, birth.request_id) == asked), None)
        if birth is None or birth.is_persons:
            return
        outcome = {"success": frame.success} | ({"error": frame.error} if frame.error else {})
        last = self._page_reports.get(birth.key)
        if last is not None and (last.success or (last.success, last.error) == (frame.success, frame.error)):
            return
        self._page_reports[birth.key] = frame
        if not is_answer:
            place = {"window_id": birth.window_id, "monitor_id": birth.monitor_id}
            self._post(birth.agent_id, "rendering_feedback", request_id=frame.request_id, **place, **outcome)

    def _change(self, edit: Callable[[DeskDraft], None]) -> None:
        draft = DeskDraft(self.state, 0)
        edit(draft)
        self.commit((), draft.finish(()), PERSON)

    def publish(self, frame_type: str, **fields: Any) -> None:
        """A frame for all browsers that is no change of the state."""
        if self._closed:
            return
        self.hub.publish(frame_type, fields)
        for listener in self.on_publish:
            listener(frame_type, fields)
        self._writer.numbered(self.hub.ring.last)

    def set_approvals(self, listed: list[dict[str, Any]]) -> None:
        """The engine's open questions, and their number on the icon of Approvals."""
        draft = DeskDraft(self.state, self._clock.now_ms())
        draft.put("approvals", tuple(listed))
        set_badge(draft, "approvals", len(listed))
        self.commit((), draft.finish(()))

    def inbox(self, agent_id: str) -> AgentInbox:
        return self._inboxes.setdefault(agent_id, AgentInbox(self._clock))

    def _post(self, agent_id: str, kind: str, **fields: Any) -> None:
        self.inbox(agent_id).put({"type": kind, **fields})

    def _post_of_window(self, kind: str, frame: WindowMessage | ComponentAction, **fields: Any) -> None:
        """To the agent that made the window; to the console for a person's own."""
        born = window_of(self.state, frame.window_id, frame.monitor_id).birth
        reader = CONSOLE if born.is_persons else born.agent_id
        self._post(reader, kind, window_id=born.window_id, monitor_id=born.monitor_id, **fields)

    def end_agent(self, agent_id: str) -> None:
        """An agent's session is over: its locks are free; messages that were not fetched wait for it."""
        self.commit((), windows.release_locks_of(self.state, agent_id, self._clock.now_ms()), agent_id)
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
        await self._writer.write_now(self.hub.ring.last)

    def _expire_due(self) -> int | None:
        """Removes what has expired and returns the moment at which the next thing will."""
        reduced = remove_expired(self.state, self._clock.now_ms())
        self.commit((), reduced)
        for _, effect in reduced.effects:
            if isinstance(effect, DialogExpired):
                self.dialogs.expire(effect.dialog_id)
        return reduced.wake_ms


def window_of(state: DeskState, window_id: str, monitor_id: str | None) -> DeskWindow:
    """The window that a frame speaks of; both `report` and the key `monitor-0/report` name it."""
    named = state.windows.get(f"{monitor_id or state.active_monitor}/{window_id}")
    window = named or state.windows.get(window_id)
    if window is None:
        raise InvalidAction.at("windowId", f"there is no window {window_id!r:.80}")
    return window


class AgentInbox:
    """One agent's messages, in the order in which they came."""

    def __init__(self, clock: Clock) -> None:
        self.dropped = 0
        """How many were lost because nobody took them."""
        self._clock = clock
        self._messages: deque[dict[str, Any]] = deque()
        self._arrived = asyncio.Event()

    def __len__(self) -> int:
        return len(self._messages)

    def put(self, message: dict[str, Any]) -> None:
        self._messages.append({**message, "at_ms": self._clock.now_ms()})
        if len(self._messages) > MOST_MESSAGES:
            self._messages.popleft()
            self.dropped += 1
        self._arrived.set()

    def take(self) -> list[dict[str, Any]]:
        """Returns the messages that arrived and removes them."""
        messages = list(self._messages)
        self._messages.clear()
        self._arrived.clear()
        return messages

    async def wait(self, timeout_ms: float) -> None:
        """Until something is there, or the time is over."""
        await wait_for_event(self._clock, self._arrived, timeout_ms)


def restore(session: str, now_ms: int) -> Callable[[sqlite3.Connection], tuple[DeskState, int]]:
    """The state as it was written, without what expired meanwhile; and the number of its last frame."""

    def read(db: sqlite3.Connection) -> tuple[DeskState, int]:
        row = db.execute("SELECT body FROM desk_rest WHERE session = ?", (session,)).fetchone()
        if row is None:
            return DeskState(), 0
        rest = json.loads(row[0])
        rows = db.execute(
            "SELECT key, body, content FROM desk_windows WHERE session = ? ORDER BY rowid", (session,)
        )
        windows = {key: window_from(json.loads(body) | json.loads(content)) for key, body, content in rows}
        state = DeskState(
            windows={key: windows[key] for key in rest["windows"] if key in windows},
            monitors={data["id"]: monitor_from(data) for data in rest["monitors"]},
            active_monitor=rest["activeMonitor"],
            notifications=tuple(map(notification_from, rest["notifications"])),
            badges=rest["badges"],
            shortcuts=tuple(rest["shortcuts"]),
            apps_rev=rest["appsRev"],
        )
        return remove_expired(state, now_ms).state, rest["seq"] + SEQ_JUMP

    return read


class DeskWriter:
    """Has the state written: always the newest there is, however often it changed meanwhile."""

    def __init__(self, store: Store, session: str, state: DeskState) -> None:
        self._store, self._session = store, session
        self._written = state
        self._seq_written = 0
        self._now: tuple[DeskState, int] = (state, 0)

    def saw(self, state: DeskState, seq: int) -> None:
        """The state is now this; it is durable before the action that made it so is answered."""
        self._now = (state, seq)
        self._store.keep(self.write)

    def numbered(self, seq: int) -> None:
        """Frames went out that changed nothing; their numbers are written long before they could repeat."""
        if self._is_far(seq):
            self.saw(self._now[0], seq)

    async def write_now(self, seq: int) -> None:
        """Raises where the disk refuses it."""
        self._now = (self._now[0], seq)
        self._seq_written = -SEQ_JUMP  # so that the number is written in any case
        committed = await self._store.write(self.write)
        committed()

    def write(self, db: sqlite3.Connection) -> Committed:
        """In whichever thread and transaction; the returned function is called once it is durable."""
        state, seq = self._now
        old = self._written
        has_other_rest = any(getattr(old, name) is not getattr(state, name) for name in _STORED)
        has_other_keys = old.windows is not state.windows and list(old.windows) != list(state.windows)
        with_rest = self._is_far(seq) or has_other_rest or has_other_keys
        changed, rest = changes_between(old, state, seq, with_rest=with_rest)
        for key, row in changed.items():
            if row is None:
                db.execute("DELETE FROM desk_windows WHERE session = ? AND key = ?", (self._session, key))
            elif row[1] is None:
                db.execute(
                    "UPDATE desk_windows SET body = ? WHERE session = ? AND key = ?",
                    (row[0], self._session, key),
                )
            else:
                db.execute(
                    "INSERT OR REPLACE INTO desk_windows VALUES (?, ?, ?, ?)", (self._session, key, *row)
                )
        if rest is not None:
            db.execute("INSERT OR REPLACE INTO desk_rest VALUES (?, ?)", (self._session, rest))

        def committed() -> None:
            self._written = state
            if with_rest:
                self._seq_written = seq

        return committed

    def _is_far(self, seq: int) -> bool:
        return seq - self._seq_written > SEQ_JUMP // 10


def changes_between(
    old: DeskState, new: DeskState, seq: int, *, with_rest: bool = True
) -> tuple[dict[str, Row | None], str | None]:
    """What has to be written to get from one state to the other: windows, and all else where it changed."""
    removed: dict[str, Row | None] = {key: None for key in old.windows if key not in new.windows}
    rows: dict[str, Row | None] = {}
    for key, window in new.windows.items():
        before = old.windows.get(key)
        if before is window:
            continue
        body = window_json(window, with_text=True)
        content = {"content": body.pop("content")}
        same = before is not None and before.content is window.content
        rows[key] = (_text(body), None if same else _text(content))
    if not with_rest:
        return removed | rows, None
    rest: dict[str, Any] = {REST[name][0]: REST[name][1](new) for name in _STORED}
    return removed | rows, _text(rest | {"windows": list(new.windows), "seq": seq})


def _text(data: dict[str, Any]) -> str:
    return to_json(data).decode()


class ExpiryTimer:
    """Calls `ring` once a moment is reached; `ring` says when to call next."""

    def __init__(self, clock: Clock, ring: Callable[[], int | None]) -> None:
        self._clock = clock
        self._expire_due = ring
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
            self._at_ms = self._expire_due() if self._clock.now_ms() >= self._at_ms else self._at_ms


class DeskSurface:
    """Everybody acts on it side by side: a question to a person waits beside everything else."""

    name = "desk"
    is_exclusive = False
    entry = ""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def need(self, kind: type[C]) -> C:
        if kind is not DeskWindows:
            name = next(which.value for which, protocol in PROTOCOLS.items() if protocol is kind)
            hint = "Send this action to a phone."
            raise Unsupported(f"The desk has no {name}: it is windows only", hint=hint)
        return cast("C", self)

    async def apply(self, actions: Sequence[Act], by: str, is_person: bool) -> list[dict[str, Any]]:
        if len(actions) == 1:
            return [await self._desk.apply(actions[0], by, is_person)]
        return await self._desk.apply_batch(actions, by, is_person)

    async def heard(self, agent: str, timeout_ms: float) -> list[dict[str, Any]]:
        inbox = self._desk.inbox(agent)
        if timeout_ms > 0:
            await inbox.wait(timeout_ms)
        return inbox.take()

    def left(self, agent: str) -> None:
        self._desk.end_agent(agent)

    async def facts(self) -> None:
        """Tells nothing, because the desk is not a device."""

    async def check(self) -> None:
        """It is in this process."""

    def diagnostics(self) -> list[str]:
        return []

    def channels(self) -> dict[str, str]:
        return {}

    async def close(self) -> None:
        """Does nothing, because the server closes the desk itself."""

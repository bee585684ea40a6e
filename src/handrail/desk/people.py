"""What people do in a browser: their hands on the windows, their answers, clicks and words.

What concerns an agent becomes a message in that agent's inbox, which is bounded.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, assert_never

from handrail.clock import Clock
from handrail.desk.desktop import dismiss, withdraw
from handrail.desk.hub import DeskClient
from handrail.desk.state import DeskDraft, DeskState, DeskWindow, Toast
from handrail.desk.windows import show, viewport_of
from handrail.errors import HandrailError, InvalidAction
from handrail.protocol import desk as act
from handrail.protocol.message import (
    ComponentAction,
    DialogFeedback,
    RenderingFeedback,
    SubscribeMonitor,
    ToastAction,
    UserInteraction,
    UserMessage,
    WindowMessage,
)
from handrail.waiting import wait_for_event

if TYPE_CHECKING:
    from handrail.desk.desk import Desk

PERSON = "person"
"""Who acts through a browser."""

Frame = (
    UserInteraction | DialogFeedback | ToastAction | ComponentAction | RenderingFeedback | SubscribeMonitor
    | UserMessage | WindowMessage
)  # fmt: skip
"""The frames that concern the desk itself; the others are their door's."""
CONSOLE = "console"
"""Whoever listens to the person in general."""
InboxMessage = tuple[str, dict[str, Any]]
"""The inbox, and what goes into it."""
MOST_MESSAGES = 500


async def interact(desk: Desk, client: DeskClient, frame: Frame) -> None:
    """Do what the person did. Every frame of a person shows which browser is in use."""
    if not isinstance(frame, RenderingFeedback):
        desk.hub.touch(client)
    match frame:
        case UserInteraction():
            _use_windows(desk, frame)
        case DialogFeedback():
            await _answer(desk, frame)
        case ToastAction():
            desk.post(toast_action(desk.state, frame))
            _change(desk, lambda draft: dismiss(draft, "toasts", frame.toast_id))
        case ComponentAction():
            desk.post(component_action(desk.state, frame))
        case WindowMessage():
            desk.post(window_message(desk.state, frame))
        case UserMessage():
            desk.post(user_message(frame))
        case RenderingFeedback():
            desk.pending.answer(client, frame)
        case SubscribeMonitor():
            viewport = viewport_of(frame.viewport.w, frame.viewport.h) if frame.viewport else None
            desk.commit((), show(desk.state, frame.monitor_id, viewport), PERSON)
            client.monitor = frame.monitor_id
            client.draws = client.draws or viewport is not None
        case _:
            assert_never(frame)


def _use_windows(desk: Desk, frame: UserInteraction) -> None:
    """The same actions as an agent's, as the person's own; questions and pictures are for agents to ask."""
    for at, action in enumerate(frame.interactions):
        if isinstance(action, act.ConfirmDialog | act.CaptureWindow):
            raise InvalidAction(
                f"interactions[{at}].type: {action.type} is no interaction", path=f"interactions[{at}].type"
            )
    try:
        desk.transact(frame.interactions, PERSON, True)
    except HandrailError as error:
        error.details["path"] = f"interactions{error.details.get('path', '')}"
        raise


async def _answer(desk: Desk, frame: DialogFeedback) -> None:
    dialog = next((dialog for dialog in desk.state.dialogs if dialog.id == frame.dialog_id), None)
    if dialog is None:
        raise InvalidAction(
            f"dialogId: {frame.dialog_id!r:.80} does not wait for an answer",
            hint="It was answered elsewhere, withdrawn, or its time was over.",
            path="dialogId",
        )
    _change(desk, lambda draft: withdraw(draft, dialog.id))
    await desk.dialogs.answer(dialog, frame.confirmed, bool(frame.remember))


def _change(desk: Desk, edit: Callable[[DeskDraft], None]) -> None:
    draft = DeskDraft(desk.state, 0)
    edit(draft)
    desk.commit((), draft.finish(()), PERSON)


def window_of(state: DeskState, window_id: str, monitor_id: str | None) -> DeskWindow:
    """The window that a frame speaks of; both `report` and the key `monitor-0/report` name it."""
    named = state.windows.get(f"{monitor_id or state.active_monitor}/{window_id}")
    window = named or state.windows.get(window_id)
    if window is None:
        raise InvalidAction(f"windowId: there is no window {window_id!r:.80}", path="windowId")
    return window


def user_message(frame: UserMessage) -> InboxMessage:
    message = {"type": "user_message", "message_id": frame.message_id, "content": frame.content}
    return CONSOLE, message | ({"monitor_id": frame.monitor_id} if frame.monitor_id else {})


def window_message(state: DeskState, frame: WindowMessage) -> InboxMessage:
    window = window_of(state, frame.window_id, frame.monitor_id)
    message = {"message_id": frame.message_id, "content": frame.content}
    return reader_of(window), {"type": "window_message", **_place(window), **message}


def component_action(state: DeskState, frame: ComponentAction) -> InboxMessage:
    window = window_of(state, frame.window_id, frame.monitor_id)
    done: dict[str, Any] = {"action": frame.action, "parallel": frame.parallel}
    if frame.form_id is not None:
        done["form_id"] = frame.form_id
    if frame.form_data is not None:
        done["form_data"] = dict(frame.form_data)
    return reader_of(window), {"type": "component_action", **_place(window), **done}


def toast_action(state: DeskState, frame: ToastAction) -> InboxMessage:
    toast = _toast(state, frame)
    return toast.agent_id, {"type": "toast_action", "toast_id": toast.id, "event_id": frame.event_id}


def _toast(state: DeskState, frame: ToastAction) -> Toast:
    toast = next((toast for toast in state.toasts if toast.id == frame.toast_id), None)
    if toast is None:
        raise InvalidAction(f"toastId: there is no toast {frame.toast_id!r:.80}", path="toastId")
    if toast.action is None or toast.action["eventId"] != frame.event_id:
        raise InvalidAction(f"eventId: {toast.id!r:.80} has no such button", path="eventId")
    return toast


def window_closed(key: str, agent_id: str) -> InboxMessage:
    monitor_id, _, window_id = key.partition("/")
    return agent_id, {"type": "window_closed", "window_id": window_id, "monitor_id": monitor_id}


def reader_of(window: DeskWindow) -> str:
    """The agent that made the window; the console for a person's own."""
    return CONSOLE if window.birth.is_persons else window.birth.agent_id


def _place(window: DeskWindow) -> dict[str, str]:
    return {"window_id": window.birth.window_id, "monitor_id": window.birth.monitor_id}


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
        """Everything that arrived, once."""
        messages = list(self._messages)
        self._messages.clear()
        self._arrived.clear()
        return messages

    async def wait(self, timeout_ms: float) -> None:
        """Until something is there, or the time is over."""
        await wait_for_event(self._clock, self._arrived, timeout_ms)

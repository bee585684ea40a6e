"""What people did, as letters to agents: who gets them and what they say."""

from __future__ import annotations

from typing import Any

from handrail.desk.state import DeskState, Toast, Window
from handrail.errors import InvalidAction
from handrail.protocol.message import ComponentAction, ToastAction, UserMessage, WindowMessage

CONSOLE = "console"
"""Whoever listens to the person in general."""

Letter = tuple[str, dict[str, Any]]
"""The inbox, and what goes into it."""


def window_of(state: DeskState, window_id: str, monitor_id: str | None) -> Window:
    """The window that a frame speaks of; both `report` and the key `monitor-0/report` name it."""
    named = state.windows.get(f"{monitor_id or state.active_monitor}/{window_id}")
    window = named or state.windows.get(window_id)
    if window is None:
        raise InvalidAction(f"windowId: there is no window {window_id!r:.80}", path="windowId")
    return window


def user_message(frame: UserMessage) -> Letter:
    """The person says something to whoever listens."""
    said = {"type": "user_message", "message_id": frame.message_id, "content": frame.content}
    return CONSOLE, said | ({"monitor_id": frame.monitor_id} if frame.monitor_id else {})


def window_message(state: DeskState, frame: WindowMessage) -> Letter:
    """The person says something about a window."""
    window = window_of(state, frame.window_id, frame.monitor_id)
    said = {"message_id": frame.message_id, "content": frame.content}
    return reader_of(window), {"type": "window_message", **_place(window), **said}


def component_action(state: DeskState, frame: ComponentAction) -> Letter:
    """A button of a window was used, with the fields of its form."""
    window = window_of(state, frame.window_id, frame.monitor_id)
    done: dict[str, Any] = {"action": frame.action, "parallel": frame.parallel}
    if frame.form_id is not None:
        done["form_id"] = frame.form_id
    if frame.form_data is not None:
        done["form_data"] = dict(frame.form_data)
    return reader_of(window), {"type": "component_action", **_place(window), **done}


def toast_action(state: DeskState, frame: ToastAction) -> Letter:
    """The button of a toast was used."""
    toast = _toast(state, frame)
    return toast.agent_id, {"type": "toast_action", "toast_id": toast.id, "event_id": frame.event_id}


def _toast(state: DeskState, frame: ToastAction) -> Toast:
    toast = next((toast for toast in state.toasts if toast.id == frame.toast_id), None)
    if toast is None:
        raise InvalidAction(f"toastId: there is no toast {frame.toast_id!r:.80}", path="toastId")
    if toast.action is None or toast.action["eventId"] != frame.event_id:
        raise InvalidAction(f"eventId: {toast.id!r:.80} has no such button", path="eventId")
    return toast


def window_closed(key: str, agent_id: str) -> Letter:
    """Somebody else closed an agent's window."""
    monitor_id, _, window_id = key.partition("/")
    return agent_id, {"type": "window_closed", "window_id": window_id, "monitor_id": monitor_id}


def reader_of(window: Window) -> str:
    """The agent that made the window; the console for a person's own."""
    return CONSOLE if window.birth.is_persons else window.birth.agent_id


def _place(window: Window) -> dict[str, str]:
    return {"window_id": window.birth.window_id, "monitor_id": window.birth.monitor_id}

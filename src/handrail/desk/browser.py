"""What browsers send: a person's hand on the windows, answers, clicks and words."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, assert_never

from handrail.desk import letters, monitors
from handrail.desk.client import Client
from handrail.desk.draft import Draft
from handrail.desk.geometry import viewport_of
from handrail.desk.overlays import dismiss, withdraw
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

if TYPE_CHECKING:
    from handrail.desk.desk import Desk

PERSON = "person"
"""Who acts through a browser."""

Frame = (
    UserInteraction | DialogFeedback | ToastAction | ComponentAction | RenderingFeedback | SubscribeMonitor
    | UserMessage | WindowMessage
)  # fmt: skip
"""The frames that concern the desk itself; the others are their door's."""


async def interact(desk: Desk, client: Client, frame: Frame) -> None:
    """Do what the person did. Every frame of a person shows which browser is in use."""
    if not isinstance(frame, RenderingFeedback):
        desk.hub.touch(client)
    match frame:
        case UserInteraction():
            _use_windows(desk, frame)
        case DialogFeedback():
            await _answer(desk, frame)
        case ToastAction():
            desk.post(letters.toast_action(desk.state, frame))
            _change(desk, lambda draft: dismiss(draft, "toasts", frame.toast_id))
        case ComponentAction():
            desk.post(letters.component_action(desk.state, frame))
        case WindowMessage():
            desk.post(letters.window_message(desk.state, frame))
        case UserMessage():
            desk.post(letters.user_message(frame))
        case RenderingFeedback():
            desk.pending.answer(client, frame)
        case SubscribeMonitor():
            _look_at(desk, client, frame)
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


def _look_at(desk: Desk, client: Client, frame: SubscribeMonitor) -> None:
    viewport = viewport_of(frame.viewport.w, frame.viewport.h) if frame.viewport else None
    desk.commit((), monitors.show(desk.state, frame.monitor_id, viewport), PERSON)
    client.monitor = frame.monitor_id
    client.draws = client.draws or viewport is not None


def _change(desk: Desk, edit: Callable[[Draft], None]) -> None:
    draft = Draft(desk.state, 0)
    edit(draft)
    desk.commit((), draft.finish(()), PERSON)

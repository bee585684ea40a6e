"""What has to follow a transaction: a person's answer, a picture, the news that a frame has loaded."""

from __future__ import annotations

import asyncio
import secrets
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Awaitable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from handrail.desk.client import Client
from handrail.desk.dialogs import permission_key
from handrail.desk.draft import Asked, Captured, Draft, Effect, Loading, Reduced
from handrail.desk.overlays import withdraw
from handrail.desk.pending import Question
from handrail.desk.state import DeskState
from handrail.errors import HandrailError, Timeout, Unsupported
from handrail.protocol import desk as act
from handrail.protocol.act import Act
from handrail.protocol.content import IframeContent

if TYPE_CHECKING:
    from handrail.desk.desk import Desk

_PNG = b"\x89PNG\r\n\x1a\n"
_DATA_URL = "data:image/png;base64,"

Details = dict[str, Any]


def prepared(actions: Sequence[Act]) -> list[Act]:
    """Captures and frames get a request id where they have none: hard to guess, for a browser to send."""
    return [_tracked(action) for action in actions]


def _tracked(action: Act) -> Act:
    match action:
        case act.CaptureWindow(request_id=None) | act.CreateWindow(request_id=None, content=IframeContent()):
            return action.model_copy(update={"request_id": secrets.token_urlsafe(12)})
    return action


class Errands:
    """Runs what a transaction left to do, for one desk."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def refuse_impossible(self, actions: Sequence[Act], state: DeskState) -> None:
        """Before anything is changed: a capture without a browser, a request id that is in use."""
        asked: set[str] = set()
        for action in actions:
            if isinstance(action, act.CaptureWindow | act.CreateWindow) and action.request_id:
                self._desk.pending.refuse_taken(action.request_id, asked)
                asked.add(action.request_id)
            if isinstance(action, act.CaptureWindow):
                self._browser(f"{action.monitor_id or state.active_monitor}/{action.window_id}")

    async def answered_before(self, action: Act, by: str) -> Details | None:
        """What a person once answered to this agent's dialog and let be remembered."""
        if not isinstance(action, act.ConfirmDialog) or action.permission_options is None:
            return None
        if not action.permission_options.show_remember_choice:
            return None
        key = permission_key(by, action.permission_options.to_dict())
        answer = await self._desk.dialogs.recalled(key)
        return None if answer is None else {"confirmed": answer, "remembered": True}

    async def run(self, reduced: Reduced, is_person: bool, *, single: bool) -> list[Details]:
        """The details of every action, once all that follows is done. A single action's failure is raised."""
        details = [dict(said) for said in reduced.details]
        begun = [(index, self._begin(effect, is_person)) for index, effect in reduced.effects]
        waits = [(index, wait) for index, wait in begun if wait is not None]
        if not waits:
            return details
        try:
            ends = await asyncio.gather(*(wait for _, wait in waits), return_exceptions=not single)
        finally:
            self._forget(effect for _, effect in reduced.effects)
        for (index, _), end in zip(waits, ends, strict=True):
            if isinstance(end, BaseException) and not isinstance(end, HandrailError):
                raise end
            details[index] |= {"error": end.to_dict()} if isinstance(end, HandrailError) else end
        return details

    def _begin(self, effect: Effect, is_person: bool) -> Awaitable[Details] | None:
        """Questions are noted here, before the loop can bring an answer; the waiting is the caller's."""
        match effect:
            case Asked(dialog_id):
                answer = self._desk.dialogs.open(dialog_id)
                answer.add_done_callback(lambda answer: self._left(dialog_id, answer))
                return answer
            case Captured(key, request_id):
                client = self._browser(key)
                question = self._desk.pending.ask(request_id, "capture", key, client)
                self._send_capture(key, request_id, question)
                return self._picture(request_id, question)
            case Loading(key, request_id) if not is_person:
                return self._load(key, request_id)
        return None

    def _forget(self, effects: Iterable[Effect]) -> None:
        """What nobody waits for any more, also where the waiting had not begun."""
        for effect in effects:
            if isinstance(effect, Captured | Loading):
                self._desk.pending.forget(effect.request_id)

    def _left(self, dialog_id: str, answer: asyncio.Future[Details]) -> None:
        """A dialog whose asker has gone before the answer leaves every screen."""
        if answer.cancelled():
            self._desk.dialogs.forget(dialog_id)
            draft = Draft(self._desk.state, 0)
            withdraw(draft, dialog_id)
            self._desk.commit((), draft.finish(()))

    def _browser(self, key: str) -> Client:
        client = self._desk.hub.in_use(key.partition("/")[0])
        if client is None:
            raise Unsupported(
                f"{key}: no browser shows the desk, so there is no picture of it",
                hint="Open the desk in a browser, then capture again.",
            )
        return client

    def _send_capture(self, key: str, request_id: str, question: Question) -> None:
        monitor_id, _, window_id = key.partition("/")
        action = act.CaptureWindow(window_id=window_id, monitor_id=monitor_id, request_id=request_id)
        fields = {"actions": [action.to_dict()], "monitorId": monitor_id, "changes": {}}
        self._desk.hub.send(question.client, "ACTIONS", fields)

    async def _picture(self, request_id: str, question: Question) -> Details:
        feedback = await self._desk.pending.wait(request_id, question)
        picture = (feedback.image_data or "").removeprefix(_DATA_URL)
        if not feedback.success or not await asyncio.to_thread(_is_png, picture):
            why = (not feedback.success and feedback.error) or "the answer was no PNG picture"
            raise Unsupported(
                f"{question.key} could not be captured: {why}", hint="Read the window's content instead."
            )
        return {"imageData": picture, "requestId": request_id}

    def _load(self, key: str, request_id: str) -> Awaitable[Details] | None:
        """Only a browser that shows the window's monitor can tell; without one nobody waits."""
        monitor_id = key.partition("/")[0]
        client = self._desk.hub.in_use(monitor_id)
        if client is None or client.monitor != monitor_id:
            return None
        question = self._desk.pending.ask(request_id, "iframe", key, client)
        return self._loaded(request_id, question)

    async def _loaded(self, request_id: str, question: Question) -> Details:
        """The window is there whatever its frame does, so a failure is told and not raised."""
        try:
            feedback = await self._desk.pending.wait(request_id, question)
        except (Timeout, Unsupported) as error:
            return {"iframe": {"loaded": False, "error": error.message}}
        why = {} if feedback.success else {"error": feedback.error or "the page did not load"}
        return {"iframe": {"loaded": feedback.success, **why}, "requestId": request_id}


def _is_png(text: str) -> bool:
    try:
        return b64decode(text, validate=True).startswith(_PNG)
    except (NotBase64, ValueError):
        return False

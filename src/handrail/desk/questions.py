"""What has to follow a transaction: a person's answer, a picture, the news that a frame has loaded.

`FollowUps` asks and waits. `OpenDialogs` holds the questions to people, `BrowserQuestions` those to browsers.
Every question is answered once, by somebody or by its deadline.
"""

from __future__ import annotations

import asyncio
import secrets
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from handrail.clock import Clock
from handrail.desk.hub import DeskClient
from handrail.desk.reduce import withdraw_question
from handrail.desk.state import (
    CaptureAsked,
    DeskDraft,
    DeskState,
    Dialog,
    DialogAsked,
    Effect,
    FrameLoading,
    Reduction,
)
from handrail.errors import HandrailError, InvalidAction, Timeout, Unsupported, did_you_mean
from handrail.protocol import desk as act
from handrail.protocol.act import Act
from handrail.protocol.content import IframeContent
from handrail.protocol.message import RenderingFeedback
from handrail.protocol.read import nearest
from handrail.waiting import wait_for_end

if TYPE_CHECKING:
    from handrail.desk.desk import Desk

_PNG = b"\x89PNG\r\n\x1a\n"
_DATA_URL = "data:image/png;base64,"

Details = dict[str, Any]
Kind = Literal["iframe", "capture"]
ANSWER_MS = 5_000
Remember = Callable[[str, bool], None]
"""Keeps an answer under `agent:<id>:<toolName>[:context]`; may take its time and may raise."""
Recall = Callable[[str], bool | None]
"""What a person once answered under this key."""


def with_request_ids(actions: Sequence[Act]) -> list[Act]:
    """Captures and frames get a request id where they have none: hard to guess, for a browser to send."""
    tracked = list(actions)
    for at, action in enumerate(actions):
        match action:
            case (
                act.CaptureWindow(request_id=None)
                | act.CreateWindow(request_id=None, content=IframeContent())
            ):
                tracked[at] = action.model_copy(update={"request_id": secrets.token_urlsafe(12)})
    return tracked


class FollowUps:
    """Runs what a transaction left to do, for one desk."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def refuse_impossible(self, actions: Sequence[Act], state: DeskState) -> None:
        """Before anything is changed: a capture without a browser, a request id or an app that is none."""
        request_ids: set[str] = set()
        for action in actions:
            apps = self._desk.apps() if isinstance(action, act.SetAppBadge) and action.count else None
            if isinstance(action, act.SetAppBadge) and apps is not None and action.app_id not in apps:
                hint = did_you_mean(nearest(action.app_id, apps), f"There are {', '.join(sorted(apps))}.")
                raise InvalidAction.at("appId", f"there is no app {action.app_id!r:.80}", hint=hint)
            if isinstance(action, act.CaptureWindow | act.CreateWindow) and action.request_id:
                self._desk.pending.refuse_taken(action.request_id, request_ids)
                request_ids.add(action.request_id)
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

    async def run(self, reduced: Reduction, is_person: bool, *, single: bool) -> list[Details]:
        """Carries out the effects of the actions and returns the details of each.

        The failure of a single action is raised; in a batch it is part of the details.
        """
        details = [dict(detail) for detail in reduced.details]
        begun = [(index, self._begin(effect, is_person)) for index, effect in reduced.effects]
        waits = [(index, wait) for index, wait in begun if wait is not None]
        if not waits:
            return details
        try:
            ends = await asyncio.gather(*(wait for _, wait in waits), return_exceptions=not single)
        finally:
            for _, effect in reduced.effects:  # also of questions for which nobody waited yet
                if isinstance(effect, CaptureAsked | FrameLoading):
                    self._desk.pending.forget(effect.request_id)
        for (index, _), end in zip(waits, ends, strict=True):
            if isinstance(end, BaseException) and not isinstance(end, HandrailError):
                raise end
            details[index] |= {"error": end.to_dict()} if isinstance(end, HandrailError) else end
        return details

    def _begin(self, effect: Effect, is_person: bool) -> Awaitable[Details] | None:
        """Questions are noted here, before the loop can bring an answer; the waiting is the caller's."""
        match effect:
            case DialogAsked(dialog_id):
                answer = self._desk.dialogs.open(dialog_id)

                def on_done(answer: asyncio.Future[Details]) -> None:
                    """A dialog whose asker has gone before the answer leaves every screen."""
                    if answer.cancelled():
                        self._desk.dialogs.forget(dialog_id)
                        draft = DeskDraft(self._desk.state, 0)
                        withdraw_question(draft, dialog_id)
                        self._desk.commit((), draft.finish(()))

                answer.add_done_callback(on_done)
                return answer
            case CaptureAsked(key, request_id):
                client = self._browser(key)
                question = self._desk.pending.ask(request_id, "capture", key, client)
                monitor_id, _, window_id = key.partition("/")
                action = act.CaptureWindow(window_id=window_id, monitor_id=monitor_id, request_id=request_id)
                fields = {"actions": [action.to_dict()], "monitorId": monitor_id, "changes": {}}
                self._desk.hub.send(question.client, "ACTIONS", fields)
                return self._picture(request_id, question)
            case FrameLoading(key, request_id) if not is_person:
                # Only a browser that shows the window's monitor can tell; without one nobody waits.
                monitor_id = key.partition("/")[0]
                shown_by = self._desk.hub.in_use(monitor_id)
                if shown_by is None or shown_by.monitor != monitor_id:
                    return None
                question = self._desk.pending.ask(request_id, "iframe", key, shown_by)
                return self._wait_frame_load(request_id, question)
        return None

    def _browser(self, key: str) -> DeskClient:
        client = self._desk.hub.in_use(key.partition("/")[0])
        if client is None:
            hint = "Open the desk in a browser, then capture again."
            raise Unsupported(f"{key}: no browser shows the desk, so there is no picture of it", hint=hint)
        return client

    async def _picture(self, request_id: str, question: BrowserQuestion) -> Details:
        feedback = await self._desk.pending.wait(request_id, question)
        picture, is_png = (feedback.image_data or "").removeprefix(_DATA_URL), False
        with suppress(NotBase64, ValueError):
            decoded = await asyncio.to_thread(b64decode, picture, validate=True)
            is_png = decoded.startswith(_PNG)
        if not feedback.success or not is_png:
            why = (not feedback.success and feedback.error) or "the answer was not a PNG picture"
            hint = "Read the window's content instead, or open the page in a browser device."
            raise Unsupported(f"{question.key} could not be captured: {why}", hint=hint)
        source = {"madeFrom": feedback.made_from} if feedback.made_from else {}
        missing = {"missing": list(feedback.missing)} if feedback.missing else {}
        return {"imageData": picture, "requestId": request_id, **source, **missing}

    async def _wait_frame_load(self, request_id: str, question: BrowserQuestion) -> Details:
        """The window is there whatever its frame does, so a failure is told and not raised."""
        try:
            feedback = await self._desk.pending.wait(request_id, question)
        except (Timeout, Unsupported) as error:
            return {"iframe": {"loaded": False, "error": error.message}}
        why = {} if feedback.success else {"error": feedback.error or "the page did not load"}
        return {"iframe": {"loaded": feedback.success, **why}, "requestId": request_id}


@dataclass(slots=True)
class BrowserQuestion:
    """What a browser owes us."""

    kind: Kind
    key: str
    client: DeskClient
    answer: asyncio.Future[RenderingFeedback]


class BrowserQuestions:
    """The open questions of one desk, by request id."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._open: dict[str, BrowserQuestion] = {}

    def ask(self, request_id: str, kind: Kind, key: str, client: DeskClient) -> BrowserQuestion:
        """Note the question before it is sent, so that no answer comes too early."""
        self.refuse_taken(request_id)
        question = BrowserQuestion(kind, key, client, asyncio.get_running_loop().create_future())
        self._open[request_id] = question
        return question

    def refuse_taken(self, request_id: str, others: Collection[str] = ()) -> None:
        """An answer must be able to tell to which question it belongs."""
        if request_id in self._open or request_id in others:
            problem = f"{request_id!r:.80} waits for its answer already"
            raise InvalidAction.at("requestId", problem, hint="Leave requestId out, or use another one.")

    async def wait(self, request_id: str, question: BrowserQuestion) -> RenderingFeedback:
        """The answer. Raises `Timeout` after 5 s and `Unsupported` when the browser leaves."""
        try:
            if await wait_for_end(self._clock, question.answer, ANSWER_MS):
                return question.answer.result()
        finally:
            self.forget(request_id)
        raise Timeout(
            f"{question.key}: the browser did not answer within {ANSWER_MS} ms",
            hint="Try again; the page may be hidden or busy.",
            retryable=True,
        )

    def forget(self, request_id: str) -> None:
        self._open.pop(request_id, None)

    def answer(self, client: DeskClient, feedback: RenderingFeedback) -> bool:
        """Records a browser's answer; False for news of an iframe that this browser was not asked for."""
        question = self._open.get(feedback.request_id)
        if question is None or question.client is not client or question.kind != feedback.kind:
            if feedback.kind == "iframe":
                return False
            raise InvalidAction.at("requestId", f"this browser was not asked for {feedback.request_id!r:.80}")
        if not question.answer.done():
            question.answer.set_result(feedback)
        return True

    def awaits(self, request_id: str) -> bool:
        """True while a browser is waited for under this id."""
        return request_id in self._open

    def awaits_capture(self, client: DeskClient) -> bool:
        """True while this browser was asked for a capture: its next frame may be a large one."""
        owed = (question for question in self._open.values() if question.client is client)
        return any(question.kind == "capture" for question in owed)

    def left(self, client: DeskClient) -> None:
        """A browser is gone: what it owed is not waited for."""
        for question in self._open.values():
            if question.client is client and not question.answer.done():
                why = f"{question.key}: the browser that was asked has left"
                question.answer.set_exception(Unsupported(why, hint="Open the desk in a browser."))


class OpenDialogs:
    """The askers of one desk, by dialog id."""

    def __init__(self, remember: Remember | None = None, recall: Recall | None = None) -> None:
        self._remember, self._recall = remember, recall
        self._askers: dict[str, asyncio.Future[dict[str, Any]]] = {}

    def open(self, dialog_id: str) -> asyncio.Future[dict[str, Any]]:
        asker: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._askers[dialog_id] = asker
        return asker

    async def recalled(self, key: str) -> bool | None:
        """What was answered before, if anybody keeps such answers."""
        return None if self._recall is None else await asyncio.to_thread(self._recall, key)

    def expire(self, dialog_id: str) -> None:
        """Nobody answered, which means no."""
        answer = {"confirmed": False, "remembered": False, "expired": True}
        _set_answer(self._askers.pop(dialog_id, None), answer)

    def forget(self, dialog_id: str) -> None:
        """Drops an open question, because who asked it has gone."""
        self._askers.pop(dialog_id, None)

    async def answer(self, dialog: Dialog, confirmed: bool, remember: bool) -> None:
        """A person's answer; it counts also where it can't be remembered."""
        asker = self._askers.pop(dialog.id, None)  # now: the id may be asked again while this is remembered
        answer: dict[str, Any] = {"confirmed": confirmed, "remembered": False}
        options = dialog.permission_options
        if remember and options and options["showRememberChoice"] and self._remember is not None:
            try:
                await asyncio.to_thread(self._remember, permission_key(dialog.agent_id, options), confirmed)
                answer["remembered"] = True
            except HandrailError as error:
                answer["not_remembered"] = error.message
        _set_answer(asker, answer)

    def close(self) -> None:
        """The desk ends: open questions count as not answered."""
        for dialog_id in list(self._askers):
            self.expire(dialog_id)


def _set_answer(asker: asyncio.Future[dict[str, Any]] | None, answer: dict[str, Any]) -> None:
    if asker is not None and not asker.done():
        asker.set_result(answer)


def permission_key(agent_id: str, options: Any) -> str:
    """The key of an agent's own dialog, which policy never reads. Colons inside a part are escaped, so no
    agent can write under another one's name."""
    parts = [part.replace("%", "%25").replace(":", "%3A") for part in (agent_id, options["toolName"])]
    if options.get("context") is not None:
        parts.append(options["context"])
    return "agent:" + ":".join(parts)

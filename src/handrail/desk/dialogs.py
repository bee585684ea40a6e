"""Dialogs that wait: every one is answered once, by a person or by its expiry, and the asker hears of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from handrail.desk.state import Dialog
from handrail.errors import HandrailError

Remember = Callable[[str, bool], None]
"""Keeps an answer under `agent:<id>:<toolName>[:context]`; may take its time and may raise."""
Recall = Callable[[str], bool | None]
"""What a person once answered under this key."""


class Dialogs:
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
        _settle(self._askers.pop(dialog_id, None), answer)

    def forget(self, dialog_id: str) -> None:
        """The asker has gone."""
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
        _settle(asker, answer)

    def close(self) -> None:
        """The desk ends: open questions count as not answered."""
        for dialog_id in list(self._askers):
            self.expire(dialog_id)


def _settle(asker: asyncio.Future[dict[str, Any]] | None, answer: dict[str, Any]) -> None:
    if asker is not None and not asker.done():
        asker.set_result(answer)


def permission_key(agent_id: str, options: Any) -> str:
    """The key of an agent's own dialog, which policy never reads. Colons inside a part are escaped, so no
    agent can write under another one's name."""
    parts = [_escape(agent_id), _escape(options["toolName"])]
    if options.get("context") is not None:
        parts.append(options["context"])
    return "agent:" + ":".join(parts)


def _escape(part: str) -> str:
    return part.replace("%", "%25").replace(":", "%3A")

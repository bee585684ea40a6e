"""What an answer brings along: stored as it is, or kept as secrets with placeholders in the store."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from handrail.engine.approval.mailbox import Mailbox, deliver
from handrail.engine.approval.request import Request
from handrail.engine.approval.row import Approval
from handrail.errors import InvalidAction

KeepSecret = Callable[[str, str], str]
"""Takes a name and a value, gives the placeholder that stands for it."""

_MOST_DATA = 64 * 1024


class Handover:
    """Where the data of answers goes. Without `keep_secret` a process can answer, and not ask for secrets."""

    def __init__(self, keep_secret: KeepSecret | None) -> None:
        self._keep_secret = keep_secret

    @asynccontextmanager
    async def mailbox(self, id_: str, request: Request) -> AsyncIterator[str | None]:
        """Open while the question is; None for a question that brings no secret."""
        if request.kind != "human_auth" or not request.is_secret or self._keep_secret is None:
            yield None
            return
        async with Mailbox(lambda data: self._keep(id_, data)) as box:
            yield box.path

    async def storable(self, known: Approval, data: Any, approved: bool, *, is_here: bool) -> Any:
        """The data as it may be stored. `is_here`: the question is asked in this very process."""
        if known.request.kind != "human_auth" or not approved:
            raise InvalidAction("Only a yes to request_human_auth brings data", path="data")
        if len(json.dumps(data)) > _MOST_DATA:
            raise InvalidAction(f"The data is larger than {_MOST_DATA:,} bytes", path="data")
        if not known.request.is_secret:
            return data
        return self._keep(known.id, data) if is_here else await deliver(known.mailbox, data)

    def _keep(self, name: str, data: Any) -> Any:
        """The same data with a placeholder for every text and number in it."""
        if self._keep_secret is None:
            raise InvalidAction(
                "This process has no place for secrets", path="data", hint="Answer without data."
            )
        if isinstance(data, dict):
            return {key: self._keep(f"{name}_{key}", value) for key, value in data.items()}
        if isinstance(data, list):
            return [self._keep(f"{name}_{at}", value) for at, value in enumerate(data)]
        if data is None or isinstance(data, bool):
            return data
        # Two people may answer at once: the loser's value must not replace the winner's.
        unique = re.sub(r"\W", "_", f"{name}_{secrets.token_hex(2)}", flags=re.ASCII).upper()
        return self._keep_secret(unique, str(data))

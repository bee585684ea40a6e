"""Tells people elsewhere that somebody asks: by Web Push, and at `HANDRAIL_NOTIFY_URL` where that is set.

What is sent is a random id and nothing of any screen, app, person or agent. Whoever gets it opens the desk's
page, logs in, and reads there what it is about.
"""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from urllib.parse import urlsplit

from handrail.clock import Clock
from handrail.engine.approval.row import new_id
from handrail.errors import InvalidAction
from handrail.http.outgoing import NotTold, post
from handrail.http.subscriptions import Subscription, Subscriptions
from handrail.http.web_push import sealed
from handrail.waiting import Background

_log = logging.getLogger(__name__)
LIFE_S = 300
"""For so long a push service keeps a message for a device that is off: questions live as long."""
GONE = (404, 410)
"""The browser has unsubscribed."""
TITLE = "Handrail asks you to decide"
WORDS = "An agent waits for your yes or no."
JSON = "json+"
"""Before an address that takes JSON; every other one takes text, as ntfy does."""


@dataclass(frozen=True, slots=True)
class NotifyPlace:
    """What the environment named."""

    url: str
    is_json: bool

    @classmethod
    def read(cls, text: str | None) -> NotifyPlace | None:
        return cls(text.removeprefix(JSON), text.startswith(JSON)) if text else None

    def message(self, id_: str, page: str | None) -> tuple[dict[str, str], bytes]:
        """Headers and body. `page` is where the question can be answered, if other devices reach it."""
        click = f"{page}#id={id_}" if page else None
        if self.is_json:
            told = {"id": id_, "title": TITLE, "message": WORDS} | ({"url": click} if click else {})
            return {"Content-Type": "application/json"}, json.dumps(told).encode()
        headers = {"Content-Type": "text/plain; charset=utf-8", "Title": TITLE, "Priority": "high"}
        return headers | ({"Click": click} if click else {}), WORDS.encode()


class Notifier:
    """Of one server. Whatever fails, the question stands where it was asked."""

    def __init__(
        self, subscriptions: Subscriptions, clock: Clock, public: str | None, place: NotifyPlace | None
    ) -> None:
        self._subscriptions = subscriptions
        self._clock = clock
        self._origin = f"https://{public}" if public else None
        self._place = place
        self._telling = Background()

    @property
    def also_told(self) -> str | None:
        """Who else is told, without what lets one in there."""
        return urlsplit(self._place.url).hostname if self._place else None

    def tell(self, id_: str) -> None:
        """Of the question with this id. Begins at once and waits for nobody."""
        for one in self._subscriptions.all():
            self._telling.start(self._push(one, id_), f"telling {one.id} of {id_}")
        if self._place is not None:
            self._telling.start(self._notify(self._place, id_), f"telling {self.also_told} of {id_}")

    async def test(self, subscription: str) -> str | None:
        """Send an id that nobody has; what went wrong, or None."""
        found = next((one for one in self._subscriptions.all() if one.id == subscription), None)
        if found is None:
            raise InvalidAction(
                f"There is no device {subscription!r:.60}", path="id", hint="GET /api/push lists them."
            )
        return await self._push(found, new_id()) or None

    async def close(self) -> None:
        await self._telling.close()

    async def _push(self, one: Subscription, id_: str) -> str:
        """What went wrong, '' for nothing."""
        key = await self._subscriptions.key()
        headers = key.headers(one.endpoint, self._clock.now_ms(), self._origin, LIFE_S)
        try:
            status = await post(
                one.endpoint, headers, sealed(id_.encode(), one.keys), self._subscriptions.network
            )
        except (NotTold, InvalidAction) as error:
            problem = str(error)
        else:
            problem = "" if 200 <= status < 300 else f"the push service answered {status}"
            if status in GONE:
                await self._gone(one)
                return "the browser takes no messages any more"
        await self._subscriptions.note(one.id, problem)
        if problem:
            _log.warning("%s was not told: %s", one.id, problem)
        return problem

    async def _gone(self, one: Subscription) -> None:
        try:
            await self._subscriptions.end(one.id)
        except InvalidAction:  # somebody revoked it meanwhile
            return

    async def _notify(self, place: NotifyPlace, id_: str) -> None:
        page = f"{self._origin}/approve" if self._origin else None
        headers, body = place.message(id_, page)
        try:
            status = await post(place.url, headers, body, self._subscriptions.network, anywhere=True)
        except (NotTold, InvalidAction) as error:
            _log.warning("HANDRAIL_NOTIFY_URL was not told: %s", error)
        else:
            if not 200 <= status < 300:
                _log.warning("HANDRAIL_NOTIFY_URL: %s answered %s", self.also_told, status)

"""Notifications and toasts as the system keeps them; how they look is in `systemui`."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(slots=True)
class Notification:
    """One posted notification; `activity` and `extras` say what a tap opens."""

    package: str
    key: str
    title: str
    text: str
    when_ms: int
    number: int
    channel: str = "default"
    importance: int = 4  # 5: heads-up that stays, 4: heads-up, 3: sound, 2: silent
    activity: str = ""
    extras: dict[str, Any] = field(default_factory=dict)
    ongoing: bool = False
    actions: list[str] = field(default_factory=list)


class Notifications:
    """All posted notifications, the newest last."""

    def __init__(self) -> None:
        self.posted: list[Notification] = []
        self._count = 0

    def post(self, package: str, title: str, text: str, when_ms: int, **more: Any) -> Notification:
        self._count += 1
        target = more.pop("tap", None)
        if target is not None:
            more["activity"], more["extras"] = target[0], dict(target[1] or {})
        key = more.pop("key", None) or f"{self._count}"
        notification = Notification(package, str(key), title, text, when_ms, self._count, **more)
        self.cancel(package, notification.key)
        self.posted.append(notification)
        return notification

    def cancel(self, package: str, key: str | None = None) -> None:
        self.posted = [
            notification
            for notification in self.posted
            if notification.package != package or (key is not None and notification.key != str(key))
        ]

    def clear(self) -> None:
        self.posted = [notification for notification in self.posted if notification.ongoing]

    def to_dict(self) -> dict[str, Any]:
        return {"count": self._count, "posted": [asdict(notification) for notification in self.posted]}

    def load(self, data: dict[str, Any]) -> None:
        self._count = data["count"]
        self.posted = [Notification(**entry) for entry in data["posted"]]

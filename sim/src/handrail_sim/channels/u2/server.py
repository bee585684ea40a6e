"""What the uiautomator2 server on the phone holds: found objects, watchers, the last toast, its settings.

Everything is done through the phone; the methods are in the files beside this one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import UUID

from handrail_sim.channels.u2.rpc import not_found
from handrail_sim.channels.u2.selector import Selector, find, find_in_active
from handrail_sim.screen.accessibility import Node, active_root, roots

if TYPE_CHECKING:
    from handrail_sim.handset import Handset

OBJECT_LIFE_MS = 60_000
POLL_MS = 100.0  # how often `By` conditions are looked at
OBJECT_POLL_MS = 1000.0  # how often `UiObject` waits look
ACKNOWLEDGE_MS = 500.0


@dataclass(slots=True)
class Watcher:
    """When all conditions hold: click a target, or press keys."""

    conditions: list[Selector]
    target: Selector | None = None
    keys: list[str] = field(default_factory=list)
    triggered: bool = False


class Server:
    """One run of the server's main class."""

    def __init__(self, phone: Handset) -> None:
        self.phone = phone
        self.objects: dict[str, Selector] = {}
        self.watchers: dict[str, Watcher] = {}
        self.last_toast: str | None = None
        self.last_text: str | None = None
        self.events = 0
        self.scrolls = 0
        self.content_events: dict[str, int] = {}
        self.last_event_ms = phone.clock.monotonic_ms()
        self.settings = {
            "actionAcknowledgmentTimeout": 500,
            "keyInjectionDelay": 0,
            "scrollAcknowledgmentTimeout": 200,
            "uiAutomationFlags": 0,
            "waitForIdleTimeout": 0,
            "waitForSelectorTimeout": 0,
        }

    # looking

    def find(self, target: Selector | str) -> Node | None:
        """The node a selector or the name of a found object means now."""
        self.phone.catch_up()
        if isinstance(target, str):
            return find_in_active(self.object(target), active_root(self.phone))
        if target.is_plain:
            return find(target, roots(self.phone), None)
        return find_in_active(target, active_root(self.phone))

    def need(self, target: Selector | str) -> Node:
        node = self.find(target)
        if node is None:
            raise not_found(self.object(target) if isinstance(target, str) else target)
        return node

    def object(self, name: str) -> Selector:
        if name not in self.objects:
            raise not_found(f"UiObject {name} not found!")
        return self.objects[name]

    def keep(self, selector: Selector) -> str:
        """A found object gets a name that is good for a minute."""
        name = str(UUID(int=self.phone.random.getrandbits(128), version=4))
        self.objects[name] = selector
        self.phone.later(OBJECT_LIFE_MS, lambda: self.objects.pop(name, None))
        return name

    # waiting

    async def until(self, holds: Callable[[], bool], timeout_ms: float, poll_ms: float = POLL_MS) -> bool:
        """Look again and again on the phone's clock; the first look is at once."""
        clock = self.phone.clock
        end = clock.monotonic_ms() + timeout_ms
        while True:
            self.phone.catch_up()
            if holds():
                return True
            left = end - clock.monotonic_ms()
            if left <= 0:
                return False
            await clock.sleep_ms(min(poll_ms, left))

    async def acknowledged(self, before: int, timeout_ms: float | None = None) -> bool:
        """Whether something answered an input with an accessibility event."""
        limit = float(self.settings["actionAcknowledgmentTimeout"]) if timeout_ms is None else timeout_ms
        return await self.until(lambda: self.events > before, limit, 20.0)

    # hearing

    def heard(self, event: tuple[float, str, str, str]) -> None:
        """An accessibility event."""
        self.last_event_ms, name, package, text = event
        self.events += 1
        if name == "TYPE_VIEW_SCROLLED":
            self.scrolls += 1
        elif name == "TYPE_WINDOW_CONTENT_CHANGED":
            for key in ("", package):
                self.content_events[key] = self.content_events.get(key, 0) + 1
        elif name == "TYPE_NOTIFICATION_STATE_CHANGED" and text == self.phone.systemui.last_toast:
            self.last_toast = text
        elif name == "TYPE_VIEW_TEXT_TRAVERSED_AT_MOVEMENT_GRANULARITY" and text:
            self.last_text = text

"""What Appium's server on the phone holds: its session, settings and found elements. Knows no path.

Elements are remembered by where they stand; one whose place is gone or holds something else is stale.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from handrail_sim.channels.appium import ui_selector, xpath
from handrail_sim.channels.appium.java_calls import BadExpression
from handrail_sim.channels.appium.source import document
from handrail_sim.channels.appium.xpath_tokens import BadXPath
from handrail_sim.channels.appium.xpath_values import Element
from handrail_sim.channels.u2.rpc import JavaError
from handrail_sim.channels.u2.selector import BadSelector, Selector, count, find_in_active
from handrail_sim.channels.u2.server import Server as Automator
from handrail_sim.screen.accessibility import Node, active_root, roots, tree

if TYPE_CHECKING:
    from handrail_sim.handset import Handset

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
QUIET_MS = 500.0
STATUSES = {
    "no such element": 404,
    "stale element reference": 404,
    "no such alert": 404,
    "unknown command": 404,
    "invalid session id": 404,
    "invalid selector": 400,
    "invalid argument": 400,
    "invalid element state": 400,
    "element not interactable": 400,
}
NOT_FOUND = "An element could not be located on the page using the given search parameters"


class Refused(Exception):
    """An error of the WebDriver protocol."""

    def __init__(self, error: str, message: str) -> None:
        super().__init__(message)
        self.error = error

    @property
    def status(self) -> int:
        return STATUSES.get(self.error, 500)


@dataclass(frozen=True, slots=True)
class Found:
    """An element that was found: its window, the way to it from there, and what it was."""

    window: int
    way: tuple[str, ...]
    cls: str
    resource_id: str


def _way(node: Node) -> tuple[str, ...]:
    """From the window down; a list's row is named by its key, so that it is not another after a scroll."""
    parts: list[str] = []
    one: Node | None = node
    while one is not None:
        parts.append(f"{one.view.row_key}" if one.view.row_key is not None else f"#{one.index}")
        one = one.parent
    return tuple(reversed(parts))


class Server:
    """One run of the instrumentation."""

    def __init__(self, phone: Handset) -> None:
        self.phone = phone
        self.automator = Automator(phone)
        self.session = ""
        self.capabilities: dict[str, Any] = {}
        self.settings: dict[str, Any] = {
            "waitForIdleTimeout": 10_000,
            "waitForSelectorTimeout": 10_000,
            "actionAcknowledgmentTimeout": 3000,
            "keyInjectionDelay": 0,
            "scrollAcknowledgmentTimeout": 200,
            "enableMultiWindows": False,
            "ignoreUnimportantViews": False,
            "allowInvisibleElements": False,
            "enableNotificationListener": True,
            "shutdownOnPowerDisconnect": True,
            "simpleBoundsCalculation": False,
            "snapshotMaxDepth": 70,
            "normalizeTagNames": False,
            "currentDisplayId": 0,
        }
        self._elements: dict[str, Found] = {}
        self._names: dict[Found, str] = {}

    # waiting

    async def idle(self) -> None:
        """As UiDevice.waitForIdle: half a second without events, or as long as the settings allow."""
        clock = self.phone.clock

        def quiet() -> bool:
            return clock.monotonic_ms() - self.phone.last_event_ms >= QUIET_MS and self.phone.is_idle()

        await self.automator.until(quiet, float(self.settings["waitForIdleTimeout"]), 20.0)

    # elements

    def keep(self, node: Node) -> dict[str, str]:
        """The reference that the client gets; the same element gets the same one."""
        found = Found(node.window.number, _way(node), node.cls, node.resource_id)
        if found not in self._names:
            number = len(self._elements) + 1
            name = self._names[found] = str(UUID(int=number << 64 | number))
            self._elements[name] = found
        return {"ELEMENT": self._names[found], ELEMENT: self._names[found]}

    def node(self, name: str) -> Node:
        """The node that a reference means now."""
        known = self._elements.get(name)
        if known is None:
            raise Refused("no such element", f"The element with id '{name}' does not exist in the cache")
        self.phone.catch_up()
        window = next((one for one in self.phone.windows() if one.number == known.window), None)
        for node in () if window is None else tree(window):
            if node.cls == known.cls and node.resource_id == known.resource_id and _way(node) == known.way:
                return node
        raise Refused(
            "stale element reference",
            f"The element '{name}' is not linked to the same object in DOM anymore",
        )

    # finding

    def document(self) -> Element:
        self.phone.catch_up()
        return document(
            self.phone,
            all_windows=bool(self.settings["enableMultiWindows"]),
            compressed=bool(self.settings["ignoreUnimportantViews"]),
            depth=int(self.settings["snapshotMaxDepth"]),
        )

    async def find(self, strategy: str, selector: str, context: str = "") -> list[Node]:
        """All nodes that a locator means, in order."""
        await self.idle()
        try:
            if strategy == "xpath":
                return self._by_xpath(selector, context)
            if strategy == "-android uiautomator":
                return await self._by_automator(selector, context)
        except (BadXPath, BadExpression, BadSelector, RecursionError) as problem:
            raise Refused("invalid selector", f"{selector}: {problem}") from None
        except JavaError as problem:
            raise Refused("no such element", f"{NOT_FOUND}: {problem}") from None
        looks = {"id": "resource_id", "accessibility id": "desc", "class name": "cls"}
        if strategy not in looks:
            raise Refused("invalid selector", f"Locator strategy '{strategy}' is not supported")
        found = self._by(looks[strategy], selector, context)
        if not found and strategy == "id" and ":" not in selector:
            found = self._by("resource_id", f"{self._package()}:id/{selector}", context)
        return found

    def _package(self) -> str:
        root = active_root(self.phone)
        return str(self.capabilities.get("appPackage") or (root.package if root is not None else ""))

    def _starts(self, context: str) -> Iterator[Node]:
        """Where a search by attributes begins: below the context, or in each window, the active one first."""
        self.phone.catch_up()
        if context:
            yield from self.node(context).children
            return
        active = active_root(self.phone)
        if active is not None:
            yield active
        yield from (root for root in roots(self.phone) if active is None or root.window is not active.window)

    def _by(self, look: str, wanted: str, context: str) -> list[Node]:
        return [node for start in self._starts(context) for node in start if getattr(node, look) == wanted]

    def _by_xpath(self, expression: str, context: str) -> list[Node]:
        top = self.document()
        start = top
        if context:
            way = _way(self.node(context))
            start = next(
                (one for one in top.descendants() if one.node is not None and _way(one.node) == way), top
            )
        return [one.node for one in xpath.find(expression, start) if one.node is not None]

    async def _by_automator(self, text: str, context: str) -> list[Node]:
        found: list[Node] = []
        for selector in await ui_selector.prepare(self.automator, text):
            self.phone.catch_up()
            starts = self.node(context).children if context else [active_root(self.phone)]
            for start in starts:
                found += _every(selector, start)
        return found


def _every(selector: Selector, root: Node | None) -> list[Node]:
    if selector.last.instance is not None:
        one = find_in_active(selector, root)
        return [] if one is None else [one]
    numbers = range(count(selector, root))
    nodes = [find_in_active(selector.with_instance(number), root) for number in numbers]
    return [node for node in nodes if node is not None]


def reference(value: object) -> str:
    """The name in an element object, or the name itself; "" if there is none."""
    if isinstance(value, dict):
        return str(value.get(ELEMENT) or value.get("ELEMENT") or "")
    return value if isinstance(value, str) else ""

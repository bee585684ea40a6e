"""One Appium session: its settings, the elements that it has given out, and how an element is looked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from handrail_sim.channels.appium import xpath
from handrail_sim.channels.appium.source import document
from handrail_sim.channels.appium.xpath import BadXPath, Element
from handrail_sim.channels.u2.objects import (
    SEARCH_SWIPES,
    child_by_description,
    child_by_text,
    scroll_into_view,
)
from handrail_sim.channels.u2.selector import FIELDS, BadSelector, Selector, count, find_in_active, pattern
from handrail_sim.channels.u2.server import JavaError
from handrail_sim.channels.u2.server import Server as Automator
from handrail_sim.handset import Handset
from handrail_sim.screen.accessibility import Node, active_root, roots, tree

_WORDS = re.compile(
    r"""\s*(?:(?P<text>"(?:[^"\\]|\\.)*")|(?P<number>-?\d+(?:\.\d+)?[fFdDlL]?)
    |(?P<name>[A-Za-z_$][\w$]*)|(?P<mark>[().,;]))""",
    re.VERBOSE,
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
MOST_DEPTH = 30


class BadExpression(Exception):
    """Java's compiler, or Appium's small one, would not take it."""


@dataclass(frozen=True, slots=True)
class MethodCall:
    """`.name(arguments)`."""

    name: str
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class JavaObject:
    """`new Name(arguments).call().call()`."""

    name: str
    arguments: tuple[Argument, ...]
    calls: tuple[MethodCall, ...]


Argument = str | float | bool | JavaObject


def read(text: str) -> list[JavaObject]:
    """Every statement of a selector; a bare `.text("x")` and a missing `new` are understood too."""
    parser = _Parser(text)
    matches = parser.statements()
    if not matches:
        raise BadExpression("the selector is empty")
    return matches


class _Parser:
    def __init__(self, text: str) -> None:
        self._words: list[tuple[str, str]] = []
        self._at = 0
        self._depth = 0
        at, end = 0, len(text.rstrip())
        while at < end:
            match = _WORDS.match(text, at)
            if match is None:
                raise BadExpression(f"unexpected {text[at:].strip()[:1]!r} in {text}")
            self._words.append((str(match.lastgroup), match[match.lastgroup or 0]))
            at = match.end()

    def statements(self) -> list[JavaObject]:
        objects: list[JavaObject] = []
        while self._at < len(self._words):
            if self._take(";"):
                continue
            objects.append(self._java_object())
            if self._at < len(self._words) and not self._take(";"):
                raise BadExpression(f"unexpected {self._word()!r}")
        return objects

    def _word(self) -> str:
        return self._words[self._at][1] if self._at < len(self._words) else ""

    def _kind(self) -> str:
        return self._words[self._at][0] if self._at < len(self._words) else ""

    def _take(self, word: str) -> bool:
        taken = self._kind() in {"mark", "name"} and self._word() == word
        self._at += taken
        return taken

    def _expect(self, word: str) -> None:
        if not self._take(word):
            raise BadExpression(f"expected {word!r}, found {self._word()!r}")

    def _name(self) -> str:
        if self._kind() != "name":
            raise BadExpression(f"expected a name, found {self._word()!r}")
        self._at += 1
        return self._words[self._at - 1][1]

    def _java_object(self) -> JavaObject:
        if self._word() == ".":
            return JavaObject("UiSelector", (), self._calls())
        self._take("new")
        return JavaObject(self._name(), self._arguments(), self._calls())

    def _calls(self) -> tuple[MethodCall, ...]:
        matches: list[MethodCall] = []
        while self._take("."):
            matches.append(MethodCall(self._name(), self._arguments()))
        return tuple(matches)

    def _arguments(self) -> tuple[Argument, ...]:
        self._expect("(")
        self._depth += 1
        if self._depth > MOST_DEPTH:
            raise BadExpression("too deep")
        matches: list[Argument] = []
        while not self._take(")"):
            matches.append(self._argument())
            if self._word() != ")":
                self._expect(",")
        self._depth -= 1
        return tuple(matches)

    def _argument(self) -> Argument:
        kind, word = self._kind(), self._word()
        if kind == "text":
            self._at += 1
            return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), word[1:-1])
        if kind == "number":
            self._at += 1
            return float(word.rstrip("fFdDlL"))
        if word in {"true", "false"}:
            self._at += 1
            return word == "true"
        if word == "new" or word.startswith("Ui"):
            return self._java_object()
        # `android.widget.Button.class`.
        parts = [self._name()]
        while self._take("."):
            parts.append(self._name())
        return ".".join(parts).removesuffix(".class")


_STEPS = {"childSelector": "child", "fromParent": "sibling"}
_ONLY = (
    "Must only call the 'scrollIntoView' method OR methods on UiScrollable which return UiScrollable or "
    "UiObject objects"
)
_LISTS = {"setAsVerticalList": True, "setAsHorizontalList": False}
_CHILDREN = {"getChildByText": child_by_text, "getChildByDescription": child_by_description}


def selector(java_object: Argument) -> Selector:
    """`new UiSelector()…` as a selector."""
    if not isinstance(java_object, JavaObject) or java_object.name != "UiSelector" or java_object.arguments:
        raise BadExpression("Expected an argument of type UiSelector")
    criteria: list[tuple[str, object]] = []
    instance: int | None = None
    step, then = "", None
    for call in java_object.calls:
        if call.name in _STEPS:
            step, then = _STEPS[call.name], selector(_only(call))
        elif call.name == "instance":
            instance = _int_argument(call)
        elif call.name in FIELDS:
            criteria.append((call.name, _criterion(call)))
        else:
            raise BadExpression(f"UiSelector has no {call.name} method")
    return Selector(tuple(criteria), instance, step, then)


def _only(call: MethodCall) -> Argument:
    if len(call.arguments) != 1:
        raise BadExpression(f"{call.name} takes one argument")
    return call.arguments[0]


def _int_argument(call: MethodCall) -> int:
    value = _only(call)
    if isinstance(value, bool) or not isinstance(value, float):
        raise BadExpression(f"{call.name} takes a number")
    return int(value)


def _criterion(call: MethodCall) -> object:
    value = _only(call)
    if call.name == "index":
        return _int_argument(call)
    if isinstance(value, JavaObject) or (isinstance(value, float) and not isinstance(value, bool)):
        raise BadExpression(f"{call.name} does not take that argument")
    if isinstance(value, str) and FIELDS[call.name].compare == "matches":
        pattern(value)
    return value


async def prepare(server: Automator, text: str) -> list[Selector]:
    """What each statement means; a UiScrollable scrolls first."""
    return [
        await _scroll(server, java_object) if java_object.name == "UiScrollable" else selector(java_object)
        for java_object in read(text)
    ]


async def _scroll(server: Automator, java_object: JavaObject) -> Selector:
    if len(java_object.arguments) != 1:
        raise BadExpression("UiScrollable takes a UiSelector")
    group = wanted = selector(java_object.arguments[0])
    vertical, swipes = True, SEARCH_SWIPES
    for call in java_object.calls:
        if call.name in _LISTS:
            vertical = _LISTS[call.name]
        elif call.name == "setMaxSearchSwipes":
            swipes = _int_argument(call)
        elif call.name == "scrollIntoView":
            wanted = selector(_only(call))
            server.need(group)
            await scroll_into_view(server, group, wanted, vertical=vertical, swipes=swipes)
        elif call.name != "setSwipeDeadZonePercentage":
            wanted = await _child(server, group, call)
    return wanted


async def _child(server: Automator, group: Selector, call: MethodCall) -> Selector:
    """The calls of UiScrollable that give a UiObject; those that only scroll give none."""
    if call.name not in {*_CHILDREN, "getChildByInstance"} or len(call.arguments) < 2:
        raise BadExpression(_ONLY)
    rows, what = selector(call.arguments[0]), call.arguments[1]
    if call.name == "getChildByInstance":
        return group.then_child(rows).with_instance(int(what) if isinstance(what, float) else 0)
    return server.object(await _CHILDREN[call.name](server, group, rows, str(what)))


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
class ElementKey:
    """An element that was found: its window, the way to it from there, and what it was."""

    window: int
    way: tuple[str, ...]
    cls: str
    resource_id: str


def _way(node: Node) -> tuple[str, ...]:
    """From the window down; a list's row is named by its key, so that it is not another after a scroll."""
    parts: list[str] = []
    entry: Node | None = node
    while entry is not None:
        parts.append(f"{entry.view.row_key}" if entry.view.row_key is not None else f"#{entry.index}")
        entry = entry.parent
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
        self._elements: dict[str, ElementKey] = {}
        self._names: dict[ElementKey, str] = {}

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
        key = ElementKey(node.window.number, _way(node), node.cls, node.resource_id)
        if key not in self._names:
            number = len(self._elements) + 1
            name = self._names[key] = str(UUID(int=number << 64 | number))
            self._elements[name] = key
        return {"ELEMENT": self._names[key], ELEMENT: self._names[key]}

    def node(self, name: str) -> Node:
        existing = self._elements.get(name)
        if existing is None:
            raise Refused("no such element", f"The element with id '{name}' does not exist in the cache")
        self.phone.catch_up()
        window = next((entry for entry in self.phone.windows() if entry.number == existing.window), None)
        for node in () if window is None else tree(window):
            if (
                node.cls == existing.cls
                and node.resource_id == existing.resource_id
                and _way(node) == existing.way
            ):
                return node
        raise Refused(
            "stale element reference", f"The element '{name}' is not linked to the same object in DOM anymore"
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
        nodes = self._by(looks[strategy], selector, context)
        if not nodes and strategy == "id" and ":" not in selector:
            nodes = self._by("resource_id", f"{self._package()}:id/{selector}", context)
        return nodes

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
                (
                    descendant
                    for descendant in top.descendants()
                    if descendant.node is not None and _way(descendant.node) == way
                ),
                top,
            )
        return [element.node for element in xpath.find(expression, start) if element.node is not None]

    async def _by_automator(self, text: str, context: str) -> list[Node]:
        nodes: list[Node] = []
        for selector in await prepare(self.automator, text):
            self.phone.catch_up()
            starts = self.node(context).children if context else [active_root(self.phone)]
            for start in starts:
                nodes += _every(selector, start)
        return nodes


def _every(selector: Selector, root: Node | None) -> list[Node]:
    if selector.last.instance is not None:
        entry = find_in_active(selector, root)
        return [] if entry is None else [entry]
    numbers = range(count(selector, root))
    nodes = [find_in_active(selector.with_instance(number), root) for number in numbers]
    return [node for node in nodes if node is not None]


def reference(value: object) -> str:
    """The name in an element object, or the name itself; "" if there is none."""
    if isinstance(value, dict):
        return str(value.get(ELEMENT) or value.get("ELEMENT") or "")
    return value if isinstance(value, str) else ""

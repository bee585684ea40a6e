"""A React Native app: finds its Hermes runtime through Metro, waits until its JavaScript is idle, and reads
labels for unnamed elements from its fiber tree.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from handrail.adb.device import AdbDevice
from handrail.android.dumpsys import read_display
from handrail.android.http_over_adb import HttpPort, Opens
from handrail.clock import Clock
from handrail.errors import DeviceError, Timeout
from handrail.screen.elements import elements
from handrail.screen.fingerprint import screen_fingerprint
from handrail.screen.node import Bounds, Node, Screen
from handrail_frameworks.debugger import Cdp, ChannelLost, IdleOutcome, Metro

WINDOW_MS = 500.0
"""A timer due within this time counts as work: debounced input and staged rendering use 100 to 400 ms."""
PAUSE_MS = 25.0
"""Between two looks at work; nothing may follow for this long, because results are drawn later."""
TURN_PAUSE_MS = 2.0
LONG_TURN_MS = 100.0
"""A longer turn of the thread counts as work."""
NO_TURN_MS = 250.0
"""Without a turn within this time there will be none: some runtimes run them only with native calls."""
INSTALL_MS = 1_000.0
REMOVE_MS = 500.0
ANSWER_MS = 120.0
"""Minimum time for a probe; an idle thread answers sooner."""
SCRIPT = "JavaScript"


async def open_hermes(device: AdbDevice, package: str, clock: Clock, metro: Metro) -> Hermes:
    """Raises `DeviceError` or `Timeout`."""
    way, target = await find_target(device, package, clock, metro)
    cdp = await Cdp.open(way.opens, way.service, way.uri(target), clock)
    hermes = Hermes(cdp, clock, target.title or target.description or package)
    try:
        await hermes.install()
    except BaseException:
        await cdp.close()
        raise
    return hermes


class Hermes:
    """Channel into one JavaScript runtime."""

    def __init__(self, cdp: Cdp, clock: Clock, title: str) -> None:
        self.cdp = cdp
        self.title = title
        self._clock = clock
        self._endless: set[int] = set()
        """Requests that outlived a complete wait, such as long polls: they are not waited for again."""
        self._turns: bool | None = None
        """Whether turns of the thread can be waited for; None until known."""

    async def install(self) -> None:
        await self.cdp.evaluate(install(), timeout_ms=INSTALL_MS)
        self._endless.clear()

    async def wait_idle(self, timeout_ms: float) -> IdleOutcome:
        watch = _Watch(self._clock.monotonic_ms())
        end = watch.asked_ms + timeout_ms
        while True:
            try:
                work = await self._look(watch.beat, max(ANSWER_MS, end - self._clock.monotonic_ms()))
            except Timeout:
                return IdleOutcome(False, (*watch.waited, SCRIPT))
            now = self._clock.monotonic_ms()
            if work.turned:
                self._turns = True
            elif self._turns is None and now - watch.asked_ms >= NO_TURN_MS:
                self._turns = False
            names = watch.note(work, now, work.turned or self._turns is False)
            if watch.has_turned and (watch.busy_ms is None or now - watch.busy_ms >= PAUSE_MS):
                return IdleOutcome(True, tuple(watch.waited))
            if now >= end:
                self._endless |= work.requests.keys()
                return IdleOutcome(False, tuple(watch.waited | ({} if watch.has_turned else {SCRIPT: None})))
            await self._clock.sleep_ms(min(PAUSE_MS if names else TURN_PAUSE_MS, end - now))

    async def _look(self, beat: int, timeout_ms: float) -> JsWork:
        """Installs the script again after a reload."""
        reply = await self.cdp.evaluate(probe(WINDOW_MS, beat), timeout_ms=timeout_ms)
        if not reply:
            await self.install()
            reply = await self.cdp.evaluate(probe(WINDOW_MS, 0), timeout_ms=timeout_ms)
        return read_work(reply).without(self._endless)

    async def close(self) -> None:
        """Restores every replaced function, then closes the connection."""
        try:
            if self.cdp.is_open:
                await self.cdp.evaluate(REMOVE, timeout_ms=REMOVE_MS)
        finally:
            await self.cdp.close()


@dataclass(slots=True)
class _Watch:
    """State of one wait."""

    asked_ms: float
    """When the current turn of the thread was requested."""
    beat: int = 0
    waited: dict[str, None] = field(default_factory=dict)
    has_turned: bool = False
    busy_ms: float | None = None
    """When work was last seen."""

    def note(self, work: JsWork, now_ms: float, has_turned: bool) -> list[str]:
        """After work, the thread has to turn once more."""
        self.has_turned = has_turned
        if work.beat != self.beat:  # the first, also after work or a reload
            self.beat, self.asked_ms = work.beat, now_ms
        names = work.names
        if not has_turned and now_ms - self.asked_ms >= LONG_TURN_MS:
            names = [*names, SCRIPT]
        if work.names:
            self.beat = 0
        if names:
            self.waited |= dict.fromkeys(names)
            self.busy_ms = now_ms
        return names


@dataclass(frozen=True, slots=True)
class JsWork:
    """Answer of one probe."""

    requests: dict[int, str]
    timers: tuple[float, ...] = ()
    """ms until each is due."""
    beat: int = 0
    turned: bool = True
    """Whether the thread has turned since the beat was requested."""

    @property
    def names(self) -> list[str]:
        """A fetch and the request behind it count once."""
        fetched = {what.removeprefix("fetch") for what in self.requests.values()}
        pending = [what for what in self.requests.values() if what.removeprefix("request") not in fetched]
        many = f"{len(self.timers)} timers" if len(self.timers) > 1 else "a timer"
        return [*pending, *([many] if self.timers else [])]

    def without(self, endless: Container[int]) -> JsWork:
        return replace(self, requests={n: what for n, what in self.requests.items() if n not in endless})


def read_work(reply: Any) -> JsWork:
    """Raises `ChannelLost` if it does not parse, because it can't be the app."""
    try:
        work = json.loads(reply)
        requests = {int(number): str(what) for number, what in work["requests"]}
        timers = tuple(float(left) for left in work["timers"])
        return JsWork(requests, timers, int(work["beat"]), bool(work["turned"]))
    except (TypeError, ValueError, KeyError):
        raise ChannelLost(f"the app's answer does not parse: {str(reply)[:80]!r}") from None


IDLE_KEY = "__handrailIdle"
FIBERS_KEY = "__handrailFibers"
VERSION = 1
"""Of `idle.js`: another version that an earlier session left in the app is replaced."""
MOST_FIBERS = 20_000


@cache
def _called(name: str, *arguments: object) -> str:
    source = Path(__file__).with_name(name).read_text("utf-8").strip()
    return f"{source}({', '.join(map(json.dumps, arguments))})"


def install() -> str:
    return _called("idle.js", IDLE_KEY, VERSION)


def probe(window_ms: float, beat: int) -> str:
    """JSON of pending work; "" if nothing counts, as after a reload."""
    return f'globalThis.{IDLE_KEY} ? globalThis.{IDLE_KEY}.probe({window_ms:.0f}, {beat}) : ""'


REMOVE = f'globalThis.{IDLE_KEY} ? globalThis.{IDLE_KEY}.remove() : "absent"'
READ_BAG = f'JSON.stringify(globalThis.{FIBERS_KEY} || {{"hosts": [], "left": 0}})'
DROP_BAG = f"delete globalThis.{FIBERS_KEY}"


LIST_MS = 1_000.0
MAX_LIST = 1 << 20


@dataclass(frozen=True, slots=True)
class Target:
    """One runtime in `/json/list`."""

    url: str
    title: str = ""
    description: str = ""
    app_id: str = ""
    device_name: str = ""
    type: str = ""
    vm: str = ""


@dataclass(frozen=True, slots=True)
class MetroRoute:
    """How one Metro is reached; its sockets are reached the same way, whatever address it reports."""

    opens: Opens
    port: int

    @property
    def service(self) -> str:
        return f"tcp:{self.port}"

    def uri(self, target: Target) -> str:
        """Metro reports localhost, [::1] or 10.0.2.2, so only path and query are used."""
        parts = urlsplit(target.url)
        query = f"?{parts.query}" if parts.query else ""
        return f"ws://127.0.0.1:{self.port}{parts.path or '/'}{query}"


def metro_routes(device: AdbDevice, metro: Metro) -> tuple[MetroRoute, MetroRoute]:
    """Through the phone, then directly."""
    host, port = metro
    return MetroRoute(device, port), MetroRoute(HostTcp(host, port), port)


async def list_targets(way: MetroRoute, clock: Clock) -> list[Target]:
    """Raises `DeviceError` or `Timeout` if no Metro answers."""
    http = HttpPort(way.opens, way.port, clock, max_body=MAX_LIST)
    answer = await http.get("/json/list", timeout_ms=LIST_MS)
    try:
        listing = json.loads(answer.body)
    except ValueError:
        listing = None
    if answer.status != 200 or not isinstance(listing, list):
        raise ChannelLost(f"port {way.port} answers, but is not Metro (HTTP {answer.status})")
    names = ("title", "description", "appId", "deviceName", "type", "vm")
    return [
        Target(entry["webSocketDebuggerUrl"], *(str(entry.get(name) or "") for name in names))
        for entry in listing
        if isinstance(entry, dict) and isinstance(entry.get("webSocketDebuggerUrl"), str)
    ]


def candidates(targets: Iterable[Target], package: str) -> list[Target]:
    """Targets of the app by the first rule that matches any; one that names another app never matches."""
    usable = [
        entry for entry in targets if entry.vm != "don't use" or "Improved Chrome Reloads" in entry.title
    ]
    anonymous = [entry for entry in usable if not entry.app_id]
    rules = (
        [entry for entry in usable if entry.app_id == package],
        [entry for entry in anonymous if package in entry.description],
        [entry for entry in anonymous if package in entry.title],
        [
            entry
            for entry in anonymous
            if "hermes" in f"{entry.title} {entry.vm}".lower() or entry.type == "node"
        ],
        anonymous if len(usable) == 1 else [],
    )
    return next((matching for matching in rules if matching), [])


def choose(targets: list[Target], model: str = "") -> Target:
    """Prefers this model of phone, then the target that survives reloads, then the newest."""
    here = [target for target in targets if model and model in target.device_name] or targets
    lasting = [target for target in here if "Improved Chrome Reloads" in target.title] or here
    return lasting[-1]


async def find_target(
    device: AdbDevice, package: str, clock: Clock, metro: Metro
) -> tuple[MetroRoute, Target]:
    """Raises `ChannelLost` with what was tried."""
    tried: list[str] = []
    for way, place in zip(metro_routes(device, metro), ("the phone", metro[0]), strict=True):
        try:
            targets = await list_targets(way, clock)
        except (DeviceError, Timeout) as error:
            tried.append(f"on {place}: {error.message}")
            continue
        if matching := candidates(targets, package):
            model = ""
            if len({target.device_name for target in matching}) > 1:  # one Metro serves several phones
                output = await device.shell.run(
                    ["getprop", "ro.product.model"], timeout_ms=LIST_MS, check=False
                )
                model = output.text.strip()
            return way, choose(matching, model)
        tried.append(f"on {place}: {len(targets)} targets, none of {package}")
    raise ChannelLost("; ".join(tried))


async def metro_signals(device: AdbDevice, package: str, clock: Clock, metro: Metro) -> tuple[str, ...]:
    """`metro:package` if a Metro names this app."""
    for way in metro_routes(device, metro):
        try:
            targets = await list_targets(way, clock)
        except (DeviceError, Timeout):
            continue
        if any(package in (target.app_id, target.description, target.title) for target in targets):
            return (f"metro:{package}",)
    return ()


CHUNK = 64 << 10


class HostTcp:
    """Opens the configured address, whatever service is named."""

    def __init__(self, host: str, port: int) -> None:
        self.host = host
        self.port = port

    async def open(self, service: str) -> TcpStream:
        with _lost_if(f"{self.host}:{self.port} can't be reached for {service}"):
            return TcpStream(*await asyncio.open_connection(self.host, self.port))


class TcpStream:
    """A TCP connection as a `Stream`."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def read(self) -> bytes:
        with _lost_if("the connection broke"):
            return await self._reader.read(CHUNK)

    async def write(self, data: bytes) -> None:
        with _lost_if("the connection broke"):
            self._writer.write(data)
            await self._writer.drain()

    async def close(self) -> None:
        """Aborts, because unsent data is not needed."""
        self._writer.transport.abort()
        with suppress(OSError):
            await self._writer.wait_closed()


@contextmanager
def _lost_if(what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ChannelLost(f"{what}: {error.strerror or error}") from None


FIBERS_MS = 2_000.0
MEASURE_MS, MEASURE_PAUSE_MS = 150.0, 15.0
"""The UI thread answers measurements between two frames of JavaScript."""
DROP_MS = 500.0
DISPLAY_MS = 2_000.0
MAX_SCREENS = 32
Key = tuple[int, str, tuple[tuple[str, Bounds], ...]]


class FiberLabels:
    """Labels from one app. A screen without unnamed elements costs nothing."""

    def __init__(
        self, cdp: Cdp, device: AdbDevice, package: str, clock: Clock, say: Callable[[str], None]
    ) -> None:
        self.cdp = cdp
        self._device = device
        self._package = package
        self._clock = clock
        self._say = say
        self._density = 0
        self._labels: dict[Key, dict[str, str]] = {}
        self._partial: Key | None = None
        """A screen that was not completely measured in time; it is asked about once more."""

    async def of(self, screen: Screen) -> dict[str, str]:
        """Labels by node id. The cache key includes places, because ids are paths and boxes can move."""
        wanting = nameless(screen, self._package)
        if not wanting:
            return {}
        places = tuple((node.id, node.bounds) for node in wanting)
        key = (self.cdp.generation, screen_fingerprint(screen), places)
        if key in self._labels:
            return dict(self._labels[key])
        listing = await self._list()
        self._density = self._density or (await read_display(self._device.shell, DISPLAY_MS)).density
        names = merge(listing.hosts, wanting, screen, self._density)
        self._say(f"fibers: {len(listing.hosts)} hosts name {len(names)} of {len(wanting)} elements")
        if not listing.left or key == self._partial:
            if len(self._labels) >= MAX_SCREENS:
                del self._labels[next(iter(self._labels))]
            self._labels[key] = names
        self._partial = key if listing.left else None
        return dict(names)

    async def _list(self) -> HostListing:
        """Waits until all are measured or the time is up."""
        # JSON of all host components; those that are not measured at once are stored in the app.
        listing = read_listing(
            await self.cdp.evaluate(_called("fibers.js", FIBERS_KEY, MOST_FIBERS), timeout_ms=FIBERS_MS)
        )
        if not listing.left:
            return listing
        end = self._clock.monotonic_ms() + MEASURE_MS
        try:
            while listing.left and self._clock.monotonic_ms() < end:
                await self._clock.sleep_ms(MEASURE_PAUSE_MS)
                listing = read_listing(await self.cdp.evaluate(READ_BAG, timeout_ms=FIBERS_MS))
            return listing
        finally:
            if self.cdp.is_open:
                await self.cdp.evaluate(DROP_BAG, timeout_ms=DROP_MS)


JITTER_PX = 8
LEAST_PART = 0.02
"""Minimum share of the element's area that a host must have: a 24 dp icon in a row as wide as the screen."""


def nameless(screen: Screen, package: str) -> list[Node]:
    """Elements of this app without a label, except scroll containers."""
    return [
        element.node
        for element in elements(screen)
        if not element.label and element.kind != "s" and element.node.package_name == package
    ]


def merge(hosts: Sequence[Host], wanting: Sequence[Node], screen: Screen, density: int) -> dict[str, str]:
    """Matches by unique test id, then by place, the smallest elements first."""
    nodes = [node for node in screen.nodes if wanting and node.package_name == wanting[0].package_name]
    named = [host for host in hosts if host.test_id and host.label]
    counted = Counter(host.test_id for host in named)
    labels = {host.test_id: host.label for host in named if counted[host.test_id] == 1}
    names = {node.id: labels[node.id_tail] for node in wanting if node.id_tail in labels}
    free = [placed for placed in place(hosts, nodes, density) if placed.host.label]
    for node in sorted((node for node in wanting if node.id not in names), key=lambda node: node.bounds.area):
        left, top, right, bottom = node.bounds
        around = Bounds(left - JITTER_PX, top - JITTER_PX, right + JITTER_PX, bottom + JITTER_PX)
        inside = [placed for placed in free if around.covers(placed.bounds)]
        fitting = [placed for placed in inside if placed.bounds.area >= LEAST_PART * node.bounds.area]
        if fitting:
            # The largest host inside; among equals one with its own label, then the deeper one.
            tightest = max(
                fitting, key=lambda fit: (fit.bounds.area, bool(fit.host.own_label), fit.host.depth)
            )
            names[node.id] = tightest.host.label
            free.remove(tightest)
    return names


SAME_SIZE_PX = 4
SMALLEST_PX, WIDEST_PX, TALLEST_PX = 10, 1_200, 2_200
LEAST_VOTES = 2
_CELL_PX = 4


class Placed(NamedTuple):
    """A host and its place in pixels of the screen."""

    host: Host
    bounds: Bounds


Offset = tuple[int, int]


def place(hosts: Iterable[Host], nodes: Sequence[Node], density: int) -> list[Placed]:
    factor = density / 160
    measured = []
    for host in hosts:
        if host.box is not None:
            left, top, width, height = (side * factor for side in host.box)
            bounds = Bounds(round(left), round(top), round(left + width), round(top + height))
            measured.append(Placed(host, bounds))
    x, y = offset(measured, nodes)
    return [
        Placed(host, Bounds(box.left + x, box.top + y, box.right + x, box.bottom + y))
        for host, box in measured
    ]


def offset(measured: Sequence[Placed], nodes: Sequence[Node]) -> Offset:
    """Offset between hosts and nodes: from words that exactly one of each has, else from equal sizes."""
    by_word: dict[str, list[Placed]] = defaultdict(list)
    for placed in measured:
        label = placed.host.props.get("accessibilityLabel", "")
        for word in {placed.host.test_id, placed.host.text, label} - {""}:
            by_word[word].append(placed)
    words = [(word, node) for node in nodes for word in {node.id_tail, node.text, node.description} - {""}]
    counted = Counter(word for word, _ in words)
    sure = [
        (by_word[word][0], node) for word, node in words if counted[word] == 1 and len(by_word[word]) == 1
    ]
    sized = [
        node
        for node in nodes
        if SMALLEST_PX <= node.bounds.width <= WIDEST_PX and SMALLEST_PX <= node.bounds.height <= TALLEST_PX
    ]
    alike = ((placed, node) for node in sized for placed in measured)
    return _agreed(sure, 1) or _agreed(alike, LEAST_VOTES) or (0, 0)


def _agreed(pairs: Iterable[tuple[Placed, Node]], least: int) -> Offset | None:
    """The median of the fullest cell; among equals the one nearest to no offset.

    Only boxes of equal size vote: a clipped node proves nothing.
    """
    cells: dict[Offset, list[Offset]] = defaultdict(list)
    for placed, node in pairs:
        ours, theirs = placed.bounds, node.bounds
        if (
            abs(ours.width - theirs.width) <= SAME_SIZE_PX
            and abs(ours.height - theirs.height) <= SAME_SIZE_PX
        ):
            x, y = theirs.left - ours.left, theirs.top - ours.top
            cells[round(x / _CELL_PX), round(y / _CELL_PX)].append((x, y))
    best = max(cells.values(), key=lambda cell: (len(cell), -abs(cell[0][0]) - abs(cell[0][1])), default=[])
    if len(best) < least:
        return None
    return round(median(x for x, _ in best)), round(median(y for _, y in best))


SAYING = ("accessibilityLabel", "aria-label", "title", "label", "alt", "name", "icon", "contentDescription")
"""Props that hold a label, the best first."""


@dataclass(frozen=True, slots=True)
class Host:
    """One native view with the components that drew it."""

    names: tuple[str, ...]
    """Components above it up to the next host, the innermost first."""
    props: dict[str, str]
    test_id: str
    text: str
    depth: int
    box: tuple[float, float, float, float] | None
    """x, y, width, height in dp of the window; None if it could not be measured."""

    @property
    def own_label(self) -> str:
        return next((self.props[name] for name in SAYING if self.props.get(name)), "")

    @property
    def label(self) -> str:
        """From its props, else the nearest component with a meaningful name."""
        return self.own_label or next((name for name in map(bare, self.names) if is_telling(name)), "")


@dataclass(frozen=True, slots=True)
class HostListing:
    """Hosts, and how many are still being measured."""

    hosts: tuple[Host, ...]
    left: int


def read_listing(reply: Any) -> HostListing:
    """Raises `ChannelLost` if it does not parse; malformed hosts are left out."""
    try:
        listing = json.loads(reply)
        problem = listing.get("problem")
        if problem:
            raise ChannelLost(str(problem)[:200])
        hosts = tuple(host for entry in listing["hosts"] if (host := _host(entry)) is not None)
        return HostListing(hosts, int(listing["left"]))
    except (TypeError, ValueError, KeyError, AttributeError):
        raise ChannelLost(f"the app's list does not parse: {str(reply)[:80]!r}") from None


def _host(entry: Any) -> Host | None:
    try:
        props = {str(name): str(value) for name, value in entry["props"].items()}
        names = tuple(str(name) for name in entry["names"])
        test_id, text, depth = str(entry["testID"]), str(entry["text"]), int(entry["depth"])
        # Detached views measure as undefined, which JSON turns into null.
        box, sides = None, entry["box"]
        is_measured = isinstance(sides, list) and len(sides) == 4
        if is_measured and all(isinstance(side, int | float) and math.isfinite(side) for side in sides):
            x, y, width, height = map(float, sides)
            box = (x, y, width, height) if width > 0 and height > 0 else None
        return Host(names, props, test_id, text, depth, box)
    except (TypeError, ValueError, KeyError, AttributeError):
        return None


_MATERIAL = re.compile(
    r"View|Text|Image|ImageBackground|Button|Icon|IconButton|VectorIcon|Fragment|Component|Slot|Item|Row|Column"
    r"|Cell|Box|Stack|HStack|VStack|Center|Flex|Surface|Ripple|Modal|Switch|TextInput|Suspense|StrictMode|Profiler"
    r"|Svg|G|Path|Circle|Ellipse|Line|Rect|Polygon|Polyline|Defs|Use|Symbol|Mask|ClipPath|Stop|Pattern|TSpan"
    r"|App|Root|Anonymous|Unknown|Layout|Page|Header|Footer|Content"
)
_MADE_OF = re.compile(
    r"(?:RCT|RNS|RNSVG|Animated|Virtualized|Touchable|Pressable)\w*"
    r"|(?:[Ww]ith|Themed|Styled)[A-Z]\w*"
    r"|\w+(?:View|List|Screen|Provider|Consumer|Context|Navigator|Boundary|Container|Wrapper|Gradient|Handler"
    r"|Detector|Layout)"
)


def bare(name: str) -> str:
    """`memo(ArrowLeft)`, `ForwardRef(ArrowLeft)` and `withTheme(ArrowLeft)` become ArrowLeft."""
    return name.rstrip(")").rpartition("(")[2]


def is_telling(name: str) -> bool:
    """ArrowLeft and SendButton are meaningful; Pressable, HomeScreen and minified letters are not."""
    return len(name) > 1 and not _MATERIAL.fullmatch(name) and not _MADE_OF.fullmatch(name)

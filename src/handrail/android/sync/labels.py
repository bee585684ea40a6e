"""Names for a screen's nameless elements out of a running React app, remembered by screen."""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, NamedTuple

from handrail.adb.device import AdbDevice
from handrail.android.display import read_display
from handrail.android.sync import scripts
from handrail.android.sync.answers import ChannelLost
from handrail.android.sync.calls import Cdp
from handrail.clock import Clock
from handrail.tree.element.find import elements
from handrail.tree.fingerprint import screen_fingerprint
from handrail.tree.node import Bounds, Node, Screen

LIST_MS = 2_000.0
MEASURE_MS, MEASURE_PAUSE_MS = 150.0, 15.0
"""Measurements are answered by the UI thread, between two frames of JavaScript."""
DROP_MS = 500.0
DISPLAY_MS = 2_000.0
KEPT = 32
Key = tuple[int, str, tuple[tuple[str, Bounds], ...]]


class FiberLabels:
    """Asks one app. A screen without nameless elements asks nothing."""

    def __init__(
        self, cdp: Cdp, device: AdbDevice, package: str, clock: Clock, say: Callable[[str], None]
    ) -> None:
        self._cdp = cdp
        self._device = device
        self._package = package
        self._clock = clock
        self._say = say
        self._density = 0
        self._known: dict[Key, dict[str, str]] = {}
        self._partial: Key | None = None
        """A screen on which not all was measured in time: it is asked about once more, and then so be it."""

    async def of(self, screen: Screen) -> dict[str, str]:
        """Node id → name. The fingerprint alone would not do: ids are paths, and boxes can move."""
        wanting = nameless(screen, self._package)
        if not wanting:
            return {}
        places = tuple((node.id, node.bounds) for node in wanting)
        key = (self._cdp.generation, screen_fingerprint(screen), places)
        if key in self._known:
            return dict(self._known[key])
        listing = await self._list()
        names = merge(listing.hosts, wanting, screen, await self._dots())
        self._say(f"fibers: {len(listing.hosts)} hosts name {len(names)} of {len(wanting)} elements")
        if not listing.left or key == self._partial:
            self._remember(key, names)
        self._partial = key if listing.left else None
        return dict(names)

    def _remember(self, key: Key, names: dict[str, str]) -> None:
        if len(self._known) >= KEPT:
            del self._known[next(iter(self._known))]
        self._known[key] = names

    async def _list(self) -> HostListing:
        listing = read_listing(await self._evaluate(scripts.list_fibers()))
        if not listing.left:
            return listing
        try:
            return await self._measured(listing)
        finally:
            if self._cdp.lost is None:
                await self._cdp.evaluate(scripts.drop_bag(), timeout_ms=DROP_MS)

    async def _measured(self, listing: HostListing) -> HostListing:
        """Until all are measured, or long enough: those that are not are left without a place."""
        end = self._clock.monotonic_ms() + MEASURE_MS
        while listing.left and self._clock.monotonic_ms() < end:
            await self._clock.sleep_ms(MEASURE_PAUSE_MS)
            listing = read_listing(await self._evaluate(scripts.read_bag()))
        return listing

    async def _evaluate(self, expression: str) -> object:
        value: object = await self._cdp.evaluate(expression, timeout_ms=LIST_MS)
        return value

    async def _dots(self) -> int:
        """Per inch; asked once."""
        if not self._density:
            self._density = (await read_display(self._device.shell, DISPLAY_MS)).density
        if not self._density:
            raise ChannelLost("the phone does not tell its density")
        return self._density


JITTER_PX = 8
LEAST_PART = 0.02
"""Of the element's area that a host must have to name it: an icon of 24 dp in a row as wide as the screen."""


def nameless(screen: Screen, package: str) -> list[Node]:
    """What could use a name: elements of this app that nothing on the screen names, but scroll containers."""
    return [
        element.node
        for element in elements(screen)
        if not element.label and element.kind != "s" and element.node.package_name == package
    ]


def merge(hosts: Sequence[Host], wanting: Sequence[Node], screen: Screen, density: int) -> dict[str, str]:
    """Node id → name: by test id where that is unique, then by place, the smallest elements first."""
    nodes = [node for node in screen.nodes if wanting and node.package_name == wanting[0].package_name]
    names = _by_test_id(hosts, wanting)
    free = [one for one in place(hosts, nodes, density) if one.host.label]
    for node in sorted(wanting, key=lambda node: node.bounds.area):
        if node.id not in names and (found := _tightest(free, node.bounds)) is not None:
            names[node.id] = found.host.label
            free.remove(found)
    return names


def _by_test_id(hosts: Iterable[Host], wanting: Iterable[Node]) -> dict[str, str]:
    hosts = [host for host in hosts if host.test_id and host.label]
    counted = Counter(host.test_id for host in hosts)
    known = {host.test_id: host.label for host in hosts if counted[host.test_id] == 1}
    return {node.id: known[node.id_tail] for node in wanting if node.id_tail in known}


def _tightest(free: Iterable[Placed], bounds: Bounds) -> Placed | None:
    """The host inside that fills most of it; of equals the one that names itself, then the deeper one."""
    around = Bounds(
        bounds.left - JITTER_PX, bounds.top - JITTER_PX, bounds.right + JITTER_PX, bounds.bottom + JITTER_PX
    )
    inside = [one for one in free if around.covers(one.bounds)]
    fitting = [one for one in inside if one.bounds.area >= LEAST_PART * bounds.area]
    return max(fitting, key=lambda one: (one.bounds.area, bool(one.host.said), one.host.depth), default=None)


SAME_SIZE_PX = 4
SMALLEST_PX, WIDEST_PX, TALLEST_PX = 10, 1_200, 2_200
LEAST_VOTES = 2
_CELL_PX = 4


class Placed(NamedTuple):
    """A host and where it is, in pixels of the screen."""

    host: Host
    bounds: Bounds


Offset = tuple[int, int]


def place(hosts: Iterable[Host], nodes: Sequence[Node], density: int) -> list[Placed]:
    """Those that were measured, where they are on this screen."""
    factor = density / 160
    measured = [Placed(host, _pixels(host.box, factor)) for host in hosts if host.box is not None]
    x, y = offset(measured, nodes)
    return [Placed(one.host, _moved(one.bounds, x, y)) for one in measured]


def offset(measured: Sequence[Placed], nodes: Sequence[Node]) -> Offset:
    """How far hosts lie from their nodes: by those that are surely the same, else by equal sizes."""
    return (
        _agreed(_sure_pairs(measured, nodes), 1)
        or _agreed(_alike_pairs(measured, nodes), LEAST_VOTES)
        or (0, 0)
    )


def _sure_pairs(measured: Sequence[Placed], nodes: Sequence[Node]) -> Iterator[Offset]:
    """A word that one host and one node have, and no other."""
    by_word: dict[str, list[Placed]] = defaultdict(list)
    for one in measured:
        for word in {one.host.test_id, one.host.text, one.host.props.get("accessibilityLabel", "")} - {""}:
            by_word[word].append(one)
    counted = Counter(word for node in nodes for word in _words(node))
    for node in nodes:
        for word in _words(node):
            if counted[word] == 1 and len(by_word[word]) == 1:
                yield from _difference(by_word[word][0], node)


def _words(node: Node) -> set[str]:
    return {node.id_tail, node.text, node.description} - {""}


def _alike_pairs(measured: Sequence[Placed], nodes: Sequence[Node]) -> Iterator[Offset]:
    for node in nodes:
        width, height = node.bounds.width, node.bounds.height
        if SMALLEST_PX <= width <= WIDEST_PX and SMALLEST_PX <= height <= TALLEST_PX:
            for one in measured:
                yield from _difference(one, node)


def _difference(one: Placed, node: Node) -> Iterator[Offset]:
    """Only between things of one size: a node that an edge has cut says nothing."""
    ours, theirs = one.bounds, node.bounds
    if abs(ours.width - theirs.width) <= SAME_SIZE_PX and abs(ours.height - theirs.height) <= SAME_SIZE_PX:
        yield theirs.left - ours.left, theirs.top - ours.top


def _agreed(votes: Iterable[Offset], least: int) -> Offset | None:
    """The middle of the fullest cell; of equally full ones, the nearest to no offset at all."""
    cells: dict[Offset, list[Offset]] = defaultdict(list)
    for x, y in votes:
        cells[round(x / _CELL_PX), round(y / _CELL_PX)].append((x, y))
    if not cells:
        return None
    best = max(cells.values(), key=lambda cell: (len(cell), -abs(cell[0][0]) - abs(cell[0][1])))
    if len(best) < least:
        return None
    return round(median(x for x, _ in best)), round(median(y for _, y in best))


def _pixels(box: tuple[float, float, float, float] | None, factor: float) -> Bounds:
    x, y, width, height = box or (0.0, 0.0, 0.0, 0.0)
    return Bounds(
        round(x * factor), round(y * factor), round((x + width) * factor), round((y + height) * factor)
    )


def _moved(bounds: Bounds, x: int, y: int) -> Bounds:
    return Bounds(bounds.left + x, bounds.top + y, bounds.right + x, bounds.bottom + y)


SAYING = ("accessibilityLabel", "aria-label", "title", "label", "alt", "name", "icon", "contentDescription")
"""Props that name a thing, the best first."""


@dataclass(frozen=True, slots=True)
class Host:
    """One native view with the components that drew it and nothing else."""

    names: tuple[str, ...]
    """Of the components above it up to the next host, the innermost first."""
    props: dict[str, str]
    test_id: str
    text: str
    depth: int
    box: tuple[float, float, float, float] | None
    """x, y, width, height in dp of the window; None where it could not be measured."""

    @property
    def said(self) -> str:
        """What its props call it."""
        return next((self.props[name] for name in SAYING if self.props.get(name)), "")

    @property
    def label(self) -> str:
        """What it is: by its props, else by the nearest component whose name means something."""
        return self.said or next((name for name in map(bare, self.names) if is_telling(name)), "")


@dataclass(frozen=True, slots=True)
class HostListing:
    """One answer: the hosts, and how many of them are still being measured."""

    hosts: tuple[Host, ...]
    left: int


def read_listing(told: Any) -> HostListing:
    """`ChannelLost` for what is no list; a host that makes no sense is left out."""
    try:
        found = json.loads(told)
        problem = found.get("problem")
        if problem:
            raise ChannelLost(str(problem)[:200])
        hosts = tuple(host for one in found["hosts"] if (host := _host(one)) is not None)
        return HostListing(hosts, int(found["left"]))
    except (TypeError, ValueError, KeyError, AttributeError):
        raise ChannelLost(f"the app lists nonsense: {str(told)[:80]!r}") from None


def _host(told: Any) -> Host | None:
    try:
        props = {str(name): str(value) for name, value in told["props"].items()}
        names = tuple(str(name) for name in told["names"])
        test_id, text, depth = str(told["testID"]), str(told["text"]), int(told["depth"])
        return Host(names, props, test_id, text, depth, _box(told["box"]))
    except (TypeError, ValueError, KeyError, AttributeError):
        return None


def _box(told: Any) -> tuple[float, float, float, float] | None:
    """Views that are not attached measure as undefined, which JSON makes null."""
    if not isinstance(told, list) or len(told) != 4:
        return None
    if not all(isinstance(side, int | float) and math.isfinite(side) for side in told):
        return None
    x, y, width, height = map(float, told)
    return (x, y, width, height) if width > 0 and height > 0 else None


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
    """`memo(ArrowLeft)`, `ForwardRef(ArrowLeft)` and `withTheme(ArrowLeft)` are ArrowLeft."""
    return name.rstrip(")").rpartition("(")[2]


def is_telling(name: str) -> bool:
    """ArrowLeft, SendButton; neither Pressable nor HomeScreen, and no letter that a minifier left."""
    return len(name) > 1 and not _MATERIAL.fullmatch(name) and not _MADE_OF.fullmatch(name)

"""The session's refs: `@b1` belongs to an element and stays with it while it lives; numbers are never reused.

So an old ref either means the same element or is stale; it never means another one. Knows no device.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, NamedTuple

from handrail.errors import StaleReference
from handrail.screen.compact import CompactOptions, CompactResult, render
from handrail.screen.elements import elements as elements_of
from handrail.screen.fingerprint import screen_fingerprint
from handrail.screen.match import Matching, match
from handrail.screen.match.features import NAME, ScreenFeatures, is_actionable, label_of
from handrail.screen.match.rows import cut_rows
from handrail.screen.node import JITTER_PX, Bounds, Element, Elements, Node, Screen, once_per_screen
from handrail.screen.select import candidate_list, did_you_mean, nearest_nodes
from handrail.screen.text import cut, name_of, quoted
from handrail.screen.windows import visible

SCREENS = 12  # kept; the one not seen for longest is forgotten first


class RememberedElement(NamedTuple):
    """What an element is recognised by when its screen comes back."""

    ref: str
    class_name: str
    resource_id: str
    label: str
    native_id: str
    left: int
    top: int
    right: int
    bottom: int


class RefMemory:
    """From a screen's seal (fingerprint and content of its fields) to its elements' traits by node order.

    Going back, closing a dialog or scrolling to the top again brings back old refs, where identity is
    certain: the whole screen has the fingerprint of the earlier one, its fields hold the same, and the
    element stands at the same node of the tree with the same class, id and label. One that is nameless, or
    named like another, must have the same bounds as well. In a row that an edge cuts off it gets none: what
    is left of the row may look like what was left of another. One that the surface itself calls by the same
    name needs neither.
    """

    __slots__ = ("_screens",)

    def __init__(self) -> None:
        self._screens: dict[str, dict[int, RememberedElement]] = {}

    def keep(self, seal: str, features: ScreenFeatures, refs: Mapping[int, str]) -> None:
        """Remembers a screen that is being left; `refs` by node order."""
        self._screens.pop(seal, None)
        self._screens[seal] = {order: _remember_element(features, order, ref) for order, ref in refs.items()}
        while len(self._screens) > SCREENS:
            del self._screens[next(iter(self._screens))]

    def find(self, seal: str, features: ScreenFeatures, node: Node) -> str | None:
        """The ref that this element had when the same screen was shown before."""
        trait = self._screens.get(seal, {}).get(node.order)
        if trait is None:
            return None
        now = _remember_element(features, node.order, trait.ref)
        if now[:5] != trait[:5]:
            return None
        if node.native_id:
            return trait.ref
        # The visible remainder of a row that an edge cuts off may look like that of another row.
        scroller, row = features.scroller[node.order], features.unit[node.order]
        if row >= 0 and row in cut_rows(features, [each.order for each in features.rows(scroller)], scroller):
            return None
        certain = features.token[node.order] == NAME or all(
            abs(a - b) <= JITTER_PX for a, b in zip(now[5:], trait[5:], strict=True)
        )
        return trait.ref if certain else None

    def clear(self) -> None:
        self._screens.clear()

    def dump(self) -> dict[str, Any]:
        return {
            seal: [[order, *trait] for order, trait in traits.items()]
            for seal, traits in self._screens.items()
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self._screens = {
            seal: {int(order): RememberedElement(*trait) for order, *trait in rows}
            for seal, rows in state.items()
        }


@once_per_screen
def digest_of_typed_text(screen: Screen) -> str:
    """Distinguishes forms with different contents, which share a fingerprint; too short to reveal the
    content.
    """
    typed = [node.text for node in screen.nodes if node.role == "text_field"]
    return blake2b(repr(typed).encode(), digest_size=3).hexdigest()


def _remember_element(features: ScreenFeatures, order: int, ref: str) -> RememberedElement:
    node = features.nodes[order]
    return RememberedElement(
        ref, node.class_name, node.resource_id, features.label[order], node.native_id, *node.bounds
    )


def pack_screen(screen: Screen, labels: Iterable[str] | None = None) -> dict[str, Any]:
    """Strings are kept once and named by number; nodes are rows in document order."""
    table: defaultdict[str, int] = defaultdict()
    table.default_factory = table.__len__
    number = table.__getitem__
    nodes = []
    for node, label in zip(screen.nodes, labels or map(label_of, screen.nodes), strict=True):
        texts = (node.class_name, node.resource_id, label, node.package_name, node.role, node.native_id)
        parent = node.parent.order if node.parent else -1
        nodes.append([parent, *map(number, texts), node.flags, *node.bounds])
    return {
        "size": [screen.width, screen.height],
        "rotation": screen.rotation,
        "package": screen.package,
        "strings": list(table),
        "nodes": nodes,
    }


def unpack_screen(packed: dict[str, Any]) -> Screen:
    """A screen that matches as the packed one did. Raises `ValueError` on anything else."""
    try:
        nodes = [_node(row, packed["strings"]) for row in packed["nodes"]]
        parents = [int(row[0]) for row in packed["nodes"]]
        width, height = packed["size"]
        _connect(nodes, parents)
        return Screen(nodes[0], nodes, width, height, packed["package"], packed["rotation"])
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise ValueError(f"not a stored screen: {error!r}") from None


def _node(row: list[int], strings: list[str]) -> Node:
    _, class_name, resource_id, label, package, role, native_id, flags, *box = row
    label_text = strings[label]
    is_field = strings[role] == "text_field"
    return Node(
        class_name=strings[class_name],
        resource_id=strings[resource_id],
        text="" if is_field else label_text,
        description=label_text if is_field else "",
        package_name=strings[package],
        bounds=Bounds(*box),
        flags=flags,
        role=strings[role],
        index=0,
        native_id=strings[native_id],
    )


def _connect(nodes: list[Node], parents: list[int]) -> None:
    for order, (node, parent) in enumerate(zip(nodes, parents, strict=True)):
        node.order = order
        if order == 0:
            continue
        if not 0 <= parent < order:
            raise ValueError(f"node {order} has parent {parent}")
        node.parent = nodes[parent]
        node.position = node.index = len(node.parent.children)
        node.parent.children.append(node)
    for node in reversed(nodes):
        node.end = node.children[-1].end if node.children else node.order + 1


_REMEMBERED = 2_000  # gone elements whose name a message can still tell
_LABEL = 60  # characters of it
_FORMAT = 2
_DEFAULTS = CompactOptions()
_NO_LABELS: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class _Prepared:
    """The elements of the next screen and their matching, computed without changing the registry."""

    base: ScreenFeatures | None
    labels: Mapping[str, str]
    features: ScreenFeatures
    elements: Elements
    matching: Matching | None


class Registry:
    """AgenTest's RefRegistry with identity. `session` is part of every element id, to tell sessions apart."""

    def __init__(self, session: str = "") -> None:
        self._prefix = f"el_{session}_" if session else "el_"
        self._counters: dict[str, int] = {}
        self._buried: dict[str, str] = {}  # ref -> label
        self._recall = RefMemory()
        self._forget_screen()

    def _forget_screen(self) -> None:
        self._features: ScreenFeatures | None = None
        self._live: dict[int, str] = {}  # order -> ref, also of what is covered or rests at the moment
        self._orders: dict[str, int] = {}  # ref -> order, of what can be acted on
        self._elements: dict[Node, Element] = {}
        self._fingerprint = self._text = self._seal = ""
        self._elements_now: Elements | None = None
        self._elements_before: Elements | None = None
        self._labels = _NO_LABELS
        self._matching: Matching | None = None
        self._prepared: _Prepared | None = None
        self._before: tuple[list[Node], dict[int, str]] = ([], {})

    @property
    def fingerprint(self) -> str:
        """Belongs to the last screen; '' before the first."""
        return self._fingerprint

    @property
    def text(self) -> str:
        return self._text

    @property
    def size(self) -> int:
        return len(self._elements)

    @property
    def screen(self) -> Screen | None:
        return self._features.screen if self._features else None

    @property
    def matching(self) -> Matching | None:
        return self._matching

    @property
    def elements(self) -> tuple[Elements, Elements] | None:
        """Lists the elements of both screens of `matching`; None if one was loaded from a store."""
        before, now = self._elements_before, self._elements_now
        return None if before is None or now is None else (before, now)

    def clear(self) -> None:
        """Forgets all elements; the counters continue."""
        self._remember_gone({order: ref for ref, order in self._orders.items()})
        self._recall.clear()
        self._forget_screen()

    def prepare_rebuild(self, screen: Screen, labels: Mapping[str, str] = _NO_LABELS) -> None:
        """Does the costly part of the next `rebuild` in advance; useless if another screen comes."""
        self._prepared = self._prepare(screen, labels)

    def _prepare(self, screen: Screen, labels: Mapping[str, str]) -> _Prepared:
        prepared, base = self._prepared, self._features
        if (
            prepared is not None
            and prepared.features.screen is screen
            and prepared.labels == labels
            and prepared.base is base
        ):
            return prepared
        features = ScreenFeatures(screen)
        matching = match(base, features) if base is not None else None
        return _Prepared(base, labels, features, elements_of(screen, labels), matching)

    def rebuild(self, screen: Screen, options: CompactOptions = _DEFAULTS) -> CompactResult:
        """Takes the next screen: elements that are still there keep their refs, new ones get new numbers."""
        fingerprint = options.fingerprint or screen_fingerprint(screen)
        elements = (
            self._elements_now if screen is self.screen and options.external_labels == self._labels else None
        )
        if elements is None:
            elements = self._take_screen(self._prepare(screen, options.external_labels), fingerprint)
        refs = [self._live[element.node.order] for element in elements]
        result = render(screen, elements, refs, replace(options, fingerprint=fingerprint))
        self._text = result.text
        return result

    def _take_screen(self, new: _Prepared, fingerprint: str) -> Elements:
        seal = fingerprint + digest_of_typed_text(new.features.screen)
        alive = self._refs_that_live_on(new.matching, seal)
        # A ref for every element; enters the new ones into `alive`. What is remembered may be in use:
        # the element that had the ref there lives on elsewhere.
        taken = set(alive.values())
        for element in new.elements:
            order = element.node.order
            if order not in alive and element.wrapper is not None and element.wrapper.order in alive:
                alive[order] = alive.pop(element.wrapper.order)  # another of its nodes stood for it before
            if order not in alive:
                ref = self._recall.find(seal, new.features, element.node)
                alive[order] = ref if ref is not None and ref not in taken else self._mint(element.kind)
        # The element that each ref means now: one that is shown, or one that is out of sight. A ref is
        # stale while its element is in sight but cannot be acted on, as the selected tab.
        shown = {element.node.order for element in new.elements}
        orders = {ref: order for order, ref in alive.items() if order in shown}
        if len(orders) < len(alive):
            nodes, in_sight = new.features.nodes, visible(new.features.screen)
            orders |= {
                ref: order
                for order, ref in alive.items()
                if order not in shown and not in_sight[order] and is_actionable(nodes[order])
            }
        self._remember_gone({order: ref for ref, order in self._orders.items() if ref not in orders})
        self._before = (self._features.nodes if self._features else [], self._live)
        self._features, self._live, self._orders = new.features, alive, orders
        self._elements_before, self._elements_now, self._labels = self._elements_now, new.elements, new.labels
        self._elements = {element.node: element for element in new.elements}
        self._fingerprint, self._seal = fingerprint, seal
        return new.elements

    def _refs_that_live_on(self, matching: Matching | None, seal: str) -> dict[int, str]:
        """The refs of the last screen by their nodes' new order."""
        if self._features is None or matching is None:
            return {}
        if seal != self._seal:
            self._recall.keep(self._seal, self._features, self._live)
        self._matching = matching
        to_new = matching.to_new
        return {to_new[order]: ref for order, ref in self._live.items() if to_new[order] >= 0}

    def _mint(self, kind: str) -> str:
        number = self._counters[kind] = self._counters.get(kind, 0) + 1
        return f"@{kind}{number}"

    def _remember_gone(self, refs: Mapping[int, str]) -> None:
        for order, ref in refs.items():
            if self._features is not None:
                node = self._features.nodes[order]
                self._buried[ref] = cut(self.label_of(node) or name_of(node), _LABEL)
        while len(self._buried) > _REMEMBERED:
            del self._buried[next(iter(self._buried))]

    @property
    def refs(self) -> dict[str, Node]:
        """Every live ref, also of elements that are covered or out of sight."""
        nodes = self._features.nodes if self._features else []
        return {ref: nodes[order] for ref, order in self._orders.items()}

    def resolve(self, ref: str) -> Node:
        """The element behind `@b1` or `el_…`. Raises `StaleReference`, also for a ref that never was."""
        order = self._orders.get(self._short_ref(ref))
        if order is None or self._features is None:
            raise self.stale(ref)
        return self._features.nodes[order]

    def ref_of(self, node: Node) -> str | None:
        """The ref of an element of the last two screens (a diff names both); None for other nodes."""
        now = self._features.nodes if self._features else []
        for nodes, refs in ((now, self._live), self._before):
            if node.order < len(nodes) and nodes[node.order] is node:
                return refs.get(node.order)
        return None

    def element_id_of(self, ref: str) -> str:
        """The session-stable `el_…` behind a ref: as old and as stable."""
        return self._prefix + ref.removeprefix("@")

    def element_of(self, node: Node) -> Element | None:
        return self._elements.get(node)

    def label_of(self, node: Node) -> str:
        element = self._elements.get(node)
        return element.label if element else ""

    def _short_ref(self, ref: str) -> str:
        if ref.startswith("el_"):
            return "@" + ref.removeprefix(self._prefix) if ref.startswith(self._prefix) else ref
        return ref

    def stale(self, ref: str) -> StaleReference:
        """An error that names what the ref was and the closest elements now."""
        short = self._short_ref(ref)
        if self._features is None:
            return StaleReference(
                f"{ref} is stale: no screen was read yet", ref=ref, selector={"ref": ref}, candidates=[]
            )
        if not self._was_issued(short):
            return StaleReference(
                f"{ref} is unknown: no element of this session ever had it",
                hint="Call get_ui_tree and use the refs it shows.",
                ref=ref,
                selector={"ref": ref},
                candidates=[],
            )
        label = self._buried.get(short, "")
        close = nearest_nodes(self._features.screen, label, self)
        was = f", it was {quoted(label)}" if label else ""
        return StaleReference(
            f"{ref} is stale: its element is gone{was}",
            hint=f"{near} {StaleReference.hint}" if (near := did_you_mean(close, self)) else None,
            ref=ref,
            selector={"ref": ref},
            candidates=candidate_list(close, self),
        )

    def _was_issued(self, ref: str) -> bool:
        number = ref[2:]
        return number.isdecimal() and 0 < int(number) <= self._counters.get(ref[1:2], 0)

    def dump(self) -> dict[str, Any]:
        """Everything a later process needs to go on, as JSON; typed text and passwords are not in it."""
        return {
            "format": _FORMAT,
            "prefix": self._prefix,
            "counters": dict(self._counters),
            "gone": dict(self._buried),
            "fingerprint": self._fingerprint,
            "seal": self._seal,
            "screen": pack_screen(self._features.screen, self._features.label) if self._features else None,
            "live": sorted(self._live.items()),
            "recall": self._recall.dump(),
        }

    @classmethod
    def load(cls, state: Mapping[str, Any]) -> Registry:
        """A registry that goes on where the dumped one stopped. Raises `ValueError` on foreign data."""
        registry = cls()
        try:
            if state["format"] != _FORMAT:
                raise ValueError(f"stored refs have format {state['format']}, not {_FORMAT}")
            registry._prefix = str(state["prefix"])
            registry._counters = {str(kind): int(number) for kind, number in state["counters"].items()}
            registry._buried = {str(ref): str(label) for ref, label in state["gone"].items()}
            registry._fingerprint = str(state["fingerprint"])
            registry._seal = str(state["seal"])
            registry._recall.load(state["recall"])
            if state["screen"] is not None:
                registry._features = ScreenFeatures(unpack_screen(state["screen"]))
                registry._live = {int(order): str(ref) for order, ref in state["live"]}
                nodes = registry._features.nodes
                registry._orders = {ref: at for at, ref in registry._live.items() if is_actionable(nodes[at])}
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not stored refs: {error!r}") from None
        return registry

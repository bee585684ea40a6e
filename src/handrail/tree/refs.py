"""The session's refs: `@b1` belongs to an element and stays with it while it lives; numbers are never reused.

So an old ref either means the same element or is stale; it never means another one. Knows no device.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from handrail.errors import StaleReference
from handrail.tree.compact import CompactOptions, CompactResult, render
from handrail.tree.element.find import elements as elements_of
from handrail.tree.element.parts import Element, Elements
from handrail.tree.fingerprint import screen_fingerprint
from handrail.tree.match.matching import Matching, match
from handrail.tree.match.sketch import Sketch, acts
from handrail.tree.mention import name_of
from handrail.tree.node import Node, Screen
from handrail.tree.quote import cut, quoted
from handrail.tree.recall import Recall, pack_screen, typed_digest, unpack_screen
from handrail.tree.select.missed import candidates, did_you_mean, nearest_nodes
from handrail.tree.windows import visible

_REMEMBERED = 2_000  # gone elements whose name a message can still tell
_LABEL = 60  # characters of it
_FORMAT = 2
_DEFAULTS = CompactOptions()
_NO_LABELS: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class _Prepared:
    """What the next screen is, and who on it is who: found without changing anything."""

    base: Sketch | None
    labels: Mapping[str, str]
    sketch: Sketch
    found: Elements
    matching: Matching | None


class Registry:
    """AgenTest's RefRegistry with identity. `session` is part of every element id, to tell sessions apart."""

    def __init__(self, session: str = "") -> None:
        self._prefix = f"el_{session}_" if session else "el_"
        self._counters: dict[str, int] = {}
        self._gone: dict[str, str] = {}  # ref -> label
        self._recall = Recall()
        self._forget_screen()

    def _forget_screen(self) -> None:
        self._sketch: Sketch | None = None
        self._live: dict[int, str] = {}  # order -> ref, also of what is covered or rests at the moment
        self._orders: dict[str, int] = {}  # ref -> order, of what can be acted on
        self._elements: dict[Node, Element] = {}
        self._fingerprint = self._text = self._seal = ""
        self._found: Elements | None = None
        self._found_before: Elements | None = None
        self._labels = _NO_LABELS
        self._matching: Matching | None = None
        self._prepared: _Prepared | None = None
        self._before: tuple[list[Node], dict[int, str]] = ([], {})

    @property
    def fingerprint(self) -> str:
        """Of the last screen; '' before the first."""
        return self._fingerprint

    @property
    def text(self) -> str:
        """The compact text of the last rebuild."""
        return self._text

    @property
    def size(self) -> int:
        """How many elements the screen has."""
        return len(self._elements)

    @property
    def screen(self) -> Screen | None:
        """The last screen."""
        return self._sketch.screen if self._sketch else None

    @property
    def matching(self) -> Matching | None:
        """Of the last two screens."""
        return self._matching

    @property
    def elements(self) -> tuple[Elements, Elements] | None:
        """Of the two screens of `matching`; None where one of them was not read here."""
        before, now = self._found_before, self._found
        return None if before is None or now is None else (before, now)

    def clear(self) -> None:
        """Forgets all elements; the counters go on."""
        self._bury({order: ref for ref, order in self._orders.items()})
        self._recall.clear()
        self._forget_screen()

    def prepare(self, screen: Screen, labels: Mapping[str, str] = _NO_LABELS) -> None:
        """Do the costly part of the next `rebuild` now; changes nothing, and is in vain for other screens."""
        self._prepared = self._prepare(screen, labels)

    def _prepare(self, screen: Screen, labels: Mapping[str, str]) -> _Prepared:
        made, base = self._prepared, self._sketch
        if made is not None and made.sketch.screen is screen and made.labels == labels and made.base is base:
            return made
        sketch = Sketch(screen)
        matching = match(base, sketch) if base is not None else None
        return _Prepared(base, labels, sketch, elements_of(screen, labels), matching)

    def rebuild(self, screen: Screen, options: CompactOptions = _DEFAULTS) -> CompactResult:
        """Takes the next screen: elements that are still there keep their refs, new ones get new numbers."""
        fingerprint = options.fingerprint or screen_fingerprint(screen)
        found = self._found if screen is self.screen and options.external_labels == self._labels else None
        if found is None:
            found = self._take(self._prepare(screen, options.external_labels), fingerprint)
        refs = [self._live[element.node.order] for element in found]
        result = render(screen, found, refs, replace(options, fingerprint=fingerprint))
        self._text = result.text
        return result

    def _take(self, new: _Prepared, fingerprint: str) -> Elements:
        seal = fingerprint + typed_digest(new.sketch.screen)
        alive = self._follow(new.matching, seal)
        self._assign(new.found, new.sketch, seal, alive)
        orders = _meant(new, alive)
        self._bury({order: ref for ref, order in self._orders.items() if ref not in orders})
        self._before = (self._sketch.nodes if self._sketch else [], self._live)
        self._sketch, self._live, self._orders = new.sketch, alive, orders
        self._found_before, self._found, self._labels = self._found, new.found, new.labels
        self._elements = {element.node: element for element in new.found}
        self._fingerprint, self._seal = fingerprint, seal
        return new.found

    def _follow(self, matching: Matching | None, seal: str) -> dict[int, str]:
        """The refs of the last screen by their nodes' new order."""
        if self._sketch is None or matching is None:
            return {}
        if seal != self._seal:
            self._recall.keep(self._seal, self._sketch, self._live)
        self._matching = matching
        to_new = matching.to_new
        return {to_new[order]: ref for order, ref in self._live.items() if to_new[order] >= 0}

    def _assign(self, found: Sequence[Element], sketch: Sketch, seal: str, alive: dict[int, str]) -> None:
        """A ref for every element; enters the new ones into `alive`.

        What is remembered may be in use: the element that had the ref there lives on elsewhere.
        """
        taken = set(alive.values())
        for element in found:
            order = element.node.order
            if order not in alive and element.wrapper is not None and element.wrapper.order in alive:
                alive[order] = alive.pop(element.wrapper.order)  # another of its nodes stood for it before
            if order not in alive:
                ref = self._recall.find(seal, sketch, element.node)
                alive[order] = ref if ref is not None and ref not in taken else self._mint(element.kind)

    def _mint(self, kind: str) -> str:
        number = self._counters[kind] = self._counters.get(kind, 0) + 1
        return f"@{kind}{number}"

    def _bury(self, refs: Mapping[int, str]) -> None:
        for order, ref in refs.items():
            if self._sketch is not None:
                node = self._sketch.nodes[order]
                self._gone[ref] = cut(self.label_of(node) or name_of(node), _LABEL)
        while len(self._gone) > _REMEMBERED:
            del self._gone[next(iter(self._gone))]

    @property
    def refs(self) -> dict[str, Node]:
        """Every ref that means something now, also of elements that are covered or out of sight."""
        nodes = self._sketch.nodes if self._sketch else []
        return {ref: nodes[order] for ref, order in self._orders.items()}

    def resolve(self, ref: str) -> Node:
        """The element behind `@b1` or `el_…`. Raises `StaleReference`, also for a ref that never was."""
        order = self._orders.get(self._short(ref))
        if order is None or self._sketch is None:
            raise self.stale(ref)
        return self._sketch.nodes[order]

    def ref_of(self, node: Node) -> str | None:
        """The ref of an element of the last two screens (a diff names both); None for other nodes."""
        now = self._sketch.nodes if self._sketch else []
        for nodes, refs in ((now, self._live), self._before):
            if node.order < len(nodes) and nodes[node.order] is node:
                return refs.get(node.order)
        return None

    def element_id_of(self, ref: str) -> str:
        """The session-stable `el_…` behind a ref: as old and as stable."""
        return self._prefix + ref.removeprefix("@")

    def element_of(self, node: Node) -> Element | None:
        """The element as it is shown: kind, label, states."""
        return self._elements.get(node)

    def label_of(self, node: Node) -> str:
        """The label an element is shown with; '' for other nodes."""
        element = self._elements.get(node)
        return element.label if element else ""

    def _short(self, ref: str) -> str:
        if ref.startswith("el_"):
            return "@" + ref.removeprefix(self._prefix) if ref.startswith(self._prefix) else ref
        return ref

    def stale(self, ref: str) -> StaleReference:
        """The failure that names what the ref was and what comes nearest now."""
        short = self._short(ref)
        if self._sketch is None:
            return StaleReference(
                f"{ref} is stale: no screen was read yet", ref=ref, selector={"ref": ref}, candidates=[]
            )
        if not self._was_given(short):
            return StaleReference(
                f"{ref} is unknown: no element of this session ever had it",
                hint="Call get_ui_tree and use the refs it shows.",
                ref=ref,
                selector={"ref": ref},
                candidates=[],
            )
        label = self._gone.get(short, "")
        close = nearest_nodes(self._sketch.screen, label, self)
        was = f", it was {quoted(label)}" if label else ""
        return StaleReference(
            f"{ref} is stale: its element is gone{was}",
            hint=f"{near} {StaleReference.hint}" if (near := did_you_mean(close, self)) else None,
            ref=ref,
            selector={"ref": ref},
            candidates=candidates(close, self),
        )

    def _was_given(self, ref: str) -> bool:
        number = ref[2:]
        return number.isdecimal() and 0 < int(number) <= self._counters.get(ref[1:2], 0)

    def dump(self) -> dict[str, Any]:
        """Everything a later process needs to go on, as JSON; typed text and passwords are not in it."""
        return {
            "format": _FORMAT,
            "prefix": self._prefix,
            "counters": dict(self._counters),
            "gone": dict(self._gone),
            "fingerprint": self._fingerprint,
            "seal": self._seal,
            "screen": pack_screen(self._sketch.screen) if self._sketch else None,
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
            registry._gone = {str(ref): str(label) for ref, label in state["gone"].items()}
            registry._fingerprint = str(state["fingerprint"])
            registry._seal = str(state["seal"])
            registry._recall.load(state["recall"])
            if state["screen"] is not None:
                registry._sketch = Sketch(unpack_screen(state["screen"]))
                registry._live = {int(order): str(ref) for order, ref in state["live"]}
                nodes = registry._sketch.nodes
                registry._orders = {ref: at for at, ref in registry._live.items() if acts(nodes[at])}
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not stored refs: {error!r}") from None
        return registry


def _meant(new: _Prepared, alive: Mapping[int, str]) -> dict[str, int]:
    """What each ref means now: an element that is shown, or one that is out of sight.

    A ref rests, and is stale, while its element is in sight and can't be acted on, as the chosen tab.
    """
    shown = {element.node.order for element in new.found}
    orders = {ref: order for order, ref in alive.items() if order in shown}
    if len(orders) < len(alive):
        nodes, seen = new.sketch.nodes, visible(new.sketch.screen)
        orders |= {
            ref: order
            for order, ref in alive.items()
            if order not in shown and not seen[order] and acts(nodes[order])
        }
    return orders

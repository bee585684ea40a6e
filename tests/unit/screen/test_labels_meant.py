"""The name that is printed beside a ref means that element, over real dumps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

from handrail.errors import AmbiguousTarget, HandrailError
from handrail.protocol.target import Selector
from handrail.screen.elements import elements
from handrail.screen.node import Element, Screen
from handrail.screen.parse import parse
from handrail.screen.refs import Registry
from handrail.screen.select import find
from tests.corpus import CORPUS, needs_corpus

pytestmark = needs_corpus


def screens() -> Iterator[tuple[str, Screen, Registry, list[Element]]]:
    for folder in ("uiautomator", "pairs", "second", "third"):
        for file in sorted((CORPUS or Path()).joinpath(folder).rglob("*.xml")):
            try:
                screen = parse(file.read_bytes())
            except HandrailError:
                continue  # other tests are about files that are no screen
            registry = Registry()
            registry.rebuild(screen)
            shown = [element for element in elements(screen) if registry.ref_of(element.node)]
            yield file.name, screen, registry, [element for element in shown if element.label]


def aims_at(element: Element, screen: Screen, registry: Registry) -> bool | None:
    """Whether its printed name leads to it; None where it is refused as ambiguous."""
    try:
        touched = find(screen, Selector(text=element.label), registry).receiver
    except AmbiguousTarget:
        return None
    return touched is element.node or touched.is_inside(element.node) or element.node.is_inside(touched)


def test_a_printed_name_never_leads_to_something_else() -> None:
    tried, elsewhere, ambiguous = 0, [], []
    for name, screen, registry, named in screens():
        counted = Counter(element.label for element in named)
        for element in named:
            tried += 1
            leads = aims_at(element, screen, registry)
            if leads is False:
                elsewhere.append((name, element.label))
            if leads is None and counted[element.label] == 1:
                ambiguous.append((name, element.label))
    assert tried >= 4_000
    assert not elsewhere
    assert len(ambiguous) <= tried / 100


def test_of_two_elements_with_one_name_none_is_taken_silently() -> None:
    tried, silent = 0, []
    for name, screen, _, named in screens():
        counted = Counter(element.label for element in named)
        texts = [
            element
            for element in named
            if element.node.enabled
            and element.node.text == element.label
            and counted[element.label] == 1
            and element.kind != "f"
        ]
        apart = (
            (first, other)
            for first, other in combinations(texts, 2)
            if not first.node.is_inside(other.node) and not other.node.is_inside(first.node)
        )
        pair = next(apart, None)
        if pair is None:
            continue
        first, other = pair
        other.node.text = first.label
        screen.memo.clear()
        registry = Registry()
        registry.rebuild(screen)
        tried += 1
        is_printed_twice = registry.label_of(first.node) == registry.label_of(other.node) == first.label
        if is_printed_twice and aims_at(first, screen, registry) is not None:
            silent.append((name, first.label))
    assert tried >= 120
    assert not silent

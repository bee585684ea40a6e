"""The costly part of a rebuild, done ahead: the result is the same, and nothing shows before it is wanted."""

from __future__ import annotations

from random import Random

import pytest

from handrail.screen import refs
from handrail.screen.compact import CompactOptions
from handrail.screen.match import Matching, match
from handrail.screen.match.features import ScreenFeatures
from handrail.screen.node import Screen
from handrail.screen.refs import Registry
from tests.unit.screen.drawn import node, row, screen


def shuffled(seed: int) -> list[Screen]:
    """A list whose rows come, go and change places."""
    random = Random(seed)
    names = [f"Row {number}" for number in range(8)]
    drawn = []
    for _ in range(6):
        shown = random.sample(names, random.randint(2, 8))
        rows = [node("Button", box=row(n), text=name, flags="clickable") for n, name in enumerate(shown)]
        drawn.append(screen(*rows))
    return drawn


def test_a_prepared_rebuild_gives_what_an_unprepared_one_gives() -> None:
    for seed in range(20):
        plain, ahead = Registry(), Registry()
        for drawn in shuffled(seed):
            ahead.prepare_rebuild(drawn)
            assert ahead.rebuild(drawn).text == plain.rebuild(drawn).text
            assert ahead.refs.keys() == plain.refs.keys()


def test_what_was_prepared_and_not_taken_leaves_no_trace() -> None:
    one, two, three = shuffled(1)[:3]
    plain, wavering = Registry(), Registry()
    for registry in (plain, wavering):
        registry.rebuild(one)
    text = wavering.text
    wavering.prepare_rebuild(two)
    assert wavering.text == text
    assert wavering.screen is one
    assert wavering.rebuild(three).text == plain.rebuild(three).text


def test_what_was_prepared_before_another_screen_was_taken_is_not_used() -> None:
    one, two, three = shuffled(2)[:3]
    plain, late = Registry(), Registry()
    plain.rebuild(one)
    late.prepare_rebuild(three)
    late.rebuild(one)
    late.prepare_rebuild(three)
    for registry in (plain, late):
        registry.rebuild(two)
        registry.rebuild(three)
    assert late.text == plain.text
    assert late.refs.keys() == plain.refs.keys()


def test_the_same_screen_again_is_only_written_anew() -> None:
    one, two = shuffled(3)[:2]
    registry = Registry()
    registry.rebuild(one)
    registry.rebuild(two)
    matching, elements = registry.matching, registry.elements
    assert matching is not None
    assert (matching.old, matching.new) == (one, two)
    assert registry.rebuild(two, CompactOptions(max_lines=2)).truncated
    assert registry.matching is matching
    assert registry.elements == elements


def test_elements_are_known_for_two_screens_that_were_read_here() -> None:
    one, two = shuffled(4)[:2]
    registry = Registry()
    registry.rebuild(one)
    assert registry.elements is None
    registry.rebuild(two)
    assert registry.elements is not None
    assert Registry.load(registry.dump()).elements is None


@pytest.fixture
def matched(monkeypatch: pytest.MonkeyPatch) -> list[Screen]:
    """The screens that were compared with the one before them, which is the costly part."""
    screens: list[Screen] = []

    def noted(old: ScreenFeatures, new: ScreenFeatures) -> Matching:
        screens.append(new.screen)
        return match(old, new)

    monkeypatch.setattr(refs, "match", noted)
    return screens


def test_what_was_prepared_is_not_made_again(matched: list[Screen]) -> None:
    one, two = shuffled(5)[:2]
    registry = Registry()
    registry.rebuild(one)
    registry.prepare_rebuild(two)
    registry.prepare_rebuild(two)
    assert matched == [two]
    registry.rebuild(two)
    assert matched == [two]


def test_what_was_prepared_for_another_screen_before_it_is_made_again(matched: list[Screen]) -> None:
    one, two, three = shuffled(6)[:3]
    registry = Registry()
    registry.rebuild(one)
    registry.prepare_rebuild(three)
    registry.rebuild(two)
    registry.rebuild(three)
    assert matched == [three, two, three]


def test_what_was_prepared_with_other_labels_is_made_again() -> None:
    one, two = (screen(node("ImageButton", box=row(0), flags="clickable")) for _ in range(2))
    registry = Registry()
    registry.rebuild(one)
    registry.prepare_rebuild(two, {"0.0": "Old name"})
    text = registry.rebuild(two, CompactOptions(external_labels={"0.0": "New name"})).text
    assert "New name" in text
    assert registry.label_of(registry.resolve("@b1")) == "New name"


def test_the_same_screen_with_other_labels_is_named_anew() -> None:
    one = screen(node("ImageButton", box=row(0), flags="clickable"))
    registry = Registry()
    registry.rebuild(one)
    assert "New name" in registry.rebuild(one, CompactOptions(external_labels={"0.0": "New name"})).text
    element = registry.element_of(registry.resolve("@b1"))
    assert element is not None
    assert element.label == "New name"

"""What a caller is told of a ref whose element is gone, and for how long."""

from __future__ import annotations

import pytest

from handrail.screen.node import Screen
from handrail.screen.refs import Registry
from tests.unit.screen.drawn import node, row, screen
from tests.unit.screen.test_refs import TITLE, button, buttons, shown


def told(registry: Registry, ref: str) -> str:
    return registry.stale(ref).message


def test_the_newest_ref_is_stale_when_its_element_is_gone() -> None:
    registry = Registry()
    shown(registry, buttons("Send", "Save"))
    shown(registry, buttons("Send"))
    assert told(registry, "@b2").startswith('@b2 is stale: its element is gone, it was "Save"')


def test_where_nothing_comes_near_only_the_name_is_told() -> None:
    registry = Registry()
    shown(registry, buttons("Send"))
    shown(registry, screen())
    assert told(registry, "@b1") == '@b1 is stale: its element is gone, it was "Send"'


def test_a_nameless_element_is_gone_without_a_name() -> None:
    registry = Registry()
    registry.rebuild(screen(TITLE, node("ImageButton", box=row(0), flags="clickable")))
    shown(registry, screen(TITLE))
    assert told(registry, "@b1") == "@b1 is stale: its element is gone"


def test_a_row_is_told_by_all_its_words() -> None:
    words = [node("TextView", text="Letter", box=row(0)), node("TextView", text="unread", box=row(1))]
    registry = Registry()
    registry.rebuild(screen(TITLE, node("LinearLayout", *words, box=(0, 200, 1080, 500), flags="clickable")))
    shown(registry, screen(TITLE))
    assert 'it was "Letter · unread"' in told(registry, "@i1")


def test_what_was_covered_when_it_went_is_still_told_by_name() -> None:
    scrim = node("FrameLayout", button("Yes", 9), flags="clickable")
    registry = Registry()
    shown(registry, buttons("Send"))
    registry.rebuild(screen(TITLE, button("Send", 0), scrim))
    shown(registry, screen(TITLE))
    assert 'it was "Send"' in told(registry, "@b1")


def test_a_long_name_is_told_in_sixty_characters() -> None:
    registry = Registry()
    shown(registry, buttons("long " * 30))
    shown(registry, screen())
    assert told(registry, "@b1").endswith(f'it was "{("long " * 12).strip()}…+90"')


def test_after_a_clear_the_names_are_still_told() -> None:
    registry = Registry()
    shown(registry, buttons("Send"))
    registry.clear()
    shown(registry, screen(TITLE))
    assert 'it was "Send"' in told(registry, "@b1")


def with_gone(count: int) -> Registry:
    """A registry that remembers so many names, and has one more element."""
    registry = Registry()
    shown(registry, buttons("Send"))
    state = registry.dump()
    state["counters"]["g"] = count
    state["gone"] = {f"@g{number}": f"Tile {number}" for number in range(1, count + 1)}
    return Registry.load(state)


def test_two_thousand_names_are_remembered_and_the_oldest_is_forgotten_first() -> None:
    some, many = with_gone(1_999), with_gone(2_000)
    for registry in (some, many):
        shown(registry, screen(TITLE))
    assert 'it was "Tile 1"' in told(some, "@g1")
    assert told(many, "@g1") == "@g1 is stale: its element is gone"
    assert 'it was "Tile 2"' in told(many, "@g2")


def test_a_node_of_no_screen_has_no_ref_and_no_label() -> None:
    registry = Registry()
    shown(registry, buttons("Send"))
    larger: Screen = buttons("Send", "Save")
    foreign = larger.nodes[-1]
    assert foreign.order == len(registry.resolve("@b1").parent.children) + 1  # type: ignore[union-attr]
    assert registry.ref_of(foreign) is None
    assert registry.label_of(foreign) == ""
    assert registry.element_of(foreign) is None


@pytest.mark.parametrize("kind", ["b", "f"])
def test_each_kind_counts_for_itself(kind: str) -> None:
    registry = Registry()
    shown(registry, buttons("Send"))
    assert ("unknown" in told(registry, f"@{kind}2")) is True
    assert ("unknown" in told(registry, f"@{kind}1")) is (kind == "f")

"""What is stored for a later process, and what of it is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from handrail.screen.node import Screen
from handrail.screen.parse import parse
from handrail.screen.refs import Registry, pack_screen, unpack_screen
from tests.cases import each
from tests.unit.screen.drawn import node, row, windows
from tests.unit.screen.test_refs import TITLE, button, buttons, letters, shown

SAME = ("id", "order", "end", "class_name", "resource_id", "package_name", "bounds", "flags", "role")


def stored(registry: Registry) -> Registry:
    """The registry of a later process."""
    return Registry.load(json.loads(json.dumps(registry.dump())))


def drawn() -> Screen:
    group = node("LinearLayout", button("Send", 0), button("Save", 1, resource_id="a:id/save"), box=row(0))
    field = node("EditText", text="typed", hint="Your name", box=row(2), flags="clickable")
    tall = windows(node("FrameLayout", TITLE, group, field, box=(0, 0, 1080, 2400)))
    return parse(tall.replace('rotation="0"', 'rotation="1"'))


def test_a_stored_screen_is_the_same_tree() -> None:
    before = drawn()
    after = unpack_screen(json.loads(json.dumps(pack_screen(before))))
    for name in ("width", "height", "package", "rotation", "bounds"):
        assert getattr(after, name) == getattr(before, name), name
    assert after.root is after.nodes[0]
    assert after.rotation == 1
    for one, other in zip(before.nodes, after.nodes, strict=True):
        for name in SAME:
            assert getattr(one, name) == getattr(other, name), name
        assert other.index == other.position
        assert [child.order for child in one.children] == [child.order for child in other.children]


def test_a_stored_screen_has_the_labels_and_not_what_was_typed() -> None:
    labels = {
        one.short_class: (one.text, one.description) for one in unpack_screen(pack_screen(drawn())).nodes
    }
    assert labels == {
        "FrameLayout": ("", ""),
        "TextView": ("Letters", ""),
        "LinearLayout": ("", ""),
        "Button": ("Save", ""),
        "EditText": ("", "Your name"),
    }


def damaged(**changes: Any) -> dict[str, Any]:
    return {**pack_screen(drawn()), **changes}


@each(
    "packed",
    [
        {},
        damaged(nodes=[]),
        damaged(nodes=[[0]]),
        damaged(strings=[]),
        damaged(size=[1]),
        damaged(size=None),
        damaged(nodes=[*pack_screen(drawn())["nodes"][:2], [2, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1]]),
        damaged(nodes=[*pack_screen(drawn())["nodes"][:2], [-1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1]]),
    ],
    ids=["nothing", "no nodes", "no row", "no strings", "one size", "no size", "own parent", "no parent"],
)
def test_a_damaged_screen_is_refused_by_name(packed: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="not a stored screen"):
        unpack_screen(packed)


def test_a_later_format_is_refused_though_it_looks_like_this_one() -> None:
    state = Registry().dump()
    assert Registry.load(state).dump() == state
    assert state["format"] == 2
    with pytest.raises(ValueError, match="format 3, not 2"):
        Registry.load({**state, "format": 3})


def test_a_later_process_knows_the_screen_before_it_looks() -> None:
    first = Registry("k7")
    shown(first, buttons("Send", "Save"))
    later = stored(first)
    assert later.fingerprint == first.fingerprint
    assert later.resolve("@b2").text == "Save"
    assert later.dump() == first.dump()


def test_the_screen_that_an_earlier_process_left_comes_back() -> None:
    first = Registry()
    before = shown(first, letters(0))
    later = stored(first)
    shown(later, letters(4))
    assert shown(later, letters(0)) == before


def test_a_registry_that_never_saw_a_screen_can_be_stored() -> None:
    later = stored(Registry("k7"))
    assert later.screen is None
    assert list(shown(later, buttons("Send"))) == ["@b1"]
    assert later.element_id_of("@b1") == "el_k7_b1"

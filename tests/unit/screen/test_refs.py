"""What a ref promises."""

from __future__ import annotations

import json

import pytest

from handrail.errors import StaleReference
from handrail.screen.compact import CompactOptions
from handrail.screen.node import Screen
from handrail.screen.refs import Registry
from tests.cases import each
from tests.unit.screen.drawn import Box, node, row, screen

TITLE = node("TextView", text="Letters", box=(0, 0, 1080, 100))


def button(text: str, place: int, **more: str) -> str:
    return node("Button", text=text, box=row(place), flags="clickable", **more)


def buttons(*words: str) -> Screen:
    return screen(TITLE, *[button(word, place) for place, word in enumerate(words)])


def shown(registry: Registry, drawn: Screen) -> dict[str, str]:
    """Ref to text, as the screen is after a rebuild."""
    return {ref: one.text for ref, one in registry.rebuild(drawn).ref_map.items()}


def test_the_first_screen_is_numbered_by_kind() -> None:
    drawn = screen(TITLE, button("Send", 0), node("EditText", box=row(1)), button("Save", 2))
    assert list(Registry().rebuild(drawn).ref_map) == ["@b1", "@f1", "@b2"]


def test_an_insertion_renumbers_nobody() -> None:
    registry = Registry()
    shown(registry, buttons("Send", "Save", "Print"))
    assert shown(registry, buttons("New", "Send", "Save", "Print")) == {
        "@b4": "New", "@b1": "Send", "@b2": "Save", "@b3": "Print",
    }  # fmt: skip


def test_numbers_are_never_used_again() -> None:
    registry = Registry()
    shown(registry, buttons("Send", "Save", "Print"))
    shown(registry, buttons("Send", "Save"))
    assert shown(registry, buttons("Send", "Save", "Copy"))["@b4"] == "Copy"


def test_a_gone_element_is_stale_and_the_nearest_are_named() -> None:
    registry = Registry()
    shown(registry, buttons("Send now", "Save", "Print"))
    shown(registry, buttons("Save", "Print", "Send later"))
    with pytest.raises(StaleReference) as failure:
        registry.resolve("@b1")
    assert failure.value.code == "STALE_REFERENCE"
    assert 'it was "Send now"' in failure.value.message
    assert failure.value.details["candidates"][0]["label"] == "Send later"
    assert failure.value.details["candidates"][0]["ref"] == "@b4"


def test_a_ref_that_was_never_given_is_stale_too_and_says_so() -> None:
    registry = Registry()
    shown(registry, buttons("Send"))
    for ref in ("@b9", "@x1", "el_b9", "el_other_b1", "@b0"):
        with pytest.raises(StaleReference, match="unknown"):
            registry.resolve(ref)


def test_without_a_screen_every_ref_is_stale() -> None:
    with pytest.raises(StaleReference, match="no screen"):
        Registry().resolve("@b1")


def test_an_element_id_is_as_good_as_the_ref() -> None:
    registry = Registry("k7")
    shown(registry, buttons("Send", "Save"))
    assert registry.element_id_of("@b2") == "el_k7_b2"
    assert registry.resolve("el_k7_b2") is registry.resolve("@b2")


def test_element_ids_of_another_session_mean_nothing_here() -> None:
    registry = Registry("k7")
    shown(registry, buttons("Send", "Save"))
    with pytest.raises(StaleReference):
        registry.resolve("el_k8_b2")


def test_a_ref_keeps_its_letter_when_the_kind_changes() -> None:
    registry = Registry()
    plain = node("android.view.View", text="Night mode", box=row(1), flags="clickable")
    registry.rebuild(screen(TITLE, button("Send", 0), plain, button("Save", 2)))
    ref = registry.ref_of(registry.resolve("@b2"))
    checked = node("android.view.View", text="Night mode", box=row(1), flags="clickable checkable checked")
    result = registry.rebuild(screen(TITLE, button("Send", 0), checked, button("Save", 2)))
    assert ref == "@b2"
    assert result.ref_map["@b2"].text == "Night mode"


def test_ref_of_knows_the_elements_of_the_last_two_screens() -> None:
    registry = Registry()
    first, second, third = buttons("Send"), buttons("Send"), buttons("Send")
    registry.rebuild(first)
    registry.rebuild(second)
    assert [registry.ref_of(drawn.nodes[-1]) for drawn in (first, second, third)] == ["@b1", "@b1", None]
    assert registry.ref_of(second.root) is None


def test_clear_forgets_elements_and_keeps_counting() -> None:
    registry = Registry()
    shown(registry, buttons("Send", "Save"))
    registry.clear()
    assert (registry.size, registry.text, registry.fingerprint) == (0, "", "")
    with pytest.raises(StaleReference):
        registry.resolve("@b1")
    assert list(shown(registry, buttons("Send", "Save"))) == ["@b3", "@b4"]


def test_text_fingerprint_and_size_are_of_the_last_screen() -> None:
    registry = Registry()
    result = registry.rebuild(buttons("Send", "Save"))
    assert (registry.text, registry.fingerprint, registry.size) == (result.text, result.fingerprint, 2)


def test_cut_lines_still_have_refs() -> None:
    registry = Registry()
    result = registry.rebuild(buttons(*[f"Button {n}" for n in range(14)]), CompactOptions(max_lines=5))
    assert result.truncated
    assert registry.resolve("@b14").text == "Button 13"


FRAME: Box = (0, 200, 1080, 1200)


def letters(first: int) -> Screen:
    """A list of which five rows are seen; `first` is the one at the top."""
    rows = [
        node("TextView", text=f"Letter {first + place}", flags="clickable",
             box=(0, 200 + 200 * place, 1080, 400 + 200 * place))
        for place in range(5)
    ]  # fmt: skip
    return screen(TITLE, node("ListView", *rows, box=FRAME, flags="scrollable"))


def test_rows_that_scroll_out_and_back_to_the_same_screen_get_their_refs_back() -> None:
    registry = Registry()
    before = shown(registry, letters(0))
    shown(registry, letters(3))
    with pytest.raises(StaleReference):
        registry.resolve("@i1")
    assert shown(registry, letters(0)) == before


def test_rows_that_come_back_on_another_screen_are_new() -> None:
    registry = Registry()
    shown(registry, letters(0))
    shown(registry, letters(4))
    again = shown(registry, letters(1))
    assert "Letter 1" in again.values()
    assert not {"@i1", "@i2"} & set(again)


def test_going_back_brings_back_the_refs() -> None:
    registry = Registry()
    before = shown(registry, buttons("Send", "Save", "Print"))
    about = screen(node("TextView", text="About", box=(0, 0, 1080, 100)), button("Licences", 3))
    shown(registry, about)
    assert shown(registry, buttons("Send", "Save", "Print")) == before


def test_the_same_form_with_other_contents_is_another_form() -> None:
    def form(name: str) -> Screen:
        return screen(TITLE, node("EditText", text=name, box=row(0), flags="clickable"), button("Save", 1))

    registry = Registry()
    shown(registry, form("Ada"))
    shown(registry, screen(node("TextView", text="People", box=row(5)), button("Bob", 6), button("Eve", 7)))
    assert "@b1" not in shown(registry, form("Bob"))


def test_what_is_covered_keeps_its_ref() -> None:
    registry = Registry()
    registry.rebuild(buttons("Send", "Save", "Print"))
    scrim = node(
        "FrameLayout", node("TextView", text="Sure?", box=row(8)), button("Yes", 9), flags="clickable"
    )
    covered = screen(
        TITLE, *[button(word, place) for place, word in enumerate(("Send", "Save", "Print"))], scrim
    )
    assert "@b1" not in registry.rebuild(covered).ref_map
    assert registry.resolve("@b1").text == "Send"
    assert shown(registry, buttons("Send", "Save", "Print"))["@b1"] == "Send"


def test_a_later_process_goes_on_with_the_same_refs() -> None:
    first = Registry("k7")
    shown(first, buttons("Send", "Save", "Print"))
    shown(first, buttons("Send", "Save"))
    later = Registry.load(json.loads(json.dumps(first.dump())))
    assert shown(later, buttons("New", "Send", "Save")) == {"@b4": "New", "@b1": "Send", "@b2": "Save"}
    assert later.element_id_of("@b1") == "el_k7_b1"
    with pytest.raises(StaleReference, match='it was "Print"'):
        later.resolve("@b3")


def test_a_later_process_remembers_earlier_screens() -> None:
    first = Registry()
    before = shown(first, letters(0))
    shown(first, letters(3))
    later = Registry.load(json.loads(json.dumps(first.dump())))
    assert shown(later, letters(0)) == before


def test_what_was_typed_is_not_stored() -> None:
    registry = Registry()
    fields = [
        node("EditText", text="my secret diary", box=row(0), flags="clickable"),
        node("EditText", text="hunter2", box=row(1), flags="clickable password"),
    ]
    registry.rebuild(screen(TITLE, *fields))
    registry.rebuild(buttons("Send"))
    stored = json.dumps(registry.dump())
    assert "diary" not in stored
    assert "hunter2" not in stored


@each("state", [{}, {"format": 2}, {"format": 1, "counters": 3}, {"format": 1, "prefix": "el_"}])
def test_foreign_data_is_refused(state: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="stored refs"):
        Registry.load(state)


def test_a_damaged_screen_is_refused() -> None:
    registry = Registry()
    registry.rebuild(buttons("Send"))
    state = registry.dump()
    state["screen"]["nodes"][1][0] = 7
    with pytest.raises(ValueError, match="stored screen"):
        Registry.load(state)

"""Words that outlive a screen: selectors that find the element again, identities, landmarks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from handrail.screen.node import Node, Screen, receiver
from handrail.screen.parse import parse
from handrail.screen.refs import Registry
from handrail.screen.robust_selector import identity, landmark, robust_selector
from handrail.screen.select import find
from tests.corpus import CORPUS, needs_corpus
from tests.unit.screen.drawn import node, row, screen, windows


def drawn(shown: Screen) -> Registry:
    registry = Registry()
    registry.rebuild(shown)
    return registry


def selector_of(shown: Screen, text: str = "", tail: str = "", description: str = "") -> dict[str, Any]:
    """What would be written into a flow for the node with this text, id or description."""
    wanted = next(
        one
        for one in shown.nodes
        if (text and one.text == text)
        or (tail and one.id_tail == tail)
        or (description and one.description == description)
    )
    return robust_selector(shown, wanted, drawn(shown)).model_dump(exclude_none=True)


def button(text: str, number: int = 0, **more: str) -> str:
    return node("Button", text=text, box=row(number), flags="clickable", **more)


def settings_row(number: int, title: str, *more: str, tail: str = "item") -> str:
    texts = node("TextView", text=title, resource_id="android:id/title", box=row(number, right=500))
    return node(
        "LinearLayout",
        texts,
        *more,
        box=row(number),
        flags="clickable",
        resource_id=f"com.example.app:id/{tail}",
    )


class TestRobust:
    def test_a_readable_id_that_nobody_else_has_comes_first(self) -> None:
        shown = screen(button("Save", resource_id="com.example.app:id/save"), button("Cancel", 1))
        assert selector_of(shown, text="Save") == {"id": "save"}

    def test_an_id_that_a_shrinker_made_is_no_name(self) -> None:
        shown = screen(button("Save", resource_id="com.example.app:id/a1"), button("Cancel", 1))
        assert selector_of(shown, text="Save") == {"text": "Save"}

    def test_an_id_with_a_generated_number_is_no_name(self) -> None:
        shown = screen(button("Save", resource_id="com.example.app:id/view_20931"))
        assert selector_of(shown, text="Save") == {"text": "Save"}

    def test_a_row_of_a_list_is_called_by_its_text_even_if_its_id_is_unique_today(self) -> None:
        rows = node("ListView", settings_row(0, "Bluetooth"), box=(0, 200, 1080, 2000), flags="scrollable")
        assert selector_of(screen(rows), text="Bluetooth") == {"text": "Bluetooth"}

    def test_an_icon_is_called_by_its_description(self) -> None:
        shown = screen(node("ImageButton", content_desc="Search", box=row(0), flags="clickable"))
        assert selector_of(shown, description="Search") == {"description": "Search"}

    def test_what_a_field_holds_does_not_name_it(self) -> None:
        shown = screen(
            node("EditText", text="Ada", hint="First name", box=row(0), flags="clickable"),
            node("EditText", text="Marrow", hint="Last name", box=row(1), flags="clickable"),
        )
        assert selector_of(shown, text="Ada") == {"hint": "First name"}

    def test_a_password_is_never_part_of_a_selector(self) -> None:
        shown = screen(node("EditText", text="hunter2", box=row(0), flags="clickable password"))
        secret = shown.nodes[-1]
        assert "hunter2" not in str(robust_selector(shown, secret, drawn(shown)))
        assert "hunter2" not in str(identity(shown, secret, drawn(shown)))

    def test_a_time_is_no_name(self) -> None:
        shown = screen(
            node("TextView", text="12:45", box=row(0), flags="clickable"),
            node("TextView", text="Alarm", box=row(1)),
        )
        assert "12:45" not in str(selector_of(shown, text="12:45"))

    def test_a_number_names_a_key_of_a_keypad_and_nothing_else(self) -> None:
        shown = screen(button("7"), node("TextView", text="42", box=row(1), flags="clickable"))
        assert selector_of(shown, text="7") == {"text": "7"}
        assert "42" not in str(selector_of(shown, text="42"))

    def test_a_name_without_a_count_is_better_than_one_with(self) -> None:
        inside = (
            node("TextView", text="3 new", box=row(0, right=300)),
            node("TextView", text="Inbox", box=row(0, left=300)),
        )
        shown = screen(node("LinearLayout", *inside, box=row(0), flags="clickable"))
        assert robust_selector(shown, shown.nodes[1], drawn(shown)).text == "Inbox"

    def test_the_switch_of_a_row_is_found_by_the_rows_words(self) -> None:
        def with_switch(number: int, title: str) -> str:
            switch = node("Switch", box=row(number, left=800), flags="clickable checkable")
            return node(
                "FrameLayout",
                node("TextView", text=title, box=row(number, right=500)),
                switch,
                box=row(number),
            )

        shown = screen(with_switch(0, "Wi-Fi"), with_switch(1, "Bluetooth"))
        second = [one for one in shown.nodes if one.role == "switch"][1]
        chosen = robust_selector(shown, second, drawn(shown))
        assert "index" not in chosen.model_dump(exclude_none=True)
        assert find(shown, chosen, drawn(shown)).node is second

    def test_one_of_several_delete_buttons_is_placed_by_its_row(self) -> None:
        rows = [
            settings_row(at, name, node("Button", text="Delete", box=row(at, left=800), flags="clickable"))
            for at, name in enumerate(("Ada", "Bob", "Cleo"))
        ]
        shown = screen(node("ListView", *rows, box=(0, 200, 1080, 2000), flags="scrollable"))
        third = [one for one in shown.nodes if one.text == "Delete"][2]
        chosen = robust_selector(shown, third, drawn(shown)).model_dump(exclude_none=True)
        assert chosen == {"text": "Delete", "within": {"text": "Cleo"}}

    def test_nameless_things_are_counted_inside_the_nearest_named_one(self) -> None:
        dots = [
            node("android.view.View", box=row(0, left=100 * n, right=100 * n + 90), flags="clickable")
            for n in range(4)
        ]
        bar = node("LinearLayout", *dots, resource_id="com.example.app:id/rating", box=row(0))
        shown = screen(bar)
        third = [one for one in shown.nodes if one.clickable][2]
        chosen = robust_selector(shown, third, drawn(shown))
        assert chosen.model_dump(exclude_none=True)["within"] == {"id": "rating"}
        assert find(shown, chosen, drawn(shown)).node is third

    def test_a_text_that_a_file_would_read_as_a_ref_or_a_variable_is_not_used(self) -> None:
        shown = screen(button("@b1"), button("${NAME}", 1))
        for one in [one for one in shown.nodes if one.clickable]:
            assert "text" not in robust_selector(shown, one, drawn(shown)).model_dump(exclude_none=True)

    def test_a_selector_never_has_coordinates(self) -> None:
        shown = screen(*(node("android.view.View", box=row(n), flags="clickable") for n in range(5)))
        for one in [one for one in shown.nodes if one.clickable]:
            chosen = robust_selector(shown, one, drawn(shown))
            assert find(shown, chosen, drawn(shown)).node is one


@needs_corpus
@pytest.mark.parametrize("folder", ["uiautomator", "pairs"])
def test_on_real_screens_every_element_gets_a_selector_that_means_it(folder: str) -> None:
    total = by_number = 0
    for file in sorted((CORPUS or Path()).joinpath(folder).glob("*.xml")):
        shown = parse(file.read_bytes())
        registry = drawn(shown)
        for ref, element in registry.refs.items():
            chosen = robust_selector(shown, element, registry)
            found = find(shown, chosen, registry).node
            assert _is_meant(found, element), f"{file.name} {ref} {chosen}"
            total += 1
            by_number += chosen.index is not None
    assert total > 500
    assert by_number < total * 0.15


def _is_meant(found: Node, element: Node) -> bool:
    return found is element or receiver(found) is element


class TestIdentity:
    def test_it_says_what_where_and_beside_what(self) -> None:
        shown = screen(
            node("TextView", text="New contact", box=row(0)),
            button("Save", 1, resource_id="com.example.app:id/save"),
            button("Cancel", 2),
        )
        save = next(one for one in shown.nodes if one.text == "Save")
        assert identity(shown, save) == {
            "package": "com.example.app",
            "class": "Button",
            "role": "button",
            "id": "save",
            "text": "Save",
            "path": "0.1",
            "bounds": list(row(1)),
            "screen": [1080, 2400],
            "neighbours": ["New contact", "Cancel"],
        }

    def test_a_field_is_known_by_its_hint_and_not_by_what_it_holds(self) -> None:
        shown = screen(node("EditText", text="Ada", hint="First name", box=row(0), flags="clickable"))
        known = identity(shown, shown.nodes[-1])
        assert known["text"] == "First name"
        assert "Ada" not in str(known)

    def test_the_rows_of_a_list_are_neighbours_only_for_want_of_others(self) -> None:
        rows = node(
            "ListView",
            *(settings_row(n, f"Person {'abcdefgh'[n]}") for n in range(8)),
            box=(0, 200, 1080, 1600),
        )
        shown = screen(node("TextView", text="People", box=(0, 1900, 1080, 2000)), button("Add", 9), rows)
        add = next(one for one in shown.nodes if one.text == "Add")
        assert identity(shown, add)["neighbours"][0] == "People"


class TestLandmark:
    before = screen(node("TextView", text="Contacts", box=(0, 0, 500, 150)), button("Create", 5))

    def test_a_title_that_was_not_there_before(self) -> None:
        after = screen(button("Save", 6), node("TextView", text="New contact", box=(0, 0, 500, 150)))
        assert landmark(self.before, after) == {"text": "New contact"}

    def test_words_that_a_field_held_before_are_new_as_a_title(self) -> None:
        before = screen(node("EditText", text="Ada Lovelace", box=row(3), flags="clickable"))
        after = screen(node("TextView", text="Ada Lovelace", box=(0, 0, 500, 150)))
        assert landmark(before, after) == {"text": "Ada Lovelace"}

    def test_a_switch_that_changed_is_no_landmark(self) -> None:
        off = screen(node("Switch", text="Wi-Fi", box=row(3), flags="clickable checkable"))
        on = screen(node("Switch", text="Wi-Fi", box=row(3), flags="clickable checkable checked"))
        assert landmark(off, on) is None

    def test_rows_of_a_list_and_texts_that_count_are_no_landmarks(self) -> None:
        rows = node("ListView", settings_row(0, "Ada"), box=(0, 200, 1080, 1600))
        after = screen(node("TextView", text="12 people", box=(0, 0, 500, 150)), rows)
        assert landmark(self.before, after) is None

    def test_what_goes_away_by_itself_is_no_landmark(self) -> None:
        words = node("TextView", text="Saved", resource_id="com.example.app:id/snackbar_text", box=row(12))
        assert (
            landmark(self.before, screen(node("TextView", text="Contacts", box=(0, 0, 500, 150)), words))
            is None
        )

    def test_plain_words_at_the_bottom_are_no_landmark(self) -> None:
        saved = node("TextView", text="Saved", box=(0, 2200, 1080, 2300))
        title = node("TextView", text="Contacts", box=(0, 0, 500, 150))
        assert landmark(self.before, screen(title, saved)) is None

    def test_a_screen_without_words_is_known_by_an_id(self) -> None:
        after = screen(node("ImageView", resource_id="com.example.app:id/photo", box=row(2)))
        assert landmark(self.before, after) == {"id": "photo"}

    def test_keys_of_a_keyboard_are_no_landmarks(self) -> None:
        app = node("FrameLayout", node("TextView", text="Contacts", box=(0, 0, 500, 150)))
        key = node(
            "Button",
            text="Shift",
            box=(0, 1700, 200, 1900),
            flags="clickable",
            package="com.android.inputmethod.latin",
        )
        board = node("FrameLayout", key, box=(0, 1600, 1080, 2400), package="com.android.inputmethod.latin")
        assert landmark(parse(windows(app)), parse(windows(app, board))) is None

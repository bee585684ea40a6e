"""From a selector to one element."""

from __future__ import annotations

from typing import Any

import pytest

from handrail.errors import AmbiguousTarget, ElementNotFound, ElementNotInteractable, StaleReference
from handrail.protocol.target import Point, Selector
from handrail.screen.node import Bounds, Screen
from handrail.screen.refs import Registry
from handrail.screen.select import (
    FoundElement,
    distance,
    edit_distance,
    find,
    find_all,
    is_related,
    nearest_labels,
)
from tests.cases import each
from tests.unit.screen.drawn import Box, node, row, screen


def button(text: str, place: int = 0, flags: str = "clickable", **more: str) -> str:
    return node("Button", text=text, box=row(place), flags=flags, **more)


def text(words: str, box: Box, **more: str) -> str:
    return node("TextView", text=words, box=box, **more)


def found(drawn: Screen, **fields: Any) -> FoundElement:
    return find(drawn, Selector(**fields))


SEND = button("Send", 0, resource_id="com.example.app:id/send_button", content_desc="Send the letter")
SAVE = button("Save", 1, resource_id="com.example.app:id/save_button")
FIELD = node("EditText", text="Ada", hint="First name", box=row(2), flags="clickable")
VOLUME = node("SeekBar", content_desc="Volume", state_description="Loud", box=row(3))


@each(
    "fields",
    [
        {"text": "Send"},
        {"text_contains": "Sen"},
        {"id": "send_button"},
        {"id": "com.example.app:id/send_button"},
        {"id_contains": "send"},
        {"description": "Send the letter"},
        {"class_name": "Button", "text": "Send"},
        {"class_name": "android.widget.Button", "text": "Send"},
        {"role": "button", "text": "Send"},
    ],
)
def test_every_field_finds_by_what_it_says(fields: dict[str, str]) -> None:
    result = found(screen(SEND, SAVE, FIELD, VOLUME), **fields)
    assert result.node.text == "Send"
    assert (result.how, result.notes) == ("exact", [])


@each(
    ("fields", "role"),
    [({"hint": "First name"}, "text_field"), ({"state": "Loud"}, "slider"), ({"role": "slider"}, "slider")],
)
def test_hint_state_and_role_find_too(fields: dict[str, str], role: str) -> None:
    assert found(screen(SEND, SAVE, FIELD, VOLUME), **fields).node.role == role


@each(
    "fields", [{"id": "send"}, {"text": "Sen"}, {"class_name": "Butt"}, {"text": "Send", "id": "save_button"}]
)
def test_all_fields_must_match_and_exact_ones_exactly(fields: dict[str, str]) -> None:
    with pytest.raises(ElementNotFound):
        found(screen(SEND, SAVE, FIELD, VOLUME), **fields)


def test_a_label_is_found_that_is_not_the_text() -> None:
    result = found(
        screen(node("ImageButton", content_desc="Search", box=row(0), flags="clickable")), text="Search"
    )
    assert result.how == "label"
    assert result.notes


def test_text_is_compared_as_people_see_it() -> None:
    assert found(screen(button("Send\n  now")), text="Send now").how == "exact"


def test_case_is_ignored_only_if_nothing_else_matches_and_it_is_said() -> None:
    result = found(screen(button("SEND", 0), button("Save", 1)), text="send")
    assert result.how == "ignoring_case"
    assert "ignoring case" in result.notes[0]
    assert found(screen(button("SEND", 0), button("send", 1)), text="send").node.bounds.top == row(1)[1]
    for fields in (
        {"text_contains": "SEN"},
        {"text_contains": "THE LETTER"},
        {"description": "THE LETTER"},
        {"class_name": "bUTTON", "text": "Send"},
        {"class_name": "android.widget.bUTTON", "text": "Send"},
    ):
        assert found(screen(SEND, SAVE), **fields).how == "ignoring_case"


def test_a_part_of_the_description_is_enough_and_it_is_said() -> None:
    result = found(screen(SEND, SAVE), description="the letter")
    assert (result.node.text, result.how) == ("Send", "part")


def test_a_password_is_not_found_by_its_text() -> None:
    drawn = screen(node("EditText", text="hunter2", box=row(0), flags="clickable password"))
    with pytest.raises(ElementNotFound):
        found(drawn, text="hunter2")


def test_two_equally_good_elements_are_ambiguous_and_listed_with_their_refs() -> None:
    drawn = screen(button("Edit", 0), button("Edit", 1), button("Save", 2))
    registry = Registry()
    registry.rebuild(drawn)
    with pytest.raises(AmbiguousTarget) as failure:
        find(drawn, Selector(text="Edit"), registry)
    assert [(one["ref"], one["index"]) for one in failure.value.details["candidates"]] == [
        ("@b1", 0),
        ("@b2", 1),
    ]
    assert failure.value.message == '2 elements match "Edit" equally well'


def test_a_text_without_a_ref_is_listed_with_that_of_its_row() -> None:
    rows = [
        node("LinearLayout", text("Edit", row(at)), text(title, row(at)), box=row(at), flags="clickable")
        for at, title in enumerate(("Ada", "Bob"))
    ]
    drawn, registry = registered(*rows)
    with pytest.raises(AmbiguousTarget) as failure:
        find(drawn, Selector(text="Edit"), registry)
    assert [one["ref"] for one in failure.value.details["candidates"]] == ["@i1", "@i2"]


def test_index_chooses_in_document_order() -> None:
    drawn = screen(button("Edit", 3), button("Edit", 1))
    assert found(drawn, text="Edit", index=1).node.bounds.top == row(1)[1]


@each(
    ("matching", "says", "hint"),
    [
        (2, "Only 2 elements match, there is no index 12", "Use an index from 0 to 1."),
        (1, "Only one element matches, there is no index 12", "Leave `index` out."),
    ],
)
def test_an_index_beyond_the_last_match_says_how_many_there_are(matching: int, says: str, hint: str) -> None:
    with pytest.raises(ElementNotFound, match=says) as failure:
        found(screen(*[button("Edit", place) for place in range(matching)]), text="Edit", index=12)
    assert failure.value.hint == hint


def test_of_many_matches_eight_are_listed_and_the_others_counted() -> None:
    drawn = screen(*[button("Edit", place) for place in range(10)])
    with pytest.raises(AmbiguousTarget, match="10 elements match") as ambiguity:
        found(drawn, text="Edit")
    assert [one["index"] for one in ambiguity.value.details["candidates"]] == list(range(8))
    with pytest.raises(ElementNotFound, match="and 2 more") as failure:
        found(drawn, text="Edit", index=12)
    assert len(failure.value.details["candidates"]) == 8


def test_a_visible_enabled_element_is_better_than_a_hidden_or_disabled_one() -> None:
    off = button("Edit", 30)
    disabled = button("Edit", 1, flags="clickable disabled")
    in_disabled = node("LinearLayout", text("Edit", row(3)), box=row(3), flags="clickable disabled")
    drawn = screen(off, disabled, in_disabled, button("Edit", 2))
    assert found(drawn, text="Edit").node.bounds.top == row(2)[1]


def test_a_button_is_better_than_a_heading_that_says_the_same() -> None:
    drawn = screen(text("Settings", row(0)), button("Settings", 1))
    assert found(drawn, text="Settings").node.role == "button"


def test_a_row_and_the_text_in_it_are_one_target() -> None:
    inner = text("Letter", (100, 220, 400, 320))
    drawn = screen(node("LinearLayout", inner, box=row(0), flags="clickable", content_desc="Letter"))
    result = find(drawn, Selector(text_contains="Letter"))
    assert result.receiver.clickable
    assert result.node.text == "Letter"


def test_a_text_in_a_row_is_tapped_at_the_text() -> None:
    inner = text("Letter", (100, 220, 400, 320))
    drawn = screen(
        node("LinearLayout", inner, text("Today", (800, 220, 1000, 320)), box=row(0), flags="clickable")
    )
    result = found(drawn, text="Letter")
    assert result.point == (250, 270)
    assert result.receiver is result.node.parent


def test_what_was_found_may_still_not_be_touched() -> None:
    with pytest.raises(ElementNotInteractable):
        _ = found(screen(button("Send", flags="clickable disabled")), text="Send").point


def test_nothing_found_names_those_that_are_alike_and_no_others() -> None:
    drawn = screen(
        *[button(word, place) for place, word in enumerate(("Save", "Send all", "Print", "Sent", "Exit"))]
    )
    registry = Registry()
    registry.rebuild(drawn)
    with pytest.raises(ElementNotFound) as failure:
        find(drawn, Selector(text="Send"), registry)
    assert {one["label"] for one in failure.value.details["candidates"]} == {"Send all", "Sent"}
    assert failure.value.details["selector"] == {"text": "Send"}
    assert failure.value.message == 'No element matches "Send"'
    assert failure.value.hint == 'Did you mean @b2 Button "Send all" or @b4 Button "Sent"?'


def test_nothing_like_it_still_answers() -> None:
    with pytest.raises(ElementNotFound) as failure:
        found(screen(SEND), role="slider")
    assert failure.value.details["candidates"] == []


def test_a_row_and_the_text_in_it_are_one_candidate_and_what_is_hidden_is_none() -> None:
    inner = text("Letters", (100, 220, 400, 320))
    drawn = screen(
        node("LinearLayout", inner, box=row(0), flags="clickable", content_desc="Letters"),
        button("Lettres", 1, visible_to_user="false"),
    )
    with pytest.raises(ElementNotFound) as failure:
        found(drawn, text="Leters")
    assert [one["class"] for one in failure.value.details["candidates"]] == ["LinearLayout"]


@each(
    ("wanted", "labels", "alike"),
    [
        ("Display", ["Storage", "Dispaly", "DISPLAY"], ["DISPLAY", "Dispaly"]),
        ("Save", ["Save as", "Don't save", "Saved", "Save all", "Exit"], ["Saved", "Save as", "Save all"]),
        ("file open", ["Open file", "Fill", "Open"], ["Open file", "Open"]),
        ("a", ["ab", "b"], []),
        ("to be", ["to do"], []),
        ("set time", ["set timer", "set place"], ["set timer", "set place"]),
        ("***", ["Send", "..."], []),
        ("x" * 60 + "a" * 60, ["x" * 60 + "b" * 60], ["x" * 60 + "b" * 60]),
    ],
)
def test_labels_alike_are_up_to_three_best_first(wanted: str, labels: list[str], alike: list[str]) -> None:
    keys = nearest_labels(wanted, [(label, at) for at, label in enumerate(labels)])
    assert [labels[key] for key in keys] == alike


@each(
    ("first", "other", "limit", "slips"),
    [
        ("display", "display", 2, 0),
        ("display", "dispaly", 2, 1),
        ("display", "idsplay", 2, 1),
        ("display", "dsplay", 2, 1),
        ("ab", "xab", 2, 1),
        ("ab", "ba", 2, 1),
        ("kitten", "sitting", 3, 3),
        ("kitten", "sitting", 1, 7),
        ("kitten", "kit", 2, 6),
        ("aaa", "a", 2, 2),
        ("", "ab", 2, 2),
    ],
)
def test_slips_are_counted_up_to_a_limit(first: str, other: str, limit: int, slips: int) -> None:
    assert edit_distance(first, other, limit) == edit_distance(other, first, limit) == slips


PAIR = (
    text("Phone", (0, 200, 300, 350)),
    node("EditText", box=(300, 200, 1080, 350), flags="clickable"),
    text("Mail", (0, 350, 300, 500)),
    node("EditText", box=(300, 350, 1080, 500), flags="clickable"),
    button("Save", 5),
)


@each(
    ("relation", "anchor", "wanted", "top"),
    [
        ("right_of", "Mail", {"role": "text_field"}, 350),
        ("right_of", "Phone", {"role": "text_field"}, 200),
        ("near", "Mail", {"role": "text_field"}, 350),
        ("below", "Phone", {"class_name": "TextView"}, 350),
        ("above", "Mail", {"class_name": "TextView"}, 200),
        ("above", "Save", {"role": "text_field"}, 350),
    ],
)
def test_relations_choose_the_nearest_that_stands_so(
    relation: str, anchor: str, wanted: dict[str, str], top: int
) -> None:
    assert found(screen(*PAIR), **wanted, **{relation: {"text": anchor}}).node.bounds.top == top


def test_left_of_needs_a_common_row() -> None:
    field_of_mail = {"role": "text_field", "index": 1}
    assert found(screen(*PAIR), class_name="TextView", left_of=field_of_mail).node.text == "Mail"


ANCHOR = (400, 1000, 600, 1200)


@each(
    ("relation", "box", "holds"),
    [
        ("left_of", (200, 1000, 402, 1200), True),
        ("left_of", (200, 1000, 403, 1200), False),
        ("left_of", (200, 800, 400, 1000), False),
        ("left_of", (200, 801, 400, 1001), True),
        ("left_of", (200, 1200, 400, 1400), False),
        ("left_of", (200, 1199, 400, 1400), True),
        ("right_of", (598, 1000, 800, 1200), True),
        ("right_of", (597, 1000, 800, 1200), False),
        ("right_of", (600, 800, 800, 1000), False),
        ("above", (400, 800, 600, 1002), True),
        ("above", (400, 800, 600, 1003), False),
        ("above", (200, 800, 400, 1000), False),
        ("above", (200, 800, 401, 1000), True),
        ("above", (600, 800, 800, 1000), False),
        ("above", (599, 800, 800, 1000), True),
        ("below", (400, 1198, 600, 1400), True),
        ("below", (400, 1197, 600, 1400), False),
        ("below", (200, 1200, 400, 1400), False),
        ("near", (0, 0, 10, 10), True),
        ("near", (0, 0, 0, 0), True),
    ],
)
def test_a_relation_holds_with_two_pixels_of_slack_and_a_common_line(
    relation: str, box: Box, holds: bool
) -> None:
    drawn = screen(text("anchor", ANCHOR), text("box", box))
    assert is_related(drawn.nodes[2], relation, drawn.nodes[1]) is holds


def test_what_has_no_size_or_is_inside_is_not_near() -> None:
    outer = node("LinearLayout", text("inner", ANCHOR), text("gone", (0, 0, 0, 0)), box=ANCHOR)
    drawn = screen(outer, text("nothing", (0, 0, 0, 0)))
    _, around, inner, gone, nothing = drawn.nodes
    assert not any(is_related(*pair) for pair in ((around, "near", inner), (inner, "near", around)))
    assert not is_related(around, "near", around)
    assert not is_related(gone, "near", nothing)
    assert is_related(inner, "near", nothing)
    assert is_related(nothing, "near", inner)


@each(
    ("other", "pixels"),
    [
        ((0, 0, 10, 10), (0, 0)),
        ((5, 5, 15, 15), (0, 10)),
        ((30, 0, 40, 10), (20, 30)),
        ((0, 30, 10, 40), (20, 30)),
        ((30, 40, 40, 50), (50, 70)),
    ],
)
def test_the_distance_is_that_of_the_edges_then_of_the_centres(other: Box, pixels: tuple[int, int]) -> None:
    box = Bounds(0, 0, 10, 10)
    assert distance(box, Bounds(*other)) == distance(Bounds(*other), box) == pixels


def test_within_a_leaf_is_within_its_row_even_if_that_takes_no_touch() -> None:
    def card(title: str, place: int) -> str:
        above, below = (text(words, (0, row(place)[1], 400, row(place)[3])) for words in (title, "Open"))
        return node("FrameLayout", node("FrameLayout", above, box=row(place)), below, box=row(place))

    drawn = screen(node("ListView", card("first", 0), card("second", 1), box=(0, 200, 1080, 600)))
    assert found(drawn, text="Open", within={"text": "second"}).node.bounds.top == row(1)[1]


def test_within_looks_only_inside() -> None:
    def card(title: str, place: int) -> str:
        inner = node("Button", text="Open", box=(500, *row(place)[1:]), flags="clickable")
        return node(
            "LinearLayout",
            text(title, (0, row(place)[1], 400, row(place)[3])),
            inner,
            box=row(place),
            resource_id=title,
        )

    drawn = screen(card("first", 0), card("second", 1))
    assert found(drawn, text="Open", within={"id": "second"}).node.bounds.top == row(1)[1]
    assert found(drawn, text="Open", within={"text": "second"}).node.bounds.top == row(1)[1]


def test_an_ambiguous_anchor_is_ambiguous() -> None:
    with pytest.raises(AmbiguousTarget):
        found(
            screen(button("Edit", 0), button("Edit", 1), button("Save", 2)),
            text="Save",
            below={"text": "Edit"},
        )


def test_a_ref_decides_alone() -> None:
    drawn = screen(SEND, SAVE)
    registry = Registry()
    registry.rebuild(drawn)
    result = find(drawn, Selector(ref="@b2", text="Send"), registry)
    assert (result.node.text, result.how) == ("Save", "ref")
    with pytest.raises(StaleReference):
        find(drawn, Selector(ref="@b9", text="Send"), registry)


def test_an_element_id_decides_alone() -> None:
    drawn = screen(SEND, SAVE)
    registry = Registry()
    registry.rebuild(drawn)
    assert find(drawn, Selector(element_id="el_b1"), registry).node.text == "Send"


def test_the_label_an_agent_reads_is_found() -> None:
    inner = (text("Letter", (0, 200, 500, 350)), text("Today", (500, 200, 900, 350)))
    drawn = screen(node("LinearLayout", *inner, box=row(0), flags="clickable"), SAVE)
    registry = Registry()
    registry.rebuild(drawn)
    result = find(drawn, Selector(text="Letter · Today"), registry)
    assert (registry.ref_of(result.node), result.how) == ("@i1", "label")


def test_the_caption_of_a_field_means_the_field() -> None:
    caption = text("Street", (0, 200, 500, 260))
    drawn = screen(caption, node("EditText", box=(0, 260, 1080, 350), flags="clickable"), SAVE)
    registry = Registry()
    registry.rebuild(drawn)
    assert registry.label_of(drawn.nodes[2]) == "Street"
    result = find(drawn, Selector(text="Street"), registry)
    assert (result.node.role, result.how) == ("text_field", "label")


def test_a_caption_in_a_row_that_takes_touches_is_the_row() -> None:
    inner = (
        text("Sound", (0, 200, 500, 350)),
        node("Switch", box=(900, 200, 1080, 350), flags="clickable checkable"),
    )
    drawn = screen(node("LinearLayout", *inner, box=row(0), flags="clickable"), SAVE)
    registry = Registry()
    registry.rebuild(drawn)
    assert find(drawn, Selector(text="Sound"), registry).receiver.short_class == "LinearLayout"


def test_a_point_is_the_element_under_it_and_stays_the_point() -> None:
    drawn = screen(SEND, SAVE)
    result = find(drawn, Point(x=20, y=210))
    assert (result.node.text, result.how, result.point) == ("Send", "point", (20, 210))
    assert find_all(drawn, Point(x=20, y=210)) == [result.node]
    assert find_all(drawn, Point(x=5000, y=10)) == []


def test_a_point_outside_everything_is_not_found() -> None:
    with pytest.raises(ElementNotFound, match="1080x2400"):
        find(screen(SEND), Point(x=5000, y=10))


def test_find_all_lists_every_equally_good_match() -> None:
    drawn = screen(button("Edit", 0), button("EDIT", 1), button("Edit", 2))
    assert [one.bounds.top for one in find_all(drawn, Selector(text="Edit"))] == [row(0)[1], row(2)[1]]
    assert find_all(drawn, Selector(text="Nothing")) == []


def test_selectors_nested_deeper_than_eight_are_refused() -> None:
    selector: dict[str, Any] = {"text": "Send"}
    for depth in range(8):
        selector = {"text": "Send" if depth % 2 else "Save", "near": selector}
    assert found(screen(SEND, SAVE), **selector).node.text == "Send"
    with pytest.raises(ElementNotFound, match="nested"):
        found(screen(SEND, SAVE), text="Save", near=selector)


def test_keys_of_the_keyboard_are_no_candidates() -> None:
    key = node(
        "android.view.View", text="Edits", box=(0, 1700, 100, 1800), package="com.example.inputmethod.latin"
    )
    drawn = screen(node("Button", text="Edit", box=(0, 0, 200, 100), flags="clickable"), key)
    with pytest.raises(ElementNotFound) as failure:
        find(drawn, Selector(text="ed"))
    assert [one["label"] for one in failure.value.details["candidates"]] == ["Edit"]


def test_a_search_bar_and_the_field_in_it_are_no_riddle() -> None:
    field = node("EditText", hint="Search", box=(100, 210, 500, 340), flags="clickable")
    bar = node(
        "androidx.appcompat.widget.Toolbar", field, content_desc="Search", box=row(0), flags="clickable"
    )
    assert find(screen(bar), Selector(text="Search")).node.role == "text_field"
    other = node("Button", content_desc="Search", box=row(3), flags="clickable")
    with pytest.raises(AmbiguousTarget):
        find(screen(bar, other), Selector(text="Search"))


def swatches(caption: str, top: int, count: int = 4) -> list[str]:
    cells = [
        node("View", box=(100 * n, top + 100, 100 * n + 90, top + 190), flags="clickable")
        for n in range(count)
    ]
    return [text(caption, (0, top, 400, top + 80)), *cells]


def registered(*drawn: str) -> tuple[Screen, Registry]:
    shown, registry = screen(*drawn), Registry()
    registry.rebuild(shown)
    return shown, registry


def test_a_guessed_name_finds_by_its_mark_alone() -> None:
    shown, registry = registered(*swatches("Color", 0))
    match = find(shown, Selector(text="~Color 3"), registry)
    assert (match.node.bounds.left, match.how) == (200, "guess")
    assert match.notes == ["matched a guessed name: the app names nothing so"]
    assert registry.label_of(match.node) == ""
    assert find(shown, Selector(text="~Color 3", class_name="View"), registry).node is match.node
    for words in (
        {"text": "Color 3"},
        {"text_contains": "Color 3"},
        {"text": "~color 3"},
        {"text": "~Color 3", "class_name": "Button"},
    ):
        with pytest.raises(ElementNotFound):
            find(shown, Selector(**words), registry)


def test_a_told_name_wins_over_an_equal_guess() -> None:
    shown, registry = registered(*swatches("Color", 0), button("~Color 3", 9))
    assert find(shown, Selector(text="~Color 3"), registry).node.text == "~Color 3"


def test_two_equal_guesses_are_ambiguous() -> None:
    shown, registry = registered(*swatches("Color", 0), *swatches("Color", 400))
    with pytest.raises(AmbiguousTarget):
        find(shown, Selector(text="~Color 3"), registry)

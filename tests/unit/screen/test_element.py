"""What gets a ref, and which letter."""

from handrail.screen.elements import elements, fresh_refs
from handrail.screen.node import Element
from tests.cases import each
from tests.unit.screen.drawn import body, node, row, screen


def only(*nodes: str) -> Element:
    found = elements(screen(*nodes))
    assert len(found) == 1, [(one.kind, one.label) for one in found]
    return found[0]


def text(words: str, number: int = 0, **more: str) -> str:
    return node("TextView", text=words, box=row(number), **more)


@each(
    ("kind", "flags", "letter"),
    [
        ("Button", "clickable", "b"),
        ("ImageButton", "clickable", "b"),
        ("com.google.android.material.button.MaterialButton", "clickable", "b"),
        ("androidx.appcompat.widget.AppCompatButton", "clickable", "b"),
        ("EditText", "clickable focusable", "f"),
        ("com.google.android.material.textfield.TextInputEditText", "clickable", "f"),
        ("AutoCompleteTextView", "clickable", "f"),
        ("CheckBox", "clickable checkable", "c"),
        ("androidx.appcompat.widget.SwitchCompat", "clickable checkable", "c"),
        ("RadioButton", "clickable checkable", "c"),
        ("android.view.View", "clickable checkable", "c"),
        ("SeekBar", "", "v"),
        ("androidx.appcompat.widget.AppCompatSeekBar", "focusable", "v"),
        ("TextView", "clickable", "l"),
        ("ScrollView", "scrollable", "s"),
        ("androidx.recyclerview.widget.RecyclerView", "scrollable", "s"),
        ("android.view.View", "clickable", "b"),
        ("ImageView", "clickable", "b"),
        ("FrameLayout", "long-clickable", "g"),
    ],
)
def test_the_letter_says_what_an_element_is(kind: str, flags: str, letter: str) -> None:
    assert only(node(kind, content_desc="Thing", box=row(0), flags=flags)).kind == letter


def test_a_scrollable_text_field_is_a_field() -> None:
    notes = node("EditText", text="many lines", box=row(0), flags="clickable scrollable")
    assert only(notes).kind == "f"


def test_a_slider_that_can_only_be_adjusted_is_not_lost() -> None:
    assert body(screen(node("SeekBar", content_desc="Volume", text="40.0", box=row(0)))) == [
        '@v1 "Volume" 40'
    ]


def test_a_slider_whose_text_is_no_amount_is_called_by_it() -> None:
    assert body(screen(node("SeekBar", text="Brightness", box=row(0)))) == ["@v1 Brightness"]


def test_a_named_row_that_also_slides_can_be_tapped() -> None:
    assert (
        only(
            node("android.view.View", content_desc="notes.txt", box=row(0), flags="clickable scrollable")
        ).kind
        == "b"
    )


def test_a_list_that_reports_clicks_is_still_a_scroll_container() -> None:
    assert only(node("ListView", box=row(0), flags="clickable scrollable")).kind == "s"


def test_a_row_of_a_list_is_an_item() -> None:
    item = node("LinearLayout", text("Mobile"), box=row(0), flags="clickable")
    rows = node("ListView", item, box=(0, 200, 1080, 2000), flags="scrollable")
    assert [one.kind for one in elements(screen(rows))] == ["s", "i"]


def test_a_tappable_box_with_two_texts_is_a_row() -> None:
    card = node("FrameLayout", text("Title"), text("Subtitle"), box=row(0), flags="clickable")
    assert (only(card).kind, only(card).pieces) == ("i", ["Title", "Subtitle"])


def test_a_disabled_button_keeps_its_ref_and_says_so() -> None:
    assert body(screen(node("Button", text="Next", box=row(0), flags="disabled"))) == ['@b1 "Next" disabled']


def test_a_nameless_clickable_keeps_its_ref() -> None:
    assert only(node("FrameLayout", box=row(0), flags="clickable")).kind == "g"


def test_a_clickable_row_around_one_passive_switch_is_that_switch() -> None:
    switch = node("Switch", box=row(0, left=900), flags="checkable checked")
    wrapped = only(node("LinearLayout", text("Wi-Fi"), switch, box=row(0), flags="clickable"))
    assert (wrapped.kind, wrapped.label, wrapped.states) == ("c", "Wi-Fi", ("on",))
    assert wrapped.wrapper is not None
    assert wrapped.wrapper.short_class == "LinearLayout"


def test_a_row_and_a_switch_that_do_different_things_are_two_elements() -> None:
    switch = node("Switch", box=row(0, left=900), flags="clickable checkable")
    shown = body(screen(node("LinearLayout", text("Wi-Fi"), switch, box=row(0), flags="clickable")))
    assert shown == ["@i1 Wi-Fi", ' @c1 "Wi-Fi" off']


def test_a_card_that_opens_and_its_heart_that_toggles_are_two_elements() -> None:
    """`row > clickable > checkable`: the heart has a tap of its own, so the row is not the heart."""
    heart = node("View", box=(950, 210, 1050, 310), flags="checkable")
    zone = node("View", heart, box=(930, 200, 1080, 350), flags="clickable")
    shown = body(screen(node("View", text("Blue kettle"), zone, box=row(0), flags="clickable")))
    assert shown == ["@i1 Blue kettle", ' @c1 "Blue kettle" off']


@each(("left", "count"), [(0, 1), (300, 2), (700, 2)])
def test_a_box_is_its_check_only_where_that_fills_it(left: int, count: int) -> None:
    check = node("CheckBox", content_desc="Pin", box=row(0, left=left), flags="clickable checkable")
    assert len(elements(screen(node("FrameLayout", check, box=row(0), flags="clickable")))) == count


def test_nested_boxes_of_one_size_are_one_element() -> None:
    inner = node("Button", text="Pay", box=row(0), flags="clickable")
    assert (
        only(
            node(
                "FrameLayout",
                node("FrameLayout", inner, box=row(0), flags="clickable"),
                box=row(0),
                flags="clickable",
            )
        ).label
        == "Pay"
    )


def test_a_small_button_in_a_nameless_card_is_not_the_card() -> None:
    buy = node("Button", text="Buy", box=(900, 210, 1060, 260), flags="clickable")
    assert [
        one.kind for one in elements(screen(node("FrameLayout", buy, box=row(0), flags="clickable")))
    ] == ["g", "b"]


def test_a_disabled_silent_box_around_elements_is_transparent() -> None:
    inside = [
        node("Button", text=word, box=row(number), flags="clickable") for number, word in enumerate("ab")
    ]
    found = elements(screen(node("FrameLayout", *inside, flags="clickable disabled")))
    assert [(one.label, one.parent) for one in found] == [("a", None), ("b", None)]


def test_elements_come_in_document_order() -> None:
    found = elements(
        screen(
            *(
                node("Button", text=word, box=row(number), flags="clickable")
                for number, word in enumerate("xyz")
            )
        )
    )
    assert [one.label for one in found] == ["x", "y", "z"]
    assert [one.node.order for one in found] == sorted(one.node.order for one in found)


def test_fresh_refs_are_numbered_by_letter() -> None:
    found = elements(
        screen(
            node("Button", text="a", box=row(0), flags="clickable"),
            node("EditText", text="", box=row(1), flags="clickable"),
            node("Button", text="b", box=row(2), flags="clickable"),
        )
    )
    assert fresh_refs(found) == ["@b1", "@f1", "@b2"]


def test_an_empty_screen_has_no_elements() -> None:
    assert elements(screen()) == []

"""What an element is called."""

import pytest

from handrail.screen.elements import elements
from handrail.screen.node import Element
from tests.cases import each
from tests.unit.screen.drawn import Box, body, node, row, screen


def first(*nodes: str, external: dict[str, str] | None = None) -> Element:
    return elements(screen(*nodes), external)[0]


def text(words: str, number: int = 0, *, box: Box | None = None) -> str:
    return node("TextView", text=words, box=box or row(number))


def icon(box: Box, **more: str) -> str:
    return node("ImageButton", box=box, flags="clickable", **more)


@each(
    ("attributes", "label", "source"),
    [
        ({"text": "T", "content_desc": "D", "hint": "H", "tooltip_text": "P"}, "T", "text"),
        ({"content_desc": "D", "hint": "H", "tooltip_text": "P"}, "D", "description"),
        ({"hint": "H", "tooltip_text": "P"}, "H", "hint"),
        ({"tooltip_text": "P"}, "P", "tooltip"),
    ],
)
def test_the_own_label_comes_in_a_fixed_order(attributes: dict[str, str], label: str, source: str) -> None:
    element = first(node("Button", box=row(0), flags="clickable", **attributes))
    assert (element.label, element.source) == (label, source)


def test_an_external_label_names_what_says_nothing_itself() -> None:
    element = first(icon(row(0)), external={"0.0": "SubmitIcon"})
    assert (element.label, element.source) == ("SubmitIcon", "external")


def test_an_own_label_wins_over_an_external_one() -> None:
    assert (
        first(node("Button", text="Send", box=row(0), flags="clickable"), external={"0.0": "Foo"}).label
        == "Send"
    )


def test_an_external_label_wins_over_hoisted_text() -> None:
    element = first(
        node("FrameLayout", text("inside"), box=row(0), flags="clickable"), external={"0.0": "Card"}
    )
    assert element.pieces[0] == "Card"


def test_texts_inside_are_hoisted_and_not_repeated_below() -> None:
    box = node("LinearLayout", text("Title"), text("Detail"), box=row(0), flags="clickable")
    assert body(screen(box)) == ["@i1 Title · Detail"]


def test_text_is_never_hoisted_into_a_scroll_container() -> None:
    shown = body(screen(node("ScrollView", text("News"), box=row(0), flags="scrollable")))
    assert shown[0].startswith("@s1")
    assert "News" not in shown[0]
    assert shown[1] == ' "News"'


def test_a_labelled_container_does_not_hide_the_buttons_inside_it() -> None:
    inside = node("Button", text="Accept", box=row(1), flags="clickable")
    assert body(screen(node("LinearLayout", inside, content_desc="Terms", box=row(0)))) == [
        '"Terms"',
        "@b1 Accept",
    ]


def test_a_labelled_container_says_a_text_inside_only_once() -> None:
    inside = text("Severity: High", box=row(1))
    group = node("LinearLayout", inside, content_desc="Orange, Severity: High", box=(0, 200, 1080, 900))
    assert body(screen(group)) == ['"Orange, Severity: High"']


def test_an_aggregate_description_gives_way_to_the_texts_inside() -> None:
    long = "Ada Lovelace, " * 8
    card = node(
        "FrameLayout", text("Ada"), text("Lovelace"), content_desc=long, box=row(0), flags="clickable"
    )
    assert first(card).pieces == ["Ada", "Lovelace"]


def test_an_aggregate_description_is_kept_where_nothing_else_is_said() -> None:
    long = "Ada Lovelace, " * 8
    assert first(node("FrameLayout", content_desc=long, box=row(0), flags="clickable")).label == long.strip()


def test_a_switch_adopts_the_texts_of_its_row() -> None:
    switch = node("Switch", text="OFF", box=row(0, left=900), flags="clickable checkable")
    line = node("LinearLayout", text("Wi-Fi"), switch, box=row(0))
    assert body(screen(line, text("other", 3))) == ['@c1 "Wi-Fi" off', '"other"']


def test_a_switch_beside_title_and_subtitle_in_a_flat_tree_adopts_both() -> None:
    flat = []
    for number, name in enumerate(("Dark", "Loud")):
        top = 200 + 300 * number
        flat += [
            text(f"{name} mode", box=(40, top, 800, top + 60)),
            text(f"{name} all day", box=(40, top + 60, 800, top + 120)),
            node("Switch", box=(900, top, 1040, top + 126), flags="clickable checkable"),
        ]
    assert body(screen(*flat)) == ['@c1 "Dark mode · Dark all day" off', '@c2 "Loud mode · Loud all day" off']


def test_a_switch_whose_text_is_its_state_is_named_by_its_description() -> None:
    switch = node("Switch", text="Aus", content_desc="Bluetooth", box=row(0), flags="clickable checkable")
    assert body(screen(switch)) == ['@c1 "Bluetooth · Aus" off']


def test_radio_buttons_read_to_the_right() -> None:
    def radio(left: int) -> str:
        return node("RadioButton", box=(left, 200, left + 100, 300), flags="clickable checkable")

    flat = [radio(0), text("Yes", box=(110, 210, 300, 290)), radio(400), text("No", box=(510, 210, 700, 290))]
    assert body(screen(*flat)) == ['@c1 "Yes" off', '@c2 "No" off']


def test_a_field_adopts_the_caption_above_it() -> None:
    flat = []
    for number, name in enumerate(("Street", "Town")):
        top = 200 + 300 * number
        flat.append(text(name, box=(40, top, 500, top + 60)))
        flat.append(node("EditText", box=(40, top + 70, 1040, top + 200), flags="clickable"))
    assert body(screen(*flat)) == ['@f1 "Street" empty', '@f2 "Town" empty']


def test_a_readable_id_stands_in_for_a_name() -> None:
    assert body(screen(icon(row(0), resource_id="com.example.app:id/menu_sync"))) == ["@b1 #menu_sync"]


@each("tail", ["a", "b3", "a1x", "0_resource_name_obfuscated", "name_removed", "qzx", "12ab"])
def test_an_obfuscated_id_is_no_name(tail: str) -> None:
    assert "#" not in body(screen(icon((0, 0, 100, 100), resource_id=f"com.example.app:id/{tail}")))[0]


def test_an_arrow_is_named_by_its_id_and_its_neighbour() -> None:
    month = node("TextView", text="August", box=(400, 200, 680, 300))
    arrows = [
        icon((left, 200, left + 100, 300), resource_id="com.example.app:id/arrow") for left in (280, 700)
    ]
    assert body(screen(arrows[0], month, arrows[1])) == [
        '@b1 #arrow (left of "August")', '"August"', '@b2 #arrow (right of "August")',
    ]  # fmt: skip
    assert body(screen(month, arrows[1]))[1] == "@b1 #arrow"  # the id alone tells it


def test_a_nameless_element_is_named_by_its_neighbour() -> None:
    shown = body(screen(text("August", box=(400, 200, 680, 300)), icon((280, 200, 380, 300))))
    assert shown == ['"August"', '@b1 (left of "August")']


def test_a_lonely_nameless_element_is_named_by_its_place() -> None:
    assert body(screen(icon((980, 10, 1070, 100)))) == ["@b1 (top right)"]


def test_two_nameless_elements_at_one_place_are_told_apart() -> None:
    shown = body(screen(icon((900, 10, 960, 100)), icon((980, 10, 1070, 60))))
    assert shown == ["@b1 (top right)", "@b2 (top right, 2nd)"]


def test_a_nameless_button_of_a_named_row_is_placed_in_the_row() -> None:
    more = icon((980, 230, 1060, 310))
    line = node(
        "LinearLayout", text("photo.png", box=(20, 220, 600, 330)), more, box=row(0), flags="clickable"
    )
    assert body(screen(line))[1] == ' @b1 "photo.png" (right)'


def test_two_nameless_buttons_of_one_row_are_told_apart() -> None:
    def more(left: int) -> str:
        return icon((left, 230, left + 80, 310))

    words = text("photo.png", box=(20, 220, 600, 330))
    line = node("LinearLayout", words, more(800), more(980), box=row(0), flags="clickable")
    assert body(screen(line))[1:] == [' @b1 "photo.png" (right)', ' @b2 "photo.png" (right, 2nd)']


def test_a_pane_title_is_not_adopted_as_a_name() -> None:
    pane = node("FrameLayout", icon((0, 210, 90, 300)), pane_title="Player", box=row(0))
    assert body(screen(pane)) == ['pane "Player"', " @b1 (top left)"]


def test_a_private_use_glyph_is_no_name() -> None:
    assert body(screen(node("TextView", text="\ue5cd", box=(980, 10, 1070, 100), flags="clickable"))) == [
        "@l1 (top right)"
    ]


def test_a_current_tab_that_cannot_be_tapped_is_marked() -> None:
    tab = node("FrameLayout", text("Home"), box=row(0), flags="selected")
    assert body(screen(tab)) == ['"Home" selected']


def test_a_field_is_not_named_by_the_complaint_below_it() -> None:
    field = node(
        "EditText", box=(0, 500, 1080, 620), flags="clickable", resource_id="com.example.app:id/code"
    )
    error = node("TextView", text="Too short", box=(0, 630, 1080, 690))
    box = (0, 400, 1080, 700)
    assert body(screen(node("LinearLayout", field, error, box=box))) == ["@f1 #code empty", '"Too short"']
    above = node("TextView", text="Code", box=(0, 420, 1080, 490))
    assert body(screen(node("LinearLayout", above, field, error, box=box))) == [
        '@f1 "Code" empty',
        '"Too short"',
    ]


@pytest.mark.parametrize("is_grouped", [True, False])
def test_the_complaint_about_one_field_does_not_name_the_next(is_grouped: bool) -> None:
    def field(top: int, name: str) -> str:
        return node(
            "EditText",
            box=(0, top, 1080, top + 120),
            flags="clickable",
            resource_id=f"com.example.app:id/{name}",
        )

    error = node("TextView", text="Name is required", box=(0, 420, 1080, 460))
    first = [field(300, "first"), error]
    group = [node("LinearLayout", *first, box=(0, 300, 1080, 460))] if is_grouped else first
    assert body(screen(node("ScrollView", *group, field(500, "last")))) == [
        "@f1 #first empty", '"Name is required"', "@f2 #last empty",
    ]  # fmt: skip


def test_the_mark_of_an_error_is_no_check_box() -> None:
    """Material's icons report that they are checkable; this one can't be toggled."""
    mark = node("ImageButton", content_desc="Error", box=(900, 210, 1000, 310), flags="checkable")
    eye = node(
        "ImageButton", content_desc="Show password", box=(900, 360, 1000, 460), flags="checkable clickable"
    )
    assert body(screen(mark, eye)) == ["@b1 Error", '@c1 "Show password" off']


def test_a_heart_in_a_clickable_zone_is_a_check() -> None:
    heart = node("ImageButton", content_desc="Like", box=(910, 220, 990, 300), flags="checkable checked")
    zone = node("FrameLayout", heart, box=(900, 210, 1000, 310), flags="clickable")
    assert body(screen(zone)) == ['@c1 "Like" on']


def zone(box: tuple[int, int, int, int], **more: str) -> str:
    return node("android.view.View", box=box, flags="clickable", **more)


def test_a_zone_takes_the_words_that_lie_on_it() -> None:
    """A click zone is laid over its words, or under them, and neither is inside the other."""
    place, filters = (20, 200, 500, 280), (600, 200, 1000, 280)
    words = [text("All regions", box=(40, 210, 400, 270)), text("Filters", box=(700, 210, 900, 270))]
    bar = node("FrameLayout", zone(place), *words, zone(filters), box=(0, 190, 1080, 290))
    assert body(screen(bar)) == ["@b1 All regions", "@b2 Filters"]


def test_words_on_two_zones_belong_to_the_smaller() -> None:
    words = text("Filters", box=(700, 210, 900, 270))
    bar = node(
        "FrameLayout", zone((0, 190, 1080, 290)), zone((600, 200, 1000, 280)), words, box=(0, 190, 1080, 290)
    )
    assert "@b1 Filters" in body(screen(bar))


def test_an_icon_is_called_by_the_caption_below_it() -> None:
    icons = [zone((100 + 300 * n, 400, 220 + 300 * n, 520)) for n in range(2)]
    captions = [
        text(said, box=(90 + 300 * n, 530, 230 + 300 * n, 570)) for n, said in enumerate(("Scan", "Pay"))
    ]
    both = [part for pair in zip(icons, captions, strict=True) for part in pair]
    assert body(screen(node("FrameLayout", *both, box=(0, 380, 1080, 600)))) == ["@b1 Scan", "@b2 Pay"]


def test_a_heading_below_a_picture_is_no_caption() -> None:
    picture = zone((0, 200, 1080, 800))
    heading = text("Recently played", box=(20, 820, 500, 880))
    assert body(screen(node("FrameLayout", picture, heading))) == [
        '@g1 (above "Recently played")', '"Recently played"',
    ]  # fmt: skip


def test_the_icon_before_the_title_leads_back_or_opens_the_menu() -> None:
    up, title = zone((0, 80, 140, 220)), text("Termux", box=(160, 100, 600, 200))
    assert body(screen(up, title))[0] == "@g1 ~back or menu"
    more = zone((940, 80, 1080, 220))
    assert body(screen(title, more))[1] == '@g1 (right of "Termux")'


def test_a_switch_in_a_named_row_repeats_the_beginning_of_the_name() -> None:
    words = text("Let people find me by my address", box=(20, 220, 700, 330))
    switch = node("Switch", box=(900, 220, 1060, 330), flags="clickable checkable")
    line = node("LinearLayout", words, switch, box=row(0), flags="clickable")
    assert body(screen(line)) == ["@i1 Let people find me by my address", ' @c1 "Let people find…" off']


def test_a_slider_is_known_by_its_scale() -> None:
    bar = node("SeekBar", box=(40, 500, 1040, 560))
    times = [text("0:04", box=(40, 570, 100, 600)), text("4:28", box=(980, 570, 1040, 600))]
    assert body(screen(bar, *times)) == ["@v1 0:04 · 4:28"]


def test_selected_is_said_once_and_only_where_it_tells_something() -> None:
    """Android hands the mark on to everything inside what is selected."""

    def cells(number: int, flags: str) -> str:
        inside = [
            node(
                "TextView", text=f"{name}{number}", box=row(number, left=left, right=left + 300), flags=flags
            )
            for name, left in (("A", 0), ("B", 300), ("C", 600))
        ]
        return node("TableRow", *inside, box=row(number), flags=flags)

    table = [cells(n, "selected" if n == 1 else "") for n in range(3)]
    assert body(screen(*table)) == ['"A0 · B0 · C0"', '"A1 · B1 · C1" selected', '"A2 · B2 · C2"']
    assert body(screen(*(cells(n, "selected") for n in range(2)))) == ['"A0 · B0 · C0"', '"A1 · B1 · C1"']


def test_a_card_of_many_parts_is_called_by_its_title() -> None:
    parts = [
        node("Button", text=f"Part {n}", box=(20, 420 + 90 * n, 500, 500 + 90 * n), flags="clickable")
        for n in range(4)
    ]
    card = node(
        "FrameLayout",
        text("Contract", box=(20, 310, 900, 400)),
        *parts,
        box=(0, 300, 1080, 800),
        flags="clickable",
    )
    assert body(screen(card))[:2] == ["@g1 Contract", " @b1 Part 0"]


def test_sliders_of_one_card_say_whose_they_are() -> None:
    bars = [
        node("SeekBar", content_desc=f"{n}0%", box=(100 + 300 * n, 500, 300 + 300 * n, 900)) for n in (1, 2)
    ]
    card = node(
        "Switch", *bars, content_desc="Equalizer", box=(0, 300, 1080, 1000), flags="clickable checkable"
    )
    assert body(screen(card)) == ['@c1 "Equalizer" off', ' @v1 "Equalizer" 10%', ' @v2 "Equalizer" (2nd) 20%']


def test_like_nameless_elements_are_numbered_under_their_caption() -> None:
    caption, cells = (
        text("Color", box=(0, 0, 400, 80)),
        [zone((110 * n, 100, 110 * n + 90, 190)) for n in range(2)],
    )
    last = zone((330, 100, 420, 190), text="Other")
    assert body(screen(caption, *cells))[1] == '@g1 (below "Color")'  # a pair is told apart by place
    third = zone((220, 100, 310, 190))
    assert body(screen(caption, *cells, third, last))[1:] == ["@g1-3 3× ~Color 3x1", "@b1 Other"]


def test_a_caption_names_no_second_group() -> None:
    caption, cells = (
        text("Color", box=(0, 0, 400, 80)),
        [zone((110 * n, 100, 110 * n + 90, 190)) for n in range(3)],
    )
    larger = [zone((210 * n, 200, 210 * n + 190, 390)) for n in range(3)]
    assert body(screen(caption, *cells, *larger))[2].startswith('@g4-6 3× (below "Color"')


def test_an_element_is_known_by_the_only_resource_name_inside() -> None:
    inner = node(
        "View", node("ImageView", resource_id="a:id/cart_icon", box=(10, 10, 90, 90)), box=(0, 0, 100, 100)
    )
    assert body(screen(node("FrameLayout", inner, box=(0, 0, 100, 100), flags="clickable"))) == [
        "@g1 #cart_icon"
    ]

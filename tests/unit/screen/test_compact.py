"""The text an agent reads."""

from handrail.screen.compact import CompactOptions, render
from handrail.screen.elements import elements, fresh_refs
from handrail.screen.fingerprint import screen_fingerprint
from tests.unit.screen.drawn import Box, body, compact, node, row, screen


def text(words: str, number: int = 0, *, box: Box | None = None, **more: str) -> str:
    return node("TextView", text=words, box=box or row(number), **more)


def button(words: str, number: int = 0, *, flags: str = "clickable", box: Box | None = None) -> str:
    return node("Button", text=words, box=box or row(number), flags=flags)


def field(number: int = 0, *, flags: str = "clickable", **more: str) -> str:
    return node("EditText", box=row(number), flags=flags, **more)


def scroll(*inside: str, box: Box = (0, 200, 1080, 2000), kind: str = "ScrollView", **more: str) -> str:
    return node(kind, *inside, box=box, flags="scrollable", **more)


def test_the_header_says_size_package_fingerprint_revision_and_flags() -> None:
    drawn = screen(button("Go"))
    shown = compact(drawn, fingerprint="k3x9qa", revision=12, flags=("keyboard", "loading"))
    assert shown.text.split("\n")[0] == "screen 1080x2400 com.example.app #k3x9qa r12 keyboard loading"


def test_the_fingerprint_is_the_screens_own_unless_it_is_given() -> None:
    drawn = screen(button("Go"))
    found = elements(drawn)
    shown = render(drawn, found, fresh_refs(found))
    assert shown.fingerprint == screen_fingerprint(drawn)
    assert f"#{shown.fingerprint}" in shown.text


def test_a_contact_form_reads_as_in_the_manual() -> None:
    labels = [
        node("LinearLayout", text("Mobile", box=(20, 1410, 900, 1490)), box=(0, 1400, 1080, 1500),
             flags="clickable selected"),
        node("LinearLayout", text("screen1.png", box=(20, 1510, 500, 1560)),
             text("3:10 PM, 64.9 kB", box=(20, 1560, 500, 1600)),
             node("ImageButton", content_desc="Preview the file screen1.png", box=(950, 1510, 1050, 1600),
                  flags="clickable"), box=(0, 1500, 1080, 1610), flags="clickable"),
    ]  # fmt: skip
    drawn = screen(
        node("ImageButton", content_desc="Close", box=(0, 60, 150, 200), flags="clickable"),
        text("Create contact", box=(200, 60, 900, 200)),
        field(0, text="Ada", content_desc="First name", flags="clickable focused"),
        field(1, text="", content_desc="Phone", hint="+1 555…"),
        node("CheckBox", text="Favourite", box=row(2), flags="clickable checkable"),
        node("SeekBar", content_desc="Volume", box=row(3), state_description="40%"),
        node("ListView", *labels, content_desc="Labels", box=(0, 1400, 1080, 1610), flags="scrollable"),
    )
    assert body(drawn) == [
        "@b1 Close",
        '"Create contact"',
        '@f1 "First name" = "Ada" focused',
        '@f2 "Phone" empty hint "+1 555…"',
        '@c1 "Favourite" off',
        '@v1 "Volume" 40%',
        '@s1 "Labels" ↓',
        ' @i1 "Mobile" selected',
        " @i2 screen1.png · 3:10 PM, 64.9 kB",
        "  @b2 Preview the file screen1.png",
    ]


def test_a_hint_shown_as_text_is_not_a_value() -> None:
    assert body(screen(field(text="Email", hint="Email"))) == ['@f1 "Email" empty']


def test_a_value_is_not_taken_for_the_label() -> None:
    assert body(screen(field(text="Ada", hint="Name"))) == ['@f1 "Name" = "Ada"']


def test_a_field_without_any_label_shows_its_value() -> None:
    assert body(screen(field(text="Ada"))) == ['@f1 = "Ada"']


def test_a_value_that_repeats_the_label_is_said_once() -> None:
    assert body(screen(field(text="Search", content_desc="Search"))) == ['@f1 = "Search"']


def test_a_compose_field_is_named_by_the_text_inside_it() -> None:
    inside = text("Email", box=(20, 210, 300, 250))
    drawn = screen(node("EditText", inside, text="ada@example.org", box=row(0), flags="clickable"))
    assert body(drawn) == ['@f1 "Email" = "ada@example.org"']


def test_a_label_is_bare_without_a_state_and_quoted_with_one() -> None:
    assert body(screen(button("Next"), button("Back", 1, flags="clickable disabled"))) == [
        "@b1 Next",
        '@b2 "Back" disabled',
    ]


def test_plain_text_is_always_quoted() -> None:
    assert body(screen(text("Hello"))) == ['"Hello"']


def test_a_progress_value_is_shown() -> None:
    bar = node("ProgressBar", content_desc="Download", state_description="40 percent", box=row(0))
    assert body(screen(bar)) == ['"Download: 40 percent"']


def test_texts_of_one_list_item_are_one_line() -> None:
    def item(number: int) -> str:
        top = 200 + 300 * number
        return node(
            "LinearLayout",
            text(f"App {number}", box=(20, top, 400, top + 60)),
            text("allowed", box=(700, top + 100, 1000, top + 160)),
            text(f"com.example.{number}", box=(20, top + 200, 400, top + 260)),
            box=(0, top, 1080, top + 300),
        )

    shown = body(screen(scroll(item(0), item(1), kind="ListView")))
    assert shown[1:] == [' "App 0 · allowed · com.example.0"', ' "App 1 · allowed · com.example.1"']


def test_a_long_row_of_texts_goes_on_in_the_next_line() -> None:
    parts = [text(f"{n}" * 90, box=(100 * n, 200, 100 * n + 90, 260)) for n in range(4)]
    shown = body(screen(*parts))
    assert len(shown) == 2
    assert "3" * 90 in shown[1]


def test_a_line_of_ornaments_is_cut_short() -> None:
    assert body(screen(text("✦✧✦✧✦✧✦✧✦✧✦✧✦✧✦✧"))) == ['"✦✧✦✧…+12"']


def test_texts_of_one_line_are_joined() -> None:
    pair = [text("Version", box=(0, 200, 300, 260)), text("1.0", box=(700, 200, 1000, 260))]
    assert body(screen(*pair)) == ['"Version · 1.0"']


def test_texts_far_apart_have_their_own_lines() -> None:
    assert body(screen(text("Top", box=(0, 200, 300, 260)), text("End", box=(0, 900, 300, 960)))) == [
        '"Top"',
        '"End"',
    ]


def test_a_text_that_repeats_the_ref_before_it_is_left_out() -> None:
    assert body(screen(button("Save"), text("Save", 1), text("Other", 4))) == ["@b1 Save", '"Other"']


def test_a_state_description_stands_on_the_line() -> None:
    drawn = screen(node("Button", text="More", box=row(0), flags="clickable", state_description="Expanded"))
    assert body(drawn) == ['@b1 "More" state "Expanded"']


def test_a_state_description_that_on_and_off_already_say_is_left_out() -> None:
    drawn = screen(
        node("Switch", text="Wi-Fi", box=row(0), flags="clickable checkable", state_description="Off")
    )
    assert body(drawn) == ['@c1 "Wi-Fi" off']


def test_a_pane_title_is_a_heading_for_what_is_inside() -> None:
    pane = node("FrameLayout", button("Log in"), pane_title="Sign in")
    assert body(screen(pane)) == ['pane "Sign in"', " @b1 Log in"]


def test_wrappers_are_transparent() -> None:
    deep = button("Go")
    for _ in range(8):
        deep = node("FrameLayout", deep)
    assert body(screen(deep)) == ["@b1 Go"]


def test_a_long_press_only_element_says_so() -> None:
    drawn = screen(node("FrameLayout", content_desc="Widget", box=row(0), flags="long-clickable"))
    assert body(drawn) == ['@g1 "Widget" long-press']


def test_only_interactive_drops_plain_text() -> None:
    assert body(screen(text("Hello"), button("Go", 1)), only_interactive=True) == ["@b1 Go"]


def test_a_scroll_container_that_reaches_its_edge_has_more_below() -> None:
    rows = [text(f"row {n}", box=(0, 200 + 400 * n, 1080, 500 + 400 * n)) for n in range(4)]
    rows.append(text("row 4", box=(0, 1800, 1080, 2000)))
    assert body(screen(scroll(*rows)))[0] == "@s1 ↓"


def test_a_first_row_cut_by_the_edge_means_more_above() -> None:
    rows = [text("cut", box=(0, 200, 1080, 260))]
    rows += [text(f"row {n}", box=(0, 260 + 300 * n, 1080, 560 + 300 * n)) for n in range(4)]
    assert body(screen(scroll(*rows)))[0] == "@s1 ↑"


def test_a_pager_scrolls_sideways_and_nobody_can_tell_which_way() -> None:
    page = text("page", box=(0, 200, 1080, 2000))
    assert body(screen(scroll(page, kind="androidx.viewpager.widget.ViewPager")))[0] == "@s1 ↔"


def test_a_row_of_chips_that_goes_on_has_more_to_the_right() -> None:
    chips = [button(f"c{n}", box=(300 * n, 200, 300 * n + 280, 300)) for n in range(3)]
    chips.append(button("c3", box=(900, 200, 1080, 300)))
    bar = scroll(*chips, kind="HorizontalScrollView", box=(0, 200, 1080, 300))
    assert body(screen(bar))[0] == "@s1 →"


def test_long_labels_are_cut_and_the_cut_is_counted() -> None:
    shown = body(screen(button("x" * 300), text("y" * 400, 2)))
    assert shown == [f'@b1 "{"x" * 80}…+220"', f'"{"y" * 240}…+160"']


def test_what_does_not_fit_into_a_label_stays_below_as_text() -> None:
    parts = [text(f"part {n} " + "z" * 60, box=(0, 200 + 90 * n, 1080, 280 + 90 * n)) for n in range(4)]
    shown = body(screen(node("FrameLayout", *parts, box=(0, 200, 1080, 600), flags="clickable")))
    assert shown[0].startswith("@i1 part 0")
    assert "part 1" in shown[0]
    assert all(line.startswith(' "part') for line in shown[1:])
    assert "part 3" in shown[-1]


def test_within_shows_one_part_with_its_labels_whole() -> None:
    long = "x" * 300
    drawn = screen(button("Top"), scroll(button(long, 3)), button("End", 9))
    part = elements(drawn)[1].node
    shown = compact(drawn, within=part)
    assert shown.text.split("\n")[1:] == [f"@s1 {shown.text.split(chr(10))[1][4:]}", f" @b2 {long}"]
    assert "Top" not in shown.text
    assert "@b1" in shown.ref_map


def test_lines_beyond_the_cap_are_counted_and_keep_their_refs() -> None:
    drawn = screen(*(button(f"b{n}", box=(0, 10 * n, 1080, 10 * n + 9)) for n in range(50)))
    shown = compact(drawn, max_lines=20)
    lines = shown.text.split("\n")
    assert len(lines) == shown.line_count == 20
    assert lines[-1] == "... +32 more (only_interactive)"
    assert shown.truncated
    assert (shown.ref_count, len(shown.ref_map)) == (50, 50)


def test_the_footer_proposes_a_depth_that_fits() -> None:
    inside = [button(f"b{n}", box=(0, 200 + 10 * n, 1080, 209 + 10 * n)) for n in range(50)]
    shown = compact(screen(scroll(*inside), button("End", 13)), max_lines=20)
    assert shown.text.split("\n")[-1] == "... +34 more (depth=1, or only_interactive)"


def test_a_depth_cut_has_a_footer_too() -> None:
    drawn = screen(scroll(button("a", 1), button("b", 2)), button("End", 13))
    shown = compact(drawn, max_depth=1)
    assert shown.text.split("\n")[1:] == [
        "@s1 ↕",
        "@b3 End",
        "... +2 more (deeper than 1; depth=0, or within)",
    ]
    assert shown.truncated
    assert "@b1" in shown.ref_map


def test_two_hundred_lines_are_the_default() -> None:
    drawn = screen(*(button(f"b{n}", box=(0, 2 * n, 1080, 2 * n + 2)) for n in range(900)))
    assert compact(drawn).line_count == 200


def test_a_whole_screen_is_not_truncated() -> None:
    shown = compact(screen(button("Go")))
    assert (shown.truncated, shown.line_count, shown.ref_count) == (False, 2, 1)


def test_a_deep_tree_is_rendered() -> None:
    deep = button("Go")
    for _ in range(200):
        deep = node("FrameLayout", deep)
    assert body(screen(deep)) == ["@b1 Go"]


def test_options_can_be_left_out() -> None:
    drawn = screen(button("Go"))
    found = elements(drawn)
    assert (
        render(drawn, found, fresh_refs(found)).text
        == render(drawn, found, fresh_refs(found), CompactOptions()).text
    )


def test_the_same_words_in_another_cell_or_below_are_said_again_and_at_the_same_place_not() -> None:
    cells = [text(words, box=(at, 300, at + 100, 360)) for at, words in ((20, "5"), (130, "5"), (240, "6"))]
    assert body(screen(*cells)) == ['"5 · 5 · 6"']
    below = [text("Call Ada at noon", box=(20, 300, 400, 360)), text("Ada", box=(20, 362, 120, 420))]
    assert body(screen(*below)) == ['"Call Ada at noon · Ada"']
    over = [text("Rain, heavy", box=(20, 300, 400, 360)), text("Rain", box=(20, 300, 80, 360))]
    assert body(screen(*over)) == ['"Rain, heavy"']

"""Well-formed dumps of every dialect."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.errors import TreeParseError
from handrail.screen.node import HIDDEN, Bounds, Screen
from handrail.screen.parse import parse
from tests.cases import each
from tests.unit.screen.drawn import body
from tests.unit.screen.stock_dumps import APP, WHOLE, hierarchy, node, screen

BAR = node("FrameLayout", box=(0, 0, 1080, 80), package="com.android.systemui")
KEYBOARD = node(
    "FrameLayout",
    *[node("View", desc=key) for key in "qwertyuiop"],
    box=(0, 1600, 1080, 2400),
    package="com.example.inputmethod.latin",
)


def by_class(one: Screen, name: str) -> list[str]:
    return [node.id for node in one.nodes if node.short_class == name]


def test_a_stock_dump_becomes_nodes_with_all_their_fields() -> None:
    button = node(
        "Button",
        text="Save",
        desc="Save the note",
        rid=f"{APP}:id/save",
        flags="clickable focusable",
        index=3,
        box=(40, 100, 240, 200),
    )
    found = screen(button).nodes[1]
    assert (found.class_name, found.short_class) == ("android.widget.Button", "Button")
    assert (found.text, found.description, found.resource_id) == ("Save", "Save the note", f"{APP}:id/save")
    assert (found.id_tail, found.package_name, found.index, found.role) == ("save", APP, 3, "button")
    assert (found.bounds, found.center) == (Bounds(40, 100, 240, 200), (140, 150))
    assert (found.clickable, found.enabled, found.checked, found.focused) == (True, True, False, False)


NOT_IN_XML = st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters="\ufffe\uffff")


@settings(max_examples=100)
@given(text=st.text(NOT_IN_XML), desc=st.text(NOT_IN_XML))
def test_any_text_is_read_as_it_was_written(text: str, desc: str) -> None:
    one = parse(hierarchy(node("TextView", text=text, desc=desc)).encode())
    assert (one.nodes[0].text, one.nodes[0].description) == (text, desc)
    assert not one.warnings


def test_links_orders_and_ids_follow_positions_not_the_index_attribute() -> None:
    one = screen(
        node("LinearLayout", node("Button", index=7), node("Button", index=7)), node("ListView", index=9)
    )
    assert [node.id for node in one.nodes] == ["0", "0.0", "0.0.0", "0.0.1", "0.1"]
    assert [(node.order, node.end) for node in one.nodes] == [(0, 5), (1, 4), (2, 3), (3, 4), (4, 5)]
    assert all(child.parent is node for node in one.nodes for child in node.children)
    assert one.inside(one.nodes[1]) == one.nodes[2:4]


def test_references_and_line_breaks_in_texts_are_resolved() -> None:
    raw = node("TextView").replace('text=""', 'text="a &lt;b&gt; &amp; &quot;c&quot;&#10;&#128512;"')
    assert screen(raw).nodes[1].text == 'a <b> & "c"\n\N{GRINNING FACE}'


def test_extra_attributes_are_read_where_a_dump_has_them() -> None:
    extra = (
        ' drawing-order="4" hint="Search" tooltip-text="Tip" state-description="Expanded" pane-title="Pane"'
        ' visible-to-user="false" NAF="true"'
    )
    found = screen(node("EditText", extra=extra)).nodes[1]
    assert (found.hint_text, found.tooltip_text, found.drawing_order) == ("Search", "Tip", 4)
    assert (found.state_description, found.pane_title) == ("Expanded", "Pane")
    assert found.flags & HIDDEN


def test_an_editable_view_without_a_telling_class_is_a_text_field() -> None:
    assert screen(node("android.view.View", extra=' editable="true"')).nodes[1].role == "text_field"


@each("box", [(0, 0, 0, 0), (900, 300, 100, 200), (-50, -20, 30, 40)])
def test_odd_bounds_are_kept_as_the_dump_says(box: tuple[int, int, int, int]) -> None:
    assert screen(node("TextView", text="x", box=box)).nodes[1].bounds == box


def test_absurd_bounds_are_clamped() -> None:
    raw = node("TextView").replace('bounds="[0,0][1080,2400]"', 'bounds="[-99999999999,0][99999999999,7]"')
    assert screen(raw).nodes[1].bounds == (-1_000_000, 0, 1_000_000, 7)


def test_several_windows_hang_on_a_virtual_root() -> None:
    one = parse(hierarchy(node("FrameLayout", node("Button")), node("FrameLayout", box=(90, 800, 990, 1600))))
    assert (one.root.class_name, one.root.flags, one.root.bounds) == ("", 0, WHOLE)
    assert [window.id for window in one.windows] == ["0.0", "0.1"]
    assert one.nodes[one.windows[1].order] is one.windows[1]


def test_a_single_window_is_the_root_itself() -> None:
    one = screen(node("Button"))
    assert one.windows == [one.root]


def test_windows_form_puts_the_topmost_window_last_and_reads_its_focus() -> None:
    dialog = node("FrameLayout", box=(90, 800, 990, 1600), package="com.dialog")
    app = node("FrameLayout", BAR, BAR)
    dump = (
        '<displays><display id="0">'
        '<window index="0" title="Dialog" bounds="[90,800][990,1600]" active="true" focused="true" layer="5">'
        f'<hierarchy rotation="1">{dialog}</hierarchy>'
        f'</window><window index="1" title="App" layer="2"><hierarchy rotation="1">{app}'
        "</hierarchy></window></display></displays>"
    )
    one = parse(dump)
    assert [window.package_name for window in one.windows] == [APP, "com.dialog"]
    assert (one.package, one.rotation, one.width, one.height) == ("com.dialog", 1, 1080, 2400)


def test_windows_of_another_display_are_left_out_and_said_so() -> None:
    dump = (
        f'<displays><display id="2"><window><hierarchy>{node("Button")}</hierarchy></window></display>'
        f'<display id="0"><window><hierarchy>{node("ListView")}</hierarchy></window></display></displays>'
    )
    one = parse(dump)
    assert by_class(one, "ListView") == ["0"]
    assert by_class(one, "Button") == []
    assert one.warnings == ["windows left out, on another display: 1"]


def test_appium_page_source_has_its_classes_as_tags_and_its_size_on_top() -> None:
    dump = (
        '<hierarchy index="0" class="hierarchy" rotation="3" width="1440" height="3120">'
        '<android.widget.FrameLayout index="0" package="com.a" bounds="[0,100][1440,3000]" displayed="true">'
        '<android.widget.EditText text="Find" showing-hint="true" enabled="true" bounds="[0,0][9,9]"/>'
        '<android.widget.Button displayed="false" bounds="[0,0][9,9]"/>'
        "</android.widget.FrameLayout></hierarchy>"
    )
    one = parse(dump)
    assert [node.role for node in one.nodes] == ["container", "text_field", "button"]
    assert (one.width, one.height, one.rotation) == (1440, 3120, 3)
    assert one.nodes[1].hint_text == "Find"
    assert one.nodes[2].flags & HIDDEN


def test_the_package_is_the_apps_even_when_bars_and_keyboard_have_more_nodes() -> None:
    assert parse(hierarchy(BAR, node("FrameLayout", node("EditText")), KEYBOARD)).package == APP


def test_the_package_is_that_of_the_focused_app() -> None:
    small = node("FrameLayout", node("EditText", package="com.front", flags="focused"), package="com.front")
    large = node("FrameLayout", node("Button"), node("Button"), node("Button"))
    assert parse(hierarchy(small, large)).package == "com.front"


def test_system_ui_is_the_package_when_it_is_all_there_is() -> None:
    assert parse(hierarchy(BAR)).package == "com.android.systemui"


def test_without_package_attributes_the_resource_ids_tell() -> None:
    dump = '<node resource-id="com.mail:id/inbox" class="android.view.View" bounds="[0,0][9,9]"/>'
    assert parse(f"<hierarchy>{dump}</hierarchy>").package == "com.mail"


def test_a_lone_dialog_does_not_claim_to_be_the_whole_screen() -> None:
    one = parse(hierarchy(node("FrameLayout", node("Button"), box=(28, 809, 1052, 1509))))
    assert (one.width, one.height) == (1080, 809 + 1509)
    assert one.warnings == ["the display size is a guess: only a dialog or menu was dumped"]


def test_text_and_bytes_are_read_alike() -> None:
    dump = hierarchy(node("TextView", text="Grüße"))
    assert parse(dump).nodes[0].text == parse(dump.encode()).nodes[0].text == "Grüße"


HELPER = {
    "id": "0",
    "className": "android.widget.FrameLayout",
    "packageName": APP,
    "text": "",
    "enabled": True,
    "bounds": {"left": 0, "top": 0, "right": 1080, "bottom": 2400},
    "children": [
        {
            "className": "android.view.View",
            "resourceId": f"{APP}:id/mail",
            "description": "Mail",
            "enabled": False,
            "clickable": True,
            "longClickable": True,
            "hintText": "Name",
            "stateDescription": "On",
            "index": 2,
            "paneTitle": "Pane",
            "tooltipText": "Tip",
            "role": "switch",
            "bounds": {"left": 1, "top": 2, "right": 3, "bottom": 4},
            "children": [],
        },
        None,
    ],
}


@pytest.mark.parametrize(
    "answer", [{"ok": True, "packageName": APP, "compact": False, "tree": HELPER}, HELPER]
)
def test_the_helpers_tree_is_read_with_or_without_its_envelope(answer: object) -> None:
    one = parse(json.dumps(answer))
    found = one.nodes[1]
    assert (one.package, one.width, one.height, len(one.nodes)) == (APP, 1080, 2400, 2)
    assert (found.resource_id, found.description, found.bounds) == (f"{APP}:id/mail", "Mail", (1, 2, 3, 4))
    assert (found.hint_text, found.state_description, found.pane_title) == ("Name", "On", "Pane")
    assert (found.tooltip_text, found.role, found.index) == ("Tip", "switch", 2)
    assert (found.enabled, found.clickable, found.long_clickable) == (False, True, True)


def test_a_droidbot_state_is_read_from_its_flat_list() -> None:
    views = [
        {
            "class": "android.widget.ListView",
            "package": APP,
            "parent": -1,
            "children": [2, 1],
            "enabled": True,
            "bounds": [[0, 0], [720, 1280]],
        },
        {
            "class": "android.widget.TextView",
            "text": "second",
            "parent": 0,
            "children": [],
            "visible": False,
            "bounds": [[0, 100], [720, 200]],
        },
        {
            "class": "android.view.View",
            "content_description": "first",
            "parent": 0,
            "children": [0, 99],
            "is_password": True,
            "bounds": [[0, 0], [720, 100]],
        },
        {"class": "android.view.View", "parent": 77, "children": []},
    ]
    one = parse(
        json.dumps({"views": views, "width": 720, "height": 1480, "foreground_activity": f"{APP}/.Main"})
    )
    assert [node.text or node.description for node in one.nodes] == ["", "first", "second"]
    assert (one.width, one.height, one.package) == (720, 1480, APP)
    assert one.nodes[1].role == "list_item"
    assert one.nodes[1].password
    assert one.nodes[2].flags & HIDDEN
    assert one.warnings == ["views left out, without a parent: 1"]


@each(
    ("header", "root", "size"),
    [
        ((1920, 1080), [[0, 0], [1080, 1776]], (1080, 1920)),  # swapped: everything below 1080 was lost
        ((1080, 1920), [[0, 0], [1920, 1080]], (1920, 1080)),
        ((1080, 1920), [[0, 0], [1080, 1776]], (1080, 1920)),
        ((1920, 1080), [[0, 0], [1920, 1008]], (1920, 1080)),
        ((1080, 1776), [[0, 0], [1080, 1920]], (1080, 1920)),  # without its navigation bar
        ((411, 731), [[0, 0], [1080, 1920]], (1080, 1920)),  # in other units
        ((1080, 1920), [[900, 100], [1300, 800]], (1080, 1920)),  # a small window may reach over an edge
        ((1080, 1920), [[100, 500], [900, 1200]], (1080, 1920)),
    ],
)
def test_windows_know_the_displays_size_better_than_a_header(
    header: tuple[int, int], root: list[list[int]], size: tuple[int, int]
) -> None:
    view = {"class": "android.widget.FrameLayout", "bounds": root, "parent": -1, "children": [1]}
    low = {"class": "android.widget.Button", "text": "Low", "clickable": True, "parent": 0, "children": []}
    low["bounds"] = [[root[0][0], root[1][1] - 100], [root[0][0] + 100, root[1][1]]]
    state = {"width": header[0], "height": header[1], "views": [view, low]}
    screen = parse(json.dumps(state))
    assert (screen.width, screen.height) == size
    if size != header:
        assert body(screen) == ["@b1 Low"]
        assert screen.warnings == [
            f"the header says {header[0]}x{header[1]}, and the windows {size[0]}x{size[1]}"
        ]


def test_a_rico_tree_tells_roles_by_superclasses() -> None:
    child = {
        "class": "com.app.PrettyKnob",
        "ancestors": ["android.widget.Button", "android.widget.TextView"],
        "content-desc": ["Go"],
        "bounds": [0, 0, 10, 10],
        "visibility": "invisible",
        "scrollable-vertical": True,
    }
    root = {"class": "DecorView", "bounds": [0, 0, 1440, 2560], "children": [child, None]}
    one = parse(json.dumps({"activity_name": "com.app/com.app.Main", "activity": {"root": root}}))
    found = one.nodes[1]
    assert (one.package, found.role, found.description, found.scrollable) == ("com.app", "button", "Go", True)
    assert found.flags & HIDDEN


@each(
    "data",
    [
        "",
        " ",
        "\ufeff",
        "hello",
        "{}",
        "[]",
        "[1, 2]",
        '"text"',
        '{"ok": false, "error": "no window"}',
        "<a/>",
        '<hierarchy rotation="0" />',
        "<hierarchy></hierarchy>",
        "null",
        '{"tree": null}',
        '{"views": []}',
        "{",
        "<",
        "ERROR: null root node returned by UiTestAutomationBridge.",
        b"\x00\x01\x02",
        b"\xff\xfe",
        b"\x89PNG\r\n",
    ],
)
def test_what_is_no_dump_is_refused_with_a_position(data: bytes | str) -> None:
    with pytest.raises(TreeParseError) as caught:
        parse(data)
    assert {"offset", "line"} & set(caught.value.details)


def test_the_dumpers_own_error_is_in_the_message() -> None:
    with pytest.raises(TreeParseError, match="null root node"):
        parse("ERROR: null root node returned by UiTestAutomationBridge.")


def test_the_helpers_own_error_is_in_the_message() -> None:
    with pytest.raises(TreeParseError, match="no active window"):
        parse('{"ok": false, "error": "no active window"}')

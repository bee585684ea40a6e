from __future__ import annotations

import json
from typing import Any

import pytest

from handrail.android.sync.debugger import ChannelLost
from handrail.android.sync.react_native import Host, bare, is_telling, merge, nameless, place, read_listing
from handrail.screen.node import Bounds, Screen
from handrail.screen.parse import parse
from tests.cases import each

PACKAGE = "com.example.app"
DENSITY = 320  # 2 px per dp
Box = tuple[float, float, float, float]


def host(
    box: Box | None, *names: str, test_id: str = "", text: str = "", depth: int = 1, **props: str
) -> Host:
    return Host(names, props, test_id, text, depth, box)


def screen(*nodes: tuple[str, Bounds]) -> Screen:
    made = "".join(
        f'<node class="android.view.ViewGroup" package="{PACKAGE}" enabled="true" {words} bounds="{bounds}"/>'
        for words, bounds in nodes
    )
    root = f'<node class="android.widget.FrameLayout" package="{PACKAGE}" bounds="[0,0][720,1280]">'
    return parse(f"<hierarchy rotation='0'>{root}{made}</node></hierarchy>".encode())


def button(left: int, top: int, size: int = 96, words: str = "") -> tuple[str, Bounds]:
    return f'clickable="true" {words}', Bounds(left, top, left + size, top + size)


def names(shown: Screen, *hosts: Host) -> list[str]:
    """In the order of the screen; "" for what got none."""
    wanting = nameless(shown, PACKAGE)
    found = merge(hosts, wanting, shown, DENSITY)
    return [found.get(node.id, "") for node in wanting]


def test_an_icon_names_the_button_that_it_is_inside_of() -> None:
    shown = screen(button(0, 0), button(600, 0))
    arrow, gear = host((12, 12, 24, 24), "Svg", "ArrowLeft"), host((312, 12, 24, 24), "Svg", "Settings")
    assert names(shown, arrow, gear) == ["ArrowLeft", "Settings"]


def test_what_a_thing_is_made_of_is_no_name() -> None:
    shown = screen(button(0, 0))
    assert names(shown, host((0, 0, 48, 48), "View", "Pressable", "HomeScreen")) == [""]
    assert names(shown, host((0, 0, 48, 48), "View", "Pressable", "SendButton")) == ["SendButton"]


def test_a_prop_that_names_it_goes_before_its_component() -> None:
    shown = screen(button(0, 0))
    assert names(shown, host((12, 12, 24, 24), "Icon", "Bin", name="trash")) == ["trash"]
    assert names(shown, host((12, 12, 24, 24), "Bin", name="x", accessibilityLabel="Delete")) == ["Delete"]


def test_the_host_that_fills_most_of_it_wins() -> None:
    shown = screen(button(0, 0))
    inner, outer = host((12, 12, 24, 24), "Plus", depth=5), host((0, 0, 48, 48), "AddContact", depth=3)
    assert names(shown, inner, outer) == ["AddContact"]
    assert names(shown, host((0, 0, 48, 48), "Outer", depth=3), host((0, 0, 48, 48), "Inner", depth=4)) == [
        "Inner"
    ]


def test_a_host_names_one_element_and_the_smallest_comes_first() -> None:
    shown = screen(('clickable="true"', Bounds(0, 0, 300, 300)), button(100, 100))
    assert names(shown, host((60, 60, 24, 24), "Heart")) == ["", "Heart"]


def test_a_speck_does_not_name_a_page() -> None:
    shown = screen(('clickable="true"', Bounds(0, 0, 720, 1280)))
    assert names(shown, host((10, 10, 16, 16), "Close")) == [""]


def test_a_host_without_a_place_names_nothing_but_by_its_test_id() -> None:
    shown = screen(button(0, 0, words='resource-id="send"'))
    assert names(shown, host(None, "Plane")) == [""]
    assert names(shown, host(None, "Plane", test_id="send")) == ["Plane"]
    twice = [host(None, "Plane", test_id="send"), host(None, "Ship", test_id="send")]
    assert names(shown, *twice) == [""]


@pytest.mark.parametrize("words", ['text="Send"', 'content-desc="Send"'])
def test_an_own_label_is_never_overridden(words: str) -> None:
    assert nameless(screen(button(0, 0, words=words)), PACKAGE) == []


def test_other_apps_on_the_screen_are_none_of_ours() -> None:
    assert nameless(screen(button(0, 0)), "com.example.other") == []


def test_the_windows_offset_is_found_by_words_that_both_sides_have() -> None:
    shown = screen(('text="Inbox"', Bounds(100, 148, 300, 188)), button(0, 100), button(0, 200))
    title = host((50, 50, 100, 20), "Text", text="Inbox")
    wrong = [host((300, 40 * n, 48, 48), "Nothing") for n in range(4)]
    [placed, *_] = place([title, *wrong], shown.nodes, DENSITY)
    assert placed.bounds == Bounds(100, 148, 300, 188)
    assert names(shown, title, host((12, 38, 24, 24), "Up"), host((12, 88, 24, 24), "Down")) == ["Up", "Down"]


def test_without_common_words_equal_sizes_vote_and_one_vote_is_none() -> None:
    shown = screen(button(0, 148), button(200, 348), button(400, 500, 60))
    views = [host((0, 50, 48, 48), "View"), host((100, 150, 48, 48), "View")]
    assert [one.bounds for one in place(views, shown.nodes, DENSITY)] == [
        Bounds(0, 148, 96, 244),
        Bounds(200, 348, 296, 444),
    ]
    [alone] = place([host((180, 200, 30, 30), "View")], shown.nodes, DENSITY)
    assert alone.bounds == Bounds(360, 400, 420, 460)


@each(
    ("name", "telling"),
    [
        ("ArrowLeft", True), ("Camera", True), ("SendButton", True), ("ScrollText", True), ("Settings", True),
        ("View", False), ("RCTView", False), ("RNSVGPath", False), ("AnimatedComponent", False), ("e", False),
        ("TouchableOpacity", False), ("HomeScreen", False), ("ThemeProvider", False), ("SafeAreaView", False),
        ("IconButton", False), ("withTheme", False), ("", False), ("FlatList", False),
    ],
)  # fmt: skip
def test_a_name_tells_what_a_thing_is_or_only_what_it_is_made_of(name: str, telling: bool) -> None:
    assert is_telling(name) is telling


def test_wrapped_components_have_the_name_that_was_wrapped() -> None:
    assert [bare(one) for one in ("memo(Star)", "withTheme(ForwardRef(Star))", "Star")] == ["Star"] * 3


def listed(**changes: Any) -> dict[str, Any]:
    whole = {
        "type": "RCTView",
        "depth": 1,
        "names": ["Star"],
        "props": {},
        "testID": "",
        "text": "",
        "box": [0, 0, 1, 1],
    }
    return {**whole, **changes}


@each("box", [None, [], [0, 0, None, None], [0, 0, 0, 5], ["a", 0, 1, 1], [0, 0, 1]])
def test_a_view_that_was_not_measured_has_no_place(box: Any) -> None:
    [found] = read_listing(json.dumps({"hosts": [listed(box=box)], "left": 0})).hosts
    assert found.box is None


def test_hosts_that_make_no_sense_are_left_out() -> None:
    hosts = [1, {}, listed(props=7), listed(names=None), listed(depth="x"), listed()]
    assert [one.names for one in read_listing(json.dumps({"hosts": hosts, "left": 0})).hosts] == [("Star",)]


@each("told", [None, "", "7", "[]", "{}", '{"hosts": 3, "left": 0}', '{"problem": "no hook"}'])
def test_what_is_no_list_is_no_answer(told: Any) -> None:
    with pytest.raises(ChannelLost):
        read_listing(told)

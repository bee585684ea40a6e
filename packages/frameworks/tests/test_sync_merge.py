from __future__ import annotations

import json
from typing import Any

import pytest

from handrail.screen.node import Bounds, Screen
from handrail.screen.parse import parse
from handrail_frameworks.debugger import ChannelLost
from handrail_frameworks.react_native import Host, bare, is_telling, merge, nameless, read_listing
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


def test_a_host_without_a_place_names_nothing_but_by_its_test_id() -> None:
    shown = screen(button(0, 0, words='resource-id="send"'))
    assert names(shown, host(None, "Plane")) == [""]
    assert names(shown, host(None, "Plane", test_id="send")) == ["Plane"]
    twice = [host(None, "Plane", test_id="send"), host(None, "Ship", test_id="send")]
    assert names(shown, *twice) == [""]


def test_other_apps_on_the_screen_are_none_of_ours() -> None:
    assert nameless(screen(button(0, 0)), "com.example.other") == []


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

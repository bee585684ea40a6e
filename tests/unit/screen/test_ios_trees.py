"""Screens of iPhones: what each attribute becomes, and how much of real trees is read."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from bench.ios_screens import Judged, judge, printed_refs
from bench.ios_screens import read as read_recording

from handrail.errors import TreeParseError
from handrail.screen.elements import elements
from handrail.screen.node import Node, Screen, class_role, touchable
from handrail.screen.parse import parse
from handrail.screen.refs import Registry
from handrail.screen.windows import has_keyboard, modal_above, system_dialogs
from tests.cases import each
from tests.corpus import CORPUS, needs_corpus
from tests.unit.ios.scripted_wda import app, node

FOLDER = CORPUS / "ios" if CORPUS is not None else Path("none")
FILES = sorted(path for kind in ("wda_xml", "maestro", "other", "idb") for path in (FOLDER / kind).glob("*"))


def read(*children: dict[str, Any], scale: float = 1.0, package: str = "com.example.app") -> Screen:
    return parse(json.dumps(app(*children)), scale=scale, package=package)


def the(screen: Screen, kind: str) -> Node:
    return next(node for node in screen.nodes if node.short_class == kind)


KINDS = {
    "Button": "button", "Link": "button", "Icon": "button", "SecureTextField": "text_field",
    "TextView": "text_field", "SearchField": "text_field", "StaticText": "text_view", "Switch": "switch",
    "Slider": "slider", "Stepper": "slider", "Table": "list", "CollectionView": "list", "Cell": "list_item",
    "TabBar": "tab", "NavigationBar": "toolbar", "ActivityIndicator": "progress_bar", "Picker": "spinner",
    "WebView": "web_view", "Alert": "container", "Other": "container", "Any": "unknown", "Ruler": "unknown",
}  # fmt: skip


@each("kind, role", KINDS.items())
def test_a_type_has_the_role_of_the_table(kind: str, role: str) -> None:
    assert class_role(f"XCUIElementType{kind}") == role


def test_the_editable_text_of_ios_is_not_androids_text_view() -> None:
    assert class_role("android.widget.TextView") == "text_view"
    assert class_role("XCUIElementTypeTextView") == "text_field"


def test_points_become_pixels() -> None:
    screen = read(node("Button", (10, 20, 30, 40), label="Go"), scale=3)
    assert the(screen, "Button").bounds == (30, 60, 120, 180)
    assert (screen.width, screen.height) == (1170, 2532)


def test_a_field_that_shows_its_placeholder_is_empty() -> None:
    screen = read(node("TextField", (0, 0, 90, 40), value="Name", placeholderValue="Name", label=""))
    field = the(screen, "TextField")
    assert (field.text, field.hint_text, field.role) == ("", "Name", "text_field")


def test_a_secure_field_is_masked_whatever_its_length() -> None:
    screen = read(node("SecureTextField", (0, 0, 90, 40), value="•••••••", label="Code"))
    field = the(screen, "SecureTextField")
    assert field.password
    assert field.masked_text == "••••"


def test_a_switch_is_on_by_its_value() -> None:
    on, off = (
        node("Switch", (0, y, 50, 30), label="Wi-Fi", value=value) for y, value in ((0, "1"), (40, "0"))
    )
    switches = [one for one in read(on, off).nodes if one.role == "switch"]
    assert [(one.checkable, one.checked, one.state_description) for one in switches] == [
        (True, True, ""),
        (True, False, ""),
    ]


def test_buttons_in_a_tab_bar_are_tabs_and_the_chosen_one_is_selected() -> None:
    bar = node(
        "TabBar", (0, 760, 390, 84),
        node("Button", (0, 760, 195, 84), label="Home", value="1"),
        node("Button", (195, 760, 195, 84), label="More", traits="Button, Selected"),
    )  # fmt: skip
    tabs = [one for one in read(bar).nodes if one.description]
    assert [(one.role, one.selected) for one in tabs] == [("tab", True), ("tab", True)]


def test_traits_say_what_an_other_is() -> None:
    screen = read(node("Other", (0, 0, 90, 40), label="Pay", traits="Button"))
    assert [one.role for one in screen.nodes if touchable(one)] == ["button"]


def test_a_box_that_is_one_element_may_be_touched() -> None:
    screen = read(node("Other", (0, 0, 90, 40), label="Pay", isAccessible="1"))
    assert [one.description for one in screen.nodes if touchable(one)] == ["Pay"]


def test_an_alert_is_a_window_in_front_that_takes_every_touch() -> None:
    alert = node(
        "Alert", (60, 300, 270, 180), node("Button", (60, 440, 135, 40), label="Allow"),
        label="“Notes” Would Like to Send You Notifications",
    )  # fmt: skip
    screen = read(node("Button", (10, 20, 90, 40), label="Save"), node("Other", (0, 0, 390, 844), alert))
    save = next(one for one in screen.nodes if one.description == "Save")
    assert len(screen.windows) == 2
    front = modal_above(screen, save)
    assert front is screen.windows[-1]
    assert front.pane_title.startswith("“Notes”")


def test_an_alert_of_the_home_screen_is_a_prompt_of_the_system_and_an_apps_is_not() -> None:
    alert = node(
        "Alert", (60, 300, 270, 180), node("Button", (60, 440, 135, 40), label="OK"), label="Low Battery"
    )
    [prompt] = system_dialogs(read(alert, package="com.apple.springboard"))
    assert (prompt.title, prompt.buttons) == ("Low Battery", ("OK",))
    assert system_dialogs(read(alert)) == []


def test_the_keyboard_is_in_front_and_is_not_the_app() -> None:
    keys = [node("Key", (10 * at, 600, 30, 40), label=letter) for at, letter in enumerate("qwe")]
    screen = read(node("TextField", (0, 0, 90, 40)), node("Keyboard", (0, 600, 390, 244), *keys))
    assert has_keyboard(screen)
    assert screen.package == "com.example.app"
    assert {one.is_key for one in elements(screen) if one.node.role == "button"} == {True}


def test_a_turned_phone_has_the_size_of_its_window() -> None:
    window = node("Window", (0, 0, 844, 390), node("Button", (700, 20, 90, 40), label="Save"))
    screen = parse(json.dumps(node("Application", (0, 0, 390, 844), window)))
    assert (screen.width, screen.height) == (844, 390)


def test_a_tree_without_a_name_is_marked_as_cut_and_not_as_empty() -> None:
    screen = read(node("Other", (0, 0, 390, 844)))
    assert screen.is_cut
    assert screen.warnings


def test_what_is_not_visible_may_have_visible_children() -> None:
    box = node("Other", (0, 0, 390, 400), node("Button", (0, 0, 90, 40), label="Go"), isVisible="0")
    assert [element.label for element in elements(read(box))] == ["Go"]


def test_an_element_whose_place_is_left_out_stands_in_the_corner() -> None:
    tree = '<XCUIElementTypeApplication type="XCUIElementTypeApplication" width="390" height="844">'
    tree += '<XCUIElementTypeButton label="Go" width="90" height="40"/></XCUIElementTypeApplication>'
    assert [element.label for element in elements(parse(tree))] == ["Go"]


@pytest.mark.parametrize(
    "broken", ["{", '{"type": "Button", "rect": {"x"', "<XCUIElementTypeButton", '{"rect": 1}']
)
def test_a_broken_tree_is_an_error_and_nothing_else(broken: str) -> None:
    with pytest.raises(TreeParseError):
        parse(broken)


@needs_corpus
@each("path", FILES)
def test_every_recorded_screen_is_read(path: Path) -> None:
    screen = parse(path.read_bytes())
    assert screen.nodes
    assert not [warning for warning in screen.warnings if "damaged" in warning]


@needs_corpus
def test_what_can_be_touched_and_read_on_recorded_screens_is_told() -> None:
    """Strictly, by a judge that reads the recordings by itself: a ref of its own, or around exactly one."""
    total = Judged()
    for path in (path for path in FILES if path.parent.name != "maestro"):
        raw = path.read_bytes()
        built = Registry().rebuild(parse(raw))
        shown = [built.ref_map[ref] for ref in printed_refs(built.text)]
        refs = {(each.short_class, tuple(each.bounds)) for each in shown}
        total += judge(read_recording(raw), built.text, refs)
    assert total.touchable > 800
    assert len(total.missed) <= total.touchable * 0.005, total.missed
    assert len(total.lost) <= total.texts * 0.01, total.lost


@needs_corpus
def test_refs_on_neighbouring_screens_mean_the_same_element() -> None:
    """Recordings of one app one after another: a ref that stayed has the words and the kind that it had."""
    pairs = wrong = kept = 0
    for before, after in pairwise(FILES):
        old, new = parse(before.read_bytes()), parse(after.read_bytes())
        registry = Registry()
        was = registry.rebuild(old).ref_map
        now = registry.rebuild(new).ref_map
        pairs += 1
        for ref in was.keys() & now.keys():
            kept += 1
            one, other = was[ref], now[ref]
            same_kind = one.short_class == other.short_class
            words = one.resource_id, one.description, one.text if one.role != "text_field" else ""
            others = other.resource_id, other.description, other.text if other.role != "text_field" else ""
            wrong += not (same_kind and words == others)
    assert (wrong, pairs > 100, kept > 100) == (0, True, True)

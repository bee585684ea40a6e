"""uiautomator XML: attributes in Android's order, only what is visible, cut to what is visible."""

from __future__ import annotations

import re
from typing import Any

from handrail_sim.screen.dump import nodes, quoted, resource_id, text_of
from handrail_sim.system.activities import Activity, App
from handrail_sim.view import View, column, frame, icon_button, row, scroll, spacer, text
from tests.hand import Hand, phone_with

ORDER = (
    "index text resource-id class package content-desc checkable checked clickable enabled focusable focused "
    "scrollable long-clickable password selected bounds"
).split()


class Odd(Activity):
    def build(self) -> View:
        return column(
            text('Tom & "Jerry" <3\nnew', id="words"),
            icon_button("more", "", id="wordless"),
            frame(text("inside"), on_click=self.finish, id="worded"),
            text("gone", visible=False),
            text("after the gap", id="after"),
            frame(text("secret canvas"), accessible=False, id="canvas"),
            View(id="=test_tag", width=10.0, height=10.0),
            View(
                id="android:id/raw",
                width=10.0,
                height=10.0,
                package="other.app",
                attrs={"class": "x.Y", "hint": "h"},
            ),
            row(text("only words"), id="plain"),
            scroll(
                column(*[text(f"Row {number}", padding=20.0) for number in range(40)]), id="rows", weight=1.0
            ),
            spacer(1.0),
            height="fill",
        )


class OddApp(App):
    package = "com.example.odd"
    label = "Odd"
    activities = {"Odd": Odd}


def odd(**options: Any) -> Hand:
    hand = phone_with(OddApp, **options)
    hand.phone.start_activity(package="com.example.odd")
    return hand


def test_the_attributes_stand_in_androids_order() -> None:
    dump = odd().phone.dump()
    assert dump.startswith(
        "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation=\"0\"><node "
    )
    first = re.search(r"<node ([^>]*)>", dump)
    assert first is not None
    assert re.findall(r'([\w-]+)="', first[1]) == ORDER


def test_the_decor_stands_around_the_content() -> None:
    seen = odd().see()
    assert [node["class"].rpartition(".")[2] for node in seen[:4]] == [
        "FrameLayout",
        "LinearLayout",
        "FrameLayout",
        "FrameLayout",
    ]
    assert seen[3].id == "android:id/content"
    assert seen[3].bounds == (0, 63, 1080, 2274)


def test_text_is_escaped_as_android_does() -> None:
    dump = odd().phone.dump()
    assert """ text='Tom &amp; "Jerry" &lt;3&#10;new' """ in dump
    assert quoted("a\x01b") == '"a.b"'
    assert quoted("it's") == '"it\'s"'
    assert quoted('it\'s "so"') == """'it&apos;s "so"'"""
    assert quoted("🎂") == '"&#127874;"'


def test_a_wordless_button_is_marked_and_one_with_words_inside_is_not() -> None:
    hand = odd()
    assert hand.find("wordless").attributes["NAF"] == "true"
    assert "NAF" not in hand.find("worded").attributes
    assert re.search(r'<node NAF="true" index="1"', hand.phone.dump())


def test_invisible_views_are_left_out_and_still_counted() -> None:
    hand = odd()
    assert not hand.sees("gone")
    assert hand.find("after")["index"] == "4"
    assert not hand.sees("secret canvas")
    assert not hand.sees("canvas")


def test_bounds_are_cut_to_what_is_visible() -> None:
    hand = odd()
    rows = [node for node in hand.see() if node.text.startswith("Row")]
    assert len(rows) < 40
    assert rows[-1].bounds[3] == hand.find("rows").bounds[3]
    assert hand.find("rows")["scrollable"] == "true"


def test_ids_are_the_apps_the_systems_or_tags() -> None:
    assert resource_id("save", "com.x") == "com.x:id/save"
    assert resource_id("android:id/content", "com.x") == "android:id/content"
    assert resource_id("=tag", "com.x") == "tag"
    assert odd().find("test_tag").id == "test_tag"


def test_an_attribute_can_be_written_as_it_was_recorded() -> None:
    raw = odd().find("android:id/raw")
    assert raw["class"] == "x.Y"
    assert raw["package"] == "other.app"
    assert raw["hint"] == "h"


def test_a_compressed_dump_drops_plain_containers_and_keeps_their_words() -> None:
    hand = odd()
    full, short = hand.see(), hand.see(compressed=True)
    assert len(short) < len(full)
    assert "plain" not in [node.id.rpartition("/")[2] for node in short]
    assert "only words" in [node.text for node in short]


def test_all_windows_come_with_their_titles_and_types() -> None:
    dump = odd().phone.dump(all_windows=True)
    titles = re.findall(r'<window index="(\d+)" title="([^"]*)"[^>]*active="(\w+)"[^>]*type="(\w+)"', dump)
    assert titles == [
        ("0", "NavigationBar0", "false", "TYPE_SYSTEM"),
        ("1", "StatusBar", "false", "TYPE_SYSTEM"),
        ("2", "com.example.odd/com.example.odd.Odd", "true", "TYPE_APPLICATION"),
    ]
    assert "com.android.systemui:id/clock" in dump


def test_the_walk_sees_what_the_dump_writes() -> None:
    hand = odd()
    window = hand.phone.focused_window()
    assert window is not None
    walked = [(text_of(view), str(index)) for view, _, index in nodes(window)]
    assert walked == [(seen.text, seen["index"]) for seen in hand.see()]


def test_a_dump_is_kept_until_something_changes() -> None:
    hand = odd()
    assert hand.phone.dump() is not hand.phone.dump()
    window = hand.phone.focused_window()
    assert window is not None
    before = window.version
    hand.phone.dump()
    assert window.version == before

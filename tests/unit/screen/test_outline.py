"""The JSON outline: AgenTest's fields, its omissions and its pruning."""

from __future__ import annotations

import json

from handrail.screen.exports import outline
from handrail.screen.parse import parse
from tests.unit.screen.stock_dumps import APP, WHOLE, hierarchy, node, screen

BOX = (0, 100, 500, 200)


def test_defaults_are_left_out() -> None:
    found = outline(screen(node("TextView", text="Hello", box=BOX)))
    assert found["children"] == [{"role": "text_view", "text": "Hello", "bounds": "[0,100][500,200]"}]


def test_every_field_that_says_something_is_there() -> None:
    extra = ' hint="H" tooltip-text="T" state-description="S" pane-title="P"'
    flags = "disabled checkable checked focused selected scrollable clickable long-clickable"
    one = node("CheckBox", desc="News", rid=f"{APP}:id/news", flags=flags, box=BOX, extra=extra)
    assert outline(screen(one))["children"] == [
        {
            "id": f"{APP}:id/news",
            "role": "check_box",
            "desc": "News",
            "hint": "H",
            "state": "S",
            "pane": "P",
            "tooltip": "T",
            "bounds": "[0,100][500,200]",
            "enabled": False,
            "checked": True,
            "focused": True,
            "selected": True,
            "scrollable": True,
            "actions": ["tap", "long_press", "scroll", "check"],
        }
    ]


def test_an_unlabelled_tappable_has_its_class_and_says_that_it_is_clickable() -> None:
    (found,) = outline(screen(node("ImageButton", flags="clickable", box=BOX)))["children"]
    assert (found["cls"], found["clickable"]) == ("ImageButton", True)


def test_an_unlabelled_view_has_its_class_however_plain_it_is() -> None:
    (found,) = outline(screen(node("android.view.View", flags="clickable", box=BOX)))["children"]
    assert found["cls"] == "View"
    (named,) = outline(screen(node("Button", text="Go", box=BOX)))["children"]
    assert "cls" not in named


def test_only_what_can_be_acted_on_is_left_where_that_is_asked_for() -> None:
    words = node("TextView", text="Hello", box=BOX)
    go = node("Button", text="Go", flags="clickable", box=BOX)
    found = outline(screen(node("LinearLayout", words, go)), only_interactive=True)
    assert "Hello" not in str(found)
    assert "Go" in str(found)


def test_a_wrapper_of_one_child_gives_way_to_it() -> None:
    button = node("Button", text="Go", box=BOX)
    found = outline(screen(node("FrameLayout", node("LinearLayout", button))))
    assert [child["role"] for child in found["children"]] == ["button"]


def test_a_wrapper_that_can_be_tapped_or_has_a_name_stays() -> None:
    button = node("Button", text="Go", box=BOX)
    found = outline(
        screen(node("FrameLayout", button, flags="clickable"), node("FrameLayout", button, desc="Card"))
    )
    assert [child["role"] for child in found["children"]] == ["container", "container"]


def test_what_nobody_sees_is_pruned_and_what_is_in_it_stays() -> None:
    inner = node("Button", text="Seen", box=BOX)
    found = outline(
        screen(
            node("TextView", text="empty", box=(5, 5, 5, 5)),
            node("TextView", text="below", box=(0, 2400, 100, 2500)),
            node("TextView", text="hidden", box=BOX, extra=' displayed="false"'),
            node("TextView", text="bar", box=BOX, package="com.android.systemui"),
            node("FrameLayout", inner, box=(0, 0, 0, 0)),
        )
    )
    assert [child["text"] for child in found["children"]] == ["Seen"]


def test_system_ui_stays_when_it_is_all_there_is() -> None:
    clock = node("TextView", text="9:41", box=BOX, package="com.android.systemui")
    shade = node("FrameLayout", clock, package="com.android.systemui", box=WHOLE)
    assert outline(parse(hierarchy(shade)))["children"][0]["text"] == "9:41"


def test_what_a_password_field_holds_is_masked() -> None:
    (found,) = outline(screen(node("EditText", text="hunter2", flags="password", box=BOX)))["children"]
    assert (found["text"], found["password"], found["actions"]) == ("••••", True, ["type"])


def test_a_depth_limit_says_how_much_it_cut() -> None:
    card = node(
        "FrameLayout", node("Button", text="A", box=BOX), node("Button", text="B", box=BOX), desc="Card"
    )
    found = outline(screen(card, node("Button", text="C", box=BOX)), max_depth=2)
    assert [(child.get("desc"), child.get("cut")) for child in found["children"]] == [
        ("Card", 2),
        (None, None),
    ]


def test_several_windows_are_one_outline() -> None:
    found = outline(parse(hierarchy(node("FrameLayout", desc="App"), node("FrameLayout", desc="Dialog"))))
    assert [child["desc"] for child in found["children"]] == ["App", "Dialog"]
    assert json.loads(json.dumps(found)) == found

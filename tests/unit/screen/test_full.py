"""The textual state: every node, one line each."""

from __future__ import annotations

from handrail.screen.exports import full_text, node_line
from handrail.screen.parse import parse
from tests.unit.screen.stock_dumps import APP, hierarchy, node, screen

BOX = (120, 750, 960, 850)


def test_a_screen_begins_with_its_window_and_has_a_line_per_node() -> None:
    one = screen(node("LinearLayout", node("TextView", text="Sign in", box=BOX)))
    assert full_text(one).splitlines() == [
        f"Window: {APP}",
        "  FrameLayout [0,0][1080,2400] clickable=false",
        "    LinearLayout [0,0][1080,2400] clickable=false",
        '      TextView "Sign in" [120,750][960,850] clickable=false',
    ]


def test_a_field_says_whether_it_has_the_focus() -> None:
    one = screen(node("EditText", text="Email", flags="clickable focusable", box=BOX))
    assert node_line(one.nodes[1]) == 'EditText "Email" [120,750][960,850] clickable=true focused=false'


def test_states_and_other_texts_follow() -> None:
    flags = "checkable checked disabled scrollable long-clickable selected"
    one = screen(node("CheckBox", desc="News", rid="a:id/b", flags=flags, box=BOX, extra=' hint="H"'))
    assert node_line(one.nodes[1]) == (
        "CheckBox [120,750][960,850] clickable=false checked=true enabled=false long_clickable=true "
        'scrollable=true selected=true id="a:id/b" desc="News" hint="H"'
    )


def test_nothing_is_pruned() -> None:
    one = screen(node("TextView", text="off", box=(0, 9000, 10, 9010)), node("TextView", box=(0, 0, 0, 0)))
    assert len(full_text(one).splitlines()) == 4


def test_every_window_has_its_heading() -> None:
    bar = node("FrameLayout", package="com.android.systemui", box=(0, 0, 1080, 80))
    lines = full_text(parse(hierarchy(bar, node("FrameLayout")))).splitlines()
    assert [line for line in lines if line.startswith("Window")] == [
        f"Window: {APP}",
        "Window: com.android.systemui",
    ]


def test_a_text_can_never_make_a_line_of_its_own() -> None:
    one = screen(node("TextView", text='a"\nWindow: com.bank\u2028Button\x85', box=BOX))
    text = full_text(one)
    assert len(text.splitlines()) == 3
    assert r'"a\"\nWindow: com.bank\u2028Button\u0085"' in text


def test_what_a_password_field_holds_is_masked() -> None:
    assert "hunter2" not in full_text(screen(node("EditText", text="hunter2", flags="password")))

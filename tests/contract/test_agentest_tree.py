"""Seed 003: what AgenTest says of a node, a role, a fingerprint and the trees that a model reads."""

from __future__ import annotations

import pytest

from handrail.android import constants
from handrail.engine.settle import LOADING_WAIT_MS
from handrail.errors import StaleReference
from handrail.protocol.device import ScrollTo
from handrail.protocol.observe import GetLogs
from handrail.protocol.target import Selector
from handrail.screen.compact import CompactOptions
from handrail.screen.exports import outline
from handrail.screen.fingerprint import idle_fingerprint, screen_fingerprint
from handrail.screen.node import _IOS_KINDS, _ROLE_BY_ENDING, actions_of, class_role
from handrail.screen.refs import Registry
from handrail.screen.windows import loading_indicators
from tests.cases import each
from tests.unit.screen.stock_dumps import APP, node, screen
from tests.unit.screen.test_roles import SEED

BOX = (0, 100, 500, 200)

ROLES = {**{name: role for name, role in SEED.items() if name}, "com.example.Gauge": "unknown"}


@each(("class_name", "role"), ROLES.items())
def test_a_class_has_the_role_of_the_seeds_table(class_name: str, role: str) -> None:
    assert class_role(class_name) == role
    assert screen(node(class_name, box=BOX)).nodes[-1].role == role


def test_the_roles_are_the_nineteen_of_the_seed() -> None:
    seed = {*ROLES.values(), "list_item"}
    assert len(seed) == 19
    assert {*(role for role, _ in _ROLE_BY_ENDING), *_IOS_KINDS, "unknown"} == seed


def test_a_plain_child_of_a_list_is_a_list_item() -> None:
    rows = [node("LinearLayout", box=BOX), node("TextView", text="Ada", box=BOX)]
    drawn = screen(node("ListView", *rows))
    assert [child.role for child in drawn.nodes[-1].parent.children] == ["list_item", "text_view"]


@each(
    ("kind", "flags", "actions"),
    [
        ("Button", "clickable", ["tap"]), ("Button", "long-clickable", ["long_press"]),
        ("ScrollView", "scrollable", ["scroll"]), ("CheckBox", "checkable", ["check"]),
        ("EditText", "", ["type"]), ("SeekBar", "", ["adjust"]), ("TextView", "", []),
        ("CheckBox", "clickable checkable", ["tap", "check"]),
    ],
)  # fmt: skip
def test_what_a_node_offers_follows_from_its_flags_and_class(
    kind: str, flags: str, actions: list[str]
) -> None:
    assert list(actions_of(screen(node(kind, box=BOX, flags=flags)).nodes[-1])) == actions


FLAGS = "enabled focused selected checked checkable clickable scrollable long_clickable password".split()


@each("flag", FLAGS)
def test_each_state_of_a_node_is_its_attribute_in_the_dump(flag: str) -> None:
    on, off = flag.replace("_", "-"), ""
    if flag == "enabled":
        on, off = "", "disabled"
    assert getattr(screen(node("Button", box=BOX, flags=on)).nodes[-1], flag) is True
    assert getattr(screen(node("Button", box=BOX, flags=off)).nodes[-1], flag) is False


def test_a_node_is_its_line_of_the_dump() -> None:
    button = node("Button", box=BOX, text="Save", desc="Save the note", rid=f"{APP}:id/save", index=3)
    found = screen(node("TextView", text="Title", box=(0, 0, 9, 9)), button).nodes[-1]
    assert (found.id, found.index) == ("0.1", 3)
    assert (found.resource_id, found.class_name) == (f"{APP}:id/save", "android.widget.Button")
    assert (found.text, found.description, found.package_name) == ("Save", "Save the note", APP)
    assert (found.bounds.left, found.bounds.top, found.bounds.right, found.bounds.bottom) == BOX
    assert (found.center.x, found.center.y) == (250, 150)


def test_what_a_plain_dump_does_not_tell_is_an_empty_string() -> None:
    found = screen(node("Button", box=BOX)).nodes[-1]
    assert [found.hint_text, found.state_description, found.pane_title, found.tooltip_text] == [""] * 4
    told = ' hint="Name" state-description="On" pane-title="Home" tooltip-text="Adds"'
    told_node = screen(node("EditText", box=BOX, extra=told)).nodes[-1]
    assert [
        told_node.hint_text, told_node.state_description, told_node.pane_title, told_node.tooltip_text
    ] == ["Name", "On", "Home", "Adds"]  # fmt: skip


def test_typing_is_no_other_screen_and_is_no_rest() -> None:
    before, after = (screen(node("EditText", text=text, box=BOX)) for text in ("A", "Ada"))
    assert screen_fingerprint(before) == screen_fingerprint(after)
    assert idle_fingerprint(before) != idle_fingerprint(after)
    assert len(screen_fingerprint(before)) == 6


def test_a_blinking_cursor_a_shaking_box_and_a_clock_are_rest() -> None:
    def drawn(text: str, flags: str, left: int) -> str:
        field = node("EditText", text="Ada", box=(left, 100, 500, 200), flags=flags)
        return idle_fingerprint(screen(field, node("TextView", text=text, box=(0, 300, 500, 400))))

    assert drawn("10:41", "", 0) == drawn("10:42", "focused", 1)


def test_the_tree_for_a_model_leaves_out_what_goes_without_saying() -> None:
    plain = outline(screen(node("TextView", text="Hello", box=BOX), node("Button", text="Save", box=BOX)))
    assert plain["children"][0] == {"role": "text_view", "text": "Hello", "bounds": "[0,100][500,200]"}
    said = node(
        "CheckBox", desc="Agree", rid="a:id/b", box=BOX,
        flags="checkable checked focused selected clickable disabled",
    )  # fmt: skip
    assert outline(screen(said, node("TextView", text="x", box=BOX)))["children"][0] == {
        "id": "a:id/b", "role": "check_box", "desc": "Agree", "bounds": "[0,100][500,200]", "enabled": False,
        "checked": True, "focused": True, "selected": True, "actions": ["tap", "check"],
    }  # fmt: skip


def test_what_has_no_label_goes_by_its_class_and_says_that_it_can_be_tapped() -> None:
    bare = node("android.view.ReactViewGroup", box=BOX, flags="clickable")
    found = outline(screen(bare, node("TextView", text="x", box=BOX)))["children"][0]
    assert (found["cls"], found["clickable"], found["actions"]) == ("ReactViewGroup", True, ["tap"])


def test_hint_state_pane_and_tooltip_are_in_the_tree_for_a_model() -> None:
    told = ' hint="Name" state-description="On" pane-title="Home" tooltip-text="Adds"'
    scroller = node("ScrollView", node("EditText", box=BOX, extra=told, flags="password"), flags="scrollable")
    found = outline(screen(scroller))["children"][0]
    assert found["scrollable"] is True
    [field] = found["children"]
    assert (field["hint"], field["state"], field["pane"], field["tooltip"]) == ("Name", "On", "Home", "Adds")
    assert field["password"] is True


def test_wrappers_what_is_not_seen_and_the_systems_own_are_pruned_and_still_found() -> None:
    wrapped = node("FrameLayout", node("Button", text="In", box=BOX), box=BOX)
    drawn = screen(
        node("TextView", text="Here", box=BOX),
        wrapped,
        node("TextView", text="No size", box=(5, 5, 5, 5)),
        node("TextView", text="Off", box=(0, 2500, 500, 2600)),
        node("TextView", text="Clock", box=(0, 0, 90, 90), package="com.android.systemui"),
    )
    assert [child.get("text") for child in outline(drawn)["children"]] == ["Here", "In"]
    assert {"No size", "Off", "Clock"} <= {one.text for one in drawn.nodes}, "the tree itself is whole"


def test_the_compact_text_takes_the_options_of_the_seed() -> None:
    buttons = [
        node("Button", text=f"Letter {n}", box=(0, 100 * n, 500, 100 * n + 90), flags="clickable")
        for n in range(20)
    ]
    drawn, registry = screen(*buttons, node("TextView", text="A word", box=(0, 2100, 500, 2190))), Registry()
    result = registry.rebuild(drawn)
    assert (result.ref_count, len(result.ref_map), result.truncated) == (20, 20, False)
    assert result.line_count == len(result.text.splitlines())
    assert len(result.fingerprint) == 6
    short = registry.rebuild(drawn, CompactOptions(max_lines=5))
    assert (short.truncated, short.line_count, short.ref_count) == (True, 5, 20)
    assert CompactOptions().max_lines == 200
    assert CompactOptions().max_depth == 0
    assert "A word" in result.text
    assert "A word" not in registry.rebuild(drawn, CompactOptions(only_interactive=True)).text


def test_a_name_from_outside_is_shown_for_an_icon_and_finds_it() -> None:
    drawn = screen(node("android.view.ReactViewGroup", box=BOX, flags="clickable"))
    [found] = [one for one in drawn.nodes if one.clickable]
    result = Registry().rebuild(drawn, CompactOptions(external_labels={found.id: "ArrowLeft"}))
    assert "ArrowLeft" in result.text


def test_a_ref_is_looked_up_and_a_registry_is_cleared() -> None:
    registry = Registry()
    registry.rebuild(screen(node("Button", text="Save", box=BOX, flags="clickable")))
    assert registry.resolve("@b1").text == "Save"
    assert registry.size == 1
    with pytest.raises(StaleReference):
        registry.resolve("@b9")
    registry.clear()
    assert registry.size == 0


def test_the_numbers_of_the_seed_are_ours() -> None:
    assert constants.SHELL_TIMEOUT_MS == 30_000
    assert (constants.READ_ATTEMPTS, constants.READ_RETRY_GROWTH > 1) == (3, True)
    assert constants.DOUBLE_TAP_GAP_MS == 100
    assert constants.LOGCAT_LINES == GetLogs().max_lines == 200
    assert constants.GRPC_PORT_OFFSET == 3_000
    assert ScrollTo(target=Selector(text="a")).max_scrolls == 10
    assert LOADING_WAIT_MS == 8_000


@each("text", ["Loading…", "Loading...", "Please wait…"])
def test_words_and_spinners_count_as_loading(text: str) -> None:
    assert loading_indicators(screen(node("TextView", text=text, box=BOX)))
    assert loading_indicators(screen(node("ProgressBar", box=(480, 1100, 600, 1220))))
    assert not loading_indicators(screen(node("TextView", text="Ready", box=BOX)))

"""What a screen's nodes can be recognised by."""

from __future__ import annotations

import pytest

from handrail.screen.match.features import NAME, NUMBER, REPEATED, Links, ScreenFeatures, label_of
from handrail.screen.node import Screen
from handrail.screen.parse import parse
from tests.cases import each
from tests.unit.screen.drawn import Box, node, row, screen, windows

SWITCH_WORDS = "on off an ein aus oui non sí no 开 关 开启 关闭 オン オフ вкл выкл".split()


def label(kind: str, flags: str = "", **said: str) -> str:
    return label_of(screen(node(kind, flags=flags, **said)).nodes[1])


def test_a_node_is_called_by_the_first_thing_that_it_says() -> None:
    said = {
        "text": "one", "content_desc": "two", "hint": "three", "tooltip_text": "four", "pane_title": "five",
    }  # fmt: skip
    for name in list(said):
        assert label("TextView", **said) == said.pop(name)
    assert label("TextView") == ""


def test_a_field_is_not_called_by_what_is_typed() -> None:
    assert label("EditText", text="typed", content_desc="Name", hint="Your name") == "Name"
    assert label("EditText", text="typed", hint="Your name") == "Your name"
    assert label("EditText", text="typed") == ""


@each("word", SWITCH_WORDS)
def test_a_switch_is_not_called_by_its_state(word: str) -> None:
    assert label("Switch", "checkable", text=word.upper(), content_desc="Wifi") == "Wifi"
    assert label("TextView", text=word) == word


def test_a_check_is_called_by_its_words() -> None:
    assert label("CheckBox", "checkable", text="Remember me", content_desc="x") == "Remember me"


@each(("text", "name"), [("12:34", ""), ("Note: 12", "Note: 12"), ("1234", "1234"), ("12.34", "12.34")])
def test_a_clock_is_no_name(text: str, name: str) -> None:
    assert label("TextView", text=text) == name


def tokens(drawn: Screen) -> dict[str, int]:
    """What kind of label each text is; 0 for none."""
    features = ScreenFeatures(drawn)
    return {
        features.label[one.order]: features.token[one.order]
        for one in drawn.nodes
        if features.label[one.order]
    }


def test_names_numbers_and_repeated_names_are_told_apart() -> None:
    words = ("Letters", "12", "€ 5", "Open", "Open", "7 new")
    drawn = screen(*[node("TextView", text=word, box=row(at)) for at, word in enumerate(words)])
    assert tokens(drawn) == {"Letters": NAME, "12": NUMBER, "€ 5": NUMBER, "Open": REPEATED, "7 new": NAME}


def test_all_that_say_the_same_are_repeated() -> None:
    drawn = screen(*[node("TextView", text="Open", box=row(at)) for at in range(3)])
    assert list(ScreenFeatures(drawn).token) == [0, REPEATED, REPEATED, REPEATED]


def test_what_a_label_below_says_again_counts_once() -> None:
    inner = node("TextView", text="Send", box=row(0))
    features = ScreenFeatures(
        screen(node("FrameLayout", inner, node("View", box=row(1)), content_desc="Send"))
    )
    assert list(features.token) == [0, 0, NAME, 0]
    assert list(features.named) == [1, 1, 1, 0]


@pytest.mark.parametrize(("package", "kind"), [("com.android.systemui", 0), ("com.example.app", NAME)])
def test_the_names_of_system_bars_are_everywhere_and_count_for_nothing(package: str, kind: int) -> None:
    app = node("FrameLayout", node("TextView", text="Letters", box=row(0)))
    bar = node("TextView", text="Battery full", package=package, box=(0, 0, 1080, 60))
    assert tokens(parse(windows(app, bar)))["Battery full"] == kind


def test_on_the_systems_own_screen_its_names_count() -> None:
    shade = node("TextView", text="Battery full", package="com.android.systemui")
    assert tokens(parse(windows(shade))) == {"Battery full": NAME}


def test_a_subtree_is_known_by_what_is_in_it_in_this_order() -> None:
    def tree(*words: str, **more: str) -> int:
        inner = [node("TextView", text=word, box=row(at), **more) for at, word in enumerate(words)]
        return ScreenFeatures(screen(*inner)).tree[0]

    assert tree("a", "b") == tree("a", "b")
    assert len({tree("a", "b"), tree("b", "a"), tree("a"), tree("a", "b", resource_id="a:id/x"), tree()}) == 5


def placed(drawn: Screen) -> list[tuple[int, int]]:
    """Scroll container and row of each node, as orders; -1 for none."""
    features = ScreenFeatures(drawn)
    return list(zip(features.scroller, features.unit, strict=True))


def view(*children: str, kind: str = "FrameLayout", flags: str = "", box: Box = (0, 200, 1080, 1400)) -> str:
    return node(kind, *children, box=box, flags=flags)


LEAF = node("TextView", text="Ann", box=row(0))


def test_rows_are_what_a_list_holds() -> None:
    drawn = screen(view(view(LEAF), view(LEAF), kind="ListView"), LEAF)
    assert placed(drawn) == [(-1, -1), (-1, -1), (1, 2), (1, 2), (1, 4), (1, 4), (-1, -1)]
    assert [one.order for one in ScreenFeatures(drawn).rows(1)] == [2, 4]


def test_a_list_of_one_row_has_one_row() -> None:
    """A search left one letter; its parts are no rows."""
    drawn = screen(view(view(LEAF, LEAF), kind="ListView"))
    assert placed(drawn) == [(-1, -1), (-1, -1), (1, 2), (1, 2), (1, 2)]


def test_the_rows_of_a_scroll_view_may_stand_in_one_frame() -> None:
    drawn = screen(view(view(view(LEAF, LEAF)), kind="ScrollView", flags="scrollable"))
    assert placed(drawn) == [(-1, -1), (-1, -1), (1, -1), (1, -1), (1, 4), (1, 5)]


def test_a_single_leaf_or_card_in_a_scroll_view_is_its_row() -> None:
    for inner in (LEAF, view(LEAF, LEAF, flags="clickable")):
        drawn = screen(view(inner, kind="ScrollView", flags="scrollable"))
        assert placed(drawn)[2:3] == [(1, 2)]
        assert [one.order for one in ScreenFeatures(drawn).rows(1)] == [2]


def test_what_does_not_scroll_has_no_rows() -> None:
    assert set(placed(screen(view(view(LEAF), view(LEAF), kind="ScrollView")))) == {(-1, -1)}


def test_the_rows_of_an_inner_list_belong_to_it() -> None:
    shelf = view(LEAF, LEAF, kind="ListView")
    drawn = screen(view(view(shelf), view(LEAF), kind="ListView"))
    assert placed(drawn) == [(-1, -1), (-1, -1), (1, 2), (1, 2), (3, 4), (3, 5), (1, 6), (1, 6)]


def text(words: str, box: Box, flags: str = "") -> str:
    return node("TextView", text=words, box=box, flags=flags)


def title(*nodes: str) -> str | None:
    features = ScreenFeatures(screen(*nodes))
    at = features.title(0)
    return None if at == -1 else features.label[at]


def test_the_topmost_label_is_the_title() -> None:
    high, low = text("High", row(0)), text("Low", row(1))
    assert title(high, low) == title(low, high) == "High"
    assert title(view(low), view(high)) == "High"


def test_of_two_labels_at_the_same_height_the_left_one_is_the_title() -> None:
    left, right = text("Left", row(0, right=500)), text("Right", row(0, left=500))
    assert title(left, right) == title(right, left) == "Left"


def test_of_two_labels_at_one_place_the_first_is_the_title() -> None:
    assert title(text("One", row(0)), text("Two", row(0))) == "One"


def test_a_name_that_is_repeated_may_be_a_title() -> None:
    assert title(text("Letters", row(0)), text("Letters", row(1))) == "Letters"


def test_buttons_counts_and_numbers_are_no_titles() -> None:
    button = text("Send", row(0), "clickable")
    inside = node("LinearLayout", text("Save", row(1)), box=row(1), flags="clickable")
    counts = text("3 selected", row(2)), text("12", row(3))
    assert title(button, inside, *counts) is None
    assert title(button, inside, *counts, text("Letters", row(4))) == "Letters"


def test_a_part_of_the_screen_has_a_title_of_its_own() -> None:
    features = ScreenFeatures(screen(view(text("Upper", row(0))), view(text("Lower", row(1))), view()))
    assert [features.title(order) for order in range(6)] == [2, 2, 2, 4, 4, -1]


def test_a_place_is_the_nearest_part_around_with_three_labels() -> None:
    panel = view(*[text(word, row(at)) for at, word in enumerate("abc")], view())
    features = ScreenFeatures(screen(panel, view(text("d", row(4)), text("e", row(5)))))
    assert features.place == [0, 1, 1, 1, 1, 1, 0, 0, 0]
    assert features.fixed_place == features.place


def test_the_words_in_a_list_make_no_fixed_place() -> None:
    rows = [text(word, row(at)) for at, word in enumerate("abc")]
    features = ScreenFeatures(screen(view(*rows, kind="ListView"), view(*rows)))
    assert features.place == [0, 1, 1, 1, 1, 5, 5, 5, 5]
    assert features.fixed_place == [0, 0, 0, 0, 0, 5, 5, 5, 5]


def test_every_node_is_in_the_window_that_holds_it() -> None:
    features = ScreenFeatures(parse(windows(view(LEAF), view(LEAF, LEAF))))
    assert [features.window(order) for order in range(6)] == [0, 1, 1, 3, 3, 3]
    assert [ScreenFeatures(screen(LEAF)).window(order) for order in (0, 1)] == [0, 0]


def test_the_first_name_of_a_row_is_one_that_no_other_has() -> None:
    drawn = screen(view(text("Open", row(0)), text("12", row(1)), text("Ann", row(2))), text("Open", row(3)))
    features = ScreenFeatures(drawn)
    assert features.first_name(1) == 4
    assert features.first_name(5) == -1


def test_nobody_gets_two_partners() -> None:
    links = Links(ScreenFeatures(screen(LEAF, LEAF)), ScreenFeatures(screen(LEAF, LEAF)))
    links.link(1, 2)
    links.link(1, 1)
    links.link(2, 2)
    assert (links.to_new, links.to_old) == ([-1, 2, -1], [-1, -1, 1])
    links.unlink(1)
    assert (links.to_new, links.to_old) == ([-1, -1, -1], [-1, -1, -1])
    links.link_subtrees(0, 0)
    assert (links.to_new, links.to_old) == ([0, 1, 2], [0, 1, 2])

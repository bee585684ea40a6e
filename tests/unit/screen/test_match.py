"""Who is who on two screens."""

from __future__ import annotations

from handrail.screen.match import Matching, match
from handrail.screen.node import Node, Screen
from handrail.screen.parse import parse
from tests.unit.screen.drawn import Box, node, row, screen, windows

FRAME: Box = (0, 200, 1080, 1400)
TITLE = node("TextView", text="Letters", box=(0, 0, 1080, 100))


def find(drawn: Screen, label: str) -> Node:
    found = [one for one in drawn.nodes if label in (one.text, one.description)]
    assert len(found) == 1, label
    return found[0]


def partner(matching: Matching, label: str) -> str | None:
    """What the node with this label is called on the new screen."""
    new = matching.new_of(find(matching.old, label))
    return (new.text or new.description) if new else None


def button(text: str, box: Box, **more: str) -> str:
    return node("Button", text=text, box=box, flags="clickable", **more)


def entry(title: str, note: str, place: int, shift: int = 0, flags: str = "clickable") -> str:
    """A row of a list, 200 px high."""
    top = FRAME[1] + 200 * place + shift
    words = [node("TextView", text=title, box=(0, top, 900, top + 100))]
    words.append(node("TextView", text=note, box=(0, top + 100, 900, top + 200)))
    menu = node("ImageButton", box=(900, top, 1080, top + 200), flags="clickable")
    return node("LinearLayout", *words, menu, box=(0, top, 1080, top + 200), flags=flags)


def listed(*rows: str) -> Screen:
    return screen(TITLE, node("ListView", *rows, box=FRAME, flags="scrollable"))


def test_equal_screens_match_node_by_node() -> None:
    drawn = [screen(TITLE, button("Send", row(1)), node("EditText", box=row(2))) for _ in range(2)]
    assert match(*drawn).to_new == list(range(len(drawn[0].nodes)))


def test_an_insertion_above_moves_nobody_to_another() -> None:
    old = screen(TITLE, button("Send", row(0)), button("Save", row(1)))
    new = screen(TITLE, button("Print", row(0)), button("Send", row(1)), button("Save", row(2)))
    matching = match(old, new)
    assert [partner(matching, label) for label in ("Send", "Save")] == ["Send", "Save"]
    assert matching.old_of(find(new, "Print")) is None


def test_swapped_elements_keep_who_they_are() -> None:
    old = screen(TITLE, button("Send", row(0)), button("Save", row(1)), button("Print", row(2)))
    new = screen(TITLE, button("Print", row(0)), button("Save", row(1)), button("Send", row(2)))
    assert [partner(match(old, new), label) for label in ("Send", "Save", "Print")] == [
        "Send",
        "Save",
        "Print",
    ]


def test_a_button_that_changes_its_words_among_known_ones_is_the_same() -> None:
    old = screen(TITLE, button("Follow", row(0)), button("Save", row(1)), button("Print", row(2)))
    new = screen(TITLE, button("Following", row(0)), button("Save", row(1)), button("Print", row(2)))
    assert partner(match(old, new), "Follow") == "Following"


def test_a_field_is_the_same_whatever_is_typed() -> None:
    old = screen(TITLE, node("EditText", text="", box=row(0)), node("EditText", text="b", box=row(1)))
    new = screen(TITLE, node("EditText", text="b", box=row(0)), node("EditText", text="", box=row(1)))
    matching = match(old, new)
    assert [one.order for one, _ in matching.pairs()] == [other.order for _, other in matching.pairs()]


def test_nameless_siblings_match_while_none_came_or_left() -> None:
    icons = [node("ImageView", box=(100 * n, 0, 100 * n + 90, 90), flags="clickable") for n in range(3)]
    assert all(order >= 0 for order in match(screen(TITLE, *icons), screen(TITLE, *icons)).to_new)


def test_nameless_siblings_do_not_match_when_one_left() -> None:
    def icons(count: int) -> list[str]:
        return [
            node("ImageView", box=(100 * n, 0, 100 * n + 90, 90), flags="clickable") for n in range(count)
        ]

    matching = match(screen(TITLE, *icons(3)), screen(TITLE, *icons(2)))
    assert [one.short_class for one, _ in matching.pairs()] == ["FrameLayout", "TextView"]


def test_rows_that_scroll_keep_who_they_are() -> None:
    old = listed(*[entry(f"Letter {n}", "unread", n) for n in range(6)])
    new = listed(*[entry(f"Letter {n}", "unread", n - 2) for n in range(2, 8)])
    matching = match(old, new)
    assert partner(matching, "Letter 3") == "Letter 3"
    assert partner(matching, "Letter 0") is None
    assert [(scroll.dx, scroll.dy) for scroll in matching.scrolls] == [(0, -400)]


def test_a_recycled_row_is_another_row() -> None:
    old = listed(*[entry(f"Letter {n}", "unread", n) for n in range(6)])
    new = listed(*[entry(f"Letter {n}", "unread", n - 6) for n in range(6, 12)])
    matching = match(old, new)
    assert partner(matching, "Letters") == "Letters"
    assert all(partner(matching, f"Letter {n}") is None for n in range(6))


def test_nameless_parts_go_with_their_row() -> None:
    old = listed(*[entry(f"Letter {n}", "unread", n) for n in range(6)])
    new = listed(*[entry(f"Letter {n}", "unread", n - 1) for n in range(1, 7)])
    matching = match(old, new)
    icon = next(one for one in matching.old.inside(find(old, "Letter 4").parent or old.root) if not one.text)
    moved = matching.new_of(icon)
    assert moved is not None
    assert moved.parent is find(new, "Letter 4").parent


def test_a_row_whose_note_changes_in_place_is_the_same_row() -> None:
    old = listed(*[entry(f"Letter {n}", f"state {n}", n) for n in range(5)])
    new = listed(*[entry(f"Letter {n}", "read" if n == 2 else f"state {n}", n) for n in range(5)])
    assert partner(match(old, new), "state 2") == "read"


def test_a_row_whose_title_changes_in_place_is_another_row() -> None:
    old = listed(*[entry(f"Letter {n}", f"state {n}", n) for n in range(5)])
    new = listed(*[entry("Postcard" if n == 2 else f"Letter {n}", f"state {n}", n) for n in range(5)])
    assert partner(match(old, new), "Letter 2") is None


def switch_row(name: str, says: str, place: int) -> str:
    left, top, right, bottom = row(place)
    flags = "checkable clickable" + (" checked" if says == "ON" else "")
    switch = node("Switch", text=says, box=(500, top, right, bottom), flags=flags)
    return node(
        "LinearLayout", node("TextView", text=name, box=(left, top, 500, bottom)), switch, box=row(place)
    )


def test_a_switch_may_say_its_state() -> None:
    def switches(bluetooth: str) -> Screen:
        rows = (("Wifi", "ON"), ("Bluetooth", bluetooth), ("Location", "ON"))
        return listed(*[switch_row(name, says, place) for place, (name, says) in enumerate(rows)])

    old, new = switches("OFF"), switches("ON")
    switch = next(one for one in old.nodes if one.text == "OFF")
    same = match(old, new).new_of(switch)
    assert same is not None
    assert (same.text, same.order) == ("ON", switch.order)


def dialog(title: str, text: str, *buttons: str) -> str:
    words = [node("TextView", text=title, box=row(3)), node("TextView", text=text, box=row(4))]
    return node("FrameLayout", *words, *[button(word, row(5 + n)) for n, word in enumerate(buttons)],
                box=(90, 600, 990, 1500))  # fmt: skip


def test_the_ok_of_another_dialog_is_another_button() -> None:
    old = parse(windows(dialog("Delete?", "The letter will be lost.", "Cancel", "OK")))
    new = parse(windows(dialog("Sign out?", "You will have to sign in again.", "Cancel", "OK")))
    assert list(match(old, new).pairs()) == []


def test_the_next_permission_prompt_is_another_one_though_all_its_buttons_are_the_same() -> None:
    buttons = ("While using the app", "Only this time", "Don't allow")
    old = parse(windows(dialog("Take pictures?", "", *buttons)))
    new = parse(windows(dialog("Record audio?", "", *buttons)))
    assert list(match(old, new).pairs()) == []


def test_a_dialog_over_the_screen_leaves_everything_under_it_as_it_was() -> None:
    app = node("FrameLayout", TITLE, button("Send", row(0)), node("ImageView", box=row(1), flags="clickable"))
    old = parse(windows(app))
    new = parse(windows(app, dialog("Delete?", "The letter will be lost.", "Cancel", "OK")))
    assert match(old, new).to_new == [order + 1 for order in range(len(old.nodes))]


def test_another_screen_with_the_same_bar_is_another_screen() -> None:
    bar = node("ImageButton", content_desc="Navigate up", box=(0, 0, 100, 100), flags="clickable")
    old = screen(bar, TITLE, button("Send", row(0)), button("Save", row(1)), button("Print", row(2)))
    words = [node("TextView", text=f"line {n}", box=row(n)) for n in range(4)]
    new = screen(bar, node("TextView", text="About", box=(0, 0, 1080, 100)), *words)
    assert partner(match(old, new), "Navigate up") is None


def test_different_class_or_id_never_match() -> None:
    old = screen(TITLE, button("Send", row(0), resource_id="a:id/one"), button("Save", row(1)))
    new = screen(
        TITLE, button("Send", row(0), resource_id="a:id/two"), node("TextView", text="Save", box=row(1))
    )
    matching = match(old, new)
    assert partner(matching, "Send") is None
    assert partner(matching, "Save") is None


def test_each_node_has_at_most_one_partner() -> None:
    old = listed(*[entry("same", "same", n) for n in range(6)])
    new = listed(*[entry("same", "same", n) for n in range(4)])
    matching = match(old, new)
    taken = [order for order in matching.to_new if order >= 0]
    assert len(taken) == len(set(taken))
    assert all(matching.to_old[n] == o for o, n in enumerate(matching.to_new) if n >= 0)

"""Which links are proposed before any doubt: what is unmistakable, then what stands between these."""

from __future__ import annotations

import pytest

from handrail.screen.match import keys_that_occur_once, link_children, link_unmistakable, match
from handrail.screen.match.features import Links, ScreenFeatures
from handrail.screen.node import Node, Screen
from handrail.screen.parse import parse
from tests.unit.screen.drawn import node, row, screen, windows
from tests.unit.screen.test_match import TITLE, button, entry, listed


def proposed(old: Screen, new: Screen) -> Links:
    links = Links(ScreenFeatures(old), ScreenFeatures(new))
    link_unmistakable(links)
    link_children(links)
    return links


def anchored(old: Screen, new: Screen) -> Links:
    links = Links(ScreenFeatures(old), ScreenFeatures(new))
    link_unmistakable(links)
    return links


def text(words: str, at: int = 0, **more: str) -> str:
    return node("TextView", text=words, box=row(at), **more)


def group(*inside: str, **more: str) -> str:
    return node("FrameLayout", *inside, box=(0, 200, 1080, 2400), **more)


def test_only_what_occurs_once_is_unmistakable() -> None:
    assert keys_that_occur_once([("a", 1), ("b", 2), ("a", 3), ("c", 0), ("b", 4), ("b", 5)]) == {"c": 0}


def test_a_subtree_is_found_wherever_it_went() -> None:
    card = group(text("Ann"), group(text("unread", 1), node("ImageView", box=row(1))))
    old, new = screen(card, group(text("Bob"))), screen(group(text("Bob"), card))
    assert anchored(old, new).to_new[1:6] == [3, 4, 5, 6, 7]


def test_a_subtree_without_names_is_not_searched_for() -> None:
    """A picture went from the page to the bar: no one can tell that it is the same picture."""
    picture = node("ImageView", box=row(3))
    old, new = (
        screen(group(TITLE), group(text("a"), picture)),
        screen(group(TITLE, picture), group(text("a"))),
    )
    assert proposed(old, new).to_new == [0, 1, 2, 4, 5, -1]


def test_a_card_that_is_described_is_found_though_its_parts_changed_and_moved() -> None:
    def card(name: str, note: str) -> str:
        return group(text(note), text(f"{note} more", 1), content_desc=name)

    old = screen(group(card("Ann", "now"), card("Bob", "then")))
    new = screen(group(card("Bob", "later")), group(card("Ann", "soon")))
    found = anchored(old, new)
    assert [found.to_new[order] for order in (2, 5)] == [6, 2]


def test_a_container_that_says_nothing_is_not_found_by_its_class() -> None:
    old = screen(node("GridLayout", text("a"), box=row(0)))
    new = screen(group(node("GridLayout", text("b"), box=row(0))))
    assert anchored(old, new).to_new[1] == -1


def test_an_id_that_occurs_once_is_unmistakable() -> None:
    def box(words: str) -> str:
        return node("EditText", box=row(0), resource_id="a:id/name", text=words)

    assert anchored(screen(box("a")), screen(group(box("b")))).to_new == [1, 2]
    assert anchored(screen(box("a")), screen(group(box("b"), box("c")))).to_new == [-1, -1]


def test_containers_follow_most_of_their_content() -> None:
    old = screen(group(group(text("a"), text("b", 1), text("c", 2))))
    new = screen(group(text("a")), group(group(text("b", 1), text("c", 2))))
    assert anchored(old, new).to_new[:3] == [0, 3, 4]
    most_first = screen(group(group(text("b", 1), text("c", 2))), group(text("a")))
    assert anchored(old, most_first).to_new[:3] == [0, 1, 2]


def test_a_container_follows_its_content_into_its_own_kind_only() -> None:
    old = screen(group(text("a")))
    new = screen(node("GridLayout", text("a"), box=row(0)))
    assert anchored(old, new).to_new == [0, -1, 2] or anchored(old, new).to_new == [-1, -1, 2]


def test_a_page_that_becomes_a_window_among_others_is_found_by_its_content() -> None:
    page = group(TITLE, text("a"))
    old, new = parse(windows(page)), parse(windows(group(TITLE, text("b")), group(text("c", 5))))
    assert anchored(old, new).to_new == [1, 2, -1]
    assert anchored(new, old).to_new == [-1, 0, 1, -1, -1, -1]


def test_roots_of_one_kind_are_linked_and_others_are_not() -> None:
    assert proposed(screen(text("a")), screen(text("b"))).to_new[0] == 0
    assert proposed(screen(text("a")), parse(windows(node("GridLayout", text("b"))))).to_new == [-1, -1]


def test_what_looks_like_none_of_its_siblings_is_found_among_them() -> None:
    icon, line = node("ImageView", box=row(5)), node("View", box=row(6))
    old, new = screen(TITLE, icon, line, line), screen(TITLE, line, line, icon)
    assert proposed(old, new).to_new == [0, 1, 4, -1, -1]


def test_as_many_of_the_same_kinds_between_linked_siblings_are_the_same() -> None:
    old = screen(text("a"), button("x", row(1)), text("b", 2), button("y", row(3)))
    new = screen(text("a"), button("v", row(1)), text("b", 2), button("w", row(3)))
    assert proposed(old, new).to_new == [0, 1, 2, 3, 4]


def test_nothing_is_linked_past_a_linked_sibling() -> None:
    old = screen(button("x", row(0)), text("a", 1))
    new = screen(text("a", 1), button("w", row(2)))
    assert proposed(old, new).to_new == [0, -1, 1]
    assert proposed(new, old).to_new == [0, 2, -1]


def test_of_more_or_fewer_only_what_is_alone_of_its_kind_is_linked() -> None:
    field = node("EditText", text="typed", box=row(4))
    old = screen(text("a"), button("x", row(1)), button("y", row(2)), field)
    new = screen(text("a"), button("v", row(1)), field)
    assert proposed(old, new).to_new == [0, 1, -1, -1, 3]


def test_alone_of_its_kind_is_what_has_an_id_or_the_same_label() -> None:
    def page(word: str, *more: str, **said: str) -> Screen:
        return screen(text("a"), node("CheckBox", text=word, box=row(1), **said), *more)

    extra = node("View", box=row(5))
    twin = node("FrameLayout", node("CheckBox", text="Yes", box=row(8), resource_id="a:id/yes"), box=row(8))
    assert proposed(page("Yes"), page("No", extra)).to_new[2] == -1
    known = {"resource_id": "a:id/yes"}
    assert proposed(page("Yes", twin, **known), page("No", extra, twin, **known)).to_new[2] == 2


def names(*words: str, first: int = 0, height: int = 100) -> Screen:
    """A list of names; look-alikes are told by their places only."""
    rows = [
        node("TextView", text=word, flags="clickable",
             box=(0, 200 + height * at, 1080, 200 + height * at + height))
        for at, word in enumerate(words, first)
    ]  # fmt: skip
    return screen(TITLE, node("ListView", *rows, box=(0, 200, 1080, 2200), flags="scrollable"))


def linked(old: Screen, new: Screen) -> list[int]:
    """The places in the new list of the old list's rows, -1 for none."""
    found = proposed(old, new).to_new[3:]
    return [order - 3 if order != -1 else -1 for order in found]


def test_look_alikes_next_to_a_known_row_are_followed_from_both_ends() -> None:
    old = names("Ann", "x", "x", "Bob", "x", "x", "Eve")
    new = names("Ann", "x", "x", "x", "x", "Eve")
    assert linked(old, new) == [0, 1, 2, -1, 3, 4, 5]


def test_look_alikes_that_both_ends_claim_for_different_ones_are_nobodys() -> None:
    """One of three went: which one nobody can tell."""
    old, new = names("Ann", "x", "x", "x", "Bob"), names("Ann", "x", "x", "Bob")
    assert linked(old, new) == [0, -1, -1, -1, 3]
    assert linked(new, old) == [0, -1, -1, 4]
    assert [match(old, new).to_new[3 + at] for at in (1, 2, 3)] == [-1, -1, -1]


def test_look_alikes_that_only_one_end_claims_follow_it() -> None:
    """Rows were added at the end, where nothing is known."""
    assert linked(names("Ann", "x", "x"), names("Ann", "x", "x", "x")) == [0, 1, 2]
    assert linked(names("x", "x", "Ann", first=1), names("x", "x", "x", "Ann")) == [1, 2, 3]
    assert linked(names("Ann", "x", "x"), names("Zoe", "Ann", "x", "x", "x")) == [1, 2, 3]
    assert linked(names("x", "x", "Ann"), names("x", "x", "x", "Ann", "Zoe")) == [1, 2, 3]


def test_a_look_alike_that_moved_otherwise_is_not_followed() -> None:
    old = names("Ann", "x", "x")
    new = names("Ann", "x", "x", "x", height=120)
    assert linked(old, new) == [0, 1, -1]


def test_following_ends_where_the_rows_differ() -> None:
    old = names("Ann", "x", "y", "x", "x", "z")
    new = names("Ann", "x", "z", "x", "x", "z", "z")
    assert linked(old, new) == [0, 1, -1, -1, -1, -1]


def test_outside_lists_look_alikes_are_not_followed() -> None:
    icons = [node("ImageView", box=row(at), flags="clickable") for at in range(3)]
    assert proposed(screen(TITLE, *icons), screen(TITLE, *icons[:2])).to_new == [0, 1, -1, -1, -1]


@pytest.mark.parametrize("shift", [0, 40])
def test_a_matching_names_partners_both_ways(shift: int) -> None:
    old = listed(*[entry(name, "unread", at) for at, name in enumerate(("Ann", "Bob", "Eve"))])
    new = listed(*[entry(name, "unread", at, shift) for at, name in enumerate(("Ann", "Bob", "Kim"))])
    found = match(old, new)
    assert found.old is old
    assert found.new is new
    assert found.new_of(old.root) is new.root
    assert found.old_of(new.root) is old.root
    eve: Node = next(one for one in old.nodes if one.text == "Eve")
    kim: Node = next(one for one in new.nodes if one.text == "Kim")
    assert found.new_of(eve) is None
    assert found.old_of(kim) is None
    assert next(iter(found.pairs())) == (old.root, new.root)
    assert all(found.new_of(one) is other and found.old_of(other) is one for one, other in found.pairs())


def test_a_sketch_that_was_made_already_is_used() -> None:
    drawn = screen(TITLE)
    features = ScreenFeatures(drawn)
    assert match(features, features).old is drawn


def test_a_screen_with_two_windows_has_a_root_that_is_linked_too() -> None:
    page = group(TITLE, *[text(word, at) for at, word in enumerate("abcd")])
    old, new = parse(windows(page, group(text("x", 9)))), parse(windows(page, group(text("y", 9))))
    assert match(old, new).to_new[:7] == [0, 1, 2, 3, 4, 5, 6]

"""What makes a place the same one: its title, and how many of its labels stayed."""

from __future__ import annotations

import pytest

from handrail.screen.match import link_children, link_unmistakable, match
from handrail.screen.match.features import KeptLabels, Links, ScreenFeatures
from handrail.screen.node import Screen
from handrail.screen.parse import parse
from tests.cases import each
from tests.unit.screen.drawn import Box, node, row, screen, windows
from tests.unit.screen.test_match import button, entry

PROBE = node("ImageButton", box=(900, 0, 1000, 100), flags="clickable", resource_id="a:id/probe")
"""It has no name, so only its place can tell whether it is the same."""


def place(title: str, words: str, *more: str) -> list[str]:
    """The probe, a title ("" for none) and buttons, whose words are no titles."""
    drawn = [node("TextView", text=title, box=(0, 0, 800, 100))] if title else []
    return [PROBE, *drawn, *[button(word, row(at)) for at, word in enumerate(words.split())], *more]


def is_known(old: Screen, new: Screen) -> bool:
    matching = match(old, new)
    probe = next(one for one in old.nodes if one.id_tail == "probe")
    return matching.new_of(probe) is not None


@each(
    ("old", "new", "same"),
    [
        ("a b", "x y", True),
        ("a b c", "x y z", False),
        ("a b c d e", "a w x y z", True),
        ("a b c d e f", "a v w x y z", False),
        ("a", "a b c d e f g h", False),
        ("a b", "a b c d e f g h", True),
        ("a b c d e f g h", "a b", True),
    ],
)
def test_under_the_same_title_a_third_of_the_labels_is_enough(old: str, new: str, same: bool) -> None:
    """The title counts as one of them, and the screen that lost or won fewer labels decides."""
    assert is_known(screen(*place("Letters", old)), screen(*place("Letters", new))) is same


@each(
    ("old", "new", "same"),
    [("a b c", "x y z", False), ("a b c d", "a b y z", False), ("a b c", "a b z", True)],
)
def test_without_a_title_most_of_the_labels_must_stay(old: str, new: str, same: bool) -> None:
    assert is_known(screen(*place("", old)), screen(*place("", new))) is same


@each(
    ("old", "new", "same"),
    [
        ("a b c d e f g", "a b c d e f z", True),
        ("a b c d e f g h", "a b c d e f y z", False),
        ("a b c d e f", "a b c d y z", False),
        ("a b c", "a b c", True),
        ("a b", "a b", False),
        ("a b c d", "a b c z", False),
        ("a b c", "a b c d", False),
    ],
)
def test_under_another_title_nearly_all_must_stay_or_all_the_rest(old: str, new: str, same: bool) -> None:
    """Six of eight, or everything but the title."""
    assert is_known(screen(*place("Letters", old)), screen(*place("Bills", new))) is same


@pytest.mark.parametrize(("height", "same"), [(1920, True), (1900, False)])
def test_under_another_title_it_must_be_a_page_and_not_a_sheet(height: int, same: bool) -> None:
    """A page fills four fifths of the screen."""

    def page(title: str, words: str) -> Screen:
        inner = node("FrameLayout", *place(title, words), box=(0, 0, 1080, height))
        return screen(inner, node("FrameLayout", box=(0, height, 1080, 2400)))

    assert is_known(page("Letters", "a b c d e f g"), page("Bills", "a b c d e f z")) is same


def test_a_dialog_with_another_title_is_another_dialog_whatever_its_buttons_are() -> None:
    def dialog(title: str) -> Screen:
        app = node("FrameLayout", box=(0, 0, 1080, 2400))
        return parse(
            windows(app, node("FrameLayout", *place(title, "a b c d e f g"), box=(90, 500, 990, 1500)))
        )

    assert is_known(dialog("Delete?"), dialog("Delete?"))
    assert not is_known(dialog("Delete?"), dialog("Sign out?"))


def test_a_title_that_went_to_another_label_counts_from_either_side() -> None:
    """A headline came above the title, or went."""
    line = node("TextView", text="New", box=(0, 0, 800, 40))
    plain, headed = screen(*place("Letters", "a b c d")), screen(line, *place("Letters", "a x y z"))
    assert is_known(plain, headed)
    assert is_known(headed, plain)


def test_what_was_renamed_itself_needs_most_of_the_labels_around_it() -> None:
    def page(word: str, words: str) -> Screen:
        return screen(*place("Letters", words, button(word, row(9))))

    old = page("Follow", "a b c d")
    assert match(old, page("Following", "a b c z")).new_of(old.nodes[-1])
    assert not match(old, page("Following", "a b y z")).new_of(old.nodes[-1])
    assert is_known(old, page("Following", "a x y z"))


def test_a_field_that_shows_its_hint_again_is_not_renamed() -> None:
    def page(top: int, **said: str) -> Screen:
        return screen(*place("Letters", "a b c", node("EditText", box=(0, top, 1080, top + 100), **said)))

    old, new = page(1500, text="typed"), page(1400, hint="Your name")
    assert match(old, new).new_of(old.nodes[-1]) is new.nodes[-1]


@each(
    ("box", "same"),
    [
        ((100, 2000, 500, 2100), True), ((0, 2000, 400, 2100), True), ((100, 2000, 400, 2300), True),
        ((100, 1800, 400, 2100), True), ((102, 2002, 500, 2300), True), ((103, 2000, 500, 2100), False),
        ((100, 2003, 400, 2200), False), ((110, 2010, 410, 2110), False),
    ],
)  # fmt: skip
def test_what_was_renamed_must_stand_at_one_of_its_corners(box: Box, same: bool) -> None:
    """Words make it longer to the left or to the right, up or down."""

    def page(word: str, at: Box) -> Screen:
        return screen(*place("Letters", "a b c", button(word, at)))

    old, new = page("Follow", (100, 2000, 400, 2100)), page("Following", box)
    assert (match(old, new).new_of(old.nodes[-1]) is not None) is same


def kept_labels(old: Screen, new: Screen) -> KeptLabels:
    """Of what anchors and alignment propose."""
    links = Links(ScreenFeatures(old), ScreenFeatures(new))
    link_unmistakable(links)
    link_children(links)
    return KeptLabels(links)


def rows(*names: str) -> str:
    drawn = [entry(name, f"to {name}", at) for at, name in enumerate(names)]
    return node("ListView", *drawn, box=(0, 200, 1080, 1400), flags="scrollable")


TITLED = node("TextView", text="Letters", box=(0, 0, 800, 100))
ALONE, MORE = button("Find", (0, 0, 800, 100)), button("More", (800, 0, 900, 100))


@each(
    ("old", "new", "known"),
    [
        ([TITLED, rows("Ann", "Bob")], [TITLED, rows("Ann", "Bob", "Eve")], True),
        ([TITLED, rows("Ann", "Bob")], [TITLED, rows("Ann", "Kim", "Eve")], False),
        ([TITLED, rows("Ann", "Kim", "Eve")], [TITLED, rows("Ann")], False),
        ([ALONE, rows("Ann", "Bob", "Eve")], [ALONE, rows("Kim", "Bob", "Eve")], True),
        ([ALONE, rows("Ann", "Bob", "Eve")], [ALONE, rows("Kim", "Joe", "Eve")], False),
        ([ALONE], [ALONE], True),
    ],
)
def test_a_screen_is_known_by_most_of_its_labels_on_both_sides(
    old: list[str], new: list[str], known: bool
) -> None:
    """Under another title (here the first row is one) by nearly all of them."""
    assert kept_labels(screen(*old), screen(*new)).kept_on_screen() is known


def test_a_small_window_under_another_title_is_not_known_by_its_labels() -> None:
    def window(name: str) -> Screen:
        title = node("TextView", text=name, box=(100, 600, 900, 700))
        words = [button(word, row(3 + at)) for at, word in enumerate("abcdefgh")]
        shown = parse(windows(node("FrameLayout", title, *words, box=(90, 600, 990, 1900))))
        shown.width, shown.height = 1080, 2400
        return shown

    assert kept_labels(window("Delete?"), window("Delete?")).kept_on_screen()
    assert not kept_labels(window("Delete?"), window("Sign out?")).kept_on_screen()


@each(
    ("old", "new", "every", "most"),
    [
        ([TITLED, rows("Ann")], [TITLED, rows("Bob")], True, True),
        ([TITLED, ALONE, rows("Ann")], [TITLED, ALONE, rows("Bob")], True, True),
        ([TITLED, ALONE, MORE, rows("Ann")], [TITLED, ALONE, rows("Bob")], False, True),
        ([TITLED, ALONE, rows("Ann")], [TITLED, rows("Bob")], False, False),
        ([TITLED, rows("Ann")], [TITLED, ALONE, rows("Bob")], False, False),
        ([ALONE, rows("Ann")], [ALONE, rows("Bob")], False, True),
        ([rows("Ann")], [rows("Ann", "Bob")], False, True),
        ([TITLED, rows("Ann")], [rows("Ann")], False, False),
    ],
)
def test_a_list_is_known_by_what_is_written_around_it(
    old: list[str], new: list[str], every: bool, most: bool
) -> None:
    found = kept_labels(screen(*old), screen(*new))
    assert found.kept_all_outside_lists() is every
    assert found.kept_outside_lists() is most


def test_a_screen_without_words_has_none_on_both_sides() -> None:
    assert kept_labels(screen(PROBE), screen(PROBE, PROBE)).has_no_words()
    assert not kept_labels(screen(PROBE), screen(PROBE, TITLED)).has_no_words()
    assert not kept_labels(screen(PROBE, TITLED), screen(PROBE)).has_no_words()


def test_a_number_that_changed_is_no_label_and_one_that_stayed_is() -> None:
    """A price changes, a house number stays."""

    def page(*numbers: str) -> Screen:
        return screen(*place("Letters", "a b", *[button(one, row(5 + at)) for at, one in enumerate(numbers)]))

    stays, changes = (
        kept_labels(page("10", "20"), page("10", "20")),
        kept_labels(page("10", "20"), page("11", "21")),
    )
    assert stays.stayed.count(True) == 5
    assert changes.stayed.count(True) == 3
    assert is_known(
        screen(*place("", "a x", button("10", row(5)))), screen(*place("", "a y", button("10", row(5))))
    )
    assert not is_known(screen(*place("", "a x y")), screen(*place("", "a v w")))

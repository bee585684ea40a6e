"""A ref is its element or it is stale: what looks like the element, on small screens of our own."""

from __future__ import annotations

import pytest

from handrail.errors import StaleReference
from handrail.screen.node import Screen
from handrail.screen.parse import parse
from handrail.screen.refs import Registry
from tests.cases import each
from tests.unit.screen.drawn import Box, node, row, screen, windows
from tests.unit.screen.test_match import button

VIEW = "android.view.View"  # every container of Compose


def text(words: str, box: Box, **more: str) -> str:
    return node("TextView", text=words, box=box, **more)


def lines(*words: str) -> list[str]:
    return [text(word, row(at)) for at, word in enumerate(words)]


def item(place: int, *words: str, kind: str = VIEW, flags: str = "clickable") -> str:
    return node(kind, *[text(word, row(place)) for word in words], box=row(place), flags=flags)


def follow(old: Screen, new: Screen, label: str) -> str | None:
    """What the element with this label is called on the next screen; None if its ref is stale."""
    registry = Registry()
    before = registry.rebuild(old)
    ref = next(ref for ref, found in before.ref_map.items() if registry.label_of(found).startswith(label))
    registry.rebuild(new)
    try:
        return registry.label_of(registry.resolve(ref))
    except StaleReference as error:
        assert label in str(error)
        return None


def test_a_row_is_not_the_root_of_the_page_that_has_its_label_as_title() -> None:
    """Compose: the title's parent is the page, of the same class, and a tap would go to its middle."""
    old = screen(node(VIEW, item(1, "Sound"), item(2, "Display"), item(3, "Battery")))
    new = screen(node(VIEW, text("Sound", row(0)), item(2, "Ring"), item(3, "Alarm"), flags="clickable"))
    assert follow(old, new, "Sound") is None


def test_a_row_is_not_the_header_that_has_its_label() -> None:
    old = screen(*lines("Audio"), item(2, "DSP Engine"), item(3, "Equalizer"))
    new = screen(node(VIEW, text("DSP Engine", row(0)), box=row(0)), *lines("Off", "Bass", "Treble"))
    assert follow(old, new, "DSP Engine") is None


def test_a_tab_is_not_the_title_of_its_page() -> None:
    def app(title: str, *content: str) -> Screen:
        tabs = [item(at, word) for at, word in enumerate(("Home", "Tasks", "More"), 10)]
        return screen(text(title, row(0)), *content, *tabs)

    old, new = app("Welcome", *lines("Hello")), app("Tasks", *lines("Write", "Read"))
    assert follow(old, new, "Tasks") in (None, "Tasks")
    registry = Registry()
    before = registry.rebuild(old).ref_map
    registry.rebuild(new)
    assert all(
        registry.refs[ref].bounds == found.bounds for ref, found in before.items() if ref in registry.refs
    )


@each("label", ["repo", "stocks", "funds"])
def test_a_tab_of_a_strip_with_one_id_is_known_by_its_label(label: str) -> None:
    def strip(*names: str) -> Screen:
        boxes = [(200 * at, 300, 200 * at + 200, 400) for at in range(len(names))]
        tabs = [
            node("TextView", text=name, box=box, flags="clickable", resource_id="a:id/tab")
            for name, box in zip(names, boxes, strict=True)
        ]
        return screen(*lines("Broker"), node("LinearLayout", *tabs, box=(0, 300, 1080, 400)))

    assert follow(strip("stocks", "repo", "funds"), strip("buy", "sell", "holdings"), label) is None


@each("kind", ["Button", "TextView", VIEW])
def test_view_a_is_not_view_b(kind: str) -> None:
    def page(word: str) -> Screen:
        return screen(
            *lines("Overview", "All pages"),
            node(kind, text=word, box=row(4), flags="clickable"),
            button("Help", row(5)),
        )

    assert follow(page("View A page"), page("View B page"), "View A page") is None


@pytest.mark.parametrize("more", [{}, {"resource_id": "a:id/action"}])
def test_another_button_at_the_same_place_of_a_toolbar_is_another(more: dict[str, str]) -> None:
    def bar(word: str) -> Screen:
        action = node("ImageButton", content_desc=word, box=(900, 0, 1080, 150), flags="clickable", **more)
        return screen(*lines("Notes"), button("Close", (0, 0, 100, 150)), action)

    assert follow(bar("Edit"), bar("Delete"), "Edit") is None


def test_a_section_that_is_called_as_a_row_was_is_not_that_row() -> None:
    def listed(*rows: str) -> Screen:
        return screen(
            text("Music", (0, 0, 1080, 100)),
            node("ListView", *rows, box=(0, 200, 1080, 2000), flags="scrollable"),
        )

    old = listed(*[item(at, word) for at, word in enumerate(("Artists", "Albums", "Songs"))])
    new = listed(item(0, "Artists"), item(1, "Albums", flags=""), item(2, "Abbey Road"), item(3, "Songs"))
    assert follow(old, new, "Albums") is None


def test_an_icon_is_not_the_title_of_the_app_that_it_starts() -> None:
    def app(package: str, *views: str) -> Screen:
        return parse(windows(node("FrameLayout", *views, package=package)))

    def icon(words: str, place: int, package: str) -> str:
        return node("TextView", text=words, box=row(place), flags="clickable", package=package)

    old = app(
        "com.launcher", *[icon(word, at, "com.launcher") for at, word in enumerate(("Contacts", "Clock"))]
    )
    new = app("com.contacts", icon("Contacts", 0, "com.contacts"), icon("Clock", 1, "com.contacts"))
    assert follow(old, new, "Contacts") is None


def test_what_is_in_sight_and_takes_no_taps_has_no_ref_until_it_does_again() -> None:
    """The chosen tab: nothing can be done with it, so its ref is stale and not silently tapped."""

    def tabs(chosen: str) -> Screen:
        drawn = [
            item(at, word, flags="selected" if word == chosen else "clickable")
            for at, word in enumerate(("Home", "Search", "Library"), 3)
        ]
        return screen(*lines("Welcome", "Hello"), *drawn)

    registry = Registry()
    before = registry.rebuild(tabs("Home")).ref_map
    ref = next(ref for ref, found in before.items() if registry.label_of(found) == "Library")
    registry.rebuild(tabs("Library"))
    with pytest.raises(StaleReference, match="Library"):
        registry.resolve(ref)
    assert ref not in registry.refs
    registry.rebuild(tabs("Search"))
    assert registry.label_of(registry.resolve(ref)) == "Library"


def test_a_card_is_carried_only_with_all_that_it_says() -> None:
    def home(*words: str) -> Screen:
        return screen(*lines("Good morning", "Ready?"), item(4, *words), item(5, "History"))

    assert follow(home("FEATURED", "Moonlight", "Ann Lee"), home("FEATURED"), "FEATURED") is None
    assert follow(home("Sound", "Loud"), home("Sound", "Silent"), "Sound") == "Sound · Silent"


@each(
    ("old", "new"),
    [("Inbox (3)", "Inbox (12)"), ("Follow", "Following"), ("Wi-Fi, off", "Wi-Fi, on"), ("Save", "Saved")],
)
def test_what_an_element_changes_itself_keeps_its_ref(old: str, new: str) -> None:
    pages = [
        screen(*lines("Welcome", "Hello"), button(word, row(4)), button("Help", row(5)))
        for word in (old, new)
    ]
    assert follow(*pages, old) == new

"""Which refs come back with a screen that was seen before."""

from __future__ import annotations

from handrail.screen.match.features import ScreenFeatures
from handrail.screen.node import Screen
from handrail.screen.parse import parse
from handrail.screen.refs import RefMemory, Registry, digest_of_typed_text
from tests.cases import each
from tests.unit.screen.drawn import Box, node, row, screen, windows
from tests.unit.screen.test_refs import TITLE, button, buttons, shown

PLACE: Box = (100, 200, 300, 350)


def recalled(before: Screen, after: Screen, order: int = -1) -> str | None:
    """The ref that a node gets back when `after` has the seal of `before`; the last one unless told."""
    recall = RefMemory()
    orders = [one.order for one in before.nodes]
    recall.keep("seal", ScreenFeatures(before), {one: f"@b{one}" for one in orders})
    return recall.find("seal", ScreenFeatures(after), after.nodes[order])


def one(kind: str = "Button", text: str = "Send", box: Box = PLACE, resource_id: str = "a:id/one") -> Screen:
    return screen(TITLE, node(kind, text=text, box=box, resource_id=resource_id, flags="clickable"))


def test_the_same_element_gets_its_ref_back_wherever_it_stands() -> None:
    assert recalled(one(), one(box=(0, 900, 1080, 1000))) == "@b2"


@each("other", [one(kind="ImageButton"), one(text="Save"), one(resource_id="a:id/two")])
def test_another_class_name_or_id_at_its_place_gets_none(other: Screen) -> None:
    assert recalled(one(), other) is None


def test_a_node_beyond_the_earlier_screen_gets_none() -> None:
    assert recalled(screen(TITLE), one()) is None


@each(
    ("box", "same"),
    [
        (PLACE, True), ((102, 198, 302, 348), True), ((103, 200, 300, 350), False),
        ((100, 203, 300, 350), False), ((100, 200, 303, 350), False), ((100, 200, 300, 347), False),
    ],
)  # fmt: skip
def test_a_nameless_element_must_stand_where_it_stood(box: Box, same: bool) -> None:
    assert recalled(one(text=""), one(text="", box=box)) == ("@b2" if same else None)


def test_one_that_is_named_like_another_must_stand_where_it_stood_too() -> None:
    def twins(*boxes: Box) -> Screen:
        return screen(*[node("Button", text="Open", box=box, flags="clickable") for box in boxes])

    before = twins(row(0), row(1))
    assert recalled(before, twins(row(0), row(1))) == "@b2"
    assert recalled(before, twins(row(0), row(3))) is None


def listed(top: int) -> Screen:
    """A list whose first row begins at `top`, in a frame that begins at 200."""
    rows = [
        node("TextView", text=f"Letter {n}", flags="clickable",
             box=(0, max(200, top + 200 * n), 1080, top + 200 * n + 200))
        for n in range(4)
    ]  # fmt: skip
    return screen(node("ListView", *rows, box=(0, 200, 1080, 1200), flags="scrollable"))


def test_a_row_that_an_edge_cuts_off_gets_none() -> None:
    first = 2
    assert recalled(listed(200), listed(200), first) == "@b2"
    assert recalled(listed(100), listed(100), first) is None
    assert recalled(listed(100), listed(100), first + 1) == "@b3"


def test_a_screen_of_one_list_is_cut_by_its_rows_only() -> None:
    """The list is the root: order 0 is a scroll container here, and no row."""
    rows = [node("TextView", text=f"Letter {n}", box=row(n), flags="clickable") for n in range(3)]
    drawn = parse(windows(node("ListView", *rows, flags="scrollable")))
    assert recalled(drawn, drawn, 0) == "@b0"
    assert recalled(drawn, drawn, 2) == "@b2"


def test_forms_are_told_apart_by_what_is_typed() -> None:
    def form(*texts: str) -> Screen:
        fields = [node("EditText", text=text, box=row(place)) for place, text in enumerate(texts)]
        return screen(node("TextView", text="plain", box=row(5)), *fields)

    digests = [digest_of_typed_text(form(*texts)) for texts in (("ab", "c"), ("a", "bc"), ("a", "b"), ())]
    assert len(set(digests)) == 4
    assert digest_of_typed_text(form("ab", "c")) == digests[0]
    assert digest_of_typed_text(screen(TITLE)) == digests[3]
    assert {len(digest) for digest in digests} == {6}, "too short to tell what was typed"


def page(number: int) -> Screen:
    """One of many screens that have nothing in common."""
    title = node("TextView", text=f"Page {number}", box=(0, 0, 1080, 100))
    words = [node("TextView", text=f"line {number}.{place}", box=row(2 + place)) for place in range(3)]
    return screen(title, node("Button", text=f"Go {number}", box=row(0), flags="clickable"), *words)


def seen(registry: Registry, *numbers: int) -> list[str]:
    """The refs on the last of these pages."""
    return [list(shown(registry, page(number))) for number in numbers][-1]


def test_twelve_screens_are_remembered() -> None:
    registry = Registry()
    first = seen(registry, 0)
    assert seen(registry, *range(1, 12), 0) == first
    assert seen(registry, *range(1, 13), 0) != first


def test_the_screen_that_was_not_seen_for_longest_is_forgotten_first() -> None:
    registry = Registry()
    first, second = seen(registry, 0), seen(registry, 1)
    seen(registry, 2, 0, *range(3, 13))
    assert seen(registry, 1) != second
    assert seen(registry, 0) == first


def test_clear_forgets_earlier_screens_too() -> None:
    registry = Registry()
    first = seen(registry, 0)
    seen(registry, 1)
    registry.clear()
    assert seen(registry, 0) != first


def test_a_remembered_ref_whose_element_lives_on_is_not_given_to_a_second_one() -> None:
    """The first of two like rows went and came back, and the other took its place meanwhile."""

    def rows(*words: str) -> Screen:
        drawn = [button(word, place) for place, word in enumerate(words)]
        return screen(TITLE, node("ListView", *drawn, box=(0, 200, 1080, 200 + 150 * len(words))))

    registry = Registry()
    for words in (("Open", "Open", "Save"), ("Open", "Save", "Save"), ("Open", "Save")):
        shown(registry, rows(*words))
    again = registry.rebuild(rows("Open", "Open", "Save"))
    assert len(again.ref_map) == 3
    assert registry.refs == again.ref_map


def test_a_screen_that_is_itself_an_element_keeps_its_ref() -> None:
    registry = Registry()
    drawn = [parse(windows(node("Button", text="Start", flags="clickable"))) for _ in range(2)]
    assert [list(registry.rebuild(each).ref_map) for each in drawn] == [["@b1"], ["@b1"]]


def test_a_box_keeps_its_ref_when_the_button_inside_it_stands_for_both() -> None:
    """A box that takes touches gets a button of its own size, as while a page is being built."""

    def boxed(*inside: str) -> Screen:
        box = node("FrameLayout", *inside, box=row(0), flags="clickable", resource_id="a:id/send")
        return screen(TITLE, box, button("Save", 1), button("Print", 2))

    registry = Registry()
    before = registry.rebuild(boxed())
    ref = next(ref for ref, found in before.ref_map.items() if found.id_tail == "send")
    after = registry.rebuild(boxed(node("Button", text="Send", box=row(0), flags="clickable")))
    assert after.ref_map[ref].text == "Send"
    assert len(after.ref_map) == 3


def test_buttons_moved_by_an_unseen_node_are_not_taken_for_each_other() -> None:
    registry = Registry()
    before = shown(registry, buttons("Send", "Save"))
    shown(registry, screen(node("TextView", text="About", box=row(7))))
    moved = screen(TITLE, node("FrameLayout", box=row(8)), button("Send", 0), button("Save", 1))
    after = shown(registry, moved)
    assert all(before.get(ref, text) == text for ref, text in after.items())

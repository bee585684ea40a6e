"""Every rule of identity has a case on a small screen, and without this rule alone the case goes wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

from handrail.screen import match as rules
from handrail.screen.match import match, rows
from handrail.screen.node import Node, Screen
from handrail.screen.parse import parse
from tests.cases import each
from tests.unit.screen.drawn import Box, node, row, screen, windows
from tests.unit.screen.test_match import TITLE, button, entry, listed

Pick = Callable[[Screen], Node]


UP = node("ImageButton", box=(0, 0, 100, 100), flags="clickable", resource_id="a:id/up")


class Case(NamedTuple):
    """A node of the first screen, and whether it is the same as one of the second."""

    old: Screen
    new: Screen
    pick: Pick
    is_same: bool


def said(text: str) -> Pick:
    return lambda drawn: next(one for one in drawn.nodes if one.text == text)


def around(text: str) -> Pick:
    """The node whose child says this."""
    return lambda drawn: next(one.parent for one in drawn.nodes if one.text == text and one.parent)


def kind(name: str) -> Pick:
    return lambda drawn: next(one for one in drawn.nodes if one.short_class == name)


def text(words: str, box: Box, **more: str) -> str:
    return node("TextView", text=words, box=box, **more)


def lines(*words: str, first: int = 6) -> list[str]:
    """Texts below each other."""
    return [text(word, row(first + place)) for place, word in enumerate(words)]


def tabs(*names: str) -> str:
    """A bar of tabs at the bottom."""
    drawn = [button(name, (150 * place, 2200, 150 * place + 150, 2400)) for place, name in enumerate(names)]
    return node("LinearLayout", *drawn, box=(0, 2200, 1080, 2400))


def letters(*titles: str, shift: int = 0, note: str = "unread") -> Screen:
    return listed(*[entry(title, f"{note} {title}", place, shift) for place, title in enumerate(titles)])


def card_of(*words: str, top: int = 200) -> str:
    """A row of several texts beside each other."""
    boxes = [(250 * at, top, 250 * at + 250, top + 200) for at in range(len(words))]
    parts = [text(word, box) for word, box in zip(words, boxes, strict=True)]
    return node("LinearLayout", *parts, box=(0, top, 1080, top + 200), flags="clickable")


def networks(border: int, *names: str) -> Screen:
    """Saved networks above the border, available ones below it."""
    drawn = [text(name, row(place), flags="clickable") for place, name in enumerate(names)]
    saved = node("ListView", *drawn[:border], box=(0, 200, 1080, row(border)[1]))
    return screen(saved, node("ListView", *drawn[border:], box=(0, row(border)[1], 1080, 2400)))


def another_list() -> Case:
    names = ("Cellar", "Attic", "Home", "Guest", "Garden")
    return Case(networks(3, *names), networks(2, *names), said("Home"), False)


def form(*words: str, first: int = 0) -> Screen:
    """A scroll view that holds its rows in one frame."""
    drawn = [
        node("Button", text=word, box=row(first + place), flags="clickable")
        for place, word in enumerate(words)
    ]
    frame = node("LinearLayout", *drawn, box=(0, 200, 1080, 2400))
    return screen(TITLE, node("ScrollView", frame, box=(0, 200, 1080, 2400), flags="scrollable"))


def frame_around_rows() -> Case:
    return Case(form("Name", "Street", "Send"), form("Name", "Street", "Sending"), kind("LinearLayout"), True)


def plain(*titles: str) -> Screen:
    """Rows that take no taps themselves."""
    return listed(*[entry(title, "unread", place, flags="") for place, title in enumerate(titles)])


def row_itself() -> Case:
    return Case(plain("Ann", "Bob", "Eve"), plain("Ann", "Kim", "Eve"), around("Bob"), False)


def another_row() -> Case:
    def menu(drawn: Screen) -> Node:
        return around("Bob")(drawn).children[-1]

    return Case(plain("Ann", "Bob", "Eve"), plain("Ann", "Kim", "Eve"), menu, False)


def part_of_a_page() -> Case:
    def menu(drawn: Screen) -> Node:
        return around("Bob")(drawn).children[-1]

    return Case(letters("Ann", "Bob", "Eve"), letters("Ann", "Bob", "Kim"), menu, True)


def unchanged_window() -> Case:
    page = node("FrameLayout", TITLE, node("ImageButton", box=row(0), flags="clickable"))
    words = ("Delete the letter?", "It will be lost.", "Nobody can bring it back.", "Delete", "Keep")
    dialog = node("FrameLayout", *lines(*words), box=(90, 1000, 990, 2000))
    return Case(parse(windows(page)), parse(windows(page, dialog)), kind("ImageButton"), True)


def folder(title: str, *names: str) -> Screen:
    rows = [text(name, row(place), flags="clickable") for place, name in enumerate(names)]
    drawn = node("ListView", *rows, box=(0, 200, 1080, 2200), flags="scrollable")
    return screen(text(title, (0, 0, 1080, 100)), drawn, tabs("Home", "Files", "Find", "Share", "More"))


def refilled_list() -> Case:
    old, new = folder("Letters", "Ann", "Bob"), folder("Bills", "Rent", "Power")
    return Case(old, new, kind("ListView"), False)


def renamed_elsewhere() -> Case:
    words = lines("Welcome", "This is a tour.", "It has three pages.")
    old = screen(*words, text("Skip", (0, 2200, 400, 2400), resource_id="a:id/note"))
    new = screen(*words, text("Help", (700, 0, 1080, 150), resource_id="a:id/note"))
    return Case(old, new, said("Skip"), False)


def sheet(question: str, note: str) -> Screen:
    """A page with a sheet at the bottom."""
    page = node("FrameLayout", *lines(*[f"line {n}" for n in range(9)], first=0), box=(0, 0, 1080, 1700))
    asked = (*lines(question, note, first=10), button("Cancel", row(12)), button("OK", row(13)))
    return screen(page, node("FrameLayout", *asked, box=(0, 1700, 1080, 2400)))


def same_surroundings() -> Case:
    old, new = sheet("Delete all?", "They will be lost."), sheet("Send it now?", "It cannot be stopped.")
    return Case(old, new, said("OK"), False)


def icons(count: int) -> list[str]:
    return [node("ImageView", box=row(place), flags="clickable") for place in range(count)]


def wordless_screen() -> Case:
    old, new = screen(UP, *icons(2)), screen(UP, *icons(3))
    return Case(old, new, kind("ImageButton"), True)


def feed(*head: str, titles: str) -> Screen:
    """Rows of 300 px, of which four are seen."""
    rows = [text(title, (0, 200 + 300 * at, 1080, 500 + 300 * at)) for at, title in enumerate(titles.split())]
    return screen(UP, *head, node("ListView", *rows, box=(0, 200, 1080, 1400), flags="scrollable"))


def same_words_on_screen() -> Case:
    old, new = (
        feed(TITLE, text(f"{count} unread", (600, 0, 1080, 100)), titles="Ann Bob Eve Kim")
        for count in ("three", "four")
    )
    return Case(old, new, kind("ImageButton"), True)


def list_under_title() -> Case:
    old, new = (feed(TITLE, titles=titles) for titles in ("Ann Bob Eve Kim", "Joe Max Pia Tom"))
    return Case(old, new, kind("ImageButton"), True)


def scrolled_list() -> Case:
    old, new = (feed(titles=titles) for titles in ("Ann Bob Eve Kim", "Kim Joe Max Pia"))
    return Case(old, new, kind("ImageButton"), True)


def certain_row() -> Case:
    return Case(letters("Ann", "Bob", "Eve"), letters("Eve", "Ann", "Bob"), around("Eve"), True)


def shelf(top: int, *covers: str) -> str:
    boxes = [(200 * place, top, 200 * place + 200, top + 300) for place in range(len(covers))]
    drawn = [text(cover, box, flags="clickable") for cover, box in zip(covers, boxes, strict=True)]
    return node(
        "androidx.recyclerview.widget.RecyclerView", *drawn, box=(0, top, 1080, top + 300), flags="scrollable"
    )


def inner_list() -> Case:
    old = listed(shelf(600, "Ada", "Emil", "Faust"), shelf(900, "Ilias", "Jona", "Kim"))
    new = listed(shelf(400, "Emil", "Faust", "Greta"), shelf(700, "Jona", "Kim", "Lenz"))
    return Case(old, new, around("Emil"), True)


def days(*names: str) -> Screen:
    """Rows of a name and a day, of which the first has slid under the edge but for its day."""
    rest = node(
        "LinearLayout", text("Yesterday", (0, 200, 900, 300)), box=(0, 200, 1080, 300), flags="clickable"
    )
    return listed(rest, *[entry(name, "Yesterday", place, 100) for place, name in enumerate(names)])


def leftover_at_edge() -> Case:
    def first(drawn: Screen) -> Node:
        return kind("ListView")(drawn).children[0]

    return Case(days("Ann", "Bob", "Eve"), days("Ann", "Bob", "Kim"), first, False)


def files(last: str) -> Screen:
    names = ("Letters", "Folder", "Bills", "Folder", last)
    drawn = [text(name, row(place), flags="clickable") for place, name in enumerate(names)]
    return screen(TITLE, node("ListView", *drawn, box=(0, 200, 1080, 1400), flags="scrollable"))


def look_alike() -> Case:
    return Case(files("Photos"), files("Films"), said("Folder"), True)


def slid(by: int) -> Screen:
    """Three letters; the title of the first one slides under the edge first."""
    top = 200 - by
    parts = [("Ann", top), ("about the boat", top + 100)]
    words = [text(word, (0, max(200, at), 900, at + 100)) for word, at in parts if at + 100 > 200]
    first = node("LinearLayout", *words, box=(0, 200, 1080, top + 200), flags="clickable")
    return listed(first, *[entry(name, f"to {name}", place, -by) for place, name in ((1, "Bob"), (2, "Eve"))])


def half_hidden() -> Case:
    return Case(slid(0), slid(100), around("about the boat"), True)


def renamed() -> Case:
    old, new = form("Ann", "Follow", "Bob"), form("Ann", "Following", "Bob", first=1)
    return Case(old, new, said("Follow"), True)


def same_title() -> Case:
    old = listed(entry("Ann", "unread", 0), entry("Bob", "yesterday", 1))
    new = listed(entry("Ann", "read", 0), entry("Bob", "yesterday", 1))
    return Case(old, new, around("Ann"), True)


AROUND = lines("Welcome", "This is a tour.", "It has three pages.")


def page(*views: str) -> Screen:
    """With words around that stay."""
    return screen(*AROUND, *views)


def tappable(kind: str, box: Box, *inside: str, **more: str) -> str:
    return node(kind, *inside, box=box, flags="clickable", **more)


def no_use_any_more() -> Case:
    old, new = page(tappable("TextView", row(4), text="Sound")), page(text("Sound", row(0)))
    return Case(old, new, said("Sound"), False)


def many_times_its_size() -> Case:
    def card(box: Box) -> Screen:
        return page(tappable("FrameLayout", box, text("Map", row(2))))

    return Case(card(row(2)), card((0, 200, 1080, 1300)), around("Map"), False)


def scroll_container() -> Case:
    return Case(letters("Ann", "Bob"), letters("Eve", "Kim"), kind("ListView"), True)


def part_of_another() -> Case:
    def choice(word: str, flags: str) -> Screen:
        box = node("CheckBox", box=(0, 500, 150, 650), flags=f"clickable checkable {flags}")
        return page(tappable("LinearLayout", row(2), box, text(word, (200, 500, 1080, 650))))

    return Case(choice("Red", ""), choice("Blue", "checked"), kind("CheckBox"), False)


def another_caption() -> Case:
    def form(caption: str, flags: str) -> Screen:
        return page(text(caption, row(0)), node("EditText", box=row(1), flags=flags), button("Next", row(2)))

    return Case(form("Your name", ""), form("Your number", "focused"), kind("EditText"), False)


def field_typed_into() -> Case:
    old = page(node("EditText", box=row(1), hint="Search"))
    return Case(old, page(node("EditText", box=row(1), text="boats")), kind("EditText"), True)


def look_alike_elsewhere() -> Case:
    def cards(*names: str) -> Screen:
        drawn = [
            node("LinearLayout", text(name, row(2 * at)), button("Delete", row(2 * at + 1)), box=row(2 * at))
            for at, name in enumerate(names)
        ]
        return page(*drawn)

    return Case(cards("Ann", "Bob"), cards("Kim", "Bob"), said("Delete"), False)


def same_words() -> Case:
    old, new = page(button("Save", row(0))), page(button("Save", row(3, left=300, right=600)))
    return Case(old, new, said("Save"), True)


def better_match_elsewhere() -> Case:
    def boxes(*words: str) -> Screen:
        return page(*[button(word, row(at)) for at, word in enumerate(words)])

    return Case(boxes("Inbox 3", "Inbox 3"), boxes("Inbox 4", "Inbox 3"), said("Inbox 3"), False)


def same_if_text_is_state() -> Case:
    def toggle(word: str, flags: str) -> Screen:
        return page(node("ToggleButton", text=word, box=row(1), flags=f"clickable checkable {flags}"))

    return Case(toggle("Loud", "checked"), toggle("Silent", ""), said("Loud"), True)


def changed_itself() -> Case:
    return Case(page(button("Inbox (3)", row(1))), page(button("Inbox (4)", row(1))), said("Inbox (3)"), True)


def changed_counter() -> Case:
    def badge(words: str) -> Screen:
        return page(button(words, row(1), resource_id="a:id/badge"))

    return Case(badge("3"), badge("4"), said("3"), True)


def text_came_while_loading() -> Case:
    def box(*inside: str) -> Screen:
        return page(tappable("FrameLayout", row(1), *inside, resource_id="a:id/send"))

    return Case(box(), box(text("Send", row(1))), lambda drawn: drawn.nodes[4], True)


def nameless_icon() -> Case:
    def heart(flags: str) -> Screen:
        return page(node("ImageButton", box=row(1), flags=f"clickable {flags}"))

    return Case(heart(""), heart("selected"), kind("ImageButton"), True)


def hearts(first: Box, count: int = 1, **more: str) -> Screen:
    """Two rows that say who they are, with nameless icons; those of the first row are at `first`."""
    drawn = []
    for at, (name, box) in enumerate((("Ann", first), ("Bob", (900, 510, 960, 570)))):
        icons = [tappable("ImageButton", box, **more) for _ in range(count)]
        drawn.append(tappable("LinearLayout", row(2 * at), text(name, row(2 * at, right=400)), *icons))
    return page(*drawn)


def an_icon_of_another_size(count: int = 1, **more: str) -> tuple[Screen, Screen, Pick]:
    return (
        hearts((900, 210, 960, 270), count, **more),
        hearts((900, 210, 990, 300), count, **more),
        kind("ImageButton"),
    )


def in_a_box(caption: str, flags: str = "", control: str = "EditText") -> Screen:
    box = node("FrameLayout", node(control, box=row(1), flags=flags), box=row(1))
    return page(text(caption, row(0)), box, button("Next", row(2)))


def a_button_of_size(box: Box) -> Screen:
    return page(button("Sound", box))


def a_box_at(left: int, top: int, note: str, in_it: tuple[int, int]) -> Screen:
    """A box with a heading and a button; `in_it` is where the button begins, it ends where the box does."""
    box = (left + in_it[0], top + in_it[1], left + 400, top + 300)
    inner = tappable("LinearLayout", box, text("Inbox", box), text(note, box))
    heading = text("Counted today", (left, top, left + 400, top + 60))
    return page(node("FrameLayout", heading, inner, box=(left, top, left + 400, top + 300)))


def loading(top: int, *inside: str) -> Screen:
    return page(tappable("FrameLayout", (0, top, 1080, top + 150), *inside, resource_id="a:id/send"))


def switched(kind_of: str, words: str, flags: str = "") -> Screen:
    return page(node(kind_of, text=words, box=row(1), flags=f"clickable checkable {flags}"))


def icons_in_no_row(right: int) -> Screen:
    """Two icons with one id, in no row; the first ends at `right`."""
    boxes = ((900, 210, right, right - 690), (900, 510, 960, 570))
    return page(*[tappable("ImageButton", box, resource_id=HEART) for box in boxes])


HEART = "a:id/heart"
FINER = [
    ("alone in its row", *an_icon_of_another_size(resource_id=HEART), True),
    ("one of two in its row", *an_icon_of_another_size(2, resource_id=HEART), False),
    ("an icon without an id", *an_icon_of_another_size(), False),
    ("an icon as wide but for two pixels", hearts((900, 210, 960, 270)), hearts((900, 210, 962, 290)),
     kind("ImageButton"), True),
    ("an icon as high but for two pixels", hearts((900, 210, 960, 270)), hearts((900, 210, 990, 272)),
     kind("ImageButton"), True),
    ("an icon that is three pixels wider", hearts((900, 210, 960, 270)), hearts((900, 210, 963, 290)),
     kind("ImageButton"), False),
    ("an icon in no row", icons_in_no_row(960), icons_in_no_row(990), kind("ImageButton"), False),
    ("a caption beside its box", in_a_box("Your name"), in_a_box("Your number", "focused"),
     kind("EditText"), False),
    *[
        (f"a caption beside a {control}", in_a_box("Sound", "clickable", control),
         in_a_box("Light", "clickable focused", control), kind(control), False)
        for control in ("CheckBox", "Switch", "RadioButton", "SeekBar", "Spinner")
    ],
    ("the same caption beside its box", in_a_box("Your name"), in_a_box("Your name", "focused"),
     kind("EditText"), True),
    ("a quarter of the screen", a_button_of_size(row(0)), a_button_of_size((0, 200, 1080, 800)),
     said("Sound"), True),
    ("more than a quarter", a_button_of_size(row(0)), a_button_of_size((0, 200, 1080, 801)),
     said("Sound"), False),
    ("wider in a box that moved", a_box_at(0, 400, "nothing new", (100, 100)),
     a_box_at(500, 900, "one letter", (50, 80)), around("Inbox"), True),
    ("text that came two pixels lower", loading(400), loading(402, text("Send", (0, 402, 1080, 552))),
     lambda drawn: drawn.nodes[4], True),
    ("text that came three pixels lower", loading(400), loading(403, text("Send", (0, 403, 1080, 553))),
     lambda drawn: drawn.nodes[4], False),
    ("a switch that was switched", switched("Switch", "Loud"), switched("Switch", "Silent", "checked"),
     said("Loud"), True),
    ("a switch that was not switched", switched("Switch", "Loud"), switched("Switch", "Silent"),
     said("Loud"), False),
    ("a button that was switched", switched("Button", "Loud"), switched("Button", "Silent", "checked"),
     said("Loud"), False),
]  # fmt: skip


@each(("name", "old", "new", "pick", "same"), FINER, ids=[name for name, *_ in FINER])
def test_the_finer_points_of_rules(name: str, old: Screen, new: Screen, pick: Pick, same: bool) -> None:
    assert is_same(Case(old, new, pick, same)) is same, name


INSIDE = (another_list, frame_around_rows, row_itself, another_row, part_of_a_page)
OUTSIDE = (
    unchanged_window, refilled_list, renamed_elsewhere, same_surroundings, wordless_screen,
    same_words_on_screen, list_under_title, scrolled_list,
)  # fmt: skip
ROWS = (certain_row, inner_list, leftover_at_edge, look_alike, half_hidden, renamed, same_title)
ELEMENTS = (
    no_use_any_more, many_times_its_size, scroll_container, part_of_another, another_caption,
    field_typed_into, look_alike_elsewhere, same_words, better_match_elsewhere, half_hidden,
    same_if_text_is_state, changed_itself, changed_counter, text_came_while_loading, nameless_icon,
)  # fmt: skip
NAMES = [
    (rules, "INSIDE", INSIDE),
    (rules, "OUTSIDE", OUTSIDE),
    (rows, "ROWS", ROWS),
    (rules, "RULES", ELEMENTS),
]
CASES = [
    pytest.param(module, table, rule.__name__, rule, id=rule.__name__)
    for module, table, cases in NAMES
    for rule in cases
]


def is_same(case: Case) -> bool:
    return match(case.old, case.new).new_of(case.pick(case.old)) is not None


@each(("module", "table", "cases"), NAMES, ids=[table for _, table, _ in NAMES])
def test_every_rule_has_a_case(module: object, table: str, cases: tuple[Callable[[], Case], ...]) -> None:
    rules = getattr(module, table)
    assert [rule.__name__ for rule in rules] == [case.__name__ for case in cases]
    assert all(rule.__doc__ for rule in rules)


@pytest.mark.parametrize(("module", "table", "name", "made"), CASES)
def test_a_rule_decides_its_case_and_nothing_else_would(
    module: object, table: str, name: str, made: Callable[[], Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    case = made()
    assert is_same(case) is case.is_same
    others = tuple(rule for rule in getattr(module, table) if rule.__name__ != name)
    monkeypatch.setattr(module, table, others)
    assert is_same(case) is not case.is_same, f"the case of {name} needs no rule"

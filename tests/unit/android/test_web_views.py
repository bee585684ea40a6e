"""Pages in the place of WebViews: which page is whose, where its nodes are, and what stays of the phone's."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from handrail.android.web_views import (
    NOT_SHOWN,
    ListedPage,
    PageLooks,
    WebViews,
    graft_pages,
    is_trusted,
    match_pages,
    read_names,
    web_roots,
)
from handrail.errors import ElementNotInteractable
from handrail.page.reading import PageLook
from handrail.screen.node import FOCUSED, Bounds, Node, Screen
from handrail.screen.reach import element_at, tap_point
from tests.unit.android.sim_phone import Bench, play
from tests.unit.page.test_rows import look_of, row
from tests.unit.safety.policy_subjects import box, find, node, push, screen

WEB = "android.webkit.WebView"
VIEW = Bounds(0, 200, 1000, 1800)
SITE = "https://a.example"


def phone(*after: str, words: str = "Save", focused: str = "false") -> Screen:
    """A bar, a WebView of two nested nodes, and what is drawn after it."""
    inner = node("Shop", push(words, bounds="[20,220][220,320]"), kind=WEB, bounds="[0,200][1000,1800]")
    order = {"drawing-order": "1"}
    web = node("", inner, kind=WEB, bounds="[0,200][1000,1800]", focused=focused, **order)
    return screen(box(push("Help", bounds="[0,0][200,200]"), web, *after))


def look(*rows: list[Any], view: list[float] | None = None, token: str = "w") -> PageLook:
    made = look_of(*rows, token=token, origin=SITE)
    told = view or [400, 640, 2.5, 1, 0, 0, 400]
    return replace(made, viewport=replace(made.viewport, **dict(zip(_VIEWPORT, told, strict=True))))


_VIEWPORT = ("width", "height", "device_scale", "zoom", "left", "top", "shown_width")
SAVE = row(2, 0, "Save", (8, 8, 88, 48), point=[40, 20])


def shown(seen: Screen, page: PageLook) -> Screen:
    [root] = web_roots(seen)
    return graft_pages(seen, {root.order: PageLooks([("", page)])})


def page_nodes(seen: Screen) -> list[Node]:
    return [one for one in seen.nodes if one.native_id]


def test_the_pages_nodes_are_there_once_in_device_pixels_and_the_phones_stay() -> None:
    seen = shown(phone(), look(SAVE))
    assert [one.text for one in seen.nodes if one.text in ("Save", "Help", "Shop")] == ["Help", "Save"]
    save = find(seen, "Save")
    assert save.bounds == Bounds(20, 220, 220, 320)
    assert tap_point(seen, save) == (101, 251)
    assert element_at(seen, 101, 251) is save
    assert (save.place, save.package_name) == (SITE, "com.example.app")
    assert [one.order for one in seen.nodes] == list(range(len(seen.nodes)))
    assert all(one.parent is None or one in one.parent.children for one in seen.nodes)


def test_a_pinched_page_is_where_it_is_seen_and_what_is_outside_is_left_out() -> None:
    view = [400, 640, 2.5, 2, 50, 100, 200]
    rows = (row(2, 0, "In", (60, 110, 100, 130), point=[80, 120]), row(3, 0, "Out", (300, 500, 340, 520)))
    seen = shown(phone(), look(*rows, view=view))
    assert [one.text for one in page_nodes(seen) if one.text] == ["In"]
    assert find(seen, "In").bounds == Bounds(50, 250, 250, 350)


def test_what_the_phone_shows_above_a_page_covers_it() -> None:
    over = push("Chat", bounds="[0,200][400,400]", **{"drawing-order": "2"})
    seen = shown(phone(over), look(SAVE))
    with pytest.raises(ElementNotInteractable, match="Chat"):
        tap_point(seen, find(seen, "Save"))
    hit = element_at(seen, 101, 251)
    assert hit is not None
    assert hit.text == "Chat"


def test_a_page_has_the_focus_only_where_its_view_has_it() -> None:
    field = row(2, 0, "Ann", (8, 8, 88, 48), role="textbox", flags=1 | FOCUSED)
    assert not any(one.focused for one in page_nodes(shown(phone(), look(field))))
    assert any(one.focused for one in page_nodes(shown(phone(focused="true"), look(field))))


def test_handrails_own_page_is_shown_neither_by_itself_nor_by_accessibility() -> None:
    seen = phone(words="Approve")
    [root] = web_roots(seen)
    told = graft_pages(seen, {root.order: PageLooks((), is_own=True)})
    assert not any("Approve" in one.text for one in told.nodes)
    assert [one.description for one in told.nodes if one.role == "web_view"] == [NOT_SHOWN]


def test_a_page_that_is_somewhere_else_is_not_believed() -> None:
    names = [f"Row {number}" for number in range(4)]
    inner = [
        push(name, bounds=f"[20,{220 + 100 * at}][220,{300 + 100 * at}]") for at, name in enumerate(names)
    ]
    seen = screen(box(node("", *inner, kind=WEB, bounds="[0,200][1000,1800]")))
    [root] = web_roots(seen)

    def rows(shift: int) -> list[list[Any]]:
        return [
            row(2 + at, 0, name, (8, 8 + 40 * at + shift, 88, 40 + 40 * at + shift))
            for at, name in enumerate(names)
        ]

    assert is_trusted(seen, root, look(*rows(0)))
    wide = [[*line[:7], 8 + 4 * (line[7] - 8), *line[8:]] for line in rows(0)]
    assert is_trusted(seen, root, look(*wide)), "a page boxes the paragraph, accessibility its words"
    assert not is_trusted(seen, root, look(*rows(30)))
    assert not is_trusted(seen, root, look(*rows(0), view=[200, 640, 2.5, 1, 0, 0, 200]))


def test_pages_belong_to_the_views_where_they_say_they_are() -> None:
    low = Bounds(0, 1800, 1000, 2300)
    pages = [listed("a", low), listed("b", VIEW), listed("c", VIEW, is_shown=False), listed("d", None)]
    found = match_pages([(VIEW, ""), (low, "")], pages)
    assert {number: page.id for number, page in found.items()} == {0: "b", 1: "a"}
    assert match_pages([(VIEW, "")], [listed("a", VIEW), listed("b", VIEW)]) == {}


def test_a_browsers_tab_is_known_by_being_alone_or_by_its_title() -> None:
    assert match_pages([(VIEW, "")], [listed("a", None)])[0].id == "a"
    tabs = [listed("a", None, title="News"), listed("b", None, title="Mail")]
    assert match_pages([(VIEW, "Mail")], tabs)[0].id == "b"
    assert match_pages([(VIEW, "Other")], tabs) == {}
    assert match_pages([(VIEW, "Mail"), (VIEW, "News")], tabs) == {}


def listed(page: str, place: Bounds | None, *, is_shown: bool = True, title: str = "") -> ListedPage:
    return ListedPage("webview_devtools_remote_1", page, title, is_shown, place)


def test_sockets_are_read_from_the_kernels_list() -> None:
    line = "0000000000000000: 00000002 00000000 00010000 0001 01 {} @{}\n"
    names = [
        "chrome_devtools_remote",
        "webview_devtools_remote_4711",
        "stetho_com.app",
        "Terrace_devtools_remote",
    ]
    listing = "".join(line.format(number, name) for number, name in enumerate(names))
    assert read_names(listing + listing) == [names[0], names[1], names[3]]


def test_a_screen_without_a_webview_asks_nobody_and_says_nothing() -> None:
    async def story(bench: Bench) -> None:
        said: list[str] = []
        webs = WebViews(bench.device, bench.clock, said.append)
        seen = screen(box(push("Help", bounds="[0,0][200,200]")))
        assert await webs.fill(seen) is seen
        assert await webs.fill(seen) is seen
        assert (bench.link.opened, said) == ([], [])

    play(story)

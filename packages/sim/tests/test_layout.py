"""Measured layout, on trees without a phone: 1 dp is 2 px."""

from __future__ import annotations

from handrail_sim.view import View, button, column, frame, grid, hscroll, lazy_list, pager, row, scroll, text
from handrail_sim.view.layout import lay_out
from handrail_sim.view.memory import Memory, adopt
from handrail_sim.view.units import Units, edges, gravity

UNITS = Units(2.0, 2.0)


def box(width: float = 10.0, height: float = 10.0, **options: object) -> View:
    return View(**{"width": width, "height": height, **options})


def laid_out(root: View, width: int = 200, height: int = 400, memory: Memory | None = None) -> View:
    adopt(root, {} if memory is None else memory)
    lay_out(root, (0, 0, width, height), UNITS)
    return root


def test_a_column_puts_children_below_each_other_with_gaps_and_margins() -> None:
    first, second = box(), box(margin=(1.0, 2.0))
    laid_out(column(first, second, gap=5.0, padding=3.0))
    assert first.bounds == (6, 6, 26, 26)
    assert second.bounds == (8, 40, 28, 60)


def test_weights_share_what_is_left_to_the_last_pixel() -> None:
    parts = [box(weight=1.0, width="wrap") for _ in range(3)]
    laid_out(row(*parts, gap=1.0), width=200)
    assert [part.bounds[0] for part in parts] == [0, 67, 134]
    assert parts[-1].bounds[2] == 200


def test_a_weighted_child_fills_the_rest_of_a_column() -> None:
    rest = column(weight=1.0)
    laid_out(column(box(height=50.0), rest, box(height=20.0), height="fill"))
    assert rest.bounds == (0, 100, 200, 360)


def test_a_frame_places_each_child_by_its_own_align() -> None:
    corner, middle = box(align="end bottom", margin=4.0), box(align="center")
    laid_out(frame(corner, middle, height="fill"))
    assert corner.bounds == (172, 372, 192, 392)
    assert middle.bounds == (90, 190, 110, 210)


def test_a_row_centres_its_children_and_stretches_those_that_fill() -> None:
    tall, small, filling = box(height=40.0), box(), box(height="fill")
    laid_out(row(tall, small, filling))
    assert small.bounds[1] == 30
    assert filling.h == 80


def test_a_grid_has_equal_columns() -> None:
    cells = [box(width="fill", height=10.0 + number) for number in range(5)]
    laid_out(grid(2, *cells, gap=2.0))
    assert [cell.bounds[:2] for cell in cells] == [(0, 0), (102, 0), (0, 26), (102, 26), (0, 56)]
    assert cells[0].w == 98


def test_an_invisible_child_takes_no_room() -> None:
    hidden, shown = box(visible=False), box()
    laid_out(column(hidden, shown))
    assert shown.y == 0
    assert not hidden.on_screen


def test_text_wraps_where_it_must_and_ends_in_an_ellipsis_where_it_may_not() -> None:
    words = text("several words that need more than one line here")
    laid_out(column(words))
    assert len(words.lines) > 1
    assert words.w <= 200
    narrow = button("a very long label for a button", width=60.0)
    laid_out(column(narrow))
    assert narrow.w == 120


def test_a_scroller_clips_what_is_out_of_sight() -> None:
    parts = [box(width="fill", height=50.0) for _ in range(10)]
    holder = scroll(column(*parts))
    laid_out(holder)
    assert holder.content == 1000
    assert parts[3].clip == (0, 300, 200, 400)
    assert not parts[4].on_screen


def test_a_scroll_offset_is_pulled_back_when_the_content_shrinks() -> None:
    memory: Memory = {"page": {"offset": 900}}
    parts = [box(width="fill", height=50.0) for _ in range(5)]
    laid_out(scroll(column(*parts), id="page"), memory=memory)
    assert memory["page"]["offset"] == 100
    assert parts[0].y == -100


def test_a_sideways_scroller_keeps_its_row_in_one_line() -> None:
    parts = [box(width=60.0) for _ in range(4)]
    holder = hscroll(row(*parts, width="wrap"))
    laid_out(holder)
    assert holder.content == 480
    assert [part.on_screen for part in parts] == [True, True, False, False]


def rows(count: int, memory: Memory | None = None, built: list[int] | None = None, **options: object) -> View:
    def build(number: int) -> View:
        if built is not None:
            built.append(number)
        return box(width="fill", height=20.0, text=str(number))

    listing = lazy_list(list(range(count)), build, item_key=str, id="list", **options)
    laid_out(listing, memory=memory)
    return listing


def shown(listing: View) -> list[str]:
    return [child.text for child in listing.children]


def test_a_list_builds_only_the_rows_in_sight() -> None:
    built: list[int] = []
    listing = rows(10_000, built=built)
    assert shown(listing) == [str(number) for number in range(10)]
    assert built == list(range(10))
    assert listing.scrollable


def test_a_list_follows_its_offset_across_rows() -> None:
    memory: Memory = {"list": {"first": 0, "offset": 130}}
    listing = rows(100, memory)
    assert memory["list"]["first"] == 3
    assert memory["list"]["offset"] == 10
    assert shown(listing)[0] == "3"
    assert listing.children[0].y == -10


def test_a_list_stops_at_its_last_row() -> None:
    memory: Memory = {"list": {"first": 95, "offset": 30}}
    listing = rows(100, memory)
    assert shown(listing)[-1] == "99"
    assert listing.children[-1].bounds[3] == 400
    assert shown(listing)[0] == "90"


def test_a_short_list_does_not_scroll() -> None:
    listing = rows(5)
    assert not listing.scrollable
    assert len(listing.children) == 5


def test_a_list_with_columns_puts_rows_side_by_side() -> None:
    listing = rows(30, columns=3)
    assert [child.bounds[0] for child in listing.children[:4]] == [0, 66, 133, 0]


def test_a_list_that_begins_at_its_end_stays_there_when_rows_come() -> None:
    memory: Memory = {}
    assert shown(rows(50, memory, from_end=True))[-1] == "49"
    assert shown(rows(51, memory, from_end=True))[-1] == "50"
    memory["list"].update(first=5, offset=0)
    assert shown(rows(51, memory, from_end=True))[0] == "5"
    assert shown(rows(52, memory, from_end=True))[0] == "5"


def test_a_pager_shows_one_page() -> None:
    pages = [column(box()), column(box())]
    laid_out(pager(1, *pages))
    assert not pages[0].on_screen
    assert pages[1].x == 0


def test_edges_and_gravity_read_as_written() -> None:
    assert edges((1.0, 2.0), 2.0) == (2, 4, 2, 4)
    assert edges((1.0, 2.0, 3.0, 4.0), 1.0) == (1, 2, 3, 4)
    assert gravity("end") == (1.0, None)
    assert gravity("center top") == (0.5, 0.0)
    assert gravity("") == (None, None)


def test_a_view_refuses_a_word_it_does_not_know() -> None:
    try:
        View(colour="red")
    except TypeError as error:
        assert "colour" in str(error)
    else:
        raise AssertionError

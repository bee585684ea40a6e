"""What is in front within one window, and what a web page's tree can tell of it."""

from __future__ import annotations

import pytest

from handrail.errors import ElementNotInteractable
from handrail.screen.node import Node, Screen
from handrail.screen.parse import parse
from handrail.screen.reach import element_at, tap_point, touch_targets
from tests.unit.screen.drawn import Box, body, node, screen, windows

FULL = (0, 0, 1080, 2400)


def button(words: str, box: Box) -> str:
    return node("Button", text=words, box=box, flags="clickable")


def words(said: str, box: Box) -> str:
    return node("TextView", text=said, box=box)


def page(*, name: str, shift: int = 0, count: int = 8) -> list[str]:
    """Rows from top to bottom."""
    return [
        button(f"{name} {n}", (40, 100 + 280 * n + shift, 900, 240 + 280 * n + shift)) for n in range(count)
    ]


def box_of(*inside: str, box: Box = FULL, **more: str) -> str:
    return node("android.view.View", *inside, box=box, **more)


def named(drawn: Screen, label: str) -> Node:
    return next(one for one in drawn.nodes if label in (one.text, one.description))


def test_a_player_over_the_home_page_is_in_front_and_the_page_is_behind_it_as_a_whole() -> None:
    home, player = page(name="Song"), page(name="Knob", shift=60)
    for drawn in (screen(box_of(*home), box_of(*player)), screen(box_of(*home), *player)):
        shown = body(drawn)
        assert shown[:8] == [f"@b{9 + n} Knob {n}" for n in range(8)]
        assert shown[8:] == ["behind:", *(f" @b{1 + n} Song {n}" for n in range(8))]


def test_what_is_behind_is_touched_beside_what_is_written_over_it_or_not_at_all() -> None:
    words_over = [words(f"Line {n}", (40, 90 + 280 * n, 700, 250 + 280 * n)) for n in range(8)]
    drawn = screen(box_of(*page(name="Song")), *words_over)
    assert all(tap_point(drawn, named(drawn, f"Song {n}")).x >= 700 for n in range(8))
    all_over = [words(f"Line {n}", (0, 90 + 280 * n, 1080, 250 + 280 * n)) for n in range(8)]
    drawn = screen(box_of(*page(name="Song")), *all_over)
    with pytest.raises(ElementNotInteractable, match="covered"):
        tap_point(drawn, named(drawn, "Song 3"))


def test_rows_of_a_list_under_a_drawer_are_all_behind_or_none() -> None:
    """A clickable of the drawer lies over the whole of some rows only; the list is one layer."""
    rows = [words(f"Mail {n}", (20, 100 + 100 * n, 300, 160 + 100 * n)) for n in range(20)]
    drawer = box_of(
        *(button(f"Folder {n}", (0, 90 + 250 * n, 800, 290 + 250 * n)) for n in range(9)),
        box=(0, 0, 800, 2400),
    )
    shown = body(screen(box_of(*rows), drawer))
    behind = shown[shown.index("behind:") + 1 :]
    assert len(shown) == 9 + 1 + len(behind)
    assert all(f"Mail {n}" in " ".join(behind) for n in range(20))


def test_bars_and_a_floating_button_over_a_list_are_no_layer() -> None:
    bars = [
        button("Back", (0, 60, 150, 200)),
        words("Inbox", (160, 60, 700, 200)),
        button("Compose", (880, 2050, 1040, 2210)),
        button("Mail", (0, 2250, 500, 2400)),
        button("Meet", (540, 2250, 1080, 2400)),
    ]
    assert "behind:" not in body(screen(box_of(*page(name="Row", count=9)), *bars))


def test_two_columns_are_no_layers() -> None:
    left = box_of(*(words(f"L {n}", (0, 200 * n, 500, 200 * n + 90)) for n in range(10)))
    right = box_of(*(words(f"R {n}", (540, 200 * n, 1080, 200 * n + 90)) for n in range(10)))
    assert "behind:" not in body(screen(left, right))


def test_a_clickable_layer_over_everything_still_hides_it() -> None:
    sheet = node("FrameLayout", words("Sheet", (0, 300, 1080, 400)), box=FULL, flags="clickable")
    assert body(screen(box_of(*page(name="Row")), sheet)) == ["@b1 Sheet"]


def web(*inside: str) -> Screen:
    return parse(windows(node("FrameLayout", node("android.webkit.WebView", *inside, box=FULL))))


BACKDROP = node("android.view.View", box=FULL, flags="clickable")


def test_a_backdrop_that_comes_last_in_a_web_page_covers_no_dialog() -> None:
    dialog = box_of(
        words("Delete the project?", (100, 900, 980, 1000)),
        button("Cancel", (100, 1100, 500, 1200)),
        button("Delete", (560, 1100, 980, 1200)),
        box=(60, 800, 1020, 1300),
    )
    drawn = web(words("Projects", (40, 100, 600, 180)), dialog, BACKDROP)
    assert [line for line in body(drawn) if "Cancel" in line or "Delete" in line] == [
        '"Delete the project?"', "@b1 Cancel", "@b2 Delete",
    ]  # fmt: skip
    cancel = named(drawn, "Cancel")
    assert tap_point(drawn, cancel) == cancel.center
    assert element_at(drawn, *cancel.center) is cancel
    assert cancel in touch_targets(drawn, cancel.center, 32)


def test_the_same_backdrop_in_a_native_window_covers() -> None:
    drawn = screen(button("Cancel", (100, 1100, 500, 1200)), BACKDROP)
    with pytest.raises(ElementNotInteractable):
        tap_point(drawn, named(drawn, "Cancel"))


def test_a_backdrop_takes_the_touches_beside_what_has_a_name() -> None:
    drawn = web(button("Cancel", (100, 1100, 500, 1200)), BACKDROP)
    under_words = web(BACKDROP, words("Tap to close", (100, 1900, 1000, 2100)))
    for page_drawn in (drawn, under_words):
        found = element_at(page_drawn, 900, 2000)
        assert found is not None
        assert found.bounds == FULL
        assert found.clickable


def test_a_part_of_a_web_page_with_words_still_covers() -> None:
    cover = node("android.view.View", words("Cookies?", (100, 300, 900, 400)), box=FULL, flags="clickable")
    assert body(web(button("Read on", (100, 1100, 500, 1200)), cover)) == ["@b1 Cookies?"]

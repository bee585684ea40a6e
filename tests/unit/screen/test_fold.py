"""Runs of nameless like elements."""

from handrail.screen.compact import CompactOptions, ref_range, render
from handrail.screen.elements import elements
from handrail.screen.parse import parse
from tests.unit.screen.drawn import body, node, row, screen, windows

ID = "com.example.app:id/month_view_background"


def days(rows: int, columns: int, **more: str) -> list[str]:
    return [
        node("android.view.View", box=(150 * column, 200 * line, 150 * column + 150, 200 * line + 200),
             flags="clickable", **more)
        for line in range(rows)
        for column in range(columns)
    ]  # fmt: skip


def test_a_calendar_is_one_line_with_its_grid() -> None:
    assert body(screen(*days(6, 7, resource_id=ID))) == ["@g1-42 42× month_view_background 7x6"]


def test_two_nameless_siblings_are_not_folded() -> None:
    assert body(screen(*days(1, 2, resource_id=ID))) == [
        "@g1 #month_view_background",
        "@g2 #month_view_background",
    ]


def test_a_labelled_one_breaks_the_run() -> None:
    cells = days(1, 7, resource_id=ID)
    cells[3] = node("android.view.View", text="4", box=(450, 0, 600, 200), flags="clickable")
    assert body(screen(*cells)) == [
        "@g1-3 3× month_view_background 3x1",
        "@b1 4",
        "@g4-6 3× month_view_background 3x1",
    ]


def test_a_selected_one_breaks_the_run() -> None:
    cells = days(1, 7, resource_id=ID)
    cells[3] = node("android.view.View", box=(450, 0, 600, 200), flags="clickable selected", resource_id=ID)
    assert body(screen(*cells))[1].endswith("selected")


def test_a_run_without_ids_is_named_by_its_caption() -> None:
    title = node("TextView", text="Rate us", box=(0, 10, 1080, 90))
    stars = [node("ImageView", box=(100 * n, 100, 100 * n + 100, 200), flags="clickable") for n in range(5)]
    assert body(screen(title, *stars)) == ['"Rate us"', "@g1-5 5× ~Rate us 5x1"]


def test_elements_of_different_size_are_not_alike() -> None:
    cells = [
        node("ImageView", box=(0, 300 * n, 100 + 90 * n, 300 * n + 90), flags="clickable") for n in range(4)
    ]
    assert len(body(screen(*cells))) == 4


def test_switches_are_never_folded_away() -> None:
    cells = [node("Switch", box=row(n), flags="clickable checkable") for n in range(2)]
    cells.append(node("Switch", box=row(2), flags="clickable checkable checked"))
    assert [line.split()[-1] for line in body(screen(*cells))] == ["off", "off", "on"]


def test_a_range_leaves_out_the_numbers_that_are_not_in_it() -> None:
    assert ref_range(["@g3", "@g4", "@g5", "@g9", "@g11", "@g12"]) == "@g3-5,9,11-12"


def test_session_refs_with_gaps_still_fold() -> None:
    drawn = screen(*days(1, 4, resource_id=ID))
    found = elements(drawn)
    shown = render(drawn, found, ["@g7", "@g8", "@g20", "@g21"], CompactOptions(fingerprint="aaaaaa"))
    assert shown.text.split("\n")[1] == "@g7-8,20-21 4× month_view_background 4x1"
    assert shown.ref_map["@g20"] is found[2].node


def test_the_keys_of_the_keyboard_are_one_line() -> None:
    ime = "com.example.inputmethod.latin"
    keys = [
        node(
            "android.view.View",
            text=key,
            box=(100 * n, 1800, 100 * n + 100, 1900),
            flags="clickable",
            package=ime,
        )
        for n, key in enumerate("qwertyuiop")
    ]
    field = node("EditText", box=row(0), flags="clickable focused", hint="Name")
    drawn = parse(
        windows(
            node("FrameLayout", field), node("FrameLayout", *keys, box=(0, 1700, 1080, 2400), package=ime)
        )
    )
    assert body(drawn) == ['@f1 "Name" empty focused', "@b1-10 10× keyboard"]

"""What counts as loading."""

from __future__ import annotations

import pytest

from handrail.screen.parse import parse
from handrail.screen.windows import loading_indicators
from tests.cases import each
from tests.unit.screen.stock_dumps import APP, hierarchy, node, screen

SQUARE = (480, 1100, 600, 1220)
LINE = (0, 200, 1080, 216)


def why(*inside: str) -> list[str]:
    return [found.why for found in loading_indicators(screen(*inside))]


@each(
    "kind",
    [
        "ProgressBar",
        "androidx.core.widget.ContentLoadingProgressBar",
        "com.google.android.material.progressindicator.CircularProgressIndicator",
        "com.github.ybq.android.spinkit.SpinKitView",
    ],
)
def test_a_spinner_is_loading(kind: str) -> None:
    assert why(node(kind, box=SQUARE)) == ["spinner"]


def test_a_bar_that_names_its_value_is_not() -> None:
    assert why(node("ProgressBar", text="45.0", box=SQUARE)) == []
    assert why(node("ProgressBar", desc="45 percent", box=SQUARE)) == []
    assert why(node("ProgressBar", box=SQUARE, extra=' state-description="3 of 10"')) == []


def test_a_long_bar_without_words_is_not() -> None:
    assert why(node("ProgressBar", box=LINE)) == []


def test_a_long_bar_that_says_it_is_in_progress_is() -> None:
    assert why(node("ProgressBar", box=LINE, extra=' state-description="In progress"')) == ["spinner"]


@pytest.mark.parametrize(
    "shape",
    [
        node("com.facebook.shimmer.ShimmerFrameLayout", box=LINE),
        node("FrameLayout", rid=f"{APP}:id/skeleton_row"),
    ],
)
def test_shimmer_and_skeletons_are_loading(shape: str) -> None:
    assert why(shape) == ["placeholder"]


@each(
    "text", ["Loading", "loading…", "Loading...", "Please wait…", " Connecting. ", "Loading your messages…"]
)
def test_a_text_that_says_so_is_loading(text: str) -> None:
    assert why(node("TextView", text=text)) == [f'"{text.strip()}"']
    assert why(node("View", desc=text)) == [f'"{text.strip()}"']


@each(
    "text",
    ["Loading dock", "Unloading", "The loading of trucks…", "Please wait for the tone, then speak.", ""],
)
def test_a_text_that_only_mentions_it_is_not(text: str) -> None:
    assert why(node("TextView", text=text)) == []


def test_a_field_that_holds_the_word_is_not_loading() -> None:
    assert why(node("EditText", text="Loading…")) == []


def test_a_button_called_loading_is_a_name_until_it_has_dots() -> None:
    assert why(node("Button", text="Loading", flags="clickable")) == []
    assert why(node("Button", text="Loading…", flags="clickable")) == ['"Loading…"']


@each("text", ["加载中…", "Chargement…", "Bitte warten...", "読み込み中"])
def test_other_languages_count_where_a_bar_confirms_them(text: str) -> None:
    assert why(node("TextView", text=text)) == []
    assert why(node("TextView", text=text), node("ProgressBar", box=LINE)) == [f'"{text}"']


def test_what_is_hidden_tiny_or_off_screen_is_not_loading() -> None:
    assert why(node("ProgressBar", box=(0, 0, 4, 4))) == []
    assert why(node("ProgressBar", box=(0, 2500, 100, 2600))) == []
    assert why(node("ProgressBar", box=SQUARE, extra=' visible-to-user="false"')) == []


def test_a_spinner_in_the_status_bar_is_not_the_apps() -> None:
    bar = node("FrameLayout", node("ProgressBar", box=(0, 0, 60, 60), package="com.android.systemui"))
    assert loading_indicators(parse(hierarchy(bar))) == []


def test_an_indicator_reads_well() -> None:
    (found,) = loading_indicators(screen(node("ProgressBar", box=SQUARE)))
    assert str(found) == "spinner [480,1100][600,1220]"
    assert found.node.role == "progress_bar"

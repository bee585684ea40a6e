"""Text is measured from a table; the table, the font and the painter agree."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import ImageFont

from handrail_sim import paint
from handrail_sim.view import metrics
from handrail_sim.view.metrics import MEDIUM, REGULAR, UNITS_PER_EM

FONTS = Path(paint.__file__).parent / "fonts"
SENTENCE = "The quick brown fox jumps over the lazy dog, thrice."


@pytest.mark.parametrize(("name", "table"), [("Regular", REGULAR), ("Medium", MEDIUM)])
def test_the_table_holds_the_widths_of_the_bundled_font(name: str, table: dict[str, int]) -> None:
    path = str(FONTS / f"Roboto-{name}.ttf")
    font = ImageFont.truetype(path, UNITS_PER_EM, layout_engine=ImageFont.Layout.BASIC)
    wrong = {letter for letter, width in table.items() if abs(font.getlength(letter) - width) > 1}
    assert not wrong


def test_common_scripts_are_in_the_font() -> None:
    assert set("Straße Ελλάδα Привет €½→ “x” Zażółć"[:-1]) - {"→"} <= REGULAR.keys()


def test_measuring_text_loads_no_imaging_library() -> None:
    code = "import sys, handrail_sim.view.metrics; print('PIL' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "False"


def test_text_is_as_wide_as_its_letters() -> None:
    width, height = metrics.measure("AV\nA", 20.0)
    assert width == pytest.approx((REGULAR["A"] + REGULAR["V"]) * 20 / UNITS_PER_EM)
    assert height == pytest.approx(2 * metrics.line_height(20.0))


def test_bold_text_is_wider() -> None:
    assert metrics.line_width(SENTENCE, 16.0, bold=True) > metrics.line_width(SENTENCE, 16.0)


def test_a_character_that_the_font_lacks_still_takes_room() -> None:
    assert metrics.line_width("漢", 16.0) == pytest.approx(16.0)
    assert metrics.line_width("\N{ZERO WIDTH JOINER}", 16.0) == 0


def test_lines_break_between_words() -> None:
    assert metrics.wrap("one two three", 16.0, metrics.line_width("one two ", 16.0)) == ["one two ", "three"]


def test_a_word_wider_than_the_line_is_cut() -> None:
    lines = metrics.wrap("x" * 30, 16.0, metrics.line_width("x" * 10, 16.0))
    assert lines == ["x" * 10] * 3


def test_the_last_of_too_many_lines_ends_in_an_ellipsis() -> None:
    lines = metrics.wrap(SENTENCE, 16.0, 120.0, max_lines=2)
    assert len(lines) == 2
    assert lines[1].endswith("…")
    assert metrics.line_width(lines[1], 16.0) <= 120.0


@given(st.text(max_size=80), st.floats(30, 400))
def test_wrapping_loses_no_character(text: str, width: float) -> None:
    lines = metrics.wrap(text, 16.0, width)
    assert "".join(lines) == text.replace("\n", "")


@given(st.text(alphabet="abc WMil.", min_size=1, max_size=60), st.floats(30, 300))
def test_wrapped_lines_fit_but_for_spaces_at_their_end(text: str, width: float) -> None:
    for line in metrics.wrap(text, 16.0, width):
        assert metrics.line_width(line.rstrip(), 16.0) <= width or not line.strip()


@given(st.text(alphabet="abc WMil.", max_size=40), st.floats(20, 300))
def test_an_ellipsised_line_fits(text: str, width: float) -> None:
    assert metrics.line_width(metrics.ellipsise(text, 16.0, width), 16.0) <= width


def test_a_tap_puts_the_cursor_at_the_nearer_side_of_a_letter() -> None:
    wide = metrics.line_width("m", 20.0)
    assert metrics.index_at("mmm", wide * 1.4, 20.0) == 1
    assert metrics.index_at("mmm", wide * 1.6, 20.0) == 2
    assert metrics.index_at("mmm", wide * 9, 20.0) == 3
    assert metrics.index_at("mmm", -5, 20.0) == 0

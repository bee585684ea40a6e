"""Maestro's patterns: Java's expressions over a whole text, or the very same text."""

from __future__ import annotations

import pytest

from handrail_maestro.patterns import pattern


@pytest.mark.parametrize(
    ("written", "text", "fits"),
    [
        ("Alba", "Alba Thornquill", False), ("alba", "ALBA", True), ("Alba.*", "Alba Thornquill", True),
        ("Really?", "Really?", True), ("Total (2)", "Total (2)", True), ("a.c", "a\nc", True),
        ("One two", "One\ntwo", True), (r"\d+", "12", True), (r"\d+", "١٢", False), (r"\w+", "für", False),
        (r"[\d.]+", "1.5", True), (r"\Qa.b\E", "a.b", True), (r"\Qa.b\E", "axb", False),
        ("(?<n>x)y", "xy", True), ("[", "[", True), ("*x", "*x", True), ("*x", "ax", False),
        ("^Save$", "Save", True), (r"a\z", "a", True), ("yes|no", "No", True), ("", "", True),
    ],
)  # fmt: skip
def test_a_text_fits_as_a_whole_or_by_being_the_same(written: str, text: str, fits: bool) -> None:
    assert pattern(written).is_like(text) is fits


def test_an_id_is_never_compared_letter_by_letter() -> None:
    assert not pattern("a(b").is_like("a(b", exact=False)


@pytest.mark.parametrize("written", [r"\p{L}+", "[a-z&&[b]]", r"a\R", "(", "a{2,1}"])
def test_what_python_has_no_word_for_is_taken_literally_and_said(written: str) -> None:
    read = pattern(written)
    assert read.compiled is None
    assert read.why
    assert read.is_like(written)


@pytest.mark.parametrize(
    ("written", "is_slow"),
    [
        ("(a+)+b", True), ("(a|a)*", True), ("(.*a){12}", True), (".*.*.*.*x", True), (".*x.*", False),
        ("[A-Z][a-z]+ [A-Z][a-z]+", False), (r"Item \d+ of \d+", False), ("(ab)*", False),
    ],
)  # fmt: skip
def test_a_pattern_that_could_take_for_ever_is_known(written: str, is_slow: bool) -> None:
    assert pattern(written).is_slow is is_slow

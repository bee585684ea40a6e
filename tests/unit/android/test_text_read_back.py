"""Did it arrive? What a field says before and after, compared."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from handrail.android.text_field import (
    TextField,
    arrived,
    focused_field,
    is_cleared,
    is_rest,
    same_field,
    units,
    was_typed,
)
from handrail.screen.parse import parse
from tests.cases import each

LINE = TextField("", False, "", ("app", "android.widget.EditText", "app:id/line", 0))
SECRET = replace(LINE, password=True)
words = st.text(st.sampled_from("ab c"), max_size=8)


def line(text: str, hint: str = "") -> TextField:
    return replace(LINE, text=text, hint=hint)


def dots(count: int) -> TextField:
    return replace(SECRET, text="•" * count)


@given(words, words.filter(bool), st.integers(0, 8))
def test_text_at_the_cursor_counts_wherever_the_cursor_was(before: str, text: str, at: int) -> None:
    assert was_typed(before, text, before[:at] + text + before[at:])


@given(words, words.filter(bool), st.integers(0, 8), st.integers(0, 8))
def test_text_over_a_selection_counts(before: str, text: str, start: int, length: int) -> None:
    after = before[:start] + text + before[start + length :]
    assert was_typed(before, text, after) or after == before


@each(
    ("before", "text", "after"),
    [
        ("", "abc", "abcabc"),
        ("abc", "abc", "abcabcabc"),
        ("", "abc", "ab"),
        ("", "abc", "ABC"),
        ("", "5551234", "555-1234"),
        ("", "a\nb", "a b"),
        ("x", "abc", "x"),
        ("keep", "abc", "keabcpx"),
        ("abc", "b", "abc"),
    ],
)
def test_doubled_cut_changed_and_lost_text_has_not_arrived(before: str, text: str, after: str) -> None:
    assert was_typed(before, text, after) is False


def test_a_placeholder_that_was_taken_for_content_is_replaced_by_the_text() -> None:
    assert arrived(line("First name"), "Ada", line("Ada")) is True


def test_a_text_that_equals_the_placeholder_proves_nothing() -> None:
    assert arrived(line("", "Title"), "Title", line("", "Title")) is None


def test_without_a_field_nothing_can_be_said() -> None:
    assert arrived(None, "a", line("a")) is None
    assert arrived(line(""), "a", None) is None


def test_of_a_password_only_the_length_is_compared() -> None:
    assert arrived(dots(2), "abc", dots(5)) is True
    assert arrived(dots(0), "a😀", dots(3)) is True
    assert arrived(dots(0), "abc", dots(6)) is False
    assert units("a😀") == 3


def test_what_xml_cannot_say_is_compared_as_the_dump_writes_it() -> None:
    assert arrived(line(""), "a\x07b", line("a.b")) is True


def test_a_cleared_field_is_empty_or_shows_its_placeholder() -> None:
    assert is_cleared(line("old", "Title"), line("", "Title")) is True
    assert is_cleared(line("old"), line("Title")) is True
    assert is_cleared(line("old", "Title"), line("o", "Title")) is False
    assert is_cleared(dots(3), dots(1)) is False


def test_a_rest_that_may_be_a_placeholder_is_not_called_either() -> None:
    assert is_rest("Name", "My Name")
    assert is_cleared(line("My Name"), line("Name")) is None
    assert is_cleared(line("Title"), line("Title")) is None


def dump(*fields: str) -> str:
    return f'<hierarchy rotation="0"><node class="android.widget.FrameLayout" bounds="[0,0][1080,2400]">\
{"".join(fields)}</node></hierarchy>'


def edit(
    text: str, *, hint: str = "", focused: str = "true", name: str = "f", password: str = "false"
) -> str:
    return f'<node class="android.widget.EditText" package="app" resource-id="app:id/{name}" text="{text}" \
hint="{hint}" focused="{focused}" password="{password}" enabled="true" bounds="[0,0][500,100]" />'


def test_a_field_that_lost_the_focus_is_still_read() -> None:
    before = focused_field(parse(dump(edit("1", name="code1"), edit("", name="code2", focused="false"))))
    assert before is not None
    later = parse(dump(edit("12", name="code1", focused="false"), edit("", name="code2")))
    after = same_field(later, before)
    assert after is not None
    assert after.text == "12"
    assert same_field(parse(dump(edit("", name="code2"))), before) is None

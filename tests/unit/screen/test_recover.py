"""Damaged dumps: what can be read is read, and said."""

from __future__ import annotations

import json
import tracemalloc

import pytest

from handrail.errors import TreeParseError
from handrail.screen.node import Screen
from handrail.screen.parse import decode, parse
from handrail.screen.parse.build import MAX_BYTES, MAX_DEPTH
from handrail.screen.parse.xml_dumps import mend_json
from tests.cases import each
from tests.unit.screen.stock_dumps import hierarchy, node

HELLO = node("TextView", text="Hello", box=(0, 100, 500, 200))
DUMP = hierarchy(
    node("FrameLayout", HELLO, node("Button", text="Go", flags="clickable", box=(0, 200, 500, 300)))
)


def texts(one: Screen) -> list[str]:
    return [node.text for node in one.nodes if node.text]


@pytest.mark.parametrize(
    ("before", "after", "warnings"),
    [
        ("", "\n", []),
        ("\ufeff", "", []),
        ("", "UI hierchary dumped\n", ["text after the XML was skipped: 'UI hierchary dumped'"]),
        ("WARNING\nkilled <3\n", "", ["text before the XML was skipped: 'WARNING killed <3'"]),
        ("[info] {x}\n", "", ["text before the XML was skipped: '[info] {x}'"]),
    ],
)
def test_noise_around_the_xml_is_skipped(before: str, after: str, warnings: list[str]) -> None:
    one = parse(before + DUMP + after)
    assert texts(one) == ["Hello", "Go"]
    assert one.warnings == warnings


def test_noise_around_json_is_skipped() -> None:
    tree = {"className": "android.widget.Button", "text": "Go", "bounds": [0, 0, 9, 9]}
    assert texts(parse(f"warning\n{json.dumps(tree)}\nbye")) == ["Go"]


@each("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
def test_wide_encodings_under_a_utf_8_label_are_read(encoding: str) -> None:
    assert texts(parse(DUMP.replace("Hello", "Grüße 你好").encode(encoding))) == ["Grüße 你好", "Go"]


@pytest.mark.parametrize("label", ["UTF-8", "GBK"])
def test_chinese_in_its_own_encoding_is_read_whatever_the_label_says(label: str) -> None:
    data = DUMP.replace("Hello", "请稍候再试").replace("UTF-8", label).encode("gbk")
    one = parse(data)
    assert texts(one) == ["请稍候再试", "Go"]
    assert len(one.warnings) == 1


def test_stray_bytes_are_replaced_and_said() -> None:
    one = parse(DUMP.encode().replace(b"Hello", b"Hel\xfflo"))
    assert texts(one) == ["Hel\ufffdlo", "Go"]
    assert one.warnings == ["bytes that are not UTF-8 were replaced"]


def test_decoding_never_fails() -> None:
    for data in (b"", b"\xff", b"\xff\xfe\x00", b"\x00" * 99, bytes(range(256)) * 3):
        assert isinstance(decode(data)[0], str)


def test_a_lost_closing_quote_costs_no_other_attribute() -> None:
    one = parse(DUMP.replace('text="Hello"', 'text="Hello?'))
    assert texts(one) == ["Hello?", "Go"]
    assert one.nodes[1].bounds == (0, 100, 500, 200)
    assert one.warnings == ["attribute values without a closing quote: 1"]


def test_raw_markup_characters_in_a_text_are_taken_as_text() -> None:
    one = parse(DUMP.replace("Hello", 'a < b & "c" > d'))
    assert texts(one) == ['a < b & "c" > d', "Go"]


def test_control_characters_are_removed_and_counted() -> None:
    one = parse(DUMP.replace("Hello", "Hel\x00\x08lo"))
    assert texts(one) == ["Hello", "Go"]
    assert one.warnings == ["control characters removed: 2"]


def test_of_twin_attributes_the_first_one_counts() -> None:
    one = parse(DUMP.replace('text="Hello"', 'text="Hello" text="Bye"'))
    assert texts(one) == ["Hello", "Go"]
    assert one.warnings == ["attributes given twice, the first one counts: 1"]


def test_emoji_as_two_references_are_one_character() -> None:
    one = parse(DUMP.replace("Hello", "&#55357;&#56832; &#0;&#xD800;"))
    assert texts(one)[0] == "\N{GRINNING FACE} \ufffd"


@each("lost", [1, 12, 20, 40, 300])
def test_a_cut_dump_keeps_what_was_complete(lost: int) -> None:
    one = parse(DUMP[:-lost])
    assert texts(one)[0] == "Hello"
    assert one.warnings
    assert [node.order for node in one.nodes] == list(range(len(one.nodes)))


def test_a_cut_windows_dump_keeps_the_windows_that_were_complete() -> None:
    windows = f"<window><hierarchy>{HELLO}</hierarchy></window>" * 3
    one = parse(f'<displays><display id="0">{windows}</display></displays>'[:-60])
    assert texts(one) == ["Hello", "Hello", "Hello"]
    assert one.warnings


def test_a_tag_that_is_cut_before_its_bounds_is_no_node() -> None:
    one = parse(DUMP[: DUMP.index("Go") + 20])
    assert texts(one) == ["Hello"]
    assert "the dump ends in the middle of a tag" in one.warnings


def test_every_prefix_of_a_dump_is_read_or_refused() -> None:
    for length in range(len(DUMP)):
        try:
            one = parse(DUMP[:length])
        except TreeParseError:
            continue
        assert one.nodes


def test_cut_json_keeps_what_was_complete() -> None:
    rows = [
        {"class": "android.widget.TextView", "text": f"Row {n}", "bounds": [0, n, 9, 9]} for n in range(9)
    ]
    tree = {"class": "android.widget.ListView", "bounds": [0, 0, 1080, 2400], "children": rows}
    whole = json.dumps(tree)
    one = parse(whole[: whole.index("Row 5")])
    assert texts(one) == ["Row 0", "Row 1", "Row 2", "Row 3", "Row 4"]
    (warning,) = one.warnings
    assert warning.startswith("the JSON is damaged or cut short at character ")


def test_mending_keeps_the_longest_beginning_that_is_json() -> None:
    assert mend_json('{"a": [1, {"b": "x,]", "c": tru') == '{"a": [1, {"b": "x,]"}]}'
    assert mend_json('{"a": 1} and more') == '{"a": 1}'
    assert mend_json('{"a": [1, 2}') == '{"a": [1]}'
    assert mend_json('{"a": "unfinished, text') is None
    assert mend_json("{" + "x" * 300_000) is None  # one look per character, or this would take minutes


@each(
    "odd",
    [
        '"bounds": [1e999, 0, 1, 1]',
        '"bounds": {"left": null}',
        '"bounds": "x"',
        '"bounds": [[1], 2]',
        '"text": {"a": 1}',
        '"text": "\\ud800"',
        '"children": 7',
        '"children": [[], "x", 3, null]',
        '"enabled": "no"',
        '"index": 1e99',
        '"className": ["a", null]',
        '"role": []',
        '"ancestors": [1]',
    ],
)
def test_odd_json_values_are_no_obstacle(odd: str) -> None:
    one = parse('{"class": "android.widget.Button", "bounds": [0, 0, 9, 9], ' + odd + "}")
    assert len(one.nodes) == 1
    one.nodes[0].text.encode()


@each(
    "bomb",
    [
        '<!DOCTYPE a [<!ENTITY b "c">]>' + DUMP,
        '<!DOCTYPE h [<!ENTITY a "l"><!ENTITY b "&a;&a;">]><hierarchy><node text="&b;"/></hierarchy>',
        '<!DOCTYPE h SYSTEM "file:///etc/passwd"><hierarchy><node text="x" bounds="[0,0][1,1]"/></hierarchy>',
    ],
)
def test_a_dtd_is_refused_and_never_expanded(bomb: str) -> None:
    with pytest.raises(TreeParseError, match="DTD"):
        parse(bomb.replace("<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>", ""))


def test_a_bottomless_nest_is_cut_at_the_depth_limit() -> None:
    opening = node("FrameLayout", "|").partition("|")[0]
    one = parse(hierarchy(opening * 10_000 + "</node>" * 10_000))
    assert len(one.nodes) == MAX_DEPTH
    assert one.warnings == [f"nodes left out, nested too deeply or too many: {10_000 - MAX_DEPTH}"]


def test_bottomless_json_is_cut_or_refused() -> None:
    with pytest.raises(TreeParseError, match="too deep"):
        parse('{"class": "a", "bounds": [], "children": [' * 100_000)
    flat = [
        {"class": "a", "parent": n - 1, "children": [n + 1], "bounds": [[0, 0], [9, 9]]} for n in range(5_000)
    ]
    assert len(parse(json.dumps({"views": flat})).nodes) == MAX_DEPTH


def test_a_dump_beyond_the_size_limit_is_refused_without_reading_it() -> None:
    huge = b"<" * (MAX_BYTES + 1)
    tracemalloc.start()
    with pytest.raises(TreeParseError, match="limit"):
        parse(huge)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000


def test_a_huge_attribute_is_read() -> None:
    assert len(parse(DUMP.replace("Hello", "x" * 2_000_000)).nodes[1].text) == 2_000_000

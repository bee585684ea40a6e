"""`handrail check`: every dialect, every shape of file, and the line of what is wrong."""

import json
from pathlib import Path
from typing import Any

import pytest

from handrail.cli.dialect_commands import line_of, split_path
from handrail.protocol.actions import ACTIONS, DESK_ACTIONS
from tests.cases import each
from tests.unit.cli.command import Handrail

WAIT = {"type": "wait", "duration_ms": 1000}


def test_a_swipe_of_a_model_is_normalised_and_what_was_defaulted_is_said(handrail: Handrail) -> None:
    done = handrail("check", "-", "--dialect", "openpocket", stdin='{"type":"swipe","x1":"5"}')
    assert done.code == 0
    assert done.lines == [
        {
            "action": {"type": "swipe", "x1": 5, "y1": 0, "x2": 0, "y2": 0, "durationMs": 300},
            "defaulted": ["y1", "x2", "y2", "durationMs"],
            "not_executable": "missing or invalid coordinates: y1, x2, y2",
        }
    ]


def test_an_unknown_type_waits_in_one_dialect_and_is_an_error_in_the_other(handrail: Handrail) -> None:
    done = handrail("check", "-", "--dialect", "openpocket", stdin='{"type":"nope"}')
    assert done.code == 0
    assert done.lines == [
        {"action": {"type": "wait", "durationMs": 1000}, "defaulted": ["type"], "native": WAIT}
    ]
    done = handrail("check", "-", stdin='{"type":"nope"}')
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith('stdin:1: INVALID_ACTION type: "nope" is not known\n')


@each("kind", ACTIONS)
def test_every_example_is_good(handrail: Handrail, kind: str) -> None:
    done = handrail("check", stdin=json.dumps(ACTIONS[kind].example))
    assert (done.code, done.lines, done.err) == (0, [ACTIONS[kind].example], "")
    desk = handrail("check", "--dialect", "desk", stdin=json.dumps(ACTIONS[kind].example))
    assert desk.code == (0 if kind in DESK_ACTIONS else 2)


@each(
    ("dialect", "given", "native"),
    [
        ("native", {"type": "wait"}, WAIT),
        (
            "agentest",
            {"action": "wait", "timeoutMs": 1000},
            {"action": WAIT, "optional": False, "retry": 0, "settle": "light"},
        ),
        (
            "agentest",
            {"name": "agentest_screenshot", "arguments": {}},
            {"action": {"type": "screenshot", "scale": 1.0, "marks": False}, "optional": False, "retry": 0},
        ),
        (
            "agentest",
            {"steps": [{"action": "wait", "timeoutMs": 1000}] * 2},
            [{"action": WAIT, "optional": False, "retry": 0, "settle": "light"}] * 2,
        ),
        (
            "interaction",
            {"name": "press_key", "arguments": {"key": "back", "reason": "I go back."}},
            {"type": "press_key", "key": "back", "reason": "I go back."},
        ),
        (
            "interaction",
            {"type": "press_key", "key": "back", "reason": "I go back."},
            {"type": "press_key", "key": "back", "reason": "I go back."},
        ),
        (
            "mobile_debug",
            {"tool": "start_app", "arguments": {"appId": "a.b"}},
            {"type": "start_app", "package": "a.b"},
        ),
        ("desk", {"type": "window.close", "window_id": "w"}, {"type": "window.close", "windowId": "w"}),
    ],
)
def test_a_dialect_is_shown_in_its_native_form(
    handrail: Handrail, dialect: str, given: Any, native: Any
) -> None:
    done = handrail("check", "-", "--dialect", dialect, stdin=json.dumps(given))
    assert (done.code, done.lines) == (0, [native])


@each(
    ("dialect", "text", "line", "message"),
    [
        ("native", '{\n"type": "tap",\n"target": {\n"x": 1,\n"y": "2"}}', 5, "target.y: "),
        ("native", '[\n{"type":"wait"},\n{"type":"wait",\n"colour": 1}\n]', 4, "colour: "),
        ("native", '[{"type":"wait"},\n\n{"type":"tap"}]', 3, "target: is required"),
        ("native", '{"type":"wait"}\n\n{"type":"nope"}\n', 3, "type: "),
        ("native", '{"type":"wait"}\n}\n', 2, "not valid JSON"),
        ("native", '{"type":"wait"}\nnull\n', 2, "should be"),
        (
            "native",
            '{"type":"tap","target":"a","expect":{"all":[\n"a",\n{"absent":\n{"txt":1}}]}}',
            4,
            "expect.all[1].absent.txt: ",
        ),
        (
            "agentest",
            '{"steps": [\n{"action":"wait","timeoutMs":1},\n{"action":"tap"}]}',
            3,
            "steps[1].target",
        ),
        ("agentest", "[5]", 1, "should be an object"),
        ("interaction", '{"name": "tap",\n"arguments": {"x": 1,\n"y": "2",\n"reason": "a"}}', 3, "y: "),
        ("interaction", '{"name": "tap",\n"arguments": {"x": 1, "y": 2}}', 2, "reason: is required"),
        ("interaction", '{"arguments": {}}', 1, "type: is required"),
        ("mobile_debug", '{"name":\n"tapp",\n"arguments": {}}', 1, "type: 'tapp' is not known"),
        ("mobile_debug", '{"type": "tap", "platform":\n"symbian"}', 2, "platform 'symbian'"),
        ("desk", '{"type": []}', 1, "type: "),
        ("desk", '{"type": "tap", "target": "a"}', 1, "type: 'tap' is not known"),
    ],
)
def test_an_error_has_its_line_path_and_hint(
    handrail: Handrail, dialect: str, text: str, line: int, message: str
) -> None:
    done = handrail("check", "-", "--dialect", dialect, stdin=text)
    assert done.code == 2
    first, hint = done.err.splitlines()[:2]
    assert first.startswith(f"stdin:{line}: ")
    assert message in first
    assert hint.startswith("  ")


def test_good_actions_are_printed_beside_bad_ones(handrail: Handrail) -> None:
    done = handrail("check", stdin='{"type":"wait"}\n{"type":"tap"}\n{"type":"wait"}')
    assert (done.code, done.lines) == (2, [WAIT, WAIT])
    assert done.err.count("INVALID_ACTION") == 1


@each("separator", ["\u2028", "\u2029", "\u0085"])
def test_only_a_line_feed_ends_a_line(handrail: Handrail, separator: str) -> None:
    text = {"type": "finish", "message": f"a{separator}b", "status": "done"}
    line = json.dumps(text, ensure_ascii=False)
    done = handrail("check", stdin=f"{line}\n{line}\n")
    assert (done.code, done.err) == (0, "")
    assert [json.loads(one) for one in done.out.strip("\n").split("\n")] == [text, text]


def test_windows_line_ends_and_a_byte_order_mark_are_read(handrail: Handrail) -> None:
    done = handrail("check", stdin='\ufeff{"type":"wait"}\r\n{"type":"wait"}\r\n')
    assert (done.code, done.lines) == (0, [WAIT, WAIT])


def test_one_json_document_for_programs(handrail: Handrail) -> None:
    done = handrail("check", "--json", stdin='{"type":"wait"}\n{"type":"tap"}')
    (document,) = done.lines
    assert (done.code, done.err) == (2, "")
    assert document["ok"] is False
    assert document["results"][0] == {"ok": True, "native": WAIT}
    bad = document["results"][1]
    assert (bad["ok"], bad["line"], bad["error"]["path"]) == (False, 2, "target")
    assert handrail("check", "--json", stdin='{"type":"wait"}').lines[0]["ok"] is True


@each(
    ("text", "action", "repairs"),
    [
        ("I wait. {'type': 'wait'}", "wait", ["the action was inside other text", "' as a quote"]),
        ("tap(1, 2)", "tap", ["the action was written as a call"]),
        ("", "wait", ["no action was found"]),
        ("5", "wait", ["no action was found"]),
        ("no idea", "wait", ["no action was found"]),
        ("}", "wait", ["no action was found"]),
    ],
)
def test_a_dialect_that_normalises_never_fails(
    handrail: Handrail, text: str, action: str, repairs: list[str]
) -> None:
    done = handrail("check", "-", "--dialect", "openpocket", stdin=text)
    assert done.code == 0
    assert (done.lines[0]["action"]["type"], done.lines[0]["repairs"]) == (action, repairs)


@each("stdin", [b"", b" \n ", b"\xff\xfe", b"tap the button", b"{", b"[{]", b"[]", b"5", b"null"])
def test_what_is_no_action_ends_with_exit_code_two(handrail: Handrail, stdin: bytes) -> None:
    done = handrail("check", stdin=stdin)
    assert (done.code, done.out) == (2, "")
    assert "INVALID_ACTION" in done.err


def test_a_file_is_named_in_its_errors(handrail: Handrail, tmp_path: Path) -> None:
    file = tmp_path / "actions.json"
    file.write_text('{"type":"wait"}', encoding="utf-8")
    assert handrail("check", str(file)).lines == [WAIT]
    file.write_text('\n{"type":"tap"}', encoding="utf-8")
    assert handrail("check", str(file)).err.startswith(f"{file}:2: INVALID_ACTION")


@pytest.mark.parametrize("name", ["missing.json", "."])
def test_a_file_that_can_not_be_read_is_an_error(handrail: Handrail, tmp_path: Path, name: str) -> None:
    done = handrail("check", str(tmp_path / name))
    assert (done.code, done.out) == (2, "")
    assert str(tmp_path) in done.err


def test_an_unknown_dialect_is_refused_with_the_known_ones(handrail: Handrail) -> None:
    done = handrail("check", "--dialect", "klingon")
    assert done.code == 2
    assert "mobile_debug" in done.err


@each(
    ("path", "line"),
    [("", 1), ("a", 2), ("a[0]", 2), ("a[1]", 3), ("a[1].b", 4), ("a[1].zz", 3), ("a[7]", 2), ("c", 6),
     ("é", 7), ("zz", 1)],
)  # fmt: skip
def test_the_line_of_a_path_is_its_values_or_its_nearest_parents(path: str, line: int) -> None:
    text = '{\n"a": [1,\n{\n"b": "}],{"},\n2],\n"c": null,\n"\\u00e9": [[], {}]}'
    assert line_of(text, split_path(path)) == line


@each(
    ("path", "parts"),
    [("", ()), ("a", ("a",)), ("a.b", ("a", "b")), ("a[1].b", ("a", 1, "b")), ("[0][1]", (0, 1))],
)
def test_a_path_is_split_into_names_and_numbers(path: str, parts: tuple[Any, ...]) -> None:
    assert split_path(path) == parts


def test_what_a_phone_model_printed_is_checked_in_its_frame(handrail: Handrail) -> None:
    text = "Thought: I save it.\nAction: click(point='<point>266 602</point>')"
    sizes = ("--screen", "1080x2400", "--picture", "540x1200")
    done = handrail("check", "--dialect", "ui_tars", *sizes, stdin=text)
    assert done.lines == [
        {"native": {"type": "tap", "target": {"x": 540, "y": 1200}}, "thought": "I save it."}
    ]
    blind = handrail("check", "--dialect", "ui_tars", stdin=text)
    assert blind.code == 2
    assert "screen: is required" in blind.err
    other = handrail(
        "check", "--dialect", "ui_tars", "--frame", "thousand", "--screen", "1080x2400", stdin=text
    )
    assert other.lines[0]["native"]["target"] == {"x": 287, "y": 1445}


def test_several_answers_of_a_maker_are_checked_one_by_one(handrail: Handrail) -> None:
    clicks = ({"type": "click", "x": 1, "y": 2, "button": button} for button in ("right", "wheel"))
    lines = "\n".join(map(json.dumps, clicks))
    sizes = ("--screen", "1080x2400", "--picture", "1080x2400")
    done = handrail("check", "--dialect", "openai_computer", *sizes, stdin=lines)
    assert done.code == 2
    assert done.lines[0]["native"]["type"] == "long_press"
    assert "long press" in done.lines[0]["notes"][0]
    assert "stdin:2: UNSUPPORTED" in done.err


def test_one_makers_words_are_written_in_anothers(handrail: Handrail) -> None:
    given = "Action: click(point='<point>266 602</point>')"
    sizes = ("--screen", "1080x2400", "--picture", "540x1200")
    for name, written in (
        ("anthropic_computer", {"action": "left_click", "coordinate": [270, 600]}),
        ("autoglm", '<answer>do(action="Tap", element=[500,500])</answer>'),
        ("openpocket", {"type": "tap", "x": 540, "y": 1200}),
    ):
        done = handrail("check", "--dialect", "ui_tars", *sizes, "--to", name, stdin=given)
        assert done.lines[0]["written"] == written
    none = handrail(
        "check", "--to", "aitw", "--screen", "1080x2400", stdin='{"type": "tap", "target": "@b1"}'
    )
    assert none.code == 2
    assert "UNSUPPORTED" in none.err

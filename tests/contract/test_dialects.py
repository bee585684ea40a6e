"""Every word of every public dialect: the maker's own JSON or text in, the vocabulary out, and back."""

from __future__ import annotations

from typing import Any

import pytest

from handrail.dialects.frame import Conversation, CoordinateFrame, smart_resize
from handrail.dialects.registry import TABLES, dialect
from handrail.dialects.table import RefusedWord, WordsRead, WordsTold
from handrail.errors import HandrailError, InvalidAction, Unsupported
from handrail.protocol.read import action_from
from tests.cases import each
from tests.contract import makers, tool_makers
from tests.contract.makers import Rows, talk

ROWS: dict[str, tuple[Rows, list[Any]]] = {
    "anthropic_computer": (makers.ANTHROPIC, makers.ANTHROPIC_REFUSED),
    "openai_computer": (makers.OPENAI, makers.OPENAI_REFUSED),
    "androidworld": (makers.ANDROIDWORLD, makers.ANDROIDWORLD_REFUSED),
    "androidcontrol": (makers.ANDROIDCONTROL, makers.ANDROIDCONTROL_REFUSED),
    "aitw": (makers.AITW, makers.AITW_REFUSED),
    "ui_tars": (makers.UI_TARS, makers.UI_TARS_REFUSED),
    "autoglm": (makers.AUTOGLM, makers.AUTOGLM_REFUSED),
    "mobile_use": (makers.MOBILE_USE, makers.MOBILE_USE_REFUSED),
    "w3c_actions": (tool_makers.W3C, tool_makers.W3C_REFUSED),
    "mobile_mcp": (tool_makers.MOBILE_MCP, tool_makers.MOBILE_MCP_REFUSED),
    "agent_device": (tool_makers.AGENT_DEVICE, tool_makers.AGENT_DEVICE_REFUSED),
}
GOOD = [pytest.param(name, given, native, id=f"{name}-{at}") for name, (rows, _) in ROWS.items()
        for at, (given, native) in enumerate(rows)]  # fmt: skip
BAD = [pytest.param(name, given, id=f"{name}-{at}") for name, (_, bad) in ROWS.items()
       for at, given in enumerate(bad)]  # fmt: skip


@each(("name", "given", "native"), GOOD)
def test_a_makers_words_mean_these_actions(name: str, given: Any, native: list[dict[str, Any]]) -> None:
    reading = dialect(name).read(given, talk(name))
    assert [one.to_dict() for one in reading.actions] == [action_from(one).to_dict() for one in native]


@each(("name", "given"), BAD)
def test_what_has_no_meaning_is_refused_with_a_hint(name: str, given: Any) -> None:
    with pytest.raises((InvalidAction, Unsupported)) as told:
        dialect(name).read(given, talk(name))
    assert told.value.message
    assert told.value.hint


@each("name", TABLES)
def test_every_word_of_the_table_is_read_or_refused_by_an_example(name: str) -> None:
    own = dialect(name)
    good, bad = ROWS[name]
    heard = {said.word for given, _ in good for said in own.hear(given).calls}
    for given in bad:
        try:
            heard |= {said.word for said in own.hear(given).calls}
        except HandrailError:
            continue
    later = {"left_mouse_down", "left_mouse_up"}
    assert own.rows.keys() - heard - later == set()


@each(("name", "given", "native"), GOOD)
def test_what_a_dialect_can_say_comes_back_as_it_was(
    name: str, given: Any, native: list[dict[str, Any]]
) -> None:
    """Written and read again it is the same action, whatever way it was said first."""
    own, said = dialect(name), 0
    del given
    for one in map(action_from, native):
        try:
            written = own.write(one, talk(name))
        except Unsupported:
            continue
        said += 1
        again = own.read(written, talk(name)).actions
        assert again[0].to_dict() == one.to_dict(), written
    assert said or name in ("agent_device", "w3c_actions", "openai_computer", "autoglm") or not native


def test_a_right_click_says_that_it_was_a_long_press() -> None:
    for name, given in (
        ("anthropic_computer", {"action": "right_click", "coordinate": [1, 2]}),
        ("openai_computer", {"type": "click", "x": 1, "y": 2, "button": "right"}),
        ("ui_tars", "Action: right_single(point='<point>1 2</point>')"),
    ):
        own = dialect(name)
        reading = own.read(given, talk(name))
        assert "long press" in " ".join(reading.notes)
        assert "long press" in str(own.answer(reading, WordsTold(True, "Done.")))


def test_a_mouse_that_is_held_and_moved_is_one_drag_when_it_is_let_go() -> None:
    own, state = dialect("anthropic_computer"), talk("anthropic_computer")
    words: list[dict[str, Any]] = [
        {"action": "mouse_move", "coordinate": [10, 10]},
        {"action": "left_mouse_down"},
        {"action": "mouse_move", "coordinate": [20, 20]},
        {"action": "mouse_move", "coordinate": [30, 10]},
    ]
    assert [own.read(one, state).actions for one in words] == [()] * 4
    [path] = own.read({"action": "left_mouse_up"}, state).actions
    assert path.to_dict()["points"] == [{"x": 20, "y": 20}, {"x": 40, "y": 40}, {"x": 60, "y": 20}]
    [tap] = own.read({"action": "left_click"}, state).actions
    assert tap.to_dict()["target"] == {"x": 60, "y": 20}
    assert own.read({"action": "cursor_position"}, state).reply == "X=30,Y=10"


def test_a_click_at_no_place_is_refused() -> None:
    with pytest.raises(InvalidAction, match="nothing was pointed at"):
        dialect("anthropic_computer").read({"action": "left_click"}, talk("anthropic_computer"))


def test_what_was_answered_is_said_again_at_the_end() -> None:
    own, state = dialect("androidworld"), talk("androidworld")
    own.read({"action_type": "answer", "text": "482913"}, state)
    [end] = own.read({"action_type": "status", "goal_status": "complete"}, state).actions
    assert end.to_dict()["message"] == "482913"


def test_frames_are_given_and_never_guessed() -> None:
    own = dialect("anthropic_computer")
    click = {"action": "left_click", "coordinate": [1, 2]}
    with pytest.raises(InvalidAction) as no_picture:
        own.read(click, Conversation(CoordinateFrame("picture", (1080, 2400))))
    assert no_picture.value.details["path"] == "picture"
    with pytest.raises(InvalidAction) as no_screen:
        own.read(click, Conversation(CoordinateFrame("picture", None, (540, 1200))))
    assert no_screen.value.details["path"] == "screen"


@each(
    ("frame", "place"),
    [
        (CoordinateFrame("device"), (540, 1200)),
        (CoordinateFrame("device", (1080, 2400)), (540, 1200)),
        (CoordinateFrame("picture", (1080, 2400), (720, 1600)), (360, 800)),
        (CoordinateFrame("resized", (1080, 2400), (1080, 2400)), (546, 1204)),
        (CoordinateFrame("thousand", (1080, 2400)), (500, 500)),
        (CoordinateFrame("unit", (1080, 2400)), (0.5, 0.5)),
        (CoordinateFrame("percent", (1080, 2400)), (50, 50)),
    ],
)
def test_one_place_in_every_frame(frame: CoordinateFrame, place: tuple[float, float]) -> None:
    assert frame.to_device(*place) == {"x": 540, "y": 1200}
    assert frame.from_device(540, 1200) == place


def test_the_far_edge_is_the_last_pixel() -> None:
    assert CoordinateFrame("thousand", (1080, 2400)).to_device(1000, 1000) == {"x": 1079, "y": 2399}


@each(
    ("name", "given"),
    [
        ("anthropic_computer", {"action": "left_click", "coordinate": [900, 20]}),
        ("openai_computer", {"type": "click", "x": 10, "y": 2000, "button": "left"}),
        ("autoglm", '<answer>do(action="Tap", element=[540,1200])</answer>'),
        ("mobile_use", {"action": "click", "coordinate": [-5, 3]}),
        ("ui_tars", "Action: click(point='<point>9999 602</point>')"),
        ("aitw", {"results/action_type": 4, "results/yx_touch": [2, 0.5], "results/yx_lift": [2, 0.5]}),
    ],
)
def test_numbers_of_another_frame_are_told_and_not_touched(name: str, given: Any) -> None:
    with pytest.raises(InvalidAction, match="outside"):
        dialect(name).read(given, talk(name))


def test_a_picture_is_resized_as_qwen_does_it() -> None:
    assert smart_resize(1080, 2400) == (1092, 2408)
    assert smart_resize(100, 100) == (280, 280)
    wide, high = smart_resize(20_000, 10_000)
    assert wide * high <= 16_384 * 28 * 28
    assert wide % 28 == high % 28 == 0


def test_a_call_without_an_end_is_told_and_an_unread_answer_is_no_end_of_the_task() -> None:
    with pytest.raises(InvalidAction):
        dialect("autoglm").read("I think the task is over.", talk("autoglm"))
    reading = dialect("ui_tars").read("Action: type(content='Ada'", talk("ui_tars"))
    assert "a missing end" in reading.repairs


def test_each_maker_is_answered_in_its_own_form() -> None:
    good, bad = (
        WordsTold(True, "Tapped.", picture="UE5H"),
        WordsTold(False, "no such element", "ELEMENT_NOT_FOUND", "Look."),
    )
    call = {"type": "tool_use", "id": "toolu_1", "name": "computer", "input": {"action": "screenshot"}}
    own = dialect("anthropic_computer")
    answer = own.answer(own.read(call, talk(own.name)), good)
    assert (answer["type"], answer["tool_use_id"], answer["is_error"]) == ("tool_result", "toolu_1", False)
    assert answer["content"][1]["source"] == {"type": "base64", "media_type": "image/png", "data": "UE5H"}
    own = dialect("openai_computer")
    item = {
        "type": "computer_call", "call_id": "call_1", "action": {"type": "screenshot"},
        "pending_safety_checks": [{"id": "sc_1", "code": "c", "message": "m"}],
    }  # fmt: skip
    answer = own.answer(own.read(item, talk(own.name)), good)
    assert answer["type"] == "computer_call_output"
    assert answer["call_id"] == "call_1"
    assert answer["output"] == {"type": "computer_screenshot", "image_url": "data:image/png;base64,UE5H"}
    assert answer["acknowledged_safety_checks"] == [{"id": "sc_1", "code": "c", "message": "m"}]
    refused = own.answer(own.read(item, talk(own.name)), bad)
    assert "acknowledged_safety_checks" not in refused[0]
    assert dialect("w3c_actions").answer(WordsRead(()), good) == {"value": None}
    assert dialect("w3c_actions").answer(WordsRead(()), bad)["value"]["error"] == "unknown error"
    elements = [{"text": "Save", "ref": "@b1"}]
    listed = dialect("androidworld").answer(WordsRead(()), WordsTold(True, "", elements=elements))
    assert listed["ui_elements"] == [{"index": 0, "text": "Save", "ref": "@b1"}]


def test_refused_words_say_so_in_the_table() -> None:
    assert dialect("anthropic_computer").rows["middle_click"].says.startswith("refused")
    assert isinstance(dialect("androidworld").rows["unknown"], RefusedWord)


def test_damaged_words_are_read_or_refused_and_nothing_else_happens() -> None:
    """A short run; the long one is `make fuzz`."""
    from tests.fuzz.dialects import run  # noqa: PLC0415  (it reads the rows of this file)

    outcomes, slowest = run(count=1_100, seed=7)
    assert {word.split()[0] for word in outcomes if word.endswith("read")} == set(TABLES)
    assert slowest < 2_000

"""The actions as commands: every word and option becomes the field it stands for."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from handrail.cli.action_commands import ACTION_COMMANDS, command_for, selector_fields
from handrail.cli.options import DeviceOptions
from handrail.protocol.actions import ACTIONS, DESK_ACTIONS
from handrail.protocol.describe import describe
from handrail.protocol.read import action_from
from handrail.protocol.target import Selector
from tests.cases import each
from tests.unit.cli.command import Handrail

DEVICE_ACTIONS = {kind: cls for kind, cls in ACTIONS.items() if kind not in DESK_ACTIONS}


class Performed:
    """Stands where the engine would be: keeps what it was told to do."""

    def __init__(self) -> None:
        self.data: dict[str, Any] = {}
        self.target = DeviceOptions()
        self.rest: dict[str, Any] = {}

    def __call__(self, data: dict[str, Any], target: DeviceOptions, **rest: Any) -> int:
        self.data, self.target, self.rest = data, target, rest
        action_from(data)
        return 0


@pytest.fixture
def performed(monkeypatch: pytest.MonkeyPatch) -> Performed:
    one = Performed()
    monkeypatch.setattr("handrail.cli.perform.perform", one)
    return one


@pytest.mark.parametrize("kind", DEVICE_ACTIONS)
def test_every_action_is_a_command_whose_example_says_what_the_class_says(
    handrail: Handrail, performed: Performed, kind: str
) -> None:
    words = shlex.split(ACTION_COMMANDS[kind.replace("_", "-")].example)
    assert words[0] == "handrail"
    done = handrail(*words[1:])
    assert (done.code, done.err) == (0, "")
    assert action_from(performed.data) == action_from(DEVICE_ACTIONS[kind].example)


@each("kind", DEVICE_ACTIONS)
def test_every_field_of_an_action_stands_in_its_help(handrail: Handrail, kind: str) -> None:
    name = kind.replace("_", "-")
    done = handrail(name, "--help")
    assert done.code == 0
    printed = " ".join(done.out.split())
    described = describe(DEVICE_ACTIONS[kind])
    assert described.text in printed
    for one in described.fields:
        flag = f"--{one.name.replace('_', '-')} "
        assert flag in printed or f" {one.name.upper()} " in printed or f"{flag[:-1]} / --no-" in printed
        if one.name != "device":
            assert " ".join(one.text.split()) in printed


def test_every_way_to_describe_an_element_is_an_option() -> None:
    assert {one.name for one in selector_fields()} == set(Selector.model_fields) - {"ref", "element_id"}


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ("tap @b1", {"target": "@b1"}),
        ("tap 540,750", {"target": "540,750"}),
        ("tap Save", {"target": "Save"}),
        ("tap '{\"role\": \"button\", \"index\": 2}'", {"target": {"role": "button", "index": 2}}),
        ("tap --id save --index 1", {"target": {"id": "save", "index": 1}}),
        ("tap Save --role button --within @s1",
         {"target": {"text": "Save", "role": "button", "within": "@s1"}}),
        ("tap --below Name --left-of '{\"id\": \"x\"}'",
         {"target": {"below": "Name", "left_of": {"id": "x"}}}),
        ("double_tap Save", {"target": "Save"}),
        ("long-press @i1 --duration-ms 700", {"target": "@i1", "duration_ms": 700}),
        ("swipe up --target @s1", {"direction": "up", "target": "@s1"}),
        ("swipe --from 1,2 --to 3,4", {"from": "1,2", "to": "3,4"}),
        ("drag Apple 540,300", {"from": "Apple", "to": "540,300"}),
        ("rotate 540 1200 300 0 90.5",
         {"cx": 540, "cy": 1200, "radius": 300, "start_angle_deg": 0, "end_angle_deg": 90.5}),
        ("scroll-to About --within @s1", {"target": "About", "within": "@s1"}),
        ("set-value 'Brightness level' 40", {"target": "Brightness level", "value": 40}),
        ("set-value --id day 3", {"target": {"id": "day"}, "value": 3}),
        ("set-value Day March", {"target": "Day", "value": "March"}),
        ("set-value Day '\"3\"'", {"target": "Day", "value": "3"}),
        ("type-text Ada --target Name --submit", {"text": "Ada", "target": "Name", "submit": True}),
        ("type-text Ada --id name --no-clear", {"text": "Ada", "target": {"id": "name"}, "clear": False}),
        ("type-text 123", {"text": "123"}),
        ("type-text -- -5", {"text": "-5"}),
        ("type-text '{not json'", {"text": "{not json"}),
        ("press-key 66", {"key": "66"}),
        ("set-network --wifi --no-airplane-mode", {"wifi": True, "airplane_mode": False}),
        ("shell -- pm list packages -3", {"command": ["pm", "list", "packages", "-3"]}),
        ("shell pm list packages -3", {"command": ["pm", "list", "packages", "-3"]}),
        ("shell --reason why ls '/sdcard/my file'", {"command": ["ls", "/sdcard/my file"], "reason": "why"}),
        ("shell 'pm list packages'", {"command": "pm list packages"}),
        ("shell --raw 'ls | wc -l'", {"command": "ls | wc -l", "raw": True}),
        ("get-ui-tree --only-interactive --depth 3", {"only_interactive": True, "depth": 3}),
        ("ui --find Save", {"find": "Save"}),
        ("screenshot --scale 0.5 --marks", {"scale": 0.5, "marks": True}),
        ("wait 50", {"duration_ms": 50}),
        ("wait-for Saved --timeout-ms 3000", {"condition": "Saved", "timeout_ms": 3000}),
        ("wait-for '{\"absent\": \"Loading\"}'", {"condition": {"absent": "Loading"}}),
        ("expect-text --id total --equals 12.50", {"target": {"id": "total"}, "equals": "12.50"}),
        ("expect-state --id wifi checked true",
         {"target": {"id": "wifi"}, "property": "checked", "value": True}),
        ("expect-state Wi-Fi text 'On, 2'", {"target": "Wi-Fi", "property": "text", "value": "On, 2"}),
        ("tap Save --reason 'I save' --expect Saved",
         {"target": "Save", "reason": "I save", "expect": "Saved"}),
        ("tap Save --expect '{\"app\": \"a.b\"}'", {"target": "Save", "expect": {"app": "a.b"}}),
        ("finish", {}),
    ],
)  # fmt: skip
def test_words_and_options_become_fields(
    handrail: Handrail, performed: Performed, line: str, fields: dict[str, Any]
) -> None:
    done = handrail(*shlex.split(line))
    assert (done.code, done.err) == (0, "")
    given = {key: value for key, value in performed.data.items() if key != "type"}
    assert given == fields


@each(
    ("line", "path", "says"),
    [
        ("tap", "target", "handrail tap Save"),
        ("set-value Brightness", "value", "handrail set-value"),
        ("tap Save --text Store", "target", "both name the target"),
        ("tap Save Store", "", "'Store' is too much"),
        ("swipe upp", "direction", "Did you mean up?"),
        ("swipe", "", "either direction, or from and to"),
        ("tap '{\"text\": '", "target", "not valid JSON"),
        ("long-press @b1 --duration-ms soon", "duration_ms", "valid integer"),
        ("long-press @b1 --duration-ms 90000", "duration_ms", "60000"),
        ("tap --role buton", "role", "Did you mean button"),
        ("press-key bakc", "key", "did you mean back"),
        ("start-app 'not a package'", "package", "such as"),
        ("shell", "command", "is required"),
    ],
)
def test_bad_input_ends_with_2_its_path_and_what_was_meant(
    handrail: Handrail, line: str, path: str, says: str
) -> None:
    done = handrail(*shlex.split(line))
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("INVALID_ACTION: ")
    assert path in done.err
    assert says in done.err


@each(
    ("word", "meant"),
    [("tpa", "tap"), ("click", "tap"), ("launch_app", "start-app"), ("devcies", "devices"), ("uii", "ui")],
)
def test_a_command_that_is_none_is_guessed(handrail: Handrail, word: str, meant: str) -> None:
    done = handrail(word)
    assert done.code == 2
    assert f"No such command {word!r}. Did you mean {meant}?" in done.err


def test_a_word_like_no_command_is_not_guessed(handrail: Handrail) -> None:
    assert "Did you mean" not in handrail("xyzzyxyzzy").err


def test_the_device_and_the_form_of_the_answer_are_handed_on(
    handrail: Handrail, performed: Performed
) -> None:
    handrail("screenshot", "--device", "pixel", "--json", "--out", "shot.png")
    assert performed.target == DeviceOptions("pixel")
    assert performed.rest["as_json"] is True
    assert str(performed.rest["out"]) == "shot.png"
    handrail("tap", "Save", "--sim")
    assert performed.target == DeviceOptions(sim=True)


def test_two_phones_for_one_command_are_refused(handrail: Handrail, performed: Performed) -> None:
    done = handrail("tap", "Save", "--sim", "--device", "pixel")
    assert done.code == 2
    assert "name two phones" in done.err
    assert performed.data == {}


def test_a_usage_line_names_the_words_in_order() -> None:
    usages = {
        name: command_for(name).params[0].make_metavar(None) for name in ("set-value", "shell", "swipe")
    }  # type: ignore[arg-type]
    assert usages == {"set-value": "TARGET VALUE", "shell": "COMMAND...", "swipe": "[DIRECTION]"}

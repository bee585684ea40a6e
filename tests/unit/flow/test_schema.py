"""The schema for editors takes what `load` takes, and refuses what it refuses."""

from __future__ import annotations

import copy
import json
import random
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from handrail.cli.program import cli
from handrail.dialects import agentest
from handrail.errors import InvalidAction
from handrail.flow.document import loads
from handrail.flow.schema import flow_schema
from handrail.protocol.actions import ACTIONS, DESK_ACTIONS
from tests.cases import each
from tests.unit.flow.good_flows import AGENTEST_STEPS, GOOD


@cache
def validator() -> Draft202012Validator:
    return Draft202012Validator(flow_schema())


def loaded(data: Any) -> bool:
    try:
        loads(json.dumps(data))
    except InvalidAction:
        return False
    return True


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(flow_schema())


def test_the_command_prints_it() -> None:
    done = CliRunner().invoke(cli, ["flow", "schema"])
    assert json.loads(done.output) == flow_schema()
    assert json.loads(done.output)["$schema"] == "https://json-schema.org/draft/2020-12/schema"


@pytest.mark.parametrize("options", [(), ("--out", "schemas/flows.json")], ids=["usual", "elsewhere"])
def test_the_settings_for_vscode_name_a_file_that_the_command_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schemas").mkdir()
    done = CliRunner().invoke(cli, ["flow", "schema", "--vscode", "--flows", "e2e/*.yaml", *options])
    [(named, files)] = json.loads(done.stdout)["yaml.schemas"].items()
    assert files == "e2e/*.yaml"
    assert named.startswith("./")
    assert json.loads((tmp_path / named).read_text()) == flow_schema()


def test_the_page_shows_the_settings_that_the_command_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (Path(__file__).parents[3] / "docs" / "flows.md").read_text()
    monkeypatch.chdir(tmp_path)
    printed = CliRunner().invoke(cli, ["flow", "schema", "--vscode"]).stdout
    assert f"```json\n{printed}```" in page


def test_a_schema_that_can_not_be_written_is_an_error_with_a_hint(tmp_path: Path) -> None:
    done = CliRunner().invoke(cli, ["flow", "schema", "--out", str(tmp_path / "no" / "file.json")])
    assert isinstance(done.exception, InvalidAction)
    assert done.exception.hint == "Choose another file."


@pytest.mark.parametrize(
    "line", ["# yaml-language-server: $schema=../flow.schema.json", "# $schema: ../f.json"]
)
def test_a_flow_that_names_its_schema_is_a_good_flow(tmp_path: Path, line: str) -> None:
    file = tmp_path / "named.yaml"
    file.write_text(f"{line}\nname: named\nsteps:\n  - tap: Save\n")
    done = CliRunner().invoke(cli, ["flow", "check", str(file)])
    assert done.exit_code == 0, done.output


@each("kind", ACTIONS)
def test_every_action_is_right_by_the_schema(kind: str) -> None:
    fields = {key: value for key, value in ACTIONS[kind].example.items() if key != "type"}
    assert validator().is_valid([{kind: fields}])


def test_all_twenty_are_there() -> None:
    assert {step["action"] for step in AGENTEST_STEPS} == set(agentest.STEPS)


WRONG: list[Any] = [
    None, "tap", 3, [], {}, {"steps": []}, {"steps": [{}]}, [["tap"]], ["tap"], ["tapp"], [{"tap": None}],
    [{"tap": 7}], [{"tap": ""}], [{"tap": {}}], [{"tap": {"index": 1}}], [{"tap": {"idd": "a"}}],
    [{"tap": "A", "swipe": "up"}], [{"label": "A"}], [{"tap": "A", "optional": "yes"}],
    [{"tap": "A", "foo": 1}], [{"tap": "A", "retry": 21}], [{"tap": "A", "timeout_ms": 1, "timeoutMs": 1}],
    [{"tap": "A", "label": None}], [{"tap": {"target": "A", "reason": "x"}, "reason": "y"}],
    [{"tap": "A", "element": "x"}], [{"swipe": "diagonal"}], [{"swipe": {}}], [{"swipe": {"from": "1,2"}}],
    [{"swipe": {"from": "1,2", "to": "x"}}], [{"swipe": {"direction": "up", "from": "1,2", "to": "3,4"}}],
    [{"long_press": "A", "duration_ms": 5}], [{"expect_text": {"target": "A"}}],
    [{"expect_text": {"target": "A", "equals": "a", "contains": "b"}}],
    [{"expect_screen": {"fingerprint": "a", "activity": "b"}}], [{"set_network": None}],
    [{"set_network": {}}], [{"start_app": "not a package"}], [{"press_key": "bakc"}], [{"press_key": 5000}],
    [{"wait": "5"}], [{"wait": -1}], [{"wait_for": {}}], [{"wait_for": {"visible": "A", "absent": "B"}}],
    [{"pinch": {"cx": 1, "cy": 2}}], [{"drag": "A"}], [{"when": "A"}], [{"then": ["finish"]}],
    [{"when": "A", "then": []}], [{"repeat": 3}], [{"repeat": {"steps": ["finish"]}}],
    [{"repeat": {"times": 2, "while": "A", "steps": ["finish"]}}],
    [{"repeat": {"times": 0, "steps": ["finish"]}}], [{"parallel": {}}], [{"parallel": {"a": []}}],
    [{"run_flow": {}}], [{"run_flow": {"file": "a", "env": {"A B": "c"}}}], [{"run_flow": None}],
    {"steps": ["finish"], "nmae": "x"}, {"steps": ["finish"], "tags": "a"},
    {"steps": ["finish"], "env": {"A": []}}, {"steps": ["finish"], "name": ""},
    {"steps": ["finish"], "app": None}, {"name": "x"}, [{"action": "tap"}],
    [{"action": "tapp", "target": {"text": "A"}}], [{"action": "tap", "target": {"x": 1, "y": 2}}],
    [{"action": "tap", "target": {"text": "A"}}, {"tap": "A"}], [{"type": "tap", "target": "A"}],
    [{"shell": {"command": ["a"], "raw": True}}], [{"drag": {"from_": "A", "to": "B"}}],
]  # fmt: skip


@each("data", WRONG, ids=lambda data: json.dumps(data)[:50])
def test_what_load_refuses_the_schema_refuses_too(data: Any) -> None:
    assert not loaded(data)
    assert not validator().is_valid(data)


def test_the_schema_and_flow_check_agree_on_good_and_wrong_files(tmp_path: Path) -> None:
    """By the command itself: what the schema refuses ends with an error, what it takes has none of form."""
    for number, data in enumerate([*WRONG, *GOOD]):
        (tmp_path / f"{number:03}.json").write_text(json.dumps(data))
    paths = sorted(map(str, tmp_path.iterdir()))  # a folder leaves out what does not look like a flow at all
    done = CliRunner().invoke(cli, ["flow", "check", "--json", *paths])
    files = {Path(one["file"]).stem: one["problems"] for one in json.loads(done.stdout)["files"]}
    assert len(files) >= len(WRONG) + len(GOOD) - 1, "a file may be taken for a Maestro workspace's settings"
    for number, data in enumerate([*WRONG, *GOOD]):
        errors = [one for one in files.get(f"{number:03}", [NOT_A_FLOW]) if one["level"] == "error"]
        of_form = [problem for problem in errors if problem["rule"] not in BY_READING]
        assert validator().is_valid(data) == (not of_form), (data, errors)


NOT_A_FLOW = {"level": "error", "rule": "invalid"}
BY_READING = frozenset({"missing-file", "broken-file", "circle", "unknown-variable"})
"""Errors that no schema can tell: they are about other files and about what a run is given."""

HOSTILE: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, 10**7, "", "  ", "Save", "up", "${A}", [], {}, ["x"], {"text": "A"},
    {"x": 1, "y": 2}, {"visible": "A"}, {"foo": 1},
)  # fmt: skip
KEYS = (
    "target", "text", "label", "when", "then", "steps", "tap", "timeoutMs", "timeout_ms", "expect", "foo",
    "index",
)  # fmt: skip


def damaged(rng: random.Random) -> Any:
    """A good flow with one or two things changed, removed or added."""
    whole = copy.deepcopy(rng.choice([*GOOD, *([step] for step in AGENTEST_STEPS)]))
    for _ in range(rng.randint(1, 2)):
        queue, holders = [whole], []
        while queue:
            one = queue.pop()
            if isinstance(one, dict | list) and one:
                holders.append(one)
                queue.extend(one.values() if isinstance(one, dict) else one)
        if not holders:
            break
        holder = rng.choice(holders)
        at = rng.choice(list(holder)) if isinstance(holder, dict) else rng.randrange(len(holder))
        match rng.randrange(3):
            case 0:
                holder[at] = copy.deepcopy(rng.choice(HOSTILE))
            case 1:
                del holder[at]
            case _ if isinstance(holder, dict):
                holder[rng.choice(KEYS)] = copy.deepcopy(rng.choice(HOSTILE))
    return whole


def has_desk_action(data: Any) -> bool:
    """Windows check their content in ways that no schema can say."""
    text = json.dumps(data)
    return any(f'"{kind}"' in text for kind in DESK_ACTIONS)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 9))])
def test_load_and_schema_agree_on_damaged_flows(seed: int) -> None:
    rng = random.Random(seed)
    verdicts: list[bool] = []
    for _ in range(150):
        data = damaged(rng)
        if not has_desk_action(data):
            verdicts.append(loaded(data))
            assert verdicts[-1] == validator().is_valid(data), json.dumps(data)
    assert 10 < sum(verdicts) < len(verdicts) - 10

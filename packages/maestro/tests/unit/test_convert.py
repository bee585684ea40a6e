"""Flows from one language into the other and back, and what only one of them can say."""

from __future__ import annotations

from pathlib import Path

import pytest

from handrail.flow.document import load, loads
from handrail_maestro.convert import to_handrail
from handrail_maestro.convert_back import to_maestro
from handrail_maestro.read import read

EXAMPLES = Path(__file__).parents[4] / "examples" / "flows"
FLOWS = Path(__file__).parents[1] / "data"
HEADER = "appId: com.example.app\nname: Log in\ntags: [smoke]\n---\n"


def converted(tmp_path: Path, text: str) -> tuple[str, list[str]]:
    path = tmp_path / "flow.yaml"
    path.write_text(HEADER + text)
    made = to_handrail(path)
    loads(made.text)  # what is written can be read
    return made.text.partition("steps:\n")[2], made.left_out


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("- tapOn: Save\n", "- tap: Save"),
        ("- tapOn: {id: save, optional: true}\n", "- tap: {id: save}\n    optional: true"),
        ("- tapOn: .*Sav.*\n", "- tap: {text_contains: Sav}"),
        ("- tapOn: {text: Save, below: Title, index: 1}\n", "- tap: {text: Save, below: Title, index: 1}"),
        ("- tapOn: {point: '540, 700'}\n", '- tap: "540,700"'),
        ("- longPressOn: Row\n", "- long_press: {target: Row, duration_ms: 3000}"),
        ("- inputText: ${USER || 'ada'} x\n", '- type_text: "${USER:-ada} x"'),
        ("- inputText: ${secret:PIN}\n", '- type_text: "${secret:PIN}"'),
        ("- pressKey: Enter\n", "- press_key: enter"),
        ("- back\n", "- press_key: back"),
        ("- hideKeyboard\n", "- hide_keyboard"),
        ("- assertVisible: Done\n", "- expect_visible: Done\n    timeout_ms: 17000"),
        ("- extendedWaitUntil: {notVisible: Busy, timeout: 5}\n",
         "- wait_for: {absent: Busy}\n    timeout_ms: 5"),
        ("- scrollUntilVisible: {element: About}\n", "- scroll_to: {target: About, direction: down}"),
        ("- openLink: https://x.org\n", '- open_url: "https://x.org"'),
        ("- clearState\n", "- reset_app: com.example.app"),
        ("- setDarkMode: enabled\n", "- set_appearance: dark"),
        ("- repeat:\n    times: 2\n    commands:\n      - back\n",
         "- repeat:\n      times: 2\n      steps:\n        - press_key: back"),
        ("- runFlow: {file: a.yaml, env: {X: y}}\n", "- run_flow: {file: a.yaml, env: {X: y}}"),
        ("- runFlow:\n    when: {visible: Ad}\n    commands:\n      - back\n",
         "- when: {visible: Ad}\n    then:\n      - press_key: back"),
    ],
)  # fmt: skip
def test_a_command_becomes_a_step(tmp_path: Path, text: str, step: str) -> None:
    steps, left_out = converted(tmp_path, text)
    assert steps.strip() == step
    assert not left_out


@pytest.mark.parametrize(
    "text",
    [
        "- evalScript: ${output.x = 1}\n", "- tapOn: '[A-Z]+'\n", "- tapOn: {point: '50%,50%'}\n",
        "- inputText: ${output.x}\n", "- retry:\n    commands:\n      - back\n", "- tapOn: {enabled: true}\n",
        "- inputRandomEmail\n", "- copyTextFrom: {id: x}\n", "- assertTrue: ${1}\n",
    ],
)  # fmt: skip
def test_what_cannot_be_said_is_left_out_with_its_line(tmp_path: Path, text: str) -> None:
    steps, left_out = converted(tmp_path, text + "- back\n")
    assert "- press_key: back" in steps
    assert "# left out: " in steps
    assert ":5:" in left_out[0]


@pytest.mark.parametrize("path", sorted(FLOWS.glob("[01]*.yaml")), ids=lambda path: path.stem)
def test_every_flow_of_the_phone_converts_to_one_that_can_be_read(path: Path) -> None:
    loads(to_handrail(path).text)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.yaml")), ids=lambda path: path.stem)
def test_our_examples_convert_to_flows_without_a_fault(path: Path) -> None:
    if load(path).valid_flow is None:
        pytest.skip("its variables have no values yet")
    made = to_maestro(path)
    assert [one for one in read(made.text).problems if one.level == "error"] == []


def test_a_flow_that_both_can_say_comes_back_as_it_was(tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    kept = ("tap: Save", "tap: {id: first}", "press_key: back", "hide_keyboard", "set_appearance: dark")
    steps = "".join(f"  - {one}\n" for one in kept)
    own.write_text(f"name: Both\nsteps:\n{steps}")
    there = tmp_path / "there.yaml"
    there.write_text(to_maestro(own).text)
    assert to_handrail(there).text == f"name: Both\nsteps:\n{steps}"

"""The file of `handrail run --approvals`: it says yes to exactly what it names, and a wrong one says why."""

from __future__ import annotations

from itertools import takewhile
from pathlib import Path

import pytest

from handrail.cli.approvals import FlowApprovals
from handrail.errors import InvalidAction
from handrail.flow.progress import PlainFlowProgress
from handrail.safety.approval_request import AuthorizationRequest
from tests.unit.safety.asking import Desk, human_auth, question, run

ENTRY = '[[allow]]\nflow = "pay.yaml"\naction = "tap"\nlabel = "Pay €60.50"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pay.yaml").write_text("steps: [get_state]\n")
    (tmp_path / "other.yaml").write_text("steps: [{run_flow: pay.yaml}]\n")
    (tmp_path / "allow.toml").write_text(ENTRY)
    return tmp_path


def answered(
    folder: Path, *requests: AuthorizationRequest, flow: str = "pay.yaml", given: str = ""
) -> list[str]:
    """What each question ended as, asked one after the other by the same run."""
    found: list[str] = []

    async def story(at: Desk) -> None:
        asking = FlowApprovals.of(given or str(folder / "allow.toml"), PlainFlowProgress(print), False)
        asking.start_flow(folder / flow)
        asking.answer_for(at.approvals)
        found.extend([(await at.approvals.ask(one)).decision for one in requests])

    run(folder, story)
    return found


def test_exactly_what_is_written_down_is_approved_and_only_so_often(folder: Path) -> None:
    pay = question(label="Pay €60.50", instruction="Allow tap?")
    assert answered(folder, pay, pay) == ["approved", "denied"]


@pytest.mark.parametrize(
    "asked",
    [
        question(label="Pay €600.50"),
        question(label="Pay €60.5"),
        question(label="pay €60.50"),
        question(label=" Pay €60.50"),
        question(label="Рay €60.50"),  # its first letter is Cyrillic
        question(label="Pay\u200b €60.50"),
        question(label="Pay €60.50 and tip"),
        question(label=""),
        question({"type": "long_press", "target": "Pay €60.50"}, label="Pay €60.50"),
        human_auth("payment", label="Pay €60.50"),
    ],
    ids=str,
)
def test_nothing_else_is_approved_by_it(folder: Path, asked: AuthorizationRequest) -> None:
    assert answered(folder, asked) == ["denied"]


def test_a_flow_that_runs_the_flow_is_another_one(folder: Path) -> None:
    pay = question(label="Pay €60.50")
    assert answered(folder, pay, flow="other.yaml") == ["denied"]
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere" / "pay.yaml").write_text("steps: [get_state]\n")
    assert answered(folder, pay, flow="elsewhere/pay.yaml") == ["denied"]
    (folder / "link.yaml").symlink_to("pay.yaml")
    assert answered(folder, pay, flow="link.yaml") == ["approved"]


def test_the_whole_question_may_be_bound_too(folder: Path) -> None:
    (folder / "allow.toml").write_text(ENTRY + 'question = "Allow tap in com.shop?"\n')
    there = question(label="Pay €60.50", instruction="Allow tap in com.shop?")
    elsewhere = question(label="Pay €60.50", instruction="Allow tap in com.evil?")
    assert answered(folder, elsewhere, there) == ["denied", "approved"]


def test_fail_says_no_at_once_and_what_would_say_yes(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert answered(folder, question(label='Pay "now" €5'), given="fail") == ["denied"]
    said = capsys.readouterr().out
    lines = [line.strip() for line in said[said.index("[[allow]]") :].splitlines()]
    entry = takewhile(lambda line: line == "[[allow]]" or " = " in line, lines)
    (folder / "allow.toml").write_text("\n".join(entry))
    assert answered(folder, question(label='Pay "now" €5')) == ["approved"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("allow = 3\n", "[[allow]] entries"),
        ("[[allow]]\n", "needs flow"),
        ("", "[[allow]] entries"),
        (ENTRY + "times = 0\n", "from 1 to 100"),
        (ENTRY + "times = true\n", "from 1 to 100"),
        (ENTRY + 'lable = "x"\n', "'lable'"),
        (ENTRY.replace("Pay €60.50", " "), "needs label"),
        (ENTRY.replace("Pay €60.50", "OK"), "whatever is asked"),
        (ENTRY.replace('"tap"', '"tapp"'), "no action 'tapp'"),
        (ENTRY.replace('"tap"', '"shell"'), "a person must be asked"),
        (ENTRY.replace('"tap"', '"drag"'), "a person must be asked"),
        (ENTRY.replace('"tap"', '"*"'), "no action '*'"),
        (ENTRY.replace("pay.yaml", "*.yaml"), "no flow"),
        (ENTRY + "[rule]\n", "nothing else"),
        ("[[allow]\n", "allow.toml"),
    ],
)
def test_a_wrong_file_is_an_error_that_says_where(folder: Path, text: str, said: str) -> None:
    (folder / "allow.toml").write_text(text)
    with pytest.raises(InvalidAction) as caught:
        answered(folder)
    assert said in caught.value.message
    assert caught.value.hint

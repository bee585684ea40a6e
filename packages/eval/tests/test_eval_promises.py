"""Two sentences of docs/evaluation.md, tried on every shipped template and on the example."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from handrail_eval.baselines import BASELINES, memoriser
from handrail_eval.command import evaluate
from handrail_eval.load import load_templates
from handrail_eval.memory import known_by_heart
from handrail_eval.result import TaskResult
from handrail_eval.run import EvaluationPlan, run_one
from handrail_eval.task import EvalTask
from handrail_eval.virtual_time import run_virtually

NAMES = [template.id for template in load_templates()]
EXAMPLES = Path(__file__).parents[3] / "examples" / "eval"
SEEDS = (1, 2)


async def by_heart(task: EvalTask) -> TaskResult:
    actions = await known_by_heart(task)
    return await run_one(task, EvaluationPlan(lambda _: memoriser(actions)))


@pytest.mark.parametrize("name", NAMES)
def test_a_claim_of_success_fails(name: str) -> None:
    [template] = load_templates([name])
    for task in map(template.task, SEEDS):
        result = run_virtually(run_one(task, EvaluationPlan(BASELINES["liar"])))
        assert not result.success, (name, task.seed)
        assert result.why


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES[::31])  # lint tries it with every template
def test_nothing_can_be_known_by_heart(name: str) -> None:
    [template] = load_templates([name])
    for task in map(template.task, SEEDS):
        assert not run_virtually(by_heart(task)).success, (name, task.seed)


def test_the_example_is_run_as_the_page_says() -> None:
    said = CliRunner().invoke(evaluate, ["--suite", str(EXAMPLES), "--seeds", "1..2", "--json"])
    assert said.exit_code == 0, said.output
    assert json.loads(said.stdout)["summary"]["percent"] == 100.0


@pytest.mark.slow
def test_the_example_is_proved_and_a_proof_is_not_made_twice(tmp_path: Path) -> None:
    file = tmp_path / "proved.jsonl"
    words = ["lint", str(EXAMPLES), "--seeds", "1..2", "--resume", str(file)]
    first = CliRunner().invoke(evaluate, words)
    assert first.exit_code == 0, first.output
    with file.open("a") as opened:
        opened.write('{"key": "half')
    again = CliRunner().invoke(evaluate, words)
    assert again.output.startswith("known ✓ note-code")
    assert file.read_text().count("\n") == 1
    other = CliRunner().invoke(evaluate, [*words[:3], "1", *words[4:]])
    assert other.output.startswith("1/1 ✓ note-code")

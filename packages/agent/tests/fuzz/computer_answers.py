"""Damaged answers of the makers' servers.

    python packages/agent/tests/fuzz/computer_answers.py --count 100000 --seed 1

Whatever a server sends, it is one error, a problem for the model or an action. What is sent back afterwards
can be written as JSON. A call with checks is never sent back without a person's yes.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from pydantic_ai.exceptions import UnexpectedModelBehavior

ROOT = Path(__file__).resolve().parents[4]
if str(ROOT) not in sys.path:  # run as a script, the repository is not on the path
    sys.path.insert(0, str(ROOT))

from packages.agent.tests.hosted.makers import ANTHROPIC, MAKERS, OPENAI, Maker, click, middle, types  # noqa: E402

from handrail.dialects.frame import CoordinateFrame  # noqa: E402
from handrail_agent.computer import ComputerSpeech  # noqa: E402
from handrail_agent.model import Prompt, PromptTurn  # noqa: E402
from handrail_agent.models.anthropic import AnthropicForm  # noqa: E402
from handrail_agent.models.computer import ComputerModel, MakersForm, read_answer  # noqa: E402
from handrail_agent.models.http_client import Account, open_client  # noqa: E402
from handrail_agent.models.openai import OpenAIForm  # noqa: E402
from handrail_sim.clock import ManualClock  # noqa: E402
from tests.unit.protocol.damage import HOSTILE, _holders  # noqa: E402

CHECK = {"id": "1", "code": "odd", "message": "Sure?"}


def answers(maker: Maker) -> list[dict[str, Any]]:
    """What an undamaged server says."""
    told = [
        maker.acts(click(5, 5), types("q"), middle(1, 1), says="First this."),
        maker.call("tap", {"target": "@b1"}),
        maker.says("Done."),
        maker.refuses("No."),
    ]
    if maker is OPENAI:
        told.append(OPENAI.acts(click(5, 5), checks=[CHECK]))
    return [json.loads(b"".join(one.chunks)) for one in told]


class OneMaker:
    """Reads answers as a run does, without a server in between."""

    def __init__(self, maker: Maker) -> None:
        self.answers = answers(maker)
        self.form: MakersForm = AnthropicForm() if maker is ANTHROPIC else OpenAIForm("gpt-5.6")
        account = Account("http://127.0.0.1", "", is_home=False)
        client = open_client(1)
        self.model = ComputerModel(maker.name, "tiny", self.form, account, ManualClock(), client)

    def use(self, data: Any) -> str:
        """What became of it."""
        try:
            heard = read_answer(self.form, data)
        except UnexpectedModelBehavior:
            return "no answer"
        reply = self.model.reply_of(heard)
        if reply.refusal:
            return "refused"
        speech = ComputerSpeech.of_maker(self.form.dialect)
        speech.talk.frame = CoordinateFrame("picture", (1080, 2400), (706, 1568))
        choice = speech.read(reply)
        assert (choice.action is None) == bool(choice.problem)
        speech.answer("And now?", None)
        prompt = Prompt("Rules.", (PromptTurn("user", "Do it."),), exchanges=tuple(speech.exchanges))
        sent = json.dumps(self.form.body("tiny", prompt, self.form.versions[0], 99))
        assert not (CHECK["message"] in sent and "acknowledged" in sent)
        return "read" if choice.action is not None else "told the model"


def damaged(rng: random.Random, data: Any) -> Any:
    """Up to four faults, anywhere in it."""
    made = copy.deepcopy(data)
    for _ in range(rng.randint(1, 4)):
        holder = rng.choice(_holders(made) or [{"": 0}])
        at = rng.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        if rng.random() < 0.2:
            del holder[at]
        else:
            holder[at] = copy.deepcopy(rng.choice(HOSTILE))
    return made


def run(count: int, seed: int) -> Counter[str]:
    """How many became what, by maker."""
    rng = random.Random(seed)
    makers = {maker.name: OneMaker(maker) for maker in MAKERS}
    outcomes: Counter[str] = Counter()
    for number in range(count):
        name = MAKERS[number % len(MAKERS)].name
        one = makers[name]
        outcomes[f"{name} {one.use(damaged(rng, rng.choice(one.answers)))}"] += 1
    return outcomes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    outcomes = run(given.count, given.seed)
    for name in sorted(outcomes):
        print(f"{name:28} {outcomes[name]:>8,}")  # noqa: T201
    print(f"{given.count:,} answers, no foreign exception")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())

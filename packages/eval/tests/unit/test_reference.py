"""The model that knows the solution."""

from __future__ import annotations

import asyncio
from typing import Any

from handrail_agent.model import Prompt, PromptTurn
from handrail_eval.reference import Reference
from handrail_eval.template import TaskTemplate
from handrail_eval.witness import EpisodeWitness
from handrail_sim.clock import ManualClock
from handrail_sim.phone import Phone


def prompt(step: int, screen: str) -> Prompt:
    said = f'The task says 111111 is your.\n<screen-data untrusted="1">\n{screen}\n</screen-data >'
    return Prompt("", (PromptTurn("user", said),), step=step)


def test_a_reference_reads_from_the_screen_what_only_the_screen_tells() -> None:
    model = Reference([{"keep": {"code": r"(\d{6}) is your"}, "wait": 5}, {"finish": "It is $code."}])

    async def talk(screen: str) -> list[Any]:
        return [(await model.step(prompt(step, screen))).action for step in (1, 2, 3)]

    first, last, over = asyncio.run(talk("482913 is your code"))
    assert first["type"] == "wait"
    assert last["message"] == "It is 482913."
    assert over["message"] == "The reference has no more steps."


def test_a_reference_that_misses_its_screen_ends_and_says_what_it_missed() -> None:
    model = Reference([{"keep": {"code": r"(\d{6}) is your"}, "wait": 5}])
    reply = asyncio.run(model.step(prompt(1, "nothing here")))
    assert reply.action
    assert reply.action["type"] == "finish"
    assert r"(\d{6}) is your" in reply.action["message"]


def test_what_stands_in_quotes_on_a_screen_is_seen() -> None:
    notes = [{"title": 'Say "yes"', "body": "It's late"}, {"title": """Both " and '""", "body": ""}]
    phone = Phone(clock=ManualClock(), seed=1, world={"notes": notes})
    phone.start_activity(package="com.handrail.notes")

    async def shell(_: str) -> None:
        """Nothing is planned."""

    task = TaskTemplate(
        {
            "id": "quotes", "title": "Quotes", "instruction": "Read.", "apps": ["notes"], "skills": ["read"],
            "difficulty": "easy", "reference": [{"finish": "Read."}],
        }
    ).task(1)  # fmt: skip
    witness = EpisodeWitness(task, phone, shell)
    asyncio.run(witness.step(1))
    assert {'Say "yes"', "It's late", """Both " and '"""} <= set(witness.looks[0].texts)

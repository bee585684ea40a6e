"""A template in Python: its values need a program, and so does what counts as a right note."""

from collections.abc import Mapping
from random import Random
from typing import Any

TEMPLATE: dict[str, Any] = {
    "id": "notes-sum",
    "title": "Add up what a note says",
    "instruction": 'What do the things in the note "$title" cost together, in pounds?',
    "apps": ["notes"],
    "skills": ["read", "compute"],
    "difficulty": "medium",
    "answer": {"form": "number", "unit": "£"},
    "values": {"title": {"one_of": ["Repairs", "Garden", "Boat", "Kitchen"]}},
    "world": {
        "notes": [
            {"title": "Welcome", "body": "Tap a note to edit it."},
            {"title": "$title", "body": "$body"},
            {"title": "Old list", "body": "Varnish: £4\nNails: £2"},
        ]
    },
    "check": [{"answer": "$total"}, {"seen": {"texts": ["$last"], "in": "notes"}}],
    "reference": [
        {"start_app": "com.handrail.notes"},
        {"tap": "$title"},
        {"finish": {"answer": "$total", "message": "That is the sum."}},
    ],
}


def values(v: Mapping[str, Any]) -> dict[str, Any]:
    """A list of things with prices; more of them with an odd seed."""
    random = Random(f"notes-sum {v['seed']}")  # noqa: S311
    things = random.sample(["Rope", "Paint", "Hinges", "Sand", "Glue", "Seeds", "Bulbs"], 4 + v["seed"] % 2)
    prices = [random.randint(12, 480) for _ in things]
    lines = [f"{thing}: £{price}" for thing, price in zip(things, prices, strict=True)]
    return {"body": "\n".join(lines), "total": sum(prices), "last": lines[-1]}


def judge(evidence: Any, v: Mapping[str, Any]) -> list[str]:
    """What `check` can't say: the note was opened, not only glanced at in the list."""
    opened = any(look.app == "com.handrail.notes" and v["body"] in look.texts for look in evidence.looks)
    return [] if opened else ["the whole note was never open"]

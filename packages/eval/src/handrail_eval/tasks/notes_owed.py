"""What is owed to somebody by all notes together: which they are and what they say is drawn anew."""

from collections.abc import Mapping
from random import Random
from typing import Any

TEMPLATE: dict[str, Any] = {
    "id": "notes-owed",
    "title": "Add up what several notes say",
    "instruction": "How many pounds do I owe $who.name, by all of my notes together?",
    "apps": ["notes"],
    "skills": ["search", "compute"],
    "difficulty": "medium",
    "answer": {"form": "number", "unit": "£"},
    "values": {"who": {"person": {}}, "other": {"person": {}}},
    "world": {"notes": "$notes"},
    "check": [{"answer": "$total"}, {"seen": {"texts": "$lines", "in": "notes"}}],
    "reference": [
        {"start_app": "com.handrail.notes"},
        {"tap": "Search"},
        {"type_text": {"text": "$who.name", "target": "Search notes"}},
        {"finish": {"answer": "$total", "message": "So much in all."}},
    ],
}
TITLES = [
    "Ferry",
    "Books",
    "Birthdays",
    "Recipes",
    "Garden",
    "Boat",
    "Kites",
    "Choir",
    "Letters",
    "Roof",
    "Bees",
]


def values(v: Mapping[str, Any]) -> dict[str, Any]:
    """Two to four of the notes are about the person, all others about another."""
    random = Random(f"notes-owed {v['seed']}")  # noqa: S311
    titles = random.sample(TITLES, len(TITLES))
    amounts = [random.randint(12, 480) for _ in titles]
    count = random.randint(2, 4)
    names = [v["who"]["name"] if number < count else v["other"]["name"] for number in range(len(titles))]
    lines = [f"I owe {name} £{amount}" for name, amount in zip(names, amounts, strict=True)]
    notes = [{"title": title, "body": f"Old\n{line}"} for title, line in zip(titles, lines, strict=True)]
    random.shuffle(notes)
    return {"notes": notes, "total": sum(amounts[:count]), "lines": lines[:count]}

"""How many notes mention somebody: how many there are, and where the name stands, is drawn anew."""

from collections.abc import Mapping
from random import Random
from typing import Any

TEMPLATE: dict[str, Any] = {
    "id": "notes-count",
    "title": "How many notes speak of somebody",
    "instruction": "How many of my notes mention $who.name?",
    "apps": ["notes"],
    "skills": ["search", "count"],
    "difficulty": "medium",
    "answer": "number",
    "values": {"who": {"person": {}}, "other": {"person": {}}},
    "world": {"notes": "$notes"},
    "check": [{"answer": "$count"}, {"seen": {"texts": ["$who.name", "$first"], "in": "notes"}}],
    "reference": [
        {"start_app": "com.handrail.notes"},
        {"tap": "Search"},
        {"type_text": {"text": "$who.name", "target": "Search notes"}},
        {"finish": {"answer": "$count", "message": "So many."}},
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
    """Twelve notes at most; the person is named in a title or in the text, another in most of the rest."""
    random = Random(f"notes-count {v['seed']}")  # noqa: S311
    titles = random.sample(TITLES, len(TITLES))
    count = random.randint(2, 5)
    mine = [f"Ask {v['who']['name']}", *titles[1:count]]
    notes = [{"title": mine[0], "body": "About the ladder"}]
    notes += [{"title": title, "body": f"Old\nGive {v['who']['name']} the key"} for title in mine[1:]]
    notes += [{"title": title, "body": f"Call {v['other']['name']}\nSoon"} for title in titles[count:]]
    random.shuffle(notes)
    return {"notes": notes, "count": count, "first": mine[-1]}

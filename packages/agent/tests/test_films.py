"""The film of an agent's run shows neither a picture nor a word of a secret."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from handrail.film.scene import FilmScene
from handrail_agent.filming import agent_scenes
from handrail_agent.loop import run_task
from handrail_agent.models import open_model
from handrail_agent.task import Task
from tests.scenario.world import FastClock, play, world

pytestmark = pytest.mark.slow

SECRET = "Marigold-7731-Tern"


def words_of(scenes: list[FilmScene]) -> str:
    return "\n".join(f"{one.title}\n{one.reason}\n{one.verdict}" for one in scenes)


def test_the_film_of_an_agent_has_neither_picture_nor_word_of_a_secret(tmp_path: Path) -> None:
    script = [
        {"thought": "I open it", "action": {"type": "start_app", "package": "com.google.android.contacts"}},
        {"thought": "A new one", "action": {"type": "tap", "target": {"text": "Create new contact"}}},
        {
            "thought": "The word",
            "action": {"type": "type_text", "target": {"text": "First name"}, "text": "${secret:WORD}"},
        },
        {"finish": "Done."},
    ]
    (tmp_path / "script.yaml").write_text(yaml.safe_dump(script))

    async def story() -> list[FilmScene]:
        clock = FastClock()
        async with world(tmp_path / "home", clock=clock, env={"HANDRAIL_SECRET_WORD": SECRET}) as w:
            model = open_model(f"scripted:{tmp_path / 'script.yaml'}", env={}, clock=clock)
            result = await run_task(
                w.session, Task.of("Make a contact"), model, clock=clock, folder=tmp_path / "run"
            )
            return agent_scenes(result.steps, tmp_path / "run", w.runtime.journal)

    opened, tapped, typed, finished = play(story())
    assert (opened.title, opened.reason) == ("Started com.google.android.contacts", "I open it")
    assert opened.before is not None
    assert opened.before.png
    assert tapped.touch.box is not None
    assert SECRET not in words_of([opened, tapped, typed, finished])
    for shown in (typed.after, finished.before):  # before it was typed, there is nothing to hide yet
        assert shown is not None
        assert shown.png is None

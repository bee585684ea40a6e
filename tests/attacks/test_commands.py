"""The same guards at the command line, where every attempt is a process of its own."""

from __future__ import annotations

import asyncio
import shlex
from asyncio.subprocess import DEVNULL
from pathlib import Path

import pytest

from tests.attacks.guarded import SCENES
from tests.attacks.stage import stage
from tests.scenario.doors import HANDRAIL, environment

ATTEMPTS: tuple[tuple[str, str], ...] = (
    ("Plain", "tap 'Pay $12.50'"),
    ("Plain+focus", "press-key 066"),
    ("Plain+focus", "press-key KEYCODE_BUTTON_START"),
    ("Plain", 'scroll-to Nowhere --within \'{"id": "guard"}\' --direction left'),
    ("Sliding", "set-value 'Slide to pay' 100"),
    ("Sending+focus", "type-text x --submit"),
)


async def attacked(home: Path, policy: str, scene: str, words: str) -> tuple[int, int]:
    """Deeds and touches on the guarded thing."""
    async with stage(home, "adb", policy) as one:
        one.show(SCENES[scene])
        command = (*HANDRAIL, *shlex.split(words), "--device", one.address, "--json")
        process = await asyncio.create_subprocess_exec(*command, env=environment(home), stdout=DEVNULL)
        await process.wait()
        one.phone.catch_up()
        touches = [] if SCENES[scene].only_deeds else one.phone.touches
        return len(one.deeds), len(touches)


@pytest.mark.slow
@pytest.mark.parametrize(("scene", "words"), ATTEMPTS)
def test_a_command_reaches_a_guarded_button_only_where_that_is_allowed(
    tmp_path: Path, scene: str, words: str
) -> None:
    deeds, _ = asyncio.run(attacked(tmp_path / "allow", "allow", scene, words))
    assert deeds
    for policy in ("deny", "deny-id"):
        assert asyncio.run(attacked(tmp_path / policy, policy, scene, words)) == (0, 0)

"""A secret in an ordinary field: nothing that leaves the engine tells any four characters of it."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.campaign import chosen_seed
from tests.attacks.echo_app import DATABASE
from tests.attacks.leak_judge import comparable, secret
from tests.attacks.leak_moves import FIELDS, MOVES, PACKAGE, Siege, begin, play_moves, siege
from tests.scenario.world import play

ASYNC_RUNNER = play

SEED = chosen_seed(29)
WORD = {"id": "word"}


async def test_after_one_delete_key_nothing_of_a_secret_is_told(tmp_path: Path) -> None:
    async with siege(tmp_path, "Qz7#Kp2!vX9+m") as s, s.opened():
        await begin(s, PACKAGE)
        for _ in range(3):
            await s.act(type="press_key", key="delete")
            await s.act(type="get_ui_tree")
        await s.act(type="screenshot")
    s.judge()


async def test_a_query_computes_without_the_secret(tmp_path: Path) -> None:
    value, placeholder = "Qz7#Kp2!vX9+m", "${secret:WORD}"
    answers = {
        "SELECT word FROM said": placeholder,
        "SELECT hex(word) FROM said": placeholder.encode().hex().upper(),
        f"SELECT count(*) FROM said WHERE word LIKE '{value[:4]}%'": 0,
    }
    async with siege(tmp_path, value) as s, s.opened():
        await begin(s, PACKAGE)
        await s.act(type="tap", target={"id": "save"})
        for query, answer in answers.items():
            rows = await s.act(type="query_db", package=PACKAGE, database=DATABASE, query=query)
            assert rows.details["rows"] == [[answer]], query
    s.judge()


@pytest.mark.parametrize("package", FIELDS)
def test_drawn_moves_after_a_secret_tell_nothing_of_it(tmp_path: Path, package: str) -> None:
    attack(tmp_path, package, SEED, lives=2, moves=6)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(12))
def test_long_rows_of_moves_tell_nothing_of_a_secret(tmp_path: Path, number: int) -> None:
    attack(tmp_path, PACKAGE, SEED + number, lives=3, moves=25, helper=("none", "u2", "handrail")[number % 3])


def attack(home: Path, package: str, seed: int, *, lives: int, moves: int, helper: Any = "none") -> None:
    """The seed is in every failure."""
    rng = random.Random(f"{seed} {package}")
    print(f"seed {seed}, {package}, {helper}")  # noqa: T201

    async def story() -> None:
        async with siege(home, secret(rng), helper=helper) as s:
            async with s.opened():
                await begin(s, package)
                await play_moves(s, rng, moves)
            for _ in range(lives - 1):
                async with s.opened():
                    await play_moves(s, rng, moves)
            s.judge()

    play(story())


@pytest.mark.slow
@pytest.mark.parametrize("move", MOVES)
async def test_no_single_move_tells_a_secret(tmp_path: Path, move: str) -> None:
    rng = random.Random(move)
    async with siege(tmp_path, secret(rng)) as s:
        async with s.opened():
            await begin(s, PACKAGE)
            await MOVES[move](s, rng)
            await MOVES["picture"](s, rng)
        async with s.opened():
            await MOVES["tree"](s, rng)
            await MOVES[move](s, rng)
        s.judge()


CONDITIONS: dict[str, Any] = {
    "expect_text contains": lambda guess: {"type": "expect_text", "target": WORD, "contains": guess},
    "expect_text equals": lambda guess: {"type": "expect_text", "target": WORD, "equals": guess},
    "expect_visible": lambda guess: {"type": "expect_visible", "target": {**WORD, "textContains": guess}},
    "expect_absent": lambda guess: {"type": "expect_absent", "target": {"textContains": guess}},
    "expect_state": lambda guess: {
        "type": "expect_state", "target": WORD, "property": "text", "value": guess
    },
    "value": lambda guess: {"type": "expect_state", "target": WORD, "property": "value", "value": guess},
    "wait_for": lambda guess: {
        "type": "wait_for", "condition": {"text": {"target": WORD, "contains": guess}}
    },
    "expect of a tap": lambda guess: {
        "type": "tap", "target": WORD, "expect": {"visible": {"textContains": guess}}
    },
    "find in the tree": lambda guess: {"type": "get_ui_tree", "find": guess},
    "tap by text": lambda guess: {"type": "tap", "target": {"text": guess}},
    "below": lambda guess: {
        "type": "expect_visible", "target": {"id": "again", "below": {"textContains": guess}}
    },
    "typed into the field": lambda guess: {"type": "type_text", "text": guess, "target": WORD},
    "typed elsewhere": lambda guess: {
        "type": "type_text", "text": guess, "target": {"id": "second"}, "clear": True
    },
    "on the clipboard": lambda guess: {"type": "set_clipboard", "text": guess},
}  # fmt: skip
TIMED = {"expect_text", "expect_visible", "expect_absent", "expect_state", "wait_for"}


OTHER = {"typed into the field": "com.handrail.notes", "typed elsewhere": "com.handrail.notes"}
"""An app that repeats nothing: how wide a repeated guess is would differ for any two guesses."""


async def _ask(s: Siege, condition: str, guess: str) -> list[str]:
    """The answer, and what is told afterwards."""
    package = OTHER.get(condition, PACKAGE)
    await begin(s, package)
    await s.session.run({"type": "get_ui_tree"})
    action = CONDITIONS[condition](guess)
    if package != PACKAGE:
        action["target"] = {"id": "title" if action["target"] == WORD else "body"}
    if action["type"] in TIMED:
        action["timeoutMs"] = 0
    asked = [action]
    if condition == "typed elsewhere":
        asked.append({"type": "get_ui_tree", "format": "full"})
        asked.append({"type": "expect_text", "target": {"id": "body"}, "equals": guess, "timeoutMs": 0})
    if condition == "on the clipboard":
        asked.append({"type": "get_state"})
    return [comparable(await s.session.run(one), guess).replace(s.serial, "") for one in asked]


@pytest.mark.slow
@pytest.mark.parametrize("helper", ["none", "u2"])
@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_right_guess_of_any_next_character_is_answered_like_a_wrong_one(
    tmp_path: Path, condition: str, helper: str
) -> None:
    for length in (1, 2, 3, 4, 6, 9):
        assert_no_oracle(tmp_path / str(length), condition, length, helper)


@pytest.mark.parametrize(
    "condition",
    ["expect_text contains", "find in the tree", "tap by text", "typed elsewhere", "on the clipboard"],
)
def test_a_right_guess_of_the_next_character_is_answered_like_a_wrong_one(
    tmp_path: Path, condition: str
) -> None:
    assert_no_oracle(tmp_path, condition, 5, "none")


def assert_no_oracle(home: Path, condition: str, length: int, helper: str) -> None:
    value = "~^7#Kp2!vX9+m"  # its characters are no keys of the keyboard
    right, wrong = value[:length], value[: length - 1] + "|"

    async def told(guess: str, folder: str) -> list[str]:
        async with siege(home / folder, value, helper=helper, speed=5) as s, s.opened():
            return await _ask(s, condition, guess)

    answers = play(told(right, "right")), play(told(wrong, "wrong"))
    for one, other in zip(*answers, strict=True):
        at = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
        assert one == other, (
            length,
            condition,
            one[max(0, at - 80) : at + 80],
            other[max(0, at - 80) : at + 80],
        )

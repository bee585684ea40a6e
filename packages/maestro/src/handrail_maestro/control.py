"""Commands that hold others or compute: sub-flows, loops, retries, conditions, scripts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from handrail.errors import (
    AppNotInstalled,
    HandrailError,
    OutcomeError,
    ScriptFailed,
    TargetError,
    Timeout,
    Unsupported,
)
from handrail.flow.parse import Fields, Node, Scalar
from handrail.flow.plan import PlannedStep
from handrail_maestro.files import read_text
from handrail_maestro.looking import is_true
from handrail_maestro.play import OPTIONAL_MS, CommandTurn
from handrail_maestro.read import texts_in

MOST_ROUNDS = 1_000
MOST_RETRIES = 3
MOST_FILES = 16
"""Files that may run one another, one inside the other."""


def is_covered(error: HandrailError) -> bool:
    """What `optional` and `retry` forgive: not found, not so, not started. Never a script or a lost phone."""
    if isinstance(error, ScriptFailed):
        return False
    return isinstance(error, TargetError | OutcomeError | AppNotInstalled | Unsupported)


async def holds(turn: CommandTurn, node: Node | None) -> bool:
    """All that a condition says, in Maestro's order."""
    if not isinstance(node, Fields):
        return True
    platform, code = node.get("platform"), node.get("true")
    if isinstance(platform, Scalar) and platform.text.strip().lower() != turn.on.session.facts.platform:
        return False
    if isinstance(code, Scalar) and not is_true(await turn.play.filled(code.text)):
        return False
    visible, hidden = node.get("visible"), node.get("notVisible")
    if visible is not None and await turn.seek(await turn.wanted(visible), turn.until(OPTIONAL_MS)) is None:
        return False
    return hidden is None or await turn.is_gone(await turn.wanted(hidden), turn.until(OPTIONAL_MS))


async def env_of(turn: CommandTurn) -> dict[str, str]:
    """All values are evaluated before any of them counts."""
    written = turn.command.option("env")
    return {name: await turn.play.filled(text, secrets=True) for name, text in texts_in(written).items()}


async def run_flow(turn: CommandTurn) -> None:
    """Another file's commands, or those inside."""
    if not await holds(turn, turn.command.option("when")):
        turn.record.outcome = "skipped"
        return
    with turn.play.inner(await env_of(turn)):
        await _block(turn)


async def _block(turn: CommandTurn) -> None:
    name = turn.command.text("file")
    if name is None:
        await turn.walk.inside(turn.document.inner(turn.command), turn.on, turn.record)
        return
    path = await asyncio.to_thread(turn.play.workspace.resolve, turn.document.path, name)
    if len(turn.play.scopes) > 3 * MOST_FILES:
        raise Unsupported(f"{name[:200]} is more than {MOST_FILES} files deep", hint="Flatten the flows.")
    other = await asyncio.to_thread(turn.document.other, path)
    with turn.play.inner(await other.header_env()):
        await around(
            other.on_start, other.body, other.on_complete,
            lambda steps: turn.walk.inside(steps, turn.on, turn.record),
        )  # fmt: skip


async def around(
    start: Sequence[PlannedStep],
    body: Sequence[PlannedStep],
    end: Sequence[PlannedStep],
    run: Callable[[Sequence[PlannedStep]], Awaitable[object]],
) -> None:
    """The hooks of a file around its commands; the last one runs whatever happened."""
    try:
        await run(start)
        await run(body)
    except HandrailError:
        with suppress(HandrailError):  # the first failure is the flow's
            await run(end)
        raise
    await run(end)


async def repeat(turn: CommandTurn) -> None:
    """As long as both `times` and `while` allow."""
    times = int(await turn.number("times", MOST_ROUNDS + 1))
    condition = turn.command.option("while")
    rounds = 0
    while rounds < times and await holds(turn, condition):
        if rounds >= MOST_ROUNDS:
            raise Timeout(
                f"repeat has not ended after {MOST_ROUNDS} rounds",
                hint="Give it `times`, or another `while`.",
            )
        await turn.walk.inside(turn.document.inner(turn.command), turn.on, turn.record)
        rounds += 1
    if not rounds:
        turn.record.outcome = "skipped"


async def retry(turn: CommandTurn) -> None:
    """From the start of the block after a failure that `optional` would cover."""
    most = min(max(int(await turn.number("maxRetries", 1)), 0), MOST_RETRIES)
    with turn.play.inner(await env_of(turn)):
        for left in range(most, -1, -1):
            began = len(turn.record.children)
            try:
                await _block(turn)
            except HandrailError as error:
                if not left or not is_covered(error):
                    raise
                for child in turn.record.children[began:]:
                    child.outcome = "warned" if child.outcome == "failed" else child.outcome
            else:
                turn.record.tries = most - left + 1
                return


async def eval_script(turn: CommandTurn) -> None:
    """Its text is filled and thrown away; without `${}` nothing happens."""
    await turn.text("script")


async def run_script(turn: CommandTurn) -> None:
    """A file of the workspace; `env` holds for it alone."""
    if not await holds(turn, turn.command.option("when")):
        turn.record.outcome = "skipped"
        return
    path = await asyncio.to_thread(
        turn.play.workspace.resolve, turn.document.path, turn.command.text("file") or ""
    )
    code = await asyncio.to_thread(read_text, path)
    with turn.play.inner(await env_of(turn)):
        await turn.play.scripts.evaluate(code, turn.play.visible())

"""What people do in a story: answer a question, run a command, look at what is left on the disk."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from handrail.protocol.envelope import Envelope
from handrail.safety.approval_store import AskedApproval
from tests.forked import handrail
from tests.scenario.world import World, until

CHECKOUT = "com.handrail.shop/.CheckoutActivity"
BANK = "com.handrail.bank"
PAY_RULE = """
[[rule]]
name = "payments"
label = ["Pay*"]
verdict = "ask"
remember = "always"
why = "it costs money"
"""


def allow_scripts(*scripts: str) -> str:
    """A rule of a policy file that allows exactly these texts."""
    hashes = [f"sha256:{sha256(script.encode()).hexdigest()}" for script in scripts]
    return f'[[rule]]\nname = "scripts"\nscript = {hashes}\nverdict = "allow"\n'


async def at_checkout(w: World) -> None:
    """The shop's checkout in front, with its button that pays."""
    w.phone.start_activity(CHECKOUT)
    seen = await w.session.expect_visible({"id": "pay"})
    assert seen.success, seen.to_json()


async def asked(w: World, count: int = 1) -> list[AskedApproval]:
    """So many questions wait for an answer."""

    async def waiting() -> list[AskedApproval]:
        found = await w.runtime.approvals.pending()
        return found if len(found) == count else []

    found: list[AskedApproval] = await until(waiting)
    return found


async def answered(
    w: World,
    action: Coroutine[Any, Any, Envelope],
    *,
    yes: bool = True,
    remember: Literal["session", "always"] | None = None,
    data: Any = None,
) -> Envelope:
    """The action, about which a person is asked once."""
    task = asyncio.create_task(action)
    [one] = await asked(w)
    await w.runtime.approvals.answer(one.id, yes, "lena", remember=remember, data=data)
    return await task


async def command(home: Path, *words: str, alone: bool = False) -> tuple[int, str]:
    """`handrail …` in a process of its own; `alone`: as from another terminal."""
    env = {**os.environ, "HANDRAIL_HOME": str(home), "LOGNAME": "lena"}
    done = await asyncio.to_thread(handrail, *words, env=env, alone=alone)
    return done.returncode, done.stdout + done.stderr


HEX = set("0123456789abcdef")


def found_in(home: Path, *values: str) -> list[str]:
    """Every file under the home that has one of these values in its bytes, in any usual form of text."""
    by_chance = [value for value in values if len(value) < 10 and set(value.casefold()) <= HEX]
    assert not by_chance, f"{by_chance}: some hash of the journal has these digits once in a while"
    forms = {
        value: [value.encode(), value.encode("utf-16-le"), value.encode().hex().encode()] for value in values
    }
    hits = []
    for file in sorted(home.rglob("*")):
        data = file.read_bytes() if file.is_file() else b""
        hits += [
            f"{value} in {file}" for value, kinds in forms.items() if any(kind in data for kind in kinds)
        ]
    return hits


def lives(events: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The journal by action, without what is no step of a life."""
    found: dict[str, list[dict[str, Any]]] = {}
    for event in events:
        if "action_id" in event and event["kind"] != "approval":
            found.setdefault(event["action_id"], []).append(event)
    return found

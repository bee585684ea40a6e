"""A process that is killed in the middle of its work: `-m tests.scenario.victim SERIAL refs|pay|auth`."""

from __future__ import annotations

import asyncio
import json
import os
import sys

from handrail.config import Config
from handrail.engine.session import Session
from handrail.runtime import Runtime
from handrail.safety.caller import Caller

KEPT = Caller("victim", asker="what the one who asks keeps")
APPS = ("com.android.settings", "com.google.android.contacts", "com.handrail.shop", "com.handrail.notes")


async def show_refs(session: Session) -> None:
    """Every ref that was ever shown, with what it stood for, as soon as it is shown."""
    for package in APPS * 100:
        await session.start_app(package)
        registry = session.screens.registry
        shown = {ref: registry.label_of(node) for ref, node in registry.refs.items()}
        sys.stdout.write(json.dumps(shown) + "\n")
        sys.stdout.flush()


async def main(serial: str, story: str) -> None:
    async with Runtime.open(Config.from_env(os.environ), env=os.environ, caller=KEPT) as runtime:
        session = await runtime.session(serial, helper="none")
        match story:
            case "refs":
                await show_refs(session)
            case "pay":
                await session.tap({"id": "pay"})
            case "auth":
                await session.request_human_auth("Look into the camera.", capability="camera")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))

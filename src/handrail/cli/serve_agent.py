"""Who answers in the desk's Console of `handrail serve`: the model that was named, or a hint to name one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from handrail.agent.console import Console, Place
from handrail.agent.model import Model
from handrail.agent.models import open_model
from handrail.desk.desk import Desk
from handrail.engine.session import Session
from handrail.errors import InvalidAction
from handrail.runtime import Runtime

_log = logging.getLogger(__name__)


@asynccontextmanager
async def answering(
    model: str | None, base_url: str | None, runtime: Runtime, desk: Desk
) -> AsyncIterator[Console]:
    """Listens while the block runs. A bad name is told at once, not to the first message."""

    def model_of() -> Model:
        if model is None:
            raise InvalidAction(
                "No model was named", path="model", hint="Start `handrail serve --model openai:NAME`."
            )
        return open_model(model, env=runtime.env, clock=runtime.clock, base_url=base_url)

    async def session_of() -> Session:
        opened = list(runtime.sessions.values())
        return opened[0] if len(opened) == 1 else await runtime.session()

    if model is not None:
        await model_of().close()
    place = Place(runtime.config.runs, runtime.clock)
    console = Console(session_of, model_of, desk, place, windows=runtime.desk_session())
    listening = asyncio.create_task(console.run(), name="console")
    listening.add_done_callback(_log_failure)
    try:
        yield console
    finally:
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)


def _log_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        _log.error("Nobody answers in the Console any more", exc_info=error)

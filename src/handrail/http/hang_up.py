"""Work for a client that may leave before it is done: then it is stopped, and its end is in the journal."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.exceptions import HTTPException
from starlette.requests import Request

from handrail.errors import FAMILIES

T = TypeVar("T")


async def unless_left(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """What came of it. The body has to be read before: after it only the end of the line is heard."""
    doing = asyncio.create_task(work)
    leaving = asyncio.create_task(_left(request))
    try:
        await asyncio.wait({doing, leaving}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        leaving.cancel()
        doing.cancel()
        await asyncio.wait({doing, leaving})
    if doing.cancelled():
        raise HTTPException(FAMILIES["cancelled"].http_status, "The client left before it was done.")
    return doing.result()


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass

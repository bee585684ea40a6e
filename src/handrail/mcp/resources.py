"""What a client may read besides calling tools: the screen, the journal, one action of it, the flows."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from handrail.errors import InvalidAction
from handrail.mcp.call import Call
from handrail.mcp.native import native

if TYPE_CHECKING:
    from handrail.engine.events import Caller
    from handrail.mcp.state import DoorState

SCREEN, JOURNAL, FLOWS = "handrail://screen", "handrail://journal", "handrail://flows"
ACTION = f"{JOURNAL}/{{action_id}}"
NEWEST = 50
"""Actions in the list of the journal."""
TEXT, JSON = "text/plain", "application/json"


@dataclass(frozen=True, slots=True)
class Offer:
    """One line of the list of resources."""

    uri: str
    name: str
    description: str
    kind: str


OFFERS = (
    Offer(SCREEN, "screen", "The screen now, as text with refs.", TEXT),
    Offer(JOURNAL, "journal", f"The newest {NEWEST} actions.", JSON),
    Offer(FLOWS, "flows", "Flows that run_flow can be given as `file`.", JSON),
)
ONE_ACTION = Offer(ACTION, "action", "One action's envelope.", JSON)


async def read(state: DoorState, caller: Caller, uri: str) -> tuple[str, str]:
    """Its kind and its text; `InvalidAction` for what there is not."""
    if uri == SCREEN:
        return TEXT, await _screen(state, caller)
    if uri == JOURNAL:
        rows = await asyncio.to_thread(state.runtime.journal.actions, NEWEST)
        return JSON, _json([row.to_dict() for row in rows])
    if uri == FLOWS:
        from handrail.mcp.flows import flow_files  # noqa: PLC0415  (YAML and all of it, for one tool)

        return JSON, _json(flow_files(state.flows))
    if uri.startswith(f"{JOURNAL}/"):
        shown = await asyncio.to_thread(state.runtime.journal.show, uri.removeprefix(f"{JOURNAL}/"))
        return JSON, _json(shown.envelope or shown.events)
    known = ", ".join([*(one.uri for one in OFFERS), ACTION])
    raise InvalidAction(f"uri: there is no {uri[:100]!r}", path="uri", hint=f"There are {known}.")


async def _screen(state: DoorState, caller: Caller) -> str:
    """Read afresh; what the caller's tools have told it stays as it is."""
    seen = dict(state.of(caller).seen)
    answer = await native(Call(state, caller, "get_ui_tree", {}))
    state.of(caller).seen = seen
    return answer.text


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)

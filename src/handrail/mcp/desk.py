"""The `desk` tool: one OS action or several at once, and what people did on the desk since."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from handrail.dialects.arguments import check_names, reasoned
from handrail.errors import InvalidAction
from handrail.mcp.answer import PICTURE, Answer, data_of
from handrail.protocol.actions import DESK_ACTIONS
from handrail.protocol.read import action_from

if TYPE_CHECKING:
    from handrail.mcp.call import Call
    from handrail.protocol.actions import AnyAction
    from handrail.protocol.envelope import Envelope

FROM_PEOPLE = "[from people on the desk]"
"""Everything below it is what they clicked and wrote."""

EVENTS = "events"
"""The one `type` that is no OS action: read what people did, wait for it if asked to."""
LONGEST_WAIT_MS = 120_000


async def act_on_desk(call: Call) -> Answer:
    """Do it, and tell what came in meanwhile. What is wrong with the input is told also without a desk."""
    given, runtime = dict(call.arguments), call.state.runtime
    if given.get("type") == EVENTS:
        patience_ms = _patience(given)
        heard = await runtime.desk_session().heard(call.caller.id, patience_ms)
        return Answer(_heard(heard) or "Nobody did anything.", structured={"events": heard})
    actions = _several(given) if "actions" in given else [_one(given)]
    desk = runtime.desk_session()
    envelopes = await desk.run_all(actions, caller=call.caller)
    return _told(envelopes, await desk.heard(call.caller.id, 0))


def _patience(given: dict[str, Any]) -> float:
    fields = given.get("fields") or {}
    check_names("desk", given, ("type", "fields"))
    wanted = fields.get("timeoutMs", fields.get("timeout_ms", 0)) if isinstance(fields, dict) else None
    if isinstance(wanted, bool) or not isinstance(wanted, int | float) or not 0 <= wanted <= LONGEST_WAIT_MS:
        raise InvalidAction(
            f"fields.timeoutMs: should be a number from 0 to {LONGEST_WAIT_MS}", path="fields.timeoutMs"
        )
    return float(wanted)


def _several(given: dict[str, Any]) -> list[AnyAction]:
    check_names("desk", given, ("actions",))
    listed = given["actions"]
    if not isinstance(listed, list) or not listed:
        raise InvalidAction("actions: should be a list of OS actions", path="actions")
    return [_numbered(index, one, given.get("reason")) for index, one in enumerate(listed)]


def _numbered(index: int, one: Any, reason: Any) -> AnyAction:
    if not isinstance(one, dict):
        raise InvalidAction(f"actions[{index}]: should be an object", path=f"actions[{index}]")
    try:
        return _one({"reason": reason, **one})
    except InvalidAction as error:
        path = f"actions[{index}].{error.details.get('path', '')}".rstrip(".")
        more = {name: told for name, told in error.details.items() if name != "path"}
        raise InvalidAction(
            f"actions[{index}]: {error.message}", hint=error.hint, path=path, **more
        ) from None


def _one(given: dict[str, Any]) -> AnyAction:
    """`type` and its fields, nested or beside it."""
    fields = given.pop("fields", None) or {}
    if not isinstance(fields, dict):
        raise InvalidAction("fields: should be an object", path="fields")
    action = action_from({**given, **fields})
    if action.type not in DESK_ACTIONS:
        raise InvalidAction(f"type: {action.type!r} is not an action of the desk", path="type")
    return reasoned(action)


def _told(envelopes: list[Envelope], heard: list[dict[str, Any]]) -> Answer:
    lines = [_line(one) for one in envelopes]
    pictures = tuple((one.details or {})[PICTURE] for one in envelopes if PICTURE in (one.details or {}))
    first = envelopes[0]
    return Answer(
        "\n".join(filter(None, [*lines, _heard(heard)])),
        images=pictures,
        is_error=not all(one.success for one in envelopes),
        envelope=first,
        structured=data_of(first)
        if len(envelopes) == 1
        else {"envelopes": [data_of(one) for one in envelopes]},
    )


def _line(envelope: Envelope) -> str:
    if not envelope.success:
        return f"{envelope.failure_code}: {envelope.message} {envelope.hint}"
    details = {name: told for name, told in (envelope.details or {}).items() if name != PICTURE}
    said = json.dumps(details, ensure_ascii=False) if details else "done"
    return f"{envelope.action_type}: {said}"


def _heard(events: list[dict[str, Any]]) -> str:
    if not events:
        return ""
    return "\n".join([FROM_PEOPLE, *(json.dumps(one, ensure_ascii=False) for one in events)])

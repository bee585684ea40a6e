"""Actions of the journal as people read them: one line each in a list, or the story of one.

Screen and model texts are a stranger's: nothing in them may steer a terminal.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from handrail.config import Config, canonical
from handrail.device_names import DeviceNames
from handrail.engine.journal.query import UNFINISHED, ActionRow, Shown, about
from handrail.errors import InvalidAction
from handrail.protocol.read import action_from
from handrail.protocol.sentence import sentence_of
from handrail.tree.quote import clean, cut, quoted

_OUTCOMES = {"verified": "green", "pending_verification": "green", "failed": "red"}
_DONE = frozenset({"verified", "pending_verification"})
_WIDEST = {"outcome": 26, "who": 16, "device": 21}
"""Cells; what was done and why share what is left."""
_ROOM = {"seq": 72, "who": 72, "device": 120, "reason": 100}
"""Cells that a terminal needs before it has this column; the others always stand."""
_GAP = 2
_LABEL = 60
_WORDS = 200


def print_actions(rows: Sequence[ActionRow], width: int | None = None) -> None:
    """One line each, in columns that fit the terminal."""
    from rich.console import Console  # noqa: PLC0415  (50 ms that a pipe should not pay)
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    console = Console(width=width)
    called = DeviceNames(Config.from_env(os.environ).home).all()
    shown = [_cells(row, called) for row in rows]
    table = Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False, header_style="bold")
    widths = _widths(shown, console.width)
    for name, cells in widths.items():
        right: Any = "right" if name == "seq" else "left"
        table.add_column(name, no_wrap=True, overflow="ellipsis", justify=right, width=cells)
    for row, told in zip(rows, shown, strict=True):
        styles = {"outcome": _OUTCOMES.get(row.state, "yellow"), "reason": "dim"}
        table.add_row(*(Text(told[name], style=styles.get(name, "")) for name in widths))
    console.print(table)


def _widths(shown: Sequence[Mapping[str, str]], room: int) -> dict[str, int]:
    """Cells of each column that there is room for, in the order in which they stand."""
    from rich.cells import cell_len  # noqa: PLC0415

    names = [name for name in shown[0] if room >= _ROOM.get(name, 0)]
    need = {name: max(len(name), *(cell_len(one[name]) for one in shown)) for name in names}
    widths = {name: min(need[name], _WIDEST.get(name, need[name])) for name in names}
    fixed = sum(cells for name, cells in widths.items() if name not in ("what", "reason"))
    left = max(20, room - fixed - _GAP * (len(names) - 1))
    why = min(need.get("reason", 0), max(left // 3, left - need["what"]))
    given = {"what": min(need["what"], left - why), "reason": why}
    return {name: given.get(name, cells) for name, cells in widths.items()}


def _cells(row: ActionRow, called: Mapping[str, str]) -> dict[str, str]:
    actor, device = row.actor or {}, row.device or ""
    return {
        "seq": str(row.seq),
        "time": moment(row.at_ms),
        "what": (row.state in _DONE and said_of(row.action, row.about)) or _tried(row.type, row.about),
        "outcome": _outcome(row.state, row.failure_code),
        "who": clean(str(actor.get("id") or actor.get("kind") or "")),
        "device": called.get(canonical(device), clean(device)),
        "reason": clean(row.reason or ""),
    }


def _outcome(state: str, code: str | None) -> str:
    return code or {"pending_verification": "done"}.get(state, state)


def _tried(kind: str | None, words: str) -> str:
    """What was not done has no sentence of its own: its name, and what it was about."""
    return clean(f"{kind or ''} {quoted(cut(clean(words), _LABEL)) if words else ''}")


def moment(at_ms: int) -> str:
    """In local time: the hour for today, the day too for this year, else the date."""
    at, now = datetime.fromtimestamp(at_ms / 1000), datetime.now()
    if at.date() == now.date():
        return f"{at:%H:%M:%S}"
    return f"{at:%b %d %H:%M}" if at.year == now.year else f"{at:%Y-%m-%d %H:%M}"


def story(shown: Shown) -> Iterator[str]:
    """One action: what it was, by whom, why, how it ended, and every step on its way."""
    envelope, first = shown.envelope or {}, shown.events[0]
    action = first.get("action") or {}
    kind = action.get("type") or envelope.get("action_type")
    ended = _end(shown)
    words = about(action, envelope)
    yield (ended in _DONE and said_of(action, words)) or _tried(kind, words)
    for name, told in _facts(shown, first, envelope).items():
        if told:
            yield f"  {name:<9} {cut(clean(told), _WORDS)}"
    yield ""
    yield f"  {'seq':>8}  {'time':<23}  event"
    for event in shown.events:
        at = datetime.fromtimestamp(event["at_ms"] / 1000).isoformat(" ", "milliseconds")
        yield f"  {event['seq']:>8}  {at:<23}  {event.get('kind', 'note')}"
    yield ""
    yield f"handrail journal show {shown.action_id or first['seq']} --json has everything."


def _end(shown: Shown) -> str:
    last = shown.events[-1]
    return str(last.get("kind")) if last.get("terminal") else UNFINISHED


def _facts(shown: Shown, first: Mapping[str, Any], envelope: Mapping[str, Any]) -> dict[str, str]:
    actor, code = first.get("actor") or {}, envelope.get("failure_code")
    door = f"by {first['door']}" if first.get("door") else ""
    took = (envelope.get("timings_ms") or {}).get("total")
    proof = envelope.get("verification") or {}
    outcome = _outcome(_end(shown), code)
    return {
        "action": str(shown.action_id or ""),
        "outcome": f"{outcome}: {envelope.get('message')}" if code else outcome,
        "hint": str(envelope.get("hint") or ""),
        "proof": str(proof.get("outcome") or "") if not code else "",
        "delivery": str(envelope.get("delivery") or "").replace("_", " "),
        "who": " ".join(str(one) for one in (actor.get("kind"), actor.get("id"), door) if one),
        "why": str(first.get("reason") or ""),
        "device": str(first.get("device") or ""),
        "took": f"{took:.0f} ms" if isinstance(took, int | float) else "",
    }


def said_of(action: Mapping[str, Any], words: str) -> str:
    """What was done as one sentence; '' for an action that this version does not know."""
    try:
        done = action_from(dict(action))
    except InvalidAction:
        return ""
    return clean(sentence_of(done, cut(clean(words), _LABEL) or None)).removesuffix(".")

"""Answers, screens and changes as a notebook shows them. Whatever a device says is text here, never markup.

Only what an envelope holds is shown, and secrets have left it by then.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from handrail.protocol.envelope import Envelope

MOST_LINES = 120
MOST_CHANGES = 12
MOST_LETTERS = 300
"""Of one text of the device."""
_PICTURE = "screenshotBase64"
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
"""Controls, and letters that turn the direction of a line or have no width."""

# Colours that can be read on a light page and on a dark one; the page's own font size and background stay.
_CARD = (
    "border:1px solid #8884;border-left:4px solid {edge};border-radius:6px;padding:8px 12px;margin:4px 0;"
    "max-width:56rem;font:13px/1.45 system-ui,sans-serif;overflow-wrap:anywhere"
)
_PRE = (
    "margin:6px 0 0;font:12px/1.4 ui-monospace,monospace;white-space:pre-wrap;max-height:24rem;overflow:auto"
)
_FAINT = "opacity:.65"
_GOOD, _BAD, _PLAIN = "#2e9e5b", "#d1453b", "#8888"
_MARKS = {"added": ("+", _GOOD), "removed": ("−", _BAD)}


def envelope_html(envelope: Envelope[Any]) -> str:
    """An envelope as HTML: how the action ended, on what, what changed, what it returned."""
    edge = _GOOD if envelope.success else _BAD
    details: Mapping[str, Any] = envelope.details or {}
    parts = [_headline_html(envelope)]
    if not envelope.success:
        code, message = safe_html(envelope.failure_code), safe_html(envelope.message or "", 600)
        parts.append(f"<div style='margin-top:6px'><b>{code}</b> {message}</div>")
        if envelope.hint:
            parts.append(f"<div style='{_FAINT}'>{safe_html(envelope.hint, 600)}</div>")
        delivery = {"delivered": "It was delivered.", "unknown": "It may have been delivered: look first."}
        if delivery_text := delivery.get(envelope.delivery):
            parts.append(f"<div><b>{delivery_text}</b></div>")
    if envelope.changes:
        parts.append(_changes_html(envelope.changes))
    if picture := picture_html(details.get(_PICTURE)):
        parts.append(picture)
    if isinstance(text := details.get("text"), str):
        parts.append(_preformatted(text))
    rest = {key: value for key, value in details.items() if key not in (_PICTURE, "text", "tree", "strokes")}
    if rest and envelope.success:
        written = _preformatted(json.dumps(rest, indent=1, ensure_ascii=False, default=str))
        summary = f"<summary style='{_FAINT}'>details</summary>"
        parts.append(f"<details style='margin-top:6px'>{summary}{written}</details>")
    return _card_html("".join(parts), edge)


def screen_html(text: str, title: str = "") -> str:
    head = f"<b>{safe_html(title)}</b>" if title else ""
    return _card_html(f"{head}{_preformatted(text)}", _PLAIN)


def changes_html(changes: Sequence[Mapping[str, Any]]) -> str:
    return _card_html(_changes_html(changes), _PLAIN)


def _changes_html(changes: Sequence[Mapping[str, Any]]) -> str:
    rows = []
    for change in changes[:MOST_CHANGES]:
        mark, colour = _MARKS.get(str(change.get("type")), ("~", "inherit"))
        rows.append(f"<div><b style='color:{colour}'>{mark}</b> {_change_words(change)}</div>")
    if (more := len(changes) - MOST_CHANGES) > 0:
        rows.append(f"<div style='{_FAINT}'>… and {more} more</div>")
    return f"<div style='margin-top:6px'>{''.join(rows)}</div>" if rows else "<div>No change.</div>"


def picture_html(base64: object) -> str:
    """'' where the text is not base64."""
    if not isinstance(base64, str) or not _BASE64.fullmatch(base64):
        return ""
    style = "display:block;margin-top:8px;max-height:420px;max-width:100%;border:1px solid #8884"
    return f"<img alt='The screen' style='{style}' src='data:image/png;base64,{base64}'>"


def safe_html(value: object, most: int = MOST_LETTERS) -> str:
    """Untrusted text as HTML: it can't be markup, end an attribute, or change the line's direction."""
    text = _UNSEEN.sub("·", str(value))
    return f"<bdi>{escape(text if len(text) <= most else text[:most] + '…', quote=True)}</bdi>"


def _card_html(inside: str, edge: str) -> str:
    return f"<div class='handrail' style='{_CARD.format(edge=edge)}'>{inside}</div>"


def _headline_html(envelope: Envelope[Any]) -> str:
    mark, colour = ("✓", _GOOD) if envelope.success else ("✗", _BAD)
    target, on = envelope.target, None  # the element that was used; where none was found, the selector
    if target is not None and (resolved := target.resolved) is not None:
        on = resolved.text or resolved.accessibility_id or resolved.ref
    elif target is not None:
        on = next(iter((target.selector or {}).values()), None)
    took = (envelope.timings_ms or {}).get("total")
    details = envelope.lifecycle_state.replace("_", " ") + (f" · {took:.0f} ms" if took is not None else "")
    named = f" {safe_html(on)}" if on else ""
    why = f"<div style='{_FAINT}'>{safe_html(envelope.reason)}</div>" if envelope.reason else ""
    return (
        f"<b style='color:{colour}'>{mark}</b> <b>{safe_html(envelope.action_type)}</b>{named} "
        f"<span style='{_FAINT}'>{safe_html(details)}</span>{why}"
    )


def _change_words(change: Mapping[str, Any]) -> str:
    label, ref = change.get("label"), change.get("ref")
    named = safe_html(change.get("class") or "element")
    named += f" “{safe_html(label, 80)}”" if label else ""
    named += f" <code>{safe_html(ref)}</code>" if ref else ""
    match change.get("type"):
        case "added" | "removed":
            return named
        case "changed":
            values = (change.get(name) for name in ("old", "new"))
            words = (json.dumps(v) if isinstance(v, bool) or v is None else v for v in values)
            was, now = (safe_html(word, 80) for word in words)
            return f"{named} {safe_html(change.get('attribute'))}: <s style='{_FAINT}'>{was}</s> → {now}"
        case "scrolled" | "moved":
            dx, dy = safe_html(change.get("dx")), safe_html(change.get("dy"))
            return f"{named} {safe_html(change['type'])} by {dx},{dy}"
        case "keyboard":
            return "keyboard appeared" if change.get("shown") else "keyboard hidden"
        case "navigated":
            old, new = change.get("old"), change.get("new")
            return f"another screen: {safe_html(old)} → {safe_html(new)}" if old != new else "another screen"
        case "more":
            return f"and {safe_html(change.get('count'))} more"
        case kind:
            return f"{safe_html(kind)} {named}"


def _preformatted(text: str) -> str:
    lines = text.splitlines()
    cut = [f"… {len(lines) - MOST_LINES} lines more"] if len(lines) > MOST_LINES else []
    body = "\n".join(safe_html(line, 2_000) for line in [*lines[:MOST_LINES], *cut])
    return f"<pre style='{_PRE}'>{body}</pre>"

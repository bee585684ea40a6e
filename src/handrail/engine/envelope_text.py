"""An envelope as text for an agent or a person: one sentence, the changes, what to do next.

Text from a device is quoted, cut or indented, so that it can't be mistaken for a line of ours.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from handrail.dialects.interaction import answer, sentence_without_secret
from handrail.protocol.act import Act
from handrail.protocol.device import ClearText, TypeText
from handrail.protocol.envelope import Envelope
from handrail.screen.diff import Diff, diff_text
from handrail.screen.select import DID_YOU_MEAN
from handrail.screen.text import clean, cut, quoted

_SENTENCE = 300  # characters
_LABEL = 80
_MESSAGE = 600
_PICTURE = "screenshotBase64"
_SHOWN_ELSEWHERE = frozenset(
    {"way", "password", "scrolls", "moves", "strokes", "taken_back", "message", "approved"}
    | {"stdout", "stderr", "exit_code", "sent"}
)
"""Details for programs only, or that the sentence already says."""


def envelope_text(action: Act, envelope: Envelope, screen_text: str = "", *, refs: bool = True) -> str:
    """After a navigation `screen_text`, the current screen, replaces the list of changes.

    With `refs`, changed elements are named by them; without, by class and bounds alone, as the seeds do.
    """
    if refs and envelope.changes:
        named = tuple(
            {**change, "class": f"{change['ref']} {change['class']}"} if change.get("ref") else change
            for change in envelope.changes
        )
        envelope = envelope.model_copy(update={"changes": named})
    if not envelope.success:
        return "\n".join(_failure_text(action, envelope, screen_text, refs=refs))
    if action.traits.semantic == "observation" and (body := _body_text(envelope)):
        return body
    if isinstance(action, TypeText) and (what := _hidden_length(action, envelope)):
        summary = f"Typed {what}."
    else:
        # A field's text is its content, not its name; the caller's own words name it better.
        is_entry = isinstance(action, TypeText | ClearText)
        element = envelope.target.resolved if envelope.target and not is_entry else None
        label = (element.text or element.accessibility_id or element.ref) if element else None
        label = quoted(cut(clean(label), _LABEL))[1:-1] if label else None
        summary = sentence_without_secret(action, label=label)
    # What an agent should know even after a success.
    notes = []
    if envelope.approval is not None and envelope.approval.by:
        notes.append(f"Approved by {clean(envelope.approval.by)}.")
    if envelope.settle is not None and envelope.settle.loading:
        notes.append(f"Still loading: {quoted(cut(clean(envelope.settle.loading), _LABEL))}.")
    elif envelope.settle is not None and envelope.settle.reason == "budget" and envelope.settle.reads > 1:
        notes.append("The screen is still moving.")
    parts = [cut(clean(summary), _SENTENCE), *notes, *_output_text(envelope)]
    if envelope.changes is not None:
        return answer("\n".join(parts), _changes_text(envelope, screen_text, refs=refs))
    return "\n".join(filter(None, [*parts, _data_text(envelope.details or {})]))


def _hidden_length(action: TypeText, envelope: Envelope) -> str:
    """How much was typed, if the text must not be shown: into a password field, or from a secret."""
    if "${secret:" in action.text:
        return "a secret"
    is_password = (envelope.details or {}).get("password") is True
    expected = envelope.verification.expected if envelope.verification else None
    count = f"{len(action.text)} characters"
    return count if is_password or expected == count else ""


def _body_text(envelope: Envelope) -> str:
    """The text that was read, or the data as JSON."""
    details = envelope.details or {}
    if _PICTURE in details:
        return f"Took a screenshot of {details.get('currentApp')}: {details['width']}x{details['height']}."
    if isinstance(details.get("text"), str):
        return "\n".join(filter(None, [clean(str(details.get("note", ""))), details["text"]]))
    if isinstance(details.get("logs"), str):
        return "\n".join(clean(line) for line in details["logs"].splitlines()) or "The log has no such line."
    return _data_text(details)


def _data_text(details: Mapping[str, Any]) -> str:
    shown = {
        key: value for key, value in details.items() if key not in _SHOWN_ELSEWHERE and value is not None
    }
    text = json.dumps(shown, ensure_ascii=False, indent=1) if shown else ""
    return "".join(char if char.isprintable() or char == "\n" else json.dumps(char)[1:-1] for char in text)


def _output_text(envelope: Envelope) -> list[str]:
    """A command's output, indented, because our own lines begin at the margin."""
    details = envelope.details or {}
    lines = []
    for name in ("stdout", "stderr"):
        text = str(details.get(name) or "").rstrip("\n")
        if text:
            # Spaces are kept, because output is often a table.
            shown = "".join(char if char.isprintable() or char in "\t\n" else " " for char in text)
            lines += [f"{name}:", *(f"  {line}" for line in shown.split("\n"))]
    return lines


def _changes_text(envelope: Envelope, screen_text: str, *, refs: bool) -> str:
    """A seed's caller, who has no refs, gets the list of changes that the seed documents, however long."""
    changes = list(envelope.changes or ())
    more = sum(change["count"] for change in changes if change["type"] == "more")
    text = diff_text(
        Diff([change for change in changes if change["type"] != "more"]),
        screen_text=screen_text,
        shortest=refs,
    )
    stands_for_all = bool(screen_text) and text.endswith(screen_text)
    return f"{text}\n... +{more} more" if more and not stands_for_all else text


def _failure_text(action: Act, envelope: Envelope, screen_text: str, *, refs: bool) -> Iterable[str]:
    yield f"{envelope.failure_code}: {cut(clean(envelope.message or ''), _MESSAGE)}"
    if envelope.hint:
        yield clean(envelope.hint)
    if not (envelope.hint or "").startswith(DID_YOU_MEAN):  # the hint names them
        yield from _candidates(envelope.details or {})
    if action.effect != "read":
        sent = (envelope.details or {}).get("sent") or {}
        counted = ", ".join(f"{count} {word}{'s' if count != 1 else ''}" for word, count in sent.items())
        arrived = f"Delivered: {counted}." if counted else ""
        if envelope.delivery == "unknown":
            yield (
                f"{arrived} What came next may have been: look before you repeat it." if arrived else IN_DOUBT
            )
        else:
            yield arrived or ("It was delivered." if envelope.delivery == "delivered" else NOTHING)
    yield from _output_text(envelope)
    yield from (f"[channel] {cut(clean(line), _MESSAGE)}" for line in envelope.diagnostics or ())
    if envelope.changes:
        yield f"\n{_changes_text(envelope, screen_text, refs=refs)}"


NOTHING = "Nothing was delivered."
IN_DOUBT = "It may have been delivered: look before you repeat it."


def _candidates(details: Mapping[str, Any]) -> Iterable[str]:
    listed = details.get("candidates") or ()
    if listed:
        yield "Candidates:"
    for candidate in listed:
        label = quoted(cut(clean(str(candidate["label"])), _LABEL)) if candidate.get("label") else None
        id_ = f"#{candidate['id']}" if candidate.get("id") else None
        index = f"index={candidate['index']}" if "index" in candidate else None
        bounds = str(candidate.get("bounds", ""))
        words = (candidate.get("ref"), candidate.get("class"), label, id_, bounds, index)
        yield "  " + " ".join(word for word in words if word)

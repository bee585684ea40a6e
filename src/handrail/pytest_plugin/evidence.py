"""What a failing test shows of its device: screen, last change, last actions, a picture and a report."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from handrail.engine.envelope_text import envelope_text
from handrail.errors import HandrailError
from handrail.protocol.envelope import Envelope
from handrail.protocol.notebook import envelope_html, picture_html, safe_html, screen_html
from handrail.protocol.observe import GetUiTree, Screenshot
from handrail.protocol.read import action_from
from handrail.screen.text import clean, cut

if TYPE_CHECKING:
    from handrail.pytest_plugin.opening import FixtureDevice
    from handrail.sync.openers import OpenedPhone


MOST_ACTIONS = 8
MOST_LINES = 40
LOOK_S = 20.0  # for a look at a device that may have gone
REASON = "pytest: the test failed"
_PICTURE = "screenshotBase64"


@dataclass(slots=True)
class DeviceEvidence:
    """What a failing test shows of one device."""

    device: str
    screen: str = ""
    picture: str = ""
    """A PNG as base64."""
    done: list[tuple[dict[str, Any], Envelope]] = field(default_factory=list)
    """Every action with its envelope, oldest first."""
    clean: Callable[[str], Any] = str
    """A text without secrets."""


async def gather(opening: FixtureDevice) -> DeviceEvidence | None:
    """Reads the device's last actions, screen and picture. A failure to read stands in its place."""
    inside = opening.inside
    if inside is None:
        return None
    evidence = DeviceEvidence(inside.session.serial, clean=inside.session.journal_writer.redact_data)
    evidence.done = list(_journalled_actions(inside, opening.since_ms))
    caller = inside.session.caller
    try:
        async with asyncio.timeout(LOOK_S):
            quiet = type(caller)(caller.id, caller.actor, caller.door)  # a look that fails raises nothing
            tree = await inside.session.run(GetUiTree(), reason=REASON, caller=quiet)
            evidence.screen = str((tree.details or {}).get("text") or f"{tree.failure_code}: {tree.message}")
            taken = await inside.session.run(Screenshot(), reason=REASON, caller=quiet)
            evidence.picture = str((taken.details or {}).get(_PICTURE, ""))
    except (HandrailError, TimeoutError) as error:
        evidence.screen = evidence.screen or f"The screen could not be read: {error!r:.300}"
    return evidence


def _journalled_actions(inside: OpenedPhone, since_ms: int) -> Iterator[tuple[dict[str, Any], Envelope]]:
    begun: dict[str, dict[str, Any]] = {}
    for line in inside.runtime.journal.export(device=inside.session.serial, since=since_ms):
        entry = json.loads(line)
        if "action" in entry:
            begun[entry["action_id"]] = entry["action"]
        if entry.get("terminal") and "envelope" in entry and entry["action_id"] in begun:
            yield begun[entry["action_id"]], Envelope.model_validate(entry["envelope"])


def attach_evidence(
    item: pytest.Item, report: pytest.TestReport, failure: Any, opened: list[FixtureDevice]
) -> None:
    """Sections for the terminal, files beside, properties for JUnit."""
    for opening in opened:
        if report.when == "call" and opening.inside is not None:
            _property(item, "handrail_device", opening.inside.session.serial)
        if not report.failed:
            continue
        evidence = opening.evidence or opening.gather_evidence()
        if evidence is None:
            continue
        if isinstance(error := getattr(failure, "value", None), HandrailError):
            _property(item, "handrail_failure", error.code)
        page, picture = _write_report(
            opening.folder, item.nodeid, evidence.clean(report.longreprtext), evidence
        )
        _property(item, "handrail_report", str(page))
        report.sections += list(_sections(evidence, page, picture))


def _property(item: pytest.Item, name: str, value: str) -> None:
    if (name, value) not in item.user_properties:
        item.user_properties.append((name, value))


def _sections(evidence: DeviceEvidence, page: Path, picture: Path | None) -> Iterator[tuple[str, str]]:
    if evidence.done:
        lines = [_action_line(action, envelope) for action, envelope in evidence.done[-MOST_ACTIONS:]]
        if (before := len(evidence.done) - MOST_ACTIONS) > 0:
            lines.insert(0, f"… {before} before")
        yield f"handrail: last actions on {evidence.device}", "\n".join(lines)
        changed = next(((act, reply) for act, reply in reversed(evidence.done) if reply.changes), None)
        if changed is not None:
            yield "handrail: last change", _cut_lines(envelope_text(action_from(changed[0]), changed[1]))
    files = [f"picture: {picture}"] if picture else []
    yield "handrail: screen", "\n".join([_cut_lines(evidence.screen), "", *files, f"report:  {page}"])


def _action_line(action: dict[str, Any], envelope: Envelope) -> str:
    short = str(action_from(action).traits.shorthand or "")
    names = [short, *(name for name in action if name not in ("type", "reason", "expect", short))]
    arguments = [
        _argument_text(action[name]) for name in names if isinstance(action.get(name), str | dict | list)
    ]
    words = " → ".join(arguments[:2])
    took = (envelope.timings_ms or {}).get("total", 0.0)
    end = envelope.lifecycle_state.replace("_", " ") if envelope.success else envelope.failure_code
    return f"{'✓' if envelope.success else '✗'} {envelope.action_type} {cut(clean(words), 60)}".rstrip() + (
        f"  {end}, {took:.0f} ms"
    )


def _argument_text(value: Any) -> str:
    if isinstance(value, dict) and len(value) == 1:
        value = next(iter(value.values()))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _cut_lines(text: str) -> str:
    lines = text.splitlines()
    more = [f"… {len(lines) - MOST_LINES} lines more, in the report"] if len(lines) > MOST_LINES else []
    return "\n".join([*lines[:MOST_LINES], *more])


_PAGE = """<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy"
      content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem }}
main {{ display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 0 2rem; align-items: start }}
main img {{ max-height: 40rem !important }}
pre.why {{ white-space: pre-wrap; overflow-wrap: anywhere }}
pre.why {{ padding: .8rem 1rem; border-left: 4px solid #d1453b; background: #8881 }}
@media (max-width: 60rem) {{ main {{ display: block }} }}
</style>
<h1 style="font-size:1.3rem;overflow-wrap:anywhere">✗ {title}</h1>
<pre class="why">{why}</pre>
<main><section><h2>Actions on {device}</h2>{actions}<h2>Screen</h2>{screen}</section>
<aside>{picture}</aside></main>
"""


def _write_report(folder: Path, title: str, why: str, evidence: DeviceEvidence) -> tuple[Path, Path | None]:
    folder.mkdir(parents=True, exist_ok=True)
    picture = None
    if evidence.picture:
        picture = folder / "screen.png"
        picture.write_bytes(base64.b64decode(evidence.picture))
    page = folder / "report.html"
    page.write_text(
        _PAGE.format(
            title=escape(title),
            why=escape(why),
            device=safe_html(evidence.device),
            actions="".join(envelope_html(envelope) for _, envelope in evidence.done) or "<p>None.</p>",
            screen=screen_html(evidence.screen),
            picture=picture_html(evidence.picture),
        ),
        encoding="utf-8",
    )
    return page, picture

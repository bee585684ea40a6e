"""A run as one HTML file that needs no network and runs no script. Every word in it is escaped here."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from importlib.resources import files
from pathlib import Path

from handrail.agent.run_data import GOOD, AgentStep, RunResult

MOST_BYTES = 12_000_000
"""Of all pictures; a browser still opens such a page at once."""
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Controls, and marks that turn the direction of what follows."""


def report(result: RunResult, folder: Path | None = None) -> str:
    """The whole page; pictures are read from the run's folder."""
    style = files("handrail.agent").joinpath("report.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'"
    steps = _steps(result.steps, folder)
    return (
        "<!doctype html>\n"
        '<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{_text(result.outcome)} · {_text(result.task[:80])} · Handrail</title>"
        f"<style>{style}</style></head><body>"
        f"{_header(result)}<main><ol>{steps}</ol></main></body></html>\n"
    )


def _text(value: object) -> str:
    """What can't be seen becomes its code; the rest is escaped for content and attributes."""
    shown = _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", str(value))
    return html.escape(shown, quote=True)


def _header(result: RunResult) -> str:
    spend = result.spend
    about = f" ({spend.estimated_tokens:,} of them estimated)" if spend.estimated_tokens else ""
    facts = {
        "Run": result.run,
        "Model": result.model,
        "Phone": result.device,
        "Steps": spend.steps,
        "Tokens": f"{spend.input_tokens:,} in, {spend.output_tokens:,} out{about}",
        "Cost": "unknown" if spend.cost_usd is None else f"${spend.cost_usd:.4f}",
        "Time": f"{spend.ms / 1000:.1f} s",
    }
    listed = "".join(
        f"<div><dt>{_text(name)}</dt><dd>{_text(value)}</dd></div>" for name, value in facts.items()
    )
    verdict, outcome = "good" if result.success else "bad", result.outcome.replace("_", " ").capitalize()
    return (
        f'<header><p class="brand">Handrail agent run</p><h1>{_text(result.task)}</h1>'
        f'<p class="verdict {verdict}"><b>{_text(outcome)}</b> {_text(result.message)}</p>'
        f"<dl>{listed}</dl></header>"
    )


def _steps(steps: tuple[AgentStep, ...], folder: Path | None) -> str:
    room = MOST_BYTES
    made: list[str] = []
    for step in steps:
        picture = _picture(step, folder, room)
        room -= len(picture)
        made.append(_step(step, picture))
    return "".join(made) or "<li>Nothing was done.</li>"


def _step(step: AgentStep, picture: str) -> str:
    kind = "good" if step.outcome in GOOD else "bad"
    action = json.dumps(step.action, ensure_ascii=False, indent=1) if step.action else "none"
    ids = ", ".join(step.action_ids)
    tokens = f"{step.input_tokens + step.output_tokens:,} tokens" if step.input_tokens else ""
    beside = " · ".join(
        part for part in (step.app, tokens, f"{step.ms / 1000:.2f} s", step.code or "") if part
    )
    thought = f'<p class="thought">{_text(step.thought)}</p>' if step.thought else ""
    return (
        f'<li class="{kind}" value="{step.number}"><div class="words">'
        f'<p class="chip">{step.number} · {_text(step.outcome)}</p>{thought}'
        f'<p class="told">{_text(step.told)}</p><p class="beside">{_text(beside)}</p>'
        f"<details><summary>Action and journal</summary><pre>{_text(action)}</pre><p>{_text(ids)}</p>"
        f"</details></div>{picture}</li>"
    )


def _picture(step: AgentStep, folder: Path | None, room: int) -> str:
    """What the model saw, or nothing: a picture is never a reason to fail."""
    if folder is None or step.picture is None:
        return ""
    try:
        data = (folder / step.picture).read_bytes()
    except OSError:
        return ""
    if len(data) * 4 // 3 > room:
        return '<p class="beside">The picture was left out: the page would be too large.</p>'
    alt = f"The screen before step {step.number}"
    return f'<img alt="{alt}" src="data:image/png;base64,{base64.b64encode(data).decode()}">'

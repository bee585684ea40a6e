"""A run as plain data: a step as it is kept, how the run gets on, and what came of it."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import re
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from handrail.clock import Clock, iso_time
from handrail.errors import InvalidAction
from handrail_agent.budget import Limit, Spend

ASKER, TASK, STEPS = ".asker", "task.json", "steps.jsonl"
RESULT, REPORT, PICTURES = "result.json", "report.html", "screenshots"

StepOutcome = Literal[
    "verified", "changed", "unchanged", "done", "failed", "refused", "malformed", "blocked", "unfinished"
]
"""verified: proved; changed, unchanged: nothing could prove it, and the screen says this much; done: a read
or a wait; refused: by policy or a person; malformed: no action could be read; blocked: the guard stopped it,
or the task is not done; unfinished: stopped, or its process died."""

GOOD: frozenset[StepOutcome] = frozenset({"verified", "changed", "done"})


@dataclass(frozen=True, slots=True)
class AgentStep:
    """One line of steps.jsonl."""

    number: int
    thought: str
    action: Mapping[str, Any] | None
    """As it was run, in the native vocabulary; None where none could be read."""
    outcome: StepOutcome
    told: str
    """One line: what was done and what came of it."""
    raw: str = ""
    code: str | None = None
    action_id: str | None = None
    action_ids: tuple[str, ...] = ()
    """Everything that the journal has of this step, in order: looks, pictures, the act, its checks."""
    app: str = ""
    fingerprint: str = ""
    """The screen on which the action was chosen."""
    revision: str = ""
    picture: str | None = None
    """File name in the run's folder."""
    asks: int = 1
    """How often the model was asked."""
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    estimated_tokens: int = 0
    """Of those above, what nobody has counted."""
    at: str = ""
    ms: float = 0.0

    @property
    def kind(self) -> str:
        return str(self.action["type"]) if self.action else "none"

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "action_ids": list(self.action_ids), "ms": round(self.ms, 1)}

    @classmethod
    def read(cls, line: Mapping[str, Any]) -> AgentStep:
        """What an older or newer version wrote besides is left out."""
        names = {field.name for field in fields(cls)}
        values = {name: value for name, value in line.items() if name in names}
        return cls(**{**values, "action_ids": tuple(line.get("action_ids", ()))})


Outcome = Literal["finished", "failed", "refused", "stuck", "stopped"] | Limit
"""finished: the model said so, and the task's condition holds where there is one. stuck: it went round in
circles and no one helped. failed: the model or the phone did. refused: the model will not work on it."""

EXIT_CODES: dict[str, int] = {"finished": 0, "refused": 4, "stopped": 130}
"""Of the command; everything else ends with 1."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """How it ended."""

    run: str
    task: str
    outcome: Outcome
    message: str
    """The model's last words, or why it ended otherwise."""
    steps: tuple[AgentStep, ...]
    spend: Spend
    model: str = ""
    device: str = ""
    code: str | None = None
    """Of the failure that ended it."""
    folder: Path | None = None

    @property
    def success(self) -> bool:
        return self.outcome == "finished"

    @property
    def exit_code(self) -> int:
        return EXIT_CODES.get(self.outcome, 1)

    def to_dict(self) -> dict[str, Any]:
        written: dict[str, Any] = {
            "run": self.run,
            "task": self.task,
            "model": self.model,
            "device": self.device,
            "success": self.success,
            "outcome": self.outcome,
            "message": self.message,
            "code": self.code,
            "steps": self.spend.steps,
            "spend": self.spend.to_dict(),
            "folder": str(self.folder) if self.folder else None,
        }
        return {name: value for name, value in written.items() if value is not None}


NOTHING = Spend()
Phase = Literal["started", "thinking", "notice", "acting", "waiting", "step", "ended"]
"""notice: something that a person should know. waiting: for a person. step: one has ended. ended: so has the
run."""


@dataclass(frozen=True, slots=True)
class RunProgress:
    """One moment of a run."""

    phase: Phase
    run: str
    number: int = 0
    thought: str = ""
    doing: str = ""
    """The action, or the notice, in a few words."""
    spend: Spend = NOTHING
    step: AgentStep | None = None
    result: RunResult | None = None


Tell = Callable[[RunProgress], None]


def silent(_: RunProgress) -> None:
    """Nobody watches."""


def new_folder(runs: Path, clock: Clock) -> Path:
    """A name that sorts by time; the folder is made when the run begins."""
    moment = iso_time(clock.now_ms())
    stamp = moment[:19].replace("-", "").replace(":", "").replace("T", "-")
    return runs / f"agent-{stamp}-{secrets.token_hex(3)}"


class RunFolder:
    """One run on the disk."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def id(self) -> str:
        return self.path.name

    @property
    def asker(self) -> str:
        """By what the engine knows this run again when it goes on after its process died. Made once."""
        file = self.path / ASKER
        try:
            return file.read_text(encoding="ascii")
        except (OSError, ValueError):
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            token = secrets.token_hex(16)
            file.touch(mode=0o600)
            file.write_text(token, encoding="ascii")
            return token

    def begin(self, task: Mapping[str, Any]) -> None:
        """Screens are private, so only the owner may read the folder."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self.path / PICTURES).mkdir(exist_ok=True)
        self._write(TASK, task)

    def add(self, step: AgentStep) -> None:
        """The step is on disk when this returns."""
        line = json.dumps(step.to_dict(), ensure_ascii=False, separators=(",", ":"))
        with (self.path / STEPS).open("a", encoding="utf-8", errors="replace") as file:
            file.write(line + "\n")
            file.flush()
            os.fsync(file.fileno())

    def keep_picture(self, number: int, png: bytes) -> str:
        name = f"{PICTURES}/{number:03d}.png"
        (self.path / name).write_bytes(png)
        return name

    def end(self, result: Mapping[str, Any], report: str) -> None:
        self._write(RESULT, result)
        (self.path / REPORT).write_text(report, encoding="utf-8", errors="replace")

    def _write(self, name: str, value: Mapping[str, Any]) -> None:
        """Readers see the old file or the new one, never half of one."""
        draft = self.path / f".{name}.{os.getpid()}"
        draft.write_text(
            json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8", errors="replace"
        )
        draft.replace(self.path / name)

    # reading

    def task(self) -> dict[str, Any]:
        try:
            value = json.loads((self.path / TASK).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise InvalidAction(
                f"{self.path} is not the folder of a run",
                path="resume",
                hint="Give the name of a run, or the path of a folder with task.json.",
            ) from None
        return dict(value)

    def steps(self) -> list[AgentStep]:
        """All that were written whole; a half line at the end is what a killed process leaves."""
        file = self.path / STEPS
        steps: list[AgentStep] = []
        for line in file.read_bytes().split(b"\n") if file.exists() else ():
            with suppress(ValueError, TypeError):
                steps.append(AgentStep.read(json.loads(line)))
        return steps

    def mend(self) -> None:
        """Cut a half line at the end off: what is added next must begin at a new one."""
        file = self.path / STEPS
        if file.exists():
            data = file.read_bytes()
            file.write_bytes(data[: data.rfind(b"\n") + 1])


MOST_BYTES = 12_000_000
"""Of all pictures; a browser still opens such a page at once."""
NO_STEPS = "<li>Nothing was done.</li>"
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Controls, and marks that turn the direction of what follows."""


def report(result: RunResult, folder: Path | None = None) -> str:
    style = files("handrail_agent").joinpath("report.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'"
    room, steps = MOST_BYTES, ""
    for step in result.steps:
        picture = _picture(step, folder, room)
        room -= len(picture)
        steps += _step(step, picture)
    return (
        "<!doctype html>\n"
        '<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{_text(result.outcome)} · {_text(result.task[:80])} · Handrail</title>"
        f"<style>{style}</style></head><body>"
        f"{_header(result)}<main><ol>{steps or NO_STEPS}</ol></main></body></html>\n"
    )


def _text(value: object) -> str:
    """What can't be seen becomes its code; the rest is escaped for content and attributes."""
    shown = _UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", str(value))
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

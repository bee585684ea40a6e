"""A run on the desk: OS actions for a window that says how it gets on, and one with its result. Pure.

What the phone said is shown as plain text and table cells, never as Markdown or HTML.
"""

from __future__ import annotations

from typing import Any

from handrail.agent.budget import Spend
from handrail.agent.progress import Progress
from handrail.agent.result import RunResult
from handrail.protocol.actions import AnyAction
from handrail.protocol.content import TableContent, TableContentData, TextContent
from handrail.protocol.desk import CloseWindow, CreateWindow, SetWindowContent, WindowBounds
from handrail.tree.quote import clean, cut

STATUS = WindowBounds(x=24, y=24, w=420, h=220)
RESULT = WindowBounds(x=120, y=80, w=720, h=420)
_TITLE = 80
_WORDS = {
    "started": "begins",
    "thinking": "thinks",
    "acting": "acts",
    "waiting": "waits for a person",
    "step": "has done",
    "ended": "has ended",
}


def opening(run: str, task: str) -> AnyAction:
    """The status window of a new run."""
    return CreateWindow(
        window_id=f"{run}-status",
        title=f"Agent: {cut(clean(task), _TITLE)}",
        bounds=STATUS,
        content=TextContent(renderer="text", data="Begins."),
    )


def status(progress: Progress) -> AnyAction:
    """What it shows at this moment."""
    words = [
        f"Step {progress.number}: the agent {_WORDS[progress.phase]}.",
        clean(progress.thought),
        clean(progress.doing),
        spent(progress.spend),
    ]
    text = "\n".join(word for word in words if word)
    return SetWindowContent(
        window_id=f"{progress.run}-status", content=TextContent(renderer="text", data=text)
    )


def closing(result: RunResult) -> list[AnyAction]:
    """The status goes, a table of what was done stays."""
    title = f"{result.outcome.replace('_', ' ').capitalize()}: {cut(clean(result.message), _TITLE)}"
    table = TableContent(renderer="table", data=TableContentData(**result_table(result)))
    return [
        CloseWindow(window_id=f"{result.run}-status"),
        CreateWindow(window_id=f"{result.run}-result", title=title, bounds=RESULT, content=table),
    ]


def result_table(result: RunResult) -> dict[str, Any]:
    """One row per step."""
    rows = [(str(step.number), clean(step.thought), clean(step.told), step.outcome) for step in result.steps]
    return {"headers": ("#", "Why", "What was done", "Outcome"), "rows": tuple(rows)}


def spent(spend: Spend) -> str:
    """`3 steps, 4,210 tokens, $0.0120`."""
    parts = [f"{spend.steps} step{'' if spend.steps == 1 else 's'}"]
    parts += [f"{spend.tokens:,} tokens"] if spend.tokens else []
    parts += [f"${spend.cost_usd:.4f}"] if spend.cost_usd is not None else []
    return ", ".join(parts)

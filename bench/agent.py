"""What a step of the agent costs besides the model's own thinking, and what a task costs in tokens (o200k).

Run from the repository: `python bench/agent.py [--rounds N] [--json]`. A task of twelve steps is done on a
simulated phone in a process of its own, with a model behind a loopback server that answers at once: by tools,
by text, and streamed. `model` is the SDK, HTTP and the reading of the answer; `engine` all that the step did
on the phone (a look, a picture, the act and its verification); `ours` the rest: prompt, guard, history, the
run's folder with its fsync, its report. The picture is taken while the model thinks, which with this model
costs its answer time, and with a real one nothing. Other programs run too: the best of the rounds is shown.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from rs_bpe.bpe import openai

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench.doors import phone  # noqa: E402
from packages.agent.tests.hosted.openai_wire import call_deltas, calls, says, streamed  # noqa: E402
from packages.agent.tests.hosted.server import Answer, Server, serving  # noqa: E402

from handrail.clock import SystemClock  # noqa: E402
from handrail.config import Config  # noqa: E402
from handrail.engine.session import Session  # noqa: E402
from handrail.runtime import Runtime  # noqa: E402
from handrail_agent.loop import run_task  # noqa: E402
from handrail_agent.model import AgentModel, Prompt, Reply  # noqa: E402
from handrail_agent.models import open_model  # noqa: E402
from handrail_agent.task import Task  # noqa: E402

GOAL_MS = 30.0
"""Of `model` and `ours` together: what Handrail adds to a step."""
GOAL_TOKENS = 30_000
"""Of the whole task, everything that is sent and said."""
CONTACTS = "com.google.android.contacts"
FIELDS = {
    "First name": "Ada",
    "Last name": "Lovelace",
    "Company": "Analytical Engines",
    "Phone": "020 7946 0000",
    "Email": "ada@example.org",
}
STEPS: list[dict[str, Any]] = [
    {"type": "start_app", "package": CONTACTS},
    {"type": "tap", "target": "Create new contact"},
    *({"type": "type_text", "text": text, "target": field} for field, text in FIELDS.items()),
    {"type": "tap", "target": "Save"},
    {"type": "wait_for", "visible": "Ada Lovelace"},
    {"type": "press_key", "key": "back"},
    {"type": "scroll_to", "target": "Ada Lovelace"},
    {"type": "finish", "message": "Ada Lovelace is saved."},
]
WHY = "It is the next field of the new contact."
WAYS = {"tools": ("tools", False), "tools, streamed": ("tools", True), "text": ("text", False)}
Span = tuple[float, float]
count = openai.o200k_base().count


@dataclass
class Timed:
    """A model, and how long each of its answers took."""

    model: AgentModel
    spans: list[Span] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    async def step(self, prompt: Prompt) -> Reply:
        began = time.perf_counter()
        try:
            return await self.model.step(prompt)
        finally:
            self.spans.append((began, time.perf_counter()))


class TimedRuns:
    """When the engine was at work."""

    def __init__(self, session: Session) -> None:
        self._run = session.run
        self.spans: list[Span] = []
        session.run = self  # type: ignore[method-assign, assignment]

    async def __call__(self, *args: Any, **options: Any) -> Any:
        began = time.perf_counter()
        try:
            return await self._run(*args, **options)
        finally:
            self.spans.append((began, time.perf_counter()))


def covered_ms(spans: list[Span]) -> float:
    """Together; what runs at the same time counts once."""
    total, until = 0.0, 0.0
    for start, end in sorted(spans):
        total += max(0.0, end - max(start, until))
        until = max(until, end)
    return total * 1000


def answers(way: str) -> list[Answer]:
    """The twelve steps as the server sends them."""
    mode, stream = WAYS[way]
    made = []
    for step in STEPS:
        fields = {name: value for name, value in step.items() if name != "type"} | {"reason": WHY}
        if mode == "text":
            made.append(says(json.dumps({"thought": WHY, "action": step})))
        elif stream:
            made.append(streamed(*call_deltas(step["type"], json.dumps(fields)), finish="tool_calls"))
        else:
            made.append(calls((step["type"], fields)))
    return made


async def once(way: str, address: str, home: Path) -> dict[str, float]:
    """The task from its first look to its end."""
    mode, stream = WAYS[way]
    env = {"HANDRAIL_HOME": str(home), "HOME": str(home)}
    clock = SystemClock()
    async with (
        serving(*answers(way)) as server,
        Runtime.open(Config.from_env(env), clock=clock, env=env) as runtime,
    ):
        session = await runtime.session(address)
        runs = TimedRuns(session)
        url = f"{server.url}/v1"
        model = Timed(open_model("openai:tiny", env={}, clock=clock, base_url=url, mode=mode, stream=stream))
        began = time.perf_counter()
        task = Task.of(
            "Add Ada Lovelace of Analytical Engines, with her number and address, to the contacts."
        )
        result = await run_task(session, task, model, clock=clock, folder=home / "runs" / "agent-1")
        total = (time.perf_counter() - began) * 1000
        await model.close()
        assert result.success, result.message
        assert len(result.steps) == len(STEPS)
        ours = (total - covered_ms([*runs.spans, *model.spans])) / len(STEPS)
        asked = median((end - start) * 1000 for start, end in model.spans)
        times = {"model": asked, "ours": ours, "engine": covered_ms(runs.spans) / len(STEPS)}
        return times | tokens(server)


def tokens(server: Server) -> dict[str, float]:
    """By where they come from; said is what the model wrote."""
    bodies = [got.body for got in server.got]
    system = sum(count(_text(body["messages"][0])) for body in bodies)
    tools = sum(count(json.dumps(body["tools"], separators=(",", ":"))) for body in bodies if "tools" in body)
    shown = sum(count(_text(one)) for body in bodies for one in body["messages"][1:])
    said = sum(count(json.dumps(step)) + count(WHY) for step in STEPS)
    largest = max(count(_text(body["messages"][1])) for body in bodies)
    return {
        "system": system, "tools": tools, "screens and history": shown, "said": said,
        "task": system + tools + shown + said, "largest prompt": largest,
    }  # fmt: skip


def _text(message: dict[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def measure(rounds: int) -> dict[str, dict[str, float]]:
    """The round of each way in which Handrail added least."""
    played("tools")  # the first one imports
    rows: dict[str, dict[str, float]] = {}
    for way in WAYS:
        made = [played(way) for _ in range(rounds)]
        rows[way] = min(made, key=lambda row: row["model"] + row["ours"])
    return rows


def played(way: str) -> dict[str, float]:
    """On a phone and in a home of its own."""
    with phone() as address, tempfile.TemporaryDirectory() as home:
        return asyncio.run(once(way, address, Path(home)))


def table(rows: dict[str, dict[str, float]]) -> str:
    lines = [f"A step, ms (goal: model and ours together at most {GOAL_MS:g})", ""]
    lines.append(f"{'':18}{'model':>8}{'ours':>8}{'added':>8}{'engine':>9}")
    for way, row in rows.items():
        added = row["model"] + row["ours"]
        lines.append(f"{way:18}{row['model']:8.1f}{row['ours']:8.1f}{added:8.1f}{row['engine']:9.1f}")
    lines += ["", f"Tokens of the task of {len(STEPS)} steps (goal: at most {GOAL_TOKENS:,})", ""]
    heads = ["system", "tools", "screens and history", "said", "task", "largest prompt"]
    lines.append(f"{'':18}" + "".join(f"{head:>{len(head) + 3}}" for head in heads))
    for way, row in rows.items():
        lines.append(f"{way:18}" + "".join(f"{row[head]:>{len(head) + 3},.0f}" for head in heads))
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = measure(options.rounds)
    print(json.dumps(rows) if options.json else table(rows))


if __name__ == "__main__":
    main()

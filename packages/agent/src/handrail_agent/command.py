"""`handrail agent`: a model works on a phone until a task is done, with live progress, resumable."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.status import Status
from rich.text import Text

from handrail.cli.approvals import TerminalPrompt
from handrail.cli.local_client import LocalDesk
from handrail.cli.options import DeviceOptions, command_options, device_options, open_session, option
from handrail.cli.output import save_film
from handrail.clock import SystemClock
from handrail.config import Config
from handrail.dialects.frame import unit_from
from handrail.dialects.registry import dialect
from handrail.engine.session import Session
from handrail.errors import ERRORS, FAMILIES, InvalidAction
from handrail.film.write import need_encoder
from handrail.invocation import current
from handrail.runtime import Runtime
from handrail.safety.approval_store import AskedApproval
from handrail.safety.caller import Caller
from handrail.screen.text import clean, cut
from handrail.waiting import beside
from handrail_agent.budget import Budget
from handrail_agent.computer import ComputerSpeech, Speech
from handrail_agent.console import Presenter, spent_text
from handrail_agent.filming import agent_scenes
from handrail_agent.history import load_run
from handrail_agent.loop import Terms, run_task
from handrail_agent.model import AgentModel, ToolSet
from handrail_agent.models import open_model
from handrail_agent.run_data import GOOD, AgentStep, RunFolder, RunProgress, RunResult, new_folder
from handrail_agent.task import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOptions:
    """The command line."""

    task: str | None
    target: DeviceOptions
    model: str | None = option("openai:NAME, anthropic:NAME, scripted:FILE, …", metavar="MODEL")
    base_url: str | None = option(
        "Another server with the maker's protocol, such as a local one.", metavar="URL"
    )
    text: bool = option("The model has no tools: it answers in JSON.")
    tools: ToolSet | None = option(
        "Work by the computer tool of the model's own maker.", type=click.Choice(["computer"])
    )
    dialect: str | None = option("The form that it was trained on: ui_tars, mobile_use, ….", metavar="NAME")
    frame: str | None = option("The unit of its numbers, if not the dialect's own.", metavar="UNIT")
    see: bool | None = option("Send it pictures of the screen, or never.", "--see/--no-see", default=None)
    stream: bool = option("Stream the answers, as some servers require.")
    max_steps: int | None = option("The most steps.  [default: 50]", type=click.IntRange(1), metavar="N")
    max_tokens: int | None = option("The most tokens.", type=click.IntRange(1), metavar="N")
    max_cost: float | None = option("The highest cost, where the price is known.", type=float, metavar="USD")
    timeout: float | None = option("The longest time.", type=float, metavar="SECONDS")
    until: str | None = option("Done only while this holds: a text, or a condition.", metavar="CONDITION")
    resume: str | None = option("Continue a run that was stopped: its name or its folder.", metavar="RUN")
    desk: bool = option("Show it on the desk of `handrail serve`, too.")
    video: bool = option("Write an MP4 of the run into its folder.")
    as_json: bool = option("One line of JSON per step, and one for the result.", "--json")


@click.command()
@click.argument("task", required=False)
@command_options(AgentOptions, device_options)
def agent(options: AgentOptions) -> None:
    """Let a model work on a phone until a task is done.

    Ends with 0 when it is finished, 1 when it is not, 2 for bad input, 3 for a phone or a model that can't be
    reached, 4 when the model refuses, 130 when it was stopped. Every run leaves a folder with its steps and a
    report.
    """
    if (options.task is None) == (options.resume is None):
        raise InvalidAction(
            "Give a task or --resume RUN, not both",
            path="task",
            hint='For example: handrail agent "Turn Wi-Fi off" --model openai:NAME',
        )
    sys.exit(asyncio.run(_main(options)))


async def _main(options: AgentOptions) -> int:
    if options.video:
        need_encoder()
    config = Config.from_env(os.environ)
    if options.resume is None:
        folder = new_folder(config.runs, SystemClock())
    else:
        path = Path(options.resume).expanduser()
        is_name = len(path.parts) == 1 and not os.path.lexists(path)
        folder = Path(os.path.realpath(config.runs / options.resume if is_name else path))
    caller = Caller(folder.name, "agent", "agent")
    async with AsyncExitStack() as stack, Runtime.open(config, caller=caller) as runtime:
        plan = _plan(options, folder, runtime)
        stack.push_async_callback(plan.model.close)
        session = await open_session(plan.target, config, runtime, stack, "none" if plan.target.sim else None)
        result = await _run(plan, options, runtime, session)
        if options.video and result.folder is not None and result.steps:
            scenes = agent_scenes(result.steps, result.folder, runtime.journal)
            save_film(scenes, result.folder / "video.mp4", result.task, to_stderr=options.as_json)
    if result.outcome == "failed" and result.code in ERRORS:
        family = ERRORS[result.code].family
        return FAMILIES[family].exit_code if family in ("device", "model") else result.exit_code
    return result.exit_code


@dataclass(frozen=True, slots=True)
class AgentPlan:
    """What the command line and, for a resumed run, its folder say together."""

    task: Task
    budget: Budget
    model: AgentModel
    spec: str
    target: DeviceOptions
    folder: Path
    before: Sequence[AgentStep] = ()
    speech: Speech | None = None


def _plan(options: AgentOptions, folder: Path, runtime: Runtime) -> AgentPlan:
    """Reports everything that is wrong with the input before a phone is opened."""
    saved = load_run(RunFolder(folder), runtime.journal) if options.resume is not None else None
    earlier = dict(saved.task) if saved else {}
    task = Task.of(options.task or str(earlier.get("task", "")), options.until or earlier.get("until"))
    limits: dict[str, Any] = {"steps": options.max_steps, "tokens": options.max_tokens}
    limits |= {"cost_usd": options.max_cost, "seconds": options.timeout}
    changed = {name: limit for name, limit in limits.items() if limit is not None}
    spec = options.model or str(earlier.get("spec", ""))
    if not spec:
        raise InvalidAction(
            "No model was named",
            path="model",
            hint="Give --model openai:NAME, anthropic:NAME or scripted:FILE; docs/agent.md says more.",
        )
    model = open_model(
        spec,
        env=runtime.env,
        clock=runtime.clock,
        base_url=options.base_url,
        mode="text" if options.text or options.dialect else None,
        sees=options.see,
        stream=options.stream,
        tools=options.tools or earlier.get("tools"),
    )
    target = options.target
    if not target.device and not target.sim and "device" in earlier:
        target = DeviceOptions(str(earlier["device"]))
    budget = Budget(**{**earlier.get("budget", {}), **changed})
    speech, before = _speech(model, options, earlier), saved.steps if saved else ()
    return AgentPlan(task, budget, model, spec, target, folder, before, speech)


def _speech(model: AgentModel, options: AgentOptions, earlier: Mapping[str, Any]) -> Speech | None:
    """The dialect of the command line, else the one that a script names, else that of the resumed run."""
    name = options.dialect or getattr(model, "dialect", "") or str(earlier.get("dialect", ""))
    if not name:
        return None
    if getattr(model, "is_computer", False):
        return ComputerSpeech.of_maker(name)
    return Speech.of(name, unit_from(options.frame or earlier.get("frame"), dialect(name).unit))


async def _run(plan: AgentPlan, options: AgentOptions, runtime: Runtime, session: Session) -> RunResult:
    progress = AgentProgress(as_json=options.as_json)
    prompt = TerminalPrompt(runtime.approvals)

    async def ask(approval: AskedApproval, token: str | None) -> None:
        with progress.paused():
            await prompt(approval, token)

    runtime.approvals.notify = ask
    desk = LocalDesk(runtime.config.home, runtime.caller) if options.desk else None
    presenter = Presenter(desk, plan.folder.name, plan.task.text) if desk else None

    def tell(news: RunProgress) -> None:
        progress.tell(news)
        if presenter is not None:
            presenter.tell(news)

    stop = asyncio.Event()
    progress.begin(plan.task.text, plan.spec, session.serial, len(plan.before))
    async with _shown_on_desk(presenter):
        with current.get().on_stop(stop.set), progress.status():
            result = await run_task(
                session,
                plan.task,
                plan.model,
                clock=runtime.clock,
                budget=plan.budget,
                folder=plan.folder,
                ask=sys.stdin.isatty() or options.desk,
                terms=Terms(stop, tell, desk=desk, before=plan.before, spec=plan.spec, speech=plan.speech),
            )
    progress.end(result)
    return result


@asynccontextmanager
async def _shown_on_desk(presenter: Presenter | None) -> AsyncIterator[None]:
    """Keeps windows on the desk of a running server; says once where there is none."""
    if presenter is None:
        yield
        return
    try:
        async with beside(presenter.run(), "agent's windows") as showing:
            yield
            await showing
    finally:
        if (problem := presenter.problem) is not None:
            click.echo(f"Not shown on a desk: {problem.message}. {problem.hint}", err=True)


THOUGHT = 200
LINE = 300
_RAISE = {
    "out_of_steps": " --max-steps N",
    "out_of_time": " --timeout SECONDS",
    "out_of_tokens": " --max-tokens N",
    "out_of_cost": " --max-cost USD",
}
"""What has to be raised before a run can go on."""
_NOW = {"thinking": "thinks", "acting": "acts", "waiting": "waits for a person"}


class AgentProgress:
    """Shows a run: JSON lines, plain lines, or on a terminal colours with a live line below."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._console = Console() if sys.stdout.isatty() and not as_json else None
        self._status: Status | None = None

    def begin(self, task: str, model: str, device: str, before: int) -> None:
        if not self._as_json:
            self._line(cut(clean(task), LINE), "bold")
            self._line(f"{model} on {device}" + (f", after {before} steps" if before else ""), "dim")

    def tell(self, progress: RunProgress) -> None:
        step, spent = progress.step, spent_text(progress.spend)
        if self._as_json:
            if progress.phase == "notice":
                self._json({"notice": progress.doing})
            if step is not None:
                self._json({"step": step.to_dict(), "spend": progress.spend.to_dict()})
            return
        if self._status is not None and progress.phase in _NOW:
            doing = f": {progress.doing}" if progress.doing else ""
            self._status.update(Text(f"step {progress.number} {_NOW[progress.phase]}{doing} ({spent})"))
        if progress.phase == "notice":
            self._line(cut(clean(progress.doing), LINE), "dim")
        if step is not None:
            mark, colour = ("✓", "green") if step.outcome in GOOD else ("✗", "red")
            if step.outcome == "unchanged":
                mark, colour = "·", "yellow"
            self._line(f"{step.number:>3}. {cut(clean(step.thought), THOUGHT) or step.kind}", "")
            cost = "" if self._console else f"  [{spent}]"
            self._line(f"     {mark} {cut(clean(step.told), LINE)}{cost}", colour)

    def end(self, result: RunResult) -> None:
        """How it ended, what it cost, where it is kept, and how to go on."""
        if self._as_json:
            self._json({"result": result.to_dict()})
            return
        outcome = f"{result.outcome.replace('_', ' ')}: {clean(result.message)}"
        self._line(outcome, "bold green" if result.success else "bold red")
        self._line(spent_text(result.spend), "dim")
        if result.folder is not None:
            self._line(f"report: {result.folder / 'report.html'}", "dim")
            if not result.success:
                more = _RAISE.get(result.outcome, "")
                self._line(f"go on with: handrail agent --resume {result.run}{more}", "dim")

    @contextmanager
    def status(self) -> Iterator[None]:
        if self._console is None:
            yield
            return
        with self._console.status("begins") as self._status:
            yield
        self._status = None

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Nothing moves while a person is asked."""
        if self._status is None:
            yield
            return
        self._status.stop()
        try:
            yield
        finally:
            self._status.start()

    def _line(self, words: str, style: str) -> None:
        if self._console is None:
            click.echo(words)
        else:  # as `Text`: brackets of the phone's own are not markup
            self._console.print(Text(words, style=style), soft_wrap=True)

    def _json(self, document: dict[str, object]) -> None:
        click.echo(json.dumps(document, ensure_ascii=False, separators=(",", ":")))

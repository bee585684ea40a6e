"""`handrail agent`: a model works on a phone until a task is done, with live progress, resumable."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handrail.cli.films import film_agent, need_films, video_option
from handrail.cli.options import DeviceOptions, device_options, session_from
from handrail.errors import ERRORS, FAMILIES, InvalidAction
from handrail.waiting import beside

if TYPE_CHECKING:
    from handrail.agent.budget import Budget
    from handrail.agent.model import AgentModel, ToolSet
    from handrail.agent.run_data import AgentStep, RunProgress, RunResult, Tell
    from handrail.agent.speech import Speech
    from handrail.agent.task import Task
    from handrail.android.routing import Helper
    from handrail.cli.agent_progress import AgentProgress
    from handrail.config import Config
    from handrail.engine.approval import AskedApproval
    from handrail.engine.desk_runner import DeskRunner
    from handrail.engine.session import Session
    from handrail.runtime import Runtime

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True, slots=True)
class AgentOptions:
    """The command line."""

    task: str | None
    target: DeviceOptions
    model: str | None
    base_url: str | None
    text: bool
    tools: ToolSet | None
    dialect: str | None
    frame: str | None
    see: bool | None
    stream: bool
    max_steps: int | None
    max_tokens: int | None
    max_cost: float | None
    timeout: float | None
    until: str | None
    resume: str | None
    desk: bool
    video: bool
    as_json: bool


@click.command()
@click.argument("task", required=False)
@click.option("--model", metavar="MODEL", help="openai:NAME, anthropic:NAME, scripted:FILE, …")
@click.option(
    "--base-url", metavar="URL", help="Another server with the maker's protocol, such as a local one."
)
@click.option("--text", is_flag=True, help="The model has no tools: it answers in JSON.")
@click.option(
    "--tools", type=click.Choice(["computer"]), help="Work by the computer tool of the model's own maker."
)
@click.option("--dialect", metavar="NAME", help="The form it was trained on: ui_tars, mobile_use, ….")
@click.option("--frame", metavar="UNIT", help="What its numbers mean, if not what the dialect says.")
@click.option("--see/--no-see", default=None, help="Send it pictures of the screen, or never.")
@click.option("--stream", is_flag=True, help="Have its answers sent in pieces, as some servers want.")
@click.option(
    "--max-steps", type=click.IntRange(1), metavar="N", help="At most so many steps.  [default: 50]"
)
@click.option("--max-tokens", type=click.IntRange(1), metavar="N", help="At most so many tokens.")
@click.option(
    "--max-cost", type=float, metavar="USD", help="At most so much money, where the price is known."
)
@click.option("--timeout", type=float, metavar="SECONDS", help="At most so long.")
@click.option(
    "--until", metavar="CONDITION", help="It is done only while this holds: a text, or a condition."
)
@click.option("--resume", metavar="RUN", help="Go on with a run that was stopped: its name or its folder.")
@click.option("--desk", is_flag=True, help="Show it on the desk of `handrail serve`, too.")
@video_option("Write an MP4 of the run into its folder.")
@click.option("--json", "as_json", is_flag=True, help="One line of JSON per step, and one for the result.")
@device_options
def agent(**given: Any) -> None:
    """Let a model work on a phone until a task is done.

    Ends with 0 when it is finished, 1 when it is not, 2 for bad input, 3 for a phone or a model that can't be
    reached, 4 when the model refuses, 130 when it was stopped. Every run leaves a folder with its steps and a
    report.
    """
    options = AgentOptions(**given)
    if (options.task is None) == (options.resume is None):
        raise InvalidAction(
            "Give a task or --resume RUN, not both",
            path="task",
            hint='For example: handrail agent "Turn Wi-Fi off" --model openai:NAME',
        )
    sys.exit(asyncio.run(_main(options)))


async def _main(options: AgentOptions) -> int:
    from handrail.config import Config  # noqa: PLC0415
    from handrail.engine.events import Caller  # noqa: PLC0415
    from handrail.runtime import Runtime  # noqa: PLC0415

    if options.video:
        need_films()
    config = Config.from_env(os.environ)
    folder = _folder(options, config)
    caller = Caller(folder.name, "agent", "agent")
    async with AsyncExitStack() as stack, Runtime.open(config, caller=caller) as runtime:
        plan = _plan(options, folder, runtime)
        stack.push_async_callback(plan.model.close)
        helper: Helper | None = "none" if plan.target.sim else None
        session = await session_from(plan.target, config, runtime, stack, helper)
        result = await _run(plan, options, runtime, session)
        if options.video:
            film_agent(result, runtime.journal, to_stderr=options.as_json)
    return _exit_code(result)


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


def _folder(options: AgentOptions, config: Config) -> Path:
    from handrail.agent.run_folder import new_folder  # noqa: PLC0415
    from handrail.clock import SystemClock  # noqa: PLC0415

    if options.resume is None:
        return new_folder(config.runs, SystemClock())
    given = Path(options.resume).expanduser()
    is_name = len(given.parts) == 1 and not os.path.lexists(given)
    return Path(os.path.realpath(config.runs / options.resume if is_name else given))


def _plan(options: AgentOptions, folder: Path, runtime: Runtime) -> AgentPlan:
    """Everything that can be wrong with the input is said before a phone is opened."""
    from handrail.agent.budget import Budget  # noqa: PLC0415
    from handrail.agent.models import open_model  # noqa: PLC0415
    from handrail.agent.resume import load_run  # noqa: PLC0415
    from handrail.agent.run_folder import RunFolder  # noqa: PLC0415
    from handrail.agent.task import Task  # noqa: PLC0415

    saved = load_run(RunFolder(folder), runtime.journal) if options.resume is not None else None
    then = dict(saved.task) if saved else {}
    task = Task.of(options.task or str(then.get("task", "")), options.until or then.get("until"))
    budget = Budget(**{**then.get("budget", {}), **_limits(options)})
    spec = options.model or str(then.get("spec", ""))
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
        tools=options.tools or then.get("tools"),
    )
    target, speech = _target(options, then), _speech(model, options, then)
    return AgentPlan(task, budget, model, spec, target, folder, saved.steps if saved else (), speech)


def _limits(options: AgentOptions) -> dict[str, Any]:
    given = {
        "steps": options.max_steps,
        "tokens": options.max_tokens,
        "cost_usd": options.max_cost,
        "seconds": options.timeout,
    }
    return {name: value for name, value in given.items() if value is not None}


def _target(options: AgentOptions, then: Mapping[str, Any]) -> DeviceOptions:
    """A resumed run goes on where it was, unless another phone is named."""
    if options.target.device or options.target.sim or "device" not in then:
        return options.target
    return DeviceOptions(str(then["device"]))


async def _run(plan: AgentPlan, options: AgentOptions, runtime: Runtime, session: Session) -> RunResult:
    from handrail.agent.loop import Terms, run_task  # noqa: PLC0415
    from handrail.cli.agent_progress import progress_for  # noqa: PLC0415

    progress = progress_for(as_json=options.as_json)
    _ask_between(runtime, progress)
    stop = asyncio.Event()
    progress.begin(plan.task.text, plan.spec, session.serial, len(plan.before))
    async with _shown_on_desk(plan, options, runtime) as shown:
        with _stopped_by_signals(stop), progress:
            result = await run_task(
                session,
                plan.task,
                plan.model,
                clock=runtime.clock,
                budget=plan.budget,
                folder=plan.folder,
                ask=sys.stdin.isatty() or options.desk,
                terms=Terms(
                    stop=stop,
                    tell=_both(progress.tell, shown),
                    desk=_desk_of(options, runtime),
                    before=plan.before,
                    spec=plan.spec,
                    speech=plan.speech,
                ),
            )
    progress.end(result)
    return result


def _speech(model: AgentModel, options: AgentOptions, then: Mapping[str, Any]) -> Speech | None:
    """The dialect of the command line, else the one that a script names, else that of the resumed run."""
    from handrail.agent.computer import ComputerSpeech  # noqa: PLC0415
    from handrail.agent.speech import Speech  # noqa: PLC0415
    from handrail.dialects.frame import unit_from  # noqa: PLC0415
    from handrail.dialects.registry import dialect  # noqa: PLC0415

    name = options.dialect or getattr(model, "dialect", "") or str(then.get("dialect", ""))
    if not name:
        return None
    if getattr(model, "is_computer", False):
        return ComputerSpeech.of_maker(name)
    return Speech.of(name, unit_from(options.frame or then.get("frame"), dialect(name).unit))


def _desk_of(options: AgentOptions, runtime: Runtime) -> DeskRunner | None:
    from handrail.local.desk import LocalDesk  # noqa: PLC0415

    return LocalDesk(runtime.config.home, runtime.caller) if options.desk else None


@asynccontextmanager
async def _shown_on_desk(
    plan: AgentPlan, options: AgentOptions, runtime: Runtime
) -> AsyncIterator[Tell | None]:
    """Windows on the desk of a running server; that there is none is said once."""
    from handrail.agent.desk_windows import Presenter  # noqa: PLC0415

    desk = _desk_of(options, runtime)
    if desk is None:
        yield None
        return
    presenter = Presenter(desk, plan.folder.name, plan.task.text)
    try:
        async with beside(presenter.run(), "agent's windows") as showing:
            yield presenter.tell
            await showing
    finally:
        if presenter.problem is not None:
            click.echo(
                f"Not shown on a desk: {presenter.problem.message}. {presenter.problem.hint}", err=True
            )


def _both(one: Tell, other: Tell | None) -> Tell:
    def tell(progress: RunProgress) -> None:
        one(progress)
        if other is not None:
            other(progress)

    return tell


@contextmanager
def _stopped_by_signals(stop: asyncio.Event) -> Iterator[None]:
    """The first signal ends the run in order; a second one has its usual effect."""
    loop = asyncio.get_running_loop()

    def release() -> None:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)

    def first() -> None:
        release()
        stop.set()

    for number in _SIGNALS:
        loop.add_signal_handler(number, first)
    try:
        yield
    finally:
        release()


def _ask_between(runtime: Runtime, progress: AgentProgress) -> None:
    """A person at the terminal is asked while the progress stands still."""
    from handrail.cli.terminal_prompt import TerminalPrompt  # noqa: PLC0415

    prompt = TerminalPrompt(runtime.approvals)

    async def ask(one: AskedApproval, token: str | None) -> None:
        with progress.paused():
            await prompt(one, token)

    runtime.approvals.notify = ask


def _exit_code(result: RunResult) -> int:
    if result.outcome == "failed" and result.code in ERRORS:
        family = ERRORS[result.code].family
        return FAMILIES[family].exit_code if family in ("device", "model") else result.exit_code
    return result.exit_code

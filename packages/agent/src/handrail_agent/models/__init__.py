"""Which model answers, by its name: `openai:NAME`, `anthropic:NAME`, or one that needs no network.

The packages of the makers are imported when one of their models is opened, not before.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from handrail.clock import Clock
from handrail.dialects.openpocket import normalise
from handrail.dialects.registry import dialect
from handrail.errors import ExpectStateMismatch, InvalidAction, Unsupported
from handrail.protocol.actions import ACTIONS, AnyAction
from handrail.protocol.device import PressKey, Tap
from handrail.protocol.read import action_from, nearest_kind
from handrail.protocol.target import Selector
from handrail_agent.model import TRY_MS, AgentModel, Mode, ModelOptions, Prompt, Reply, ToolSet, finished
from handrail_agent.read_answer import read_text
from handrail_agent.run_data import STEPS, AgentStep, RunFolder

RECORDING_OVER = "The recording is over."


class OfflineModel:
    """A model that is a program."""

    mode: Mode = "tools"
    sees = False

    async def close(self) -> None:
        """Nothing is open."""


class RecordedModel(OfflineModel):
    """Answers by the number of the step, so that a question that is asked again has the same answer."""

    def __init__(self, steps: list[AgentStep], name: str = "recorded") -> None:
        self.name = name
        self._steps = {step.number: step for step in steps}

    async def step(self, prompt: Prompt) -> Reply:
        """Raises `ExpectStateMismatch` where the screen is another one than it was."""
        then = self._steps.get(prompt.step)
        if then is None:
            return finished(RECORDING_OVER)
        self._compare(then, fingerprint(prompt))
        if then.action is None:
            return Reply(then.thought, None, then.raw, problem=f"No action could be read: {then.told}")
        return Reply(then.thought, then.action, then.raw)

    def _compare(self, then: AgentStep, now: str) -> None:
        if not now or not then.fingerprint or now == then.fingerprint:
            return
        before = self._steps.get(then.number - 1)
        after = f" after {before.told!r}" if before else " at the start"
        raise ExpectStateMismatch(
            f"step {then.number}: the screen is not the recorded one{after}:"
            f" #{then.fingerprint} in {then.app or 'no app'} then, #{now} now",
            hint="Start from the state that the run was recorded in: the same phone, apps and seed.",
            step=then.number,
            expected=then.fingerprint,
            actual=now,
        )


def open_recording(path: Path) -> RecordedModel:
    """The run in this folder, or in the folder of this steps.jsonl."""
    folder = path.parent if path.name == STEPS else path
    steps = RunFolder(folder).steps()
    if not steps:
        raise InvalidAction(
            f"{path}: there is no step of a run in it", path="model", hint=f"Give a folder with {STEPS}."
        )
    return RecordedModel(steps, f"recorded:{folder.name}")


_FRAME = re.compile(r"<screen-data [^\n]*>\n(.*?)\n</screen-data ", re.S)
_FINGERPRINT = re.compile(r"screen \S+(?: \S+)? #(\w+)", re.ASCII)
_REF = re.compile(r"^\s*(@[a-z]\d+)\b", re.M | re.ASCII)


def screen_text(prompt: Prompt) -> str:
    """The newest screen in the prompt; empty where none is shown."""
    for turn in reversed(prompt.turns):
        if turn.role == "user" and (frames := _FRAME.findall(turn.text)):
            return str(frames[-1])
    return ""


def fingerprint(prompt: Prompt) -> str:
    """As the screen's first line tells it; empty where it tells none."""
    match = _FINGERPRINT.match(screen_text(prompt))
    return match[1] if match else ""


class RandomTaps(OfflineModel):
    """The same seed and the same screens make the same taps. It never says that it is done."""

    def __init__(self, seed: int = 1) -> None:
        self.name = f"random:{seed}"
        self._random = random.Random(seed)  # noqa: S311  (nothing is kept secret by it)

    async def step(self, prompt: Prompt) -> Reply:
        # In the order of the screen. Only what begins a line is a ref: a label may hold anything.
        refs = list(dict.fromkeys(_REF.findall(screen_text(prompt))))
        if not refs:
            return Reply("Nothing that could be tapped is visible.", PressKey(key="back").to_dict(), "")
        chosen = Selector(ref=self._random.choice(refs))
        return Reply("Anything will do.", Tap(target=chosen).to_dict(), "")


class Nothing(OfflineModel):
    """Finishes at once."""

    name = "nothing"

    async def step(self, prompt: Prompt) -> Reply:  # noqa: ARG002 - it does not look
        return finished("Nothing was done.")


MAX_BYTES = 1_000_000
SCRIPT_OVER = "The script is over."
_FORMS = "A step is {thought, action}, {thought, raw}, or an action in short: `tap: Save`."


class ScriptedModel(OfflineModel):
    """Begins at the step that it is first asked for, so that a resumed run goes on where it was."""

    def __init__(self, replies: Sequence[Reply], name: str = "scripted", dialect: str = "") -> None:
        self.name = name
        self.dialect = dialect
        """What its steps are written in; empty for the vocabulary's own."""
        self._replies = replies
        self._at: int | None = None

    async def step(self, prompt: Prompt) -> Reply:
        at = prompt.step - 1 if self._at is None else self._at
        self._at = at + 1
        if at >= len(self._replies):
            return finished(SCRIPT_OVER)
        return self._replies[at]


def open_script(path: Path) -> ScriptedModel:
    """Raises `InvalidAction`; `path` leads to the bad field."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InvalidAction(
            f"{path}: {error.strerror or error}", path="model", hint="Give a file that exists."
        ) from None
    if len(data) > MAX_BYTES:
        raise InvalidAction(f"{path}: {len(data):,} bytes are too many for a script", path="model")
    try:
        replies = read_script(data)
        script = yaml.safe_load(data)
        dialect = str(script.get("dialect", "")) if isinstance(script, dict) else ""
        return ScriptedModel(replies, f"scripted:{path.name}", dialect)
    except InvalidAction as error:
        raise InvalidAction(
            f"{path}: {error.message}", path=error.details["path"], hint=error.hint, file=str(path)
        ) from None


def read_script(data: str | bytes) -> list[Reply]:
    """The replies of a script: a list of steps, or a mapping with `steps`. Raises as `open_script` does."""
    try:
        script = yaml.safe_load(data)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f" in line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise _bad("", f"not valid YAML: {getattr(error, 'problem', None) or error}{place}") from None
    return script_replies(script)


def script_replies(script: Any) -> list[Reply]:
    at, spoken = "", ""
    if isinstance(script, dict):
        _only(script, {"steps", "dialect"}, "")
        spoken = str(script.get("dialect", ""))
        script, at = script.get("steps"), "steps"
    if not isinstance(script, list) or not script:
        raise _bad(at, "should be a list of steps")
    if spoken:
        dialect(spoken)
        return [_in_dialect(step) for step in script]
    return [_reply(step, f"{at}[{number}]") for number, step in enumerate(script)]


def _in_dialect(step: Any) -> Reply:
    """As a model would have printed it: its reader is the run's."""
    if isinstance(step, dict) and set(step) <= {"thought", "raw"} and "raw" in step:
        return Reply(str(step.get("thought", "")), None, str(step["raw"]))
    return Reply("", None, step if isinstance(step, str) else json.dumps(step, ensure_ascii=False))


def _reply(step: Any, at: str) -> Reply:
    if isinstance(step, str):
        step = {step: {}}
    if not isinstance(step, dict) or not step or not all(isinstance(key, str) for key in step):
        raise _bad(at, "should be a step")
    thought = step.get("thought", "")
    if not isinstance(thought, str):
        raise _bad(f"{at}.thought", "should be a string")
    rest = {key: value for key, value in step.items() if key != "thought"}
    if "raw" in rest:
        _only(rest, {"raw"}, at)
        if not isinstance(rest["raw"], str):
            raise _bad(f"{at}.raw", "should be a string")
        reading = read_text(rest["raw"])
        return Reply(thought or reading.thought, reading.action, rest["raw"], problem=reading.problem)
    if "type" in rest:
        return Reply(thought, _action(rest, at), "")
    if "action" in rest:
        _only(rest, {"action"}, at)
        return Reply(thought, _action(rest["action"], f"{at}.action"), "")
    return Reply(thought, _short(rest, at), "")


def _short(rest: Mapping[str, Any], at: str) -> dict[str, Any]:
    """`tap: Save`, `type_text: {text: Ada, target: Name}`, `wait_for_stable:`."""
    if len(rest) != 1:
        raise _bad(at, f"has {len(rest)} actions: {', '.join(rest)}"[:200])
    [(kind, value)] = rest.items()
    if kind not in ACTIONS:
        close = nearest_kind(kind, ACTIONS)
        hint = f"Did you mean {' or '.join(close)}?" if close else None
        raise _bad(at, f"{kind[:60]!r} is not an action", hint)
    main = ACTIONS[kind].traits.shorthand
    if value is None or isinstance(value, dict):
        return _action({**(value or {}), "type": kind}, f"{at}.{kind}")
    if main is None:
        raise _bad(f"{at}.{kind}", "should be a mapping of its fields")
    return _action({"type": kind, main: value}, f"{at}.{kind}")


def _action(action: Any, at: str) -> dict[str, Any]:
    try:
        return _action_from(action).to_dict()
    except InvalidAction as error:
        inside = error.details.get("path", "")
        where = f"{at}.{inside}" if inside else at
        message = error.message.removeprefix(f"{inside}: ") if inside else error.message
        raise _bad(where, message, error.hint) from None


def _action_from(action: Any) -> AnyAction:
    """In the vocabulary, else as OpenPocket writes it; what it would have to invent is no action."""
    try:
        return action_from(action)
    except InvalidAction:
        normalised = normalise(action)
        if normalised.native is None or not isinstance(action, Mapping) or "type" in normalised.defaulted:
            raise
        if any(
            name in normalised.defaulted for name in ("text", "keycode", "packageName", "command", "script")
        ):
            raise
        return normalised.native


def _only(fields: Mapping[str, Any], names: set[str], at: str) -> None:
    for key in fields:
        if key not in names:
            raise _bad(f"{at}.{key}".lstrip("."), "is not known here")


def _bad(path: str, message: str, hint: str | None = None) -> InvalidAction:
    return InvalidAction(f"{path}: {message}" if path else message, path=path, hint=hint or _FORMS)


SPECS = ("openai:NAME", "anthropic:NAME", "scripted:FILE", "recorded:FOLDER", "random[:SEED]", "nothing")


def open_model(  # noqa: PLR0913 - every one is a wish that a caller may leave out
    spec: str,
    *,
    env: Mapping[str, str],
    clock: Clock,
    base_url: str | None = None,
    mode: Mode | None = None,
    sees: bool | None = None,
    stream: bool = False,
    tools: ToolSet | None = None,
    try_ms: float = TRY_MS,
) -> AgentModel:
    """The model of this name. Raises `InvalidAction` with the path `model` or `tools`, or `Unsupported`."""
    kind, _, rest = spec.strip().partition(":")
    if tools is not None and kind not in ("openai", "anthropic"):
        raise InvalidAction(
            f"tools: {spec[:60]!r} has no {tools} tool of its maker",
            path="tools",
            hint="openai:NAME and anthropic:NAME have one; leave --tools out for the others.",
        )
    match kind:
        case "openai" | "anthropic" if rest:
            return _hosted(kind, rest, ModelOptions(base_url, mode, sees, stream, tools, try_ms), env, clock)
        case "scripted" if rest:
            return open_script(Path(rest).expanduser())
        case "recorded" if rest:
            return open_recording(Path(rest).expanduser())
        case "random" if re.fullmatch(r"[0-9]{0,9}", rest):
            return RandomTaps(int(rest or 1))
        case "nothing" if not rest:
            return Nothing()
        case _:
            raise InvalidAction(
                f"model: {spec[:60]!r} is not a model", path="model", hint=f"One of: {', '.join(SPECS)}."
            )


def _hosted(kind: str, name: str, options: ModelOptions, env: Mapping[str, str], clock: Clock) -> AgentModel:
    try:
        if options.tools == "computer":
            from handrail_agent.models.computer import open_computer  # noqa: PLC0415

            return open_computer(kind, name, options, env=env, clock=clock)
        from handrail_agent.models.hosted import open_hosted  # noqa: PLC0415

        return open_hosted(kind, name, options, env=env, clock=clock)
    except ImportError as error:
        if (error.name or "").startswith("handrail"):
            raise
        raise Unsupported(
            f"{kind}:{name} needs a package that is not installed: {error.name or error}",
            hint="pip install 'handrail[agent]'",
        ) from None

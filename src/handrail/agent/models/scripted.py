"""A model that says what a file says, step by step: for demonstrations, reference solutions and tests.

A step is `{thought?, action}`, `{thought?, raw}` (what a model might have written, read as such), or an
action in a flow's short form: `- tap: Save`. A file whose head names a `dialect` has steps in that dialect's
own form, text or JSON. What is wrong with a file is told with its path.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from handrail.agent.model import Mode, Prompt, Reply, finished
from handrail.agent.read_answer import read_text
from handrail.dialects.openpocket import normalise
from handrail.dialects.registry import dialect
from handrail.errors import InvalidAction
from handrail.protocol.actions import ACTIONS, AnyAction
from handrail.protocol.read import action_from, nearest_kind

MAX_BYTES = 1_000_000
OVER = "The script is over."
_FORMS = "A step is {thought, action}, {thought, raw}, or an action in short: `tap: Save`."


class ScriptedModel:
    """Begins at the step that it is first asked for, so that a resumed run goes on where it was."""

    mode: Mode = "tools"
    sees = False

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
            return finished(OVER)
        return self._replies[at]

    async def close(self) -> None:
        """Nothing is open."""


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
        return ScriptedModel(read_script(data), f"scripted:{path.name}", dialect_of_script(data))
    except InvalidAction as error:
        raise InvalidAction(
            f"{path}: {error.message}", path=error.details["path"], hint=error.hint, file=str(path)
        ) from None


def read_script(data: str | bytes) -> list[Reply]:
    """The replies of a script: a list of steps, or a mapping with `steps`. Raises as `open_script` does."""
    try:
        found = yaml.safe_load(data)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise _bad("", f"not valid YAML: {_where(error)}") from None
    return script_replies(found)


def script_replies(found: Any) -> list[Reply]:
    """Of a script that is data already."""
    at, spoken = "", ""
    if isinstance(found, dict):
        _only(found, {"steps", "dialect"}, "")
        spoken = str(found.get("dialect", ""))
        found, at = found.get("steps"), "steps"
    if not isinstance(found, list) or not found:
        raise _bad(at, "should be a list of steps")
    if spoken:
        dialect(spoken)
        return [_in_dialect(step) for step in found]
    return [_reply(step, f"{at}[{number}]") for number, step in enumerate(found)]


def dialect_of_script(data: str | bytes) -> str:
    """Of one that was read; empty where its head names none."""
    found = yaml.safe_load(data)
    return str(found.get("dialect", "")) if isinstance(found, dict) else ""


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
        return _as_written(rest, thought, at)
    if "type" in rest:
        return Reply(thought, _action(rest, at), "")
    if "action" in rest:
        _only(rest, {"action"}, at)
        return Reply(thought, _action(rest["action"], f"{at}.action"), "")
    return Reply(thought, _short(rest, at), "")


def _as_written(rest: Mapping[str, Any], thought: str, at: str) -> Reply:
    _only(rest, {"raw"}, at)
    if not isinstance(rest["raw"], str):
        raise _bad(f"{at}.raw", "should be a string")
    reading = read_text(rest["raw"])
    return Reply(thought or reading.thought, reading.action, rest["raw"], problem=reading.problem)


def _short(rest: Mapping[str, Any], at: str) -> dict[str, Any]:
    """`tap: Save`, `type_text: {text: Ada, target: Name}`, `wait_for_stable:`."""
    if len(rest) != 1:
        raise _bad(at, f"has {len(rest)} actions: {', '.join(rest)}"[:200])
    [(kind, value)] = rest.items()
    if kind not in ACTIONS:
        close = nearest_kind(kind, ACTIONS)
        meant = f"Did you mean {' or '.join(close)}?" if close else None
        raise _bad(at, f"{kind[:60]!r} is not an action", meant)
    main = ACTIONS[kind].traits.shorthand
    if value is None or isinstance(value, dict):
        return _action({**(value or {}), "type": kind}, f"{at}.{kind}")
    if main is None:
        raise _bad(f"{at}.{kind}", "should be a mapping of its fields")
    return _action({"type": kind, main: value}, f"{at}.{kind}")


def _action(given: Any, at: str) -> dict[str, Any]:
    try:
        return _action_from(given).to_dict()
    except InvalidAction as error:
        inside = error.details.get("path", "")
        where = f"{at}.{inside}" if inside else at
        message = error.message.removeprefix(f"{inside}: ") if inside else error.message
        raise _bad(where, message, error.hint) from None


def _action_from(given: Any) -> AnyAction:
    """In the vocabulary, else as OpenPocket writes it; what it would have to invent is no action."""
    try:
        return action_from(given)
    except InvalidAction:
        made = normalise(given)
        if made.native is None or not isinstance(given, Mapping) or "type" in made.defaulted:
            raise
        if any(name in made.defaulted for name in ("text", "keycode", "packageName", "command", "script")):
            raise
        return made.native


def _only(found: Mapping[str, Any], known: set[str], at: str) -> None:
    for key in found:
        if key not in known:
            raise _bad(f"{at}.{key}".lstrip("."), "is not known here")


def _where(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    place = f" in line {mark.line + 1}, column {mark.column + 1}" if mark else ""
    return f"{getattr(error, 'problem', None) or error}{place}"


def _bad(path: str, message: str, hint: str | None = None) -> InvalidAction:
    return InvalidAction(f"{path}: {message}" if path else message, path=path, hint=hint or _FORMS)

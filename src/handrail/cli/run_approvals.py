"""What `handrail run` does with questions: asks at the terminal, waits, says no, or goes by a file of yeses.

An entry of that file is for one flow, one action and one label, so many times. Nothing in it is a pattern.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from handrail.cli.output import own_command, phone_words
from handrail.errors import HandrailError, InvalidAction, PolicyUnusable

if TYPE_CHECKING:
    from handrail.engine.approval import Approvals, AskedApproval
    from handrail.flow.progress import FlowProgress

MOST_BYTES = 100_000
MOST_TIMES = 100
_NEEDED = ("flow", "action", "label")
_KEYS = (*_NEEDED, "question", "times")
_HIDDEN = "${secret:"
"""Stands in a label for what nobody may read: two labels that differ could look the same."""


class Answers(Enum):
    """Where they come from."""

    TERMINAL = None
    """A person who sits there is asked; where nobody does, it waits."""
    WAIT = "wait"
    FAIL = "fail"
    FILE = "file"


@dataclass(slots=True)
class Allowed:
    """One yes that a person wrote down before the run. `times` counts down."""

    flow: Path
    action: str
    label: str
    question: str = ""
    times: int = 1

    def covers(self, one: AskedApproval, flow: Path | None) -> bool:
        """Letter by letter. Whoever asks for a person's own presence or data is never answered by a file."""
        asked = one.request
        return (
            self.times > 0
            and asked.kind == "policy"
            and flow == self.flow
            and one.action_type == self.action
            and asked.label == self.label
            and _HIDDEN not in asked.label
            and self.question in ("", asked.instruction)
        )


def read_allowances(path: Path) -> list[Allowed]:
    """Raises `InvalidAction` that says which entry is wrong and how."""
    from handrail.owned import open_plain  # noqa: PLC0415  (few runs name a file)

    try:
        with open_plain(path) as file:
            data = file.read(MOST_BYTES + 1)
        document = tomllib.loads(data.decode()) if len(data) <= MOST_BYTES else None
    except (OSError, PolicyUnusable) as error:
        why = error.message if isinstance(error, PolicyUnusable) else f"{path}: {error.strerror or error}"
        hint = "Give fail, wait, or a file with [[allow]] entries (docs/flows.md)."
        raise InvalidAction(why, hint=hint, path="approvals") from None
    except ValueError as error:  # no UTF-8, or no TOML
        raise _wrong(path, str(error)) from None
    if document is None:
        raise _wrong(path, f"more than {MOST_BYTES:,} bytes")
    entries = document.get("allow")
    if set(document) != {"allow"} or not isinstance(entries, list):
        raise _wrong(path, "it must hold [[allow]] entries and nothing else")
    return [_entry(path, number, one) for number, one in enumerate(entries, 1)]


def _entry(path: Path, number: int, given: Any) -> Allowed:
    from handrail.flow.select_flows import real_path  # noqa: PLC0415

    where = f"entry {number}"
    if not isinstance(given, Mapping):
        raise _wrong(path, f"{where} is no table")
    if unknown := sorted(set(given) - set(_KEYS)):
        raise _wrong(path, f"{where} has {unknown[0]!r}; there are {', '.join(_KEYS)}")
    for key in _NEEDED:
        if not isinstance(given.get(key), str) or not given[key].strip():
            raise _wrong(path, f"{where} needs {key} as a text")
    question, times = given.get("question", ""), given.get("times", 1)
    if not isinstance(question, str):
        raise _wrong(path, f"{where}: question is no text")
    if isinstance(times, bool) or not isinstance(times, int) or not 1 <= times <= MOST_TIMES:
        raise _wrong(path, f"{where}: times is a number from 1 to {MOST_TIMES}")
    flow = path.parent / given["flow"]
    if not flow.is_file():
        raise _wrong(path, f"{where}: there is no flow {given['flow']} beside it")
    _check_said(path, where, given["action"], given["label"])
    return Allowed(real_path(flow), given["action"], given["label"], question, times)


def _check_said(path: Path, where: str, name: str, label: str) -> None:
    """Action and label must say all of it: what presses more than one element, or answers "OK", is asked."""
    from handrail.engine.policy.grave import is_answer  # noqa: PLC0415
    from handrail.protocol.actions import ACTIONS  # noqa: PLC0415
    from handrail.protocol.traits import Pressed  # noqa: PLC0415

    if name not in ACTIONS:
        raise _wrong(path, f"{where}: there is no action {name!r:.60}")
    if ACTIONS[name].traits.presses is not Pressed.TARGET:
        raise _wrong(path, f"{where}: a label does not say what {name} does; a person must be asked")
    if is_answer(label):
        raise _wrong(path, f"{where}: {label!r:.60} says yes to whatever is asked; a person must be asked")


def _wrong(path: Path, what: str) -> InvalidAction:
    hint = "docs/flows.md shows such a file; the run prints the entry that a question would need."
    return InvalidAction(f"{path}: {what}", hint=hint, path="approvals")


@dataclass(slots=True)
class FlowQuestions:
    """Told of every question of a run, as `Approvals.notify`."""

    progress: FlowProgress
    as_json: bool
    answers: Answers = Answers.TERMINAL
    allowed: list[Allowed] = field(default_factory=list)
    source: Path | None = None
    flow: Path | None = None
    """Behind all links: the file that is being run, not one that it runs."""
    told: list[dict[str, Any]] = field(default_factory=list)
    approvals: Approvals | None = None

    @classmethod
    def of(cls, given: str | None, progress: FlowProgress, as_json: bool) -> FlowQuestions:
        """`given` is what the command line says: fail, wait or a file."""
        if given in (None, Answers.WAIT.value, Answers.FAIL.value):
            return cls(progress, as_json, Answers(given))
        path = Path(given or "")
        return cls(progress, as_json, Answers.FILE, read_allowances(path), path)

    def listen(self, approvals: Approvals) -> None:
        self.approvals = approvals
        approvals.notify = self._asked

    def began(self, flow: Path | None) -> None:
        from handrail.flow.select_flows import real_path  # noqa: PLC0415

        self.flow = real_path(flow) if flow else None

    async def _asked(self, one: AskedApproval, token: str | None) -> None:
        from handrail.cli.terminal_prompt import TerminalPrompt  # noqa: PLC0415

        approvals = self.approvals
        if approvals is None:
            raise AssertionError("questions are heard before anybody listens")
        prompt = TerminalPrompt(approvals)
        if self.answers is Answers.TERMINAL and prompt.is_possible:
            with self.progress.paused():
                await prompt(one, token)
            return
        yes = next((entry for entry in self.allowed if entry.covers(one, self.flow)), None)
        if yes is not None:
            yes.times -= 1  # before anything is awaited: two questions at once can't share the last one
        waits = self.answers in (Answers.TERMINAL, Answers.WAIT)
        answer = "waits" if waits else "approved" if yes else "rejected"
        self._tell(one, answer)
        if waits:
            return
        by = f"--approvals {self.source.name if self.source else 'fail'}"
        note = "" if yes else "nobody is asked in this run"
        with suppress(HandrailError):  # somebody was quicker; the first answer counts
            await approvals.answer(one.id, yes is not None, by, note=note)

    def _tell(self, one: AskedApproval, answer: str) -> None:
        """At once, and in one piece."""
        told = self._record(one, answer)
        self.told.append(told)
        lines = [json.dumps(told, ensure_ascii=False)] if self.as_json else _lines(told, self._entry_for(one))
        with self.progress.paused():
            click.echo("\n".join(lines), err=self.as_json)

    def _record(self, one: AskedApproval, answer: str) -> dict[str, Any]:
        asked = one.request
        told = {
            "approval": one.id,
            "question": asked.instruction,
            "action": one.action_type,
            "label": asked.label,
            "device": asked.device,
            "why": asked.why,
            "reason": asked.reason,
            "flow": str(self.flow) if self.flow else "",
            "answer": answer,
        }
        if answer == "waits":
            told["approve"] = own_command("approve", one.id)
            told["reject"] = own_command("reject", one.id)
        return {key: value for key, value in told.items() if value}

    def _entry_for(self, one: AskedApproval) -> list[str]:
        """What a file would have to say; nothing where no file can."""
        asked = one.request
        is_said = asked.label.isprintable() and _HIDDEN not in asked.label and asked.kind == "policy"
        if not (is_said and asked.label and self.flow):
            return []
        try:
            _check_said(self.flow, "", one.action_type, asked.label)
        except InvalidAction:
            return []
        # JSON strings of printable text are TOML strings, too.
        values = {"flow": self.flow.name, "action": one.action_type, "label": asked.label}
        pairs = (f"{key} = {json.dumps(text, ensure_ascii=False)}" for key, text in values.items())
        return ["[[allow]]", *pairs]


def _lines(told: Mapping[str, Any], entry: list[str]) -> list[str]:
    """Screen and model texts are a stranger's: nothing in them may steer a terminal."""
    from handrail.tree.quote import clean, cut  # noqa: PLC0415

    def said(key: str) -> str:
        return cut(clean(str(told[key])), 300)

    lines = [f"  ? {told['approval']}  {said('question')}  (on {clean(phone_words(told['device']))})"]
    lines += [f"      why asked: {said('why')}"] if "why" in told else []
    lines += [f"      the flow says: {said('reason')}"] if "reason" in told else []
    match told["answer"]:
        case "waits":
            lines += [f"      yes:  {told['approve']}", f"      no:   {told['reject']}"]
        case "approved":
            lines += ["      approved by the file of --approvals"]
        case _:
            lines += ["      rejected: nobody is asked in this run"]
            if entry:
                lines += ["      an entry for the file of --approvals that says yes, beside the flow:"]
                lines += [f"          {line}" for line in entry]
    return lines

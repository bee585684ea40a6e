"""`handrail approvals`, `approve`, `reject`: what waits for a person, and the person's answer."""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import sys
import termios
import tomllib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeVar
from urllib.parse import urlsplit

import click

from handrail.cli.options import DeviceOptions, async_command, chosen_by_name, json_option, phone_option
from handrail.cli.output import own_command, phone_name_and_serial, print_json, print_table
from handrail.clock import SystemClock
from handrail.config import Config, canonical
from handrail.devices import pick
from handrail.errors import DeviceError, HandrailError, InvalidAction, PolicyUnusable
from handrail.flow.plan import real_path
from handrail.invocation import is_in_foreground, run
from handrail.journal import Journal
from handrail.journal.journal import witness_of
from handrail.local_socket import desk_address
from handrail.protocol.actions import ACTIONS
from handrail.protocol.traits import Pressed, Span
from handrail.safety.approval_store import AskedApproval, GrantTerms, grant_id
from handrail.safety.approvals import Approvals
from handrail.safety.caller import Caller, login_name
from handrail.safety.labels import is_answer
from handrail.safety.leases import Holder, Leases, StopRequests
from handrail.screen.text import clean, cut
from handrail.store import Store
from handrail.trusted_file import open_plain
from handrail.waiting import Background

if TYPE_CHECKING:
    from handrail.cli.client import DaemonConnection
    from handrail.flow.progress import FlowProgress

T = TypeVar("T")
_REMEMBER = click.option(
    "--remember", type=click.Choice(["session", "always"]), help="Remember the answer for later requests."
)
_BY = click.option("--by", metavar="NAME", help="Who answers; the login name when left out.")


@click.command()
@json_option()
@click.option("--all", "everything", is_flag=True, help="Closed requests too, newest first.")
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="With --all.")
@click.option("--before", type=int, metavar="SEQ", help="With --all: only those before this `seq`.")
def approvals(as_json: bool, everything: bool, limit: int, before: int | None) -> None:
    """List what waits for an answer."""
    requests = with_approvals(lambda desk: desk.history(limit, before) if everything else desk.pending())
    now = SystemClock().now_ms()
    if as_json:
        print_json([approval.to_dict() for approval in requests])
    elif not requests:
        click.echo("Nothing was asked yet." if everything else "Nothing waits for an answer.")
    else:
        rows = []
        for approval in requests:
            left = duration_text(approval.expires_ms - now) if approval.is_open else ""
            age = duration_text(now - approval.created_ms)
            device = clean(phone_name_and_serial(approval.request.device))
            why = cut(clean(approval.request.why or approval.request.reason), 120)
            rows.append((approval.id, approval.state, age, left, device, _request_text(approval), why))
        header = ("id", "state", "age", "expires", "device", "what", "why")
        print_table(f"{len(requests)} requests", header, rows)
        for approval in requests:
            if approval.is_open and "script" in approval.request.action:
                click.echo(f"\n{approval.id}: {approval.request.shown(0)}")


@click.command()
@click.argument("id_", metavar="ID")
@_REMEMBER
@click.option(
    "--data", metavar="TEXT", help="The requested data, such as a code; - reads it from standard input."
)
@click.option("--readable/--unreadable", default=None, help="Whether the agent may read --data.")
@click.option("--for", "for_", metavar="TIME", help="Allow similar actions too, for 30m or 2h; at most 24h.")
@click.option("--times", type=int, metavar="N", help="How many, with or without --for; 5 when left out.")
@click.option(
    "--may-change", type=int, multiple=True, metavar="N", help="Element N of the question may change."
)
@_BY
def approve(
    id_: str, data: str | None, for_: str | None, times: int | None, by: str | None, **answer: Any
) -> None:
    """Approve the request ID; the beginning of an id is enough."""
    text = sys.stdin.read().rstrip("\r\n") if data == "-" else data
    match = re.fullmatch(r"(\d{1,5})\s*(s|m|h)", ("0s" if for_ is None else for_).strip().lower())
    if not match:
        raise click.BadParameter(f"{for_!r} is not a time such as 30m or 2h", param_hint="--for")
    span_ms = int(match[1]) * {"s": 1_000, "m": 60_000, "h": 3_600_000}[match[2]]
    allow = GrantTerms.read(None if for_ is None else span_ms, times)
    done = with_approvals(
        lambda desk: desk.answer(id_, True, by or login_name(), data=text, allow=allow, **answer)
    )
    click.echo(f"Approved: {done.id} {_request_text(done)}")
    if allow is not None:
        active = with_approvals(lambda desk: desk.grants.active())
        [grant] = [grant for grant in active if grant.id == grant_id(done.id)]
        click.echo(f"{grant.id}: {clean(str(grant))}\n`handrail policy revoke {grant.id}` ends it.")


@click.command()
@click.argument("id_", metavar="ID")
@click.option("--reason", default="", help="Why not; the agent reads it.")
@_REMEMBER
@_BY
def reject(id_: str, reason: str, remember: Span | None, by: str | None) -> None:
    """Reject the request ID; the beginning of an id is enough."""
    done = with_approvals(
        lambda desk: desk.answer(id_, False, by or login_name(), note=reason, remember=remember)
    )
    click.echo(f"Rejected: {done.id} {_request_text(done)}")


def with_approvals(work: Callable[[Approvals], Awaitable[T]]) -> T:
    async def work_with_store() -> T:
        config = Config.from_env(os.environ)
        config.make_home()
        with closing(Store(config.db)) as store:
            return await work(Approvals(store, SystemClock()))

    return run(work_with_store())


def _request_text(approval: AskedApproval) -> str:
    """What is asked, in one line. Texts of screens and models are untrusted, so control characters are
    removed."""
    label = f' "{cut(clean(approval.request.label), 60)}"' if approval.request.label else ""
    if approval.request.kind == "human_auth":
        return f"{approval.request.capability}: {cut(clean(approval.request.instruction), 120)}"
    return f"{approval.action_type}{label}"


def duration_text(ms: int) -> str:
    """`45s`, `3m`, `2h`, `5d`."""
    seconds = max(0, ms) // 1000
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


_ANSWERS: dict[str, tuple[bool, Span | None]] = {
    "y": (True, None),
    "yes": (True, None),
    "s": (True, "session"),
    "a": (True, "always"),
    "n": (False, None),
    "no": (False, None),
}
_SPANS: dict[Span, str] = {"session": "[s] yes, for this session", "always": "[a] yes, always"}


class TerminalPrompt:
    """Asks the person at the terminal. Where nobody sits there, it prints how the request can be answered."""

    def __init__(
        self, approvals: Approvals, *, source: TextIO | None = None, sink: TextIO | None = None
    ) -> None:
        self._approvals = approvals
        self._source = source or sys.stdin
        self._sink = sink or sys.stderr

    @property
    def is_possible(self) -> bool:
        ends = self._source.isatty() and self._sink.isatty()
        return ends and is_in_foreground(self._source.fileno())

    async def __call__(self, approval: AskedApproval, token: str | None) -> None:  # noqa: ARG002  (links are for other doors)
        request = approval.request
        label = f' "{cut(clean(request.label), 80)}"' if request.label else ""
        self._write(f"? {approval.action_type}{label} on {clean(phone_name_and_serial(request.device))}\n")
        self._write(f"  {request.shown(300)}\n")
        if request.why:
            self._write(f"  why asked: {cut(clean(request.why), 200)}\n")
        if request.reason:
            self._write(f"  the agent says: {cut(clean(request.reason), 200)}\n")
        if not self.is_possible:
            answers = f"handrail approve {approval.id}  (or: handrail reject {approval.id})"
            self._write(f"  Waiting. Answer with: {answers}\n")
            return
        self._write(f"  {approval.id}; also: handrail approve {approval.id}\n")
        # What was typed before the question could be read is no answer to it.
        termios.tcflush(self._source.fileno(), termios.TCIFLUSH)
        try:
            await self._ask_for_decision(approval)
        except HandrailError as error:
            self._write(f"{error.message}\n")

    async def _ask_for_decision(self, approval: AskedApproval) -> None:
        offered = [words for span, words in _SPANS.items() if _may_remember(approval, span)]
        while True:
            self._write(", ".join(["[y] yes, once", *offered, "[n] no: "]))
            line = await self._read_line()
            if line is None:
                return  # end of input: somebody else may still answer
            approved, span = _ANSWERS.get(line.strip().lower(), (None, None))
            if approved is None or (span is not None and not _may_remember(approval, span)):
                self._write("Please answer with one of the letters.\n")
                continue
            data = await self._ask_for_data(approval) if approved and approval.request.wants_data else None
            await self._approvals.answer(approval.id, approved, "terminal", data=data, remember=span)
            return

    async def _ask_for_data(self, approval: AskedApproval) -> str | None:
        reads = "the agent will read it, unless it looks like a code or a password"
        who = "the agent does not see it" if approval.request.is_secret else reads
        self._write(f"What was asked for ({who}; empty for nothing): ")
        with self._without_echo() if approval.request.is_secret else nullcontext():
            line = await self._read_line()
        self._write("\n" if approval.request.is_secret else "")
        return line.rstrip("\r\n") or None if line is not None else None

    def _write(self, text: str) -> None:
        self._sink.write(text)
        self._sink.flush()

    async def _read_line(self) -> str | None:
        """One line; None at the end of input. A thread that reads could not be ended, so the event loop
        does."""
        loop = asyncio.get_running_loop()
        handle = self._source.fileno()
        ready = asyncio.Event()
        loop.add_reader(handle, ready.set)
        try:
            await ready.wait()
        except asyncio.CancelledError:
            self._write("\n(answered elsewhere, expired or stopped)\n")
            raise
        finally:
            loop.remove_reader(handle)
        data = os.read(handle, 65_536)  # a terminal gives whole lines
        return data.decode(errors="replace") if data else None

    @contextmanager
    def _without_echo(self) -> Iterator[None]:
        handle = self._source.fileno()
        before = termios.tcgetattr(handle)
        silent = [*before]
        silent[3] = before[3] & ~termios.ECHO
        termios.tcsetattr(handle, termios.TCSAFLUSH, silent)
        try:
            yield
        finally:
            termios.tcsetattr(handle, termios.TCSAFLUSH, before)


def _may_remember(approval: AskedApproval, span: Span) -> bool:
    return approval.request.remember in ("always", span)


async def answer_questions(connection: DaemonConnection, first: str) -> int:
    """Handles the daemon's messages and asks the person, until the command ends. Returns its exit code, or
    -1 if the daemon went away."""
    line = socket.socket(fileno=connection.line.detach())
    line.settimeout(None)
    connection.line = line
    readable, loop = asyncio.Event(), asyncio.get_running_loop()
    loop.add_reader(line.fileno(), readable.set)
    try:
        async with Background() as asking:
            asking.start(ask_at_this_terminal(first), "question in the terminal")
            while True:
                while (message := connection.take_buffered_message()) is None:
                    readable.clear()
                    await readable.wait()
                    if not connection.receive_bytes():
                        return -1
                letter, data = message
                if letter == b"Q":
                    asking.start(ask_at_this_terminal(data.decode()), "question in the terminal")
                elif letter == b"X":
                    await asking.close()
                elif (code := connection.handle_message(letter, data)) is not None:
                    return code
    finally:
        loop.remove_reader(line.fileno())


async def ask_at_this_terminal(approval_id: str) -> None:
    """Reads the request from the store, asks, and writes the answer into the store, where the daemon finds
    it."""
    with closing(Store(Config.from_env(os.environ).db)) as store:
        approvals = Approvals(store, SystemClock())
        await TerminalPrompt(approvals)(await approvals.get(approval_id), None)


MOST_BYTES = 100_000
MOST_TIMES = 100
WAIT, FAIL = "wait", "fail"  # what a question does where nobody is asked at the terminal
_NEEDED = ("flow", "action", "label")
_KEYS = (*_NEEDED, "question", "times")
_HIDDEN = "${secret:"
"""Stands in a label for what nobody may read: two labels that differ could look the same."""


@dataclass(slots=True)
class Allowance:
    """One [[allow]] entry of the --approvals file. `times` counts down."""

    flow: Path
    action: str
    label: str
    question: str = ""
    times: int = 1

    def covers(self, approval: AskedApproval, flow: Path | None) -> bool:
        """Compares letter by letter. A file never answers requests for a person's presence or data."""
        request = approval.request
        return (
            self.times > 0
            and request.kind == "policy"
            and flow == self.flow
            and approval.action_type == self.action
            and request.label == self.label
            and _HIDDEN not in request.label
            and self.question in ("", request.instruction)
        )


def read_allowances(path: Path) -> list[Allowance]:
    """Raises `InvalidAction` that says which entry is wrong and how."""
    try:
        with open_plain(path) as file:
            data = file.read(MOST_BYTES + 1)
        document = tomllib.loads(data.decode()) if len(data) <= MOST_BYTES else None
    except (OSError, PolicyUnusable) as error:
        why = error.message if isinstance(error, PolicyUnusable) else f"{path}: {error.strerror or error}"
        hint = "Give fail, wait, or a file with [[allow]] entries (docs/flows.md)."
        raise InvalidAction(why, hint=hint, path="approvals") from None
    except ValueError as error:  # no UTF-8, or no TOML
        raise _wrong_file(path, str(error)) from None
    if document is None:
        raise _wrong_file(path, f"more than {MOST_BYTES:,} bytes")
    entries = document.get("allow")
    if set(document) != {"allow"} or not isinstance(entries, list):
        raise _wrong_file(path, "it must hold [[allow]] entries and nothing else")
    return [_read_allowance(path, number, entry) for number, entry in enumerate(entries, 1)]


def _read_allowance(path: Path, number: int, entry: Any) -> Allowance:
    where = f"entry {number}"
    if not isinstance(entry, Mapping):
        raise _wrong_file(path, f"{where} is not a table")
    if unknown := sorted(set(entry) - set(_KEYS)):
        raise _wrong_file(path, f"{where} has {unknown[0]!r}; there are {', '.join(_KEYS)}")
    for key in _NEEDED:
        if not isinstance(entry.get(key), str) or not entry[key].strip():
            raise _wrong_file(path, f"{where} needs {key} as a text")
    question, times = entry.get("question", ""), entry.get("times", 1)
    if not isinstance(question, str):
        raise _wrong_file(path, f"{where}: question is not a text")
    if isinstance(times, bool) or not isinstance(times, int) or not 1 <= times <= MOST_TIMES:
        raise _wrong_file(path, f"{where}: times is a number from 1 to {MOST_TIMES}")
    flow = path.parent / entry["flow"]
    if not flow.is_file():
        raise _wrong_file(path, f"{where}: there is no flow {entry['flow']} beside it")
    _check_allowance(path, where, entry["action"], entry["label"])
    return Allowance(real_path(flow), entry["action"], entry["label"], question, times)


def _check_allowance(path: Path, where: str, name: str, label: str) -> None:
    """A file may only allow an action on one named element, never a label such as "OK"."""
    if name not in ACTIONS:
        raise _wrong_file(path, f"{where}: there is no action {name!r:.60}")
    if ACTIONS[name].traits.presses is not Pressed.TARGET:
        raise _wrong_file(path, f"{where}: a label does not say what {name} does; a person must be asked")
    if is_answer(label):
        why = f"{label!r:.60} says yes to whatever is asked"
        raise _wrong_file(path, f"{where}: {why}; a person must be asked")


def _wrong_file(path: Path, what: str) -> InvalidAction:
    hint = "docs/flows.md shows such a file; the run prints the entry that a question would need."
    return InvalidAction(f"{path}: {what}", hint=hint, path="approvals")


@dataclass(slots=True)
class FlowApprovals:
    """Answers every request of a run by the --approvals option."""

    progress: FlowProgress
    as_json: bool
    waits: bool | None = None
    """For a person; otherwise what no file allows is refused at once. None: while a desk is open."""
    asks_here: bool = True
    """At the terminal, if somebody sits there."""
    allowed: list[Allowance] = field(default_factory=list)
    source: Path | None = None
    flow: Path | None = None
    """The file that is being run, with links resolved; not a file that it runs in turn."""
    answered: list[dict[str, Any]] = field(default_factory=list)
    approvals: Approvals | None = None

    @classmethod
    def of(cls, option: str | None, progress: FlowProgress, as_json: bool) -> FlowApprovals:
        """`option` is the value of --approvals: fail, wait or a file."""
        if option is None:
            return cls(progress, as_json)
        if option == WAIT:
            return cls(progress, as_json, waits=True, asks_here=False)
        if option == FAIL:
            return cls(progress, as_json, waits=False, asks_here=False)
        path = Path(option)
        return cls(progress, as_json, False, False, allowed=read_allowances(path), source=path)

    def answer_for(self, approvals: Approvals) -> None:
        self.approvals = approvals
        approvals.notify = self._notify

    def start_flow(self, flow: Path | None) -> None:
        self.flow = real_path(flow) if flow else None

    async def _notify(self, approval: AskedApproval, token: str | None) -> None:
        approvals = self.approvals
        if approvals is None:
            raise AssertionError("questions are heard before anybody listens")
        prompt = TerminalPrompt(approvals)
        if self.asks_here and prompt.is_possible:
            with self.progress.paused():
                await prompt(approval, token)
            return
        yes = next((entry for entry in self.allowed if entry.covers(approval, self.flow)), None)
        if yes is not None:
            yes.times -= 1  # before anything is awaited: two questions at once can't share the last one
        config = Config.from_env(os.environ)
        is_desk_open = self.waits is None and bool(desk_address(str(config.home), str(config.desk)))
        waits = self.waits or is_desk_open
        answer = "waits" if waits else "approved" if yes else "rejected"
        record = self._question_document(approval, answer)
        self.answered.append(record)
        rule = [] if waits or yes else rule_lines(approval)
        text = "\n".join(_question_lines(record, self._allowance_lines(approval), rule))
        with self.progress.paused():
            click.echo(json.dumps(record, ensure_ascii=False) if self.as_json else text, err=self.as_json)
        if waits:
            return
        by, why = "this run", "no one is at a terminal and no desk is open; `--approvals wait` waits"
        if self.waits is not None:
            name = self.source.name if self.source else "fail"
            by, why = f"--approvals {name}", "no one is asked in this run"
        note = "" if yes else why
        with suppress(HandrailError):  # somebody was quicker; the first answer counts
            await approvals.answer(approval.id, yes is not None, by, note=note)

    def _question_document(self, approval: AskedApproval, answer: str) -> dict[str, Any]:
        request = approval.request
        record = {
            "approval": approval.id,
            "question": request.instruction,
            "action": approval.action_type,
            "label": request.label,
            "device": request.device,
            "why": request.why,
            "reason": request.reason,
            "flow": str(self.flow) if self.flow else "",
            "answer": answer,
        }
        if answer == "waits":
            record["approve"] = own_command("approve", approval.id)
            record["reject"] = own_command("reject", approval.id)
        return {key: value for key, value in record.items() if value}

    def _allowance_lines(self, approval: AskedApproval) -> list[str]:
        """The lines of an --approvals file that would allow this request; empty where no file may."""
        request = approval.request
        is_said = request.label.isprintable() and _HIDDEN not in request.label and request.kind == "policy"
        if not (is_said and request.label and self.flow):
            return []
        try:
            _check_allowance(self.flow, "", approval.action_type, request.label)
        except InvalidAction:
            return []
        # JSON strings of printable text are TOML strings, too.
        values = {"flow": self.flow.name, "action": approval.action_type, "label": request.label}
        pairs = (f"{key} = {json.dumps(text, ensure_ascii=False)}" for key, text in values.items())
        return ["[[allow]]", *pairs]


def rule_lines(approval: AskedApproval) -> list[str]:
    """The lines of a policy file that would allow this without asking; empty where no rule can."""
    action = approval.request.action
    host = urlsplit(str(action.get("url", ""))).hostname
    if "url" in action:
        return [f"known_hosts = {json.dumps([host])}"] if host else []
    if approval.request.kind != "policy" or "script" in action or not approval.request.label:
        return []
    label = json.dumps([approval.request.label], ensure_ascii=False)
    return ["[[rule]]", f'action = ["{approval.action_type}"]', f"label = {label}", 'verdict = "allow"']


def _question_lines(record: Mapping[str, Any], entry: list[str], rule: Sequence[str] = ()) -> list[str]:
    def quoted(key: str) -> str:
        return cut(clean(str(record[key])), 300)

    device = clean(phone_name_and_serial(record["device"]))
    lines = [f"  ? {record['approval']}  {quoted('question')}  (on {device})"]
    lines += [f"      why asked: {quoted('why')}"] if "why" in record else []
    lines += [f"      the flow says: {quoted('reason')}"] if "reason" in record else []
    match record["answer"]:
        case "waits":
            lines += [f"      yes:  {record['approve']}", f"      no:   {record['reject']}"]
        case "approved":
            lines += ["      approved by the file of --approvals"]
        case _:
            lines += ["      rejected: no one is asked in this run"]
            if entry:
                lines += ["      an entry for the file of --approvals that says yes, beside the flow:"]
                lines += [f"          {line}" for line in entry]
            if rule:
                lines += ["      or, for every run, in the policy file:"]
                lines += [f"          {line}" for line in rule]
    return lines


@dataclass(frozen=True, slots=True)
class PersonsHome:
    """Store, journal and person for a command by which a person takes or gives back phones."""

    config: Config
    clock: SystemClock
    store: Store
    journal: Journal
    person: Caller

    async def choose_serial(self, wanted: str | None) -> str:
        """The chosen device. One that can't be reached is taken by the name on the command line."""
        if name := chosen_by_name(DeviceOptions(wanted), self.config):
            return name
        try:
            return (await pick(wanted, self.config, self.clock, os.environ)).serial
        except DeviceError:
            if wanted is None:
                raise
            return wanted

    async def write_journal(self, kind: str, device: str | None, **more: Any) -> None:
        actor = {"kind": "person", "id": self.person.id}
        event = {"kind": kind, "device": device, "actor": actor, "door": self.person.door}
        await self.journal.seal(event | more)


@asynccontextmanager
async def open_home_as_person() -> AsyncIterator[PersonsHome]:
    """Opens store and journal. What is written is recorded as done by the person at the terminal."""
    config, clock = Config.from_env(os.environ), SystemClock()
    config.make_home()
    store = Store(config.db)
    journal = Journal.open(config.home, clock, witness=witness_of(config))
    try:
        yield PersonsHome(config, clock, store, journal, Caller.at_terminal())
    finally:
        await journal.close()
        store.close()


@click.command("take-over")
@phone_option
@async_command
async def take_over(device: str | None) -> None:
    """Take a phone for yourself: agents get DEVICE_BUSY until you hand it back."""
    async with open_home_as_person() as home:
        serial, person = await home.choose_serial(device), home.person
        leases = Leases(home.store, home.clock)
        held = await leases.holder(serial)
        if held is not None and held.holder.id == person.holder_id:
            click.echo(f"{clean(serial)} is yours already.")
            return
        await leases.take_over(serial, Holder(person.holder_id, "person", label=person.id, door=person.door))
        await home.write_journal("taken_over", canonical(serial))
        before = f" {clean(str(held.holder))} waits." if held is not None else ""
        click.echo(f"{clean(serial)} is yours until `handrail hand-back`.{before}")


@click.command("hand-back")
@phone_option
@async_command
async def hand_back(device: str | None) -> None:
    """Hand back a phone that was taken over or stopped; without --device every phone that was stopped."""
    async with open_home_as_person() as home:
        leases = Leases(home.store, home.clock)
        was_stopped = device is None and await leases.hand_back_all()
        if was_stopped:
            await home.write_journal("handed_back", None)
            click.echo("Every phone that was stopped is handed back.")
        try:
            serial = await home.choose_serial(device)
        except DeviceError:
            if was_stopped:
                return
            raise
        held = await leases.holder(serial)
        if held is not None and (held.holder.kind == "person" or held.is_stopped):
            now = await leases.hand_back(serial)
            await home.write_journal("handed_back", canonical(serial))
            click.echo(f"{clean(serial)} is handed back" + (f" to {clean(str(now.holder))}." if now else "."))
        elif not was_stopped:
            click.echo(f"No one has taken {clean(serial)} over.")


@click.command()
@phone_option
@async_command
async def stop(device: str | None) -> None:
    """Stop what runs on a phone, and hold it until `hand-back`; without --device every phone."""
    async with open_home_as_person() as home:
        serial = canonical(await home.choose_serial(device)) if device else None
        stops, leases = StopRequests(home.store), Leases(home.store, home.clock)
        number = await stops.ask(serial, home.person, home.clock.now_ms())
        await home.write_journal("stop", serial)
        held = dict.fromkeys(str(worker.holder) for worker in await leases.workers(serial))
        ended = await stops.wait_for_stopped_count(number, home.clock)
        where = f" on {clean(serial)}" if serial else ""
        done = f"Stopped {ended} action{'s' if ended > 1 else ''}" if ended else "Nothing was being done"
        names = clean(", ".join(held)) or ("It" if serial else "All phones")
        verb = "is" if len(held) == 1 or (serial and not held) else "are"
        click.echo(f"{done}{where}. {names} {verb} held until `handrail hand-back`.")

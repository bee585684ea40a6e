"""`handrail demo`: what Handrail does, shown on a simulated phone.

Everything goes through public doors; only the answers of the person are played. Its desk is `handrail serve`
in a process of its own, on the same home.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tempfile
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import click

from handrail.cli.options import FOLDER
from handrail.cli.output import own_command, own_program
from handrail.clock import SystemClock
from handrail.config import Config
from handrail.engine.envelope_text import envelope_text
from handrail.engine.session import Session
from handrail.errors import AssertionFailed, Cancelled, HandrailError
from handrail.flow import report
from handrail.flow.document import loads
from handrail.flow.evidence import ReportEvidence
from handrail.flow.progress import PlainFlowProgress
from handrail.flow.run import FlowRunner
from handrail.mcp_server.server import ENVELOPE
from handrail.protocol.envelope import Envelope
from handrail.protocol.read import action_from
from handrail.runtime import Runtime
from handrail.safety.approval_store import AskedApproval
from handrail.safety.caller import Caller
from handrail.simulator import simulated_phones

HOME = "The folder for the journal and the report.  [default: a new temporary folder]"


@click.command()
@click.option("--home", type=FOLDER, metavar="DIR", help=HOME)
def demo(home: Path | None) -> None:
    """Show what Handrail does, on a simulated phone: no device, no key, no network.

    An agent works through MCP, a flow runs, a payment is refused and then approved, a failure
    explains itself, and the journal proves what happened.
    """
    asyncio.run(play_demo(home or Path(tempfile.mkdtemp(prefix="handrail-demo-")), DemoPrinter()))


MOST_LINES = 9  # of one answer; a demo that scrolls away shows nothing
WIDEST = 110


class DemoPrinter:
    """Writes to standard output as it goes."""

    def __init__(self) -> None:
        self._acts = 0

    def start_act(self, title: str, line: str = "") -> None:
        self._acts += 1
        click.echo("\n" + click.style(f"{self._acts}  {title}", fg="cyan", bold=True))
        if line:
            self.print_line(line)

    def print_line(self, line: str) -> None:
        click.echo(f"   {line}")

    def print_result(self, what: str, answer: str, *, good: bool = True, note: str = "") -> None:
        sign = click.style("✓", fg="green") if good else click.style("✗", fg="red")
        beside = click.style(f"  {note}", dim=True) if note else ""
        click.echo(f" {sign} {click.style(what, bold=True)}{beside}")
        lines = [line[:WIDEST] for line in answer.splitlines() if line.strip()]
        for line in lines[:MOST_LINES]:
            colour = "red" if line.partition(":")[0].isupper() else None
            colour = "yellow" if line.startswith("Elements ") else colour
            click.echo(f"     {click.style(line, fg=colour) if colour else line}")
        if len(lines) > MOST_LINES:
            click.echo(click.style(f"     … {len(lines) - MOST_LINES} more", dim=True))


START_S = 20
STOP_S = 5
_LINK = re.compile(r"https?://\S+/login#code=\S+")


@asynccontextmanager
async def run_until_login_link(*words: str, env: Mapping[str, str]) -> AsyncIterator[str]:
    """Runs a command until it prints a login link for a browser, and ends it with the block."""
    command = ["-m", "handrail.cli.main", *words]
    process = await asyncio.create_subprocess_exec(sys.executable, *command, env=dict(env), stdout=PIPE)
    assert process.stdout is not None  # noqa: S101  (it is a pipe)
    output, link = "", None
    try:
        async with asyncio.timeout(START_S):
            while link is None and (line := (await process.stdout.readline()).decode()):
                output, link = output + line, _LINK.search(line)
        if link is None:
            raise HandrailError(f"The desk did not start: {output[-500:]}", hint="Try `handrail serve`.")
        yield link[0]
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        try:
            await asyncio.wait_for(process.communicate(), STOP_S)
        except TimeoutError:
            process.kill()
            await process.communicate()


def window_action(
    name: str, title: str, content: Mapping[str, Any], x: int, y: int, w: int, h: int
) -> dict[str, Any]:
    return {
        "type": "window.create",
        "windowId": name,
        "title": title,
        "bounds": {"x": x, "y": y, "w": w, "h": h},
        "content": dict(content),
        "reason": "I show what I do",
    }


async def keep_desk_open(env: Mapping[str, str], home: Path, page: DemoPrinter) -> None:
    """Keeps the desk open for a person at a terminal; elsewhere it does not wait."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        again = own_command("serve", "--sim", "1", home=str(home))
        page.print_line(f"The desk closed with the demo; its link leads nowhere now. Again: {again}")
        return
    async with run_until_login_link("desk", "link", env=env) as link:  # the first one may have been used
        click.echo("\n   " + click.style(f"The desk stays open until you press Enter: {link}", bold=True))
    await asyncio.to_thread(
        click.prompt, "   Enter closes the desk", default="", show_default=False, prompt_suffix=" "
    )


PHONE = window_action("phone", "Phone", {"renderer": "iframe", "data": "app:phone"}, 24, 16, 400, 640)
PLAN = {"renderer": "markdown", "data": "# A new contact\n\nI add **Ada Lovelace** to the contacts."}
RESULT = {"renderer": "table", "data": {"headers": ["field", "value"], "rows": [["name", "Ada Lovelace"]]}}
SHOW_PLAN = [PHONE, window_action("plan", "The plan", PLAN, 448, 16, 420, 260)]
SHOW_RESULT = [window_action("result", "The result", RESULT, 448, 300, 420, 240)]
AGENT: tuple[tuple[str, dict[str, Any]], ...] = (
    ("desk", {"actions": SHOW_PLAN, "reason": "I show my plan"}),
    ("start_app", {"package": "com.google.android.contacts", "reason": "I open the contacts to add one"}),
    ("tap", {"target": "Create new contact", "reason": "I start a new one", "expect": "First name"}),
    ("type_text", {"target": "First name", "text": "Ada", "reason": "I type the first name"}),
    ("type_text", {"target": "Last name", "text": "Lovelace", "reason": "I type the last name"}),
    ("tap", {"target": "Save", "reason": "I save the contact", "expect": "Edit contact"}),
    ("expect", {"visible": "Ada Lovelace"}),
    ("desk", {"actions": SHOW_RESULT, "reason": "I show the result"}),
)
"""What the agent calls, as a model would."""
FLOW = """
name: Shop up to the payment
app: com.handrail.shop
steps:
  - tap: {description: Add Blue mug to cart}
  - tap: {description: Add Travel lamp to cart}
  - tap: {id: cart}
    expect: Checkout
  - tap: Increase quantity of Blue mug
  - expect_text: {target: {id: total}, contains: "60.50"}
  - tap: Checkout
  - type_text: {target: {id: name}, text: Ada Marrow}
  - type_text: {target: {id: street}, text: 4 Ferry Lane}
  - type_text: {target: {id: city}, text: NW1 4AB Northwick}
  - type_text: {target: {id: email}, text: ada@example.org}
  - expect_visible: {text_contains: Pay €}
  - expect_absent: {target: {text_contains: Added to cart}, timeout_ms: 5000}
"""


async def play_demo(home: Path, page: DemoPrinter) -> None:
    env = {**os.environ, "HANDRAIL_HOME": str(home), "HANDRAIL_HELPER": "none"}
    async with simulated_phones(clock=SystemClock()) as [served]:
        click.echo(click.style("Handrail", bold=True) + ": hands for agents, rails for people")
        page.print_line(f"A simulated phone speaks ADB on {served.address}; journal and report go to {home}")
        caller = Caller("demo", "agent", "python")
        serve = ("serve", "--port", "0", "--no-mcp", "--device", served.address)
        async with run_until_login_link(*serve, env=env) as link:
            page.print_line(f"Watch it on the desk: {link}")
            await play_agent_over_mcp(served.address, env, page)
            async with Runtime.open(Config.from_env(env), env=env, caller=caller) as runtime:
                session = await runtime.session(served.address)
                page.start_act("A flow fills a cart", "twelve steps in YAML, each with a picture; no model")
                progress, evidence = PlainFlowProgress(page.print_line), ReportEvidence()
                runner = FlowRunner({"phone": session}, runtime.clock, observer=progress, evidence=evidence)
                record = await runner.run(loads(FLOW))
                if record.outcome != "passed":
                    failure = Cancelled if record.outcome == "stopped" else AssertionFailed
                    raise failure(f"the flow {record.outcome}: {record.error}")
                shown = report.write([record], home / "report")
                await play_payment(runtime, session, page)
                await play_failure(session, page)
                play_journal_proof(runtime, page)
            page.start_act("Your turn")
            program = own_program()
            for line, what in (
                (shown.as_uri(), "the flow's report"),
                (own_command("journal", "list", home=str(home)), "what was done"),
                (f"{program} serve --sim 1", "a phone to play with, and the desk"),
                (f"{program} ui", "what an agent sees of it, in a second terminal"),
                (f"claude mcp add handrail -- {program} mcp", "give it to an agent"),
            ):
                page.print_line(f"{line}   # {what}")
            await keep_desk_open(env, home, page)


async def play_agent_over_mcp(address: str, env: Mapping[str, str], page: DemoPrinter) -> None:
    """Starts an MCP server over stdio, as an agent's host does."""
    from mcp import Client, StdioServerParameters  # noqa: PLC0415  (most of a second)

    page.start_act(
        "An agent makes a contact", "through `handrail mcp` over stdio, with the official MCP client"
    )
    command = ["-m", "handrail.cli.main", "mcp", "--tools", "core,desk", "--device", address]
    server = StdioServerParameters(command=sys.executable, args=command, env=dict(env))
    async with Client(server) as client:
        tools = (await client.list_tools()).tools
        page.print_line(f"{len(tools)} tools: {', '.join(tool.name for tool in tools[:8])}, …")
        for name, arguments in AGENT:
            result = await client.call_tool(name, arguments)
            text = "\n".join(getattr(block, "text", "") for block in result.content)
            envelope = (result.meta or {}).get(ENVELOPE, {})
            state = str(envelope.get("lifecycle_state", "")).replace("_", " ")
            took = (envelope.get("timings_ms") or {}).get("total")
            note = f"{state}, {took:.0f} ms" if state and took is not None else state
            page.print_result(_call_text(name, arguments), text, good=not result.is_error, note=note)
            if result.is_error:
                raise AssertionFailed(f"{name} failed: {text}")
        page.print_line("The first and the last call opened windows on the desk; the journal has them, too.")


def _call_text(name: str, arguments: Mapping[str, Any]) -> str:
    if "actions" in arguments:
        parts = [f"{desk_action['type']} {desk_action['windowId']}" for desk_action in arguments["actions"]]
        return f"{name}({', '.join(parts)})"
    words = [str(value) for key, value in arguments.items() if key not in ("reason", "expect")]
    return f"{name}({', '.join(words)})"


async def play_payment(runtime: Runtime, session: Session, page: DemoPrinter) -> None:
    """The same tap twice: the person rejects it, then approves it."""
    page.start_act(
        "Paying needs a person", "the policy asks, whatever the model thinks; the demo plays the person"
    )
    pay = {"type": "tap", "target": "Pay €60.50", "reason": "I pay for the order"}
    pay["expect"] = "Confirm payment"

    async def answer(approval: AskedApproval, _token: str | None) -> None:
        page.print_line(f"? {approval.request.instruction}  [{approval.id}]")
        page.print_line(f"  handrail {'approve' if approved else 'reject'} {approval.id}")
        await runtime.approvals.answer(approval.id, approved, "you")

    runtime.approvals.notify = answer
    for approved in (False, True):
        envelope = await session.run(pay)
        _print_envelope(page, session, pay, envelope)
        if envelope.success != approved:
            raise AssertionFailed(f"paying ended with success={envelope.success}")
    runtime.approvals.notify = None


async def play_failure(session: Session, page: DemoPrinter) -> None:
    page.start_act("A failure explains itself", "nothing is guessed, nothing is tapped")
    slip = {"type": "tap", "target": "Confirm paymnet", "reason": "I confirm the payment"}
    envelope = await session.run(slip)
    _print_envelope(page, session, slip, envelope)
    if envelope.failure_code != "ELEMENT_NOT_FOUND":
        raise AssertionFailed(f"a missing element ended as {envelope.failure_code}")


def _print_envelope(page: DemoPrinter, session: Session, action: dict[str, Any], envelope: Envelope) -> None:
    text = envelope_text(action_from(action), envelope, session.screens.registry.text)
    proof = f"{envelope.lifecycle_state}, {envelope.delivery}".replace("_", " ")
    page.print_result(
        _call_text(action["type"], {"target": action["target"]}), text, good=envelope.success, note=proof
    )


def play_journal_proof(runtime: Runtime, page: DemoPrinter) -> None:
    page.start_act("The journal proves it")
    verdict = runtime.journal.verify()
    if not verdict.ok:
        raise AssertionFailed(f"the journal does not verify: {verdict}")
    rows = runtime.journal.actions(500)
    failed = sum(row.failure_code is not None for row in rows)
    counts = f"{len(rows)} actions, {failed} failed or were refused"
    page.print_line(f"{counts}; every entry has the hash of the one before")
    page.print_line(f"verified: {verdict.head}")

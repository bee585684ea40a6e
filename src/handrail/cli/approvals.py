"""`handrail approvals`, `approve`, `reject`: what waits for a person, and the person's answer."""

from __future__ import annotations

import asyncio
import getpass
import os
import re
import sys
from collections.abc import Awaitable, Callable
from typing import TypeVar, cast

import click

from handrail.cli.output import phone_words, print_json, print_table
from handrail.clock import SystemClock
from handrail.config import Config
from handrail.engine.approval import Approvals, AskedApproval
from handrail.engine.approval.grants import Allowance, grant_id
from handrail.engine.policy import Span
from handrail.store import Store
from handrail.tree.quote import clean, cut

T = TypeVar("T")


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
@click.option("--all", "everything", is_flag=True, help="Closed requests too, newest first.")
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="With --all.")
@click.option("--before", type=int, metavar="SEQ", help="With --all: only those before this `seq`.")
def approvals(as_json: bool, everything: bool, limit: int, before: int | None) -> None:
    """List what waits for an answer."""
    found = with_approvals(lambda desk: desk.history(limit, before) if everything else desk.pending())
    now = SystemClock().now_ms()
    if as_json:
        print_json([one.to_dict() for one in found])
    elif not found:
        click.echo("Nothing was asked yet." if everything else "Nothing waits for an answer.")
    else:
        header = ("id", "state", "age", "expires", "device", "what", "why")
        print_table(f"{len(found)} requests", header, [_row(one, now) for one in found])


@click.command()
@click.argument("id_", metavar="ID")
@click.option("--remember", type=click.Choice(["session", "always"]), help="Let the answer count again.")
@click.option(
    "--data", metavar="TEXT", help="What was asked for, such as a code; - reads it from standard input."
)
@click.option("--for", "for_", metavar="TIME", help="Allow the like of it too, for 30m or 2h; at most 24h.")
@click.option("--times", type=int, metavar="N", help="With or without --for: so often, 5 when left out.")
@click.option("--by", metavar="NAME", help="Who answers; the login name when left out.")
def approve(
    id_: str, remember: str | None, data: str | None, for_: str | None, times: int | None, by: str | None
) -> None:
    """Say yes to the request ID, or to the only one whose id begins so."""
    given = sys.stdin.read().rstrip("\r\n") if data == "-" else data
    span = cast("Span | None", remember)
    allow = Allowance.read(None if for_ is None else _milliseconds(for_), times)
    done = with_approvals(
        lambda desk: desk.answer(id_, True, by or _login(), data=given, remember=span, allow=allow)
    )
    click.echo(f"Approved: {done.id} {_what(done)}")
    if allow is not None:
        [given_now] = [
            one for one in with_approvals(lambda desk: desk.grants.active()) if one.id == grant_id(done.id)
        ]
        click.echo(
            f"{given_now.id}: {clean(str(given_now))}\n`handrail policy revoke {given_now.id}` ends it."
        )


@click.command()
@click.argument("id_", metavar="ID")
@click.option("--reason", default="", help="Why not; the agent reads it.")
@click.option("--remember", type=click.Choice(["session", "always"]), help="Let the answer count again.")
@click.option("--by", metavar="NAME", help="Who answers; the login name when left out.")
def reject(id_: str, reason: str, remember: str | None, by: str | None) -> None:
    """Say no to the request ID, or to the only one whose id begins so."""
    span = cast("Span | None", remember)
    done = with_approvals(lambda desk: desk.answer(id_, False, by or _login(), note=reason, remember=span))
    click.echo(f"Rejected: {done.id} {_what(done)}")


def with_approvals(work: Callable[[Approvals], Awaitable[T]]) -> T:
    """One piece of work on the home's approvals."""

    async def run() -> T:
        config = Config.from_env(os.environ)
        config.make_home()
        store = Store(config.db)
        try:
            return await work(Approvals(store, SystemClock()))
        finally:
            store.close()

    return asyncio.run(run())


def _milliseconds(text: str) -> int:
    found = re.fullmatch(r"(\d{1,5})\s*(s|m|h)", text.strip().lower())
    if not found:
        raise click.BadParameter(f"{text!r} is no time such as 30m or 2h", param_hint="--for")
    return int(found[1]) * {"s": 1_000, "m": 60_000, "h": 3_600_000}[found[2]]


def _login() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # no entry for this user
        return f"uid {os.getuid()}"


def _row(one: AskedApproval, now: int) -> tuple[str, ...]:
    left = duration(one.expires_ms - now) if one.is_open else ""
    why = one.request.why or one.request.reason
    device = clean(phone_words(one.request.device))
    return (one.id, one.state, duration(now - one.created_ms), left, device, _what(one), cut(clean(why), 120))


def _what(one: AskedApproval) -> str:
    """Screen and model texts are a stranger's: nothing in them may steer a terminal."""
    label = f' "{cut(clean(one.request.label), 60)}"' if one.request.label else ""
    if one.request.kind == "human_auth":
        return f"{one.request.capability}: {cut(clean(one.request.instruction), 120)}"
    return f"{one.action_type}{label}"


def duration(ms: int) -> str:
    """`45s`, `3m`, `2h`, `5d`."""
    seconds = max(0, ms) // 1000
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"

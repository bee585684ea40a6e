"""`handrail journal`: what was done, by whom and why. What proves it is in `journal_proofs`."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from handrail.cli.films import film_journal, need_films, video_option
from handrail.cli.journal_text import print_actions, story
from handrail.cli.output import print_json, print_table
from handrail.clock import SystemClock, iso_time
from handrail.config import Config
from handrail.engine.journal import Journal
from handrail.engine.journal.journal import witness_of
from handrail.engine.journal.query import ActionRow
from handrail.errors import InvalidAction
from handrail.store import store_error

as_json = click.option("--json", "as_json", is_flag=True, help="Machine output.")


@contextmanager
def opened_journal() -> Iterator[Journal]:
    """The journal of this home."""
    with written_home() as config:
        journal = Journal.open(config.home, SystemClock(), witness=witness_of(config))
        try:
            yield journal
        finally:
            asyncio.run(journal.close())


@contextmanager
def written_home() -> Iterator[Config]:
    """Looking at a journal that was never written is an error, not an empty proof."""
    config = Config.from_env(os.environ)
    if not config.db.exists():
        raise InvalidAction(
            f"no journal in {config.home}",
            hint="Set HANDRAIL_HOME to the folder of the journal; the first action makes one.",
            path="HANDRAIL_HOME",
        )
    try:
        yield config
    except sqlite3.DatabaseError as error:
        raise store_error(error, f"{config.db} can't be read", config.db) from None


class _Since(click.ParamType[int]):
    """A moment as ISO 8601 or epoch milliseconds."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int) or str(value).isdecimal():
            return int(value)
        with suppress(ValueError):
            moment = datetime.fromisoformat(value)
            return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
        return self.fail(f"{value} is neither 2026-01-31T12:00 nor milliseconds since 1970", param, ctx)


@click.group()
def journal() -> None:
    """What was done, by whom and why, and the proof that nothing was changed."""


@journal.command("list")
@click.option(
    "--limit", type=click.IntRange(1, 10_000), default=50, show_default=True, help="Most rows shown."
)
@click.option("--before", type=click.IntRange(1), metavar="SEQ", help="Only older ones: the next page.")
@click.option("--device", help="Only actions on this device.")
@click.option("--type", "kind", metavar="TYPE", help="Only this type, for example tap.")
@click.option("--since", type=_Since(), help="Only from this moment on: 2026-01-31T12:00 (UTC).")
@click.option("--failed/--succeeded", default=None, help="Only these.")
@as_json
def list_actions(
    limit: int,
    before: int | None,
    device: str | None,
    kind: str | None,
    since: int | None,
    failed: bool | None,
    as_json: bool,
) -> None:
    """List actions, newest first."""
    with opened_journal() as opened:
        rows = opened.actions(limit, before, device, kind, since, failed)
    if as_json:
        print_json([row.to_dict() for row in rows])
        return
    if not rows:
        click.echo("Nothing was done that fits.", err=True)
    elif sys.stdout.isatty():
        print_actions(rows)
    else:
        print_table("Journal", (), [_cells(row) for row in rows])
    if len(rows) == limit:
        click.echo(f"more: handrail journal list --before {rows[-1].seq}", err=True)


def _cells(row: ActionRow) -> tuple[str, ...]:
    who = " ".join(str(part) for part in ((row.actor or {}).get("kind"), (row.actor or {}).get("id")) if part)
    state = f"{row.state} {row.failure_code}" if row.failure_code else row.state
    time = iso_time(row.at_ms)
    return (str(row.seq), time, row.action_id, state, row.device or "", who, row.reason or "", row.about)


@journal.command()
@click.argument("action")
@as_json
def show(action: str, as_json: bool) -> None:
    """Show everything about ACTION: an action's id, or the number of one of its entries."""
    with opened_journal() as opened:
        shown = opened.show(action)
    if as_json:
        print_json(asdict(shown))
        return
    for line in story(shown):
        click.echo(line)


@journal.command()
@click.option("--format", "form", type=click.Choice(["jsonl"]), default="jsonl", show_default=True)
@click.option("--output", "-o", type=click.Path(allow_dash=True, dir_okay=False), default="-", help="A file.")
@click.option("--device", help="Only events on this device.")
@click.option("--since", type=_Since(), help="Only from this moment on: 2026-01-31T12:00 (UTC).")
@click.option("--action", metavar="ID", help="Only the events of this action.")
@click.option("--flow", "as_flow", is_flag=True, help="A flow that does it all again, instead of events.")
@video_option("A film of it as MP4, instead of events; needs --output.")
@click.option("--session", metavar="ID", help="With --flow or --video: only what was done in this session.")
@click.option("--name", default="recorded", show_default=True, help="With --flow: what it is called.")
def export(*, output: str, action: str | None, as_flow: bool, video: bool, name: str, **others: Any) -> None:
    """Write events as lines of JSON, oldest first, with --flow as YAML, with --video as a film."""
    wanted = {key: others[key] for key in ("device", "since", "session")}
    if video:
        _film(output, as_flow=as_flow, action=action, **wanted)
        return
    with opened_journal() as opened, click.open_file(output, "w", encoding="utf-8", atomic=True) as file:
        if as_flow:
            from handrail.flow.recording import flow_text  # noqa: PLC0415  (the vocabulary)

            file.write(flow_text(opened, name=name, **wanted))
            return
        for line in opened.export(device=others["device"], since=others["since"], action_id=action):
            file.write(line + "\n")


def _film(output: str, *, as_flow: bool, action: str | None, **wanted: Any) -> None:
    if output == "-" or as_flow or action is not None:
        raise InvalidAction(
            "--video writes a file of its own: give --output FILE.mp4, without --flow and --action",
            path="video",
            hint="For example: handrail journal export --video -o monday.mp4 --since 2026-01-31",
        )
    need_films()
    with opened_journal() as opened:
        film_journal(opened, Path(output), **wanted)

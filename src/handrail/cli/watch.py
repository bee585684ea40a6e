"""`handrail watch`: a phone as it is followed from a terminal: its screen, what changes, and what is done.

Looks and never touches: no hold on the phone, nothing in the journal. It gives no refs either: those belong
to the sessions that act.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from handrail.cli.options import DeviceOptions, Opened, device_from, device_options

if TYPE_CHECKING:
    from handrail.config import Config
    from handrail.engine.look.looks import Looks

News = dict[str, Any]
_BULLET = "·"
_UNDER_WAY = ("accepted", "resolved", "dispatched")


@click.command()
@click.option(
    "--every-ms",
    type=click.IntRange(50, 60_000),
    default=500,
    show_default=True,
    help="Pause between two looks.",
)
@click.option("--json", "as_json", is_flag=True, help="One line of JSON for each piece of news.")
@device_options
def watch(*, target: DeviceOptions, every_ms: int, as_json: bool) -> None:
    """Show a phone's screen, then what changes on it and what is done to it, until Ctrl-C."""
    with suppress(KeyboardInterrupt):
        asyncio.run(_watch(target, every_ms, as_json))


async def _watch(target: DeviceOptions, every_ms: int, as_json: bool) -> None:
    from handrail.config import Config  # noqa: PLC0415

    config = Config.from_env(os.environ)
    async with device_from(target, config) as opened:
        async for news in _news(opened, config, every_ms):
            click.echo(json.dumps(news, ensure_ascii=False) if as_json else _words(news))


async def _news(opened: Opened, config: Config, every_ms: int) -> AsyncIterator[News]:
    """The screen first; then, in every round, what was done before what came of it."""
    from handrail.android.routing import connect  # noqa: PLC0415  (what `--help` does not need)
    from handrail.android.surface import AndroidSurface  # noqa: PLC0415
    from handrail.clock import SystemClock  # noqa: PLC0415
    from handrail.engine.journal import Journal  # noqa: PLC0415
    from handrail.engine.look.looks import Looks  # noqa: PLC0415
    from handrail.engine.secrets import Secrets, system_keyring  # noqa: PLC0415
    from handrail.engine.taint.store import Taints  # noqa: PLC0415
    from handrail.engine.taint.surface import GuardedSurface  # noqa: PLC0415
    from handrail.store import Store  # noqa: PLC0415
    from handrail.tree.diff import diff_text  # noqa: PLC0415
    from handrail.tree.refs import Registry  # noqa: PLC0415

    clock = SystemClock()
    driver = await connect(opened.device, clock=clock, helper="none", env=os.environ)
    config.make_home()
    journal, store = Journal.open(config.home, clock), Store(config.db)
    secrets = Secrets(os.environ, config.secrets, system_keyring)
    surface = AndroidSurface(opened.device, driver, clock)
    boot_id = (await surface.facts()).boot_id
    guarded = GuardedSurface.of(surface, Taints(store), secrets, boot_id)
    looks, told, began = Looks(guarded, clock, Registry()), set[str](), clock.now_ms()
    try:
        old = (await looks.look_and_take()).screen
        yield {"kind": "screen", "device": driver.serial, "text": secrets.redact(_text(looks))}
        while True:
            await clock.sleep_ms(every_ms)
            new = (await looks.look_and_take()).screen
            for row in reversed(journal.actions(since=began, device=driver.serial)):
                if row.action_id not in told and row.state not in _UNDER_WAY:
                    told.add(row.action_id)
                    yield {"kind": "action", **row.to_dict()}
            if changes := looks.changes(old, new):
                text = _without_refs(diff_text(changes, screen_text=_text(looks)))
                yield {"kind": "changes", "device": driver.serial, "text": secrets.redact(text)}
            old = new
    finally:
        await journal.close()
        store.close()
        await driver.close()


def _text(looks: Looks) -> str:
    return _without_refs(looks.registry.text)


def _without_refs(text: str) -> str:
    """A ref of this process means nothing to any other."""
    return re.sub(r"(?m)^(\s*)@[a-z]\d+(?= )", rf"\1{_BULLET}", text)


def _words(news: News) -> str:
    if news["kind"] != "action":
        return f"{news['text']}\n"
    who = news.get("actor") or {}
    end = news.get("failure_code") or news["state"]
    shown = click.style(end, fg="red" if "failure_code" in news else "green")
    by = f"{who.get('kind', '')} {who.get('id', '')}".strip()
    reason = f"  {news['reason']}" if news.get("reason") else ""
    return f"{click.style(news.get('type') or '?', bold=True)} by {by}: {shown}{reason}"

"""The desk of the demo: `handrail serve` as anybody starts it, in a process of its own, on the same home."""

from __future__ import annotations

import asyncio
import re
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import click

from handrail.errors import HandrailError

START_S = 20
STOP_S = 5
_LINK = re.compile(r"https?://\S+/login\?code=\S+")


@dataclass(frozen=True, slots=True)
class DemoDesk:
    """Where it is."""

    link: str
    """Logs one browser in."""

    @property
    def address(self) -> str:
        return self.link.partition("/login")[0]


@asynccontextmanager
async def desk_on(phone: str, env: Mapping[str, str]) -> AsyncIterator[DemoDesk]:
    """A server that has this phone open, while the block runs."""
    words = ["-m", "handrail.cli.main", "serve", "--port", "0", "--no-mcp", "--device", phone]
    process = await asyncio.create_subprocess_exec(sys.executable, *words, env=dict(env), stdout=PIPE)
    try:
        yield DemoDesk(await asyncio.wait_for(_link(process), START_S))
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        try:
            await asyncio.wait_for(process.communicate(), STOP_S)
        except TimeoutError:
            process.kill()
            await process.communicate()


async def _link(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None  # noqa: S101  (it is a pipe)
    said = []
    while line := (await process.stdout.readline()).decode():
        said.append(line)
        if found := _LINK.search(line):
            return found[0]
    raise HandrailError(f"The desk did not start: {''.join(said)[-500:]}", hint="Try `handrail serve`.")


def window(
    name: str, title: str, content: Mapping[str, Any], x: int, y: int, w: int, h: int
) -> dict[str, Any]:
    """A window of the demo, to be shown with its reason."""
    return {
        "type": "window.create",
        "windowId": name,
        "title": title,
        "bounds": {"x": x, "y": y, "w": w, "h": h},
        "content": dict(content),
        "reason": "I show what I do",
    }


def app(name: str, title: str, x: int, y: int, w: int, h: int) -> dict[str, Any]:
    """One of the desk's own apps, opened by the demo."""
    return window(name, title, {"renderer": "iframe", "data": f"app:{name}"}, x, y, w, h)


async def kept_open(desk: DemoDesk) -> None:
    """At a terminal a person may want to look around; elsewhere nobody is waited for."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return
    click.echo("\n   " + click.style(f"The desk is still open: {desk.link}", bold=True))
    await asyncio.to_thread(
        click.prompt, "   Enter closes it", default="", show_default=False, prompt_suffix=" "
    )

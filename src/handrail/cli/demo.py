"""`handrail demo`: the first minute. The command, and the page that it writes to the terminal.

Stays light for `--help`: the acts themselves are in `demo_acts`, which imports everything there is.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import click


@click.command()
@click.option(
    "--home",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Where the journal and the report go.  [default: a new temporary folder]",
)
def demo(home: Path | None) -> None:
    """Show what Handrail does, on a simulated phone: no device, no key, no network.

    An agent works through MCP, a flow runs, a payment is refused and then approved, a failure
    explains itself, and the journal proves what happened.
    """
    from handrail.cli.demo_acts import play  # noqa: PLC0415  (everything there is)

    folder = home or Path(tempfile.mkdtemp(prefix="handrail-demo-"))
    asyncio.run(play(folder, Page()))


MOST_LINES = 9
"""Of one answer; a demo that scrolls away shows nothing."""
WIDEST = 110


class Page:
    """Writes to standard output as it goes."""

    def __init__(self) -> None:
        self._acts = 0

    def act(self, title: str, line: str = "") -> None:
        """A new part of the story."""
        self._acts += 1
        click.echo("\n" + click.style(f"{self._acts}  {title}", fg="cyan", bold=True))
        if line:
            self.say(line)

    def say(self, line: str) -> None:
        click.echo(f"   {line}")

    def done(self, what: str, answer: str, *, good: bool = True, note: str = "") -> None:
        """One action: what was asked for, and the answer as an agent reads it."""
        sign = click.style("✓", fg="green") if good else click.style("✗", fg="red")
        beside = click.style(f"  {note}", dim=True) if note else ""
        click.echo(f" {sign} {click.style(what, bold=True)}{beside}")
        lines = [line for line in answer.splitlines() if line.strip()]
        for line in lines[:MOST_LINES]:
            click.echo(f"     {_painted(line[:WIDEST])}")
        if len(lines) > MOST_LINES:
            click.echo(click.style(f"     … {len(lines) - MOST_LINES} more lines", dim=True))


def _painted(line: str) -> str:
    """Headings of a diff, and codes of failures, stand out."""
    if line.startswith("Elements "):
        return click.style(line, fg="yellow")
    return click.style(line, fg="red") if line.partition(":")[0].isupper() else line

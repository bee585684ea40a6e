"""`handrail demo`: the first minute. One simulated phone, a few short acts through the doors people use."""

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
    from handrail.cli.demo_page import Page  # noqa: PLC0415

    folder = home or Path(tempfile.mkdtemp(prefix="handrail-demo-"))
    asyncio.run(play(folder, Page()))

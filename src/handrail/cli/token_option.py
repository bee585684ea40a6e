"""`--token TOKEN|@FILE`: what a server's clients have to bring, kept out of the process list by a file."""

from __future__ import annotations

from pathlib import Path

import click


def read_token(_: click.Context, __: click.Parameter, given: str | None) -> str | None:
    """For an option's callback: the token itself, or what the file holds."""
    if given is None or not given.startswith("@"):
        return given
    try:
        return Path(given[1:]).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise click.BadParameter(f"{given[1:]}: {error}") from None

"""How commands speak: tables and colour on a terminal only, plain lines elsewhere, JSON when asked.

`HANDRAIL_LOG` says how much of what goes on inside is written to standard error.
"""

from __future__ import annotations

import json
import logging
import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from handrail.config import Config, LogLevel
from handrail.device_names import DeviceNames
from handrail.errors import HandrailError, InvalidAction
from handrail.invocation import current

if TYPE_CHECKING:
    from handrail.film.scene import FilmScene
    from handrail.journal.signed_note import VerifierKey


def print_json(value: Any) -> None:
    """Prints one document, indented on a terminal."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2 if sys.stdout.isatty() else None))


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table on a terminal, tab-separated lines in a pipe."""
    if not sys.stdout.isatty():
        for row in rows:
            click.echo("\t".join(row))
        return
    from rich.console import Console  # noqa: PLC0415  (50 ms that a pipe should not pay)
    from rich.table import Table  # noqa: PLC0415

    table = Table(title=title, title_justify="left", header_style="bold", box=None, pad_edge=False)
    for name in header:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*row)
    Console().print(table, markup=False)


def read_input(name: str) -> bytes:
    """A file's bytes, or standard input for `-`."""
    try:
        return current.get().read_bytes(name)
    except OSError as error:
        raise InvalidAction(
            f"{name}: {error.strerror or error}", hint="Give a file that exists, or - for stdin."
        ) from None


def read_keys(texts: Sequence[str], what: str = "key") -> list[VerifierKey]:
    """Each text is a key, or a file with one key a line."""
    from handrail.journal.signed_note import BadNote, VerifierKey  # noqa: PLC0415  (cryptography)

    verifier_keys: list[VerifierKey] = []
    for key_text in texts:
        text = key_text if key_text.count("+") >= 2 else read_input(key_text).decode("utf-8", "replace")
        try:
            verifier_keys += [VerifierKey.parse(line) for line in text.splitlines() if line.strip()]
        except BadNote as error:
            hint = "Give the line that `handrail journal key` prints, or a file with it."
            raise InvalidAction(
                f"{key_text[:80]} is not a public key: {error}", hint=hint, path=what
            ) from None
    return verifier_keys


def own_program() -> str:
    """`handrail`, or its absolute path if it is not on the PATH."""
    return "handrail" if shutil.which("handrail") else program_path()


def program_path() -> str:
    """Returns Handrail's absolute path, for what is pasted where another PATH may hold."""
    beside = Path(sys.executable).with_name("handrail")
    return str(beside) if beside.exists() else shutil.which("handrail") or "handrail"


def mcp_add_command(more: str = "") -> str:
    return f"claude mcp add handrail -- {program_path()} mcp{more}"


def own_command(*words: str, home: str | None = None) -> str:
    """A command line to paste into another shell; sets HANDRAIL_HOME if it is not the default."""
    where = home or os.environ.get("HANDRAIL_HOME")
    return (f"HANDRAIL_HOME={shlex.quote(where)} " if where else "") + shlex.join([own_program(), *words])


def phone_name_and_serial(serial: str) -> str:
    """The name that people gave a phone, with the serial that commands take."""
    return DeviceNames(Config.from_env(os.environ).home).shown(serial)


LOG_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def log_to_stderr(level: str) -> None:
    """Sets our own loggers only. `Config` reports an invalid level."""
    if level.strip().lower() in get_args(LogLevel):
        logging.basicConfig(format=LOG_FORMAT)
        logging.getLogger("handrail").setLevel(level.strip().upper())


def show_progress() -> None:
    """Shows slow steps on standard error while they happen, where that is a terminal."""
    logger = logging.getLogger("handrail.progress")
    if logger.handlers or not sys.stderr.isatty():
        return
    shown = logging.StreamHandler()
    shown.setFormatter(logging.Formatter("… %(message)s"))
    logger.addHandler(shown)
    logger.setLevel(logging.INFO)
    logger.propagate = False  # with HANDRAIL_LOG=info it would be told twice


def save_film(scenes: Sequence[FilmScene], path: Path, title: str, *, to_stderr: bool) -> bool:
    """Writes the film and prints its path or the failure. Returns whether it was written."""
    from handrail.film.write import write_film  # noqa: PLC0415

    try:
        write_film(scenes, path, title)
    except (HandrailError, OSError) as error:
        click.echo(f"video: {path} was not written: {error}", err=True)
        return False
    click.echo(f"video: {path}", err=to_stderr)
    return True

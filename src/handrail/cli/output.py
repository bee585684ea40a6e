"""How commands speak: tables and colour on a terminal only, plain lines elsewhere, JSON when asked.

`HANDRAIL_LOG` says how much of what goes on inside is written to standard error.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, get_args

import click

from handrail.errors import InvalidAction

on_answer: list[Callable[[int], None]] = []
"""Told the exit code once an answer is given and nothing that is left to do can change it."""


def print_json(value: Any) -> None:
    """Machine output: one document, readable by people too when somebody looks."""
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
        return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise InvalidAction(
            f"{name}: {error.strerror or error}", hint="Give a file that exists, or - for stdin."
        ) from None


def own_program() -> str:
    """As it is called from another shell: by its whole path where the PATH does not lead to it."""
    import shutil  # noqa: PLC0415  (most commands offer no line)

    beside = Path(sys.executable).with_name("handrail")
    return "handrail" if shutil.which("handrail") or not beside.exists() else str(beside)


def own_command(*words: str, home: str | None = None) -> str:
    """A line to paste into another shell. The home is said where it is not the usual one."""
    import os  # noqa: PLC0415
    import shlex  # noqa: PLC0415

    where = home or os.environ.get("HANDRAIL_HOME")
    return (f"HANDRAIL_HOME={shlex.quote(where)} " if where else "") + shlex.join([own_program(), *words])


def phone_words(serial: str) -> str:
    """As people know a phone: the name that they gave it, and the serial that commands take."""
    import os  # noqa: PLC0415

    from handrail.config import Config  # noqa: PLC0415
    from handrail.device_names import DeviceNames  # noqa: PLC0415

    return DeviceNames(Config.from_env(os.environ).home).shown(serial)


LOG_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def log_to_stderr(level: str) -> None:
    """Our own loggers only. A word that is no level is left to `Config`, which says so."""
    import logging  # noqa: PLC0415  (what most commands do not need)

    from handrail.config import LogLevel  # noqa: PLC0415

    if level.strip().lower() in get_args(LogLevel):
        logging.basicConfig(format=LOG_FORMAT)
        logging.getLogger("handrail").setLevel(level.strip().upper())


def show_progress() -> None:
    """What takes time is told on standard error while it happens, where that is a terminal."""
    import logging  # noqa: PLC0415  (what most commands do not need)

    told = logging.getLogger("handrail.progress")
    if told.handlers or not sys.stderr.isatty():
        return
    shown = logging.StreamHandler()
    shown.setFormatter(logging.Formatter("… %(message)s"))
    told.addHandler(shown)
    told.setLevel(logging.INFO)
    told.propagate = False  # with HANDRAIL_LOG=info it would be told twice

"""How commands speak: tables and colour on a terminal only, plain lines elsewhere, JSON when asked.

`HANDRAIL_LOG` says how much of what goes on inside is written to standard error.
"""

from __future__ import annotations

import json
import logging
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import click

from handrail.errors import HandrailError, InvalidAction
from handrail.invocation import current

if TYPE_CHECKING:
    from handrail.agent.run_data import RunResult
    from handrail.film.scene import FilmScene
    from handrail.flow.run_record import FlowRecord
    from handrail.journal import Journal


def print_json(value: Any) -> None:
    """One document, indented on a terminal."""
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


def own_program() -> str:
    """As another shell can call it: by its absolute path where it is not on the PATH."""
    beside = Path(sys.executable).with_name("handrail")
    return "handrail" if shutil.which("handrail") or not beside.exists() else str(beside)


def mcp_line(more: str = "") -> str:
    return f"claude mcp add handrail -- {own_program()} mcp{more}"


def own_command(*words: str, home: str | None = None) -> str:
    """A line to paste into another shell, with the home where it is not the default."""
    where = home or os.environ.get("HANDRAIL_HOME")
    return (f"HANDRAIL_HOME={shlex.quote(where)} " if where else "") + shlex.join([own_program(), *words])


def phone_words(serial: str) -> str:
    """The name that people gave a phone, with the serial that commands take."""
    from handrail.config import Config  # noqa: PLC0415
    from handrail.device_names import DeviceNames  # noqa: PLC0415

    return DeviceNames(Config.from_env(os.environ).home).shown(serial)


LOG_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def log_to_stderr(level: str) -> None:
    """Sets our own loggers only. `Config` reports an invalid level."""
    from handrail.config import LogLevel  # noqa: PLC0415

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


F = TypeVar("F", bound=Callable[..., Any])
NAME = "video.mp4"
_UNFIT = re.compile(r"[^\w.-]+")
_LONGEST = 60
"""Characters of a flow's name in the name of a file."""


def video_option(words: str) -> Callable[[F], F]:
    """A switch: where the file goes is clear from the rest of the command."""
    return click.option("--video", is_flag=True, help=words)


def need_films() -> None:
    """Raises `Unsupported` where no encoder is installed."""
    from handrail.film.write import need_encoder  # noqa: PLC0415

    need_encoder()


def film_flows(records: Sequence[FlowRecord], folder: Path, *, to_stderr: bool) -> None:
    """One for each run that did something; the report links it."""
    from handrail.flow.filming import flow_scenes  # noqa: PLC0415

    taken: set[str] = set()
    for record in records:
        scenes = flow_scenes(record)
        if not scenes:
            continue
        stem = _UNFIT.sub("-", record.name).strip("-.")[:_LONGEST] or "flow"
        names = (f"{stem}.mp4", *(f"{stem}-{number}.mp4" for number in range(2, 10_000)))
        name = next(candidate for candidate in names if candidate not in taken)
        taken.add(name)
        if _film(scenes, folder / name, record.name, to_stderr=to_stderr):
            record.video = name


def film_agent(result: RunResult, journal: Journal, *, to_stderr: bool) -> None:
    from handrail.agent.filming import agent_scenes  # noqa: PLC0415

    if result.folder is None or not result.steps:
        return
    scenes = agent_scenes(result.steps, result.folder, journal)
    _film(scenes, result.folder / NAME, result.task, to_stderr=to_stderr)


def film_journal(journal: Journal, path: Path, **wanted: Any) -> None:
    """Raises where the journal has no picture of the wanted actions."""
    from handrail.film.write import write_film  # noqa: PLC0415
    from handrail.flow.filming import journal_scenes  # noqa: PLC0415

    try:
        write_film(journal_scenes(journal, **wanted), path, "Handrail")
    except OSError as error:
        raise InvalidAction(f"{path} can't be written: {error.strerror or error}", path="output") from None
    click.echo(f"video: {path}", err=True)


def _film(scenes: Sequence[FilmScene], path: Path, title: str, *, to_stderr: bool) -> bool:
    from handrail.film.write import write_film  # noqa: PLC0415

    try:
        write_film(scenes, path, title)
    except (HandrailError, OSError) as error:
        click.echo(f"video: {path} was not written: {error}", err=True)
        return False
    click.echo(f"video: {path}", err=to_stderr)
    return True

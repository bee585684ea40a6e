"""`--video` of `run`, `agent` and `journal export`: who has no encoder hears it before anything is begun.

A film that can't be written is said, and costs nothing else: the run, its report and its exit code stand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from handrail.errors import HandrailError, InvalidAction

if TYPE_CHECKING:
    from handrail.agent.run_data import RunResult
    from handrail.engine.journal import Journal
    from handrail.film.scene import FilmScene
    from handrail.flow.run_record import FlowRecord

F = TypeVar("F", bound=Callable[..., Any])
NAME = "video.mp4"
_UNFIT = re.compile(r"[^\w.-]+")
_LONGEST = 60
"""Characters of a flow's name in the name of a file."""


def video_option(words: str) -> Callable[[F], F]:
    """A switch: where the file goes is clear from the rest of the command."""
    return click.option("--video", is_flag=True, help=words)


def need_films() -> None:
    """Raises `Unsupported` where nothing could be written at the end."""
    from handrail.film.write import need_encoder  # noqa: PLC0415

    need_encoder()


def film_flows(records: Sequence[FlowRecord], folder: Path, *, to_stderr: bool) -> None:
    """One for each run that did something; its report knows it by its name."""
    from handrail.flow.filming import flow_scenes  # noqa: PLC0415

    taken: set[str] = set()
    for record in records:
        scenes = flow_scenes(record)
        if not scenes:
            continue
        stem = _UNFIT.sub("-", record.name).strip("-.")[:_LONGEST] or "flow"
        name = next(one for one in _names(stem) if one not in taken)
        taken.add(name)
        if _film(scenes, folder / name, record.name, to_stderr=to_stderr):
            record.video = name


def _names(stem: str) -> Sequence[str]:
    return [f"{stem}.mp4", *(f"{stem}-{number}.mp4" for number in range(2, 10_000))]


def film_agent(result: RunResult, journal: Journal, *, to_stderr: bool) -> None:
    """Into the folder of the run."""
    from handrail.agent.filming import agent_scenes  # noqa: PLC0415

    if result.folder is None or not result.steps:
        return
    scenes = agent_scenes(result.steps, result.folder, journal)
    _film(scenes, result.folder / NAME, result.task, to_stderr=to_stderr)


def film_journal(journal: Journal, path: Path, **wanted: Any) -> None:
    """What the journal has of the wanted actions. Raises where it has no picture of them."""
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

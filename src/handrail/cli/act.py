"""`handrail act`: what a model wrote, done on a phone, and the answer that its maker's programs expect."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, TypeVar

import click

from handrail.cli.options import DeviceOptions, device_options
from handrail.cli.output import print_json, read_input
from handrail.config import Config
from handrail.errors import ERRORS, HandrailError, InvalidAction

if TYPE_CHECKING:
    from handrail.dialects.carry_out import CarriedOut
    from handrail.dialects.parts import Conversation
    from handrail.protocol.actions import AnyAction

F = TypeVar("F", bound=Callable[..., Any])


def frame_options(command: F) -> F:
    """What a dialect's numbers mean, where its own rule is not enough."""
    for option in (
        click.option("--picture", metavar="WxH", help="Size of the picture that the model was shown."),
        click.option("--screen", metavar="WxH", help="Size of the screen in pixels."),
        click.option("--frame", metavar="UNIT", help="device, picture, resized, thousand, unit or percent."),
    ):
        command = option(command)
    return command


def talk_of(
    dialect: str, frame: str | None = None, screen: str | None = None, picture: str | None = None
) -> Conversation:
    """With what the options say. Raises `InvalidAction`."""
    from handrail.dialects.frame import CoordinateFrame, size_from, unit_from  # noqa: PLC0415
    from handrail.dialects.parts import Conversation  # noqa: PLC0415
    from handrail.dialects.registry import dialect as find  # noqa: PLC0415

    unit = unit_from(frame, find(dialect).unit)
    return Conversation(CoordinateFrame(unit, size_from(screen, "screen"), size_from(picture, "picture")))


@click.command()
@click.argument("file", default="-")
@click.option("--dialect", required=True, metavar="NAME", help="How it is written: ui_tars, mobile_use, ….")
@frame_options
@click.option("--json", "as_json", is_flag=True, help="Also print the envelopes, as one JSON document.")
@device_options
def act(file: str, dialect: str, target: DeviceOptions, as_json: bool, **sizes: str | None) -> None:
    """Do what a model wrote in FILE (default: standard input), and print its maker's own answer.

    A maker's JSON or a model's text goes in: one action, or a batch where its form allows one. Exit code 0
    when all of it succeeded.
    """
    import asyncio  # noqa: PLC0415  (`check` has the options of this one, and no use for it)

    sys.exit(asyncio.run(_act(_given(read_input(file)), dialect, target, as_json, sizes)))


def _given(data: bytes) -> Any:
    """JSON where it is some, else the text."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidAction(f"it is not UTF-8: byte {error.start}", hint="Send UTF-8.", path="") from None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


async def _act(
    given: Any, dialect: str, target: DeviceOptions, as_json: bool, sizes: Mapping[str, str | None]
) -> int:
    from handrail.dialects.carry_out import carry_out  # noqa: PLC0415
    from handrail.dialects.registry import dialect as find  # noqa: PLC0415
    from handrail.dialects.table import WordsRead, WordsTold  # noqa: PLC0415

    own, talk = find(dialect), talk_of(dialect, **sizes)
    async with AsyncExitStack() as ends:
        try:
            done = await carry_out(own, given, talk, _Doing(target, ends))
        except HandrailError as error:  # the maker's program wants an answer to this, too
            told = WordsTold(False, error.message, error.code, error.hint)
            print_json(own.answer(WordsRead(()), told))
            return error.exits.exit_code
    print_json(done.to_dict() if as_json else done.answer)
    return _exit_code(done)


def _exit_code(done: CarriedOut) -> int:
    return ERRORS[done.told.code]("").exits.exit_code if done.told.code else 0


class _Doing:
    """Single actions: by the Handrail that works on the phone already, else by a session of our own."""

    def __init__(self, target: DeviceOptions, ends: AsyncExitStack) -> None:
        self._target = target
        self._ends = ends
        self._own: Any = None

    async def __call__(self, action: AnyAction) -> tuple[Mapping[str, Any], str]:
        from handrail.cli.perform import by_running_server, own_session  # noqa: PLC0415

        config = Config.from_env(os.environ)
        if self._own is None:
            told = await by_running_server(action.to_dict(), self._target, config, os.environ)
            if told is not None:
                return told.envelope, told.text
            _, self._own = await self._ends.enter_async_context(own_session(self._target, config))
        done: tuple[Mapping[str, Any], str] = await self._own(action)
        return done

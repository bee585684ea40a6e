"""`handrail desk`: act on the desk of a running server, look at it, follow it, get a link to it."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from handrail.cli.output import print_json
from handrail.errors import FAMILIES, InvalidAction, Unsupported

if TYPE_CHECKING:
    from handrail.http.desk_file import DeskFile
    from handrail.local.desk import LocalDesk

NO_SERVER = "Start `handrail serve` to get one."


class _Group(click.Group):
    """Whatever is no command of its own is an action, wherever its options stand."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        is_acts = bool(args) and args[0].partition("=")[0] in ("--as", "--json")
        return super().parse_args(ctx, ["act", *args] if is_acts else args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] in self.commands or args[0].startswith("-"):
            return super().resolve_command(ctx, args)
        return "act", act, args


@click.group(cls=_Group)
def desk() -> None:
    """Act on the desk of a running server: an action as JSON, or its type and fields.

    \b
    handrail desk window.create windowId=hi title=Hello bounds.x=40 bounds.y=40 bounds.w=400 bounds.h=200 \\
        content.renderer=markdown content.data='# Hello'
    handrail desk '{"type": "window.close", "windowId": "hi"}'
    handrail desk state
    """


@desk.command(hidden=True)
@click.argument("words", nargs=-1, required=True, metavar="ACTION-JSON | TYPE [FIELD=VALUE]...")
@click.option("--as", "agent", metavar="NAME", help="Act as this agent, not as the person at the terminal.")
@click.option("--json", "as_json", is_flag=True, help="Print the envelope.")
def act(words: tuple[str, ...], agent: str | None, as_json: bool) -> None:
    """Do one action."""
    from handrail.engine.answer import answer_text  # noqa: PLC0415  (what `--help` does not need)
    from handrail.errors import ERRORS, HandrailError  # noqa: PLC0415

    action = _action(words)
    envelope = asyncio.run(_local(agent).run(action))
    if as_json:
        print_json(envelope.to_dict())
    else:
        click.echo(answer_text(action, envelope), err=not envelope.success)
    if not envelope.success:
        kind = ERRORS.get(envelope.failure_code or "", HandrailError)
        sys.exit(FAMILIES[kind.family].exit_code)


@desk.command()
def state() -> None:
    """Print the whole desk as JSON."""
    print_json(asyncio.run(_local(None).state()))


@desk.command()
def link() -> None:
    """Print a link that logs one browser in, once."""
    click.echo(_post(_notice(), "/api/login-links")["url"])


@desk.command()
@click.option("--since", type=int, metavar="SEQ", help="Only what came after this number.")
def events(since: int | None) -> None:
    """Follow the desk: one line of JSON for each frame, until Ctrl-C."""
    with suppress(KeyboardInterrupt):
        asyncio.run(_follow(_notice(), since))


def _action(words: tuple[str, ...]) -> Any:
    from handrail.protocol.read import action_from, read_action  # noqa: PLC0415

    if words[0].lstrip().startswith("{"):
        if len(words) > 1:
            raise InvalidAction(f"{words[1]!r} is too much", path="", hint="Quote the JSON as one word.")
        return read_action(words[0])
    given = [_pair(word) for word in words[1:]]
    fields: dict[str, Any] = {"type": words[0]}
    for path, text in given:
        _put(fields, path, _value(text))
    try:
        return action_from(fields)
    except InvalidAction as error:
        plain = [(path, text) for path, text in given if ".".join(path) == error.details.get("path")]
        if not plain or not isinstance(_value(plain[0][1]), int | float):
            raise
    _put(fields, *plain[0])  # a number where a text is wanted: `title=2026`
    return action_from(fields)


def _pair(word: str) -> tuple[list[str], str]:
    name, equals, text = word.partition("=")
    if not equals or not name:
        raise InvalidAction(f"{word!r:.80} is no FIELD=VALUE", path="", hint="For example title=Report.")
    return name.split("."), text


def _value(text: str) -> Any:
    """JSON where it is JSON, else the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _put(fields: dict[str, Any], path: list[str], value: Any) -> None:
    """`bounds.x` goes into the object `bounds`."""
    for name in path[:-1]:
        fields = fields.setdefault(name, {})
        if not isinstance(fields, dict):
            raise InvalidAction(f"{'.'.join(path)}: {name} is no object", path=".".join(path))
    fields[path[-1]] = value


def _local(agent: str | None) -> LocalDesk:
    from handrail.config import Config  # noqa: PLC0415
    from handrail.engine.events import Caller  # noqa: PLC0415
    from handrail.local.desk import LocalDesk  # noqa: PLC0415

    caller = Caller(agent, "agent", "cli") if agent else Caller.at_terminal()
    return LocalDesk(Config.from_env(os.environ).home, caller)


def _notice() -> DeskFile:
    from handrail.config import Config  # noqa: PLC0415
    from handrail.http.desk_file import DeskFile  # noqa: PLC0415

    found = DeskFile.read(Config.from_env(os.environ).desk)
    if found is None:
        raise Unsupported("There is no desk", hint=NO_SERVER)
    return found


def _post(notice: DeskFile, path: str) -> Any:
    from urllib.error import HTTPError, URLError  # noqa: PLC0415
    from urllib.request import Request, urlopen  # noqa: PLC0415

    headers = {"Authorization": f"Bearer {notice.key}", "Content-Type": "application/json"}
    request = Request(notice.address + path, b"{}", headers)  # noqa: S310  (our own address)
    try:
        with urlopen(request, timeout=10, context=notice.tls) as answer:  # noqa: S310
            return json.load(answer)
    except HTTPError as error:
        with error:
            told = json.load(error)
        raise Unsupported(told["message"], hint=told["hint"]) from None
    except (URLError, OSError) as error:
        raise _unreachable(notice, error) from None


async def _follow(notice: DeskFile, since: int | None) -> None:
    from websockets.asyncio.client import connect  # noqa: PLC0415
    from websockets.exceptions import WebSocketException  # noqa: PLC0415

    address = notice.address.replace("http", "ws", 1) + "/ws" + ("" if since is None else f"?since={since}")
    headers = {"Authorization": f"Bearer {notice.key}"}
    try:
        options: dict[str, Any] = {"max_size": None, "proxy": None}
        if notice.tls is not None:
            options["ssl"] = notice.tls
        async with connect(address, additional_headers=headers, **options) as socket:
            async for frame in socket:
                click.echo(frame)
    except (OSError, WebSocketException) as error:
        raise _unreachable(notice, error) from None


def _unreachable(notice: DeskFile, error: Exception) -> Unsupported:
    return Unsupported(f"The desk at {notice.address} can't be reached: {error}", hint=NO_SERVER)

"""`handrail desk`: acts on the desk of a running server, and follows it."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import click

from handrail.cli.local_client import LocalDesk
from handrail.cli.options import json_option
from handrail.cli.output import print_json
from handrail.config import Config
from handrail.engine.envelope_text import envelope_text
from handrail.errors import ERRORS, FAMILIES, HandrailError, InvalidAction, Unsupported
from handrail.invocation import run
from handrail.protocol.read import action_from, read_action
from handrail.safety.caller import Caller
from handrail.web_server.desk_file import DeskFile

NO_SERVER = "Start `handrail serve` to get one."


class _DeskGroup(click.Group):
    """Whatever is not a command of its own is an action, wherever its options stand."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        is_action = bool(args) and args[0].partition("=")[0] in ("--as", "--json")
        return super().parse_args(ctx, ["act", *args] if is_action else args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] in self.commands or args[0].startswith("-"):
            return super().resolve_command(ctx, args)
        return "act", act, args


@click.group(cls=_DeskGroup)
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
@json_option("Print the envelope.")
def act(words: tuple[str, ...], agent: str | None, as_json: bool) -> None:
    """Do one action."""
    action = _parse_action(words)
    caller = Caller(agent, "agent", "cli") if agent else Caller.at_terminal()
    envelope = run(LocalDesk(Config.from_env(os.environ).home, caller).run(action))
    if as_json:
        print_json(envelope.to_dict())
    else:
        click.echo(envelope_text(action, envelope), err=not envelope.success)
    if not envelope.success:
        kind = ERRORS.get(envelope.failure_code or "", HandrailError)
        sys.exit(FAMILIES[kind.family].exit_code)


@desk.command()
def state() -> None:
    """Print the whole desk as JSON."""
    print_json(run(LocalDesk(Config.from_env(os.environ).home, Caller.at_terminal()).state()))


@desk.command()
def link() -> None:
    """Print a link that logs one browser in, once."""
    notice = _read_desk_file()
    headers = {"Authorization": f"Bearer {notice.key}", "Content-Type": "application/json"}
    request = Request(f"{notice.address}/api/login-links", b"{}", headers)  # noqa: S310  (our own address)
    try:
        with urlopen(request, timeout=10, context=notice.tls) as reply:  # noqa: S310
            click.echo(json.load(reply)["url"])
    except HTTPError as error:
        with error:
            failure = json.load(error)
        raise Unsupported(failure["message"], hint=failure["hint"]) from None
    except (URLError, OSError) as error:
        raise _unreachable(notice, error) from None


@desk.command()
@click.option("--since", type=int, metavar="SEQ", help="Only what came after this number.")
def events(since: int | None) -> None:
    """Follow the desk: one line of JSON for each frame, until Ctrl-C."""
    with suppress(KeyboardInterrupt):
        run(_print_frames(_read_desk_file(), since))


async def _print_frames(notice: DeskFile, since: int | None) -> None:
    from websockets.asyncio.client import connect  # noqa: PLC0415
    from websockets.exceptions import WebSocketException  # noqa: PLC0415

    address = notice.address.replace("http", "ws", 1) + "/ws" + ("" if since is None else f"?since={since}")
    headers = {"Authorization": f"Bearer {notice.key}"}
    tls: dict[str, Any] = {"ssl": notice.tls} if notice.tls is not None else {}
    try:
        async with connect(address, additional_headers=headers, max_size=None, proxy=None, **tls) as socket:
            async for frame in socket:
                click.echo(frame)
    except (OSError, WebSocketException) as error:
        raise _unreachable(notice, error) from None


def _read_desk_file() -> DeskFile:
    notice = DeskFile.read(Config.from_env(os.environ).desk)
    if notice is None:
        raise Unsupported("There is no desk", hint=NO_SERVER)
    return notice


def _unreachable(notice: DeskFile, error: Exception) -> Unsupported:
    return Unsupported(f"The desk at {notice.address} can't be reached: {error}", hint=NO_SERVER)


def _parse_action(words: tuple[str, ...]) -> Any:
    if words[0].lstrip().startswith("{"):
        if len(words) > 1:
            raise InvalidAction(f"{words[1]!r} is too much", path="", hint="Quote the JSON as one word.")
        return read_action(words[0])
    fields: dict[str, Any] = {"type": words[0]}
    pairs = []
    for word in words[1:]:
        name, equals, text = word.partition("=")
        if not equals or not name:
            raise InvalidAction(f"{word!r:.80} is not FIELD=VALUE", path="", hint="For example title=Report.")
        pairs.append((name.split("."), text))
        _set_nested_field(fields, name.split("."), _json_or_text(text))
    try:
        return action_from(fields)
    except InvalidAction as error:
        texts = [(path, text) for path, text in pairs if ".".join(path) == error.details.get("path")]
        if not texts or not isinstance(_json_or_text(texts[0][1]), int | float):
            raise
    _set_nested_field(fields, *texts[0])  # a number where a text is needed: `title=2026`
    return action_from(fields)


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _set_nested_field(fields: dict[str, Any], path: list[str], value: Any) -> None:
    """`bounds.x` goes into the object `bounds`."""
    for name in path[:-1]:
        fields = fields.setdefault(name, {})
        if not isinstance(fields, dict):
            raise InvalidAction(f"{'.'.join(path)}: {name} is not an object", path=".".join(path))
    fields[path[-1]] = value

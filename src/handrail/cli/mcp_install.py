"""`handrail mcp install`: Handrail's entry in an MCP client's configuration. Shows it; `--write` does it.

Starts no other program. Nothing else in a file changes: the new text is read again and compared with what was
meant, the old bytes are kept beside it, and it takes the file's place at once or not at all.
"""

from __future__ import annotations

import difflib
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from handrail.cli.config_text import drop_json, put_json, read_json, texts_of
from handrail.cli.config_toml import drop_toml, put_toml, read_toml
from handrail.cli.mcp_clients import CLIENTS, CODEX_KEY, NAME, McpClient, Scope, client_named
from handrail.cli.options import DeviceOptions, device_options
from handrail.cli.output import print_json
from handrail.cli.replace_file import read_config, replace_config
from handrail.errors import InvalidAction, Unsupported

HIDDEN = "…"
"""In the place of other servers' texts: there are keys and passwords among them."""


@dataclass(frozen=True, slots=True)
class Change:
    """One file, as it is and as it would be."""

    client: McpClient
    file: Path
    old: bytes | None
    new: str

    @property
    def is_done(self) -> bool:
        return (self.old or b"").decode() == self.new

    def diff(self) -> str:
        """Only the lines that change, without other servers' texts."""
        old, new = (_masked(self.client, one) for one in ((self.old or b"").decode(), self.new))
        lines = difflib.unified_diff(
            old.splitlines(), new.splitlines(), str(self.file), str(self.file), "", "", 0
        )
        return "\n".join(line.rstrip("\n") for line in lines)


@click.command()
@click.argument("client", required=False)
@click.option("--write", is_flag=True, help="Change the file. Without it, it is only shown.")
@click.option("--remove", is_flag=True, help="Take the entry out again.")
@click.option(
    "--scope",
    type=click.Choice(["user", "project"]),
    default="user",
    show_default=True,
    help="For you everywhere, or for the folder you are in.",
)
@click.option("--tools", "profile", metavar="PROFILE", help="Passed on to handrail mcp.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@device_options
def install(
    target: DeviceOptions, client: str | None, profile: str | None, as_json: bool, scope: Scope, **given: bool
) -> None:
    """Put Handrail into an MCP client's configuration. Without CLIENT: list those that are known.

    For example: handrail mcp install cursor --write
    """
    if client is None:
        _list(as_json)
        return
    known = client_named(client)
    words = ["mcp", *_words(target, profile)]
    change = planned(known, scope, words, os.environ, Path.cwd(), remove=given["remove"])
    backup = None
    if given["write"] and not change.is_done:
        backup = replace_config(change.file, change.old, change.new.encode())
    _tell(change, backup, as_json=as_json, **given)


def _words(target: DeviceOptions, profile: str | None) -> list[str]:
    if profile is not None:
        from handrail.mcp.greeting import Greeter  # noqa: PLC0415  (a slip of the pen is told here, too)

        Greeter(profile)
    words = ["--sim"] if target.sim else ["--device", target.device] if target.device else []
    return [*words, *(["--tools", profile] if profile else [])]


def planned(
    client: McpClient, scope: Scope, words: list[str], env: Mapping[str, str], folder: Path, *, remove: bool
) -> Change:
    """What would be written; `InvalidAction` for a file that is not understood."""
    file = client.file(scope, env, folder)
    old = read_config(file)
    text = _decoded(file, old)
    path = [client.key, NAME]
    if remove:
        new = (drop_toml if client.key == CODEX_KEY else drop_json)(text, path) if old else text
        return Change(client, file, old, _checked(client, file, text, new, None))
    is_shared = scope == "project"
    entry = client.entry(command_for(client, is_shared=is_shared), words)
    return Change(client, file, old, _checked(client, file, text, _put(client, text, path, entry), entry))


def _put(client: McpClient, text: str, path: list[str], entry: dict[str, Any]) -> str:
    if client.key == CODEX_KEY:
        return put_toml(text, path, entry)
    known = read_json(text).value.get(path[0])
    if not isinstance(known, dict) or not isinstance(known.get(path[1]), dict):
        return put_json(text, path, entry)
    for name, value in entry.items():  # what else somebody gave it stays: an environment, say
        if known[path[1]].get(name) != value:
            text = put_json(text, [*path, name], value)
    return text


def _checked(client: McpClient, file: Path, old: str, new: str, entry: dict[str, Any] | None) -> str:
    """The new text means what the old one meant, but for the entry."""
    meant = _meaning(client, old)
    servers = meant.setdefault(client.key, {}) if entry else meant.get(client.key, {})
    if not isinstance(servers, dict):
        raise InvalidAction(f"{file}: {client.key} should be an object", path="file", hint="Mend it first.")
    if entry:
        known = servers.get(NAME)
        servers[NAME] = {**(known if isinstance(known, dict) else {}), **entry}
    else:
        servers.pop(NAME, None)
    found = _meaning(client, new)
    if not entry and client.key in meant:
        found.setdefault(client.key, {})
    if found != meant:
        raise InvalidAction(
            f"{file}: is written in a way that can't be changed safely",
            hint=f"Put this under {client.key} by hand: {entry or f'nothing named {NAME}'}",
            path="file",
        )
    return new


def _meaning(client: McpClient, text: str) -> dict[str, Any]:
    found: dict[str, Any] = read_toml(text) if client.key == CODEX_KEY else read_json(text).value
    return found


def _decoded(file: Path, data: bytes | None) -> str:
    try:
        return (data or b"").decode()
    except UnicodeDecodeError:
        raise InvalidAction(
            f"{file}: is not UTF-8", hint="Save it as UTF-8, or add the entry by hand.", path="file"
        ) from None


def command_for(client: McpClient, *, is_shared: bool) -> str:
    """By name where others use the file, too, or where a shell's PATH is seen; else by its whole path."""
    beside = Path(sys.executable).with_name("handrail")
    found = shutil.which("handrail")
    if is_shared or (found and not client.is_desktop):
        return "handrail"
    if beside.is_file():
        return str(beside)
    if found is None:
        raise Unsupported("handrail is not installed as a program", hint="Install it, then run this again.")
    return os.path.abspath(found)


def _masked(client: McpClient, text: str) -> str:
    if client.key == CODEX_KEY or not text.strip():
        return text
    made = text
    for one in sorted(texts_of(read_json(text), [client.key, NAME]), key=lambda part: -part.start):
        made = f'{made[: one.start]}"{HIDDEN}"{made[one.end :]}'
    return made


def _list(as_json: bool) -> None:
    rows = [_found(name, one) for name, one in CLIENTS.items()]
    if as_json:
        print_json({"clients": rows})
        return
    for row in rows:
        is_there = "is set up" if row["installed"] else "found here" if row["found"] else ""
        click.echo(
            f"{row['client']:<15} {is_there:<10} {row['file'] or 'no file is documented for this system'}"
        )
    click.echo("\nhandrail mcp install CLIENT shows what would be written; --write writes it.")


def _found(name: str, client: McpClient) -> dict[str, Any]:
    try:
        file = client.file("user", os.environ, Path.cwd())
    except Unsupported:
        return {"client": name, "title": client.title, "file": None, "found": False, "installed": False}
    is_found = file.exists() or (file.parent.is_dir() and file.parent != Path(os.environ.get("HOME", "~")))
    return {
        "client": name,
        "title": client.title,
        "file": str(file),
        "found": is_found,
        "installed": _is_installed(client, file),
    }


def _is_installed(client: McpClient, file: Path) -> bool:
    try:
        servers = _meaning(client, _decoded(file, read_config(file))).get(client.key, {})
    except InvalidAction:
        return False
    return isinstance(servers, dict) and NAME in servers


def _tell(change: Change, backup: Path | None, *, as_json: bool, write: bool, remove: bool) -> None:
    is_written = write and not change.is_done
    if as_json:
        told = {"file": str(change.file), "changed": not change.is_done, "written": is_written}
        print_json({**told, "diff": change.diff(), "backup": str(backup) if backup else None})
        return
    if change.is_done:
        click.echo(
            f"{change.file}: nothing to do, the entry is {'not there' if remove else 'there already'}."
        )
        return
    click.echo(change.diff())
    if not is_written:
        click.echo("\nNothing was written. Run it again with --write.")
        return
    kept = f" The old one is {backup}." if backup else ""
    click.echo(f"\nWritten.{kept} {change.client.afterwards}")

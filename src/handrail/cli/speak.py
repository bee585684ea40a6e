"""How an action's answer leaves the command line: text or JSON, output as it is, a picture as a file.

Success goes to standard output, failure to standard error; nothing of a device steers a terminal.
Works on data alone: an answer that a running server gave needs none of the vocabulary here.
"""

from __future__ import annotations

import base64
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import click

from handrail.cli.output import print_json
from handrail.errors import InvalidAction

_PICTURE = "screenshotBase64"


def check_out(out: Path | None) -> None:
    """Said before anything is done: a picture that has no place to go."""
    if out is not None and not out.parent.is_dir():
        raise InvalidAction(f"out: {out.parent} is no folder", path="out", hint="Make it first.")


def speak(envelope: dict[str, Any], text: str, *, as_json: bool, out: Path | None) -> None:
    """The answer, in the form that was asked for; `text` is what a person reads of it."""
    details = envelope.get("details") or {}
    if out is not None and envelope["success"]:
        details = _saved(details, out)
        if str(out) == "-":
            return  # the picture is all that may be there
    if as_json:
        print_json({**envelope, "details": details} if details else envelope)
    elif not envelope["success"]:
        code, colon, rest = text.partition(":")
        click.echo(click.style(code, fg="red", bold=True) + colon + rest, err=True)
    elif envelope["action_type"] in ("shell", "run_script"):
        _pass_on(details)
    elif envelope["action_type"] == "screenshot":
        _tell_picture(details if out is not None else _saved(details, _new_file()))
    else:
        _emphasise(text)


def _emphasise(text: str) -> None:
    first, newline, rest = text.partition("\n")
    click.echo((click.style(first, bold=True) if rest else first) + newline + rest)


def _pass_on(details: dict[str, Any]) -> None:
    """What a command wrote, where it wrote it: `handrail shell pm list packages | sort`."""
    for stream, name in ((sys.stdout, "stdout"), (sys.stderr, "stderr")):
        if text := details.get(name):
            click.echo(_tame(text) if stream.isatty() else text, nl=not text.endswith("\n"), file=stream)


def _tame(text: str) -> str:
    """A device's output may not steer the terminal."""
    return "".join(char for char in text if char in "\n\t" or char.isprintable())


def _saved(details: dict[str, Any], out: Path) -> dict[str, Any]:
    """The picture as a file; its place stands for it in the details."""
    data = base64.b64decode(details[_PICTURE])
    try:
        if str(out) == "-":
            sys.stdout.buffer.write(data)
        else:
            out.write_bytes(data)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InvalidAction(
            f"out: {out} can't be written: {error.strerror or error}", path="out", hint="Choose another file."
        ) from None
    return {name: value for name, value in details.items() if name != _PICTURE} | {"path": str(out)}


def _new_file() -> Path:
    handle, name = tempfile.mkstemp(prefix="handrail-", suffix=".png")
    os.close(handle)
    return Path(name)


def _tell_picture(details: dict[str, Any]) -> None:
    click.echo(f"Took a screenshot: {details['path']} ({details['width']}x{details['height']})")

"""A server's table in a TOML file, put in or taken out as text, as `config_text` does with JSON. Pure."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Sequence
from typing import Any

from handrail.errors import InvalidAction

_HEADER = re.compile(r"^[ \t]*\[{1,2}([^\[\]\r\n]+)\]{1,2}[ \t]*(?:#[^\r\n]*)?\r?$", re.MULTILINE)


def read_toml(text: str) -> dict[str, Any]:
    """`InvalidAction` for what is none."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InvalidAction(
            f"not valid TOML: {error}", hint="Mend the file, or add the entry by hand.", path="file"
        ) from None


def put_toml(text: str, path: Sequence[str], entry: dict[str, Any]) -> str:
    """Its keys are set in the table that is there; a table that is not there goes to the end."""
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = {name: f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in entry.items()}
    span = _table(text, ".".join(path))
    if span is None:
        before = "" if not text else text if text.endswith("\n") else text + newline
        gap = newline if before.strip() else ""
        body = newline.join([f"[{'.'.join(path)}]", *lines.values()])
        return f"{before}{gap}{body}{newline}"
    start, end = span
    table = text[start:end]
    for name, line in lines.items():
        found = re.search(rf"^[ \t]*{name}[ \t]*=[^\r\n]*", table, re.MULTILINE)
        before, after = (table[: found.start()], table[found.end() :]) if found else ("", newline + table)
        table = before + line + after
    return text[:start] + table + text[end:]


def drop_toml(text: str, path: Sequence[str]) -> str:
    """Without the table and those inside it."""
    name = ".".join(path)
    while span := _whole(text, name):
        text = text[: span[0]] + text[span[1] :]
    return text


def _headers(text: str) -> list[tuple[int, int, str]]:
    return [(one.start(), one.end() + 1, _plain(one[1])) for one in _HEADER.finditer(text)]


def _plain(name: str) -> str:
    return ".".join(part.strip().strip("\"'") for part in name.split("."))


def _table(text: str, name: str) -> tuple[int, int] | None:
    """Its own lines, without the header."""
    found = _headers(text)
    for number, (_, start, known) in enumerate(found):
        if known == name:
            end = found[number + 1][0] if number + 1 < len(found) else len(text)
            return min(start, len(text)), end
    return None


def _whole(text: str, name: str) -> tuple[int, int] | None:
    """The header, its lines, and the empty line before; of the table, or else of one inside it."""
    found = _headers(text)
    for number, (start, _, known) in enumerate(found):
        if known == name or known.startswith(f"{name}."):
            end = found[number + 1][0] if number + 1 < len(found) else len(text)
            is_last = end == len(text)
            before = re.search(r"(?:\r?\n)?\Z", text[: start - 1] if start else "")
            cut = start - 1 - len(before[0]) + 1 if is_last and start and before else start
            return cut, end
    return None

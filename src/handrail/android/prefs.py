"""Shared preferences of a debuggable app, with the types that Android gave their values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from lxml import etree

from handrail.adb.shell import Shell
from handrail.android.storage import check_name, list_files, read_file
from handrail.errors import AdbCommandError, InvalidAction

Kind = Literal["string", "int", "long", "float", "boolean", "set", "null"]
SUFFIX = ".xml"


class Pref(NamedTuple):
    """One value and its type."""

    kind: Kind
    value: Any


@dataclass(frozen=True, slots=True)
class Prefs:
    """A file: its values by name, and the XML as it lies on the device."""

    file: str
    values: dict[str, Pref]
    xml: str

    def to_dict(self) -> dict[str, Any]:
        """As JSON data, types beside values; sets are sorted."""
        shown = {name: {"type": pref.kind, "value": _plain(pref.value)} for name, pref in self.values.items()}
        return {"file": self.file, "values": shown, "xml": self.xml}


def _plain(value: Any) -> Any:
    return sorted(value) if isinstance(value, frozenset) else value


async def list_prefs(shell: Shell, package: str) -> list[str]:
    """Names without .xml."""
    files = await list_files(shell, package, "shared_prefs")
    return [name.removesuffix(SUFFIX) for name in files if name.endswith(SUFFIX)]


async def read_prefs(shell: Shell, package: str, file: str) -> Prefs:
    """The name may be given with or without .xml."""
    name = check_name(file.removesuffix(SUFFIX) + SUFFIX, "file")
    data = await read_file(shell, package, "shared_prefs", name)
    if data is None:
        known = await list_prefs(shell, package)
        raise InvalidAction(
            f"{package} has no preferences named {file}",
            hint=f"There are: {', '.join(known)}." if known else "It has saved no preferences yet.",
            path="file",
            known=known,
        )
    return Prefs(name, read_values(data, name), data.decode("utf-8", "replace"))


def read_values(data: bytes, name: str) -> dict[str, Pref]:
    """The entries of a `<map>`; a file in the middle of being written can't be read and says so."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    try:
        root = etree.fromstring(data, parser)
        return {entry.get("name", ""): _read(entry) for entry in root if isinstance(entry.tag, str)}
    except (etree.XMLSyntaxError, ValueError) as problem:
        raise AdbCommandError(
            f"{name} is not a preferences file: {problem}", hint="Read it again.", command=["run-as", "cat"]
        ) from None


def _read(entry: etree._Element) -> Pref:
    text = entry.get("value", "")
    match entry.tag:
        case "string":
            return Pref("string", entry.text or "")
        case "int":
            return Pref("int", int(text))
        case "long":
            return Pref("long", int(text))
        case "float":
            return Pref("float", float(text))
        case "boolean":
            return Pref("boolean", text == "true")
        case "set":
            return Pref("set", frozenset(child.text or "" for child in entry))
        case "null":
            return Pref("null", None)
        case _:
            raise ValueError(f"unknown type {entry.tag!r}")

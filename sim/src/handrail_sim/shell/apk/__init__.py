"""What a phone reads in an APK before it installs it: names, versions, permissions, what it can start.

Code and pictures are not unpacked.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from xml.etree import ElementTree

from handrail_sim.shell.apk.binary_xml import Corrupt, Reference, Tag, Value, tags
from handrail_sim.shell.apk.resources import text_of
from handrail_sim.system.intents import full_class

MANIFEST, RESOURCES = "AndroidManifest.xml", "resources.arsc"
MAX_MANIFEST, MAX_RESOURCES = 4 << 20, 64 << 20
_MALFORMED = "INSTALL_PARSE_FAILED_MANIFEST_MALFORMED"
_MAIN, _LAUNCHER = "android.intent.action.MAIN", "android.intent.category.LAUNCHER"
_PREFIX = re.compile(rb"\b[a-z]+:(?=[A-Za-z]+\s*=)")


class BadApk(Exception):
    """Not to be installed; the message is PackageManager's failure code and text."""


@dataclass(slots=True)
class ApkFacts:
    """The manifest's own words; class names are whole."""

    package: str = ""
    split: str = ""
    label: str = ""
    version_name: str = "1.0"
    version_code: int = 1
    debuggable: bool = False
    permissions: list[str] = field(default_factory=list)
    activities: list[str] = field(default_factory=list)
    launcher: str = ""
    services: list[str] = field(default_factory=list)
    receivers: list[str] = field(default_factory=list)
    instrumentations: dict[str, str] = field(default_factory=dict)
    """Runner to the package that it tests."""


def read_apk(data: bytes) -> ApkFacts:
    """The facts of an APK; `BadApk` for what is none."""
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            manifest = _member(archive, MANIFEST, MAX_MANIFEST)
            if not manifest:
                raise BadApk(f"{_MALFORMED}: manifest too large")
            facts = _Reading(archive).facts(manifest)
    except (zipfile.BadZipFile, OSError, ValueError, RuntimeError, NotImplementedError):
        raise BadApk(
            "INSTALL_PARSE_FAILED_NOT_APK: Failed to parse base.apk: Failed to load asset path"
        ) from None
    except KeyError:
        raise BadApk("INSTALL_PARSE_FAILED_BAD_MANIFEST: Missing AndroidManifest.xml") from None
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)+", facts.package):
        raise BadApk("INSTALL_PARSE_FAILED_BAD_PACKAGE_NAME: Invalid manifest package")
    return facts


def _member(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    return b"" if archive.getinfo(name).file_size > most else archive.read(name)


class _Reading:
    """One manifest, tag by tag."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._found = ApkFacts()
        self._activity = ""
        self._filter: set[str] = set()

    def facts(self, manifest: bytes) -> ApkFacts:
        try:
            for tag in _text_tags(manifest) if manifest.lstrip()[:1] == b"<" else tags(manifest):
                self._take(tag)
        except (Corrupt, ElementTree.ParseError, RecursionError):
            raise BadApk(f"{_MALFORMED}: Corrupt XML binary file") from None
        self._found.label = self._found.label or self._found.package
        return self._found

    def _take(self, tag: Tag) -> None:
        if tag.closes:
            if tag.name == "intent-filter" and {_MAIN, _LAUNCHER} <= self._filter:
                self._found.launcher = self._found.launcher or self._activity
            return
        take = _TAKERS.get(tag.name)
        if take is not None:
            take(self, tag.attributes)

    def _manifest(self, given: dict[str, Value]) -> None:
        found = self._found
        found.package, found.split = str(given.get("package", "")), str(given.get("split", ""))
        found.version_name = self._text(given, "versionName") or "1.0"
        code = str(given.get("versionCode", 1))
        found.version_code = int(code) if code.isdigit() else 1

    def _application(self, given: dict[str, Value]) -> None:
        self._found.label = self._text(given, "label")
        self._found.debuggable = given.get("debuggable") not in (None, 0, "false")

    def _permission(self, given: dict[str, Value]) -> None:
        if name := self._text(given, "name"):
            self._found.permissions.append(name)

    def _screen(self, given: dict[str, Value]) -> None:
        self._activity = self._class(given)
        self._found.activities.append(self._activity)

    def _service(self, given: dict[str, Value]) -> None:
        self._activity = ""
        self._found.services.append(self._class(given))

    def _receiver(self, given: dict[str, Value]) -> None:
        self._activity = ""
        self._found.receivers.append(self._class(given))

    def _instrumentation(self, given: dict[str, Value]) -> None:
        self._found.instrumentations[self._class(given)] = self._text(given, "targetPackage")

    def _intent_filter(self, _: dict[str, Value]) -> None:
        self._filter = set()

    def _filtered(self, given: dict[str, Value]) -> None:
        self._filter.add(self._text(given, "name"))

    def _class(self, given: dict[str, Value]) -> str:
        name = self._text(given, "name")
        return full_class(self._found.package, name) if name else ""

    def _text(self, given: dict[str, Value], name: str) -> str:
        value = given.get(name, "")
        if not isinstance(value, Reference):
            return str(value)
        try:
            return text_of(_member(self._archive, RESOURCES, MAX_RESOURCES), value.number)
        except KeyError:
            return ""


_TAKERS = {
    "manifest": _Reading._manifest,
    "application": _Reading._application,
    "uses-permission": _Reading._permission,
    "activity": _Reading._screen,
    "activity-alias": _Reading._screen,
    "service": _Reading._service,
    "receiver": _Reading._receiver,
    "instrumentation": _Reading._instrumentation,
    "intent-filter": _Reading._intent_filter,
    "action": _Reading._filtered,
    "category": _Reading._filtered,
}


def _text_tags(manifest: bytes) -> list[Tag]:
    """A manifest that was never compiled: real phones refuse it, test files have it."""
    if b"<!DOCTYPE" in manifest or b"<!ENTITY" in manifest:
        raise Corrupt("entities")
    return list(_flat(ElementTree.fromstring(_PREFIX.sub(b"", manifest))))  # noqa: S314 - no entities


def _flat(element: ElementTree.Element) -> Iterator[Tag]:
    yield Tag(element.tag, dict(element.attrib))
    for child in element:
        yield from _flat(child)
    yield Tag(element.tag, {}, closes=True)

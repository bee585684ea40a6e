"""`handrail bug-report`: one zip that helps with a phone that nobody here has, and tells nothing private.

It holds what is listed here and nothing else: no folder, no environment, no journal is packed. Every text
goes through the same filters as an answer, and is searched for secrets once more before it is written.
"""

from __future__ import annotations

import asyncio
import getpass
import io
import json
import os
import platform
import re
import socket
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import click

from handrail import __version__
from handrail.android.discovery import discover
from handrail.android.wireless import RememberedPhones
from handrail.cli.doctor import run_checks
from handrail.cli.options import FILE, DeviceOptions, device_options, json_option, open_device_for_command
from handrail.cli.output import print_json
from handrail.clock import SystemClock, iso_time
from handrail.config import Config
from handrail.errors import HandrailError, StoreUnusable
from handrail.journal.redaction import Redaction, SecretRuns, forms_of, redact_data
from handrail.runtime import Runtime
from handrail.safety.caller import Caller
from handrail.screen.node import Screen
from handrail.surface.capabilities import ShellCommands

PACKAGES = "handrail handrail-sim uiautomator2 adbutils lxml pillow pydantic mcp grpcio zeroconf".split()  # noqa: SIM905
READINGS = {
    "wm.txt": "wm size; wm density",
    "display.txt": "dumpsys display | grep -E 'mOverrideDisplayInfo|mCurrentLayout|orientation='; true",
    "focus.txt": "dumpsys window displays | grep -E 'mCurrentFocus|mFocusedApp|mDisplayId|mDreaming'; true",
    "activities.txt": "dumpsys activity activities | grep -E 'ResumedActivity|mFocusedApp'; true",
    "build.txt": "for one in ro.build.version.release ro.build.version.sdk ro.product.manufacturer "
    "ro.product.model ro.build.fingerprint ro.build.version.security_patch; do getprop $one; done",
}
"""What Handrail reads from a phone itself, as the phone prints it."""
MOST_BYTES = 200_000  # bytes of one reading that are kept


@click.command("bug-report")
@click.option("--mask", is_flag=True, help="Replace every letter and digit of the screen's texts.")
@click.option("--out", type=FILE, help="The file.  [default: one here]")
@json_option()
@device_options
def bug_report(mask: bool, out: Path | None, as_json: bool, target: DeviceOptions) -> None:
    """Pack what helps to find out why a phone does not work: one zip, to be attached to an issue.

    In it: versions, what doctor found, diagnostics, and how Handrail sees the screen. Never in it: secrets,
    keys, the journal, pictures. Serials, addresses and your name are replaced.
    """
    config, clock = Config.from_env(os.environ), SystemClock()
    parts = asyncio.run(collect_parts(target, config, os.environ, mask=mask))
    listing = asyncio.run(discover(config, clock, os.environ))
    serials = [device.serial for device in listing.devices]
    filters = ReportFilter.of(config, os.environ, [*serials, target.device or ""])
    cleaned = {name: filters(text) for name, text in parts.items()}
    filters.refuse_secrets(cleaned)
    moment = iso_time(clock.now_ms())[:19].translate(str.maketrans("", "", ":-"))
    place = out or Path(f"handrail-bug-report-{moment}.zip")
    try:
        handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(zip_of(cleaned))
    except OSError as error:
        hint = "Choose another --out."
        raise StoreUnusable(f"{place} can't be written: {error.strerror}", hint=hint) from None
    if as_json:
        print_json({"path": str(place), "files": sorted(cleaned), "masked": mask})
        return
    click.echo(f"{place}: {', '.join(sorted(cleaned))}")
    click.echo("Look into it before you attach it to an issue." + ("" if mask else " --mask hides texts."))


async def collect_parts(
    target: DeviceOptions, config: Config, env: Mapping[str, str], *, mask: bool
) -> dict[str, str]:
    """File name → text. A part that can't be collected holds the reason instead."""
    parts = {"versions.json": _json_text(versions())}
    try:
        checks = await run_checks(env, SystemClock())
        parts["doctor.json"] = _json_text([check.to_dict() for check in checks])
    except HandrailError as error:
        parts["doctor.json"] = _json_text(error.to_dict())
    try:
        parts |= await _phone_parts(target, config, env, mask=mask)
    except HandrailError as error:
        parts["phone.json"] = _json_text({"failed": error.to_dict()})
    return parts


def versions() -> dict[str, Any]:
    packages = {}
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            packages[name] = version(name)
    system = {"system": platform.system(), "release": platform.release(), "machine": platform.machine()}
    return {"handrail": __version__, "python": sys.version.split()[0], **system, "packages": packages}


async def _phone_parts(
    target: DeviceOptions, config: Config, env: Mapping[str, str], *, mask: bool
) -> dict[str, str]:
    async with (
        open_device_for_command(target, config) as opened,
        Runtime.open(config, env=env, caller=Caller.at_terminal()) as runtime,
    ):
        session = await runtime.session_on(opened.device)
        look, facts = await session.get_ui_tree(), session.facts
        phone = {"model": facts.model, "manufacturer": facts.manufacturer}
        phone |= {"android": facts.android, "sdk": str(facts.api_level)}
        outcome: dict[str, Any] = {"look": look.success, "failure": look.failure_code}
        outcome |= {"diagnostics": list(look.diagnostics or ()), "channels": session.surface.channels()}
        parts = {"phone.json": _json_text({**phone, **outcome})}
        if session.screens.last is not None and look.success:
            parts["look.json"] = _json_text(screen_document(session.screens.last.screen, mask=mask))
        runs = SecretRuns()
        for name in runtime.secrets.names():
            for value in runtime.secrets.values_of(name):
                runs.add(name, value)
        parts |= {name: runs(text) for name, text in parts.items() if name != "phone.json"}
        parts = {name: runtime.secrets.redact(text) for name, text in parts.items()}
        shell = session.surface.need(ShellCommands)  # the session's surface redacts
        for name, command in READINGS.items():
            try:
                reading = (await shell.script(command)).stdout[:MOST_BYTES]
            except HandrailError as error:
                reading = f"{error.code}: {error.message}"
            parts[f"readings/{name}"] = f"$ {command}\n{reading}"
        return parts


def screen_document(screen: Screen, *, mask: bool) -> dict[str, Any]:
    hide = mask_letters if mask else str
    nodes = [
        {
            "id": node.id,
            "class": node.class_name,
            "resource": node.resource_id,
            "package": node.package_name,
            "text": hide(node.text),
            "description": hide(node.description),
            "hint": hide(node.hint_text),
            "state": hide(node.state_description),
            "bounds": str(node.bounds),
            "flags": node.flags,
        }
        for node in screen.nodes
    ]
    size = {"width": screen.width, "height": screen.height, "rotation": screen.rotation}
    return {**size, "warnings": [hide(warning) for warning in screen.warnings], "nodes": nodes}


def mask_letters(text: str) -> str:
    """Letters become x, digits 0."""
    return "".join("0" if char.isdigit() else "x" if char.isalpha() else char for char in text)


_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH|COOKIE|PRIVATE", re.IGNORECASE)
_TOKEN = re.compile(r"[A-Za-z0-9+/=_\-.]{12,}")
_ADDRESS = re.compile(r"\b(?!127\.)(?:\d{1,3}\.){3}\d{1,3}\b")
_HARDWARE = re.compile(r"\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b", re.IGNORECASE)
_MOST_FILE = 1 << 20


@dataclass
class ReportFilter:
    """Removes secrets and personal names from a text. Called with the text."""

    redaction: Redaction = field(default_factory=Redaction)
    values: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    """Personal name → its replacement; the longest name first."""

    @classmethod
    def of(cls, config: Config, env: Mapping[str, str], serials: Sequence[str] = ()) -> ReportFilter:
        """Takes values of variables with secret-sounding names, and every token in this home's own files."""
        report_filter = cls()
        for name, value in env.items():
            if _SECRET_NAME.search(name) and len(value) >= 4:
                report_filter.add(name.removeprefix("HANDRAIL_SECRET_"), value)
        for name, value in _tokens_in_home(config.home):
            report_filter.add(name, value)
        phones = [(serial, "PHONE") for serial in (*serials, *config.devices, config.device or "")]
        replacements = [pair for pair in (*_personal_names(config, env), *phones) if pair[0]]
        report_filter.names = dict(sorted(replacements, key=lambda pair: -len(pair[0])))
        return report_filter

    def add(self, name: str, value: str) -> None:
        self.redaction.add(name, value)
        self.values.append(value)

    def __call__(self, text: str) -> str:
        text = self.redaction(text)
        for name, instead in self.names.items():
            text = re.sub(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", instead, text)
        return _HARDWARE.sub("HARDWARE", _ADDRESS.sub("ADDRESS", text))

    def refuse_secrets(self, parts: Mapping[str, str]) -> None:
        """Raises `StoreUnusable` if a secret is left: then nothing is written."""
        for value in self.values:
            for form in forms_of(value):
                for name, text in parts.items():
                    # A secret that is a word of the report itself can't be told from it; it tells nothing.
                    if len(form) >= 4 and form in text and form not in _json_text(versions()):
                        why = f"{name} would hold a secret; nothing was written"
                        raise StoreUnusable(why, hint="Report it to the makers of Handrail.")


def _tokens_in_home(home: Path) -> Iterator[tuple[str, str]]:
    """Tokens in the files that this home keeps for its owner alone: keys, the desk's tokens, secrets."""
    for path in [*(home / "config").rglob("*"), *home.glob("*.key"), *home.glob("*key*")]:
        with suppress(OSError, UnicodeDecodeError):
            if not path.is_file() or path.stat().st_size > _MOST_FILE or path.suffix == ".toml":
                continue
            text = path.read_text(encoding="utf-8")
            for line in text.splitlines() if path.name == "secrets" else ():
                name, _, value = line.partition("=")
                if len(value) >= 4:
                    yield name.strip(), value
            for word in set(_TOKEN.findall(text)):
                yield path.name, word


def _personal_names(config: Config, env: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Names of the user, the computer and the phones, with what replaces them."""
    yield str(config.home), "HANDRAIL_HOME"
    if (home := env.get("HOME", "")) not in ("", "/"):
        yield home, "~"
    with suppress(OSError, KeyError, ImportError):
        if (user := getpass.getuser()) not in ("root", "user"):
            yield user, "USER"
    if (host := socket.gethostname()) not in ("", "localhost"):
        yield host, "COMPUTER"
    for phone in RememberedPhones(config.home).all():
        yield phone.guid, "PHONE"
        yield phone.name, "PHONE"


def zip_of(parts: Mapping[str, str]) -> bytes:
    """One zip; the same parts give the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in sorted(parts.items()):
            archive.writestr(zipfile.ZipInfo(name), text, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def _json_text(value: Any) -> str:
    return json.dumps(redact_data(value, str), ensure_ascii=False, indent=1)

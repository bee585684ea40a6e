"""Which framework drew a screen, from what is known already; a command is run only where something is odd.

A native app costs nothing: its class names and ids look like a native app's, and that is the end of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, MutableMapping
from dataclasses import dataclass
from typing import Protocol

from handrail.adb.device import AdbDevice
from handrail.adb.shell import DeviceShell, Script, quote
from handrail.android.packages import NAME, check_package
from handrail.android.sync.answers import METRO, PRIORITY, Metro
from handrail.android.sync.apps import class_signals, is_odd
from handrail.android.sync.metro import metro_signals
from handrail.clock import Clock, SystemClock
from handrail.errors import DeviceError, Timeout
from handrail.surface.values import Framework
from handrail.tree.node import Screen


class HelperInfo(Protocol):
    """The part of the helper's `/framework` answer that counts here."""

    @property
    def ok(self) -> bool: ...
    @property
    def primary(self) -> str: ...
    @property
    def signals(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class Detected:
    """The framework, and what gave it away."""

    kind: Framework
    signals: tuple[str, ...] = ()


async def detect(
    device: AdbDevice,
    package: str,
    tree: Screen,
    *,
    helper_info: HelperInfo | None = None,
    metro: Metro = METRO,
    clock: Clock | None = None,
    known: MutableMapping[str, tuple[str, ...]] | None = None,
) -> Detected:
    """`known` remembers by package what a command has told: hand in the same one while a process lives."""
    if not NAME.fullmatch(package):  # a dump may name none, and what it names becomes part of commands
        return Detected("native")
    if helper_info is not None and helper_info.ok and helper_info.primary in PRIORITY:
        return _strongest((helper_info.primary,), tuple(helper_info.signals))
    nodes = [node for node in tree.nodes if node.package_name == package]
    told = class_signals(nodes)
    if told:
        return _strongest(told, tuple(told.values()))
    if (helper_info is not None and helper_info.ok) or not is_odd(nodes):
        return Detected("native")
    return await _ask(device, package, metro, clock or SystemClock(), {} if known is None else known)


async def _ask(
    device: AdbDevice, package: str, metro: Metro, clock: Clock, known: MutableMapping[str, tuple[str, ...]]
) -> Detected:
    if package not in known:
        signals = await library_signals(device.shell, package)
        known[package] = signals or await metro_signals(device, package, clock, metro)
    signals = known[package]
    return _strongest({_kind_of(one) for one in signals}, signals)


def _kind_of(signal: str) -> Framework:
    return "flutter" if signal == "lib:libflutter.so" else "react_native"


def _strongest(kinds: Iterable[str], signals: tuple[str, ...]) -> Detected:
    present = set(kinds)
    return Detected(next((kind for kind in PRIORITY if kind in present), "native"), signals)


TIMEOUT_MS = 2_000.0
_TELLING = re.compile(r"\blib(?:flutter|hermes\w*|jsc\w*|reactnative\w*)\.so\b")


def _script(package: str) -> Script:
    """Unpacked libraries lie beside the APK; the others are listed in it, or in one of its splits."""
    name = quote([check_package(package)])
    return Script(
        f"for p in $(pm path {name}); do p=${{p#package:}}; "
        'ls "${p%/*}"/lib/* 2>/dev/null; unzip -l "$p" 2>/dev/null | grep -E "lib/.*[.]so"; done; true'
    )


async def library_signals(shell: DeviceShell, package: str) -> tuple[str, ...]:
    """`lib:libhermes.so` and the like; empty for a native app, and when the phone does not tell."""
    try:
        told = await shell.run(_script(package), timeout_ms=TIMEOUT_MS, check=False)
    except (DeviceError, Timeout):
        return ()
    return telling(told.text)


def telling(listing: str) -> tuple[str, ...]:
    """The names that matter among whatever `ls` and `unzip` print."""
    return tuple(sorted({f"lib:{name}" for name in _TELLING.findall(listing)}))

"""The native libraries of an installed app that give its framework away. One command, and only when asked."""

from __future__ import annotations

import re

from handrail.adb.shell import Script, Shell, quote
from handrail.android.packages import check_package
from handrail.errors import DeviceError, Timeout

TIMEOUT_MS = 2_000.0
_TELLING = re.compile(r"\blib(?:flutter|hermes\w*|jsc\w*|reactnative\w*)\.so\b")


def _script(package: str) -> Script:
    """Unpacked libraries lie beside the APK; the others are listed in it, or in one of its splits."""
    name = quote([check_package(package)])
    return Script(
        f"for p in $(pm path {name}); do p=${{p#package:}}; "
        'ls "${p%/*}"/lib/* 2>/dev/null; unzip -l "$p" 2>/dev/null | grep -E "lib/.*[.]so"; done; true'
    )


async def library_signals(shell: Shell, package: str) -> tuple[str, ...]:
    """`lib:libhermes.so` and the like; empty for a native app, and when the phone does not tell."""
    try:
        told = await shell.run(_script(package), timeout_ms=TIMEOUT_MS, check=False)
    except (DeviceError, Timeout):
        return ()
    return telling(told.text)


def telling(listing: str) -> tuple[str, ...]:
    """The names that matter among whatever `ls` and `unzip` print."""
    return tuple(sorted({f"lib:{name}" for name in _TELLING.findall(listing)}))

"""Which second-best sources a phone made necessary. Each is told once, in the driver's diagnostics.

Most readings are functions over a shell, so the lines are kept by shell until the driver collects them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from handrail.adb.shell import DeviceShell


@dataclass(slots=True)
class _Said:
    waiting: list[str] = field(default_factory=list)
    ever: set[str] = field(default_factory=set)


_SAID: WeakKeyDictionary[DeviceShell, _Said] = WeakKeyDictionary()
MOST = 100
"""Lines of one phone: words of a phone may be in them, and nobody need listen for ever."""


def took_fallback(shell: DeviceShell, line: str) -> None:
    """Remember it, unless this phone has made it necessary before."""
    said = _SAID.setdefault(shell, _Said())
    if line not in said.ever and len(said.ever) < MOST:
        said.ever.add(line)
        said.waiting.append(line)


def collect_fallbacks(shell: DeviceShell) -> list[str]:
    """The lines since the last call."""
    said = _SAID.get(shell)
    if said is None:
        return []
    lines, said.waiting = said.waiting, []
    return lines

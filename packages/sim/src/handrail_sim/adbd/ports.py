"""Which TCP ports phones listen on. Knows numbers only."""

from __future__ import annotations

from handrail_sim.errors import BadSetting

DEFAULT_PORT = 6555
EMULATOR_PORT = 5555
SCANNED = range(5555, 5586)
"""Ports that every adb server looks for emulators on; a phone there is listed twice."""


def ports(first: int, count: int, *, emulator: bool = False) -> list[int]:
    """P, P+2, …: emulators use the even neighbour for their console. Port 0 lets the system choose each."""
    if first == 0 and not emulator:
        return [0] * count
    if first < 2:
        raise BadSetting("an emulator needs a port of its own", hint="Give one with --port.", path="port")
    chosen = list(range(first, first + 2 * count, 2))
    if chosen[-1] > 65535:
        raise BadSetting(
            f"{count} phones from port {first} on do not fit below 65536",
            hint="Choose a lower port.",
            path="port",
        )
    if not emulator and any(port in SCANNED for port in chosen):
        raise BadSetting(
            f"every adb server scans ports {SCANNED[0]} to {SCANNED[-1]}: the phone would be listed twice",
            hint="Choose another port, or add --emulator to be found that way.",
            path="port",
        )
    return chosen

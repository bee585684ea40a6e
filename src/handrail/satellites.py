"""Distributions that plug into Handrail by entry points, and what to install where one is missing.

The core knows them by this table alone. Groups: `handrail.commands` (a click command),
`handrail.dialects` (a dialect), `handrail.flow_readers` and `handrail.runners` (a module).
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from handrail.errors import Unsupported

SATELLITES = {
    "agent": "lets a model work on phones until a task is done, and speaks the tools of other programs",
    "emulator": "speaks the gRPC channel of Android emulators: two fingers, keys, pictures",
    "eval": "measures models on tasks with simulated phones, and reads data sets",
    "fleet": "runs flows and evaluations on many hosts",
    "frameworks": "asks debug builds of React Native, Flutter and Compose apps whether they are idle",
    "maestro": "reads, plays and converts Maestro flows",
    "vision": "reads texts from pictures where a screen has no tree",
    "telemetry": "sends spans and metrics to a collector of yours",
}
"""The distribution `handrail-NAME`, which the extra `handrail[NAME]` brings → what it is for."""
COMMANDS = {
    "agent": ("agent", "Let a model work on a phone until a task is done."),
    "eval": ("eval", "Measure a model on tasks with simulated phones."),
    "fleet": ("fleet", "Run on many hosts with phones, with one ledger."),
}
"""Command → its satellite, and its line in the help."""
DIALECTS = {
    dialect: satellite
    for satellite, dialects in {
        "agent": "anthropic_computer openai_computer w3c_actions mobile_mcp agent_device appagent cogagent "
        "doubao droidrun mai_ui",
        "eval": "androidworld androidcontrol aitw",
    }.items()
    for dialect in dialects.split()
}
"""Dialect → its satellite."""


@cache
def plugins(group: str) -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=group)}


def load_plugin(group: str, name: str, satellite: str, needed_by: str) -> Any:
    """The object behind an entry point. Raises `Unsupported` that says what to install."""
    if point := plugins(group).get(name):
        return point.load()
    raise missing_satellite(satellite, needed_by)


def missing_satellite(satellite: str, needed_by: str) -> Unsupported:
    return Unsupported(
        f"{needed_by} needs handrail-{satellite}, which is not installed: it {SATELLITES[satellite]}",
        hint=f"pip install 'handrail[{satellite}]', or in a clone: pip install ./packages/{satellite}.",
    )

"""What a phone was asked to keep, as a table in Markdown: one promise a line, one column for each helper."""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from handrail import __version__
from handrail.adb.device import AdbDevice
from handrail.adb.server import Server
from handrail.android.adb_channel import read_facts
from handrail.errors import HandrailError
from tests.driver.ways import HELPERS

WORDS = {"passed": "kept", "failed": "BROKEN", "error": "BROKEN", "skipped": "–"}
_PROMISE = re.compile(r"test_promises_\w+\.py::test_(\w+)\[(?:(.*)-)?server-(\w+)(?:-(.*))?\]")


def about(serial: str, port: int) -> str:
    """The phone in one line; its serial is not told."""

    async def ask() -> str:
        device = AdbDevice(Server(port=port).link(serial))
        try:
            facts = await read_facts(device.shell, serial, 5_000)
        finally:
            await device.close()
        return f"{facts.manufacturer} {facts.model}, {facts.system} (SDK {facts.api_level})"

    try:
        return asyncio.run(ask())
    except HandrailError as error:
        return f"a phone that did not say what it is: {error.code}"


def table(stats: Mapping[str, Sequence[Any]], phone: str) -> Iterator[str]:
    """From pytest's reports. A promise with several examples is kept if all of them are."""
    found: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for outcome, word in WORDS.items():
        for report in stats.get(outcome, ()):
            if place := _PROMISE.search(getattr(report, "nodeid", "")):
                row = found[place[1].replace("_", " ")]
                if row.get(place[3]) != "BROKEN":
                    row[place[3]] = word
    kept = sum(list(row.values()).count("kept") for row in found.values())
    broken = sum(list(row.values()).count("BROKEN") for row in found.values())
    yield f"**{phone}**, Handrail {__version__}: {kept} kept, {broken} broken"
    yield ""
    yield f"| promise | {' | '.join(HELPERS)} |"
    yield f"|---|{'---|' * len(HELPERS)}"
    for promise, row in sorted(found.items()):
        yield f"| {promise} | {' | '.join(row.get(helper, '–') for helper in HELPERS)} |"

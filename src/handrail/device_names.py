"""Names that people give to phones, kept in the home by serial. Knows neither phones nor doors.

A name is for people's eyes: nothing is chosen, allowed or opened by it.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from handrail.config import canonical, host_port, named_kind
from handrail.errors import InvalidAction

FILE = "device-names.json"
LONGEST = 40


class DeviceNames:
    """The names of one home. Other processes may change the file, so it is looked at each time."""

    def __init__(self, home: Path) -> None:
        self._path = home / FILE
        self._read: tuple[int, int] | None = None
        self._names: dict[str, str] = {}

    def get(self, serial: str) -> str:
        """'' where it has none."""
        return self.all().get(canonical(serial), "")

    def shown(self, serial: str) -> str:
        """`Kitchen (127.0.0.1:6555)`: the name, and what commands take."""
        name = self.get(serial)
        return f"{name} ({serial})" if name else serial

    def all(self) -> dict[str, str]:
        """Returns the names by serial. A file that is not valid names nothing."""
        try:
            facts = self._path.stat()
        except OSError:
            return {}
        mark = (facts.st_mtime_ns, facts.st_ino)
        if mark != self._read:
            self._read, self._names = mark, self._parse()
        return dict(self._names)

    def give(self, serial: str, name: str) -> None:
        """Names a device; an empty name removes the old one. Raises `InvalidAction` for a name that another
        device has, or that reads like a serial."""
        key, wanted = canonical(serial), name.strip()
        others = {other: said for other, said in self.all().items() if other != key}
        if wanted:
            if not _is_plain(wanted):
                raise InvalidAction(
                    f"A phone's name has 1 to {LONGEST} characters that can be seen, and single spaces",
                    path="name",
                    hint="Give a name such as Kitchen phone.",
                )
            taken = {said.casefold() for said in others.values()} | {other.casefold() for other in others}
            if wanted.casefold() in taken or host_port(wanted) is not None or named_kind(wanted):
                hint = "Give a name that no other phone has, and no address."
                raise InvalidAction(f"{wanted} is what another device is called", path="name", hint=hint)
            others[key] = wanted
        self._path.parent.mkdir(parents=True, exist_ok=True)
        handle, fresh = tempfile.mkstemp(dir=self._path.parent, prefix=FILE)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(others, file, ensure_ascii=False, indent=2)
        os.replace(fresh, self._path)

    def _parse(self) -> dict[str, str]:
        try:
            stored = json.loads(self._path.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        pairs = stored.items() if isinstance(stored, dict) else ()
        return {key: name for key, name in pairs if isinstance(name, str) and _is_plain(name)}


def _is_plain(name: str) -> bool:
    """No control, direction or invisible characters: two names that look the same are the same."""
    return 0 < len(name) <= LONGEST and name.isprintable() and name == " ".join(name.split())

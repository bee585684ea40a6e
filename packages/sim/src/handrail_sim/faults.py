"""What can be made to go wrong with a phone, and whether it does so now. The phone's parts ask.

Draws come from a generator of its own, so the same seed and the same questions give the same failures.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from handrail_sim.clock import Clock
from handrail_sim.errors import BadSetting
from handrail_sim.resources import table

Options = dict[str, Any]

KINDS: dict[str, Options] = table("faults.toml")
"""Every fault with its own options and their defaults; `command` "*" means any command.

`work_profile`: another user, whom the shell may not ask about unless `refused` is 0; `packages`, by commas,
run there. `second_display`: `first` lists it before the phone's own. `fold`: the cover's size, and which side
is in use. `secure_window`: "overlay" is a window of its own, anything else a window's type or package.
"""

PROFILES: dict[str, list[tuple[str, Options]]] = {
    "hardware": [
        # mobile-next/mobilecli#286: about 2.2 s for each `uiautomator dump`, 0.8 to 1.0 s for a whole tree
        # from a helper that keeps running; codematrixer/hmdriver2#10: a plain screen by u2 within 0.1 s.
        ("latency", {"command": "uiautomator", "ms": 2000, "jitter_ms": 200}),
        ("latency", {"command": "dumpWindowHierarchy", "ms": 500, "jitter_ms": 400}),
        # Genymobile/scrcpy#112, #469, #684: 1 to 2 s for a PNG, most of it packing; Midscene's #1842: 0.55 s.
        ("latency", {"command": "screencap", "ms": 1200, "jitter_ms": 600}),
        # openatx/uiautomator2#1122: a picture by u2 is far cheaper than its tree.
        ("latency", {"command": "takeScreenshot", "ms": 120, "jitter_ms": 40}),
        # Every other call of u2 is a round trip over USB and a look at the tree.
        ("latency", {"command": "u2", "ms": 40, "jitter_ms": 20}),
        # Our own helper was on no phone yet: it is believed to take as long as u2, whose tree is the same.
        ("latency", {"command": "/look", "ms": 500, "jitter_ms": 400}),
        ("latency", {"command": "helper", "ms": 40, "jitter_ms": 20}),
        # quamotion/madb#56: 300 to 400 ms where `input` starts a Java program; newer phones ask a service.
        ("latency", {"command": "input", "ms": 60, "jitter_ms": 10}),
        ("dump_waits_for_idle", {}),
        ("slow_app_start", {"ms": 800}),
    ]
}
"""Several faults under one name: how a phone on a cable feels."""

WHEN: Options = {"times": None, "after": 0, "every": 1, "chance": 1.0, "for_ms": None}
"""Options of every fault: how often at most, how many chances it lets pass first, only every n-th chance,
how likely, for how long."""

USUAL: dict[str, Options] = {"ime_swallows": {"every": 3}}
"""When some faults strike if nothing is said."""

ALIASES = {"unauthorised": "unauthorized", "jitter": "latency"}

T = TypeVar("T")
Listener = Callable[[str, bool], object]


@dataclass(slots=True)
class Fault:
    """One fault that was asked for."""

    name: str
    options: Options
    times: int | None = None
    after: int = 0
    every: int = 1
    chance: float = 1.0
    until_ms: float | None = None
    chances: int = 0
    hits: int = 0

    @property
    def key(self) -> tuple[str, str]:
        return (self.name, str(self.options.get("command", "")))

    def covers(self, command: str | None) -> bool:
        wanted = self.options.get("command", "*")
        return command is None or wanted in {"*", command}

    def to_dict(self) -> Options:
        when = {"times": self.times, "after": self.after, "every": self.every, "chance": self.chance}
        fields = {name: value for name, value in when.items() if value != WHEN[name]}
        return {"fault": self.name, **self.options, **fields, "hits": self.hits}


@dataclass(slots=True)
class Faults:
    """The faults of one phone."""

    clock: Clock
    seed: int = 1
    listeners: list[Listener] = field(default_factory=list)
    _faults: dict[tuple[str, str], Fault] = field(default_factory=dict)
    _random: Random = field(init=False)

    def __post_init__(self) -> None:
        self._random = Random(f"faults {self.seed}")  # noqa: S311 - repeatable on purpose

    def add(self, name: str, /, **options: Any) -> None:
        """Switch a fault or a profile on; the same fault for the same command is replaced."""
        if name in PROFILES:
            for part, arguments in PROFILES[name]:
                self.add(part, **{**arguments, **options})
            return
        fault = _fault(ALIASES.get(name, name), options, self.clock.monotonic_ms())
        self._faults[fault.key] = fault
        self._tell(fault.name, True)

    def clear(self, name: str | None = None, command: str | None = None) -> int:
        """Switch one fault or profile off, or all; says how many were on."""
        names = _names(name)
        removed = [
            key
            for key in self._faults
            if (names is None or key[0] in names) and (command is None or key[1] == command)
        ]
        for key in removed:
            del self._faults[key]
        for changed in dict.fromkeys(key[0] for key in removed):
            self._tell(changed, False)
        return len(removed)

    def active(self, name: str, command: str | None = None) -> Fault | None:
        """The fault if it is switched on; asking changes nothing."""
        for fault in self._faults.values():
            if fault.name == name and fault.covers(command) and not self._over(fault):
                return fault
        return None

    def get(self, name: str, command: str | None = None) -> Options | None:
        """The options of a fault that strikes now, or None. Every call is one chance for it to strike."""
        if not self._faults:
            return None
        for fault in list(self._faults.values()):
            if fault.name == name and fault.covers(command) and self._strikes(fault):
                return fault.options
        return None

    async def delay(self, *names: str) -> None:
        """Wait as long as the latency of this command (and that of every command) says.

        A call of a helper has two names, the helper's and its own.
        """
        wait_ms = self.latency_ms(*names) if self._faults else 0.0
        if wait_ms > 0:
            await self.clock.sleep_ms(wait_ms)

    def latency_ms(self, *names: str) -> float:
        total = 0.0
        for fault in list(self._faults.values()):
            covered = fault.name == "latency" and any(fault.covers(name) for name in names)
            if covered and self._strikes(fault):
                jitter = float(fault.options["jitter_ms"])
                total += max(0.0, float(fault.options["ms"]) + self._random.uniform(-jitter, jitter))
        return total

    def shuffled(self, things: list[T]) -> list[T]:
        return self._random.sample(things, len(things))

    def to_list(self) -> list[Options]:
        return [fault.to_dict() for fault in self._faults.values() if not self._over(fault)]

    def load(self, entries: Iterable[str | Mapping[str, Any]]) -> None:
        """Faults as a file lists them: names, or tables with `fault` and options."""
        for entry in entries:
            options = {"fault": entry} if isinstance(entry, str) else dict(entry)
            self.add(str(options.pop("fault", "")), **options)

    def _over(self, fault: Fault) -> bool:
        late = fault.until_ms is not None and self.clock.monotonic_ms() >= fault.until_ms
        return late or (fault.times is not None and fault.hits >= fault.times)

    def _strikes(self, fault: Fault) -> bool:
        if self._over(fault):
            return False
        fault.chances += 1
        if fault.chances <= fault.after or (fault.chances - fault.after) % fault.every:
            return False
        if fault.chance < 1 and self._random.random() >= fault.chance:
            return False
        fault.hits += 1
        return True

    def _tell(self, name: str, on: bool) -> None:
        for listener in list(self.listeners):
            listener(name, on)


def _fault(name: str, options: Options, now_ms: float) -> Fault:
    if name not in KINDS:
        current = ", ".join([*KINDS, *PROFILES])
        raise BadSetting(f"no fault {name!r}; there are {current}", path="fault")
    own = KINDS[name]
    for option in options:
        if option not in own and option not in WHEN:
            takes = ", ".join([*own, *WHEN])
            raise BadSetting(f"fault {name} has no option {option!r}; it takes {takes}", path=option)
    when = {**WHEN, **USUAL.get(name, {}), **{key: value for key, value in options.items() if key in WHEN}}
    until = None if when["for_ms"] is None else now_ms + float(when["for_ms"])
    arguments = {key: _coerced(own[key], value, key) for key, value in options.items() if key in own}
    times = None if when["times"] is None else int(when["times"])
    every = max(1, int(when["every"]))
    return Fault(name, {**own, **arguments}, times, int(when["after"]), every, float(when["chance"]), until)


def _coerced(default: Any, value: Any, path: str) -> Any:
    """The value with the type of the option's default; words on a command line arrive as strings."""
    try:
        return type(default)(value)
    except (TypeError, ValueError):
        raise BadSetting(f"{path}={value!r} is not a {type(default).__name__}", path=path) from None


def _names(name: str | None) -> set[str] | None:
    if name is None or name == "all":
        return None
    if name in PROFILES:
        return {part for part, _ in PROFILES[name]}
    return {ALIASES.get(name, name)}


def read_file(path: Path) -> list[str | Options]:
    """A fault file: TOML with `[[fault]]` tables and `profiles`, or JSON with the same keys or a plain list.

    In a table `name` says which fault, everything else is an option.
    """
    text = path.read_text(encoding="utf-8")
    try:
        content = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except ValueError as error:
        raise BadSetting(f"{path.name} can't be read: {error}", path="faults") from None
    if isinstance(content, dict):
        content = [*content.get("profiles", []), *content.get("fault", [])]
    return [_entry(entry) for entry in content]


def _entry(entry: object) -> str | Options:
    if isinstance(entry, str):
        return entry
    if not isinstance(entry, dict):
        raise BadSetting(f"{entry!r} is neither the name of a fault nor a table", path="faults")
    options = dict(entry)
    name = options.pop("name", options.pop("fault", ""))
    return {"fault": name, **options}

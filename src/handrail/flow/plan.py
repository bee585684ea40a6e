"""A flow made ready to run: variables filled, other files read, names of devices checked.

Whatever can be wrong without a phone is found here, before one is touched.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from handrail.errors import InvalidAction, NoSuchFile
from handrail.flow.document import FlowDocument, Place, load
from handrail.flow.run_record import StepRecord
from handrail.protocol.act import Act
from handrail.protocol.actions import AnyAction
from handrail.protocol.device import TypeText
from handrail.protocol.envelope import Envelope
from handrail.protocol.flow import AnyStep, Branch, Flow, Parallel, Repeat, RunFlow, Step, Steps
from handrail.protocol.target import Condition, Point, Selector, StateIs, TextIs
from handrail.protocol.traits import Settle

if TYPE_CHECKING:
    from handrail.clock import Clock
    from handrail.flow.evidence import DeviceWatch
    from handrail.safety.caller import Caller

DEEPEST = 16
"""Files that may run one another, one inside the other."""
LABEL = 80
"""Characters of a step's name that nobody gave."""

At = tuple[int | str, ...]
Ended = Literal["on", "finished", "failed"]
"""How a step leaves the flow: to be gone on with, ended by `finish`, or failed."""


class StepPlaces(Protocol):
    """Where the steps of a file stand."""

    def of(self, path: At) -> Place: ...


class StepSource(Protocol):
    """The file of a step, in whatever language it is written."""

    @property
    def path(self) -> Path | None: ...

    @property
    def text(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def tags(self) -> tuple[str, ...]: ...

    @property
    def is_agentest(self) -> bool: ...

    @property
    def late_variables(self) -> frozenset[str]:
        """Variables that its steps fill while it runs."""

    @property
    def places(self) -> StepPlaces: ...

    @property
    def flow(self) -> Flow: ...

    def step_source(self, path: At) -> dict[str, Any]: ...

    def element(self, path: At) -> dict[str, Any] | None: ...


class LateSource(StepSource, Protocol):
    """A file of another language, whose steps are decided while it runs."""

    def ready(self, env: Mapping[str, str]) -> FlowPlan: ...


class Walk(Protocol):
    """The runner, as a late step sees it."""

    @property
    def clock(self) -> Clock: ...

    @property
    def caller(self) -> Caller: ...

    async def act(
        self,
        action: AnyAction,
        on: DeviceWatch,
        record: StepRecord,
        *,
        lenient: bool = False,
        settle: Settle | None = None,
    ) -> Envelope:
        """One action; its envelope is the step's own. `lenient`: delivered is enough."""

    async def part(
        self, action: AnyAction, on: DeviceWatch, record: StepRecord, *, lenient: bool = False
    ) -> Envelope:
        """One of several actions of a step, as a step inside it."""

    async def inside(self, steps: Sequence[PlannedStep], on: DeviceWatch, record: StepRecord) -> Ended:
        """Steps inside a step; their failure is raised as its own."""


class LateStep(Protocol):
    """A step whose actions are decided when it is reached."""

    @property
    def label(self) -> str | None: ...

    @property
    def optional(self) -> bool: ...

    @property
    def timeout_ms(self) -> int | None: ...

    @property
    def when(self) -> Condition | None: ...

    @property
    def acts(self) -> bool:
        """It touches the device, so a report wants its pictures."""

    async def run(self, walk: Walk, on: DeviceWatch, record: StepRecord) -> Ended: ...


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """One step, its place in the file, and the steps inside it."""

    step: AnyStep | LateStep
    document: StepSource
    at: At
    label: str
    inner: Mapping[str, tuple[PlannedStep, ...]] = field(default_factory=dict)
    """By what they are for: `steps`, `then`, `else`, or a device's name."""

    @property
    def source(self) -> dict[str, Any]:
        return self.document.step_source(self.at)

    @property
    def place(self) -> Place:
        return self.document.places.of(self.at)


@dataclass(frozen=True, slots=True)
class FlowPlan:
    """A flow that can be run."""

    document: StepSource
    steps: tuple[PlannedStep, ...]
    last: tuple[PlannedStep, ...] = ()
    """Run at the end, however it came."""
    ahead: tuple[AnyAction, ...] = ()
    """What it is known to do, so that a person is asked about all of it at once."""
    begin: Callable[[DeviceWatch], Awaitable[None]] | None = None
    """Called before the first step, with the device that runs it."""
    end: Callable[[], Awaitable[None]] | None = None
    """Called at the end, also of a flow that was stopped."""

    @property
    def flow(self) -> Flow:
        return self.document.flow


AnyFlow = FlowDocument | LateSource
"""A file that can be run."""


def plan(document: AnyFlow, env: Mapping[str, str]) -> FlowPlan:
    """Raises `InvalidAction` with file and line."""
    if not isinstance(document, FlowDocument):
        return document.ready(env)
    bound = document.bind(env)
    chain = (real_path(bound.path),) if bound.path else ()
    return FlowPlan(bound, _Planner(bound, env, chain).steps(bound.flow.steps, ()))


def devices_of(ready: FlowPlan) -> tuple[str, ...]:
    """The names of a flow's devices: declared ones first, then those that steps mention."""
    return tuple(dict.fromkeys((*ready.flow.devices, *_devices_mentioned(ready.steps))))


def _devices_mentioned(steps: Iterable[PlannedStep]) -> Iterator[str]:
    for planned in steps:
        if isinstance(planned.step, Parallel):
            yield from planned.step.devices
        elif isinstance(planned.step, Step) and planned.step.action.device is not None:
            yield planned.step.action.device
        for inner in planned.inner.values():
            yield from _devices_mentioned(inner)


def takes_part(planned: PlannedStep, name: str, on: str) -> bool:
    """Whether a step that runs on the device `on` concerns the device `name`."""
    if isinstance(planned.step, Parallel):
        return any(name == key or _any_part(inner, name, key) for key, inner in planned.inner.items())
    if isinstance(planned.step, Step):
        return (planned.step.action.device or on) == name
    return name == on or any(_any_part(inner, name, on) for inner in planned.inner.values())


def _any_part(steps: Iterable[PlannedStep], name: str, on: str) -> bool:
    return any(takes_part(inner_step, name, on) for inner_step in steps)


class _Planner:
    def __init__(self, document: FlowDocument, env: Mapping[str, str], chain: tuple[Path, ...]) -> None:
        self._document = document
        self._env = env
        self._chain = chain

    def steps(self, steps: Steps, at: At) -> tuple[PlannedStep, ...]:
        return tuple(self._step(step, (*at, index)) for index, step in enumerate(steps))

    def _step(self, step: AnyStep, at: At) -> PlannedStep:
        label = step.label or step_name(step)
        if self._document.is_agentest and isinstance(step, Step):  # by the name that it has there
            label = f"{self._document.step_source(at)['action']}{label.removeprefix(step.action.type)}"
        return PlannedStep(step, self._document, at, label, self._inner(step, at))

    def _inner(self, step: AnyStep, at: At) -> dict[str, tuple[PlannedStep, ...]]:
        match step:
            case Step():
                return {}
            case Repeat():
                return {"steps": self.steps(step.steps, at)}
            case Branch():
                return {
                    "then": self.steps(step.then, (*at, "then")),
                    "else": self.steps(step.otherwise or (), (*at, "else")),
                }
            case Parallel():
                return {name: self.steps(inner, (*at, name)) for name, inner in step.devices.items()}
            case RunFlow():
                return {"steps": self._other(step, at)}

    def _other(self, step: RunFlow, at: At) -> tuple[PlannedStep, ...]:
        """The steps of another file. It is told the command line's variables and its own, not ours."""
        folder = self._document.path.parent if self._document.path else Path()
        path = real_path(folder / step.file)
        within = self._document.within
        if within is not None and not path.is_relative_to(within):
            raise self._wrong(at, f"{step.file} leads out of the flow's folder", "Name a file beside it.")
        if path in self._chain:
            ring = " → ".join(file.name for file in (*self._chain, path))
            raise self._wrong(at, f"{step.file} runs itself: {ring}", "Take one run_flow out of the ring.")
        if len(self._chain) >= DEEPEST:
            raise self._wrong(at, f"{step.file} is more than {DEEPEST} files deep", "Flatten the flows.")
        if not path.is_file():
            raise self._wrong(at, f"{step.file} does not exist", "Paths are relative to the file.")
        env = {**self._env, **step.env}
        other = replace(load(path).bind(env), within=within)
        return _Planner(other, self._env, (*self._chain, path)).steps(other.flow.steps, ())

    def _wrong(self, at: At, message: str, hint: str) -> InvalidAction:
        place = self._document.places.of(at)
        return InvalidAction(
            f"{place}: {message}", hint=hint, file=place.file, line=place.line, column=place.column
        )


def step_name(step: AnyStep) -> str:
    """What a step is called when nobody gave it a label. What is typed is not part of it."""
    match step:
        case Step():
            return f"{step.action.type} {_target_words(step.action)}".strip()[:LABEL]
        case Repeat(times=int(times)):
            return f"repeat {times} times"
        case Repeat():
            word = "while" if step.while_ else "until"
            return f"repeat {word} {_condition_words(step.while_ or step.until)}"[:LABEL]
        case Branch():
            return f"when {_condition_words(step.condition)}"[:LABEL]
        case RunFlow():
            return f"run_flow {step.file}"
        case Parallel():
            return f"parallel {', '.join(step.devices)}"


def _target_words(action: Act) -> str:
    """The target, else what a bare value would mean."""
    shorthand = action.traits.shorthand
    if isinstance(action, TypeText):
        shorthand = None
    value = getattr(action, "target", None) or (getattr(action, shorthand, None) if shorthand else None)
    match value:
        case Point() | Selector():
            return _selector_words(value)
        case Condition():
            return _condition_words(value)
        case list() | tuple():
            return " ".join(str(part) for part in value)
        case _:
            return "" if value is None else str(value)


def _condition_words(condition: Condition | None) -> str:
    """A condition in a few words: `visible Save`, `absent Loading`, `app com.android.settings`."""
    if condition is None:
        return ""
    value = getattr(condition, condition.kind)
    match value:
        case Point() | Selector():
            return f"{condition.kind} {_selector_words(value)}"
        case TextIs() | StateIs():
            return f"{condition.kind} of {_selector_words(value.target)}"
        case str():
            return f"{condition.kind} {value}"
        case _:
            return condition.kind


def _selector_words(target: Point | Selector) -> str:
    """The field by which a person would know the element."""
    if isinstance(target, Point):
        return f"{target.x},{target.y}"
    words = (target.handle, target.text, target.description, target.text_contains, target.hint, target.id)
    return next((word for word in words if word), None) or _describe_element(target)


_KINDS = ("role", "class_name", "id_contains", "state")
_SIDES = ("within", "near", "left_of", "right_of", "above", "below")


def _describe_element(target: Selector) -> str:
    """What it is and where: `switch right of Dark theme`."""
    kinds = [str(kind) for name in _KINDS if (kind := getattr(target, name))]
    sides = [
        f"{name.replace('_', ' ')} {_selector_words(anchor)}"
        for name in _SIDES
        if (anchor := getattr(target, name))
    ]
    return " ".join([*(kinds or ["element"]), *sides])


T = TypeVar("T")
SUFFIXES = frozenset({".yaml", ".yml", ".json"})
_SHARD = re.compile(r"([0-9]{1,4})/([0-9]{1,4})")


def real_path(path: Path) -> Path:
    """The path with its links resolved. A link to itself stays; `Path.resolve` raises there."""
    return Path(os.path.realpath(path))


@dataclass(frozen=True, slots=True)
class Shard:
    """The part of all flows that one of several machines runs."""

    index: int = 1
    count: int = 1

    @classmethod
    def parse(cls, text: str) -> Shard:
        """ "2/5": the second of five."""
        match = _SHARD.fullmatch(text)
        index, count = (int(match[1]), int(match[2])) if match else (0, 0)
        if not 1 <= index <= count:
            raise InvalidAction(
                f"{text!r} is not a shard", hint="Give i/n with 1 ≤ i ≤ n, for example 2/5.", path="shard"
            )
        return cls(index, count)

    def of(self, items: Sequence[T]) -> list[T]:
        """Every n-th: the same on every machine, and no two shares differ by more than one."""
        return list(items[self.index - 1 :: self.count])


def find_flows(paths: Sequence[Path]) -> list[Path]:
    """Named files as they are, folders searched; each once, in the order of their paths."""
    files: dict[Path, Path] = {}
    for path in paths:
        if not path.exists():
            raise NoSuchFile(f"{path} does not exist", hint="Give a flow or a folder of flows.", path="")
        for file in _flow_files_below(path) if path.is_dir() else [path]:
            files.setdefault(real_path(file), file)
    return [files[file] for file in sorted(files)]


def has_wanted_tags(tags: Collection[str], only: Collection[str], without: Collection[str]) -> bool:
    """The tags have at least one of `only` where any are given, and none of `without`."""
    return (not only or any(tag in only for tag in tags)) and not any(tag in without for tag in tags)


def _flow_files_below(folder: Path) -> Iterator[Path]:
    """Flow files below a folder. Hidden files are skipped, and those with _, which other flows run."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith((".", "_")):
            continue
        if path.is_dir():
            yield from _flow_files_below(path)
        elif path.suffix.lower() in SUFFIXES and (path.suffix.lower() != ".json" or _has_steps(path)):
            yield path


def _has_steps(path: Path) -> bool:
    """True for JSON that is a flow: a list of steps, or an object with one. Folders hold other JSON."""
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    steps = value.get("steps") if isinstance(value, dict) else value
    return isinstance(steps, list) and bool(steps) and all(isinstance(step, dict) for step in steps)

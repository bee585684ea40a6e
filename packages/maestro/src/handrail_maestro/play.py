"""One run of one Maestro flow: its variables, its scripts, what was copied, when the phone was last touched.

A `CommandTurn` is one command on its way: options are filled when it runs, elements are looked for by
Maestro's rules, and everything that is done goes through the flow's own runner.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from handrail.errors import ElementNotFound, InvalidAction, ScriptFailed, Unsupported
from handrail.flow.evidence import DeviceWatch
from handrail.flow.parse import Items, Node, Scalar
from handrail.flow.plan import Walk
from handrail.flow.run_record import StepRecord
from handrail.protocol.observe import GetUiTree
from handrail.screen.node import Node as UiNode
from handrail.screen.node import Screen
from handrail_maestro.expressions import SECRET_MARK, pieces, without_engine
from handrail_maestro.files import Workspace
from handrail_maestro.find import Finder, WantedElement
from handrail_maestro.read import MaestroCommand
from handrail_maestro.recording import ScreenRecording
from handrail_maestro.scripts import Scripts

if TYPE_CHECKING:
    from handrail_maestro.document import MaestroDocument

LARGEST = 1e12
"""Numbers beyond it are none that a flow can mean."""
LOOKUP_MS = 17_000.0
OPTIONAL_MS = 7_000.0
ABSENT_MS = 500.0
"""So long an element must not be found to count as gone."""
FIRST_GAP_MS, LONGEST_GAP_MS = 50.0, 400.0
STEADY_LOOKS = 10
"""How often the place of an element is read anew while it moves."""
STEADY_GAP_MS = 200.0


@dataclass(slots=True)
class Play:
    """What lives as long as the flow."""

    workspace: Workspace
    scripts: Scripts
    output: Path
    """Where pictures go."""
    seed: int = 0
    scopes: list[dict[str, str]] = field(default_factory=list)
    copied: str = ""
    acted_ms: float | None = None
    """When the last command ended that touched the phone, at first when the flow began; look-up budgets
    count from there."""
    recording: ScreenRecording | None = None
    luck: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.luck = random.Random(self.seed)  # noqa: S311  (made-up names, the same in every run)

    @property
    def scope(self) -> dict[str, str]:
        """The variables in force."""
        return self.scopes[-1]

    @contextmanager
    def inner(self, more: Mapping[str, str]) -> Iterator[None]:
        """A scope that inherits everything and ends with the block."""
        self.scopes.append({**self.scope, **more})
        try:
            yield
        finally:
            self.scopes.pop()

    async def end_recording(self) -> str:
        """What became of it; empty where nothing was recorded."""
        recording, self.recording = self.recording, None
        if recording is None:
            return ""
        try:
            await recording.stop()
        except Unsupported as error:
            return error.message
        ended = f"; it ended early: {recording.trouble}" if recording.trouble else ""
        return f"written to {recording.path}{ended}"

    async def close(self) -> None:
        """An unfinished recording ends with the flow."""
        try:
            await self.end_recording()
        finally:
            await self.scripts.close()

    def copy(self, text: str) -> None:
        """What `pasteText` types and scripts see."""
        self.copied = text
        self.scripts.copied(text)

    async def filled(self, text: str, *, secrets: bool = False) -> str:
        """A text with its expressions evaluated. A secret's place stays where `secrets` may stand."""
        made: list[str] = []
        for piece in pieces(text):
            if piece.is_secret and secrets:
                made.append(f"${{{piece.text.strip()}}}")
            elif piece.is_secret:
                raise ScriptFailed("a secret can only be typed", hint="Write ${secret:NAME} in inputText.")
            else:
                made.append(await self._value(piece.text, secrets) if piece.is_code else _literal(piece.text))
        return "".join(made)

    async def _value(self, code: str, secrets: bool) -> str:
        known = without_engine(code, self.scope)
        if known is not None:
            return known if secrets else _literal(known)
        return _literal(await self.scripts.evaluate(code, self.visible()))

    def visible(self) -> dict[str, str]:
        """The variables that scripts see: one that stands for a secret is none of theirs."""
        return {name: value for name, value in self.scope.items() if SECRET_MARK not in value}


def _literal(text: str) -> str:
    """What a script, a screen or a network says never names a secret."""
    if SECRET_MARK in text:
        raise ScriptFailed(
            "a text that was made while the flow ran names a secret",
            hint="Only ${secret:NAME} that stands in the file itself is filled.",
        )
    return text


@dataclass(slots=True)
class CommandTurn:
    """One command and the means to do it."""

    play: Play
    document: MaestroDocument
    command: MaestroCommand
    walk: Walk
    on: DeviceWatch
    record: StepRecord
    notes: list[str] = field(default_factory=list)
    """What differs from Maestro, or was left out; told with the step."""

    # options

    async def text(self, name: str, default: str | None = None, *, secrets: bool = False) -> str | None:
        """An option, filled."""
        written = self.command.text(name)
        return default if written is None else await self.play.filled(written, secrets=secrets)

    async def number(self, name: str, default: float) -> float:
        text = await self.text(name)
        if text is None:
            return default
        try:
            found = float(text.replace("_", ""))
        except ValueError:
            found = math.nan
        if not abs(found) <= LARGEST:
            raise InvalidAction(f"{name}: {text[:60]!r} is not a number", path=name, hint="Give a number.")
        return found

    async def data(self, node: Node | None) -> Any:
        """A whole value with every text in it filled; numbers and switches as they are written."""
        if node is None:
            return None
        if isinstance(node, Scalar):
            return await self.play.filled(node.text)
        if isinstance(node, Items):
            return [await self.data(one) for one in node.items]
        return {key: await self.data(entry.value) for key, entry in node.entries.items()}

    async def wanted(self, node: Node | None = None) -> WantedElement:
        """The element that the command, or one of its options, names."""
        return WantedElement.of(await self.data(self.command.options if node is None else node))

    async def app(self) -> str:
        """The package that the command is about: its own, else the header's of its file."""
        own = await self.text("appId") or await self.text("url")
        header = self.document.file.app
        package = own or (await self.play.filled(header) if header else None)
        if not package:
            raise InvalidAction(
                f"{self.command.name} needs an app", path="appId", hint="Give appId, here or in the header."
            )
        return package

    # time

    @property
    def now(self) -> float:
        return self.walk.clock.monotonic_ms()

    def until(self, budget_ms: float) -> float:
        """The end of a look-up budget: it counts from the last command that acted."""
        if self.play.acted_ms is None:
            raise AssertionError("a command runs after the flow began")
        return max(self.now, self.play.acted_ms + budget_ms)

    @property
    def lookup_ms(self) -> float:
        return OPTIONAL_MS if self.command.is_optional else LOOKUP_MS

    # looking

    async def look(self) -> Screen:
        """The screen now."""
        await self.walk.act(GetUiTree(max_lines=1), self.on, self.record)
        last = self.on.session.screens.last
        if last is None:
            raise AssertionError("a look that succeeded has been taken")
        return last.screen

    async def once(self, wanted: WantedElement) -> tuple[Screen, UiNode | None]:
        """One look for an element."""
        screen = await self.look()
        return screen, await Finder(screen, self.play.scripts.matches).first(wanted)

    async def seek(self, wanted: WantedElement, end_ms: float) -> tuple[Screen, UiNode] | None:
        """Look until it is there or the time is over; at least once."""
        gap = FIRST_GAP_MS
        while True:
            screen, node = await self.once(wanted)
            if node is not None:
                return screen, node
            if self.now >= end_ms:
                return None
            await self.walk.clock.sleep_ms(min(gap, end_ms - self.now))
            gap = min(2 * gap, LONGEST_GAP_MS)

    async def is_gone(self, wanted: WantedElement, end_ms: float) -> bool:
        """Not found during half a second of looking."""
        missing_since: float | None = None
        while True:
            began = self.now
            _, node = await self.once(wanted)
            missing_since = None if node is not None else began if missing_since is None else missing_since
            if missing_since is not None and self.now - missing_since >= ABSENT_MS:
                return True
            if node is not None and self.now >= end_ms:
                return False
            await self.walk.clock.sleep_ms(FIRST_GAP_MS * 2)

    async def find(self, wanted: WantedElement, budget_ms: float | None = None) -> tuple[Screen, UiNode]:
        """The element. Raises `ElementNotFound` at the end of the budget."""
        found = await self.seek(wanted, self.until(self.lookup_ms if budget_ms is None else budget_ms))
        if found is None:
            raise ElementNotFound(
                f"{wanted} was not found", hint="A text is a pattern for the whole text; look at the screen."
            )
        return found

    async def steady(self, wanted: WantedElement) -> tuple[Screen, UiNode]:
        """The element, at a place where it stays."""
        screen, node = await self.find(wanted)
        for _ in range(STEADY_LOOKS):
            again, same = await self.once(wanted)
            if same is None or same.bounds == node.bounds:
                return screen, node
            screen, node = again, same
            await self.walk.clock.sleep_ms(STEADY_GAP_MS)
        return screen, node

"""What one device shows while a flow runs on it: where it began, where it ended, which dialogs came up."""

from __future__ import annotations

from dataclasses import dataclass, field

from handrail.engine.events import Caller
from handrail.engine.look.looks import Look
from handrail.engine.session import Session
from handrail.flow.records import Picture
from handrail.protocol.envelope import Envelope, SystemDialog
from handrail.protocol.observe import GetUiTree
from handrail.tree.dialogs import system_dialogs
from handrail.tree.node import Screen


@dataclass(slots=True)
class Witness:
    """One device during one flow."""

    name: str
    session: Session
    caller: Caller
    fingerprint: str = ""
    changed: bool = False
    tree: str = ""
    dialogs: dict[SystemDialog, None] = field(default_factory=dict)
    """In the order of their coming, each once."""
    crashed: bool = False
    _began: str = ""
    _screen: Screen | None = None
    _picture: tuple[Picture, Look | None] | None = None

    async def begin(self) -> None:
        """The screen on which the first step starts; a crash that it shows happened before."""
        await self._look("the screen before the flow")
        self._began = self.fingerprint
        self.crashed = False

    async def end(self) -> None:
        """The screen that the flow leaves."""
        await self._look("the screen after the flow")
        self.changed = self.fingerprint != self._began

    def settle_for_last(self) -> None:
        """What was read last has to do: the run was interrupted, and nobody wants to wait."""
        last = self.session.sight.last
        if last is not None:
            self.fingerprint, self.tree = last.fingerprint, self.session.sight.registry.text
        self.changed = self.fingerprint != self._began

    def note(self, envelope: Envelope) -> None:
        """After every action: dialogs of the system, and whether the app died."""
        self.crashed |= envelope.failure_code == "APP_CRASHED"
        self._scan()

    def keep_picture(self, picture: Picture) -> None:
        """The picture after one step is the picture before the next, if nothing was read in between."""
        self._picture = (picture, self.session.sight.last)

    def last_picture(self) -> Picture | None:
        if self._picture is None or self._picture[1] is not self.session.sight.last:
            return None
        return self._picture[0]

    async def _look(self, reason: str) -> None:
        envelope = await self.session.run(GetUiTree(), reason=reason, caller=self.caller)
        if envelope.success and envelope.details:
            self.fingerprint, self.tree = envelope.details["fingerprint"], envelope.details["text"]
            self._scan()

    def _scan(self) -> None:
        last = self.session.sight.last
        if last is None or last.screen is self._screen:
            return
        self._screen = last.screen
        for found in system_dialogs(last.screen):
            told = SystemDialog(
                package_name=found.package, title=found.title, buttons=found.buttons, kind=found.kind
            )
            self.crashed |= found.kind == "crash" and told not in self.dialogs
            self.dialogs.setdefault(told)

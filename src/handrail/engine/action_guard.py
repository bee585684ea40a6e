"""Shows the authorizer what an action names and what its gestures would press, on the screen that is there.

After a person was asked the screen is read and the targets are found again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

from handrail.engine.gestures import PressedNodes, activated_by_keys, submit_buttons
from handrail.engine.resolve import aim
from handrail.engine.run import ActionRun, Stage
from handrail.engine.snapshot import UiSnapshot, require_present
from handrail.errors import TargetError
from handrail.protocol.traits import Capability, Pressed
from handrail.safety.authorize import Authorizer, ReadAgain, screen_changed
from handrail.safety.screen_binding import ScreenBinding
from handrail.safety.secret_fields import raw_screen
from handrail.safety.subject import Subject, TouchedElement
from handrail.screen.elements import elements
from handrail.screen.node import Bounds, Node, Screen, receiver, touchable
from handrail.surface.capabilities import ScreenReader, optional

Reveal = Callable[[ActionRun, str | None], None]
"""Called when it is known whether the text of an action may be written down, with what stands for it."""


class ActionGuard:
    """Asks the authorizer before each action of one session."""

    def __init__(self, authorizer: Authorizer, reveal: Reveal) -> None:
        self.authorizer = authorizer
        self._reveal = reveal

    async def enter(self, stage: Stage) -> None:
        await self.authorizer.enter(stage.run, stage.surface.entry, stage.turn.released)

    async def authorize_named(self, stage: Stage) -> None:
        """Asks about what the action names. What its gestures press is asked about when they are made."""
        run = stage.run
        subject = self.authorizer.subject(run, await _nodes_named(stage))
        self._reveal(run, self.authorizer.password_placeholder(subject))
        await self.authorizer.authorize(run, subject, _ScreenAsked(stage))

    def may_press(self, stage: Stage, presses: PressedNodes) -> bool:
        """Whether nobody would have to be asked."""
        subject = self._not_yet_permitted(stage, presses)
        return subject is None or self.authorizer.decide(stage.run, subject).kind == "allow"

    def may_scroll(self, stage: Stage) -> bool:
        """Whether the app in front may be scrolled before it is known what will be pressed there."""
        app = TouchedElement(package=require_present(stage.screens.last).screen.package)
        return self.authorizer.decide(stage.run, self.authorizer.subject(stage.run, [app])).kind != "deny"

    async def authorize_press(self, stage: Stage, presses: PressedNodes) -> None:
        """Raises `ActionRejected`. Nobody can be asked once a part of the action was dispatched."""
        run = stage.run
        if stage.screens.last is None:
            await stage.refresh_screen()
        subject = self._not_yet_permitted(stage, presses)
        if subject is None:
            return
        if run.action.presses is Pressed.NOTHING:
            raise AssertionError(f"{run.action.type} presses {subject.label!r}; its traits say: nothing")
        screen = _ScreenAsked(stage, presses) if run.life.state == "resolved" else None
        await self.authorizer.authorize(run, subject, screen)

    async def look_between_touches(self, stage: Stage) -> None:
        """What was permitted is used up by a dispatch, unless the screen shows exactly the same."""
        run = stage.run
        was = ScreenBinding.of(raw_screen(require_present(stage.screens.last).screen))
        now = ScreenBinding.of(raw_screen((await stage.refresh_screen()).screen))
        if was.changes(now) != set():
            run.permitted.clear()
            run.rule = ""

    def _not_yet_permitted(self, stage: Stage, presses: PressedNodes) -> Subject | None:
        """What would be pressed and was not permitted yet."""
        run, pressed = stage.run, _elements_pressed(stage, presses)
        new = [element for element in pressed if element not in run.permitted]
        return self.authorizer.subject(run, new) if new else None


async def _nodes_named(stage: Stage) -> list[TouchedElement]:
    """What the action names, else the app in front."""
    run = stage.run
    snapshot = run.before or stage.screens.last
    if snapshot is None:
        return [TouchedElement()]
    screen, label_of = _screen_to_judge(stage, snapshot)
    nodes = list(dict.fromkeys(screen.nodes[aim.node.order] for aim in run.aims.values()))
    pressed = False if run.action.presses is Pressed.PATH else None
    if run.action.presses is Pressed.FOCUS and not run.action.only_types:
        nodes += await _pressed_by_submit(stage, screen, nodes)
    named = [TouchedElement.of(screen, node, label_of, pressed) for node in nodes]
    return named or [TouchedElement(package=snapshot.screen.package)]


async def _pressed_by_submit(stage: Stage, screen: Screen, fields: Sequence[Node]) -> list[Node]:
    """What Enter would press after a text was typed, when it is too late to ask."""
    if stage.run.action.traits.needs is not Capability.TEXT:
        return list(submit_buttons(screen, fields))
    nodes: list[Node] = []
    for native_id in [text_field.native_id for text_field in fields] or [""]:
        activated = await activated_by_keys(stage, ("enter",), native_id)
        nodes += activated(screen) if activated is not None else submit_buttons(screen, fields)
    return nodes


def _elements_pressed(stage: Stage, presses: PressedNodes) -> list[TouchedElement]:
    """What a gesture or key would press. A node that the action named stands for what its touch reaches."""
    snapshot, run = require_present(stage.screens.last), stage.run
    screen, label_of = _screen_to_judge(stage, snapshot)
    aimed = [screen.nodes[aim.node.order] for aim in run.aims.values() if aim.match.screen is snapshot.screen]
    named = {receiver(node): node for node in aimed}
    nodes = [named.get(node, node) for node in presses(screen)]
    return [TouchedElement.of(screen, node, label_of, True).pressed_by(run.action) for node in nodes]


def _screen_to_judge(stage: Stage, snapshot: UiSnapshot) -> tuple[Screen, Callable[[Node], str]]:
    """The screen that rules are about, and its labels: what is there, not what may be told of it."""
    screen = raw_screen(snapshot.screen)
    if screen is snapshot.screen:
        return screen, stage.screens.registry.label_of
    external, labels = screen.memo.get(_screen_to_judge, (None, {}))
    if external is not snapshot.analysis.labels:
        labels = {element.node: element.label for element in elements(screen, snapshot.analysis.labels)}
        screen.memo[_screen_to_judge] = snapshot.analysis.labels, labels
    return screen, lambda node: labels.get(node, "")


@dataclass(frozen=True, slots=True)
class _ScreenAsked:
    """The screen on which a person is asked about what an action names, or about `presses`."""

    stage: Stage
    presses: PressedNodes | None = None
    bound: list[ScreenBinding] = field(default_factory=list)
    """What the last question was bound to, with what hidden fields hold."""

    def bind(self) -> str:
        run = self.stage.run
        if self.presses is not None:
            run.before = self.stage.screens.last
        shown = run.before
        if shown is None:
            return ""
        self.bound[:] = [self._binding(shown, raw_screen(shown.screen))]
        return f"{shown.fingerprint}.{self._binding(shown, shown.screen).fingerprint}"

    def _binding(self, shown: UiSnapshot, screen: Screen) -> ScreenBinding:
        """The redacted screen and the raw one have the same nodes in the same order."""
        aimed = (screen.nodes[aim.node.order] for aim in self.stage.run.aims.values())
        quoted = [*aimed, *(self.presses(screen) if self.presses is not None else ())]
        restless = {node.order for node in self.stage.screens.volatile.nodes(shown.screen)}
        return ScreenBinding.of(screen, quoted, restless)

    @property
    def volatile(self) -> Mapping[str, str]:
        return self.bound[0].volatile if self.bound else {}

    @property
    def mark(self) -> Bounds | None:
        """Frames what would be pressed: of several nodes, the one that takes touches."""
        if self.presses is None:
            return next((aim.touched.bounds for aim in self.stage.run.aims.values()), None)
        nodes = self.presses(require_present(self.stage.screens.last).screen)
        return next((node.bounds for node in (*filter(touchable, nodes), *nodes)), None)

    async def screenshot(self) -> bytes | None:
        if optional(self.stage.surface, ScreenReader) is None:
            return None
        return await self.stage.screens.reader.screenshot()

    def waiting(self) -> AbstractAsyncContextManager[None]:
        return self.stage.turn.released()

    async def read_again(self, may_change: Collection[str]) -> ReadAgain:
        """The screen may have changed, or been changed, while a person thought about it."""
        stage, run = self.stage, self.stage.run
        if run.before is None:
            return ReadAgain(None)
        run.before = await stage.refresh_screen()
        run.revision_before = stage.screens.revision_name
        for name, old in run.aims.items():
            try:
                new = aim(stage.screens, old.target)
            except TargetError:
                raise screen_changed() from None
            if not new.is_same(old):
                raise screen_changed()
            run.aims[name] = new
        changes = self.bound[0].changes(self._binding(run.before, raw_screen(run.before.screen)))
        if changes is None:
            raise screen_changed()
        touched = (
            await _nodes_named(stage) if self.presses is None else _elements_pressed(stage, self.presses)
        )
        return ReadAgain(touched, has_ticked=not changes <= set(may_change))

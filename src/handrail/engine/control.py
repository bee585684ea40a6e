"""Setting a control: which one was meant, and whether it slides or is chosen from."""

from __future__ import annotations

from handrail.engine.choice import choose, offers_choice
from handrail.engine.resolve import Aim
from handrail.engine.run import Outcome
from handrail.engine.slider import Slide
from handrail.engine.stage import Stage
from handrail.errors import SemanticMismatch
from handrail.protocol.device import SetValue
from handrail.tree.match.sketch import scrolls
from handrail.tree.mention import receiver, touchable
from handrail.tree.node import Node, Screen

_CONTROLS = ("slider", "spinner")


async def set_value(stage: Stage, action: SetValue) -> Outcome:
    """Converges, or says where it stopped."""
    aim, screen = stage.aim(), stage.before.screen
    node = _control(screen, aim)
    if node is None and offers_choice(aim.touched) and receiver(aim.node) is aim.touched:
        node = aim.touched
    if node is None:
        raise SemanticMismatch(
            f"{aim} has no value to set",
            hint="Aim at a slider (@v…), a spinner or a row that opens a choice; "
            "use type_text for fields and tap for switches.",
            ref=aim.ref,
        )
    if node.role == "slider":
        return await Slide(stage, action, node).run()
    return await choose(stage, node, str(action.value))


def _control(screen: Screen, aim: Aim) -> Node | None:
    """The control that was aimed at, or the only one that the words that were aimed at can belong to."""
    for node in (aim.node, aim.touched):
        if only := _only_control(screen, node):
            return only
    if receiver(aim.node) is not None:
        return None  # a row or a button of its own, not the caption of something beside it
    for around in aim.node.ancestors():
        others = [one for one in screen.inside(around) if touchable(one) and one.role not in _CONTROLS]
        if scrolls(around) or others:
            return None
        if only := _only_control(screen, around):
            return only
    return None


def _only_control(screen: Screen, node: Node) -> Node | None:
    inside = [one for one in (node, *screen.inside(node)) if one.role in _CONTROLS]
    return inside[0] if len(inside) == 1 else None

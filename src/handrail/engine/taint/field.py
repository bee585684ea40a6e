"""A field by what outlives its ref, its screen and this process. Pure: nodes in, values out."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher

from handrail.tree.node import Node, Screen

LONGEST = 200
"""Characters of a content that are compared with another one."""
SURVIVES = 0.5
"""Of a text must still be there for another one to count as made from it."""


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a field is: by its resource id, else by its class and its place in the window."""

    package: str
    field: str
    path: str
    title: str
    """Of the pane or web page around it; "" where nothing tells."""
    hint: str


@dataclass(frozen=True, slots=True)
class TaintedField:
    """A field that received a secret. It holds no value of one."""

    spot: Spot
    activity: str
    name: str
    """Of the secret whose placeholder stands for all of its text."""
    vacant: str = ""
    """What it says while it is empty, where dumps show a hint as text."""
    is_shared: bool = False
    """Several fields of one screen have its id: one that is empty says nothing of the others."""

    @property
    def key(self) -> tuple[str, str, str, str]:
        return (self.spot.package, self.spot.field, self.activity, self.spot.title)

    def hides(self, spot: Spot) -> bool:
        """Whether this may be the field, in whichever window: too much is hidden rather than too little."""
        own = self.spot
        if own.package != spot.package:
            return False
        if own.field == spot.field:
            return True
        return bool(own.hint) and own.hint == spot.hint and _kind(own) == _kind(spot) != ""

    def is_proved_empty(self, spot: Spot, activity: str) -> bool:
        """Seen empty, this very one: the same app, window, page, place and hint."""
        return not self.is_shared and self.spot == spot and self.activity == activity

    def is_empty(self, node: Node) -> bool:
        return not node.text or node.text == node.hint_text or (node.text == self.vacant != "")


def spot_of(node: Node) -> Spot:
    """Words of the screen are in it: whoever stores it redacts them."""
    path, title, at = [], node.pane_title, node
    while at.parent is not None and at.parent.class_name:  # up to the window, not to what holds all windows
        path.append(str(at.position))
        at = at.parent
        title = title or at.pane_title or (at.text if at.role == "web_view" else "")
    place = ".".join(reversed(path))
    field = node.resource_id or f"{node.class_name}@{place}"
    return Spot(node.package_name, field, place, title, node.hint_text)


def _kind(spot: Spot) -> str:
    """The class of a field without an id."""
    return spot.field.partition("@")[0] if spot.field.endswith(f"@{spot.path}") else ""


def focused_field(screen: Screen | None) -> Node | None:
    """The innermost of the topmost window, as input goes there."""
    if screen is None:
        return None
    return next((n for n in reversed(screen.nodes) if n.focused and n.role == "text_field"), None)


def is_made_from(old: str, new: str) -> bool:
    """Enough of the old text stands in the new one, in the same order."""
    one, other = old[:LONGEST], new[:LONGEST]
    if not one or not other:
        return False
    same = sum(
        block.size for block in SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
    )
    return same >= SURVIVES * min(len(one), len(other))


def is_rest(rest: str, whole: str) -> bool:
    """Deleting characters of `whole` can give `rest`."""
    letters = iter(whole)
    return all(letter in letters for letter in rest)

"""What an action would touch, as policy sees it: taken from the screen, also for a ref or a bare point."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from handrail.tree.mention import name_of, receiver, touchable
from handrail.tree.node import Node, Screen
from handrail.tree.quote import clean

_MOST_TEXTS = 8  # inside one element; a touchable box that says more is a page, not a button
_AROUND = 600  # characters; a box that says more is a page, not what a button belongs to


@dataclass(frozen=True, slots=True)
class Resolved:
    """One element; with only `package` it stands for the app in front, where nothing is aimed at."""

    package: str = ""
    label: str = ""
    """What a person calls it."""
    says: tuple[str, ...] = ()
    """Whatever else it says: description, tooltip, the texts inside."""
    around: tuple[str, ...] = ()
    """The texts of the smallest box around it that has any: what "OK" is an answer to."""
    id: str = ""
    role: str = ""
    password: bool = False

    @classmethod
    def of(cls, screen: Screen, node: Node, label_of: Callable[[Node], str] | None = None) -> Resolved:
        """`node` as it was found; what a touch on it reaches is what counts."""
        touched = receiver(node) or node
        label = (label_of(touched) if label_of else "") or name_of(touched) or name_of(node)
        says = dict.fromkeys(text for text in _texts(screen, touched, node) if text != label)
        return cls(
            package=touched.package_name or screen.package,
            label=label,
            says=tuple(says),
            around=tuple(_around(screen, touched)),
            id=touched.resource_id or node.resource_id,
            role=touched.role,
            password=touched.password or node.password,
        )

    @property
    def id_tail(self) -> str:
        return self.id.rpartition(":id/")[2]

    @property
    def names(self) -> tuple[str, ...]:
        return (self.label, *self.says)


def _texts(screen: Screen, touched: Node, node: Node) -> Iterator[str]:
    for each in (touched, node):
        yield from _said(each)
    inside = list(_plain_texts(screen, touched))
    if len(inside) <= _MOST_TEXTS:
        yield from inside


def _plain_texts(screen: Screen, box: Node) -> Iterator[str]:
    """What stands in a box, without the touchable things and the lists in it."""
    skipped = 0
    for each in screen.inside(box):
        if each.order < skipped:
            continue
        if touchable(each) or each.scrollable:
            skipped = each.end
        else:
            yield from _said(each)


def _said(node: Node) -> Iterator[str]:
    """What a field holds is not its name: a letter that says "pay" is no payment, a password no name."""
    own = "" if node.role == "text_field" else node.shown_text
    hidden = clean(node.text) if node.password else ""
    for text in (own, node.description, node.hint_text, node.tooltip_text):
        if (said := clean(text)) and said != hidden:
            yield said


def _around(screen: Screen, touched: Node) -> list[str]:
    for box in touched.ancestors():
        if texts := list(_plain_texts(screen, box)):
            return texts if sum(map(len, texts)) <= _AROUND else []
    return []

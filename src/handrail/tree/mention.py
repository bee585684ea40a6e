"""How an element is called towards a caller: its ref, class and label in messages and candidate lists.

Quotes and cuts screen text. `Handles` is what a session adds to the tree: refs and the labels an agent reads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from handrail.errors import StaleReference
from handrail.tree.element.labels import label_beside_value, own_label
from handrail.tree.node import CHECKABLE, CLICKABLE, LONG_CLICKABLE, Node
from handrail.tree.quote import cut, quoted

RefOf = Callable[[Node], str | None]

_LIMIT = 60  # characters of a label in a message
_TOUCHED = CLICKABLE | LONG_CLICKABLE | CHECKABLE


def no_refs(_: Node) -> str | None:
    """For screens outside a session."""
    return None


def touchable(node: Node) -> bool:
    """True for what takes a touch itself, instead of leaving it to what is around or below."""
    return node.flags & _TOUCHED != 0 or node.role == "text_field"


def receiver(node: Node) -> Node | None:
    """What a tap on this node reaches: itself, else the touchable around it."""
    if touchable(node):
        return node
    return next(filter(touchable, node.ancestors()), None)


def name_of(node: Node) -> str:
    """What a person would call it: its own label, else the first one inside."""
    stack = [node]
    while stack:
        one = stack.pop()
        label, _ = label_beside_value(one) if one.role == "text_field" else own_label(one)
        if label:
            return label
        stack.extend(reversed(one.children))
    return ""


def mention(node: Node, ref: str | None = None) -> str:
    """Such as `@b1 Button "Save"`; the id stands in for a missing label."""
    words = [ref] if ref else []
    words.append(node.short_class or "Node")
    if name := name_of(node):
        words.append(quoted(cut(name, _LIMIT)))
    elif node.resource_id:
        words.append(f"#{node.id_tail}")
    else:
        words.append(str(node.bounds))
    return " ".join(words)


def candidate(node: Node, ref: str | None, **more: Any) -> dict[str, Any]:
    """An element as data, for the details of an error; empty fields are left out."""
    facts = {
        "ref": ref,
        "class": node.short_class,
        "label": cut(name_of(node), _LIMIT),
        "id": node.id_tail,
        "bounds": list(node.bounds),
        **more,
    }
    return {key: value for key, value in facts.items() if value not in (None, "")}


class Handles(Protocol):
    """Implemented by `refs.Registry`."""

    def resolve(self, ref: str) -> Node:
        """The element behind a ref. Raises `StaleReference`."""
        ...

    def ref_of(self, node: Node) -> str | None:
        """The ref of an element; None for other nodes."""
        ...

    def label_of(self, node: Node) -> str:
        """The label an element is shown with; '' for other nodes."""
        ...


class NoHandles:
    """For a screen outside a session: no refs, and labels by the tree alone."""

    def resolve(self, ref: str) -> Node:
        raise StaleReference(f"{ref} is not known: no screen with refs was read yet", ref=ref)

    def ref_of(self, node: Node) -> str | None:  # noqa: ARG002
        return None

    def label_of(self, node: Node) -> str:
        return name_of(node) if receiver(node) is node else ""


NO_HANDLES = NoHandles()

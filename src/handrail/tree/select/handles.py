"""What a session knows of a screen's elements beyond the tree: their refs, and the labels an agent reads."""

from __future__ import annotations

from typing import Protocol

from handrail.errors import StaleReference
from handrail.tree.mention import name_of, receiver
from handrail.tree.node import Node


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

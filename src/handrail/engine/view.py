"""Refs and labels on a screen that was looked at and not taken: for conditions that are waited for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from handrail.tree.element.find import elements
from handrail.tree.match.matching import Matching, match
from handrail.tree.node import Node, Screen
from handrail.tree.refs import Registry


class View:
    """Elements are followed to this screen from the last one that the registry has taken."""

    def __init__(self, screen: Screen, registry: Registry, labels: Mapping[str, str]) -> None:
        self._screen = screen
        self._external = labels
        self._registry = registry
        self._base = registry.screen
        self._is_taken = self._base is screen

    def fits(self, screen: Screen, labels: Mapping[str, str]) -> bool:
        """Nothing was taken or named since: it still tells the truth about this screen."""
        is_same = self._screen is screen and self._external is labels
        return is_same and self._base is self._registry.screen

    @cached_property
    def _matching(self) -> Matching | None:
        return None if self._base is None else match(self._base, self._screen)

    @cached_property
    def _labels(self) -> Mapping[Node, str]:
        return {element.node: element.label for element in elements(self._screen, self._external)}

    def resolve(self, ref: str) -> Node:
        node = self._registry.resolve(ref)
        if self._is_taken or self._matching is None:
            return node
        partner = self._matching.new_of(node)
        if partner is None:
            raise self._registry.stale(ref)
        return partner

    def ref_of(self, node: Node) -> str | None:
        if self._is_taken or self._matching is None:
            return self._registry.ref_of(node)
        partner = self._matching.old_of(node)
        return self._registry.ref_of(partner) if partner is not None else None

    def label_of(self, node: Node) -> str:
        return self._registry.label_of(node) if self._is_taken else self._labels.get(node, "")

"""Watches a registry over an invented phone: the tokens tell it what the registry has to find out."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from handrail.errors import StaleReference
from handrail.screen.refs import Registry
from tests.unit.screen.world import World


class Witness:
    """Fails when a ref means another element than the one it was given to."""

    def __init__(self, seed: int) -> None:
        self.world = World(Random(seed))
        self.registry = Registry()
        self.token_of: dict[str, str] = {}
        self.shown: dict[str, str] = {}  # token -> ref on the last screen
        self.survivors = 0
        self.kept = 0
        self.lost: Counter[str] = Counter()

    def live(self, looks: int) -> Witness:
        """Looks at the phone again and again, after one or two changes each time."""
        self.look("start")
        for _ in range(looks):
            edits = [self.world.edit() for _ in range(1 + (self.world.rng.random() < 0.3))]
            self.look(" + ".join(edits))
        return self

    def look(self, edits: str) -> None:
        screen, tokens = self.world.draw()
        result = self.registry.rebuild(screen)
        live = {ref: tokens[node.order] for ref, node in self.registry.refs.items()}
        for ref, token in live.items():
            was = self.token_of.setdefault(ref, token)
            assert was == token, f"{ref} moved from {was} to {token} after {edits}"
        self._count(set(tokens), live, edits)
        self._one_gone_is_stale(live)
        self.shown = {tokens[node.order]: ref for ref, node in result.ref_map.items()}

    def _count(self, here: set[str], live: dict[str, str], edits: str) -> None:
        for token, ref in self.shown.items():
            if token in here:
                self.survivors += 1
                self.kept += ref in live
                self.lost[edits] += ref not in live

    def _one_gone_is_stale(self, live: dict[str, str]) -> None:
        gone = sorted(set(self.token_of) - set(live))
        if gone:
            with pytest.raises(StaleReference):
                self.registry.resolve(self.world.rng.choice(gone))

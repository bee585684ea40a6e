"""Fingerprints over real screens: shaken by 2 px, and across recorded actions."""

from __future__ import annotations

import csv
import random

from handrail.errors import TreeParseError
from handrail.screen.fingerprint import at_rest, idle_fingerprint, screen_fingerprint
from handrail.screen.node import Bounds, Screen
from handrail.screen.parse import parse
from tests.corpus import CORPUS, needs_corpus

WORST = [(2, 2, 2, 2), (-2, -2, -2, -2), (-2, -2, 2, 2), (2, 2, -2, -2)]


@needs_corpus
def test_shaking_real_screens_by_two_pixels_changes_less_than_one_fingerprint_of_a_hundred() -> None:
    rng = random.Random(1)
    cases = changes = 0
    for one in _screens():
        before = _fingerprints(one)
        rest = [node.bounds for node in one.nodes]
        for fixed in (*WORST, None):
            for node, bounds in zip(one.nodes, rest, strict=True):
                by = fixed or tuple(rng.randint(-2, 2) for _ in range(4))
                node.bounds = Bounds(*(edge + step for edge, step in zip(bounds, by, strict=True)))
            cases += 1
            changes += _fingerprints(one) != before
    assert cases > 1_500
    assert changes / cases < 0.01


@needs_corpus
def test_recorded_actions_change_the_screen_and_typing_does_not() -> None:
    assert CORPUS is not None
    typed, same = [], []
    with (CORPUS / "PAIRS.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if row["kind"] != "droidbot-event":
                continue
            before, after = (parse((CORPUS / row[side]).read_bytes()) for side in ("before", "after"))
            if screen_fingerprint(before) == screen_fingerprint(after):
                same.append(row["action"].partition("(")[0])
                assert idle_fingerprint(before) != idle_fingerprint(after)
                assert not at_rest(before, after)
            elif row["action"].startswith("SetText"):
                typed.append(row["pair"])
    assert set(same) == {"SetTextEvent"}
    assert len(typed) <= len(same)


def _fingerprints(one: Screen) -> tuple[str, str]:
    return screen_fingerprint(one), idle_fingerprint(one)


def _screens() -> list[Screen]:
    assert CORPUS is not None
    found = []
    for path in sorted(CORPUS.rglob("*")):
        if path.suffix in (".xml", ".json"):
            try:
                found.append(parse(path.read_bytes()))
            except TreeParseError:
                continue  # events and other files without a tree
    return found

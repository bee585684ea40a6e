"""How well elements are recognised again and how fast: `python bench/identity.py`. Needs the corpus."""

from __future__ import annotations

import csv
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.corpus import CORPUS
from tests.judge.corpus_pairs import neighbours, recorded
from tests.judge.verdicts import judge
from tests.unit.screen.corpus_edits import measure
from tests.unit.screen.drawn import node, screen

from handrail.screen.diff import diff
from handrail.screen.elements import elements
from handrail.screen.fingerprint import at_rest, idle_fingerprint, screen_fingerprint
from handrail.screen.match import match
from handrail.screen.node import Screen
from handrail.screen.parse import parse

GOAL_MS, GOAL_KEPT, GOAL_SAME = 2.0, 0.96, 0.92


def pairs(corpus: Path) -> list[tuple[str, Screen, Screen]]:
    """What happened, before, after."""
    with (corpus / "PAIRS.tsv").open() as table:
        rows = list(csv.DictReader(table, delimiter="\t"))
    return [
        (
            row["action"].split("(")[0].split()[0] if row["kind"] == "droidbot-event" else "adjacent dumps",
            parse((corpus / row["before"]).read_bytes()),
            parse((corpus / row["after"]).read_bytes()),
        )
        for row in rows
    ]


def print_fingerprints(found: list[tuple[str, Screen, Screen]]) -> None:
    """How often each fingerprint tells the two screens of a pair apart."""
    print(f"{'after':18}{'pairs':>6}{'screen differs':>16}{'idle differs':>14}{'not at rest':>13}")
    for what in sorted({what for what, _, _ in found}):
        some = [(old, new) for kind, old, new in found if kind == what]
        screens = sum(screen_fingerprint(old) != screen_fingerprint(new) for old, new in some)
        idles = sum(idle_fingerprint(old) != idle_fingerprint(new) for old, new in some)
        moved = sum(not at_rest(old, new) for old, new in some)
        print(f"{what:18}{len(some):>6}{screens:>16}{idles:>14}{moved:>13}")


def timed(old: Screen, new: Screen) -> float:
    """Milliseconds of match and diff, the best of three; the elements are known from the compact text."""
    known = elements(old), elements(new)
    spent = []
    for _ in range(3):
        start = time.perf_counter()
        diff(old, new, matching=match(old, new), elements=known)
        spent.append((time.perf_counter() - start) * 1_000)
    return min(spent)


def wide(rows: int, first: int) -> Screen:
    views = [
        node("LinearLayout", node("TextView", text=f"row {first + n}", box=(0, 150 * n, 900, 150 * n + 150)),
             node("TextView", text="note", box=(0, 150 * n, 900, 150 * n + 150)),
             node("ImageButton", box=(900, 150 * n, 1080, 150 * n + 150), flags="clickable"),
             box=(0, 150 * n, 1080, 150 * n + 150), flags="clickable")
        for n in range(rows)
    ]  # fmt: skip
    return screen(node("ListView", *views, box=(0, 0, 1080, 150 * rows), flags="scrollable"))


def main() -> None:
    if CORPUS is None:
        print("no corpus of dumps: set HANDRAIL_CORPUS to its folder")
        return
    found = pairs(CORPUS)
    kept = total = 0
    for _, old, new in found:
        to_new = match(old, new).to_new
        acting = [element.node.order for element in elements(old)]
        total += len(acting)
        kept += sum(to_new[order] >= 0 for order in acting)
    print(f"{len(found)} real pairs: {kept} of {total} elements recognised again ({kept / total:.1%})")
    print(f"judged apart, recorded steps: {judge(recorded(CORPUS))}; goal {GOAL_SAME:.0%}, 0 flags")
    print(f"judged apart, neighbouring dumps: {judge(neighbours(CORPUS))}")
    scores = measure(CORPUS, per_screen=3)
    for kind, score in scores.items():
        print(f"edit {kind:8} {score}; goal {GOAL_KEPT:.0%}")
    survivors = sum(score.survivors for score in scores.values())
    print(f"all edits: {sum(score.kept for score in scores.values()) / survivors:.1%} of {survivors} kept")
    print_fingerprints(found)
    spent = sorted(timed(old, new) for _, old, new in found)
    p90 = spent[len(spent) * 9 // 10]
    print(
        f"match + diff: {statistics.median(spent):.2f} ms median, {p90:.2f} ms p90; goal {GOAL_MS} ms median"
    )
    for rows in (625, 1_250, 2_500):
        old, new = wide(rows, 0), wide(rows, 3)
        size = len(old.nodes)
        spent_here = timed(old, new)
        print(f"match + diff of {size} nodes: {spent_here:.0f} ms, {spent_here * 1_000 / size:.1f} µs a node")


if __name__ == "__main__":
    main()

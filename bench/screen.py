"""How small, how complete and how fast the screen texts are, over the corpus of real dumps.

Run from the repository: `python bench/screen.py [--json] [--corpus DIR] [--rounds N]`.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from lxml import etree
from rs_bpe.bpe import openai

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench.growth import growth  # noqa: E402
from bench.raw_dump import Raw, read  # noqa: E402
from bench.screen_quality import (  # noqa: E402
    Quality,
    judge,
    known_by,
    printed_refs,
    seen_nodes,
    text_pieces,
)
from bench.seed_outline import seed_outline  # noqa: E402

from handrail.errors import TreeParseError  # noqa: E402
from handrail.screen.compact import CompactOptions, CompactResult, render  # noqa: E402
from handrail.screen.diff import diff  # noqa: E402
from handrail.screen.elements import elements, fresh_refs  # noqa: E402
from handrail.screen.exports import full_text, outline  # noqa: E402
from handrail.screen.fingerprint import idle_fingerprint, screen_fingerprint  # noqa: E402
from handrail.screen.match import match  # noqa: E402
from handrail.screen.node import Screen  # noqa: E402
from handrail.screen.parse import parse  # noqa: E402

FOLDERS = {
    "uiautomator": ("uiautomator", "*.xml"),
    "pairs XML": ("pairs", "*.xml"),
    "second": ("second", "*.xml"),
    "appium": ("appium", "*.xml"),
    "json": ("json", "*.json"),
}
GOALS = {"uiautomator": (150, 300), "pairs XML": (150, 300), "second": (160, 340)}
WORST = 10
_MARK = 3  # tokens of `@b1`
FIXED = CompactOptions(fingerprint="aaaaaa", revision=12)  # where only the time of the text counts
Row = dict[str, Any]


@dataclass
class Shown:
    """One screen of the corpus, and what its texts cost."""

    app: str
    name: str
    tokens: dict[str, int]
    quality: Quality
    refs: tuple[int, int]
    """How many our text has, and how many the seed's outline."""

    @property
    def ratio(self) -> float:
        """Our text to the seed's own outline; both without their headers, which say the same."""
        return self.tokens["compact"] / max(1, self.tokens["seed"])

    @property
    def is_dear(self) -> bool:
        """Even the whole text, with our header and without the seed's."""
        return self.tokens["whole"] > self.tokens["seed"]


def main() -> int:
    options = arguments().parse_args()
    corpus = Path(options.corpus or os.environ.get("HANDRAIL_CORPUS") or ROOT.parent / "shared" / "corpus")
    if not corpus.is_dir():
        print(
            f"No corpus of dumps at {corpus}: set HANDRAIL_CORPUS or --corpus to its folder.", file=sys.stderr
        )
        return 2
    count = openai.o200k_base().count
    report: Row = {}
    screens: dict[str, list[Shown]] = {}
    for name, (place, pattern) in FOLDERS.items():
        files = sorted((corpus / place).glob(pattern))
        screens[name] = [shown for file in files if (shown := measure(file, count))]
        report[name] = summary(name, screens[name], len(files)) | times(files, options.rounds)
    report["apps"] = {name: apps(found) for name, found in screens.items()}
    report["dearer than the seed's outline"] = {name: dearer(found) for name, found in screens.items()}
    report["pairs compared"] = compared(corpus, options.rounds)
    report["growth"] = growth(options.rounds)
    print(json.dumps(report, indent=1) if options.json else "\n\n".join(map(table, report, report.values())))
    return 0


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="figures as JSON")
    parser.add_argument("--corpus", help="folder of the dumps")
    parser.add_argument("--rounds", type=int, default=5, help="the best of so many runs counts (default 5)")
    return parser


def measure(file: Path, count: Callable[[str], int]) -> Shown | None:
    """None for what can't be read."""
    raw = file.read_bytes()
    try:
        screen = parse(raw)
    except TreeParseError:
        return None
    shown = compact(screen, CompactOptions(revision=12))
    nodes = read(raw)
    quality = judge(nodes, shown.text, known_by(shown.ref_map))
    seed = seed_outline(nodes)
    tokens = {
        "raw": count(raw.decode("utf-8", "replace")),
        "full": count(full_text(screen)),
        "outline JSON": count(json.dumps(outline(screen), ensure_ascii=False, separators=(",", ":"))),
        "seed": count(body(seed)),
        "compact": count(body(shown.text)),
        "whole": count(shown.text),
        "least": least(nodes, shown.text, count),
    }
    refs = len(printed_refs(shown.text)), len(printed_refs(seed))
    return Shown(app_of(file), file.name, tokens, quality, refs)


def least(nodes: list[Raw], text: str, count: Callable[[str], int]) -> int:
    """What no text could do without: its header, the words on the screen once, and a mark for each ref."""
    words = [piece[:60] for piece in sorted(text_pieces(seen_nodes(nodes)))] if nodes else []
    return count(text.partition("\n")[0]) + count(" · ".join(words)) + _MARK * len(printed_refs(text))


def body(text: str) -> str:
    """Without the header."""
    return text.partition("\n")[2]


def app_of(file: Path) -> str:
    """The recorded app, as far as file names tell: what stands before the number or the double line."""
    return re.sub(r"_\d+$", "", file.name.partition("__")[0])


def summary(name: str, screens: list[Shown], files: int) -> Row:
    quality = sum((shown.quality for shown in screens), Quality())
    sizes = {kind: [shown.tokens[kind] for shown in screens] for kind in screens[0].tokens} if screens else {}
    row: Row = {
        "screens": len(screens),
        "not read": files - len(screens),
        "tokens p50 / p90": {kind: [share(found, 0.5), share(found, 0.9)] for kind, found in sizes.items()},
        **figures(quality),
    }
    if name in GOALS:
        row["goal for the whole text"] = list(GOALS[name])
    return row


def figures(quality: Quality) -> Row:
    return {
        "strict recall": quality.reached / max(1, quality.wanted),
        "actionable nodes missed": quality.wanted - quality.reached,
        "text kept": quality.kept / max(1, quality.pieces),
        "refs without a label": quality.unlabelled / max(1, quality.refs),
        "refs with neither label nor id": quality.nameless / max(1, quality.refs),
    }


def apps(screens: list[Shown]) -> Row:
    """Everything that could be bought with something else, app by app."""
    found: dict[str, list[Shown]] = {}
    for shown in screens:
        found.setdefault(shown.app, []).append(shown)
    head = f"{'screens':>8}{'p50':>6}{'p90':>6}{'recall':>9}{'text':>9}{'neither':>9}{'dearer':>9}"
    rows: Row = {"": head}
    for app, its in sorted(found.items()):
        quality = sum((shown.quality for shown in its), Quality())
        tokens = [shown.tokens["whole"] for shown in its]
        told = figures(quality)
        rows[app[:26]] = (
            f"{len(its):>8}{share(tokens, 0.5):>6}{share(tokens, 0.9):>6}{told['strict recall']:>9.2%}"
            f"{told['text kept']:>9.2%}{told['refs with neither label nor id']:>9.2%}"
            f"{sum(shown.ratio > 1 for shown in its) / len(its):>9.1%}"
        )
    return rows


def dearer(screens: list[Shown]) -> Row:
    """The share of screens on which our text costs more than the seed's, and the worst of them."""
    worst = sorted(screens, key=lambda shown: -shown.ratio)[:WORST]
    return {
        "share": sum(shown.ratio > 1 for shown in screens) / max(1, len(screens)),
        "share with our header alone": sum(shown.is_dear for shown in screens) / max(1, len(screens)),
        "by more than 10 %": sum(shown.ratio > 1.1 for shown in screens) / max(1, len(screens)),
        "the same where the seed has all refs": sum(
            shown.ratio > 1.1 and shown.refs[1] >= shown.refs[0] for shown in screens
        )
        / max(1, len(screens)),
        **{
            shown.name[:60]: f"{shown.tokens['compact']:>4} to {shown.tokens['seed']:>4} tokens, "
            f"{shown.refs[0]:>3} to {shown.refs[1]:>3} refs"
            for shown in worst
        },
    }


def times(files: list[Path], rounds: int) -> Row:
    costs: dict[str, list[float]] = {}
    for file in files:
        raw = file.read_bytes()
        try:
            screen = parse(raw)
        except TreeParseError:
            continue
        for name, cost in (ratios(raw, screen, rounds) or {}).items():
            costs.setdefault(name, []).append(cost)
    return {"median time": {name: round(median(found), 2) for name, found in costs.items()}}


def compact(screen: Screen, options: CompactOptions) -> CompactResult:
    screen.memo.clear()  # as if the screen were new
    found = elements(screen)
    return render(screen, found, fresh_refs(found), options)


def fingerprints(screen: Screen) -> tuple[str, str]:
    screen.memo.clear()
    return screen_fingerprint(screen), idle_fingerprint(screen)


def ratios(raw: bytes, screen: Screen, rounds: int) -> dict[str, float] | None:
    """Times of one screen beside a bare parse of the same bytes; None where lxml gives up or it is no XML."""
    try:
        etree.fromstring(raw)
    except etree.XMLSyntaxError:
        return None
    bare = best(lambda: etree.fromstring(raw), rounds)
    parsing = best(lambda: parse(raw), rounds) / bare
    text = best(lambda: compact(screen, FIXED), rounds) / bare
    prints = best(lambda: fingerprints(screen), rounds) / bare
    return {
        "bare lxml, µs": bare * 1e6,
        "parse": parsing,
        "compact": text,
        "parse + compact": parsing + text,
        "both fingerprints": prints,
        "all of it": parsing + text + prints,
    }


def compared(corpus: Path, rounds: int) -> Row:
    """Match and diff of every before/after pair, and the diff of each screen with itself, in ms."""
    times: dict[str, list[float]] = {"match ms": [], "match + diff ms": []}
    with (corpus / "PAIRS.tsv").open(encoding="utf-8", newline="") as lines:
        pairs = [(row["before"], row["after"]) for row in csv.DictReader(lines, delimiter="\t")]
    for before, after in pairs:
        old, new = parse((corpus / before).read_bytes()), parse((corpus / after).read_bytes())
        times["match ms"].append(best(lambda old=old, new=new: match(old, new), rounds) * 1e3)
        times["match + diff ms"].append(best(lambda old=old, new=new: diff(old, new), rounds) * 1e3)
    spread = {
        name: [round(share(found, 0.5), 2), round(share(found, 0.9), 2)] for name, found in times.items()
    }
    return {"pairs": len(pairs), **{f"{name} p50 / p90": found for name, found in spread.items()}}


def best(work: Callable[[], object], rounds: int) -> float:
    """The shortest of some runs, in seconds: what the work costs when nothing else disturbs it."""
    shortest = float("inf")
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        shortest = min(shortest, time.perf_counter() - began)
    return shortest


def share(values: list[Any], part: float) -> Any:
    """The value that `part` of them do not exceed (nearest rank)."""
    return sorted(values)[max(0, -(-len(values) * round(part * 100) // 100) - 1)] if values else 0


def table(name: str, row: Row) -> str:
    lines = [name, "-" * len(name)]
    for key, value in row.items():
        if isinstance(value, dict):
            lines.append(key)
            width = max((len(inner) for inner in value), default=0)
            lines.extend(f"  {inner:{max(26, width)}} {said(number)}" for inner, number in value.items())
        else:
            lines.append(f"{key:28} {said(value)}")
    return "\n".join(lines)


def said(value: Any) -> str:
    if isinstance(value, list):
        return " / ".join(said(one) for one in value)
    if isinstance(value, str):
        return value
    return f"{value:,.4g}" if isinstance(value, float) else f"{value:,}"


if __name__ == "__main__":
    sys.exit(main())

"""How small, how complete and how fast the screen texts are, over the corpus of real dumps.

Run from the repository: `python bench/tree.py [--json] [--corpus DIR] [--rounds N]`.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from typing import Any

from lxml import etree
from rs_bpe.bpe import openai

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench.growth import growth  # noqa: E402
from bench.screen_quality import Quality, judge  # noqa: E402

from handrail.errors import TreeParseError  # noqa: E402
from handrail.tree.compact import CompactOptions, CompactResult, render  # noqa: E402
from handrail.tree.diff import diff  # noqa: E402
from handrail.tree.element import elements, fresh_refs  # noqa: E402
from handrail.tree.exports import full_text, outline  # noqa: E402
from handrail.tree.fingerprint import idle_fingerprint, screen_fingerprint  # noqa: E402
from handrail.tree.match import match  # noqa: E402
from handrail.tree.node import Screen  # noqa: E402
from handrail.tree.parse import parse  # noqa: E402

FOLDERS = {
    "uiautomator": ("uiautomator", "*.xml"),
    "pairs XML": ("pairs", "*.xml"),
    "appium": ("appium", "*.xml"),
    "json": ("json", "*.json"),
}
FIXED = CompactOptions(fingerprint="aaaaaa", revision=12)  # where only the time of the text counts
Row = dict[str, Any]


def main() -> int:
    options = arguments().parse_args()
    corpus = Path(options.corpus or os.environ.get("HANDRAIL_CORPUS") or ROOT.parent / "shared" / "corpus")
    if not corpus.is_dir():
        print(
            f"No corpus of dumps at {corpus}: set HANDRAIL_CORPUS or --corpus to its folder.", file=sys.stderr
        )
        return 2
    tokens = openai.o200k_base().count
    report: Row = {
        name: folder(sorted((corpus / place).glob(pattern)), tokens, options.rounds)
        for name, (place, pattern) in FOLDERS.items()
    }
    report["pairs compared"] = compared(corpus, options.rounds)
    report["growth"] = growth(options.rounds)
    print(
        json.dumps(report, indent=1) if options.json else "\n\n".join(table(*item) for item in report.items())
    )
    return 0


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="figures as JSON")
    parser.add_argument("--corpus", help="folder of the dumps")
    parser.add_argument("--rounds", type=int, default=5, help="the best of so many runs counts (default 5)")
    return parser


def folder(files: Iterable[Path], tokens: Callable[[str], int], rounds: int) -> Row:
    sizes: dict[str, list[int]] = {"raw": [], "full": [], "outline": [], "compact": []}
    costs: dict[str, list[float]] = {}
    quality, unread = Quality(), 0
    for file in files:
        raw = file.read_bytes()
        try:
            screen = parse(raw)
        except TreeParseError:
            unread += 1
            continue
        shown = compact(screen, CompactOptions(revision=12))
        quality = quality + judge(screen, shown)
        sizes["raw"].append(tokens(raw.decode("utf-8", "replace")))
        sizes["full"].append(tokens(full_text(screen)))
        sizes["outline"].append(
            tokens(json.dumps(outline(screen), ensure_ascii=False, separators=(",", ":")))
        )
        sizes["compact"].append(tokens(shown.text))
        for name, cost in (ratios(raw, screen, rounds) or {}).items():
            costs.setdefault(name, []).append(cost)
    return {
        "screens": len(sizes["raw"]),
        "not read": unread,
        "tokens p50 / p90": {
            name: [share(counts, 0.5), share(counts, 0.9)] for name, counts in sizes.items()
        },
        "strict recall": quality.reached / max(1, quality.wanted),
        "actionable nodes missed": quality.wanted - quality.reached,
        "text kept": quality.kept / max(1, quality.pieces),
        "refs without a label": quality.unlabelled / max(1, quality.refs),
        "refs without any name": quality.nameless / max(1, quality.refs),
        "median time": {name: round(median(found), 2) for name, found in costs.items()},
    }


def compact(screen: Screen, options: CompactOptions) -> CompactResult:
    found = elements(screen)
    return render(screen, found, fresh_refs(found), options)


def ratios(raw: bytes, screen: Screen, rounds: int) -> dict[str, float] | None:
    """Times of one screen beside a bare parse of the same bytes; None where lxml gives up or it is no XML."""
    try:
        etree.fromstring(raw)
    except etree.XMLSyntaxError:
        return None
    bare = best(lambda: etree.fromstring(raw), rounds)
    parsing = best(lambda: parse(raw), rounds) / bare
    text = best(lambda: compact(screen, FIXED), rounds) / bare
    prints = best(lambda: (screen_fingerprint(screen), idle_fingerprint(screen)), rounds) / bare
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
            lines.extend(f"  {inner:26} {said(number)}" for inner, number in value.items())
        else:
            lines.append(f"{key:28} {said(value)}")
    return "\n".join(lines)


def said(value: Any) -> str:
    if isinstance(value, list):
        return " / ".join(said(one) for one in value)
    return f"{value:,.4g}" if isinstance(value, float) else f"{value:,}"


if __name__ == "__main__":
    sys.exit(main())

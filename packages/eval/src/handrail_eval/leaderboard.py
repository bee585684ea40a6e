"""A folder of evaluations as one ranking for every suite. Only those that pass the check are ranked."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from handrail.errors import InvalidAction
from handrail.flow.report.summary import Html, tag
from handrail_eval.page_shell import interval, percent, table, whole_page
from handrail_eval.recount import wrongs_of
from handrail_eval.result_folder import MANIFEST, SUMMARY
from handrail_eval.statistics import rounded, shown_interval

KINDS = ("suite", "seeds", "repeats", "max_steps", "policy", "code")
"""What has to be the same for two to stand in one ranking."""


def standings(folder: Path) -> dict[str, Any]:
    """`boards`, each with its runs from the best to the worst, and `left_out`. Raises `InvalidAction`."""
    runs = sorted(file.parent for file in folder.rglob(MANIFEST) if _is_run(file, folder))
    if not runs:
        raise InvalidAction(
            f"no evaluation in {folder}", path="folder", hint="Give a folder with folders that --out made."
        )
    boards: dict[str, dict[str, Any]] = {}
    left_out = []
    for run in runs:
        name = str(run.relative_to(folder)) if run != folder else run.name
        if wrong := wrongs_of(run):
            left_out.append({"run": name, "why": wrong})
            continue
        manifest = json.loads((run / MANIFEST).read_bytes())
        same = {kind: manifest[kind] for kind in KINDS} | {"suite": manifest["suite"]["hash"]}
        board = boards.setdefault(json.dumps(same), _board(manifest))
        board["runs"].append(_standing(name, manifest, json.loads((run / SUMMARY).read_bytes())))
    for board in boards.values():
        board["runs"].sort(key=lambda one: (-one["rate"], one["tokens"], one["run"]))
    return {"boards": list(boards.values()), "left_out": left_out}


def _is_run(file: Path, folder: Path) -> bool:
    """A folder inside of an evaluation is a run's own, and no other evaluation."""
    above = file.parent.parents
    return not any((one / MANIFEST).exists() for one in above if one == folder or folder in one.parents)


def _board(manifest: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "suite": manifest["suite"]["name"],
        "hash": manifest["suite"]["hash"],
        "tasks": len(manifest["suite"]["templates"]),
        "seeds": manifest["seeds"],
        "repeats": manifest["repeats"],
        "runs": [],
    }


def _standing(name: str, manifest: Mapping[str, Any], summary: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "run": name,
        "model": manifest["model"]["name"],
        "rate": summary["pass_at_1"]["value"],
        "interval95": rounded(shown_interval(summary["pass_at_1"])),
        "pass_at_k": summary["pass_at_k"]["value"],
        "pass_all_k": summary["pass_all_k"]["value"],
        "steps_ratio": summary["steps_ratio"]["value"],
        "obeyed": summary["attacks"]["obeyed"],
        "attacks": summary["attacks"]["tried"],
        "asked": summary["asked"],
        "tokens": summary["tokens"],
        "cost_usd": summary["cost_usd"],
        "median_ms": summary["median_ms"],
    }


def leaderboard_page(told: Mapping[str, Any]) -> str:
    """One file; every word is escaped by `tag`."""
    boards = [_section(board) for board in told["boards"]]
    count = sum(len(board["runs"]) for board in told["boards"])
    title = f"{count} evaluation{'' if count == 1 else 's'}, checked and ranked"
    return whole_page(
        title,
        tag("header", tag("p", "Handrail leaderboard", class_="brand"), tag("h1", title)),
        tag(
            "main", boards or tag("p", "None passes its check.", class_="empty"), _left_out(told["left_out"])
        ),
    )


def _section(board: Mapping[str, Any]) -> Html:
    seeds, k = board["seeds"], board["repeats"]
    told = f"{board['tasks']} tasks, {len(seeds)} seeds, {k} repeats, suite {board['hash'][:16]}"
    more = (f"pass@{k}", f"all of {k}") if k > 1 else ()
    header = ("", "model", "pass@1", "95 %", *more, "steps", "obeyed", "asked", "tokens", "cost", "median")
    rows = [_row(place, one, with_k=k > 1) for place, one in enumerate(board["runs"], 1)]
    return tag(
        "section",
        tag("h2", tag("bdi", board["suite"]), class_="part"),
        tag("p", told, class_="tags"),
        table(header, rows, f"Ranking of {board['suite']}", numbers=len(header) - 2),
    )


def _row(place: int, one: Mapping[str, Any], *, with_k: bool) -> Html:
    ratio = one["steps_ratio"]
    cells = [
        percent(one["rate"]),
        interval(one["interval95"]),
        *([percent(one["pass_at_k"]), percent(one["pass_all_k"])] if with_k else []),
        f"{ratio:.2f}×" if ratio is not None else "",
        f"{one['obeyed']}/{one['attacks']}" if one["attacks"] else "",
        str(one["asked"]),
        f"{one['tokens']:,}",
        f"${one['cost_usd']:.4f}" if one["cost_usd"] is not None else "",
        f"{one['median_ms'] / 1000:.1f} s",
    ]
    name = tag("th", tag("bdi", one["model"]), tag("small", tag("bdi", one["run"])), scope="row")
    return tag("tr", tag("td", str(place)), name, [tag("td", cell, class_="count") for cell in cells])


def _left_out(runs: Sequence[Mapping[str, Any]]) -> Html | None:
    if not runs:
        return None
    rows = [
        tag(
            "tr",
            tag("th", tag("bdi", run["run"]), scope="row"),
            tag("td", [tag("div", tag("bdi", why)) for why in run["why"]], class_="refused"),
        )
        for run in runs
    ]
    return tag(
        "section",
        tag("h2", "Not ranked", class_="part"),
        table(("run", "why"), rows, "Runs that do not pass the check"),
    )

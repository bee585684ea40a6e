"""An evaluation as a page: tasks by seeds, what every run did step by step, and rates by group."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from handrail.flow.report.summary import Html, tag
from handrail_eval.page_shell import bar, facts, figures, interval, percent, table, whole_page
from handrail_eval.result import TaskResult, folder_name
from handrail_eval.statistics import shown_interval

MOST_REELS = 3_000
"""Runs whose steps stand in the page; a browser still opens it at once."""


def run_page(
    manifest: Mapping[str, Any], summary: Mapping[str, Any], results: Sequence[TaskResult], folder: Path
) -> str:
    """The whole text. Every word of a model, a screen or a template is escaped by `tag`."""
    model = str(manifest["model"]["name"])
    title = f"{model}: {summary['success']} of {summary['wanted']} runs solved"
    reels = [reel for one in results[:MOST_REELS] if (reel := _reel(one, folder)) is not None]
    return whole_page(
        title,
        tag("header", tag("p", "Handrail evaluation", class_="brand"), tag("h1", tag("bdi", title))),
        run_figures(summary),
        _about(manifest, summary),
        _toolbar(results),
        _theatre(),
        tag("main", _grid(results), _groups(summary["groups"])),
        tag("div", reels, class_="reels"),
    )


def run_figures(summary: Mapping[str, Any]) -> Html:
    """What all of it comes to."""
    k, attacks, ratio = summary["k"], summary["attacks"], summary["steps_ratio"]
    rates = {"pass@1": summary["pass_at_1"]}
    if k > 1:
        rates |= {f"pass@{k}": summary["pass_at_k"], f"all of {k}": summary["pass_all_k"]}
    told = {name: (percent(one["value"]), interval(shown_interval(one))) for name, one in rates.items()}
    told["steps against shortest"] = (
        f"{ratio['value']:.2f}" if ratio["value"] is not None else "unknown",
        "of what was solved",
    )
    told["adversary obeyed"] = (f"{attacks['obeyed']} of {attacks['tried']}", interval(attacks["wilson95"]))
    told["asked a person"] = (str(summary["asked"]), f"{summary['refused']} steps refused")
    cost = "cost unknown" if summary["cost_usd"] is None else f"${summary['cost_usd']:.4f}"
    told["tokens"] = (f"{summary['tokens']:,}", cost)
    return figures(told)


def _resumed(resumes: Sequence[Mapping[str, Any]]) -> str:
    again = sum(len(resume["begun_again"]) for resume in resumes)
    times = "once" if len(resumes) == 1 else f"{len(resumes)} times"
    return f"{times}; {again} runs started again" if resumes else "no"


def _about(manifest: Mapping[str, Any], summary: Mapping[str, Any]) -> Html:
    seeds = manifest["seeds"]
    told = {
        "Suite": f"{manifest['suite']['name']}, {len(manifest['suite']['templates'])} tasks",
        "Suite hash": str(manifest["suite"]["hash"])[:16],
        "Seeds": f"{seeds[0]}–{seeds[-1]}" if len(seeds) > 1 else str(seeds[0]),
        "Repeats": manifest["repeats"],
        "Runs": f"{summary['episodes']} of {summary['wanted']}",
        "Started": manifest["started"],
        "Resumed": _resumed(manifest.get("resumes", [])),
        "Handrail": manifest["handrail"],
        "Intervals": "95 %, tasks drawn anew; where all are alike, and of groups, by Wilson",
    }
    return facts(told)


def _toolbar(results: Sequence[TaskResult]) -> Html:
    """Hidden until the script runs: without it everything can still be read."""
    tasks = {one.id: one for one in results}
    failed = len({one.id for one in results if not one.success})
    obeyed = len({one.id for one in results if one.attacked})
    choices = [
        ("all", f"All ({len(tasks)})"),
        ("failed", f"Failed ({failed})"),
        ("obeyed", f"Obeyed ({obeyed})"),
    ]
    buttons = [
        tag("button", words, type="button", data_only=name, aria_pressed=str(name == "all").lower())
        for name, words in choices
    ]
    groups = {"difficulty": "difficulty", "kind": "kinds", "skill": "skills", "app": "apps"}
    selects = [_select(label, field, list(tasks.values())) for label, field in groups.items()]
    search = tag("input", type="search", placeholder="Task", aria_label="Tasks whose name has")
    return tag(
        "nav",
        tag("div", buttons, class_="choice", role="group", aria_label="Which tasks to show"),
        selects,
        search,
        class_="toolbar",
        aria_label="View",
        hidden=True,
    )


def _select(label: str, field: str, tasks: Sequence[TaskResult]) -> Html:
    names = sorted({name for task in tasks for name in _names(task, field)})
    options = [
        tag("option", f"Every {label}", value=""),
        *(tag("option", name, value=name) for name in names),
    ]
    return tag("select", options, aria_label=label.capitalize())


def _names(one: TaskResult, field: str) -> tuple[str, ...]:
    value = getattr(one, field)
    return value if isinstance(value, tuple) else (value,) if value else ()


def _grid(results: Sequence[TaskResult]) -> Html:
    seeds = sorted({one.seed for one in results})
    by_task: dict[str, list[TaskResult]] = {}
    for one in results:
        by_task.setdefault(one.id, []).append(one)
    rows = [_row(some, seeds) for some in by_task.values()]
    header = ("task", "", *(f"seed {seed}" for seed in seeds), "solved", "steps", "shortest")
    nothing = tag("p", "No task fits.", class_="empty nothing-left", hidden=True)
    empty = None if rows else tag("p", "Nothing was run.", class_="empty")
    return tag("section", table(header, rows, "Tasks by seeds", numbers=3), nothing, empty)


def _row(some: Sequence[TaskResult], seeds: Sequence[int]) -> Html:
    first, good = some[0], sum(one.success for one in some)
    tags = [*first.kinds, *first.skills, *first.apps, first.difficulty]
    cells = [
        tag("td", [_mark(one) for one in some if one.seed == seed], class_="cell", data_seed=seed)
        for seed in seeds
    ]
    optimal = sum(one.optimal for one in some)
    return tag(
        "tr",
        tag("th", tag("bdi", first.id), tag("small", tag("bdi", first.title)), scope="row"),
        tag("td", ", ".join(dict.fromkeys([first.difficulty, *first.kinds])), class_="tags"),
        cells,
        tag("td", f"{good}/{len(some)}", class_="count"),
        tag("td", str(sum(one.steps for one in some)), class_="count"),
        tag("td", str(optimal) if optimal else "", class_="count"),
        data_task=first.id,
        data_tags="\t".join(tags),
        data_failed="yes" if good < len(some) else None,
        data_obeyed="yes" if any(one.attacked for one in some) else None,
    )


def _mark(one: TaskResult) -> Html:
    """A link where the run was kept."""
    kind = f"mark {'passed' if one.success else 'failed'}{' obeyed' if one.attacked else ''}"
    repeat = f", repeat {one.repeat}" if one.repeat > 1 else ""
    label = f"{one.id}, seed {one.seed}{repeat}: {'solved' if one.success else 'not solved'}"
    sign = "✓" if one.success else "!" if one.attacked else "✗"
    told = f"{label}. {one.why}" if one.why else label
    if one.report is None:
        return tag("span", sign, class_=kind, title=told)
    return tag(
        "a",
        sign,
        class_=kind,
        title=told,
        href=quote(one.report),
        aria_label=label,
        data_why=one.why,
        data_reel=f"reel-{folder_name(one)}",
    )


def _theatre() -> Html:
    """Empty until a run is chosen."""
    return tag(
        "section",
        tag("h2"),
        tag("p", class_="why"),
        tag("p", tag("a", "The whole report", href="#")),
        tag(
            "div",
            Html('<img alt="The screen on which the step was chosen" hidden>'),
            tag(
                "div",
                tag("ol"),
                tag(
                    "div",
                    tag("button", "Play", type="button", class_="play"),
                    tag("input", type="range", min=0, max=0, value=0, aria_label="Step of the run"),
                    class_="controls",
                ),
            ),
            class_="scene",
        ),
        class_="theatre",
        aria_label="Player",
        hidden=True,
    )


def _reel(one: TaskResult, folder: Path) -> Html | None:
    """The steps of a kept run; its pictures stay where they are."""
    name = folder_name(one)
    try:
        lines = (folder / name / "steps.jsonl").read_text(encoding="utf-8").splitlines()
        steps = [json.loads(line) for line in lines]
    except (OSError, ValueError):
        return None
    frames = [
        tag(
            "li",
            str(step.get("told", "")),
            data_outcome=str(step.get("outcome", "")),
            data_picture=quote(f"{name}/{step['picture']}") if step.get("picture") else None,
        )
        for step in steps
    ]
    return tag("ol", frames, id=f"reel-{name}")


def _groups(groups: Mapping[str, Mapping[str, Any]]) -> Html:
    header = ("", "solved", "95 %", "steps", "asked", "refused", "obeyed")
    parts = []
    for name, some in groups.items():
        rows = [
            tag(
                "tr",
                tag("th", tag("bdi", one), tag("small", bar(total["rate"])), scope="row"),
                [tag("td", words, class_="count") for words in _cells(total)],
            )
            for one, total in some.items()
        ]
        if rows:
            parts.append(
                tag(
                    "section",
                    tag("h2", f"By {name}", class_="part"),
                    table(header, rows, f"By {name}", numbers=6),
                )
            )
    return tag("div", parts, class_="groups")


def _cells(total: Mapping[str, Any]) -> tuple[str, ...]:
    attacks = total["attacks"]
    return (
        f"{total['success']}/{total['episodes']}",
        interval(total["wilson95"]),
        str(total["steps"]),
        str(total["asked"]),
        str(total["refused"]),
        f"{attacks['obeyed']}/{attacks['tried']}" if attacks["tried"] else "",
    )

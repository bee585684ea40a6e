"""Two evaluations beside one another, episode by episode: which is better, by how much, and is it chance."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from handrail.errors import InvalidAction
from handrail_eval.result import EpisodeKey, TaskResult, key_of
from handrail_eval.result_folder import LINES, ResultFolder
from handrail_eval.statistics import bootstrap, clusters, mcnemar, mean, rounded, sign_flips

Results = Mapping[EpisodeKey, TaskResult]


def read_results(folder: Path) -> tuple[dict[str, Any], dict[EpisodeKey, TaskResult]]:
    """The manifest, and what every episode came to. Raises `InvalidAction`."""
    manifest = ResultFolder(folder).manifest()
    try:
        lines = (folder / LINES).read_text(encoding="utf-8").splitlines()
        results = [TaskResult.read(json.loads(line)) for line in lines]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidAction(
            f"{folder / LINES}: {error}", path="folder", hint="`handrail eval check` says what is wrong."
        ) from None
    return manifest, {key_of(one): one for one in results}


def compared(first: Path, second: Path, *, anyway: bool = False) -> dict[str, Any]:
    """Positive differences speak for the second. Raises `InvalidAction` where there is nothing to pair."""
    (one, a), (two, b) = read_results(first), read_results(second)
    ignored = _unlike(one, two)
    if ignored and not anyway:
        raise InvalidAction(
            f"the two can't be compared: {'; '.join(ignored)}",
            path="folder",
            hint="--anyway compares what both have, task by task; mention that beside the figures.",
        )
    changed = _changed(one, two)
    keys = [key for key in a if key in b and key[0] not in changed]
    if not keys:
        raise InvalidAction("the two have no task, seed and repeat in common", path="folder")
    pairs = [(a[key], b[key]) for key in keys]
    return {
        "a": _side(first, one, [pair[0] for pair in pairs]),
        "b": _side(second, two, [pair[1] for pair in pairs]),
        "pairs": len(pairs),
        "left_out": len({*a, *b}) - len(pairs),
        "because": ignored,
        "missing": _missing(a, b, changed, first.name, second.name),
        **_verdict(pairs),
        "flipped": _flipped(pairs),
    }


def _unlike(one: Mapping[str, Any], two: Mapping[str, Any]) -> list[str]:
    found = []
    if one["suite"]["hash"] != two["suite"]["hash"]:
        found.append(f"their suites differ ({one['suite']['name']}, {two['suite']['name']})")
    found += [
        f"their {words} differ ({_short(one[name])}, {_short(two[name])})"
        for name, words in _CONDITIONS.items()
        if one[name] != two[name]
    ]
    return found


_CONDITIONS = {
    "seeds": "seeds",
    "repeats": "numbers of repeats",
    "max_steps": "most steps of a task",
    "policy": "policies",
    "code": "versions of Handrail's code",
}


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 24 else f"{text[:20]}…"


def _missing(a: Results, b: Results, changed: set[str], one: str, two: str) -> list[str]:
    """Tasks that are not compared, each with why, as sentences."""
    in_a, in_b = {key[0] for key in a}, {key[0] for key in b}
    lines = [
        f"{name} is another task in each of them, under one name." for name in sorted(changed & in_a & in_b)
    ]
    lines += [f"{name} was run only in {one}." for name in sorted(in_a - in_b)]
    lines += [f"{name} was run only in {two}." for name in sorted(in_b - in_a)]
    both = {key[0] for key in set(a) ^ set(b)} & in_a & in_b
    return lines + [f"{name} has runs with a seed or repeat that the other lacks." for name in sorted(both)]


def _changed(one: Mapping[str, Any], two: Mapping[str, Any]) -> set[str]:
    """Tasks of the same name that are not the same."""
    old, new = one["suite"]["templates"], two["suite"]["templates"]
    return {name for name in old if name in new and old[name] != new[name]}


def _side(folder: Path, manifest: Mapping[str, Any], results: Sequence[TaskResult]) -> dict[str, Any]:
    good = sum(one.success for one in results)
    return {
        "name": folder.name,
        "model": manifest["model"]["name"],
        "success": good,
        "rate": round(good / len(results), 4),
    }


def _verdict(pairs: Sequence[tuple[TaskResult, TaskResult]]) -> dict[str, Any]:
    only_a = sum(one.success and not two.success for one, two in pairs)
    only_b = sum(two.success and not one.success for one, two in pairs)
    by_task = clusters((one.id, float(two.success) - float(one.success)) for one, two in pairs)
    return {
        "difference": round(mean(by_task), 4),
        "bootstrap95": rounded(bootstrap(by_task)),
        "only_a": only_a,
        "only_b": only_b,
        "mcnemar_p": round(mcnemar(only_a, only_b), 6),
        "tasks": len(by_task),
        "tasks_p": round(sign_flips([total / count for total, count in by_task]), 6),
    }


def _flipped(pairs: Sequence[tuple[TaskResult, TaskResult]]) -> list[dict[str, Any]]:
    return [
        {"id": one.id, "seed": one.seed, "repeat": one.repeat, "now": "solved" if two.success else "failed"}
        | {"why": one.why or two.why}
        for one, two in pairs
        if one.success != two.success
    ]

"""Whether kept results are what they say: hashes, lines, journals and sums, counted again from the bytes.

It shares no code with what wrote them, but for the intervals of drawn tasks, whose chance has to be the same.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from sqlite3 import DatabaseError, connect
from typing import Any

from handrail.journal.verify import verify
from handrail_eval.statistics import bootstrap, clusters

_TAIL = re.compile(rb',"chain":"([0-9a-f]{64})"}\Z')
_ROUGH = 6e-4
"""What four rounded digits may differ by."""
_MOST = 20
"""Lines of what is wrong; the rest is counted."""


def wrongs_of(folder: Path) -> list[str]:
    """A line for everything that is not as it should be; none for results that can be trusted to be whole."""
    try:
        manifest = json.loads((folder / "manifest.json").read_bytes())
        data = (folder / "results.jsonl").read_bytes()
        summary = json.loads((folder / "summary.json").read_bytes())
    except OSError as error:
        return [f"{Path(error.filename or '').name}: {error.strerror}: no evaluation that has ended"]
    except ValueError as error:
        return [f"not JSON: {error}"]
    try:
        start = _start(manifest)
        found = [*_of_links(folder), *_of_suite(folder, manifest)]
        found += [*_of_chain(data, start), *_of_head(folder, data, start)]
        lines = [json.loads(line) for line in data.splitlines()]
        found += [*_of_set(manifest, lines), *_of_runs(folder, manifest, lines)]
        found += _of_summary(manifest, summary, lines)
    except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError) as error:
        return [f"not the form of results: {type(error).__name__}: {error}"]
    more = len(found) - _MOST
    return [*found[:_MOST], f"and {more} more"] if more > 0 else found


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _start(manifest: Mapping[str, Any]) -> str:
    """Where the chain begins: at the manifest without what was added to it later."""
    if manifest["format"] == 1:
        return "0" * 64
    fixed = {name: value for name, value in manifest.items() if name != "resumes"}
    return _sha(json.dumps(fixed, sort_keys=True).encode())


def _of_links(folder: Path) -> Iterator[str]:
    """What is kept lies here, and is not somebody else's."""
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            yield f"{path.relative_to(folder)} leads elsewhere"


def _of_suite(folder: Path, manifest: Mapping[str, Any]) -> Iterator[str]:
    told = manifest["suite"]["templates"]
    listed = "\n".join(f"{name} {told[name]}" for name in sorted(told))
    if _sha(listed.encode()) != manifest["suite"]["hash"]:
        yield "manifest.json: the suite's hash is not that of its templates"
    kept = {file.stem: file for file in (folder / "templates").iterdir()}
    for name in sorted({*told, *kept}):
        if name not in kept:
            yield f"templates: {name} is missing"
        elif name not in told:
            yield f"templates: {name} is not in the manifest"
        elif _sha(kept[name].read_bytes()) != told[name]:
            yield f"templates: {name} was altered"


def _of_chain(data: bytes, start: str) -> Iterator[str]:
    if data and not data.endswith(b"\n"):
        yield "results.jsonl: the last line is torn"
    before = start
    for number, line in enumerate(data.splitlines(), 1):
        tail = _TAIL.search(line)
        body = line[: tail.start()] + b"}" if tail else b""
        if tail is None or _sha(before.encode() + b"\n" + body) != tail[1].decode():
            yield f"results.jsonl: line {number} was altered, or one before it is missing"
        before = tail[1].decode() if tail else before


def _of_head(folder: Path, data: bytes, start: str) -> Iterator[str]:
    head = json.loads((folder / "results.head").read_bytes())
    last = _TAIL.search(data.splitlines()[-1]) if data else None
    if (head["lines"], head["chain"]) != (data.count(b"\n"), last[1].decode() if last else start):
        yield "results.head: it counts other lines than there are"


def _of_set(manifest: Mapping[str, Any], lines: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """All that was to be run, each once: bad ones must not be left out, good ones not counted twice."""
    wanted = set(
        itertools.product(
            manifest["suite"]["templates"], manifest["seeds"], range(1, manifest["repeats"] + 1)
        )
    )
    seen: set[tuple[str, int, int]] = set()
    for line in lines:
        key = (line["id"], line["seed"], line["repeat"])
        if key in seen:
            yield f"results.jsonl: {_named(key)} is there twice"
        if key not in wanted:
            yield f"results.jsonl: {_named(key)} was not to be run"
        seen.add(key)
    for key in sorted(wanted - seen):
        yield f"results.jsonl: {_named(key)} is missing"


def _named(key: tuple[str, int, int]) -> str:
    return f"{key[0]}, seed {key[1]}, repeat {key[2]}"


_KEPT = {"task": "task.json", "steps": "steps.jsonl", "journal_head": "home/journal.head"}


def _of_runs(folder: Path, manifest: Mapping[str, Any], lines: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    heads: dict[str, str] = {}
    for line in lines:
        name = f"{line['id']}.{line['seed']}" + (f".{line['repeat']}" if line["repeat"] > 1 else "")
        kept = line["kept"]
        if line["success"] and (line["why"] or line["ended"] not in ("done", "infeasible", "finished")):
            yield f"{name}: a success that ended as {line['ended']!r}, with {line['why']!r}"
        if line["success"] and (missing := _proofs(manifest) - kept.keys()):
            yield f"{name}: a success without its {', '.join(_KEPT[what] for what in sorted(missing))}"
        if heads.setdefault(kept.get("journal_head", name), name) != name:
            yield f"{name}: its journal is that of {heads[kept['journal_head']]}"
        for what, digest in kept.items():
            file = folder / name / _KEPT[what]
            if not file.exists():
                yield f"{name}: {_KEPT[what]} is missing"
            elif _sha(file.read_bytes()) != digest:
                yield f"{name}: {_KEPT[what]} was altered"
        yield from _of_run(folder / name, name, line)


def _proofs(manifest: Mapping[str, Any]) -> set[str]:
    """What every success has to have kept. A browser's page has no journal of its own."""
    if manifest["format"] == 1:
        return set()
    return {"task", "steps"} if manifest["suite"]["name"] == "miniwob" else {"task", "steps", "journal_head"}


def _of_run(run: Path, name: str, line: Mapping[str, Any]) -> Iterator[str]:
    kept = line["kept"]
    if "task" in kept and (run / "task.json").exists():
        began = json.loads((run / "task.json").read_bytes())["run"]
        if began != name:
            yield f"{name}: what was kept is of the run {began}"
    if "steps" in kept and (run / "steps.jsonl").exists():
        yield from _of_steps(run / "steps.jsonl", name, line)
    if "journal_head" in kept:
        yield from _of_journal(run, name)


def _of_steps(file: Path, name: str, line: Mapping[str, Any]) -> Iterator[str]:
    steps = [json.loads(splitline) for splitline in file.read_bytes().splitlines()]
    spent = sum(one["input_tokens"] + one["output_tokens"] for one in steps)
    if len(steps) != line["steps"]:
        yield f"{name}: {line['steps']} steps are listed, {len(steps)} were kept"
    if spent > line["tokens"]:
        yield f"{name}: {line['tokens']} tokens are listed, {spent} were kept"
    if sum(step["outcome"] == "refused" for step in steps) != line["refused"]:
        yield f"{name}: another number of refusals was kept"


def _of_journal(run: Path, name: str) -> Iterator[str]:
    """By the journal's own proof, and it has what the steps did. Nothing is written: the folder may be
    somebody else's."""
    home = run / "home"
    if not (home / "handrail.db").exists():
        yield f"{name}: its journal is missing"
        return
    try:
        with closing(connect(f"{(home / 'handrail.db').absolute().as_uri()}?immutable=1", uri=True)) as db:
            verdict = verify(db, home)
            known = {row[0] for row in db.execute("SELECT DISTINCT action_id FROM journal")}
    except DatabaseError as error:
        yield f"{name}: its journal can't be read: {error}"
        return
    if not verdict.ok:
        yield f"{name}: its journal is broken at entry {verdict.first_bad}: {verdict.why}"
    if (run / "steps.jsonl").exists():
        steps = [json.loads(line) for line in (run / "steps.jsonl").read_bytes().splitlines()]
        if strange := {action for step in steps for action in step["action_ids"]} - known:
            yield f"{name}: its journal knows nothing of {len(strange)} actions of its steps"


def _of_summary(
    manifest: Mapping[str, Any], summary: Mapping[str, Any], lines: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    wanted = len(manifest["suite"]["templates"]) * len(manifest["seeds"]) * manifest["repeats"]
    mine = {
        **_totals(lines),
        **_cells(lines, manifest["repeats"]),
        "wanted": wanted,
        "k": manifest["repeats"],
    }
    mine |= {"complete": len(lines) == wanted, "percent": round(100 * mine["success"] / wanted, 1)}
    for name in ("success", "episodes"):
        for group, of in _GROUPS.items():
            counted: dict[str, int] = {}
            for line in lines:
                for one in of(line):
                    counted[one] = counted.get(one, 0) + (line["success"] if name == "success" else 1)
            told = {one: some[name] for one, some in summary["groups"][group].items()}
            if told != counted:
                yield f"summary.json: {name} by {group} is not what the lines count to"
    for name, value in mine.items():
        if not _same(summary.get(name), value):
            yield f"summary.json: {name} is {_short(summary.get(name))}; the lines count to {_short(value)}"


_GROUPS: Mapping[str, Any] = {
    "difficulty": lambda line: [line["difficulty"]] if line["difficulty"] else [],
    "world": lambda line: [line["kind"]],
    "kind": lambda line: set(line["kinds"]) or {"plain"},
    "skill": lambda line: set(line["skills"]),
    "app": lambda line: set(line["apps"]),
}


def _totals(lines: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    attacks = [line["attacked"] for line in lines if line["attacked"] is not None]
    costs = [line["cost_usd"] for line in lines if line["cost_usd"] is not None]
    good = len([1 for line in lines if line["success"]])
    return {
        "success": good,
        "episodes": len(lines),
        "tasks": len({line["id"] for line in lines}),
        "wilson95": _interval(good, len(lines)),
        "cost_usd": round(sum(costs), 6) if costs else None,
        **{
            name: sum(line[name] for line in lines)
            for name in ("steps", "tokens", "asked", "refused", "reached")
        },
        "attacks": {
            "tried": len(attacks),
            "obeyed": attacks.count(True),
            "wilson95": _interval(attacks.count(True), len(attacks)),
        },
    }


def _cells(lines: Sequence[Mapping[str, Any]], repeats: int) -> dict[str, Any]:
    """With all k repeats at hand, pass@k is whether any passed, and all of k whether all did."""
    cells: dict[tuple[str, int], list[bool]] = {}
    for line in lines:
        cells.setdefault((line["id"], line["seed"]), []).append(line["success"])
    whole = {key: some for key, some in cells.items() if len(some) == repeats}
    return {
        "pass_at_1": _figure([(line["id"], int(line["success"])) for line in lines]),
        "pass_at_k": _figure([(key[0], int(any(some))) for key, some in whole.items()]),
        "pass_all_k": _figure([(key[0], int(all(some))) for key, some in whole.items()]),
    }


def _figure(values: Sequence[tuple[str, int]]) -> dict[str, Any]:
    interval = bootstrap(clusters((key, float(value)) for key, value in values))
    value = float(Fraction(sum(one for _, one in values), len(values))) if values else None
    return {
        "value": value,
        "bootstrap95": list(interval) if interval else None,
        "tasks": len({key for key, _ in values}),
    }


def _interval(good: int, of: int) -> list[float] | None:
    """Wilson's bounds by their meaning: where the rate is 1.96 standard errors away. Found by halving."""
    if of == 0:
        return None
    rate = good / of

    def distance(bound: float) -> float:
        return (rate - bound) ** 2 - 1.959963984540054**2 * bound * (1 - bound) / of

    bounds = []
    for end in (0.0, 1.0):
        near, far = rate, end
        for _ in range(60):
            middle = (near + far) / 2
            near, far = (near, middle) if distance(middle) > 0 else (middle, far)
        bounds.append(far)
    return bounds


def _same(told: Any, counted: Any) -> bool:
    if isinstance(counted, dict):
        return isinstance(told, dict) and all(_same(told.get(name), one) for name, one in counted.items())
    if isinstance(counted, list):
        return isinstance(told, list) and all(itertools.starmap(_same, zip(told, counted, strict=False)))
    if isinstance(counted, float):
        return isinstance(told, int | float) and abs(told - counted) < _ROUGH
    return bool(told == counted)


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:60]}…"

"""Flows from strangers, their `when` above all: deep, huge, circular, of the wrong kind.

Each is read or refused with a place in the file, quickly, and nothing in it is run.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from random import Random

import pytest

from tests.unit.cli.command import Handrail

THEN = "    then:\n      - press_key: back\n"


def nested(levels: int) -> str:
    lines, indent = ["name: x", "steps:"], "  "
    for _ in range(levels):
        lines += [f"{indent}- when: Hello", f"{indent}  then:"]
        indent += "    "
    return "\n".join([*lines, f"{indent}- press_key: back", ""])


def when(condition: str) -> str:
    return f"name: x\nsteps:\n  - when: {condition}\n{THEN}"


LAUGHS = "".join(f"  l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9) if n else 'x'}]\n" for n in range(12))
REFUSED = {
    "deep": nested(40),
    "deeper": nested(400),
    "deep in one line": when("{not: " * 3_000 + "x" + "}" * 3_000),
    "a text of five million letters": when('"' + "A" * 5_000_000 + '"'),
    "fifty thousand steps": "name: x\nsteps:\n" + f"  - when: Hello\n{THEN}" * 50_000,
    "a list": when("[1, 2]"),
    "a number": when("5"),
    "a truth": when("true"),
    "nothing": when(""),
    "no such condition": when("{exists: Hello}"),
    "two conditions": when("{visible: {text: a}, gone: {text: b}}"),
    "an object of the program": when('!!python/object/apply:os.system ["touch pwned"]'),
    "an alias of itself": "name: x\nsteps: &a\n  - when: Hello\n    then: *a\n",
    "laughs": f"vars:\n{LAUGHS}name: x\nsteps: [press_key: back]\n",
    "itself": "name: x\nsteps:\n  - when: Hello\n    then:\n      - run_flow: flow.yaml\n",
    "no end": "name: x\nsteps:\n  - repeat: {times: 1000000000}\n    steps: [press_key: back]\n",
    "control letters": when('"\x00"'),
    "half a letter": 'name: x\nsteps:\n  - when: "\udcff"\n',
}


def checked(handrail: Handrail, folder: Path, text: str) -> tuple[int, list[dict[str, object]]]:
    file = folder / "flow.yaml"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    began = time.process_time()
    done = handrail("flow", "check", str(file), "--json")
    assert time.process_time() - began < 20
    assert "Traceback" not in done.err
    return done.code, json.loads(done.out)["files"][0]["problems"]


@pytest.mark.parametrize("name", REFUSED)
def test_a_hostile_flow_is_refused_with_its_place(handrail: Handrail, tmp_path: Path, name: str) -> None:
    code, problems = checked(handrail, tmp_path, REFUSED[name])
    errors = [one for one in problems if one["level"] == "error"]
    assert code == 2, problems
    assert errors
    assert all(one["message"] and one["line"] for one in errors)
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize("depth", [1, 5, 12])
def test_an_ordinary_depth_is_read(handrail: Handrail, tmp_path: Path, depth: int) -> None:
    assert checked(handrail, tmp_path, nested(depth)) == (0, [])


def test_generated_conditions_are_read_or_refused(handrail: Handrail, tmp_path: Path) -> None:
    random = Random(17)
    words = [
        "visible", "gone", "text", "not", "any", "state", "app", "screen", "equals", "(a+)+$", "${x}",
        "@b1",
    ]  # fmt: skip
    seen = set()

    def value(depth: int) -> object:
        kind = random.randrange(7 if depth else 3)
        if kind < 2:
            return random.choice([random.choice(words), random.randrange(-9, 10**12), None, True, "", 1e308])
        if kind == 2:
            return random.choice(words)
        if kind < 6:
            return {random.choice(words): value(depth - 1) for _ in range(random.randrange(1, 3))}
        return [value(depth - 1) for _ in range(random.randrange(3))]

    for _ in range(150):
        code, problems = checked(handrail, tmp_path, when(json.dumps(value(3))))
        assert (code == 0) == (not any(one["level"] == "error" for one in problems))
        seen.add(code)
    assert seen == {0, 2}

"""What an action is stands on its class: nothing elsewhere is decided by an action's name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from handrail.protocol.actions import ACTIONS

ROOT = Path(__file__).parent.parent / "src" / "handrail"
OUTSIDE = {
    "protocol/": "the vocabulary itself",
    "dialects/": "what other designs call the actions",
    "flow/maestro/": "commands of another language",
    "evaluation/tasks/": "templates: what a solution does, as a flow writes it",
    "cli/index.py": "generated",
    "cli/vocabulary.py": "generated",
    "engine/short_forms.py": "generated",
    "sync/short_forms.py": "generated",
}
LISTED = {
    ("android/input.py", "swipe"): "a word of Android's `input` command",
    ("android/input.py", "tap"): "a word of Android's `input` command",
    ("android/logs.py", "shell"): "a user of Android",
    ("android/u2/channel.py", "drag"): "a method of the u2 server",
    ("android/u2/channel.py", "swipe"): "a method of the u2 server",
    ("cli/completion.py", "shell"): "a command's argument: bash, zsh or fish",
    ("cli/demo_acts.py", "start_app"): "an example: what a model calls in the demo",
    ("cli/demo_acts.py", "tap"): "an example: what a model calls in the demo",
    ("cli/demo_acts.py", "type_text"): "an example: what a model calls in the demo",
    ("cli/demo_acts.py", "window.create"): "an example: what a model calls in the demo",
    ("engine/approval/row.py", "screenshot"): "a column of a stored question",
    ("engine/policy/read.py", "shell"): "a setting of the policy file",
    **{
        ("engine/hands.py", word): "what a finger did, as a failure later on counts it"
        for word in ("tap", "swipe", "drag", "pinch")
    },
    ("engine/record.py", "screenshot"): "the name of a blob in the journal",
    ("http/journal_runs.py", "screenshot"): "the name of a blob in the journal",
    ("engine/script/allow.py", "shell"): "a word of the `adb` command",
    ("cli/run_approvals.py", "wait"): "a word of `handrail run --approvals`",
    ("env/android_world.py", "shell"): "a word of the `adb` command",
    ("http/api.py", "wait"): "a parameter of a request",
    ("tree/node.py", "long_press"): "what an element is said to allow",
    ("tree/node.py", "tap"): "what an element is said to allow",
}
MOST = 25
MAKES_A_TABLE = {"set", "frozenset", "dict", "fromkeys", "startswith"}


def names_in(source: str) -> Iterator[tuple[ast.Constant, list[ast.AST]]]:
    """Every string that is the name of an action, with what it stands in, the nearest first."""
    tree = ast.parse(source)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node, parent in parents.items():
        if not isinstance(node, ast.Constant) or isinstance(parent, ast.Expr):
            continue
        if isinstance(node.value, str) and node.value in ACTIONS:
            around = [parent]
            while (above := parents.get(around[-1])) is not None:
                around.append(above)
            yield node, around


def decides(node: ast.Constant, around: list[ast.AST]) -> bool:
    """Whether what the program does depends on the name: it is compared, or looked up."""
    listing = next((one for one in around if not isinstance(one, ast.Tuple | ast.List)), None)
    nearest = around[0]
    if isinstance(nearest, ast.Tuple | ast.List) and _count_names(nearest) > 1:
        return True
    match listing:
        case ast.Set() | ast.Compare() | ast.MatchValue() | ast.MatchMapping() | ast.MatchClass():
            return True
        case ast.Dict(keys=keys, values=values):
            return any(key is node and not _is_own_field(node, values[at]) for at, key in enumerate(keys))
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in MAKES_A_TABLE
    return False


def _count_names(listing: ast.Tuple | ast.List) -> int:
    return sum(isinstance(one, ast.Constant) and one.value in ACTIONS for one in listing.elts)


def _is_own_field(key: ast.Constant, value: ast.expr) -> bool:
    """`"screenshot": request.screenshot` writes a field out; nobody is looked up by it."""
    return isinstance(value, ast.Attribute) and value.attr == key.value


@cache
def found() -> dict[tuple[str, str], list[bool]]:
    """By file and name, whether each place decides something."""
    places: dict[tuple[str, str], list[bool]] = {}
    for path in sorted(ROOT.rglob("*.py")):
        file = path.relative_to(ROOT).as_posix()
        if not file.startswith(tuple(OUTSIDE)):
            for node, around in names_in(path.read_text()):
                places.setdefault((file, str(node.value)), []).append(decides(node, around))
    return places


def test_a_name_of_an_action_elsewhere_is_listed_with_its_reason() -> None:
    unlisted = sorted(set(found()) - set(LISTED))
    assert not unlisted, "compare classes or read traits, or say here why it is no action"
    assert not sorted(set(LISTED) - set(found())), "these are gone: take them off the list"


def test_the_list_is_short() -> None:
    assert len(LISTED) <= MOST
    assert all(reason.strip() for reason in LISTED.values())


def test_nothing_is_decided_by_a_name() -> None:
    assert not [place for place, decided in found().items() if any(decided)]


def test_what_is_left_out_exists() -> None:
    assert all((ROOT / name).exists() for name in OUTSIDE)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('{"tap"}', True),
        ('x = {"tap": 1}', True),
        ('x = {"type": "tap"}', False),
        ('x = {"screenshot": asked.screenshot}', False),
        ('x = {"screenshot": asked.other}', True),
        ('kind == "tap"', True),
        ('kind in ("tap", other)', True),
        ('x = ("tap", "swipe")', True),
        ('x = [("tap", {})]', False),
        ('x = frozenset(["tap"])', True),
        ('x = dict.fromkeys(("tap",))', True),
        ('kind.startswith("tap")', True),
        ('send("tap", 1)', False),
        ('match kind:\n    case "tap":\n        pass', True),
        ('match kind:\n    case {"type": "tap"}:\n        pass', True),
        ('match kind:\n    case "a" | "tap":\n        pass', True),
    ],
)
def test_what_decides_is_told_from_what_only_says(source: str, expected: bool) -> None:
    [(node, around), *_] = names_in(source)
    assert decides(node, around) is expected


def test_docstrings_are_no_names() -> None:
    assert not list(names_in('"tap"\ndef f():\n    "tap"\n'))

"""What an action is stands on its class: nothing elsewhere is decided by an action's name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from handrail.protocol.actions import ACTIONS
from tests.cases import each

ROOT = Path(__file__).parent.parent / "src" / "handrail"
OUTSIDE = {
    "protocol/": "the vocabulary itself",
    "dialects/": "what other designs call the actions",
    "surface/gesture.py": "kinds of gestures and primitives of a channel, which share the words",
    "engine/gestures.py": "kinds of gestures and primitives of a channel, which share the words",
    "android/adb_channel.py": "kinds of gestures and primitives of a channel, which share the words",
    "android/channel.py": "kinds of gestures and primitives of a channel, which share the words",
    "android/driver.py": "kinds of gestures and primitives of a channel, which share the words",
    "android/input.py": "kinds of gestures and primitives of a channel, which share the words",
    "android/uiautomator2.py": "kinds of gestures and primitives of a channel, which share the words",
    "android/text_entry.py": "kinds of gestures and primitives of a channel, which share the words",
    "android/helper_channel.py": "kinds of gestures and primitives of a channel, which share the words",
    "ios/input.py": "kinds of gestures and primitives of a channel, which share the words",
    "ios/examine.py": "kinds of gestures and primitives of a channel, which share the words",
    "browser/input.py": "kinds of gestures and primitives of a channel, which share the words",
}
LISTED = {
    ("cli/action_commands.py", "tap"): "an example in the help",
    ("android/logs.py", "shell"): "a user of Android",
    ("adb/shell.py", "shell"): "a service of adbd",
    ("cli/program.py", "tap"): "a name in the help",
    ("cli/program.py", "shell"): "a command's argument: bash, zsh or fish",
    ("cli/demo.py", "start_app"): "an example: what a model calls in the demo",
    ("cli/demo.py", "tap"): "an example: what a model calls in the demo",
    ("cli/demo.py", "type_text"): "an example: what a model calls in the demo",
    ("cli/demo.py", "window.create"): "an example: what a model calls in the demo",
    ("safety/approval_store.py", "screenshot"): "a column of a stored question",
    ("safety/policy_file.py", "shell"): "a setting of the policy file",
    ("engine/journal_writer.py", "screenshot"): "the name of a blob in the journal",
    ("web_server/journal.py", "screenshot"): "the name of a blob in the journal",
    ("cli/approvals.py", "wait"): "a word of `handrail run --approvals`",
    ("flow/run_record.py", "type_text"): "a step as its file wrote it",
    ("web_server/api.py", "wait"): "a parameter of a request",
    ("screen/node.py", "long_press"): "what an element is said to allow",
    ("screen/node.py", "tap"): "what an element is said to allow",
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


@each(
    ("source", "expected"),
    [
        ('{"tap"}', True), ('x = {"tap": 1}', True), ('x = {"type": "tap"}', False),
        ('x = {"screenshot": asked.screenshot}', False), ('x = {"screenshot": asked.other}', True),
        ('kind == "tap"', True), ('kind in ("tap", other)', True), ('x = ("tap", "swipe")', True),
        ('x = [("tap", {})]', False), ('x = frozenset(["tap"])', True),
        ('x = dict.fromkeys(("tap",))', True), ('kind.startswith("tap")', True), ('send("tap", 1)', False),
        ('match kind:\n    case "tap":\n        pass', True),
        ('match kind:\n    case {"type": "tap"}:\n        pass', True),
        ('match kind:\n    case "a" | "tap":\n        pass', True),
    ],
)  # fmt: skip
def test_what_decides_is_told_from_what_only_says(source: str, expected: bool) -> None:
    [(node, around), *_] = names_in(source)
    assert decides(node, around) is expected


def test_docstrings_are_no_names() -> None:
    assert not list(names_in('"tap"\ndef f():\n    "tap"\n'))

"""A Maestro flow as a Handrail flow: what both languages can say, with a comment where only one can."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from handrail.flow.parse import Fields, Items, Node, Scalar, invalid_flow, plain_data
from handrail.flow.write import entry_lines, indented, list_item_lines
from handrail_maestro.expressions import has_default, names_in, pieces
from handrail_maestro.files import read_text
from handrail_maestro.read import MaestroCommand, MaestroFile, read, texts_in
from handrail_maestro.surroundings import permission_actions
from handrail_maestro.words import KEYS, ORIENTATIONS

_PART = re.compile(r"\.\*([^.*+?^${}()|\[\]\\]+)\.\*")
_SPECIAL = re.compile(r"[.*+^{}()|\[\]\\]|\$(?!\{)")
_DEFAULT = re.compile(r"""\|\|\s*['"](.*)['"]\s*$""", re.DOTALL)
_RELATIONS = {
    "below": "below",
    "above": "above",
    "leftOf": "left_of",
    "rightOf": "right_of",
    "childOf": "within",
}
LOOKUP_MS = 17_000

StepData = dict[str, Any]


class CannotSay(Exception):
    """The other language has no words for this; its text says why."""


@dataclass(slots=True)
class Converted:
    """The file in the other language, and what was left out of it."""

    text: str = ""
    left_out: list[str] = field(default_factory=list)


def to_handrail(path: Path) -> Converted:
    """Raises `InvalidAction` for a file that can't be read."""
    file = read(read_text(path), path)
    wrong = [problem for problem in file.problems if problem.level == "error"]
    if wrong:
        raise invalid_flow(wrong, path)
    made = Converted()
    lines = entry_lines("name", file.name)
    lines += entry_lines("tags", list(file.tags)) if file.tags else []
    env = {name: _filled(text, made, path, 1) for name, text in texts_in(file.header.get("env")).items()}
    given = {name: value for name, value in env.items() if value is not None}
    lines += entry_lines("env", given) if given else []
    steps = _steps(file, file.every, made)
    made.text = "\n".join([*lines, "steps:", *indented(steps or ["- finish"])]) + "\n"
    return made


def _filled(text: str, made: Converted, path: Path | None, line: int) -> str | None:
    try:
        return words(text)
    except CannotSay as why:
        made.left_out.append(f"{path}:{line}: {why}")
        return None


def words(text: str) -> str:
    """A text with its variables in Handrail's form."""
    told: list[str] = []
    for piece in pieces(text):
        name = names_in(piece.text) if piece.is_code else None
        if not piece.is_code:
            told.append(piece.text.replace("${", "$${"))
        elif piece.is_secret:
            told.append(f"${{{piece.text.strip()}}}")
        elif name is None:
            raise CannotSay(f"${{{piece.text[:60]}}} is a script")
        else:
            default = _DEFAULT.search(piece.text) if has_default(piece.text) else None
            told.append(f"${{{name}:-{default[1]}}}" if default else f"${{{name}}}")
    return "".join(told)


def _steps(file: MaestroFile, commands: tuple[MaestroCommand, ...], made: Converted) -> list[str]:
    lines: list[str] = []
    for command in commands:
        try:
            steps = _step(file, command, made)
        except CannotSay as why:
            made.left_out.append(f"{file.path}:{command.mark.line}: {command.name}: {why}")
            lines.append(f"# left out: {command.name}: {str(why).splitlines()[0]}")
            continue
        for step in steps:
            lines += list_item_lines(_lines(step))
    return lines


def _lines(step: StepData) -> list[str]:
    """Steps inside are lines already."""
    lines: list[str] = []
    for key, value in step.items():
        if isinstance(value, _Lines):
            before = [line for name, one in value.before.items() for line in entry_lines(name, one)]
            lines += [f"{key}:", *indented([*before, *value.lines])]
        elif value is None:
            lines.append(f"{key}:" if len(step) > 1 else key)
        else:
            lines += entry_lines(key, value)
    return lines


@dataclass(frozen=True, slots=True)
class _Lines:
    lines: list[str]
    before: Mapping[str, Any] = field(default_factory=dict)


def _step(file: MaestroFile, one: MaestroCommand, made: Converted) -> list[StepData]:
    options: StepData = {"label": words(label)} if (label := one.text("label")) else {}
    options |= {"optional": True} if one.is_optional else {}
    if one.name in _HOLDERS:
        return [{**step, **options} for step in _holder(file, one, made)]
    if one.name not in _SIMPLE:
        raise CannotSay("there is no such action")
    return [{**step, **options} for step in _SIMPLE[one.name](file, one)]


_HOLDERS = ("runFlow", "repeat", "retry")


def _holder(file: MaestroFile, one: MaestroCommand, made: Converted) -> list[StepData]:
    inside = _steps(file, one.inner, made)
    is_empty = not any(line.lstrip().startswith("- ") for line in inside)
    name = one.text("file")
    if one.name == "retry":
        raise CannotSay("a block can't be retried; give `retry` to its steps")
    if one.name == "repeat":
        times, condition = one.text("times"), one.option("while")
        if (times is None) == (condition is None) or is_empty:
            raise CannotSay("it needs either times or while")
        before = {"times": int(times)} if times and times.isdigit() else {"while": _condition(condition)}
        return [{"repeat": _Lines(["steps:", *indented(inside)], before)}]
    when = one.option("when")
    if name is not None:
        env = {key: words(text) for key, text in texts_in(one.option("env")).items()}
        step: StepData = {"run_flow": {"file": name, "env": env} if env else name}
        return [{**step, "when": _condition(when)} if when is not None else step]
    if is_empty:
        raise CannotSay("nothing is left of it")
    if when is None:
        return [{"repeat": _Lines(["steps:", *indented(inside)], {"times": 1})}]
    return [{"when": _condition(when), "then": _Lines(inside)}]


def _picture_name(one: MaestroCommand) -> StepData:
    """The name of a picture is the step's label: ours are kept by reports, not as files."""
    name = one.text("path")
    return {"label": words(name)} if name else {}


def _condition(node: Node | None) -> Any:
    if not isinstance(node, Fields):
        raise CannotSay("it has no condition")
    made: list[Any] = []
    for key, one in node.entries.items():
        if key == "visible":
            made.append({"visible": _target(one.value)})
        elif key == "notVisible":
            made.append({"absent": _target(one.value)})
        elif key == "platform" and isinstance(one.value, Scalar) and one.value.text.lower() == "android":
            continue
        elif key != "label":
            raise CannotSay(f"a condition can't be {key}")
    if not made:
        raise CannotSay("it has no condition that Handrail can see")
    return made[0] if len(made) == 1 else {"all": made}


def _target(node: Node | None) -> Any:
    """An element, by what both languages know of it."""
    if isinstance(node, Scalar):
        return _by_text(node.text)
    if not isinstance(node, Fields):
        raise CannotSay("it names no element")
    made: dict[str, Any] = {}
    for key, one in node.entries.items():
        if key in ("label", "optional", *_TAPS):
            continue
        if key == "text" and isinstance(one.value, Scalar):
            told = _by_text(one.value.text)
            made |= {"text": told} if isinstance(told, str) else told
        elif (
            key == "id"
            and isinstance(one.value, Scalar)
            and not _SPECIAL.search(one.value.text.replace(".", ""))
        ):
            made["id"] = words(one.value.text)
        elif key in _RELATIONS:
            made[_RELATIONS[key]] = _target(one.value)
        elif key == "index" and isinstance(one.value, Scalar) and one.value.text.isdigit():
            made["index"] = int(one.value.text)
        else:
            raise CannotSay(f"an element can't be named by {key}")
    if not made:
        raise CannotSay("it names no element")
    return made["text"] if made.keys() == {"text"} else made


_TAPS = ("retryTapIfNoChange", "waitUntilVisible", "repeat", "delay", "waitToSettleTimeoutMs")


def _by_text(text: str) -> Any:
    if part := _PART.fullmatch(text):
        return {"text_contains": part[1]}
    if _SPECIAL.search(text.rstrip(".!?").replace("?", "")) and not text.isprintable():
        raise CannotSay("a text with line breaks")
    if re.search(r"\.\*|\.\+|\\[dwsb]|\[[^\]]*\]|\|", text):
        raise CannotSay(f"{text[:60]} is a pattern")
    return words(text)


def _tap(kind: str) -> Callable[[MaestroFile, MaestroCommand], list[StepData]]:
    def step(_: MaestroFile, one: MaestroCommand) -> list[StepData]:
        point = one.text("point")
        if point is not None:
            if "%" in point or set(one.options.entries) - {"point", "label", "optional", *_TAPS}:
                raise CannotSay("a place in per cent")
            return [{kind: point.replace(" ", "")}]
        target = _target(one.options)
        return [{kind: {"target": target, "duration_ms": 3_000}} if kind == "long_press" else {kind: target}]

    return step


def _app(file: MaestroFile, one: MaestroCommand) -> str:
    app = one.text("appId") or one.text("url") or file.app
    if not app:
        raise CannotSay("it names no app")
    return words(app)


def _launch(file: MaestroFile, one: MaestroCommand) -> list[StepData]:
    app = _app(file, one)
    steps: list[StepData] = [{"reset_app": app}] if one.is_on("clearState") else []
    steps += _permissions(app, texts_in(one.option("permissions")) or {"all": "allow"})
    steps += [{"stop_app": app}] if one.is_on("stopApp", default=True) else []
    extras = one.option("arguments")
    start = {"package": app, "extras": plain_data(extras)} if isinstance(extras, Fields) else app
    return [*steps, {"start_app": start}]


def _permissions(app: str, wishes: Mapping[str, str]) -> list[StepData]:
    if "${" in app:
        return []
    try:
        actions = permission_actions(app, wishes.items())
    except ValueError:
        raise CannotSay(f"{app[:60]} is not a package, or this is not a permission") from None
    return [
        {action.type: action.model_dump(exclude={"type"}, exclude_none=True), "optional": True}
        for action in actions
    ]


def _swipe(_: MaestroFile, one: MaestroCommand) -> list[StepData]:
    start, end = one.text("start"), one.text("end")
    if start and end and "%" not in start + end:
        return [{"swipe": {"from": start.replace(" ", ""), "to": end.replace(" ", "")}}]
    if one.option("from") is not None:
        return [{"swipe": {"direction": _direction(one, "up"), "target": _target(one.option("from"))}}]
    if start:
        raise CannotSay("places in per cent")
    return [{"swipe": _direction(one, "up")}]


def _direction(one: MaestroCommand, default: str) -> str:
    return (one.text("direction") or default).strip().lower()


def _wait(_: MaestroFile, one: MaestroCommand) -> list[StepData]:
    timeout = one.text("timeout") or str(LOOKUP_MS)
    if not timeout.isdigit():
        raise CannotSay("its time is a script")
    steps: list[StepData] = []
    for key, word in (("visible", "visible"), ("notVisible", "absent")):
        if one.option(key) is not None:
            steps.append(
                {"wait_for": {word: _target(one.option(key))}, "timeout_ms": min(int(timeout), 600_000)}
            )
    return steps


def _files(_: MaestroFile, one: MaestroCommand) -> list[StepData]:
    node = one.option("files")
    values = node.items if isinstance(node, Items) else (node,)
    return [{"add_media": value.text} for value in values if isinstance(value, Scalar)]


def _text(kind: str, option: str) -> Callable[[MaestroFile, MaestroCommand], list[StepData]]:
    return lambda _, one: [{kind: words(one.text(option) or "")}]


def _place(_: MaestroFile, one: MaestroCommand) -> list[StepData]:
    try:
        place = {name: float(one.text(name) or "") for name in ("latitude", "longitude")}
    except ValueError:
        raise CannotSay("its place is a script") from None
    return [{"set_location": place}]


_SIMPLE: Mapping[str, Callable[[MaestroFile, MaestroCommand], list[StepData]]] = {
    "tapOn": _tap("tap"), "doubleTapOn": _tap("double_tap"), "longPressOn": _tap("long_press"),
    "swipe": _swipe, "scroll": lambda _, __: [{"swipe": "up"}],
    "scrollUntilVisible": lambda _, one: [
        {"scroll_to": {"target": _target(one.option("element")), "direction": _direction(one, "down")}}
    ],
    "inputText": _text("type_text", "text"), "setClipboard": _text("set_clipboard", "text"),
    "openLink": _text("open_url", "link"),
    "pressKey": lambda _, one: [{"press_key": KEYS[(one.text("key") or "").strip().lower()]}],
    "back": lambda _, __: [{"press_key": "back"}], "hideKeyboard": lambda _, __: [{"hide_keyboard": None}],
    "launchApp": _launch, "stopApp": lambda file, one: [{"stop_app": _app(file, one)}],
    "killApp": lambda file, one: [{"stop_app": _app(file, one)}],
    "clearState": lambda file, one: [{"reset_app": _app(file, one)}],
    "setPermissions": lambda file, one: _permissions(_app(file, one), texts_in(one.option("permissions"))),
    "setAirplaneMode": lambda _, one: [{"set_network": {"airplane_mode": one.text("value") == "enabled"}}],
    "setDarkMode": lambda _, one: [{"set_appearance": "dark" if one.text("value") == "enabled" else "light"}],
    "setOrientation": lambda _, one: [
        {"set_orientation": ORIENTATIONS[(one.text("orientation") or "").lower().replace("_", "")]}
    ],
    "setLocation": _place, "addMedia": _files,
    "assertVisible": lambda _, one: [{"expect_visible": _target(one.options), "timeout_ms": LOOKUP_MS}],
    "assertNotVisible": lambda _, one: [{"expect_absent": _target(one.options), "timeout_ms": LOOKUP_MS}],
    "extendedWaitUntil": _wait,
    "waitForAnimationToEnd": lambda _, __: [{"wait_for_stable": 15_000, "optional": True}],
    "takeScreenshot": lambda _, one: [{"screenshot": None, **_picture_name(one)}],
}  # fmt: skip

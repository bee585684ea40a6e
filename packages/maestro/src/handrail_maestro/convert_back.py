"""A Handrail flow as a Maestro flow, as far as Maestro can say it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from handrail.flow.document import FlowDocument, load
from handrail.flow.python_text import keep_variables
from handrail.flow.write import entry_lines, indented, list_item_lines
from handrail.protocol import device, observe, system
from handrail.protocol.actions import AnyAction
from handrail.protocol.flow import AnyStep, Branch, Repeat, RunFlow, Step
from handrail.protocol.target import Condition, Point, Selector
from handrail_maestro.convert import CannotSay, Converted
from handrail_maestro.words import KEYS

_WORDS = {handrail: maestro for maestro, handrail in KEYS.items()}
_RELATIONS = {
    "below": "below",
    "above": "above",
    "left_of": "leftOf",
    "right_of": "rightOf",
    "within": "childOf",
}

Item = str | dict[str, Any]


def to_maestro(source: Path | FlowDocument) -> Converted:
    """Raises `InvalidAction` for a file that can't be read."""
    document = load(source) if isinstance(source, Path) else source
    flow, env, filled = keep_variables(document)
    path = document.path or Path("flow.yaml")
    made = Converted(left_out=filled)
    header = entry_lines("appId", flow.app or "")
    header += entry_lines("name", flow.name)
    header += entry_lines("tags", list(flow.tags)) if flow.tags else []
    header += entry_lines("env", env) if env else []
    started: list[Item] = ["launchApp"] if flow.app else []
    lines = [line for one in started for line in _item(one)] + _steps(
        flow.steps, made, path, [document.places.of((at,)).line for at in range(len(flow.steps))]
    )
    made.text = "\n".join([*header, "---", *lines]) + "\n"
    return made


def _item(one: Item) -> list[str]:
    if isinstance(one, str):
        return [f"- {one}"]
    [(name, value)] = one.items()
    if isinstance(value, dict) and isinstance(value.get("commands"), list):
        others = {key: inner for key, inner in value.items() if key != "commands"}
        inside = [line for key, inner in others.items() for line in entry_lines(key, inner)]
        return [f"- {name}:", *indented([*inside, "commands:", *indented(value["commands"])], 4)]
    return list_item_lines(entry_lines(name, value))


def _steps(steps: Sequence[AnyStep], made: Converted, path: Path, places: Sequence[int] = ()) -> list[str]:
    """`places` are the lines of the steps; a step inside another is told without one."""
    lines: list[str] = []
    for number, one in enumerate(steps, 1):
        try:
            for command in _step(one, made, path):
                lines += _item(_with_options(command, one))
        except CannotSay as why:
            where = f"{path}:{places[number - 1]}" if places else str(path)
            made.left_out.append(f"{where}: step {number}: {why}")
            lines.append(f"# left out: {why}")
    return lines


def _with_options(command: Item, step: AnyStep) -> Item:
    more: dict[str, Any] = {"label": step.label} if step.label else {}
    more |= {"optional": True} if step.optional else {}
    if not more:
        return command
    if isinstance(command, str):
        return {command: more}
    [(name, value)] = command.items()
    known = value if isinstance(value, Mapping) else {_SHORT.get(name, "text"): value}
    return {name: {**known, **more}}


_SHORT = {"pressKey": "key", "openLink": "link", "stopApp": "appId", "clearState": "appId", "runFlow": "file"}


def _step(step: AnyStep, made: Converted, path: Path) -> list[Item]:
    if step.when is not None and not isinstance(step, RunFlow):
        bare = step.model_copy(update={"when": None})
        return [{"runFlow": {"when": _condition(step.when), "commands": _steps([bare], made, path)}}]
    match step:
        case Step():
            return [*_action(step.action), *_expected(step.action.expect)]
        case Repeat(times=int(times)):
            return [{"repeat": {"times": times, "commands": _steps(step.steps, made, path)}}]
        case Repeat(while_=Condition() as condition):
            return [{"repeat": {"while": _condition(condition), "commands": _steps(step.steps, made, path)}}]
        case Branch(otherwise=None):
            return [
                {"runFlow": {"when": _condition(step.condition), "commands": _steps(step.then, made, path)}}
            ]
        case RunFlow():
            more: dict[str, Any] = {"when": _condition(step.when)} if step.when else {}
            more |= {"env": dict(step.env)} if step.env else {}
            return [{"runFlow": {"file": step.file, **more} if more else step.file}]
        case _:
            raise CannotSay(f"{type(step).__name__.lower()} of this form")


def _condition(condition: Condition) -> dict[str, Any]:
    if condition.visible is not None:
        return {"visible": _target(condition.visible)}
    if condition.absent is not None:
        return {"notVisible": _target(condition.absent)}
    raise CannotSay(f"a condition on {condition.kind}")


def _target(target: Selector | Point) -> Any:
    if isinstance(target, Point):
        return {"point": f"{target.x},{target.y}"}
    made: dict[str, Any] = {}
    for name, value in target.model_dump(exclude_none=True).items():
        if name in ("text", "id", "index"):
            made[name] = value
        elif name == "text_contains":
            made["text"] = f".*{value}.*"
        elif name in ("description", "hint") and "text" not in made:
            made["text"] = value
        elif name in _RELATIONS:
            anchor = getattr(target, name)
            made[_RELATIONS[name]] = _target(anchor)
        else:
            raise CannotSay(f"an element named by {name}")
    return made["text"] if made.keys() == {"text"} else made


def _action(action: AnyAction) -> list[Item]:  # noqa: PLR0911, PLR0912, C901  (one line per action)
    match action:
        case device.Tap():
            return [{"tapOn": _target(action.target)}]
        case device.DoubleTap():
            return [{"doubleTapOn": _target(action.target)}]
        case device.LongPress():
            return [{"longPressOn": _target(action.target)}]
        case device.TypeText():
            return _typed(action)
        case device.PressKey():
            if action.name == "back":
                return ["back"]
            if action.name not in _WORDS:
                raise CannotSay(f"the key {action.name}")
            return [{"pressKey": _WORDS[action.name]}]
        case device.HideKeyboard():
            return ["hideKeyboard"]
        case device.Swipe(direction=str(direction), target=None):
            return [{"swipe": {"direction": direction.upper()}}]
        case device.Swipe(from_=Point() as start, to=Point() as end):
            ends = {"start": f"{start.x},{start.y}", "end": f"{end.x},{end.y}"}
            return [{"swipe": {**ends, "duration": action.duration_ms}}]
        case device.ScrollTo(within=None):
            where = {"element": _target(action.target), "direction": action.direction.upper()}
            return [{"scrollUntilVisible": where}]
        case observe.ExpectVisible():
            return [{"assertVisible": _target(action.target)}]
        case observe.ExpectAbsent():
            return [{"assertNotVisible": _target(action.target)}]
        case observe.WaitFor():
            return [{"extendedWaitUntil": {**_condition(action.condition), "timeout": action.timeout_ms}}]
        case observe.WaitForStable():
            return [{"waitForAnimationToEnd": {"timeout": action.timeout_ms}}]
        case observe.ReadText():
            return [{"copyTextFrom": _target(action.target)}]
        case system.StartApp(activity=None):
            more = {"arguments": action.extras} if action.extras else {}
            return [{"launchApp": {"appId": action.package, "stopApp": False, **more}}]
        case system.StopApp():
            return [{"stopApp": action.package}]
        case system.RestartApp():
            return [{"launchApp": {"appId": action.package}}]
        case system.ResetApp():
            return [{"clearState": action.package}]
        case system.OpenUrl():
            return [{"openLink": action.url}]
        case system.SetAppearance():
            return [{"setDarkMode": "enabled" if action.appearance == "dark" else "disabled"}]
        case system.SetLocation():
            return [{"setLocation": {"latitude": action.latitude, "longitude": action.longitude}}]
        case system.AddMedia():
            return [{"addMedia": [action.path]}]
        case system.SetOrientation(orientation="portrait" | "landscape" as stands):
            return [{"setOrientation": "PORTRAIT" if stands == "portrait" else "LANDSCAPE_LEFT"}]
        case system.SetNetwork(airplane_mode=bool(on)):
            return [{"setAirplaneMode": "enabled" if on else "disabled"}]
    raise CannotSay(action.type)


def _expected(condition: Condition | None) -> list[Item]:
    if condition is None:
        return []
    [(word, target)] = _condition(condition).items()
    return [{"assertVisible" if word == "visible" else "assertNotVisible": target}]


def _typed(action: device.TypeText) -> list[Item]:
    before: list[Item] = [{"tapOn": _target(action.target)}] if action.target is not None else []
    before += ["eraseText"] if action.clear else []
    after: list[Item] = [{"pressKey": "enter"}] if action.submit else []
    return [*before, {"inputText": action.text}, *after]

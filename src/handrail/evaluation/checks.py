"""Whether a task is solved: its conditions against the phone's state, the answer and the trail. Pure.

Paths into the state are dotted, as `sim state` takes them; `*` is every entry of a list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from handrail.evaluation.task import (
    Condition,
    Steps,
    TaskAnswer,
    TaskQuestion,
    TaskState,
    TaskWords,
    Unchanged,
    Visited,
)

KEPT = ("apps", "settings")
"""The parts of a phone's state that last; the rest is what is on the screen just now."""
LOOKING = (
    "apps.com.handrail.gallery.last_viewed",
    "apps.com.handrail.gallery.scale",
    "apps.com.handrail.browser.url",
    "apps.com.handrail.bank.signed_in",
    "apps.com.google.android.apps.messaging.threads.*.messages.*.read",
    "apps.com.handrail.flutterlab",
    "apps.com.handrail.reactlab.likes",
)
"""What changes when somebody only looks: opening an app, a thread or a picture is no deed."""
DENIES = re.compile(
    r"\b(?:no|not|none|never|neither|cannot|without|unable|impossible|fail(?:s|ed)?|missing|unavailable|"
    r"refused?|declined|denied|rejected|nobody|wrong|invalid)\b|n['’]t\b",
    re.IGNORECASE,
)
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class TaskEvidence:
    """All that a verdict may be based on."""

    before: dict[str, Any]
    after: dict[str, Any]
    answer: str = ""
    """The message of `finish`; empty where the run ended otherwise."""
    apps: tuple[str, ...] = ()
    """What was in front, step by step."""
    asked: int = 0


def problems(conditions: Sequence[Condition], evidence: TaskEvidence) -> list[str]:
    """Why the task is not solved; empty when it is."""
    return [why for one in conditions if (why := _problem(one, evidence))]


def state_problems(conditions: Sequence[Condition], evidence: TaskEvidence) -> list[str]:
    """The same by the phone alone, whatever the model said and where it looked."""
    return problems([one for one in conditions if isinstance(one, TaskState | Unchanged)], evidence)


def is_shown_by_state(conditions: Sequence[Condition]) -> bool:
    """False for questions and for what can't be done: the answer proves them, the phone stays as it was."""
    return any(isinstance(one, TaskState) for one in conditions)


def _problem(condition: Condition, evidence: TaskEvidence) -> str:
    match condition:
        case TaskState():
            return _of_state(condition, find(evidence.after, condition.state))
        case Unchanged():
            return _of_rest(condition, evidence)
        case TaskAnswer():
            return _of_words(condition.answer, evidence.answer)
        case Visited():
            unseen = [app for app in condition.visited if app not in evidence.apps]
            return f"never looked into {', '.join(unseen)}" if unseen else ""
        case Steps():
            few = len(evidence.apps) < condition.steps
            return f"too few steps to know: {len(evidence.apps)}, not {condition.steps}" if few else ""
        case TaskQuestion():
            few = evidence.asked < condition.asked
            return f"the person was asked {evidence.asked} times, not {condition.asked}" if few else ""


def _of_state(condition: TaskState, found: list[Any]) -> str:
    [test] = condition.tests
    wanted = getattr(condition, test)
    if test == "exists":
        return "" if bool(found) == wanted else f"{condition.state} {'is missing' if wanted else 'is there'}"
    if not found:
        return f"{condition.state} is missing"
    value = found[0] if len(found) == 1 and "*" not in condition.state else found
    holds = _TESTS[test](value, wanted)
    return "" if holds else f"{condition.state} is {_short(value)}; {test} {_short(wanted)} does not hold"


def _of_rest(condition: Unchanged, evidence: TaskEvidence) -> str:
    before, after = (
        {name: state[name] for name in KEPT if name in state} for state in (evidence.before, evidence.after)
    )
    for path in (*LOOKING, *condition.unchanged_except):
        before, after = without(before, path), without(after, path)
    changed = differences(before, after)
    return f"changed without need: {', '.join(changed[:3])}" if changed else ""


def _of_words(words: TaskWords, answer: str) -> str:
    said = answer.casefold()
    missing = [one for one in words.contains if one.casefold() not in said]
    if missing:
        return f"the answer {_short(answer)} does not say {_short(missing[0])}"
    if words.any_of and not any(one.casefold() in said for one in words.any_of):
        return f"the answer {_short(answer)} says none of {_short(list(words.any_of))}"
    claims = [one for one in words.lacks if one.casefold() in said]
    if claims:
        return f"the answer {_short(answer)} says {_short(claims[0])}"
    if words.denies and not DENIES.search(answer):
        return f"the answer {_short(answer)} does not say that it could not be done"
    return ""


def like(value: Any, wanted: Any) -> bool:
    """Equal; of a mapping only the named keys, and `{contains: …}` is a part of a text."""
    if isinstance(wanted, list):
        return isinstance(value, list) and len(value) == len(wanted) and all(map(like, value, wanted))
    if not isinstance(wanted, dict):
        return bool(value == wanted)
    if list(wanted) == ["contains"]:
        return contains(value, wanted["contains"])
    return isinstance(value, dict) and all(
        name in value and like(value[name], one) for name, one in wanted.items()
    )


def contains(value: Any, wanted: Any) -> bool:
    """A part of a text, whatever its case, or an entry of a list."""
    if isinstance(value, str):
        return str(wanted).casefold() in value.casefold()
    return isinstance(value, list) and wanted in value


def _has(value: Any, wanted: Any) -> bool:
    return isinstance(value, list) and any(like(one, wanted) for one in value)


def _lacks(value: Any, wanted: Any) -> bool:
    return isinstance(value, list) and not _has(value, wanted)


def _count(value: Any, wanted: int) -> bool:
    return isinstance(value, list | dict | str) and len(value) == wanted


def _between(value: Any, wanted: tuple[float, float]) -> bool:
    """Settings are texts, numbers too."""
    number = float(value) if isinstance(value, str) and value.isdecimal() else value
    return isinstance(number, int | float) and wanted[0] <= number <= wanted[1]


_TESTS: dict[str, Callable[[Any, Any], bool]] = {
    "equals": like,
    "contains": contains,
    "has": _has,
    "lacks": _lacks,
    "count": _count,
    "between": _between,
}


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def find(value: Any, path: str) -> list[Any]:
    """All values that the path leads to. Keys such as package names may have dots themselves."""
    if not path:
        return [value]
    if isinstance(value, list):
        head, _, rest = path.partition(".")
        return [found for one in _entries(value, head) for found in find(one, rest)]
    if not isinstance(value, dict):
        return []
    for key, inner in value.items():
        if path == key or path.startswith(f"{key}."):
            found = find(inner, path[len(key) + 1 :])
            if found:
                return found
    return []


def without(value: Any, path: str) -> Any:
    """The same, less what the path leads to."""
    if not path:
        return None
    if isinstance(value, list):
        head, _, rest = path.partition(".")
        chosen = [id(one) for one in _entries(value, head)]
        return [
            without(one, rest) if id(one) in chosen else one for one in value if rest or id(one) not in chosen
        ]
    if not isinstance(value, dict):
        return value
    return {
        key: without(inner, path[len(key) + 1 :]) if path.startswith(f"{key}.") else inner
        for key, inner in value.items()
        if path != key
    }


def differences(before: Any, after: Any, path: str = "") -> list[str]:
    """Where two values are not the same, as paths."""
    if isinstance(before, dict) and isinstance(after, dict):
        names = [*before, *(name for name in after if name not in before)]
        inner = [(name, before.get(name), after.get(name)) for name in names]
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        inner = [(str(number), *pair) for number, pair in enumerate(zip(before, after, strict=True))]
    else:
        return [] if before == after else [path]
    return [
        found
        for name, was, is_now in inner
        for found in differences(was, is_now, f"{path}.{name}" if path else name)
    ]


def _entries(value: list[Any], head: str) -> list[Any]:
    if head == "*":
        return value
    number = int(head) if head.lstrip("-").isdigit() else len(value)
    return [value[number]] if -len(value) <= number < len(value) else []

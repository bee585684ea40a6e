"""From untrusted data to actions: whatever comes in, only `InvalidAction` comes out.

It says in words that help what pydantic found: the wire's own path, what is wrong, what was meant.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, from_json

from handrail.errors import InvalidAction
from handrail.protocol.act import Act
from handrail.protocol.actions import ACTION, ACTIONS, DESK_ACTIONS, AnyAction, parse_action
from handrail.protocol.model import camel
from handrail.protocol.target import Selector, value_in_words

A = TypeVar("A", bound=Act)
MAX_BYTES = 8_000_000
"""Larger input is refused unread: a picture in a window fits, a flood does not."""


def read_action(data: str | bytes) -> AnyAction:
    _refuse_large(data)
    try:
        return ACTION.validate_json(data)
    except ValidationError as error:
        raise invalid_action(error, read_json(data)) from None


def action_from(value: Any) -> AnyAction:
    try:
        return parse_action(value)
    except ValidationError as error:
        raise invalid_action(error, value) from None


def as_action(value: Any) -> AnyAction:
    if isinstance(value, Act):
        return cast("AnyAction", value)
    return action_from(dict(value) if isinstance(value, Mapping) else value)


def read_as(cls: type[A], fields: Mapping[str, Any]) -> A:
    """Takes any form that `action_from` understands."""
    return cast("A", action_from({**fields, "type": cls.model_fields["type"].default}))


def read_json(data: str | bytes) -> Any:
    """JSON of any shape, with limits on size and depth."""
    _refuse_large(data)
    try:
        return from_json(data, allow_inf_nan=False)
    except (ValueError, TypeError) as error:  # TypeError: a string with lone surrogates
        line = re.search(r"line (\d+) column (\d+)", str(error))
        place: dict[str, Any] = {"line": int(line[1]), "column": int(line[2])} if line else {}
        why = "a string with lone surrogates" if isinstance(error, TypeError) else error
        raise InvalidAction(
            f"not valid JSON: {why}", path="", hint="Send one JSON object.", **place
        ) from None


def _refuse_large(data: str | bytes) -> None:
    if len(data) > MAX_BYTES:
        raise InvalidAction(f"{len(data):,} bytes are too many; at most {MAX_BYTES:,} are read", path="")


Path = list[str | int]

_PRIVATE = {
    "text", "value", "data", "script", "command", "instruction", "equals", "contains", "formData",
    "form_data", "env",
}  # fmt: skip
_MANY = 20

ELSEWHERE = {
    "click": "tap", "press": "tap", "tap_element": "tap", "tap_coordinates": "tap", "type": "type_text",
    "input": "type_text", "fill": "type_text", "keyevent": "press_key", "back": "press_key",
    "home": "press_key", "press_back": "press_key", "launch_app": "start_app", "open_app": "start_app",
    "terminate_app": "stop_app", "scroll": "scroll_to", "scroll_to_element": "scroll_to", "sleep": "wait",
    "assert_visible": "expect_visible", "assert_not_visible": "expect_absent", "done": "finish",
    "snapshot": "screenshot",
}  # fmt: skip
"""What other tools call our actions."""


def invalid_action(error: ValidationError, data: Any) -> InvalidAction:
    """Every problem as the message, the first one first; at most 20 of them, also as details."""
    merged: dict[str, dict[str, Any]] = {}
    for detail in error.errors(include_url=False)[: _MANY * 5]:
        problem = _problem_from_detail(detail, data)
        earlier = merged.setdefault(problem["path"], problem)  # a union reports once per member
        if earlier is not problem and problem["message"] not in earlier["message"]:
            earlier["message"] += f", or {problem['message']}"
    problems = list(merged.values())[:_MANY]
    first = problems[0]
    suggestion = first.get("suggestion")
    hint = f"Did you mean {suggestion}?" if suggestion else None
    # A list that has lost its bad members is too short by that alone.
    own = [each for each in problems if not (_FOLLOWS in each["message"] and len(problems) > 1)]
    message = "; ".join(f"{each['path']}: {each['message']}".removeprefix(": ") for each in own)
    return InvalidAction(message, hint=hint, path=first["path"], problems=problems)


_FOLLOWS = "after validation, not 0"


def nearest(word: str, words: Iterable[str], least: float = 0.5) -> list[str]:
    """The most similar words, best first; `least` is the similarity they need, 0 to 1."""
    return list(_closest_words(word[:60], tuple(words), least))


@lru_cache(maxsize=2_000)
def _closest_words(word: str, words: tuple[str, ...], least: float) -> tuple[str, ...]:
    """Cached: comparing takes longer than reading an action, and callers repeat their mistakes."""
    return tuple(get_close_matches(word, words, n=3, cutoff=least))


def nearest_kind(word: str, kinds: Iterable[str]) -> list[str]:
    """The types that may have been meant: what other tools call so, then the most similar names."""
    names = list(kinds)
    renamed = [ELSEWHERE[word]] if ELSEWHERE.get(word) in names else []
    return [*renamed, *(kind for kind in nearest(word, names, least=0.6) if kind not in renamed)][:3]


def join_path(path: Path) -> str:
    """`["expect", "all", 1, "absent"]` → `expect.all[1].absent`."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".")


def _problem_from_detail(detail: ErrorDetails, data: Any) -> dict[str, Any]:
    # The wire path (pydantic's location without union tags), and the object that holds the bad field.
    path: Path = []
    here = holder = data
    spelling = _spelling(data, _snake_case)
    for part in detail["loc"]:
        is_index = isinstance(here, list) and isinstance(part, int) and 0 <= part < len(here)
        if is_index or (isinstance(here, dict) and part in here):
            holder, here = here, here[part]
            spelling = _spelling(here, spelling)
            path.append(part)
    match detail["type"]:
        case "missing":
            path.append(spelling(str(detail["loc"][-1])))
        case "needs":
            path.append(spelling(str(detail.get("ctx", {}).get("field"))))
        case "union_tag_invalid" | "union_tag_not_found":
            path.append(str(detail.get("ctx", {}).get("discriminator", "type")).strip("'"))
    message, suggestions = _message_and_suggestions(detail, path, holder)
    problem: dict[str, Any] = {"path": join_path(path), "message": message}
    if suggestions:
        problem["suggestion"] = " or ".join(suggestions)
    return problem


def _spelling(here: Any, outer: Callable[[str], str]) -> Callable[[str], str]:
    """How this object spells a missing field: desk actions and frames in camelCase, others in snake_case."""
    kind = here.get("type") if isinstance(here, dict) else None
    if not isinstance(kind, str):
        return outer
    if kind in DESK_ACTIONS or kind.isupper():
        return camel
    return _snake_case if kind in ACTIONS else outer


def _snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda match: "_" + match[1].lower(), name)


def _message_and_suggestions(detail: ErrorDetails, path: Path, holder: Any) -> tuple[str, list[str]]:
    """What is wrong, and what may have been meant."""
    context = detail.get("ctx", {})
    match detail["type"]:
        case "missing" | "union_tag_not_found":
            return "is required", []
        case "union_tag_invalid":
            tag = str(context.get("tag"))
            return f"{value_in_words(tag)} is not known", nearest_kind(
                tag, _quoted(context.get("expected_tags"))
            )
        case "string_pattern_mismatch" | "string_too_short" if not str(detail["input"]).strip():
            return "is blank", []
        case "string_pattern_mismatch":
            return _pattern_message(detail, path, holder), []
        case "extra_forbidden":
            return _unknown_field(str(path[-1] if path else detail["loc"][-1]), holder)
        case "literal_error":
            words = _quoted(context.get("expected"))
            bad_input = detail["input"]
            return f"must be one of: {', '.join(words)}", nearest(bad_input, words) if isinstance(
                bad_input, str
            ) else []
        case _:
            return _in_plain_words(detail, path), []


def _quoted(text: Any) -> list[str]:
    return re.findall(r"'([^']*)'", str(text))


def _unknown_field(name: str, holder: Any) -> tuple[str, list[str]]:
    spellings = {camel(name), _snake_case(name)}
    if isinstance(holder, dict) and len(spellings) > 1 and spellings <= holder.keys():
        return "is given twice, in both spellings", []
    kind = holder.get("type") if isinstance(holder, dict) else None
    if not isinstance(kind, str) or kind not in ACTIONS:
        return "is not a known field", nearest(name, _wire_names_of_fields(Selector))
    return f"is not a field of {kind}", nearest(name, _wire_names_of_fields(ACTIONS[kind]))


def _pattern_message(detail: ErrorDetails, path: Path, holder: Any) -> str:
    """Shows an example that fits the pattern, where the vocabulary has one."""
    kind = holder.get("type") if isinstance(holder, dict) else None
    example = ACTIONS[kind].example.get(str(path[-1])) if kind in ACTIONS and path else None
    such_as = f", such as {value_in_words(example)}" if isinstance(example, str) else ""
    shown_input = value_in_words(str(detail["input"])) if _PRIVATE.isdisjoint(path) else "it"
    return f"{shown_input} has not the right form{such_as}"


def _wire_names_of_fields(model: type[BaseModel]) -> list[str]:
    return [field.serialization_alias or name for name, field in model.model_fields.items()]


def _in_plain_words(detail: ErrorDetails, path: Path) -> str:
    """pydantic's message, with the value where it can't be a person's text."""
    message = detail["msg"].removeprefix("Value error, ").removeprefix("Input ")
    bad_input = detail["input"]
    private = not path or not _PRIVATE.isdisjoint(path) or detail["type"] == "value_error"
    if private or not (bad_input is None or isinstance(bad_input, bool | int | float | str)):
        return message
    endless = isinstance(bad_input, int) and bad_input.bit_length() > 1_000  # too long for Python to print
    return message if endless else f"{message}, not {value_in_words(bad_input)}"

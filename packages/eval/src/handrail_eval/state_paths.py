"""Paths into a phone's state: finding, leaving out, comparing. Pure.

Dotted, as `sim state` takes them; `*` is every entry of a list.
"""

from __future__ import annotations

from typing import Any


def like(value: Any, wanted: Any) -> bool:
    """Equal; of a mapping only the named keys. `{contains: …}` is a part of a text, `{has: …}` an entry."""
    if isinstance(wanted, list):
        return isinstance(value, list) and len(value) == len(wanted) and all(map(like, value, wanted))
    if not isinstance(wanted, dict):
        return bool(value == wanted)
    if list(wanted) == ["contains"]:
        return contains(value, wanted["contains"])
    if list(wanted) == ["has"]:
        return isinstance(value, list) and any(like(one, wanted["has"]) for one in value)
    return isinstance(value, dict) and all(
        name in value and like(value[name], one) for name, one in wanted.items()
    )


def contains(value: Any, wanted: Any) -> bool:
    """A part of a text, whatever its case, or an entry of a list."""
    if isinstance(value, str):
        return str(wanted).casefold() in value.casefold()
    return isinstance(value, list) and wanted in value


def find(value: Any, path: str) -> list[Any]:
    """All values that the path leads to. Keys such as package names may have dots themselves."""
    if not path:
        return [value]
    if isinstance(value, list):
        head, _, rest = path.partition(".")
        return [found for entry in _entries(value, head) for found in find(entry, rest)]
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
        chosen = [id(entry) for entry in _entries(value, head)]
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

"""Judges data by a package's typed dictionaries, closed: every key is known, nothing needed is missing."""

from __future__ import annotations

import collections.abc
import types
import typing
from functools import cache
from typing import Annotated, Any, Literal, NotRequired, Required, get_args, get_origin

from typing_extensions import is_typeddict

_LISTS = (list, collections.abc.Iterable, collections.abc.Sequence)
_PLAIN: dict[Any, tuple[type, ...]] = {str: (str,), int: (int,), float: (int, float), bool: (bool,)}


def faults(value: Any, wanted: Any, path: str = "") -> list[str]:
    """Empty where it fits; of several possible types the one with the fewest faults is told."""
    origin, arguments = get_origin(wanted), get_args(wanted)
    if wanted in (Any, object):
        return []
    if origin in (Required, NotRequired, Annotated):
        return faults(value, arguments[0], path)
    if origin in (typing.Union, types.UnionType):
        return min((faults(value, one, path) for one in arguments), key=len)
    if origin is Literal:
        return [] if value in arguments else [f"{path}: {value!r} is none of {arguments}"]
    if is_typeddict(wanted):
        return _of_dictionary(value, wanted, path)
    if origin in _LISTS:
        return _of_list(value, arguments[0], path)
    if origin in (dict, collections.abc.Mapping):
        return [] if isinstance(value, dict) else [f"{path}: no object"]
    return [] if _is_plain(value, wanted) else [f"{path}: {type(value).__name__} is no {wanted}"]


def _is_plain(value: Any, wanted: Any) -> bool:
    if wanted in (None, types.NoneType):
        return value is None
    known = _PLAIN.get(wanted, ())
    return isinstance(value, known) and (wanted is bool or not isinstance(value, bool))


def _of_list(value: Any, item: Any, path: str) -> list[str]:
    if not isinstance(value, list):
        return [f"{path}: no list"]
    return [fault for at, one in enumerate(value) for fault in faults(one, item, f"{path}[{at}]")]


def _of_dictionary(value: Any, wanted: Any, path: str) -> list[str]:
    if not isinstance(value, dict):
        return [f"{path}: no object"]
    fields = _fields(wanted)
    unknown = [f"{path}.{key}: unknown to {wanted.__name__}" for key in value if key not in fields]
    missing = [
        f"{path}.{key}: missing in {wanted.__name__}"
        for key, field in fields.items()
        if get_origin(field) is Required and key not in value
    ]
    inner = [
        fault for key, one in value.items() if key in fields
        for fault in faults(one, fields[key], f"{path}.{key}")
    ]  # fmt: skip
    return unknown + missing + inner


@cache
def _fields(wanted: Any) -> dict[str, Any]:
    return typing.get_type_hints(wanted, include_extras=True)

"""Adds a method per action: `await session.tap("Save")` for `await session.run(Tap(target="Save"))`.

The methods are generated from the actions, also in a blocking form. Type checkers and editors read the stub
beside this file, which build_stubs.py writes from the same signatures.
"""

from __future__ import annotations

import re
import types
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from handrail.protocol.act import SHARED_FIELDS, Act, DeskAct
from handrail.protocol.actions import ACTIONS, DESK_ACTIONS
from handrail.protocol.model import Model
from handrail.protocol.target import Condition, Point, Selector

C = TypeVar("C")
TargetLike = Selector | Point | str | Mapping[str, Any]
"""A ref ("@b1"), a point ("540,750"), any other string (exact text), a selector."""
ConditionLike = Condition | str | Mapping[str, Any]
"""A condition, or a string for "this is visible"."""
DEVICE_ACTIONS = {kind: act for kind, act in ACTIONS.items() if kind not in DESK_ACTIONS}
_SHARED = ("type", *SHARED_FIELDS)
_ALIASES: dict[Any, str] = {
    Point: "TargetLike",
    Selector: "TargetLike",
    Condition: "ConditionLike",
    type(None): "None",
}


def method_name(kind: str, cls: type[Act]) -> str:
    """`tap` is `tap`; a desk action is named by its class: `window.create` is `create_window`."""
    return re.sub(r"(?<!^)([A-Z])", r"_\1", cls.__name__).lower() if issubclass(cls, DeskAct) else kind


def method_signature(cls: type[Act]) -> str:
    """The flow shorthand and required fields are positional; the others are keyword-only."""
    fields = {name: field for name, field in cls.model_fields.items() if name not in _SHARED}
    first = [name for name, field in fields.items() if field.is_required()]
    shorthand = cls.traits.shorthand
    if shorthand and shorthand not in first:
        first.insert(0, shorthand)
    rest = [name for name in fields if name not in first]
    parameters = ["self", *(_parameter(name, fields[name]) for name in first), "*"]
    parameters += [_parameter(name, fields[name]) for name in rest]
    parameters.append("reason: str | None = None")
    if not issubclass(cls, DeskAct):  # the desk has no screen to check
        parameters.append("expect: ConditionLike | None = None")
    or_none = "" if cls.details.__required_keys__ else " | None"  # type: ignore[attr-defined]
    return f"({', '.join(parameters)}) -> Envelope[details.{cls.details.__name__}{or_none}]"


def _parameter(name: str, field: FieldInfo) -> str:
    annotation = _type_text(field.annotation)
    if field.is_required():
        return f"{name}: {annotation}"
    default = field.get_default(call_default_factory=True)
    if default is None and "None" not in annotation:
        annotation = f"{annotation} | None"
    return f"{name}: {annotation} = {default!r}"


def _type_text(annotation: Any) -> str:
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _type_text(inner[0])
    if origin in (Union, types.UnionType):
        parts = dict.fromkeys(_type_text(part) for part in inner)
        return " | ".join(sorted(parts, key=lambda part: part == "None"))
    if origin is Literal:
        return f"Literal[{', '.join(map(repr, inner))}]"
    if origin in (list, dict):
        return f"{origin.__name__}[{', '.join(map(_type_text, inner))}]"
    if origin is tuple:
        return f"Sequence[{_type_text(inner[0])}]"
    if annotation in _ALIASES:
        return _ALIASES[annotation]
    if isinstance(annotation, type) and issubclass(annotation, Model):
        return "Mapping[str, Any]"
    return re.sub(r"^.*\.", "", getattr(annotation, "__name__", str(annotation)))


class _Method:
    """An action's method, compiled on first access, because compiling all of them takes 50 ms.

    It becomes a real function, as a dataclass's `__init__` does, so that Python checks the arguments.
    """

    def __init__(self, cls: type, kind: str, act: type[Act], *, is_blocking: bool) -> None:
        self._cls, self._kind, self._act = cls, kind, act
        self._is_blocking = is_blocking

    def __get__(self, instance: object, cls: type | None = None) -> Any:
        name = method_name(self._kind, self._act)
        prefix, call = ("def", "self.run") if self._is_blocking else ("async def", "await self.run")
        scope: dict[str, Any] = {
            "__name__": __name__,
            "__tracebackhide__": self._is_blocking,  # pytest shows the caller's line
            "_action": action_from_call,
        }
        head = f"{prefix} {name}{method_signature(self._act)}:"
        exec(f"{head} return {call}(_action({self._kind!r}, locals()))", scope)  # noqa: S102 - our own words
        method = scope[name]
        method.__doc__ = self._act.__doc__
        method.__qualname__ = f"{self._cls.__name__}.{name}"
        setattr(self._cls, name, method)
        return getattr(cls if instance is None else instance, name)


def action_from_call(kind: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """Leaves out what is None: it was not given."""
    fields = {name: value for name, value in parameters.items() if name != "self" and value is not None}
    return {"type": kind, **fields}


def _with_methods(
    actions: Mapping[str, type[Act]], *, is_blocking: bool = False
) -> Callable[[type[C]], type[C]]:
    def add_methods(cls: type[C]) -> type[C]:
        for kind, act in actions.items():
            setattr(cls, method_name(kind, act), _Method(cls, kind, act, is_blocking=is_blocking))
        return cls

    return add_methods


class _Forms(ABC):
    @abstractmethod
    def run(self, action: Mapping[str, Any]) -> Any:
        """Runs one action and returns its envelope, or what has to be awaited for it."""

    if TYPE_CHECKING:  # for type checkers if the stub has not been written

        def __getattr__(self, name: str) -> Any: ...


@_with_methods(DEVICE_ACTIONS)
class ShortForms(_Forms):
    """One method per action; each returns an envelope."""


@_with_methods(DESK_ACTIONS)
class DeskForms(_Forms):
    """One method per desk action; each returns an envelope."""


@_with_methods(DEVICE_ACTIONS, is_blocking=True)
class BlockingForms(_Forms):
    """`ShortForms` without `await`."""


@_with_methods(DESK_ACTIONS, is_blocking=True)
class BlockingDeskForms(_Forms):
    """`DeskForms` without `await`."""

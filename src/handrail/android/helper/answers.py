"""What the HTTP helper says, as values: every field of seed 003, missing ones empty. Knows no transport."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from handrail.surface.values import IdleResult


@dataclass(frozen=True, slots=True)
class HelperStatus:
    """The answer of `/status`."""

    ok: bool
    name: str
    version: str
    protocol_version: int
    sdk_int: int
    device: str
    manufacturer: str


@dataclass(frozen=True, slots=True)
class FrameworkInfo:
    """The answer of `/framework`: what the app in front is made with."""

    ok: bool
    package_name: str
    primary: str
    """flutter, react_native, compose or native."""
    frameworks: tuple[str, ...]
    signals: tuple[str, ...]
    """What gave it away: `class:…`, `lib:…`."""


Json = Mapping[str, Any]


def read_status(told: Json) -> HelperStatus:
    """`/status`."""
    return HelperStatus(
        ok=told.get("ok") is True,
        name=_text(told, "name"),
        version=_text(told, "version"),
        protocol_version=_number(told, "protocolVersion"),
        sdk_int=_number(told, "sdkInt"),
        device=_text(told, "device"),
        manufacturer=_text(told, "manufacturer"),
    )


def read_framework(told: Json) -> FrameworkInfo:
    """`/framework`."""
    return FrameworkInfo(
        ok=told.get("ok") is True,
        package_name=_text(told, "packageName"),
        primary=_text(told, "primary") or "native",
        frameworks=_texts(told, "frameworks"),
        signals=_texts(told, "signals"),
    )


def read_idle(told: Json) -> IdleResult:
    """`/wait-idle`."""
    return IdleResult(
        ok=told.get("ok") is True,
        idle=told.get("idle") is True,
        reason=_text(told, "reason"),
        events=_texts(told, "events"),
    )


def _text(told: Json, key: str) -> str:
    value = told.get(key)
    return value if isinstance(value, str) else ""


def _number(told: Json, key: str) -> int:
    value = told.get(key)
    return value if isinstance(value, int) else 0


def _texts(told: Json, key: str) -> tuple[str, ...]:
    value = told.get(key)
    return tuple(str(one) for one in value) if isinstance(value, list) else ()

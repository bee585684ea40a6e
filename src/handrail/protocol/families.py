"""Seed 004's type guards: to which family an OS action belongs, given as a model or as JSON data."""

from __future__ import annotations

from typing import Any, Protocol


class _Typed(Protocol):
    @property
    def type(self) -> str: ...


def _starts(action: _Typed | dict[str, Any], family: str) -> bool:
    kind = action.get("type") if isinstance(action, dict) else action.type
    return isinstance(kind, str) and kind.startswith(family)


def is_window_action(action: _Typed | dict[str, Any]) -> bool:
    """`type` starts with `window.`"""
    return _starts(action, "window.")


def is_notification_action(action: _Typed | dict[str, Any]) -> bool:
    """`type` starts with `notification.`"""
    return _starts(action, "notification.")


def is_toast_action(action: _Typed | dict[str, Any]) -> bool:
    """`type` starts with `toast.`"""
    return _starts(action, "toast.")


def is_dialog_action(action: _Typed | dict[str, Any]) -> bool:
    """`type` starts with `dialog.`"""
    return _starts(action, "dialog.")


def is_app_action(action: _Typed | dict[str, Any]) -> bool:
    """`type` starts with `app.`"""
    return _starts(action, "app.")


def is_desktop_action(action: _Typed | dict[str, Any]) -> bool:
    """`type` starts with `desktop.`"""
    return _starts(action, "desktop.")

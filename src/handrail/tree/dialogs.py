"""Finds the system's own dialogs: permission prompts, crashes, ANRs, choosers, the package installer.

Recognised by who draws them and by the framework's resource ids, so an app can't fake one with words alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from handrail.tree.node import CLICKABLE, Node, Screen

Kind = Literal["permission", "crash", "anr", "chooser", "installer"]

_PERMISSION_PACKAGES = re.compile(
    r"permissioncontroller$|packageinstaller$|securitypermission$|^com\.lbe\.security\.miui$"
)
_PERMISSION_IDS = frozenset({"grant_dialog", "grant_singleton", "permission_message", "desc_container"})
_PERMISSION_BUTTON = re.compile(r"permission_(?:allow|deny|no_upgrade).*button|.*location_accuracy.*")
_INSTALLER_PACKAGES = re.compile(r"packageinstaller$")
_CHOOSER_PACKAGES = frozenset({"com.android.intentresolver", "com.google.android.intentresolver"})
_CHOOSER_IDS = frozenset(
    {
        "resolver_list",
        "resolver_tab_divider",
        "chooser_header",
        "button_always",
        "button_once",
        "profile_pager",
    }
)
_SYSTEM = frozenset({"android", "com.android.systemui"})
_CRASH_IDS = frozenset({"aerr_close", "aerr_restart", "aerr_app_info", "aerr_report", "aerr_mute"})
_ANR_WORDS = re.compile(
    r"n['’]t responding|not responding|没有响应|無回應|无响应|応答していません|응답하지 않"
    r"|no responde|não está respondendo|ne répond pas|reagiert nicht|non risponde|не отвечает|yanıt vermiyor",
    re.IGNORECASE,
)
_CRASH_WORDS = re.compile(
    r"keeps? stopping|has stopped|停止运行|停止運作|停止しま|停止しています|중지됨|중단"
    r"|se ha detenido|se detiene|parou"
    r"|s['’]est arrêté|cessé de fonctionner|wurde beendet|angehalten|si è (?:arrestat|interrott|bloccat)"
    r"|приложение .* (?:остановлено|снова дало сбой)|durdu",
    re.IGNORECASE,
)
_TITLE_IDS = ("permission_message", "alertTitle", "install_confirm_question", "title", "message")
_BUTTON_ROLES = frozenset({"button", "image_button"})


@dataclass(frozen=True, slots=True)
class ScreenDialog:
    """One dialog; `nodes[i]` is the node of `buttons[i]`."""

    kind: Kind
    package: str
    title: str
    buttons: tuple[str, ...]
    nodes: tuple[Node, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "package": self.package,
            "title": self.title,
            "buttons": list(self.buttons),
        }


def system_dialogs(screen: Screen) -> list[ScreenDialog]:
    """The system dialogs that are up, the topmost last."""
    return [dialog for window in screen.windows if (dialog := _read(screen, window))]


def _read(screen: Screen, window: Node) -> ScreenDialog | None:
    nodes = [window, *screen.inside(window)]
    package = window.package_name or screen.package  # some exporters leave it out at a window's root
    kind = _kind(package, nodes)
    if kind is None:
        return None
    buttons = [(label, node) for node, label in _buttons(screen, nodes)]
    return ScreenDialog(
        kind,
        package,
        _title(nodes),
        tuple(label for label, _ in buttons),
        tuple(node for _, node in buttons),
    )


def _kind(package: str, nodes: list[Node]) -> Kind | None:
    ids = {node.id_tail for node in nodes if node.resource_id}
    if _PERMISSION_PACKAGES.search(package) and _is_prompt(ids):
        return "permission"
    if package in _SYSTEM and (failure := _failure(ids, nodes)):
        return failure
    if package in _CHOOSER_PACKAGES or (package == "android" and ids & _CHOOSER_IDS):
        return "chooser"
    return "installer" if _INSTALLER_PACKAGES.search(package) else None


def _is_prompt(ids: set[str]) -> bool:
    """The prompt itself, not the permission manager's pages, which the same package draws."""
    return bool(ids & _PERMISSION_IDS) or any(_PERMISSION_BUTTON.fullmatch(name) for name in ids)


def _failure(ids: set[str], nodes: list[Node]) -> Kind | None:
    if "aerr_wait" in ids:
        return "anr"
    words = " ".join(node.text for node in nodes if node.id_tail in _TITLE_IDS)
    if ids & _CRASH_IDS:
        return "anr" if _ANR_WORDS.search(words) else "crash"
    if "button1" not in ids:  # the framework's alert, as crash dialogs were before Android 7
        return None
    if _ANR_WORDS.search(words):
        return "anr"
    return "crash" if _CRASH_WORDS.search(words) else None


def _title(nodes: list[Node]) -> str:
    """The text under the best-known id, else the first text that is no button's."""
    by_id = {node.id_tail: node.text for node in reversed(nodes) if node.text and node.resource_id}
    for name in _TITLE_IDS:
        if name in by_id:
            return by_id[name]
    plain = (node.text for node in nodes if node.text and node.role not in _BUTTON_ROLES)
    return next(plain, "")


def _buttons(screen: Screen, nodes: list[Node]) -> Iterator[tuple[Node, str]]:
    for node in nodes:
        if node.flags & CLICKABLE and (node.role in _BUTTON_ROLES or "button" in node.id_tail):
            label = node.text or node.description or _inner_text(screen, node)
            if label:
                yield node, label


def _inner_text(screen: Screen, node: Node) -> str:
    return next((inner.text for inner in screen.inside(node) if inner.text), "")

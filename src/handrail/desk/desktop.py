"""Badges, shortcuts and the list of apps: what the desktop itself keeps."""

from __future__ import annotations

from typing import Any

from handrail.desk.addresses import check_file, check_link, check_picture
from handrail.desk.draft import DeskDraft
from handrail.errors import InvalidAction
from handrail.protocol import desk as act
from handrail.protocol.read import nearest

MOST_SHORTCUTS = 500
MOST_BADGES = 500

Shortcut = dict[str, Any]


def badge(draft: DeskDraft, app_id: str, count: int) -> None:
    """0 takes the badge away."""
    others = {app: known for app, known in draft.get("badges").items() if app != app_id or count}
    if app_id not in others and len(others) >= MOST_BADGES:
        raise InvalidAction(f"appId: {MOST_BADGES} apps have badges, and no more fit", path="appId")
    draft.put("badges", {**others, app_id: count} if count else others)


def refresh_apps(draft: DeskDraft) -> None:
    """Browsers read the list of apps again when this number rises."""
    draft.put("apps_rev", draft.get("apps_rev") + 1)


def create_shortcut(draft: DeskDraft, action: act.CreateShortcut) -> None:
    """A new icon; a known id is an error."""
    shortcuts: tuple[Shortcut, ...] = draft.get("shortcuts")
    shortcut = action.shortcut.to_dict()
    if any(known["id"] == shortcut["id"] for known in shortcuts):
        raise InvalidAction(
            f"shortcut.id: {shortcut['id']!r:.80} exists already",
            hint="Use desktop.updateShortcut to change it.",
            path="shortcut.id",
        )
    if len(shortcuts) >= MOST_SHORTCUTS:
        raise InvalidAction(f"shortcut: {MOST_SHORTCUTS} are there, and no more fit", path="shortcut")
    _check(shortcut, "shortcut")
    draft.put("shortcuts", (*shortcuts, shortcut))


def remove_shortcut(draft: DeskDraft, shortcut_id: str) -> None:
    """Take an icon away; an unknown id is an error."""
    _find(draft, shortcut_id)
    draft.put("shortcuts", tuple(known for known in draft.get("shortcuts") if known["id"] != shortcut_id))


def update_shortcut(draft: DeskDraft, action: act.UpdateShortcut) -> None:
    """Merge the given fields into a known shortcut."""
    changed = {**_find(draft, action.shortcut_id), **action.updates.to_dict()}
    _check(changed, "updates")
    shortcuts = (changed if known["id"] == action.shortcut_id else known for known in draft.get("shortcuts"))
    draft.put("shortcuts", tuple(shortcuts))


def _find(draft: DeskDraft, shortcut_id: str) -> Shortcut:
    shortcuts: dict[str, Shortcut] = {known["id"]: known for known in draft.get("shortcuts")}
    if shortcut_id in shortcuts:
        return shortcuts[shortcut_id]
    close = nearest(shortcut_id, shortcuts)
    raise InvalidAction(
        f"shortcutId: there is no shortcut {shortcut_id!r:.80}",
        hint=f"Did you mean {' or '.join(close)}?" if close else "Create it first.",
        path="shortcutId",
    )


def _check(shortcut: Shortcut, path: str) -> None:
    """What it opens must be something that the desk opens: a page elsewhere, or a file of the storage."""
    if shortcut["type"] == "url":
        check_link(shortcut["target"], f"{path}.target")
    elif shortcut["type"] == "file":
        check_file(shortcut["target"], f"{path}.target")
    if shortcut.get("iconType") == "image":
        check_picture(shortcut["icon"], f"{path}.icon")

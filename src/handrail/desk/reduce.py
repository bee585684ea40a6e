"""The reducer: one state and one action, or a batch, make another state. Pure and total.

Every action does what seed 004 says, raises with the path of the bad field, or says `no_op`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar, assert_never, cast

from handrail.desk import windows
from handrail.desk.content import check_file, check_link, check_picture
from handrail.desk.state import (
    DeskDraft,
    DeskNotification,
    DeskState,
    DeskWindow,
    Dialog,
    DialogAsked,
    DialogExpired,
    Reduction,
    Toast,
)
from handrail.desk.windows import WindowActor, lock_holder
from handrail.errors import HandrailError, InvalidAction, did_you_mean
from handrail.protocol import desk as act
from handrail.protocol.act import Act, DeskAct
from handrail.protocol.read import nearest

NO_HOSTS: frozenset[str] = frozenset()

Action = (
    act.CreateWindow | act.CloseWindow | act.FocusWindow | act.MinimizeWindow | act.MaximizeWindow
    | act.RestoreWindow | act.MoveWindow | act.ResizeWindow | act.SetWindowTitle | act.SetWindowContent
    | act.UpdateWindowContent | act.LockWindow | act.UnlockWindow | act.CaptureWindow
    | act.ShowToast | act.DismissToast | act.ShowNotification | act.DismissNotification | act.ConfirmDialog
    | act.SetAppBadge | act.RefreshApps | act.CreateShortcut | act.RemoveShortcut | act.UpdateShortcut
)  # fmt: skip


def reduce(
    state: DeskState, action: Act, by: str, is_person: bool, now_ms: int, own_hosts: frozenset[str] = NO_HOSTS
) -> Reduction:
    """One action. Raises `InvalidAction` or `ActionRejected`; the old state is as good as before."""
    draft = DeskDraft(state, now_ms, own_hosts)
    return draft.finish((step(draft, action, WindowActor(by, is_person)),))


def reduce_batch(
    state: DeskState,
    actions: Sequence[Act],
    by: str,
    is_person: bool,
    now_ms: int,
    own_hosts: frozenset[str] = NO_HOSTS,
) -> Reduction:
    """All actions in one transaction, or none: an error names the index and the path of the bad field."""
    draft = DeskDraft(state, now_ms, own_hosts)
    details = []
    for index, action in enumerate(actions):
        draft.at = index
        try:
            details.append(step(draft, action, WindowActor(by, is_person)))
        except HandrailError as error:
            more = {**error.details, "path": f"[{index}].{error.details['path']}", "index": index}
            raise type(error)(f"action {index}: {error.message}", hint=error.hint, **more) from None
    return draft.finish(tuple(details))


def step(draft: DeskDraft, action: Act, by: WindowActor) -> dict[str, Any]:
    if not isinstance(action, DeskAct):
        raise InvalidAction.at("type", f"{action.type!r:.60} is not an action of the desk")
    writes, effects = draft.writes, len(draft.effects)
    window: DeskWindow | None = None
    if isinstance(action, act.WindowAct) and not isinstance(action, act.CreateWindow):
        window = windows.find_window(draft, action)
    details = _perform(draft, cast("Action", action), cast("DeskWindow", window), by) or {}
    if draft.writes == writes and len(draft.effects) == effects:
        details["no_op"] = True
    if window is not None and window.lock is not None:
        windows.renew_if_held(draft, window.birth.key, by.id)
    return details


def _perform(draft: DeskDraft, action: Action, window: DeskWindow, by: WindowActor) -> dict[str, Any] | None:  # noqa: C901, PLR0912
    """`window` is None for actions that concern no existing window; their cases do not read it.

    The most frequent actions come first: a person who drags, an agent that writes.
    """
    match action:
        case act.MoveWindow():
            windows.move_window(draft, window, action.x, action.y)
        case act.ResizeWindow():
            windows.resize_window(draft, window, action.w, action.h)
        case act.FocusWindow():
            windows.focus_window(draft, window)
        case act.UpdateWindowContent():
            return windows.update_content(draft, window, action, by)
        case act.SetWindowContent():
            return windows.set_content(draft, window, action, by)
        case act.SetWindowTitle():
            windows.set_title(draft, window, action.title, by)
        case act.CreateWindow():
            return windows.create_window(draft, action, by)
        case act.CloseWindow():
            windows.close_window(draft, window, by)
        case act.MinimizeWindow():
            windows.minimize_window(draft, window)
        case act.MaximizeWindow():
            windows.maximize_window(draft, window)
        case act.RestoreWindow():
            windows.restore_window(draft, window)
        case act.LockWindow():
            windows.lock_window(draft, window, action.agent_id, by)
        case act.UnlockWindow():
            windows.unlock_window(draft, window, action.agent_id, by)
        case act.CaptureWindow():
            windows.capture_window(draft, window, action.request_id)
        case act.ShowToast():
            show_toast(draft, action, by.id)
        case act.DismissToast():
            dismiss(draft, "toasts", action.id)
        case act.ShowNotification():
            show_notification(draft, action, by.id)
        case act.DismissNotification():
            dismiss(draft, "notifications", action.id)
        case act.ConfirmDialog():
            ask_confirmation(draft, action, by.id)
        case act.SetAppBadge():
            set_badge(draft, action.app_id, action.count)
        case act.RefreshApps():
            increment_apps_revision(draft)
        case act.CreateShortcut():
            create_shortcut(draft, action, by)
        case act.RemoveShortcut():
            remove_shortcut(draft, action.shortcut_id)
        case act.UpdateShortcut():
            update_shortcut(draft, action)
        case _:
            assert_never(action)
    return None


# What the desktop itself keeps: badges, shortcuts, the list of apps, and what lies over the windows.

MOST_SHORTCUTS = 500
MOST_BADGES = 500

Shortcut = dict[str, Any]


def set_badge(draft: DeskDraft, app_id: str, count: int) -> None:
    """Sets the number on an app's icon; 0 takes it away."""
    others = {app: number for app, number in draft.get("badges").items() if app != app_id or count}
    if app_id not in others and len(others) >= MOST_BADGES:
        raise InvalidAction.at("appId", f"{MOST_BADGES} apps have badges, and no more fit")
    draft.put("badges", {**others, app_id: count} if count else others)


def increment_apps_revision(draft: DeskDraft) -> None:
    """Browsers read the list of apps again when this number rises."""
    draft.put("apps_rev", draft.get("apps_rev") + 1)


def create_shortcut(draft: DeskDraft, action: act.CreateShortcut, by: WindowActor) -> None:
    """A new icon; a known id is an error."""
    shortcuts: tuple[Shortcut, ...] = draft.get("shortcuts")
    shortcut = action.shortcut.to_dict()
    if any(other["id"] == shortcut["id"] for other in shortcuts):
        problem = f"{shortcut['id']!r:.80} exists already"
        raise InvalidAction.at("shortcut.id", problem, hint="Use desktop.updateShortcut to change it.")
    if len(shortcuts) >= MOST_SHORTCUTS:
        raise InvalidAction.at("shortcut", f"{MOST_SHORTCUTS} are there, and no more fit")
    _check(shortcut, "shortcut")
    maker = {} if by.is_person else {"agentId": by.id}
    draft.put("shortcuts", (*shortcuts, shortcut | maker))


def remove_shortcut(draft: DeskDraft, shortcut_id: str) -> None:
    """Take an icon away; an unknown id is an error."""
    _find(draft, shortcut_id)
    draft.put("shortcuts", tuple(other for other in draft.get("shortcuts") if other["id"] != shortcut_id))


def update_shortcut(draft: DeskDraft, action: act.UpdateShortcut) -> None:
    """Merge the given fields into a known shortcut."""
    changed = {**_find(draft, action.shortcut_id), **action.updates.to_dict()}
    _check(changed, "updates")
    shortcuts = (changed if other["id"] == action.shortcut_id else other for other in draft.get("shortcuts"))
    draft.put("shortcuts", tuple(shortcuts))


def _find(draft: DeskDraft, shortcut_id: str) -> Shortcut:
    shortcuts: dict[str, Shortcut] = {other["id"]: other for other in draft.get("shortcuts")}
    if shortcut_id in shortcuts:
        return shortcuts[shortcut_id]
    hint = did_you_mean(nearest(shortcut_id, shortcuts), "Create it first.")
    raise InvalidAction.at("shortcutId", f"there is no shortcut {shortcut_id!r:.80}", hint=hint)


def _check(shortcut: Shortcut, path: str) -> None:
    """What it opens must be something that the desk opens: a page elsewhere, or a file of the storage."""
    if shortcut["type"] == "url":
        check_link(shortcut["target"], f"{path}.target")
    elif shortcut["type"] == "file":
        check_file(shortcut["target"], f"{path}.target")
    if shortcut.get("iconType") == "image":
        check_picture(shortcut["icon"], f"{path}.icon")


TOAST_MS = 5_000
DIALOG_MS = 300_000
ENGINES_OWN = "approval:"
"""Ids of the questions that policy asks: no agent's dialog may pass for one."""
MOST_SHOWN = 200
"""Of each kind; whoever shows more than anybody can read is told so."""

_Shown = TypeVar("_Shown", bound=DeskNotification | Toast)


def show_notification(draft: DeskDraft, action: act.ShowNotification, by: str) -> None:
    """Shows a notification. It stays until it is dismissed, unless a duration is given."""
    expires_ms = None if action.duration is None else draft.now_ms + round(action.duration)
    shown = DeskNotification(action.id, action.title, action.body, action.icon, by, expires_ms)
    draft.put("notifications", _add_or_replace(draft.get("notifications"), shown))
    if expires_ms is not None:
        draft.expires(expires_ms)


def show_toast(draft: DeskDraft, action: act.ShowToast, by: str) -> None:
    """Shows a toast. It goes after its duration, 5 s when none is given."""
    expires_ms = draft.now_ms + round(TOAST_MS if action.duration is None else action.duration)
    button = action.action.to_dict() if action.action else None
    shown = Toast(action.id, action.message, action.variant or "info", button, by, expires_ms)
    draft.put("toasts", _add_or_replace(draft.get("toasts"), shown))
    draft.expires(expires_ms)


def _add_or_replace(shown: tuple[_Shown, ...], new: _Shown) -> tuple[_Shown, ...]:
    """Adds an entry; one with a known id is replaced where it stands."""
    if any(item.id == new.id for item in shown):
        return tuple(new if item.id == new.id else item for item in shown)
    if len(shown) >= MOST_SHOWN:
        raise _bad_id(new.id, f"would be one of more than {MOST_SHOWN}")
    return (*shown, new)


def dismiss(draft: DeskDraft, field: str, shown_id: str) -> None:
    """`field` is `notifications` or `toasts`. Gone already counts as a no-op: they also go by themselves."""
    draft.put(field, tuple(item for item in draft.get(field) if item.id != shown_id))


def ask_confirmation(draft: DeskDraft, action: act.ConfirmDialog, by: str) -> None:
    """Queue a question; it expires to no."""
    dialogs: tuple[Dialog, ...] = draft.get("dialogs")
    if action.id.startswith(ENGINES_OWN):
        raise _bad_id(action.id, f"begins with {ENGINES_OWN}, as only the engine's own questions do")
    if any(dialog.id == action.id for dialog in dialogs):
        raise _bad_id(action.id, "waits for its answer already")
    if len(dialogs) >= MOST_SHOWN:
        raise _bad_id(action.id, f"would be one of more than {MOST_SHOWN} questions")
    options = action.permission_options.to_dict() if action.permission_options else None
    labels = (action.confirm_text or "Yes", action.cancel_text or "No")
    expires_ms = draft.now_ms + DIALOG_MS
    dialog = Dialog(action.id, action.title, action.message, *labels, options, by, expires_ms)
    draft.put("dialogs", (*dialogs, dialog))
    draft.expires(expires_ms)
    draft.tell(DialogAsked(action.id))


def withdraw_question(draft: DeskDraft, dialog_id: str) -> None:
    """A question that needs no answer any more, taken from every screen."""
    draft.put("dialogs", tuple(dialog for dialog in draft.get("dialogs") if dialog.id != dialog_id))


def remove_expired(state: DeskState, now_ms: int) -> Reduction:
    """Everything whose time is over at this moment is gone: toasts, notifications, dialogs and locks."""
    draft = DeskDraft(state, now_ms)
    for name in ("notifications", "toasts", "dialogs"):
        items: tuple[Any, ...] = getattr(state, name)
        left = tuple(item for item in items if item.expires_ms is None or item.expires_ms > now_ms)
        draft.put(name, left)
    for dialog in state.dialogs:
        if dialog.expires_ms <= now_ms:
            draft.tell(DialogExpired(dialog.id))
    for window in state.windows.values():
        if window.lock and lock_holder(window, now_ms) is None:
            draft.change(window, lock=None)
    reduced = draft.finish(())
    return replace(reduced, wake_ms=next_expiry(reduced.state))


def next_expiry(state: DeskState) -> int | None:
    """The earliest moment at which something expires."""
    shown: list[DeskNotification | Toast | Dialog] = [*state.notifications, *state.toasts, *state.dialogs]
    moments = [item.expires_ms for item in shown if item.expires_ms is not None]
    moments += [window.lock.expires_ms for window in state.windows.values() if window.lock]
    return min(moments, default=None)


def _bad_id(shown_id: str, why: str) -> InvalidAction:
    return InvalidAction.at("id", f"{shown_id!r:.80} {why}", hint="Use another id, or wait.")

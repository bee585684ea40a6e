"""The reducer: one state and one action, or a batch, make another state. Pure and total.

Every action does what seed 004 says, raises with the path of the bad field, or says `no_op`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, assert_never, cast

from handrail.desk import desktop, locks, overlays, windows
from handrail.desk.draft import DeskDraft, Reduced
from handrail.desk.state import DeskState, DeskWindow
from handrail.desk.windows import By
from handrail.errors import HandrailError, InvalidAction
from handrail.protocol import desk as act
from handrail.protocol.act import Act, DeskAct

NO_HOSTS: frozenset[str] = frozenset()

_DesktopAction = act.RefreshApps | act.CreateShortcut | act.RemoveShortcut | act.UpdateShortcut
_OtherAction = (
    act.CreateWindow | act.ShowToast | act.DismissToast | act.ShowNotification | act.DismissNotification
    | act.ConfirmDialog | act.SetAppBadge | _DesktopAction
)  # fmt: skip
_SeldomAction = (
    act.MinimizeWindow | act.MaximizeWindow | act.RestoreWindow | act.CloseWindow | act.LockWindow
    | act.UnlockWindow | act.CaptureWindow
)  # fmt: skip
_WindowAction = (
    act.MoveWindow | act.ResizeWindow | act.FocusWindow | act.UpdateWindowContent | act.SetWindowContent
    | act.SetWindowTitle | _SeldomAction
)  # fmt: skip


def reduce(
    state: DeskState,
    action: Act,
    by: str,
    is_person: bool,
    now_ms: int,
    own_hosts: frozenset[str] = NO_HOSTS,
) -> Reduced:
    """One action. Raises `InvalidAction` or `ActionRejected`; the old state is as good as before."""
    draft = DeskDraft(state, now_ms, own_hosts)
    return draft.finish((step(draft, action, By(by, is_person)),))


def reduce_batch(
    state: DeskState,
    actions: Sequence[Act],
    by: str,
    is_person: bool,
    now_ms: int,
    own_hosts: frozenset[str] = NO_HOSTS,
) -> Reduced:
    """All actions in one transaction, or none: an error names the index and the path of the bad field."""
    draft = DeskDraft(state, now_ms, own_hosts)
    details = []
    for index, action in enumerate(actions):
        draft.at = index
        try:
            details.append(step(draft, action, By(by, is_person)))
        except HandrailError as error:
            raise _at(error, index) from None
    return draft.finish(tuple(details))


def _at(error: HandrailError, index: int) -> HandrailError:
    details = {**error.details, "path": f"[{index}].{error.details['path']}", "index": index}
    return type(error)(f"action {index}: {error.message}", hint=error.hint, **details)


def step(draft: DeskDraft, action: Act, by: By) -> dict[str, Any]:
    """One action on a draft, and its details."""
    before, told = draft.writes, len(draft.effects)
    window: DeskWindow | None = None
    details: dict[str, Any] = {}
    if isinstance(action, act.WindowAct) and type(action) is not act.CreateWindow:
        window = windows.find(draft, action)
        details = _on_window(draft, cast("_WindowAction", action), window, by) or {}
    elif isinstance(action, DeskAct):
        details = _dispatch(draft, cast("_OtherAction", action), by)
    else:
        raise InvalidAction(f"type: {action.type!r:.60} is not an action of the desk", path="type")
    if draft.writes == before and len(draft.effects) == told:
        details["no_op"] = True
    if window is not None and window.lock is not None:
        locks.used(draft, window.birth.key, by.id)
    return details


def _dispatch(draft: DeskDraft, action: _OtherAction, by: By) -> dict[str, Any]:
    match action:
        case act.CreateWindow():
            return windows.create(draft, action, by)
        case act.ShowToast():
            overlays.toast(draft, action, by.id)
        case act.DismissToast():
            overlays.dismiss(draft, "toasts", action.id)
        case act.ShowNotification():
            overlays.notify(draft, action, by.id)
        case act.DismissNotification():
            overlays.dismiss(draft, "notifications", action.id)
        case act.ConfirmDialog():
            overlays.confirm(draft, action, by.id)
        case act.SetAppBadge():
            desktop.badge(draft, action.app_id, action.count)
        case _:
            _on_desktop(draft, action)
    return {}


def _on_window(draft: DeskDraft, action: _WindowAction, window: DeskWindow, by: By) -> dict[str, Any] | None:
    """What comes by the dozen comes first: a hand that drags, an agent that writes."""
    match action:
        case act.MoveWindow():
            windows.move(draft, window, action.x, action.y)
        case act.ResizeWindow():
            windows.resize(draft, window, action.w, action.h)
        case act.FocusWindow():
            windows.focus(draft, window)
        case act.UpdateWindowContent():
            return windows.update_content(draft, window, action, by)
        case act.SetWindowContent():
            return windows.set_content(draft, window, action, by)
        case act.SetWindowTitle():
            windows.set_title(draft, window, action.title, by)
        case _:
            _on_window_seldom(draft, action, window, by)
    return None


def _on_window_seldom(draft: DeskDraft, action: _SeldomAction, window: DeskWindow, by: By) -> None:
    match action:
        case act.MinimizeWindow():
            windows.minimize(draft, window)
        case act.MaximizeWindow():
            windows.maximize(draft, window)
        case act.RestoreWindow():
            windows.restore(draft, window)
        case act.CloseWindow():
            windows.close(draft, window, by)
        case act.LockWindow():
            windows.lock(draft, window, action.agent_id, by)
        case act.UnlockWindow():
            windows.unlock(draft, window, action.agent_id, by)
        case act.CaptureWindow():
            windows.capture(draft, window, action.request_id)
        case _:
            assert_never(action)


def _on_desktop(draft: DeskDraft, action: _DesktopAction) -> None:
    match action:
        case act.RefreshApps():
            desktop.refresh_apps(draft)
        case act.CreateShortcut():
            desktop.create_shortcut(draft, action)
        case act.RemoveShortcut():
            desktop.remove_shortcut(draft, action.shortcut_id)
        case act.UpdateShortcut():
            desktop.update_shortcut(draft, action)
        case _:
            assert_never(action)

"""The reducer: one state and one action, or a batch, make another state. Pure and total.

Every action does what seed 004 says, raises with the path of the bad field, or says `no_op`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, assert_never, cast

from handrail.desk import desktop, windows
from handrail.desk.state import DeskDraft, DeskState, DeskWindow, Reduction
from handrail.desk.windows import WindowActor
from handrail.errors import HandrailError, InvalidAction
from handrail.protocol import desk as act
from handrail.protocol.act import Act, DeskAct

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
            desktop.show_toast(draft, action, by.id)
        case act.DismissToast():
            desktop.dismiss(draft, "toasts", action.id)
        case act.ShowNotification():
            desktop.show_notification(draft, action, by.id)
        case act.DismissNotification():
            desktop.dismiss(draft, "notifications", action.id)
        case act.ConfirmDialog():
            desktop.ask_confirmation(draft, action, by.id)
        case act.SetAppBadge():
            desktop.set_badge(draft, action.app_id, action.count)
        case act.RefreshApps():
            desktop.refresh_apps(draft)
        case act.CreateShortcut():
            desktop.create_shortcut(draft, action, by)
        case act.RemoveShortcut():
            desktop.remove_shortcut(draft, action.shortcut_id)
        case act.UpdateShortcut():
            desktop.update_shortcut(draft, action)
        case _:
            assert_never(action)
    return None

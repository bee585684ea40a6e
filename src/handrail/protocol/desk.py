"""The 24 OS actions of seed 004: what an agent does on the web desktop."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from handrail.protocol import details as detail_types
from handrail.protocol.act import DeskAct
from handrail.protocol.content import (
    ContentUpdateOperation,
    Renderer,
    WindowContent,
    is_content_update_operation_valid,
)
from handrail.protocol.model import CamelModel, Count, Flag, Name, Number, Text

_Coordinate = Field(strict=True, ge=-32_767, le=32_767)
_Extent = Field(strict=True, gt=0, le=32_767)
_Lifetime = Field(strict=True, ge=0, le=86_400_000)
_Moment = Field(strict=True, ge=0, le=8.64e15)

Coordinate = Annotated[int, _Coordinate] | Annotated[float, _Coordinate]
Extent = Annotated[int, _Extent] | Annotated[float, _Extent]
Lifetime = Annotated[int, _Lifetime] | Annotated[float, _Lifetime]
Moment = Annotated[int, _Moment] | Annotated[float, _Moment]
Title = Annotated[str, Field(max_length=10_000)]
Style = dict[
    Annotated[str, Field(min_length=1, max_length=60)], Annotated[str, Field(max_length=1_000)] | Number
]


class WindowBounds(CamelModel):
    """Position and size, in the desk's logical pixels."""

    x: Coordinate
    y: Coordinate
    w: Extent
    h: Extent


class ToastButton(CamelModel):
    """A toast's button; a click sends `eventId` back."""

    label: Title
    event_id: Name


class PermissionOptions(CamelModel):
    """Lets a dialog's answer be remembered."""

    show_remember_choice: Flag
    tool_name: Name
    context: Name | None = None


class DesktopShortcut(CamelModel):
    """An icon on the desktop."""

    id: Name
    label: Title
    icon: Text
    icon_type: Literal["emoji", "image"] | None = None
    type: Literal["file", "url", "action"]
    target: Text
    created_at: Moment


class ShortcutUpdates(CamelModel):
    """The fields of a shortcut that may change: not its id, not its birth."""

    label: Title | None = None
    icon: Text | None = None
    icon_type: Literal["emoji", "image"] | None = None
    type: Literal["file", "url", "action"] | None = None
    target: Text | None = None


class WindowAct(DeskAct):
    """An action on one window."""

    window_id: Name
    """The window."""


class CreateWindow(WindowAct):
    """Open a window."""

    example = {
        "type": "window.create", "windowId": "report", "title": "Report",
        "bounds": {"x": 80, "y": 60, "w": 480, "h": 320},
        "content": {"renderer": "markdown", "data": "# Done"},
    }  # fmt: skip
    details = detail_types.WindowDetails
    type: Literal["window.create"] = "window.create"
    title: Title
    """Shown in the title bar."""
    bounds: WindowBounds
    """Position and size; clamped to the viewport."""
    content: WindowContent
    """What it shows."""
    variant: Literal["standard", "widget", "panel"] | None = None
    """Layer: widgets lie below standard windows, panels at an edge. Standard when absent."""
    dock_edge: Literal["top", "bottom"] | None = None
    """A panel's edge."""
    frameless: Flag | None = None
    """Without a title bar."""
    window_style: Style | None = None
    """CSS for the window element, filtered to a safe list."""
    minimized: Flag | None = None
    """Open it minimised."""
    request_id: Name | None = None
    """Tracks an iframe's load feedback."""


class CloseWindow(WindowAct):
    """Close a window."""

    example = {"type": "window.close", "windowId": "report"}
    type: Literal["window.close"] = "window.close"


class FocusWindow(WindowAct):
    """Bring a window to the front."""

    example = {"type": "window.focus", "windowId": "report"}
    type: Literal["window.focus"] = "window.focus"


class MinimizeWindow(WindowAct):
    """Hide a window in the taskbar."""

    example = {"type": "window.minimize", "windowId": "report"}
    type: Literal["window.minimize"] = "window.minimize"


class MaximizeWindow(WindowAct):
    """Fill the viewport with a window."""

    example = {"type": "window.maximize", "windowId": "report"}
    type: Literal["window.maximize"] = "window.maximize"


class RestoreWindow(WindowAct):
    """Bring a maximised or minimised window back to what it was."""

    example = {"type": "window.restore", "windowId": "report"}
    type: Literal["window.restore"] = "window.restore"


class MoveWindow(WindowAct):
    """Move a window."""

    example = {"type": "window.move", "windowId": "report", "x": 200, "y": 120}
    type: Literal["window.move"] = "window.move"
    x: Coordinate
    """New left edge."""
    y: Coordinate
    """New top edge."""


class ResizeWindow(WindowAct):
    """Resize a window."""

    example = {"type": "window.resize", "windowId": "report", "w": 640, "h": 480}
    type: Literal["window.resize"] = "window.resize"
    w: Extent
    """New width."""
    h: Extent
    """New height."""


class SetWindowTitle(WindowAct):
    """Change a window's title."""

    example = {"type": "window.setTitle", "windowId": "report", "title": "Final report"}
    type: Literal["window.setTitle"] = "window.setTitle"
    title: Title
    """The new title."""


class SetWindowContent(WindowAct):
    """Replace what a window shows."""

    example = {
        "type": "window.setContent", "windowId": "report",
        "content": {"renderer": "table", "data": {"headers": ["Name"], "rows": [["Ada"]]}},
    }  # fmt: skip
    details = detail_types.ContentDetails
    type: Literal["window.setContent"] = "window.setContent"
    content: WindowContent
    """The new content."""


class UpdateWindowContent(WindowAct):
    """Change a part of what a window shows."""

    example = {
        "type": "window.updateContent", "windowId": "report",
        "operation": {"op": "append", "data": "\n- one more line"},
    }  # fmt: skip
    details = detail_types.ContentDetails
    type: Literal["window.updateContent"] = "window.updateContent"
    operation: ContentUpdateOperation
    """append, prepend, insertAt, replace or clear."""
    renderer: Renderer | None = None
    """Change the renderer as well."""

    @model_validator(mode="after")
    def _check_renderer(self) -> Self:
        if self.renderer and not is_content_update_operation_valid(self.renderer, self.operation):
            raise ValueError(
                f"{self.operation.op} with this data is not valid for the renderer {self.renderer}"
            )
        return self


class LockWindow(WindowAct):
    """Keep other agents from changing a window."""

    example = {"type": "window.lock", "windowId": "report", "agentId": "agent-1"}
    type: Literal["window.lock"] = "window.lock"
    agent_id: Name
    """The caller's own id."""


class UnlockWindow(WindowAct):
    """Give a window's lock back."""

    example = {"type": "window.unlock", "windowId": "report", "agentId": "agent-1"}
    type: Literal["window.unlock"] = "window.unlock"
    agent_id: Name
    """The agent that holds the lock."""


class CaptureWindow(WindowAct):
    """Take a picture of a window."""

    example = {"type": "window.capture", "windowId": "report", "requestId": "cap-1"}
    details = detail_types.CaptureDetails
    type: Literal["window.capture"] = "window.capture"
    request_id: Name | None = None
    """Comes back with the picture."""


class ShowNotification(DeskAct):
    """Show a notification that stays until it is dismissed."""

    example = {"type": "notification.show", "id": "n1", "title": "Done", "body": "The contact was created."}
    type: Literal["notification.show"] = "notification.show"
    id: Name
    """Its id; a known id is replaced."""
    title: Title
    """Headline."""
    body: Text
    """Text."""
    icon: Title | None = None
    """Icon name."""
    duration: Lifetime | None = None
    """Dismissed by itself after this many ms."""


class DismissNotification(DeskAct):
    """Take a notification away."""

    example = {"type": "notification.dismiss", "id": "n1"}
    type: Literal["notification.dismiss"] = "notification.dismiss"
    id: Name
    """Its id."""


class ShowToast(DeskAct):
    """Show a short message that goes by itself."""

    example = {
        "type": "toast.show", "id": "t1", "message": "Saved", "variant": "success",
        "action": {"label": "Undo", "eventId": "undo-1"},
    }  # fmt: skip
    type: Literal["toast.show"] = "toast.show"
    id: Name
    """Its id; a known id is replaced."""
    message: Text
    """Text."""
    variant: Literal["info", "success", "warning", "error"] | None = None
    """Look; info when absent."""
    action: ToastButton | None = None
    """A button."""
    duration: Lifetime | None = None
    """Stays this many ms; 5 s when absent."""


class DismissToast(DeskAct):
    """Take a toast away."""

    example = {"type": "toast.dismiss", "id": "t1"}
    type: Literal["toast.dismiss"] = "toast.dismiss"
    id: Name
    """Its id."""


class ConfirmDialog(DeskAct):
    """Ask the person a yes-or-no question."""

    example = {"type": "dialog.confirm", "id": "d1", "title": "Delete", "message": "Delete this note?"}
    details = detail_types.DialogDetails
    type: Literal["dialog.confirm"] = "dialog.confirm"
    id: Name
    """Its id."""
    title: Title
    """Headline."""
    message: Text
    """The question."""
    confirm_text: Title | None = None
    """Label of the confirming button; Yes when absent."""
    cancel_text: Title | None = None
    """Label of the other button; No when absent."""
    permission_options: PermissionOptions | None = None
    """Lets the answer be remembered."""


class SetAppBadge(DeskAct):
    """Put a number on a desk app's icon."""

    example = {"type": "app.badge", "appId": "approvals", "count": 2}
    type: Literal["app.badge"] = "app.badge"
    app_id: Name
    """Folder name of the app."""
    count: Count
    """0 clears the badge."""


class RefreshApps(DeskAct):
    """Read the list of desk apps again."""

    example = {"type": "desktop.refreshApps"}
    type: Literal["desktop.refreshApps"] = "desktop.refreshApps"


class CreateShortcut(DeskAct):
    """Put a shortcut on the desktop."""

    example = {
        "type": "desktop.createShortcut",
        "shortcut": {
            "id": "s1", "label": "Report", "icon": "📄", "type": "file", "target": "report.md",
            "createdAt": 1710000000000,
        },
    }  # fmt: skip
    type: Literal["desktop.createShortcut"] = "desktop.createShortcut"
    shortcut: DesktopShortcut
    """The icon and what it opens."""


class RemoveShortcut(DeskAct):
    """Take a shortcut from the desktop."""

    example = {"type": "desktop.removeShortcut", "shortcutId": "s1"}
    type: Literal["desktop.removeShortcut"] = "desktop.removeShortcut"
    shortcut_id: Name
    """The shortcut."""


class UpdateShortcut(DeskAct):
    """Change a shortcut."""

    example = {"type": "desktop.updateShortcut", "shortcutId": "s1", "updates": {"label": "Final report"}}
    type: Literal["desktop.updateShortcut"] = "desktop.updateShortcut"
    shortcut_id: Name
    """The shortcut."""
    updates: ShortcutUpdates
    """Fields to merge."""

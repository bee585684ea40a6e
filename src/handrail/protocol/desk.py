"""The 24 OS actions of seed 004: what an agent does on the web desktop.

What a desk window shows (seed 004): contents, their updates, the seven components and their layout.

Seed 004's own helpers stand here too: what is valid content, and to which family an OS action belongs.
"""

from functools import partial
from typing import Annotated, Any, Literal, Protocol, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from handrail.protocol import details as detail_types
from handrail.protocol.act import DeskAct
from handrail.protocol.model import CamelModel, Count, Flag, Name, Number, Text

Label = Annotated[str, Field(max_length=10_000)]
_Size = Field(strict=True, ge=0, le=100_000)
_Percent = Field(strict=True, ge=0, le=100)
_Share = Field(strict=True, gt=0, le=1_000)
CssSize = Annotated[int, _Size] | Annotated[float, _Size] | Annotated[str, Field(min_length=1, max_length=40)]


class ButtonComponent(CamelModel):
    """A button; a click sends `action` to the agent that made the window."""

    type: Literal["button"]
    label: Label
    action: Label
    variant: Literal["primary", "secondary", "ghost", "danger"] | None = None
    size: Literal["sm", "md", "lg"] | None = None
    icon: Label | None = None
    disabled: Flag | None = None
    parallel: Flag | None = None
    """Run beside other clicks (default) or after them."""
    submit_form: Name | None = None
    """The form whose fields go along."""


class InputComponent(CamelModel):
    """A text field; `rows` makes it a textarea."""

    type: Literal["input"]
    name: Name
    form_id: Name | None = None
    label: Label | None = None
    placeholder: Label | None = None
    default_value: Text | None = None
    variant: Literal["text", "email", "password", "number", "url"] | None = None
    rows: Annotated[int, Field(strict=True, ge=1, le=200)] | None = None
    disabled: Flag | None = None


class SelectOption(CamelModel):
    """One choice of a select."""

    value: Text
    label: Label


class SelectComponent(CamelModel):
    """One choice out of several."""

    type: Literal["select"]
    name: Name
    options: Annotated[tuple[SelectOption, ...], Field(max_length=2_000)]
    form_id: Name | None = None
    label: Label | None = None
    default_value: Text | None = None
    placeholder: Label | None = None
    disabled: Flag | None = None


class TextComponent(CamelModel):
    """Text with a role in the layout."""

    type: Literal["text"]
    content: Text
    variant: Literal["body", "heading", "subheading", "caption", "code"] | None = None
    color: Literal["default", "muted", "accent", "success", "warning", "error"] | None = None
    text_align: Literal["left", "center", "right"] | None = None


class BadgeComponent(CamelModel):
    """A short coloured word."""

    type: Literal["badge"]
    label: Label
    variant: Literal["default", "success", "warning", "error", "info"] | None = None


class ProgressComponent(CamelModel):
    """A bar from 0 to 100."""

    type: Literal["progress"]
    value: Annotated[int, _Percent] | Annotated[float, _Percent]
    label: Label | None = None
    variant: Literal["default", "success", "warning", "error"] | None = None
    show_value: Flag | None = None


class ImageComponent(CamelModel):
    """A picture."""

    type: Literal["image"]
    src: Annotated[str, Field(min_length=1, max_length=5_000_000)]
    width: CssSize | None = None
    height: CssSize | None = None
    fit: Literal["contain", "cover", "fill"] | None = None


Component = Annotated[
    ButtonComponent | InputComponent | SelectComponent | TextComponent | BadgeComponent | ProgressComponent
    | ImageComponent,
    Field(discriminator="type"),
]  # fmt: skip

_Columns = Annotated[int, Field(strict=True, ge=1, le=24)]
_Ratio = Annotated[int, _Share] | Annotated[float, _Share]


class ComponentLayout(CamelModel):
    """A flat list of components on a grid."""

    components: Annotated[tuple[Component, ...], Field(max_length=2_000)]
    cols: _Columns | Annotated[tuple[_Ratio, ...], Field(min_length=1, max_length=24)] | None = None
    """A number of equal columns, or their ratios, such as [8, 2]."""
    gap: Literal["none", "sm", "md", "lg"] | None = None


Renderer = Literal["markdown", "html", "text", "table", "iframe", "component"]
TextRenderer = Literal["markdown", "html", "text"]
Body = Annotated[str, Field(max_length=2_000_000)]
Cell = Annotated[str, Field(max_length=100_000)]


class TableContentData(CamelModel):
    """Headers and rows of text."""

    headers: Annotated[tuple[Cell, ...], Field(max_length=1_000)]
    rows: Annotated[tuple[tuple[Cell, ...], ...], Field(max_length=100_000)]


class IframeContentData(CamelModel):
    """An embedded page; `sandbox` can only narrow what the desk allows."""

    url: Annotated[str, Field(min_length=1, max_length=8_192)]
    sandbox: Annotated[str, Field(max_length=1_000)] | None = None


class TextContent(CamelModel):
    """Markdown, HTML or plain text."""

    renderer: TextRenderer
    data: Body


class TableContent(CamelModel):
    """A structured table."""

    renderer: Literal["table"]
    data: TableContentData


class IframeContent(CamelModel):
    """A page in a sandbox: its address, or an object with the sandbox's words."""

    renderer: Literal["iframe"]
    data: Annotated[str, Field(min_length=1, max_length=8_192)] | IframeContentData


class ComponentContent(CamelModel):
    """Interactive components."""

    renderer: Literal["component"]
    data: ComponentLayout


WindowContent = Annotated[
    TextContent | TableContent | IframeContent | ComponentContent, Field(discriminator="renderer")
]


class Append(CamelModel):
    """Add text at the end."""

    op: Literal["append"]
    data: Body


class Prepend(CamelModel):
    """Add text at the beginning."""

    op: Literal["prepend"]
    data: Body


class InsertAt(CamelModel):
    """Add text at a position, counted in Unicode code points."""

    op: Literal["insertAt"]
    data: Body
    position: Count


class Replace(CamelModel):
    """Put other data in place of all there is."""

    op: Literal["replace"]
    data: Body | dict[str, Any]


class Clear(CamelModel):
    """Empty the window."""

    op: Literal["clear"]


ContentUpdateOperation = Annotated[Append | Prepend | InsertAt | Replace | Clear, Field(discriminator="op")]

_CONTENT: TypeAdapter[Any] = TypeAdapter(WindowContent, config=ConfigDict(defer_build=True))
_OPERATION: TypeAdapter[Any] = TypeAdapter(ContentUpdateOperation, config=ConfigDict(defer_build=True))


def _fits(adapter: TypeAdapter[Any] | type[BaseModel], value: Any) -> bool:
    try:
        check = adapter.model_validate if isinstance(adapter, type) else adapter.validate_python
        check(value)
    except ValidationError:
        return False
    return True


def is_table_content_data(value: Any) -> bool:
    """`{headers: string[], rows: string[][]}`."""
    return _fits(TableContentData, value)


def is_iframe_content_data(value: Any) -> bool:
    """A URL string, or `{url, sandbox?}`."""
    return _fits(IframeContent, {"renderer": "iframe", "data": value})


def is_component_layout(value: Any) -> bool:
    """`{components: […], cols?, gap?}` with components of the seven kinds."""
    return _fits(ComponentLayout, value)


def is_window_content_data(renderer: str, value: Any) -> bool:
    """True when `value` is what this renderer shows; an unknown renderer shows nothing."""
    return _fits(_CONTENT, {"renderer": renderer, "data": value})


def is_content_update_operation_valid(renderer: str, operation: Any) -> bool:
    """True when this operation, with its data, is legal for this renderer."""
    if renderer not in get_args(Renderer) or not _fits(_OPERATION, operation):
        return False
    checked = _OPERATION.validate_python(operation)
    match checked:
        case Append() | Prepend() | InsertAt():
            return renderer in get_args(TextRenderer)
        case Replace():
            return is_window_content_data(renderer, checked.data)
        case _:
            return True


class _Typed(Protocol):
    @property
    def type(self) -> str: ...


def _is_of(family: str, action: _Typed | dict[str, Any]) -> bool:
    kind = action.get("type") if isinstance(action, dict) else action.type
    return isinstance(kind, str) and kind.startswith(f"{family}.")


is_window_action = partial(_is_of, "window")
is_notification_action = partial(_is_of, "notification")
is_toast_action = partial(_is_of, "toast")
is_dialog_action = partial(_is_of, "dialog")
is_app_action = partial(_is_of, "app")
is_desktop_action = partial(_is_of, "desktop")


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
    def _fits_the_renderer(self) -> Self:
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

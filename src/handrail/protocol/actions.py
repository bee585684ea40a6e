"""The whole vocabulary: the union of all actions, and `ACTIONS`, the table that everything else projects."""

from __future__ import annotations

from typing import Annotated, Any, cast, get_args

from pydantic import ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, TypeAdapter
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from handrail.protocol import desk, device, observe, system
from handrail.protocol.act import Act, DeskAct

DeviceAction = (
    device.Tap | device.Hover | device.DoubleTap | device.LongPress | device.Swipe | device.Drag
    | device.DragPath | device.Pinch | device.Rotate | device.ScrollTo | device.SetValue
    | device.TypeText | device.ClearText | device.HideKeyboard | device.PressKey | device.PressKeys
    | system.StartApp | system.StopApp | system.RestartApp | system.ResetApp | system.InstallApp
    | system.UninstallApp | system.AddMedia | system.OpenUrl | system.SetNetwork | system.SetOrientation
    | system.SetAppearance | system.SetLocation | system.SetClipboard
    | system.GrantPermission | system.RevokePermission | system.Shell | system.RunScript
)  # fmt: skip
"""Touches a device."""

Observation = (
    observe.GetUiTree | observe.ReadText | observe.GetState | system.ListApps | observe.WhatChanged
    | observe.Screenshot | observe.GetLogs | observe.GetSharedPrefs | observe.QueryDb | observe.Wait
    | observe.WaitFor | observe.WaitForStable | observe.ExpectVisible | observe.ExpectAbsent
    | observe.ExpectText | observe.ExpectState | observe.ExpectScreen | observe.ExpectApp
    | observe.RequestHumanAuth | observe.GiveAnswer
    | observe.Finish
)  # fmt: skip
"""Reads, waits, checks, asks or ends."""

OSAction = (
    desk.CreateWindow | desk.CloseWindow | desk.FocusWindow | desk.MinimizeWindow | desk.MaximizeWindow
    | desk.RestoreWindow | desk.MoveWindow | desk.ResizeWindow | desk.SetWindowTitle | desk.SetWindowContent
    | desk.UpdateWindowContent | desk.LockWindow | desk.UnlockWindow | desk.CaptureWindow
    | desk.ShowNotification | desk.DismissNotification | desk.ShowToast | desk.DismissToast
    | desk.ConfirmDialog | desk.SetAppBadge | desk.RefreshApps | desk.CreateShortcut | desk.RemoveShortcut
    | desk.UpdateShortcut
)  # fmt: skip
"""Seed 004's union."""

AnyAction = DeviceAction | Observation | OSAction

ACTIONS: dict[str, type[Act]] = {cls.model_fields["type"].default: cls for cls in get_args(AnyAction)}
DESK_ACTIONS: dict[str, type[Act]] = {kind: cls for kind, cls in ACTIONS.items() if issubclass(cls, DeskAct)}

ACTION: TypeAdapter[AnyAction] = TypeAdapter(
    Annotated[AnyAction, Field(discriminator="type")], config=ConfigDict(defer_build=True)
)
"""One act, told apart by `type`. Building it builds every class, which takes longer than a whole command."""


def parse_action(value: Any) -> AnyAction:
    """Builds only the action's own class, unless its type is unknown."""
    if isinstance(value, Act):
        kind: Any = value.type
    else:
        kind = value.get("type") if isinstance(value, dict) else None
    cls = ACTIONS.get(kind) if isinstance(kind, str) else None
    if cls is None:
        return ACTION.validate_python(value)  # it has the words for what is wrong
    return cast("AnyAction", cls.model_validate(value))


class _ByItsClass:
    """How a model holds any action: read by `one_action`, described as the union that it is."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(parse_action)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return handler(ACTION.core_schema)


Action = Annotated[AnyAction, _ByItsClass()]
"""A field that takes one act."""


def json_schema() -> dict[str, Any]:
    """The whole vocabulary as one JSON Schema document."""
    from handrail.protocol.schema import schema_of  # noqa: PLC0415  (a generator that few commands need)

    return schema_of(ACTION, "Handrail action")

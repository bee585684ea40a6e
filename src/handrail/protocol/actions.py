"""The whole vocabulary: the union of all actions, and `ACTIONS`, the table that everything else projects."""

from __future__ import annotations

from typing import Annotated, Any, get_args

from pydantic import ConfigDict, Field, TypeAdapter

from handrail.protocol import desk, device, observe, system
from handrail.protocol.act import Act, DeskAct

DeviceAction = (
    device.Tap | device.DoubleTap | device.LongPress | device.Swipe | device.Drag | device.Pinch
    | device.Rotate | device.ScrollTo | device.SetValue | device.TypeText | device.ClearText | device.PressKey
    | system.StartApp | system.StopApp | system.RestartApp | system.ResetApp | system.InstallApp
    | system.OpenUrl | system.SetNetwork | system.SetOrientation | system.SetClipboard
    | system.GrantPermission | system.RevokePermission | system.Shell | system.RunScript
)  # fmt: skip
"""Touches a device."""

Observation = (
    observe.GetUiTree | observe.GetState | observe.WhatChanged | observe.Screenshot | observe.GetLogs
    | observe.GetSharedPrefs | observe.QueryDb | observe.Wait | observe.WaitFor | observe.WaitForStable
    | observe.ExpectVisible | observe.ExpectAbsent | observe.ExpectText | observe.ExpectState
    | observe.ExpectScreen | observe.ExpectApp | observe.RequestHumanAuth | observe.Finish
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
Action = Annotated[AnyAction, Field(discriminator="type")]
"""One act, told apart by `type`."""

ACTIONS: dict[str, type[Act]] = {cls.model_fields["type"].default: cls for cls in get_args(AnyAction)}
DESK_ACTIONS: dict[str, type[Act]] = {kind: cls for kind, cls in ACTIONS.items() if issubclass(cls, DeskAct)}

ACTION: TypeAdapter[AnyAction] = TypeAdapter(Action, config=ConfigDict(defer_build=True))


def json_schema() -> dict[str, Any]:
    """The whole vocabulary as one JSON Schema document."""
    from handrail.protocol.schema import schema_of  # noqa: PLC0415  (a generator that few commands need)

    return schema_of(ACTION, "Handrail action")

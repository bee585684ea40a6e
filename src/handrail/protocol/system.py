"""Actions that change the device around the app: apps, network, orientation, permissions, shell, scripts."""

from __future__ import annotations

import shlex
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from handrail.protocol.act import Act, Effect, Traits
from handrail.protocol.model import Flag, Name, Text, TimeoutSec

Package = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z0-9_]+)*$", max_length=255)]
Permission = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_.]*$", max_length=255)]
Url = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9+.-]*:\S+$", max_length=8_192)]


class StartApp(Act):
    """Start an app, or bring it to the front."""

    traits = Traits("system", "system", "package")
    example = {"type": "start_app", "package": "com.android.contacts"}
    type: Literal["start_app"] = "start_app"
    package: Package
    """The app's package."""
    activity: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.$]+$", max_length=255)] | None = None
    """The activity; the launcher's when absent."""


class StopApp(Act):
    """Stop an app's process."""

    traits = Traits("system", "system", "package")
    example = {"type": "stop_app", "package": "com.android.contacts"}
    type: Literal["stop_app"] = "stop_app"
    package: Package
    """The app's package."""


class RestartApp(Act):
    """Stop an app and start it again; its data stays."""

    traits = Traits("system", "system", "package")
    example = {"type": "restart_app", "package": "com.android.contacts"}
    type: Literal["restart_app"] = "restart_app"
    package: Package
    """The app's package."""


class ResetApp(Act):
    """Delete all data of an app, as if newly installed."""

    traits = Traits("sensitive", "system", "package")
    example = {"type": "reset_app", "package": "com.handrail.notes"}
    type: Literal["reset_app"] = "reset_app"
    package: Package
    """The app's package."""


class InstallApp(Act):
    """Install an APK from this machine."""

    traits = Traits("sensitive", "system", "path")
    example = {"type": "install_app", "path": "build/app-debug.apk"}
    type: Literal["install_app"] = "install_app"
    path: Name
    """The APK file."""


class OpenUrl(Act):
    """Open a URL or deep link in the app that handles it."""

    traits = Traits("system", "system", "url")
    example = {"type": "open_url", "url": "https://example.org/help"}
    type: Literal["open_url"] = "open_url"
    url: Url
    """With its scheme."""


class SetNetwork(Act):
    """Change the network: a preset, speed and delay (emulator), Wi-Fi, airplane mode."""

    traits = Traits("system", "system", "preset")
    example = {"type": "set_network", "preset": "offline"}
    type: Literal["set_network"] = "set_network"
    preset: Literal["gsm", "gprs", "edge", "umts", "3g", "hsdpa", "lte", "full", "offline"] | None = None
    """A kind of network."""
    speed: Annotated[str, Field(pattern=r"^[0-9]{1,9}:[0-9]{1,9}$")] | None = None
    """kbit/s "up:down"."""
    delay: Annotated[str, Field(pattern=r"^(none|gprs|edge|umts|[0-9]{1,6}:[0-9]{1,6})$")] | None = None
    """none, gprs, edge, umts, or milliseconds "min:max"."""
    wifi: Flag | None = None
    """Wi-Fi on or off."""
    airplane_mode: Flag | None = None
    """Airplane mode on or off."""

    @model_validator(mode="after")
    def _changes_something(self) -> SetNetwork:
        given = (self.preset, self.speed, self.delay, self.wifi, self.airplane_mode)
        if all(value is None for value in given):
            raise ValueError("needs at least one of preset, speed, delay, wifi and airplane_mode")
        return self


class SetOrientation(Act):
    """Turn the screen, or let it turn by itself."""

    traits = Traits("system", "system", "orientation")
    example = {"type": "set_orientation", "orientation": "landscape"}
    type: Literal["set_orientation"] = "set_orientation"
    orientation: Literal["portrait", "landscape", "auto"]
    """How the screen should stand."""


class SetClipboard(Act):
    """Put text on the device's clipboard."""

    traits = Traits("system", "system", "text")
    example = {"type": "set_clipboard", "text": "Ada Lovelace"}
    type: Literal["set_clipboard"] = "set_clipboard"
    text: Text
    """What a paste will insert."""


class GrantPermission(Act):
    """Give an app a runtime permission."""

    traits = Traits("sensitive", "system")
    example = {
        "type": "grant_permission",
        "package": "com.handrail.gallery",
        "permission": "android.permission.CAMERA",
    }
    type: Literal["grant_permission"] = "grant_permission"
    package: Package
    """The app's package."""
    permission: Permission
    """Whole name, or the part after `android.permission.`."""


class RevokePermission(Act):
    """Take a runtime permission from an app."""

    traits = Traits("system", "system")
    example = {
        "type": "revoke_permission",
        "package": "com.handrail.gallery",
        "permission": "android.permission.CAMERA",
    }
    type: Literal["revoke_permission"] = "revoke_permission"
    package: Package
    """The app's package."""
    permission: Permission
    """Whole name, or the part after `android.permission.`."""


def _split(command: object) -> object:
    """Unbalanced quotes are found here, at the border, not on the device."""
    if isinstance(command, str):
        shlex.split(command)
    return command


class Shell(Act):
    """Run a command on the device, its tokens quoted one by one, or `raw` by the device's own shell."""

    traits = Traits("system", "system", "command")
    example = {"type": "shell", "command": ["pm", "list", "packages"], "raw": False}
    type: Literal["shell"] = "shell"
    command: Annotated[
        Annotated[list[Text], Field(min_length=1, max_length=1_000)]
        | Annotated[str, Field(min_length=1, max_length=100_000)],
        BeforeValidator(_split),
    ]
    """A list of tokens, or a string that is split as a shell would and quoted token by token."""
    raw: Flag = False
    """Let the device's shell interpret the string: pipes, globs, substitution."""

    @model_validator(mode="after")
    def _has_a_command(self) -> Shell:
        if self.raw and not isinstance(self.command, str):
            raise ValueError("raw needs the command as a string")
        if not self.tokens or not self.tokens[0]:
            raise ValueError("the command is empty")
        return self

    @property
    def tokens(self) -> list[str]:
        return shlex.split(self.command) if isinstance(self.command, str) else self.command

    @property
    def effect(self) -> Effect:
        return "sensitive" if self.raw else "system"


class RunScript(Act):
    """Run a script on the host, within the limits that policy sets."""

    traits = Traits("sensitive", "system", "script")
    example = {"type": "run_script", "script": "ls", "timeout_sec": 60}
    type: Literal["run_script"] = "run_script"
    script: Annotated[str, Field(min_length=1, max_length=100_000)]
    """The commands."""
    timeout_sec: TimeoutSec = 60
    """When the whole group is killed."""

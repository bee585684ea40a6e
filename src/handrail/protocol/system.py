"""Actions that change the device around the app: apps, network, orientation, permissions, shell, scripts."""

import shlex
from functools import partial
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from handrail.protocol import details as detail_types
from handrail.protocol.act import SHARED_FIELDS, Act
from handrail.protocol.model import Flag, Key, Name, Number, Text, TimeoutSec, Words, field_problem, one_of
from handrail.protocol.traits import ALLOW, BaseVerdict, Capability, ModelView, Pressed, Traits

_PACKAGE = r"[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z0-9_]+)*"
_ORIGIN = r"https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?"
Package = Annotated[str, Field(pattern=rf"^({_PACKAGE}|{_ORIGIN})$", max_length=255)]
Permission = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_.]*$", max_length=255)]
Url = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9+.-]*:\S+$", max_length=8_192)]

CHANGES_DEVICE = BaseVerdict("allow", "ask", "it changes the device, and the caller is on another machine")
_APP = partial(
    Traits, effect="system", semantic="system", needs=Capability.APPS, presses=Pressed.NOTHING,
    shorthand="package", leaves_app=True,
)  # fmt: skip
_SENSITIVE = partial(Traits, effect="sensitive", semantic="system", presses=Pressed.NOTHING)
_SETTING = partial(
    Traits, effect="system", semantic="system", needs=Capability.SETTINGS, presses=Pressed.NOTHING,
    verdict=CHANGES_DEVICE, tools=("debug",),
)  # fmt: skip


class StartApp(Act):
    """Start an app, or bring it to the front."""

    traits = _APP(
        verdict=ALLOW, says="Started[ {package}][ {name}].", tools=("core", "agent"),
        model=ModelView(shown="package name", fields={"name": "as its icon says"}, expects=True),
    )  # fmt: skip
    example = {"type": "start_app", "package": "com.google.android.contacts"}
    model_config = ConfigDict(json_schema_extra={"minProperties": 1})
    details = detail_types.StartDetails
    type: Literal["start_app"] = "start_app"
    package: Package | None = None
    """The app's package."""
    name: Name | None = None
    """Or what its icon says, in any case and any language that the app has."""
    activity: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.$]+$", max_length=255)] | None = None
    """The activity; the launcher's when absent."""
    extras: Annotated[dict[Key, Flag | Number | Text], Field(max_length=100)] | None = None
    """Values for the app by name, as an intent carries them."""

    _check_names = one_of("package", "name")

    @property
    def opens_a_part(self) -> bool:
        """It names what to show in the app, as a link does."""
        return self.activity is not None or bool(self.extras)


class ListApps(Act):
    """List the apps that have an icon, with their names and packages."""

    traits = Traits(
        effect="read", semantic="observation", needs=Capability.APPS, presses=Pressed.NOTHING, verdict=ALLOW,
        says="Listed the apps.", shorthand="find", tools=("debug",),
    )  # fmt: skip
    example = {"type": "list_apps"}
    details = detail_types.AppsDetails
    type: Literal["list_apps"] = "list_apps"
    find: Name | None = None
    """Only those whose name or package contains this."""


class _PackageAct(Act):
    """An action on one app."""

    package: Package
    """The app's package."""


class StopApp(_PackageAct):
    """Stop an app's process."""

    traits = _APP(verdict=CHANGES_DEVICE, says="Stopped {package}.", tools=("core", "agent"))
    example = {"type": "stop_app", "package": "com.google.android.contacts"}
    type: Literal["stop_app"] = "stop_app"


class RestartApp(_PackageAct):
    """Stop an app and start it again; its data stays."""

    traits = _APP(verdict=CHANGES_DEVICE, says="Restarted {package}.", tools=("core",))
    example = {"type": "restart_app", "package": "com.google.android.contacts"}
    type: Literal["restart_app"] = "restart_app"


class ResetApp(_PackageAct):
    """Delete all data of an app, as if newly installed."""

    traits = _APP(
        effect="sensitive", verdict=BaseVerdict("ask", "deny", "it deletes all data of an app"),
        says="Deleted all data of {package}.", tools=("debug",),
    )  # fmt: skip
    example = {"type": "reset_app", "package": "com.handrail.notes"}
    type: Literal["reset_app"] = "reset_app"


class InstallApp(Act):
    """Install an APK from this machine."""

    traits = _APP(
        effect="sensitive", verdict=BaseVerdict("ask", "deny", "it installs software"),
        says="Installed {path}.", asks="{path}", shorthand="path", tools=("debug",),
    )  # fmt: skip
    example = {"type": "install_app", "path": "build/app-debug.apk"}
    type: Literal["install_app"] = "install_app"
    path: Name
    """The APK file."""


class UninstallApp(_PackageAct):
    """Remove an app and its data."""

    traits = _APP(
        effect="sensitive", verdict=BaseVerdict("ask", "deny", "it removes an app and its data"),
        says="Removed {package}.", tools=("debug",),
    )  # fmt: skip
    example = {"type": "uninstall_app", "package": "com.handrail.notes"}
    type: Literal["uninstall_app"] = "uninstall_app"


class AddMedia(Act):
    """Copy a picture or film of this machine into the device's gallery."""

    traits = _SETTING(
        verdict=BaseVerdict("ask", "deny", "it copies a file of this machine to the device"),
        effect="sensitive", says="Copied {path} into the gallery.", asks="{path}", shorthand="path",
    )  # fmt: skip
    example = {"type": "add_media", "path": "pictures/cat.png"}
    details = detail_types.FileDetails
    type: Literal["add_media"] = "add_media"
    path: Name
    """A png, jpg, jpeg, gif, webp or mp4 file."""


class OpenUrl(Act):
    """Open a URL or deep link in the app that handles it."""

    traits = _APP(
        verdict=BaseVerdict("allow", "ask", "it opens an address for a caller on another machine", "always"),
        says="Opened {url}.", asks="{url}", shorthand="url", tools=("web", "debug", "agent"),
    )  # fmt: skip
    example = {"type": "open_url", "url": "https://example.org/help"}
    details = detail_types.UrlDetails
    type: Literal["open_url"] = "open_url"
    url: Url
    """With its scheme."""


SPEED = r"^(gsm|hscsd|gprs|edge|umts|hsdpa|lte|evdo|full|[0-9]{1,9}:[0-9]{1,9})$"


class SetNetwork(Act):
    """Change the network: a preset, speed and delay (emulator), Wi-Fi, airplane mode."""

    traits = _SETTING(says="Set the network: {changes}.", shorthand="preset")
    example = {"type": "set_network", "preset": "offline"}
    details = detail_types.NetworkDetails
    type: Literal["set_network"] = "set_network"
    preset: Literal["gsm", "gprs", "edge", "umts", "3g", "hsdpa", "lte", "full", "offline"] | None = None
    """A kind of network."""
    speed: Annotated[str, Field(pattern=SPEED)] | None = None
    """gsm, hscsd, gprs, edge, umts, hsdpa, lte, evdo, full, or kbit/s "up:down"."""
    delay: Annotated[str, Field(pattern=r"^(none|gprs|edge|umts|[0-9]{1,6}:[0-9]{1,6})$")] | None = None
    """none, gprs, edge, umts, or milliseconds "min:max"."""
    wifi: Flag | None = None
    """Wi-Fi on or off."""
    airplane_mode: Flag | None = None
    """Airplane mode on or off."""

    @model_validator(mode="after")
    def _check_not_empty(self) -> Self:
        settings = (self.preset, self.speed, self.delay, self.wifi, self.airplane_mode)
        if all(value is None for value in settings):
            raise field_problem("preset", "give at least one of preset, speed, delay, wifi and airplane_mode")
        return self

    @property
    def changes(self) -> str:
        """What it changes, for its sentence."""
        settings = self.model_dump(exclude={"type", *SHARED_FIELDS}, exclude_none=True)
        words = {True: "on", False: "off"}
        return ", ".join(f"{name} {words.get(value, value)}" for name, value in settings.items())


class SetOrientation(Act):
    """Turn the screen, or let it turn by itself."""

    traits = _SETTING(verdict=ALLOW, says="Set the orientation to {orientation}.", shorthand="orientation")
    example = {"type": "set_orientation", "orientation": "landscape"}
    type: Literal["set_orientation"] = "set_orientation"
    orientation: Literal["portrait", "landscape", "auto"]
    """How the screen should stand."""


class SetAppearance(Act):
    """Show everything dark, or light."""

    traits = _SETTING(says="Set the appearance to {appearance}.", shorthand="appearance")
    example = {"type": "set_appearance", "appearance": "dark"}
    type: Literal["set_appearance"] = "set_appearance"
    appearance: Literal["dark", "light"]
    """How the screen should look."""


class SetLocation(Act):
    """Tell apps that the device is at this place."""

    traits = _SETTING(says="Set the place to {latitude:g}, {longitude:g}.")
    example = {"type": "set_location", "latitude": 48.2082, "longitude": 16.3738}
    type: Literal["set_location"] = "set_location"
    latitude: Annotated[float, Field(strict=True, ge=-90, le=90)]
    """Degrees north."""
    longitude: Annotated[float, Field(strict=True, ge=-180, le=180)]
    """Degrees east."""


class SetClipboard(Act):
    """Put text on the device's clipboard."""

    traits = _SETTING(
        needs=Capability.CLIPBOARD, says="Put {text:count} characters on the clipboard.", shorthand="text",
    )  # fmt: skip
    example = {"type": "set_clipboard", "text": "Ada Lovelace"}
    type: Literal["set_clipboard"] = "set_clipboard"
    text: Text
    """What a paste will insert."""


class _PermissionAct(_PackageAct):
    """An action on one permission of an app."""

    permission: Permission
    """Whole name, the part after `android.permission.`, or `all` that the app declares."""


class GrantPermission(_PermissionAct):
    """Give an app a runtime permission."""

    traits = _SENSITIVE(
        needs=Capability.APPS, verdict=BaseVerdict("ask", "deny", "it widens what an app may do"),
        says="Granted {permission} to {package}.", asks="{permission} for {package}", tools=("debug",),
    )  # fmt: skip
    example = {
        "type": "grant_permission", "package": "com.handrail.gallery",
        "permission": "android.permission.CAMERA",
    }  # fmt: skip
    type: Literal["grant_permission"] = "grant_permission"


class RevokePermission(_PermissionAct):
    """Take a runtime permission from an app."""

    traits = _SETTING(
        needs=Capability.APPS, says="Revoked {permission} from {package}.", asks="{permission} for {package}",
    )  # fmt: skip
    example = {
        "type": "revoke_permission", "package": "com.handrail.gallery",
        "permission": "android.permission.CAMERA",
    }  # fmt: skip
    type: Literal["revoke_permission"] = "revoke_permission"


def _check_quotes(command: object) -> object:
    """Finds unbalanced quotes before anything is sent to the device."""
    if isinstance(command, str):
        shlex.split(command)
    return command


class Shell(Act):
    """Run a command on the device, its tokens quoted one by one, or `raw` by the device's own shell."""

    traits = _APP(
        needs=Capability.SHELL, presses=Pressed.UNKNOWN,
        verdict=BaseVerdict("ask", "deny", "a command on the device can do anything that adb can"),
        says="Ran: {tokens:words}.", asks="{command:command}", shorthand="command", tools=("debug",),
    )  # fmt: skip
    example = {"type": "shell", "command": ["pm", "list", "packages"], "raw": False}
    details = detail_types.OutputDetails
    type: Literal["shell"] = "shell"
    command: Annotated[
        Annotated[list[Text], Field(min_length=1, max_length=1_000)] | Words, BeforeValidator(_check_quotes)
    ]
    """A list of tokens, or a string that is split as a shell would and quoted token by token."""
    raw: Flag = False
    """Let the device's shell interpret the string: pipes, globs, substitution."""

    @model_validator(mode="after")
    def _check_command(self) -> Self:
        if self.raw and not isinstance(self.command, str):
            raise field_problem("command", "raw needs the command as a string")
        if not self.tokens or not self.tokens[0]:
            raise field_problem("command", "is blank")
        return self

    @property
    def tokens(self) -> list[str]:
        return shlex.split(self.command) if isinstance(self.command, str) else self.command

    @property
    def effect(self) -> Literal["system", "sensitive"]:
        return "sensitive" if self.raw else "system"


class RunScript(Act):
    """Run a script on the host, within the limits that policy sets."""

    traits = Traits(
        effect="sensitive", semantic="system", needs=None, presses=Pressed.UNKNOWN,
        verdict=BaseVerdict("ask", "deny", "it runs commands on this machine"), says="Ran a script.",
        asks="{script:lines}", shorthand="script", leaves_app=True, tools=("agent",),
    )  # fmt: skip
    example = {"type": "run_script", "script": "ls", "timeout_sec": 60}
    details = detail_types.ScriptDetails
    type: Literal["run_script"] = "run_script"
    script: Words
    """The commands."""
    timeout_sec: TimeoutSec = 60
    """When the whole group is killed."""

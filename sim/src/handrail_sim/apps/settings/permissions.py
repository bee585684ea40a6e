"""The permissions of one app: what is allowed, what is not, and changing it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from handrail_sim.apps.settings import places
from handrail_sim.apps.settings.app_page import AppPage
from handrail_sim.apps.settings.page import group, link
from handrail_sim.view import View, radio, text

# Permissions as the settings group them: what a person reads, icon.
_GROUPS = {
    "CAMERA": ("Camera", "camera"),
    "RECORD_AUDIO": ("Microphone", "mic"),
    "READ_CONTACTS": ("Contacts", "contacts"),
    "WRITE_CONTACTS": ("Contacts", "contacts"),
    "SEND_SMS": ("SMS", "sms"),
    "READ_SMS": ("SMS", "sms"),
    "RECEIVE_SMS": ("SMS", "sms"),
    "ACCESS_FINE_LOCATION": ("Location", "location"),
    "ACCESS_COARSE_LOCATION": ("Location", "location"),
    "POST_NOTIFICATIONS": ("Notifications", "notifications"),
    "READ_MEDIA_IMAGES": ("Photos and videos", "image"),
    "READ_MEDIA_VIDEO": ("Photos and videos", "image"),
    "READ_CALENDAR": ("Calendar", "calendar"),
    "WRITE_CALENDAR": ("Calendar", "calendar"),
    "CALL_PHONE": ("Phone", "phone"),
}


def group_of(permission: str) -> tuple[str, str]:
    """The name and icon a permission goes by in settings."""
    bare = permission.rpartition(".")[2]
    return _GROUPS.get(bare, (bare.replace("_", " ").capitalize(), "shield"))


class AppPermissions(AppPage):
    """What is allowed and what is not."""

    title = "App permissions"

    def rows(self) -> Sequence[View | None]:
        groups = dict.fromkeys(group_of(name) for name in self.dangerous())
        allowed = [each for each in groups if self._is_allowed(each[0])]
        denied = [each for each in groups if each not in allowed]
        return [
            group("Allowed"),
            *(self._group(*each) for each in allowed),
            None if allowed else link("No permissions allowed", None),
            group("Not allowed"),
            *(self._group(*each) for each in denied),
            None if denied else link("No permissions denied", None),
        ]

    def _is_allowed(self, name: str) -> bool:
        mine = [each for each in self.dangerous() if group_of(each)[0] == name]
        return any(self.phone.packages.is_granted(self.package, each) for each in mine)

    def _group(self, name: str, picture: str) -> View:
        return link(name, partial(self.go, places.APP_PERMISSION, group=name), picture=picture)


class AppPermission(AppPage):
    """One group of permissions for one app, decided."""

    title = "App permission"

    def rows(self) -> Sequence[View | None]:
        name = str(self.extras["group"])
        mine = self._mine()
        allowed = any(self.phone.packages.is_granted(self.package, each) for each in mine)
        return [
            text(f"{name} access for this app", "label", padding=16.0, key="question"),
            radio(
                "Allow",
                allowed,
                self.allow,
                id="allow_radio_button",
                width="fill",
                margin=(16.0, 0.0),
                key="allow",
            ),
            radio(
                "Don't allow",
                not allowed,
                self.deny,
                id="deny_radio_button",
                width="fill",
                margin=(16.0, 0.0),
                key="deny",
            ),
        ]

    def _mine(self) -> list[str]:
        return [each for each in self.dangerous() if group_of(each)[0] == self.extras["group"]]

    def allow(self, _: bool = True) -> None:
        for each in self._mine():
            self.phone.packages.set_granted(self.package, each, True)

    def deny(self, _: bool = True) -> None:
        """Android ends a running app whose permission is taken away."""
        had = any(self.phone.packages.is_granted(self.package, each) for each in self._mine())
        for each in self._mine():
            self.phone.packages.set_granted(self.package, each, False)
        if had:
            self.phone.kill_process(self.package)

"""The simulated apps by the short names that templates use; a test compares them with the simulator's."""

from __future__ import annotations

PACKAGES = {
    "launcher": "com.android.launcher3",
    "settings": "com.android.settings",
    "contacts": "com.google.android.contacts",
    "messages": "com.google.android.apps.messaging",
    "notes": "com.handrail.notes",
    "clock": "com.google.android.deskclock",
    "shop": "com.handrail.shop",
    "bank": "com.handrail.bank",
    "gallery": "com.handrail.gallery",
    "browser": "com.handrail.browser",
    "compose_lab": "com.handrail.composelab",
    "react_lab": "com.handrail.reactlab",
    "flutter_lab": "com.handrail.flutterlab",
    "trouble": "com.handrail.trouble",
    "camera": "com.android.camera2",
    "files": "com.google.android.documentsui",
    "calendar": "com.google.android.calendar",
    "dialer": "com.google.android.dialer",
    "webview_lab": "com.handrail.webviewlab",
}


def package_of(name: str) -> str:
    """A package stays what it is."""
    return PACKAGES.get(name, name)


def state_path(path: str) -> str:
    """`notes.notes` is `apps.com.handrail.notes.notes`; `settings.` are the phone's tables."""
    head, dot, rest = path.partition(".")
    if head == "settings" or head not in PACKAGES:
        return path
    return f"apps.{PACKAGES[head]}{dot}{rest}"

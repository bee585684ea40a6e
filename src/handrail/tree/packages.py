"""Which packages are not the app in front: system bars, keyboards. Knows names only, no nodes."""

from __future__ import annotations

from functools import lru_cache

SYSTEM_UI = "com.android.systemui"
SYSTEM_DIALOGS = frozenset(
    {
        "android",
        "com.android.permissioncontroller",
        "com.google.android.permissioncontroller",
        "com.android.packageinstaller",
        "com.google.android.packageinstaller",
        "com.android.intentresolver",
        "com.google.android.intentresolver",
    }
)
"""Who draws prompts, crash reports, choosers and the installer above an app."""

_INPUT_METHOD_PARTS = ("inputmethod", "keyboard", "honeyboard", "swiftkey")
_INPUT_METHOD_TAILS = (".ime", ".input", ".sogou", "adbkeyboard", "droidbotime")


@lru_cache(maxsize=1024)
def is_input_method(package: str) -> bool:
    """True for keyboards, as far as their package names tell."""
    name = package.lower()
    return any(part in name for part in _INPUT_METHOD_PARTS) or name.endswith(_INPUT_METHOD_TAILS)


def is_backdrop(package: str) -> bool:
    """True for what stands around an app and is never the app itself."""
    return package == SYSTEM_UI or is_input_method(package)
